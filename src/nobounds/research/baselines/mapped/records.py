"""Shared by the methods without bounds: sorted records, and the keywords."""

from typing import TypedDict

import numpy as np

from nobounds.arrays import Floats
from nobounds.exact import Number
from nobounds.research.baselines.records import floats_of

LARGEST = float(np.finfo(float).max)


class Unbounded(TypedDict):
    """The keywords of a method without bounds; its generator has no default."""

    epsilon: Number
    rng: np.random.Generator


def ordered_records(data: object) -> Floats:
    """The records of one column in increasing order; missing ones are 0, infinite ones the largest float."""
    return np.sort(np.clip(floats_of(data, missing=0.0), -LARGEST, LARGEST))
