"""The cases of sums and means of vectors: how far a row moves the numbers that get noise, and that noise.

The lattice of a vector is too fine to try all noise. But Gaussian noise on vectors of whole numbers costs their squared
distance over twice the variance at every order (Canonne, Kamath and Steinke 2020), and both are recorded from the
running code: the exact numbers that it adds noise to, and the variance that it requests. The clip is fixed here, and
its cost, which has its own rows in the audit, is added as charged.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from nobounds.accounting.loss import Neighbors
from nobounds.auditing.audit import Data
from nobounds.auditing.cases import Case, Worst, neighbouring
from nobounds.auditing.replacing import replaced
from nobounds.clipping.vectors import VectorPlan
from nobounds.counting.ball import Ball
from nobounds.counting.scan import Records
from nobounds.engines.memory.vectors import Rows
from nobounds.noise.source import RandomSource
from nobounds.release.release import Release
from nobounds.statistics import vectors

CLIP = Fraction(5)
ROWS = 1000  # the noisy number of rows
MISSING = (math.nan, 0.0)
SPOTS = ((3.0, 4.0), (-3.0, -4.0), (0.0, 0.0), (300.0, 400.0), MISSING)


class Noisy(NamedTuple):
    """The numbers that get noise, the variance of the noise on each, rho for the clip, and the release."""

    numbers: list[int]
    variances: list[Fraction]
    clip: Fraction
    release: Release


def watched(statistic: str, neighbors: Neighbors, rho: Fraction, data: Data, times: Fraction = Fraction(1)) -> Noisy:
    """One run that records every number that gets noise, with its variance.

    `times` plants a bug: the variance of the noise is `times` the requested one.
    """
    rows = np.array(data, dtype=float).reshape(-1, 2)
    present = int(np.isfinite(rows).all(axis=1).sum())
    waiting, numbers, variances, clips = [present], list[int](), list[Fraction](), list[Fraction]()

    class WatchedRows(Rows):
        __slots__ = ()

        def total(self, ball: Ball) -> list[int]:
            waiting[:] = Rows.total(self, ball)
            return list(waiting)

    class WatchedPlan(VectorPlan):
        __slots__ = ()

        def clip(self, norms: Records, size: int, source: RandomSource) -> tuple[Fraction, Fraction]:
            search, parts, noise = self.split(size if self.rows is None else self.rows)
            clips.append(parts * search.cost().rho)
            return CLIP, noise

    class ScriptedLaw:
        def __init__(self, variance: Fraction) -> None:
            self.variance = variance * times

        def draw(self, source: object) -> int:
            numbers.append(waiting.pop(0))
            variances.append(self.variance)
            of_rows = not clips  # the noisy number of rows is fixed; if the number is public, no row is missing
            return (ROWS - present if neighbors == "add-remove" else present - len(rows)) if of_rows else 0

    with replaced(
        vector_plans__DiscreteGaussian=ScriptedLaw, vectors__Rows=WatchedRows, vectors__VectorPlan=WatchedPlan
    ):
        release: Release = getattr(vectors, statistic)(rows, rho=rho, neighbors=neighbors)
    return Noisy(numbers, variances, clips[0], release)


def rho_between(one: Noisy, other: Noisy) -> float:
    """The rho of the noise and of the clip; infinite if the noise differs between the two runs."""
    if one.variances != other.variances or one.clip != other.clip or one.release.loss != other.release.loss:
        return math.inf
    squares = ((a - b) ** 2 / (2 * v) for a, b, v in zip(one.numbers, other.numbers, one.variances, strict=True))
    return float(sum(squares, one.clip))


def vectors_seen(statistic: str, neighbors: Neighbors, rho: Fraction, times: Fraction = Fraction(1)) -> Iterator[Worst]:
    """The worst losses over all neighbours of up to two rows."""
    for x, y in neighbouring(SPOTS, 2, neighbors):
        one, other = (watched(statistic, neighbors, rho, data, times) for data in (x, y))
        yield Worst("rho", rho_between(one, other), (x, y), f"clip {CLIP}")


def cases() -> Iterator[Case]:
    """Sums and means under add-remove and swap."""
    both: tuple[Neighbors, ...] = ("add-remove", "swap")
    for statistic in ("vector_sum", "vector_mean"):
        for neighbors in both:
            for rho in (Fraction(1, 50), Fraction(1, 2)):
                yield _case(statistic, neighbors, rho)


def _case(statistic: str, neighbors: Neighbors, rho: Fraction) -> Case:
    return Case(
        statistic.replace("_", " "),
        f"rho {rho}, 2 columns, clip {CLIP}",
        "discrete Gaussian",
        neighbors,
        "row",
        lambda: {"rho": watched(statistic, neighbors, rho, SPOTS[:1]).release.loss.rho},
        partial(vectors_seen, statistic, neighbors, rho),
        tight=("rho",),
        quick=rho == Fraction(1, 2),
    )
