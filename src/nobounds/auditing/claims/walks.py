"""The cases of the cost table: AboveThreshold on counts and on general queries, for all noises and several splits.

Four runs of equal queries; a record on spot s is counted from the s-th run on. A long run without a hit implies a noisy
threshold far out in the tail, where a neighbour's shift reveals the most: a few queries cannot show this.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TypeAlias

import numpy as np

from nobounds.accounting.cost import Cost, fixed_threshold, general, monotonic, moving_threshold, pure
from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats
from nobounds.auditing.audit import Data, pair_loss
from nobounds.auditing.cases import Case, Worst, audited, pure_claims
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk
from nobounds.noise.discrete import Noise

Layout: TypeAlias = tuple[int, int, int, int]

HALF = Fraction(1, 2)
SPOTS = (0, 1, 2, 3)
# The lengths of the runs. The first layout shows both sides of a range: a later run outweighs all before it.
LAYOUTS: tuple[Layout, ...] = ((10**5, 1, 10**12, 1), (1, 10**8, 1, 1), (1, 1000, 1, 10**9), (10**8, 1, 10**8, 1))
# Layouts with public shifts of the threshold; far below it two-sided noise is nearly one-sided.
SETTINGS: tuple[tuple[Layout, int], ...] = (
    *product(LAYOUTS, (0, 20)),
    ((10**5, 1, 10**18, 1), 60),
    ((1, 10**18, 1, 1), 60),
)
BRIEF = ((LAYOUTS[0], 0), (LAYOUTS[0], 20), (LAYOUTS[1], 20), (LAYOUTS[2], 20), SETTINGS[-2])  # in the quick table
PERSONS = ((0, 0), (0, 3), (1, 1), (1, 2), (2, 2), (3, 3))  # the rows of a user who has two
SPLITS = (
    (HALF, HALF),
    (Fraction(7, 10), Fraction(3, 10)),
    (Fraction(1, 4), Fraction(3, 4)),
    (Fraction(3, 2), Fraction(1)),
)
RANKS = (Fraction(0), Fraction(1, 4), HALF, Fraction(4, 5), Fraction(1))
NOISES: tuple[Noise, ...] = ("exponential", "laplace", "gumbel")


def splits(noise: Noise) -> list[tuple[Fraction, Fraction]]:
    """(eps1, eps2) to try; Gumbel noise needs them equal."""
    return [pair for pair in SPLITS if noise != "gumbel" or pair[0] == pair[1]]


def counts(data: Sequence[int], up: bool = True) -> list[int]:
    """The counts in the four runs: records at or below the spot, or at or above it walking down."""
    if up:
        return [sum(x <= spot for x in data) for spot in SPOTS]
    return [sum(x >= spot for x in data) for spot in reversed(SPOTS)]


def law_of(
    levels: Sequence[int],
    threshold: Fraction | int,
    eps1: Fraction,
    eps2: Fraction,
    noise: Noise,
    layout: Layout,
    step: Fraction = Fraction(1),
) -> Floats:
    """The law over the outcomes that matter: the ends of each run, two queries inside, and never halting."""
    starts = np.concatenate([[0], np.cumsum(layout)[:-1]])
    telling = {int(start + length * i) for start, length in zip(starts, layout, strict=True) for i in (0, 1e-3, 0.03)}
    telling |= {int(start + length - 1) for start, length in zip(starts, layout, strict=True)}
    walk = Walk(
        starts,
        np.array(levels),
        sum(layout),
        threshold=Fraction(threshold),
        step=step,
        eps1=eps1,
        eps2=eps2,
        noise=noise,
    )
    return Law(walk).log_pmf(sorted(telling))


LawOf: TypeAlias = Callable[[Data, Layout, int], Floats]


def seen(
    law: LawOf, spots: Sequence[object], neighbors: Neighbors, settings: Sequence[tuple[Layout, int]] = SETTINGS
) -> Iterator[Worst]:
    """The worst losses over these layouts and shifts, and data sets of up to two records."""
    for layout, shift in settings:
        yield from audited(lambda data: law(data, layout, shift), spots, 2, neighbors, _at(layout, shift))  # noqa: B023


def _at(layout: Layout, shift: int) -> str:
    return "runs " + ", ".join(f"{n:g}" for n in layout) + (f"; threshold + {shift}" if shift else "")


def fixed_law(eps1: Fraction, eps2: Fraction, noise: Noise, data: Data, layout: Layout, shift: int) -> Floats:
    """Counts against a public threshold."""
    return law_of(counts(data), 1 + shift, eps1, eps2, noise, layout)  # type: ignore[arg-type]


def moving_law(
    target: Fraction, up: bool, eps1: Fraction, eps2: Fraction, noise: Noise, data: Data, layout: Layout, shift: int
) -> Floats:
    """Counts against a threshold of target * n."""
    lattice = Fraction(1, target.denominator)
    levels = counts(data, up)  # type: ignore[arg-type]
    return law_of(levels, target * len(data) + shift, eps1, eps2, noise, layout, lattice)


def users_law(
    share: Fraction, eps1: Fraction, eps2: Fraction, noise: Noise, data: Data, layout: Layout, shift: int
) -> Floats:
    """Users with two rows each, and noise scaled to two: against share * rows, or 2 if the share is 0."""
    rows = [row for person in data for row in person]  # type: ignore[attr-defined]
    threshold = share * len(rows) if share else Fraction(2)
    return law_of(counts(rows), threshold + shift, eps1 / 2, eps2 / 2, noise, layout, HALF)


def general_seen(
    eps1: Fraction, eps2: Fraction, noise: Noise, settings: Sequence[tuple[Layout, int]] = SETTINGS
) -> Iterator[Worst]:
    """The losses on streams whose runs move in either direction by at most 1."""
    streams = list(product((0, 1), repeat=4))
    for layout, shift in settings:
        laws = {stream: law_of(stream, shift, eps1, eps2, noise, layout) for stream in streams}
        at = _at(layout, shift)
        for a, b in product(streams, repeat=2):
            if a < b:
                epsilon, eta = pair_loss(laws[a], laws[b])
                yield Worst("epsilon", epsilon, (a, b), at)
                yield Worst("range", eta, (a, b), at)


def cases() -> Iterator[Case]:
    """Every row of the cost table."""
    for noise in NOISES:
        for k, (eps1, eps2) in enumerate(splits(noise)):
            yield from _cases(noise, eps1, eps2, quick=k == 0)


def _cases(noise: Noise, eps1: Fraction, eps2: Fraction, quick: bool) -> Iterator[Case]:
    def case(name: str, cost: Cost, law: LawOf, neighbors: Neighbors, note: str = "", users: bool = False) -> Case:
        return Case(
            f"AboveThreshold, {name}",
            f"eps1 {eps1}, eps2 {eps2}{note}",
            noise,
            neighbors,
            "user of 2 rows" if users else "row",
            lambda: pure_claims(cost),
            lambda: seen(law, PERSONS if users else SPOTS, neighbors),
            quick=quick and (not users or noise == "exponential"),
            brief=lambda: seen(law, PERSONS if users else SPOTS, neighbors, BRIEF),
        )

    def bound(case: Case) -> Case:
        return replace(case, tight=("epsilon",))

    def two_sided(target: Fraction) -> bool:
        """Whether two-sided noise does not reach the range: it costs q eps1 where one-sided noise costs q eps2."""
        return noise == "laplace" and eps1 < eps2 and target * eps2 > (1 - target) * eps1

    fixed = partial(fixed_law, eps1, eps2, noise)
    yield case("monotonic counts", monotonic(eps1, eps2), fixed, "swap")
    for up, q in product((True, False), RANKS):
        target, direction = (q, "up") if up else (1 - q, "down")
        law = partial(moving_law, target, up, eps1, eps2, noise)
        made = case(f"counts - q n, {direction}", moving_threshold(target, eps1, eps2), law, "add-remove", f", q {q}")
        made = replace(made, quick=made.quick and q in (HALF, Fraction(4, 5)))
        yield bound(made) if two_sided(target) else made
    yield case("threshold fixed", fixed_threshold(eps1, eps2), fixed, "add-remove")
    yield Case(
        "AboveThreshold, general queries",
        f"eps1 {eps1}, eps2 {eps2}",
        noise,
        "add-remove",
        "row",
        lambda: pure_claims(general(eps1, eps2)),
        lambda: general_seen(eps1, eps2, noise),
        quick=quick,
        brief=lambda: general_seen(eps1, eps2, noise, BRIEF[:2]),
    )
    moving, still = (partial(users_law, share, eps1, eps2, noise) for share in (HALF, Fraction(0)))
    made = case("counts - q n, up", moving_threshold(HALF, eps1, eps2), moving, "add-remove", ", q 1/2", users=True)
    yield bound(made) if two_sided(HALF) else made
    yield case("threshold fixed", fixed_threshold(eps1, eps2), still, "add-remove", users=True)
    yield bound(case("threshold fixed", pure(eps1 + eps2), still, "swap", users=True))
