"""Means without bounds: clipped around a private centre to a private radius, with Laplace noise.

`universal_mean` follows Dong and Yi (2023, Universal Private Estimators): a bucket from a private bound on the spread
of pairs, a radius around 0 by AboveThreshold, a median inside it by the exponential mechanism, a radius around the
median, and the clipped mean. `mapped_mean` takes the median by the exponential mechanism over magnitudes, which makes
the first two steps unnecessary, and a finer radius. The shares of epsilon and all constants are ours, and so is
add-remove: they have swap.
"""

import numpy as np

from nobounds.accounting.cost import pure
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.arrays import Floats
from nobounds.exact import Number, privacy_parameter
from nobounds.release.release import Release
from nobounds.research.baselines.emq import emq_law
from nobounds.research.baselines.mapped.exponential import mapped_law
from nobounds.research.baselines.mapped.radius import radius
from nobounds.research.baselines.mapped.records import ordered_records
from nobounds.research.baselines.records import FLOATING, check_rng

_SPREAD, _FIRST, _MEDIAN, _SECOND = 0.1, 0.1, 0.1, 0.2  # parts of epsilon; the rest is for noise
_CENTER, _RADIUS = 0.15, 0.25  # of `mapped_mean`
_COUNT = 0.15  # part of the noise's share that buys the number of records, under add-remove
_BUCKETS = 1000.0  # to a spread; theirs is n, which is public under swap only
_DOUBLINGS = 900
_LEAST = 2.0**-100  # the least radius


def universal_mean(
    data: object, *, epsilon: Number, neighbors: Neighbors = "swap", rng: np.random.Generator
) -> Release:
    """The mean as Dong and Yi (2023) estimate it; floating-point noise, for comparison only."""
    generator, neighbors, total = check_rng(rng), check_neighbors(neighbors), privacy_parameter(epsilon, "epsilon")
    loss, all_of_it = PrivacyLoss.of(pure(total), neighbors), float(total)
    records = ordered_records(data)
    bucket = spread_of(records, _SPREAD * all_of_it, neighbors, generator) / _BUCKETS
    first = radius(np.abs(records), bucket, 2.0, _FIRST * all_of_it, generator)
    law = emq_law(records, ["1/2"], epsilon=_MEDIAN * all_of_it, lower=-first, upper=first, neighbors=neighbors)
    median = float(law.draw(generator)[0, 0])
    second = radius(np.abs(records - median), bucket, 2.0, _SECOND * all_of_it, generator)
    left = all_of_it * (1 - _SPREAD - _FIRST - _MEDIAN - _SECOND)
    value = noisy_mean(records, median, second, left, neighbors, generator)
    return Release("mean", value, loss, {"method": "universal mean (Dong and Yi 2023)", "noise": FLOATING})


def mapped_mean(data: object, *, epsilon: Number, neighbors: Neighbors = "swap", rng: np.random.Generator) -> Release:
    """The mean around a median over magnitudes; floating-point noise, for comparison only."""
    generator, neighbors, total = check_rng(rng), check_neighbors(neighbors), privacy_parameter(epsilon, "epsilon")
    loss, all_of_it = PrivacyLoss.of(pure(total), neighbors), float(total)
    records = ordered_records(data)
    law = mapped_law(records, ["1/2"], epsilon=_CENTER * all_of_it, neighbors=neighbors)
    center = float(law.draw(generator)[0, 0])
    deviations = np.abs(records - center)
    width = radius(deviations, _LEAST, 2**0.5, _RADIUS * all_of_it, generator)
    value = noisy_mean(records, center, width, all_of_it * (1 - _CENTER - _RADIUS), neighbors, generator)
    return Release("mean", value, loss, {"method": "clipped mean around a mapped median", "noise": FLOATING})


def spread_of(records: Floats, epsilon: float, neighbors: Neighbors, rng: np.random.Generator) -> float:
    """A power of two near the median distance of random pairs, by two walks of AboveThreshold down and up from 1.

    A record is in one pair. Under add-remove the new one takes the place of a random other one, which goes to the end,
    so two pairs change.
    """
    mixed = rng.permutation(records)
    pairs = np.sort(np.abs(mixed[0::2][: len(mixed) // 2] - mixed[1::2]))
    noise = (2 if neighbors == "add-remove" else 1) * 4 / epsilon  # half of epsilon a walk, for any queries
    exponents = np.arange(_DOUBLINGS)
    for sign in (-1, 1):
        sides = np.searchsorted(pairs, 2.0 ** (sign * exponents), side="right") - len(pairs) / 2
        above = sign * sides + rng.laplace(0, 2 * noise, _DOUBLINGS) >= rng.laplace(0, noise)
        steps = int(np.argmax(above)) if above.any() else _DOUBLINGS - 1
        if sign == 1 or steps > 0:
            return float(2.0 ** (sign * steps))
    raise AssertionError("the second walk returns")


def noisy_mean(
    records: Floats, center: float, width: float, epsilon: float, neighbors: Neighbors, rng: np.random.Generator
) -> float:
    """The mean of records clipped to center +- width; costs epsilon.

    Under swap the number of records is public. Under add-remove the sum of deviations moves by at most `width`, and a
    noisy number of records divides it.
    """
    total = float(np.clip(records - center, -width, width).sum())
    if neighbors == "swap":
        return center + (total + rng.laplace(0, 2 * width / epsilon)) / max(len(records), 1)
    size = max(len(records) + rng.laplace(0, 1 / (_COUNT * epsilon)), 1.0)
    ratio = (total + rng.laplace(0, width / ((1 - _COUNT) * epsilon))) / size
    return center + float(np.clip(ratio, -width, width))
