"""The cases of noisy numbers: counts, sums and means by the code that releases them, with scripted noise.

The noise of a release is scripted: each value that it may have, with its probability on paper. So the law is that of
the code as it runs, with no second program of it. Gaussian noise is audited by Renyi divergences at several orders.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np

from nobounds.audit import Data, pair_loss
from nobounds.auto import SizeRule
from nobounds.average import AverageRule
from nobounds.clipped import count
from nobounds.clipped import sum as private_sum
from nobounds.histogram import Histogram
from nobounds.ladder import Ladder
from nobounds.loss import Neighbors
from nobounds.question import learned_size
from nobounds.trust.cases import Case, Worst, neighbouring
from nobounds.trust.constants import replaced
from nobounds.trust.divergences import rho_between

WIDTH = 3
MISSING = None
_MARGIN = 7  # what neighbours differ by, in noise, and more


class Script:
    """Stands for the samplers: gives the noise that it is told to, and adds up its log-probability."""

    def __init__(self, factor: Fraction = Fraction(1)) -> None:
        self.factor = factor
        self.set(())

    def set(self, noise: Sequence[int]) -> None:
        """The noise to give next."""
        self.noise, self.asked, self.log_chance = noise, 0, 0.0

    def laplace(self, rate: Fraction, bits: object) -> int:
        """The next value, for discrete Laplace noise of this rate."""
        return self._next(log_laplace, float(rate * self.factor))

    def gaussian(self, variance: Fraction, bits: object) -> int:
        """The next value, for discrete Gaussian noise of this variance."""
        return self._next(log_gaussian, float(variance / self.factor**2))

    def _next(self, log_chance: Callable[[float, int], float], parameter: float) -> int:
        j = self.noise[self.asked]
        self.asked += 1
        self.log_chance += log_chance(parameter, j)
        return j


def log_laplace(rate: float, j: int) -> float:
    """The discrete Laplace law, as on paper."""
    return math.log(math.tanh(rate / 2)) - rate * abs(j)


def log_gaussian(variance: float, j: int) -> float:
    """The discrete Gaussian law, as on paper."""
    return -(j**2) / (2 * variance) - _log_weight(variance)


@lru_cache(maxsize=64)
def _log_weight(variance: float) -> float:
    reach = math.ceil(math.sqrt(2 * variance * 700)) + 1
    return float(np.logaddexp.reduce(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance)))


def scripted_law(
    release: Callable[[], Hashable], reach: Sequence[int], factor: Fraction = Fraction(1)
) -> tuple[dict[Hashable, float], set[Hashable]]:
    """Log-probabilities of all that is released with noise up to `reach`, and what of it needs a margin less.

    `factor` plants a bug: the noise is as if the rate were so many times larger.
    """
    found: dict[Hashable, list[float]] = {}
    inner = set()
    script = Script(factor)
    with replaced(
        additive__discrete_laplace=script.laplace,
        additive__discrete_gaussian=script.gaussian,
        question__discrete_laplace=script.laplace,
    ):
        for noise in product(*(range(-far, far + 1) for far in reach)):
            script.set(noise)
            seen = release()
            assert script.asked == len(noise)  # all noise that was offered was asked for
            found.setdefault(seen, []).append(script.log_chance)
            if all(abs(j) <= far - _MARGIN for j, far in zip(noise, reach, strict=True)):
                inner.add(seen)
    return {seen: float(np.logaddexp.reduce(logs)) for seen, logs in found.items()}, inner


Scripted = tuple[dict[Hashable, float], set[Hashable]]


def loss_between(mine: Scripted, yours: Scripted) -> tuple[float, float]:
    """The pure loss and the range: infinite if one releases what the other cannot, with a margin more of noise."""
    (p, inner_p), (q, inner_q) = mine, yours
    if inner_p - q.keys() or inner_q - p.keys():
        return math.inf, math.inf
    both = [key for key in p if key in q and (key in inner_p or key in inner_q)]
    return pair_loss(np.array([p[key] for key in both]), np.array([q[key] for key in both]))


def divergence_between(mine: Scripted, yours: Scripted) -> float:
    """The least rho, over what both can release."""
    both = [key for key in mine[0] if key in yours[0]]
    return rho_between(np.array([mine[0][key] for key in both]), np.array([yours[0][key] for key in both]))


def numbers_seen(
    release: Callable[[Data], Hashable],
    spots: Sequence[Any],
    most: int,
    neighbors: Neighbors,
    reach: Sequence[int],
    zcdp: bool = False,
    factor: Fraction = Fraction(1),
) -> Iterator[Worst]:
    """The worst over all neighbours of up to so many records."""
    pairs = list(neighbouring(spots, most, neighbors))
    laws = {data: scripted_law(partial(release, data), reach, factor) for pair in pairs for data in pair}
    for x, y in pairs:
        if zcdp:
            yield Worst("rho", divergence_between(laws[x], laws[y]), (x, y))
            continue
        epsilon, eta = loss_between(laws[x], laws[y])
        yield Worst("epsilon", epsilon, (x, y))
        yield Worst("range", eta, (x, y))


def counted(options: dict[str, Any], data: Data) -> Hashable:
    """What `count` releases; it cuts at 0, so forty records more are there in every data set."""
    return count([1.0] * 40 + [math.nan if x is MISSING else x for x in data], **options).value


def summed(options: dict[str, Any], data: Data) -> Hashable:
    """What `sum` releases within bounds that leave nothing to search for."""
    rows = [math.nan if x is MISSING else float(x) for x in data]  # type: ignore[arg-type]
    return private_sum(np.array(rows), lower=0, upper=1, resolution=1, **options).value


def averaged(epsilon: Fraction, neighbors: Neighbors, nullable: bool, zcdp: bool, data: Data) -> Hashable:
    """The number, sum and average that a mean releases, for whole numbers up to WIDTH."""
    there = [record for record in data if record is not MISSING]
    rows = len(data) if neighbors == "swap" else None
    rule = AverageRule(epsilon, neighbors, rows, nullable, zcdp=zcdp)
    found = rule.release(len(there), sum(there), WIDTH, bits=None)  # type: ignore[arg-type]
    return found.count, found.total, found.value, found.scales


def sized(rule: SizeRule, data: Data) -> Hashable:
    """The size that quantiles learn, between 0 and a cap that is far away; forty records are always there."""
    histogram = Histogram.of([np.array([1.0] * 40 + list(data), dtype=float)], Ladder.uniform(0, 4, 4))
    return learned_size(rule, histogram, bits=None)  # type: ignore[arg-type]


def cases() -> Iterator[Case]:
    """The private size, and counts, sums and means with discrete Laplace and discrete Gaussian noise."""
    for epsilon in (Fraction(1, 2), Fraction(1), Fraction(3)):
        quick = epsilon == 1
        yield _pure("private size", epsilon, "add-remove", partial(sized, SizeRule(epsilon)), (1.0,), (30,), quick)
        for neighbors in _RELATIONS:
            gone = (MISSING,) if neighbors == "swap" else ()
            release = partial(counted, {"epsilon": epsilon, "neighbors": neighbors})
            yield _pure("count", epsilon, neighbors, release, (1.0, *gone), (30,), quick)
        yield _pure("sum", epsilon, "add-remove", partial(summed, {"epsilon": epsilon}), (0, 1), (30,), quick)
        for neighbors, reach in (("add-remove", (11, 11)), ("swap", (11,))):
            release = partial(averaged, epsilon, neighbors, neighbors == "add-remove", False)
            yield _pure("mean", epsilon, neighbors, release, (0, 1, WIDTH), reach, quick)
    for epsilon in (Fraction(1), Fraction(3)):  # tails of the noise on the number of missing records are one outcome
        release, reach = partial(averaged, epsilon, "swap", True, False), (11, math.ceil(60 / epsilon))
        spots = (0, WIDTH, MISSING)
        yield _pure("mean, records may be missing", epsilon, "swap", release, spots, reach, epsilon == 3, most=1)
    for rho in (Fraction(1, 8), Fraction(1, 2)):
        quick = rho == Fraction(1, 2)
        for neighbors in _RELATIONS:
            gone = (MISSING,) if neighbors == "swap" else ()
            release = partial(counted, {"rho": rho, "neighbors": neighbors})
            yield _zcdp("count", rho, neighbors, release, (1.0, *gone), quick)
        yield _zcdp("sum", rho, "add-remove", partial(summed, {"rho": rho}), (0, 1), quick)


_RELATIONS: tuple[Neighbors, ...] = ("add-remove", "swap")


def _pure(
    name: str,
    epsilon: Fraction,
    neighbors: Neighbors,
    release: Callable[[Data], Hashable],
    spots: tuple[Any, ...],
    reach: tuple[int, ...],
    quick: bool,
    most: int = 2,
) -> Case:
    return Case(
        name,
        f"epsilon {epsilon}",
        "discrete Laplace",
        neighbors,
        "row",
        lambda: {"epsilon": float(epsilon), "range": 2 * float(epsilon)},
        lambda: numbers_seen(release, spots, most, neighbors, reach),
        quick=quick,
    )


def _zcdp(
    name: str,
    rho: Fraction,
    neighbors: Neighbors,
    release: Callable[[Data], Hashable],
    spots: tuple[Any, ...],
    quick: bool,
) -> Case:
    return Case(
        name,
        f"rho {rho}",
        "discrete Gaussian",
        neighbors,
        "row",
        lambda: {"rho": float(rho)},
        lambda: numbers_seen(release, spots, 2, neighbors, (36,), zcdp=True),
        tight=("rho",),
        quick=quick,
    )
