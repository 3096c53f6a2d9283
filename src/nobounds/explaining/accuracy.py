"""What error to expect of a release: noise, clipping, and places in the order of the records; and how it fails."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from nobounds.accounting.spending import Spending
from nobounds.explaining.expected import SHAPES_IN_WORDS, Made
from nobounds.explaining.told import CLIPPED, COMPARISON, RANKED, Told
from nobounds.explaining.words import Paragraph, about, figure, listed

HEADING = "What error to expect"
_ENOUGH, _SCALED, _NONE = 300, 300, 60  # over epsilon: records for a quantile, for the scale of a clip, for any clip
_SURE = 60  # n epsilon min(q, 1 - q) from which catastrophes are rare
_UNSURE = (ValueError, TypeError, ArithmeticError, AssertionError, IndexError)  # of a plan nobody could have made


def accuracy(told: Told, sizes: Sequence[int]) -> Paragraph:
    """The error to expect, with forecasts for so many records."""
    if COMPARISON in str(told.of.found.get("noise")):
        first = (
            "This was made by a previous method for comparison, with noise in floating point: it is not for release."
        )
        return Paragraph(HEADING, (first,))
    if told.statistic in RANKED:
        found = _ranked(told, sizes)
    elif told.statistic in CLIPPED:
        found = [*_noise(told), *_clipping(told, sizes)]
    elif told.statistic.startswith("vector_"):
        found = _vector(told)
    else:
        found = _noise(told)
    most = told.rows_per_unit
    if most is not None and told.statistic in ("count", "sum"):
        found.append(
            f"Where a unit has more than {most:,} rows, the others are left out, and missing in the {told.statistic}."
        )
    return Paragraph(HEADING, tuple(found or ["The release does not say."]))


def _noise(told: Told) -> list[str]:
    """What the noise alone does."""
    if told.by:
        return _noise_by_group(told)
    if told.interval is None:
        return []
    low, high = told.interval
    if told.unbounded:
        return [
            "There were too few records for this privacy loss to find bounds: "
            "nothing can be said about the error, and the answer may be near 0 or far off. Do not rely on it."
        ]
    if low == high and told.statistic == "count":
        return ["It is exact: where neighbouring data sets have equally many rows, their number is public."]
    but = "" if told.statistic == "count" else "But for the clipping below, "
    true = "the true answer" if but else "The true number"
    return [f"{but}{true} lies between {figure(low)} and {figure(high)} 95 times of 100: that is the noise."]


def _noise_by_group(told: Told) -> list[str]:
    if "half_interval" in told.of:
        half = about(told.of.amount("half_interval"))
        return [f"Noise moves each answer by at most {half}, 95 times of 100."]
    if told.statistic == "mean":
        return [
            "How far noise moves the mean of a group depends on how many it has: half_intervals in the file tell it."
        ]
    return ["There were too few records to find bounds: nothing can be said about the errors. Do not rely on them."]


def _clipping(told: Told, sizes: Sequence[int]) -> list[str]:
    if "clip" not in told.of:
        return []
    low, high = _ends(told)
    found = [
        f"Records were clipped: those below {low} count as {low}, and those above {high} as {high}. "
        "These bounds were found privately. "
        "How much that changed the answer is not in the range above, and cannot be told without spending more."
    ]
    made = None if told.by or told.unbounded else told.made()
    outside = None if made is None else _by_size(made.outside, sizes)
    if outside:
        parts = [f"{_whole(*ends)} of {n:,}" for n, ends in outside]
        found.append(
            f"Bounds found in this way leave few records outside, on average {listed(parts)}, in {SHAPES_IN_WORDS}."
        )
    each = _epsilon(told.spending())
    if not told.by:
        found.append(
            f"With fewer than about {_over(_SCALED, each)} records the bounds are coarse; "
            f"with fewer than about {_over(_NONE, each)} the answer is near 0, "
            "and the release says that nothing is known of its error."
        )
    return found


def _ranked(told: Told, sizes: Sequence[int]) -> list[str]:
    """Of quantiles and extremes: places in the order of the records."""
    of = "of a group " if told.by else ""
    found = [
        f"Think of all records {of}in increasing order: "
        "the answer is a number near the place that was asked for, and its error is how many places it is off."
    ]
    found += places(told.made(), sizes, "The answer" if len(told.values) == 1 else "Each answer")
    if "bits" in told.of and told.of.whole("bits", 0) <= 30 and told.statistic != "quantile":
        share = 100 * 0.5 ** told.of.whole("bits", 0)
        found.append(
            f"Candidates for the ends of the data are up to {share:.2g} % apart, "
            "which counts on top where records are dense."
        )
    return found + _failure(told)


def places(made: Made | None, sizes: Sequence[int], what: str) -> list[str]:
    """How many places quantiles and extremes are off, on average, for so many records."""
    if not sizes:
        return []
    errors = None if made is None else _by_size(made.rank_errors, sizes)
    if made is None or not errors:
        return ["How many places that is was not worked out for a release made in this way."]
    texts = [_between(*ends) for _, ends in errors]
    parts = [f"{text} among {n:,}" for text, n in zip(texts, sizes, strict=True)]
    if len(set(texts)) == 1:
        parts = [f"{texts[0]} among {listed([f'{n:,}' for n in sizes])}"]
    simulated = made.statistic == "quantiles" and len(made.qs) > 1
    data = "skewed data (lognormal), by simulated releases" if simulated else SHAPES_IN_WORDS
    return [f"{what} is off by so many places on average: {listed(parts)} records, in {data}."]


def _failure(told: Told) -> list[str]:
    """How it fails."""
    epsilon = _epsilon(told.spending())
    found = [
        "With too few records the answer is far too small, down to 0, and hardly ever far too large. "
        f"About {_over(_ENOUGH, epsilon)} records are enough for a median without bounds"
        + (" (in each group)." if told.by else ".")
    ]
    tails = [min(q, 1 - q) for q in (told.of.ranks("q") if "q" in told.of else []) if 0 < q < 1]
    if told.statistic == "quantile" and tails:
        least = _over(_SURE, epsilon * float(min(tails)))
        found.append(f"From about {least} records on it is within ten times the range of the data 999 times of 1,000.")
    if told.statistic in ("maximum", "bounds") and 0.1 <= epsilon <= 4 and "upper" not in told.of:
        found.append(
            "The maximum may be above the largest record: "
            "with 100 records or more, above ten times as much in less than 1 of 10,000 cases."
        )
    return found


def _vector(told: Told) -> list[str]:
    found = []
    if "noise_scale" in told.of:
        half = about(1.96 * told.of.amount("noise_scale"))
        found.append(f"Noise moves each number by at most {half}, 95 times of 100.")
    if "clip" in told.of:
        clip = figure(told.of.amount("clip"))
        found.append(
            f"Rows with a Euclidean norm above {clip} were shortened to it, a bound that was found privately. "
            "What that changed is not in the noise."
        )
    return found


def _by_size(
    expected: Callable[[int], tuple[float, float]], sizes: Sequence[int]
) -> list[tuple[int, tuple[float, float]]]:
    """Forecasts by the number of records; none if there was no such plan."""
    try:
        with np.errstate(all="ignore"):
            found = [(n, expected(n)) for n in sizes]
    except _UNSURE:  # the file may say what it likes, and this is about public numbers alone
        return []
    return found if all(math.isfinite(end) for _, ends in found for end in ends) else []


def _between(low: float, high: float) -> str:
    """A range in places, as few words as will do."""
    if high < 0.95:
        return "less than 1"
    first, last = about(low) if low >= 0.1 else "0", about(high)
    return first if first == last else f"{first} to {last}"


def _whole(low: float, high: float) -> str:
    """A range of records."""
    first, last = (f"{math.ceil(end - 0.05):,}" for end in (low, high))
    return first if first == last else f"{first} to {last}"


def _ends(told: Told) -> list[str]:
    """The ends of the clip; what is next to nothing beside the other is about 0."""
    ends = told.of.floats("clip")
    least = max(map(abs, ends)) / 10**6
    return [figure(end) if end == 0 or abs(end) >= least else "about 0" for end in ends]


def _epsilon(spending: Spending) -> float:
    """The epsilon for one row; for a rho that of as much noise."""
    return math.sqrt(2 * spending.amount) if spending.zcdp else float(spending.amount)


def _over(number: int, epsilon: float) -> str:
    """So many records over an epsilon, in two digits."""
    return about(float(math.ceil(Fraction(number) / Fraction(epsilon)))) if epsilon > 1e-300 else "infinitely many"
