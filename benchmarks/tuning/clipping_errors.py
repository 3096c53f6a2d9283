"""The expected errors behind docs/clipping.md: of a sum whose clip is known, and of an oracle; and the bundled data.

No noise is drawn. An error counts for at most that of answering 0, for all methods alike.
"""

import csv
import gzip
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]


@cache
def bundled(name: str) -> Floats:
    """A bundled column: ratings are floats, the others whole numbers."""
    file, key = {
        "ratings": ("books.csv.gz", "average_rating"),
        "pages": ("books.csv.gz", "num_pages"),
        "ages": ("adult.csv.gz", "age"),
        "hours": ("adult.csv.gz", "hours_per_week"),
    }[name]
    with gzip.open(str(files("nobounds") / "data" / file), "rt") as text:
        values = np.array([float(row[key]) for row in csv.DictReader(text)])
    return values if name == "ratings" else values.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """The law of the error of a sum: Laplace noise of these scales around these biases."""

    chances: Floats
    biases: Floats
    scales: Floats
    cap: float

    @property
    def mean(self) -> float:
        """The expected absolute error; what the law leaves out counts as an answer of 0."""
        cap = self.cap
        bias, scale = np.minimum(np.abs(self.biases), cap), np.minimum(self.scales, 1e9 * cap)
        beyond = scale * (np.exp(-(cap - bias) / scale) + np.exp(-(cap + bias) / scale)) / 2
        left_out = max(1 - float(self.chances.sum()), 0.0)
        return float(self.chances @ (bias + scale * np.exp(-bias / scale) - beyond) + left_out * cap)


class Clipping:
    """What clipping sorted data changes in their sum."""

    def __init__(self, data: Floats) -> None:
        self.data = data.astype(float)
        self.up_to = np.concatenate([[0.0], np.cumsum(self.data)])

    def bias(self, lows: Floats, highs: Floats) -> Floats:
        """The sum of the clipped records minus the sum."""
        below, upto = np.searchsorted(self.data, lows), np.searchsorted(self.data, highs, side="right")
        raised = lows * below - self.up_to[below]
        return raised + highs * (len(self.data) - upto) - (self.up_to[-1] - self.up_to[upto])

    def mixture(self, chances: Floats, lows: Floats, highs: Floats, spans: Floats, epsilon: float) -> Mixture:
        """Clips with their probabilities, and noise of their spans over epsilon."""
        scales = np.maximum(spans / epsilon, 1e-300)
        return Mixture(chances, self.bias(lows, highs), scales, float(np.abs(self.data).sum()))


def oracle(data: Floats, epsilon: float) -> float:
    """The error for the best clip [0, c] and all of epsilon on noise, for data above 0."""
    clips, found = np.geomspace(data[len(data) // 4], 1.2 * data[-1], 600), Clipping(data)
    one = np.ones(1)
    return min(found.mixture(one, 0 * one, c * one, c * one, epsilon).mean for c in clips)
