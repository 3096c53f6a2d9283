"""The cases of the noise on sums and means of vectors: what it tells, by the program that releases them.

The lattice of a vector is too fine to try all noise. But Gaussian noise on vectors of whole numbers costs their squared
distance over twice the variance at every order (Canonne, Kamath and Steinke 2020). Both are taken from the last
decision of the program, on neighbouring data in lockstep; the clip is what both runs came to.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from nobounds.accounting.loss import Neighbors
from nobounds.auditing.cases import Case, Worst, neighbouring
from nobounds.auditing.claims.releases import of_column
from nobounds.auditing.lockstep import lockstep
from nobounds.statistics import vectors

MISSING = (math.nan, 0.0)
SPOTS = ((3e9, 4e9), (-3e9, -4e9), (0.0, 0.0), MISSING)  # longer than the clip, so that a row moves a sum by all of it
CROWD = [(3.0, 4.0)] * 1000  # in every data set, so that there is a clip


def vectors_seen(statistic: str, neighbors: Neighbors, rho: Fraction, most: int = 2) -> Iterator[Worst]:
    """The worst losses over all neighbours of up to `most` rows."""
    call = of_column(getattr(vectors, statistic), rho=rho, neighbors=neighbors, upper=5)
    for x, y in neighbouring(SPOTS, most, neighbors):
        one, other = (np.array([*data, *CROWD], dtype=float) for data in (x, y))
        _, noise, cost = lockstep(call, one, other).revealed[-1]
        yield Worst("rho", float(noise / cost.rho), (x, y), "over the cost of the noise")


def cases() -> Iterator[Case]:
    """Sums and means under add-remove and swap."""
    both: tuple[Neighbors, ...] = ("add-remove", "swap")
    for statistic in ("vector_sum", "vector_mean"):
        for neighbors in both:
            for rho in (Fraction(1, 50), Fraction(1, 2)):
                yield _case(statistic, neighbors, rho)


def _case(statistic: str, neighbors: Neighbors, rho: Fraction) -> Case:
    return Case(
        f"{statistic.replace('_', ' ')}, its noise",
        f"rho {rho}, 2 columns, norms up to 5",
        "discrete Gaussian",
        neighbors,
        "row",
        lambda: {"rho": 1.0},
        partial(vectors_seen, statistic, neighbors, rho),
        tight=("rho",),
        quick=rho == Fraction(1, 2),
        brief=partial(vectors_seen, statistic, neighbors, rho, 1),
    )
