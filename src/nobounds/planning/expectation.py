"""Expected errors: averages over the branches of a mechanism, and over data sets for each of them.

A branch with probability p is followed on a share p of the data sets, and on a few if it is rare. Data sets are added
until the averages are accurate to about 3%.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from nobounds.arrays import Floats
from nobounds.ladders.rungs import FloatBits
from nobounds.values import dataclass

ROUNDS = (32, 64, 128, 256)  # data sets
RARE = 2  # data sets for a rare branch; one if the first round has fewer than 16
PRECISE = 0.03  # relative standard errors of the rank error and of the error,
PRECISE_RANKS = np.array([0.015, 0.0])  # or absolute ones: 0.015 ranks
COMMON, TOGETHER = 0.01, 4  # branches below this probability are rare; up to this many in a row are merged
_BINS = FloatBits(6, -64)  # errors over the cap are sorted into steps of 1 to 2%, up to _MOST caps
_MOST = 2.0**16
_LAST = int(_BINS.of(np.array([_MOST]))[0])

B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Errors:
    """The expected rank error, if there are ranks; of the error in value the capped mean, median and 95% quantile."""

    rank: float | None
    mean: float
    median: float
    most: float


class Outcomes(NamedTuple):
    """The possible errors on one data set, in rank and in value, and the probability of each."""

    ranks: Floats | None
    errors: Floats
    masses: Floats


def expect(
    branches: Sequence[tuple[float, B]],
    outcomes: Callable[[B, int], Outcomes],
    cap: float,
    rounds: Sequence[int] = ROUNDS,
) -> Errors:
    """The expected errors over branches with their probabilities; `outcomes` follows a branch on a numbered data set.

    In the mean, an error in value counts for at most the cap.
    """
    chances = np.array([chance for chance, _ in branches])
    chances /= chances.sum()
    seen = np.zeros(len(branches))
    sums, squares = np.zeros((2, len(branches), 2))  # over data sets, of the mean rank error and the mean error
    bins = np.zeros((len(branches), _LAST + 1))
    ranked, rare = True, RARE if rounds[0] >= 16 else 1
    for done, goal in pairwise((0, *rounds)):
        shares = done + np.rint((goal - done) * np.append(0.0, np.cumsum(chances))).astype(np.int64)
        for which, (first, last) in enumerate(pairwise(shares.tolist())):
            for number in range(first, last if done else max(first + rare, last)):
                ranks, errors, masses = outcomes(branches[which][1], number)
                ranked, masses = ranks is not None, masses / masses.sum()
                means = np.array([0.0 if ranks is None else ranks @ masses, np.minimum(errors, cap) @ masses])
                seen[which] += 1
                sums[which] += means
                squares[which] += means**2
                bins[which] += np.bincount(_BINS.of(np.minimum(errors, _MOST * cap) / cap), masses, _LAST + 1)
        each = sums / seen[:, None]
        mean = chances @ each
        variance = (chances**2 / seen) @ np.maximum(squares / seen[:, None] - each**2, 0)
        if np.all(np.sqrt(variance) <= np.maximum(PRECISE * mean, PRECISE_RANKS)):
            break
    spread = (chances / seen) @ bins
    return Errors(float(mean[0]) if ranked else None, float(mean[1]), *(cap * _point(spread, p) for p in (0.5, 0.95)))


def together(branches: Iterable[tuple[float, B]], most: int = TOGETHER) -> Iterator[tuple[float, B]]:
    """Common branches as they are; up to `most` rare ones in a row are merged into the likeliest of them."""
    waiting: list[tuple[float, B]] = []

    def merged() -> Iterator[tuple[float, B]]:
        if waiting:
            yield math.fsum(chance for chance, _ in waiting), max(waiting, key=lambda rare: rare[0])[1]
            waiting.clear()

    for chance, branch in branches:
        if chance > COMMON:
            yield from merged()
            yield chance, branch
        else:
            waiting.append((chance, branch))
            if len(waiting) == most:
                yield from merged()
    yield from merged()


def _point(spread: Floats, chance: float) -> float:
    """The error, over the cap, that is not exceeded with this probability."""
    passed = np.cumsum(spread)
    rung = int(np.searchsorted(passed, chance * passed[-1]))
    if rung == 0:
        return 0.0
    low, high = (float(edge) for edge in _BINS.interval(min(rung, _LAST - 1)))
    inside = (chance * passed[-1] - passed[rung - 1]) / max(spread[rung], math.ulp(0.0))
    return low + (high - low) * float(inside)
