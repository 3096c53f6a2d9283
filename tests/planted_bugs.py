"""Planted bugs: mechanisms that cost more than they claim, and which the audit must catch; `make planted` runs them.

Each claims what the right mechanism claims. The bugs here are in laws and in noise; those in the programs that release
are in `support/program_bugs.py`. The exit status is 0 if all are caught, and 1 if one is missed.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from support.program_bugs import PLANTED, is_found

from nobounds.accounting.cost import fixed_threshold, monotonic
from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats
from nobounds.auditing.audit import Data
from nobounds.auditing.cases import Case, ClaimRow, Measure, Worst, audited
from nobounds.auditing.claims import answers, choices, clips, keys, numbers, slicing, sparse, streams, walks
from nobounds.auditing.claims.walks import HALF, Layout
from nobounds.auditing.mine import pairs
from nobounds.cli.commands.audit import show
from nobounds.groups.key_selection import Chances
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.exponential_mechanism import weighted_law
from nobounds.mechanisms.flip import flip_law
from nobounds.mechanisms.sparse_vector import Promise
from nobounds.noise.discrete import Noise
from nobounds.programs.program import Driver
from nobounds.ranks.auto import SizeRule
from nobounds.ranks.framing import FrameRule

ONE = Fraction(1)
NOISES: tuple[Noise, ...] = ("exponential", "laplace")


def bare_law(eps1: Fraction, eps2: Fraction, noise: Noise, data: Data, layout: Layout, shift: int) -> Floats:
    """One draw of query noise for all queries: the first query to reach one noisy number halts."""
    reach = 400
    steps = np.arange(-reach, reach + 1)
    one, other = (_log_noise(float(eps), noise, steps) for eps in (eps1, eps2))
    mass = np.convolve(np.exp(one), np.exp(other)[::-1])  # of the threshold's noise less that of the queries
    values = np.arange(-2 * reach, 2 * reach + 1) + 1 + shift
    levels = walks.counts(data)  # type: ignore[arg-type]
    highest = np.maximum.accumulate([-(10**6), *levels])
    chances = [mass[(low < values) & (values <= high)].sum() for low, high in pairwise(highest)]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log([*chances, mass[values > highest[-1]].sum()]))


def _log_noise(rate: float, noise: Noise, steps: Any) -> Floats:
    if noise == "exponential":
        return np.where(steps >= 0, np.log(-np.expm1(-rate)) - rate * np.maximum(steps, 0), -np.inf)
    return np.asarray(np.log(np.tanh(rate / 2)) - rate * np.abs(steps))


def cases() -> Iterator[Case]:
    """Every planted bug."""
    for noise in NOISES:
        yield from _walks(noise)
    yield from _sparse()
    yield from _streams()
    yield from _choices()
    yield from _numbers()
    yield from _others()


def planted(
    name: str,
    look: Callable[[], Iterable[Worst]],
    claims: dict[Measure, float],
    noise: str = "exponential",
    neighbors: Neighbors = "add-remove",
    unit: str = "row",
) -> Case:
    """A bug, under the claims of the right mechanism."""
    return Case(f"BUG: {name}", "", noise, neighbors, unit, lambda: claims, look, tight=(), quick=True)


def _walks(noise: Noise) -> Iterator[Case]:
    def case(
        name: str, law: walks.LawOf, claims: dict[Measure, float], neighbors: Neighbors, users: bool = False
    ) -> Case:
        spots = walks.PERSONS if users else walks.SPOTS
        unit = "user of 2 rows" if users else "row"
        return planted(name, lambda: walks.seen(law, spots, neighbors), claims, noise, neighbors, unit)

    honest: dict[Measure, float] = {"epsilon": float(monotonic(HALF, HALF).epsilon)}
    yield case("query noise halved", partial(walks.fixed_law, HALF, ONE, noise), honest, "swap")
    yield case("eps1 doubled", partial(walks.fixed_law, ONE, HALF, noise), honest, "swap")
    yield case("query noise drawn once for all", partial(bare_law, HALF, HALF, noise), honest, "swap")
    public: dict[Measure, float] = {"epsilon": float(fixed_threshold(HALF, HALF).epsilon)}
    moving = partial(walks.moving_law, HALF, True, HALF, HALF, noise)
    yield case("q n priced as a public threshold", moving, public, "add-remove")
    rows = partial(walks.users_law, Fraction(0), ONE, ONE, noise)
    yield case("users of two rows with the noise of one", rows, public, "add-remove", users=True)
    yield planted("general queries priced as monotonic", lambda: walks.general_seen(HALF, HALF, noise), honest, noise)


def _sparse() -> Iterator[Case]:
    rates = sparse.rates_for(sparse.PURE, "classical", True)
    claims: dict[Measure, float] = {"epsilon": 1.0}
    grown = partial(sparse.pure_seen, rates, sparse.ONE_WAY, eps2=rates.eps2 * rates.hits)
    yield planted("SparseVector, query noise does not grow with the hits", grown, claims)
    moved = partial(sparse.pure_seen, rates, sparse.EITHER_WAY)
    yield planted("SparseVector, general queries at the monotonic price", moved, claims)
    once = sparse.rates_for(Promise(None, None, sparse.RHO), "iterated", True, 1)
    each = partial(sparse.rho_seen, once, hits=sparse.HITS)
    yield planted("SparseVector, the rho of one hit for all", each, {"rho": float(sparse.RHO)})
    epsilon, delta = sparse.AT_DELTA
    one = sparse.rates_for(Promise(epsilon, delta, None), "iterated", True, 1)
    all_hits = partial(sparse.delta_seen, one, float(epsilon), hits=sparse.HITS)
    yield planted("SparseVector, the delta of one hit for all", all_hits, {"delta": float(delta)})


def _streams() -> Iterator[Case]:
    step = list(pairs((1,), monotonic=True))
    claims: dict[Measure, float] = {"epsilon": 1.0}
    law = partial(streams.walk_law, "exponential", ONE, HALF)
    sampler = partial(streams.seen, law, step[:2])
    yield planted("AboveThreshold, the sampler halves the noise of the threshold", sampler, claims)


def _choices() -> Iterator[Case]:
    claims: dict[Measure, float] = {"epsilon": 1.0}
    for name, law in (("permute-and-flip", flip_law), ("exponential mechanism", weighted_law)):
        doubled = partial(choices.choice_law, law, HALF, "swap", Fraction(2))
        yield planted(
            f"{name}, the 2 in 2 sensitivity forgotten",
            lambda doubled=doubled: audited(doubled, choices.SPOTS, 2, "swap"),  # type: ignore[misc]
            claims,
            neighbors="swap",
        )
    added = partial(choices.choice_law, flip_law, HALF, "add-remove", ONE)
    look = partial(audited, added, choices.SPOTS, 2, "swap")
    yield planted("permute-and-flip, swap at the sensitivity of add-remove", look, claims, neighbors="swap")
    for name, ladder in choices.priors().items():
        weighed = partial(choices.weighed_law, ladder, HALF, "add-remove", ONE)
        swapped = partial(audited, weighed, choices.PLACES, 3, "swap")
        yield planted(f"a prior over {name}, swap at the rate of add-remove", swapped, claims, neighbors="swap")
        nearest = partial(_heavier, weighed, ladder)
        near = partial(audited, nearest, choices.PLACES, 3, "add-remove")
        yield planted(f"a prior over {name} that is heavier on records", near, claims)
    rule = FrameRule.of(answers.plain("swap", HALF, answers.FEW), ONE, ONE)
    scale = partial(answers.scale_law, replace(rule, neighbors="add-remove"), 0.0)
    octaves = partial(audited, scale, (0.0, 2e-86, 1e-85, 5.0, 1e300), 4, "swap")
    yield planted("a scale under swap at the rate of add-remove", octaves, claims, neighbors="swap")


def _heavier(law: Callable[[Data], Floats], ladder: Ladder, data: Data) -> Floats:
    logs = law(data).copy()
    logs[ladder.rungs(np.array(list(set(data)), dtype=float)) - ladder.first] += 1
    return np.asarray(logs - np.logaddexp.reduce(logs))


def _numbers() -> Iterator[Case]:
    def seen(
        release: Callable[[Data, Driver], Any], reach: float = numbers.FAR, **options: Any
    ) -> Callable[[], Iterable[Worst]]:
        return partial(numbers.numbers_seen, release, (1,), 2, "add-remove", reach, **options)

    counted = partial(numbers.released, "count", {"epsilon": ONE})
    gaussian = partial(numbers.released, "count", {"rho": HALF})
    pure: dict[Measure, float] = {"epsilon": 1.0}
    rho: dict[Measure, float] = {"rho": 0.5}
    yield planted("count, noise 5% too small", seen(counted, factor=Fraction(21, 20)), pure, "discrete Laplace")
    yield planted("private size, no noise if there are no data", seen(_bare_size), pure, "discrete Laplace")
    halved = seen(gaussian, 36, zcdp=True, factor=Fraction(2))
    yield planted("count, standard deviation halved", halved, rho, "discrete Gaussian")
    many = seen(lambda data, driver: gaussian(data * 101, driver), 40, zcdp=True)
    yield planted("count, a record counts 101 times", many, rho, "discrete Gaussian")


def _bare_size(data: Data, driver: Driver) -> Any:
    return numbers.sized(SizeRule(ONE), (), data, driver) if data else 0


def _others() -> Iterator[Case]:
    epsilon, delta = keys.PARTS[0]
    look = partial(keys.selection_seen, Chances.of(epsilon, delta / 2), 2, epsilon)
    name, unit = "key selection, the whole epsilon for each of two keys", "user in 2 groups"
    yield planted(name, look, {"delta": float(delta)}, "uniform", unit=unit)
    positions = partial(clips.widths_seen, clips.searching("add-remove"), 0, crowd=clips.CROWDS[2], one_end=False)
    yield planted("clip, never halting told from the last width", positions, {"epsilon": 1.0})
    yield planted(
        "quantile, users of two rows with the noise of one", _unscaled, {"epsilon": 2.0}, unit="user of 2 rows"
    )
    yield planted("quantiles by halving, all levels for the price of one", _one_level, {"epsilon": 1.0})


def _unscaled() -> list[Worst]:
    return list(answers.users_seen(answers.fixed("add-remove", (ONE,), "exponential")))


def _one_level() -> list[Worst]:
    ladder, pair = slicing.numbers(100), ((1, 98), (98,))
    made = slicing.plan(slicing.QUARTERS, "add-remove", ONE, ladder=ladder, places=2)
    x, y = (slicing.Joint(made, data, slicing.fixed(made, 0, ONE)) for data in pair)
    return [Worst("epsilon", slicing.loss(x, y, slicing.ends), pair)]


def missed(rows: Sequence[ClaimRow]) -> list[ClaimRow]:
    """The bugs that the audit lets pass."""
    return [row for row in rows if row.verdict != "EXCEEDED"]


def in_words(rows: Sequence[ClaimRow]) -> list[str]:
    """How many bugs the audit catches, and the names of the others."""
    passed = missed(rows)
    words = [f"{len(rows)} planted bugs: {len(rows) - len(passed)} caught, {len(passed) or 'none'} missed."]
    return words + [f"missed: {row.mechanism}" for row in passed]


def main() -> int:
    """Audit every bug, print the table, and return the exit status."""
    rows = [row for case in cases() for row in case.rows()]
    show(rows, in_words(rows), failed=bool(missed(rows)), as_json=False)
    passed = [bug for bug in PLANTED if not is_found(bug)]
    print(
        f"{len(PLANTED)} bugs in programs: {len(PLANTED) - len(passed)} caught, {len(passed) or 'none'} missed.",
        *passed,
    )
    return 1 if missed(rows) or passed else 0


if __name__ == "__main__":
    sys.exit(main())
