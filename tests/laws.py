"""What the tests of promises share: the exact law of a private answer, the sample data, and the bounded rival."""

import csv
import gzip
from fractions import Fraction
from importlib.resources import files

import numpy as np

from nobounds.answer_law import LEAST, AnswerLaw
from nobounds.counts import Counts
from nobounds.engines.arrays import column
from nobounds.quantile import ask


def answer_law(data, q, least=LEAST, **options):
    """The exact law of nobounds.quantile(data, q, **options).value, but for parts of less than `least`."""
    records = column(data)
    asked = ask(records, (Fraction(str(q)),), **options)
    return AnswerLaw.of(asked, Counts.of(records.chunks, asked.ladder), least=least)


def mean_error(data, q, truth, low, high, **options):
    """The expected absolute error of the answer; what little mass lies outside [low, high] must not matter."""
    values, masses = answer_law(data, q, **options).pmf(low, high)
    assert masses.sum() > 1 - 1e-4
    return float(masses @ np.abs(values - truth))


def adult():
    """The bundled ages and weekly hours."""
    with gzip.open(files("nobounds") / "data" / "adult.csv.gz", "rt") as text:
        rows = list(csv.DictReader(text))
    return {name: np.array([int(row[name]) for row in rows]) for name in ("age", "hours_per_week")}


def exponential_mechanism_error(data, q, truth, *, epsilon, low, high):
    """The expected error, rounded to integers, of the exponential mechanism on [low, high] (Smith 2011), exactly.

    Interval j between sorted points is drawn with probability proportional to its width times
    exp(-epsilon |j - q n| / 2), and then a uniform point in it.
    """
    points = np.concatenate([[low], np.clip(np.sort(data), low, high), [high]])
    widths, n = np.diff(points), len(data)
    exponents = -epsilon * np.abs(np.arange(n + 1) - q * n) / 2
    masses = widths * np.exp(exponents - exponents.max())
    cumulated = np.concatenate([[0], np.cumsum(masses / masses.sum())])
    integers = np.arange(low, high + 1)
    cuts = np.concatenate([[low], integers[:-1] + 0.5, [high]])
    chances = np.diff(np.interp(cuts, points, cumulated))
    return float(chances @ np.abs(integers - truth))
