"""What error to expect of a release: from noise, from clipping and in ranks; and what happens with too few records."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from nobounds.accounting.spending import Spending
from nobounds.explaining.expected import SHAPES_IN_WORDS, ErrorModel
from nobounds.explaining.reading import ReleaseFields
from nobounds.explaining.statements import CLIPPED, COMPARISON, PAIRED, RANKED, SPREADS, ReleaseStatement
from nobounds.explaining.words import Paragraph, about, listed
from nobounds.kinds.kind import COUNTED
from nobounds.planning.answerable import Answerable
from nobounds.release.digits import said
from nobounds.release.words import OF_CLIPPED, UNKNOWN, units_in_words

HEADING = "What error to expect"
_SCALED, _NONE = 500, 60  # records times epsilon: for the scale of a clip, for any clip
_ENOUGH, _OF_GROUP = 370, 100  # the same: for a median, and for that of a group
_ENDS = 1000  # records times epsilon from which a maximum does not run away (tests/promises/test_runaway.py)
_EXTREMES = ("maximum", "minimum", "bounds")
_IMPOSSIBLE = (ValueError, TypeError, ArithmeticError, AssertionError, IndexError)  # raised by an impossible plan


def accuracy(statement: ReleaseStatement, sizes: Sequence[int]) -> Paragraph:
    """The error to expect, with forecasts for each number of records in `sizes`."""
    if COMPARISON in str(statement.parameters.mapping.get("noise")):
        first = (
            "This was made by a previous method for comparison, with noise in floating point: it is not for release."
        )
        return Paragraph(HEADING, (first,))
    if statement.statistic in RANKED:
        sentences = [*_noise(statement), *(_ranked(statement, sizes) if statement.values else [])]
    elif statement.statistic in CLIPPED + SPREADS:
        sentences = [*_noise(statement), *(_clipping(statement) if statement.values else [])]
    elif statement.statistic in PAIRED:
        sentences = [*_noise(statement), *(_clips(statement) if statement.values else [])]
    elif statement.statistic.startswith("vector_"):
        sentences = _vector(statement)
    else:
        sentences = _noise(statement)
    sentences += _left_out(statement)
    return Paragraph(HEADING, tuple(sentences or ["The release does not say."]))


def _left_out(statement: ReleaseStatement) -> list[str]:
    """That rows of units are left out, and that no error above counts this."""
    most = statement.rows_per_unit
    if "values_per_unit" in statement.parameters:
        bound = {"values_per_unit": statement.parameters.whole("values_per_unit")}
        return [f"{units_in_words(bound, statement.loss.unit)} So the answer may be below the number in the table."]
    if most is None:
        return []
    said = units_in_words({"rows_per_unit": most}, statement.loss.unit)
    adding = statement.statistic == "sum" or statement.statistic in COUNTED
    missing = f" They are missing in the {statement.statistic.replace('_', ' ')}." if adding else ""
    return [
        f"{said}{missing} What is said above is about the rows that count, not about all rows: "
        "rows_left_out estimates how many are left out."
    ]


def _noise(statement: ReleaseStatement) -> list[str]:
    """What the intervals say, and for what."""
    if not statement.values:
        return ["Nothing was answered, so there is no error to speak of."]
    if not statement.intervals:
        return []
    if statement.by:
        return _noise_by_group(statement)
    if all(low == high for low, high in statement.intervals) and statement.statistic == "count":
        return ["It is exact: where neighbouring data sets have equally many rows, their number is public."]
    if statement.statistic == "rows_left_out":
        ends = " to ".join(f"{100 * end:.3g}%" for end in statement.intervals[0])
        return [f"The share of rows left out: {ends}, at {_level(statement)}.", *_assumed(statement)]
    said = [
        statement.between(bar, value)
        for value, bar in zip(statement.answers, statement.intervals, strict=False)
        if value is not None
    ]
    if set(said) == {UNKNOWN}:
        few = "there are too few of them for this privacy loss"
        why = few if statement.statistic in RANKED else f"{few}, or too many may lie beyond the bounds"
        return [f"How far off the answer may be could not be learned from the records: {why}."]
    sentences = [f"{_subject(statement)}: {listed(said)}, at {_level(statement)}.", *_assumed(statement)]
    if statement.statistic in _EXTREMES:
        sentences.append("How far the outermost record lies beyond that no private method can say.")
    elif statement.statistic in SPREADS and statement.intervals[0][1] == math.inf:
        sentences.append("What it is at most is not known: much of it may lie in the few records beyond the bounds.")
    elif any(math.inf in (high, -low) for low, high in statement.intervals):
        sentences.append("An end that is not named could not be released for this privacy loss.")
    return sentences


def _subject(statement: ReleaseStatement) -> str:
    """What an interval is for."""
    if statement.statistic == "count_distinct":
        left = "values_per_unit" in statement.parameters
        return "The number of distinct values" + (" that are left" if left else "")
    if statement.statistic in ("count", "value_counts", "top_k", "histogram"):
        return "The number of rows that count" if statement.rows_per_unit is not None else "The number of records"
    which = "records that count" if statement.rows_per_unit is not None else "records"
    of = statement.interval_of
    if of == OF_CLIPPED:
        return f"What noise leaves open about the {statement.statistic} of the clipped {which}"
    if of == "population":
        return f"The {statement.statistic} of the population that the {which} are a sample of"
    return f"The {statement.statistic} of the {which}"


def _level(statement: ReleaseStatement) -> str:
    return f"{100 * statement.interval_level:.4g}%"


def _assumed(statement: ReleaseStatement) -> list[str]:
    """What an interval rests on, if it rests on more than the noise."""
    stated = statement.parameters.inner("interval")
    if "assumes" in stated:
        return [f"That assumes: {stated.word('assumes')}."]
    return ["That holds for every data set, by proof."] if stated.mapping.get("guarantee") is True else []


def _noise_by_group(statement: ReleaseStatement) -> list[str]:
    each = {"value_counts": "value", "top_k": "value", "histogram": "bin"}.get(statement.statistic, "group")
    what = f"{_subject(statement)} of each {each}" if statement.statistic != "cdf" else "The share up to each point"
    sentences = [f"{what} has an interval at {_level(statement)}: `intervals` in the file."]
    stated = statement.parameters.inner("interval")
    if "together" in stated:
        within = " of a group" if len(statement.by) > 1 else ""
        most = f"{'up to' if within else 'all'} {stated.whole('together', 0):,}"
        sentences.append(f"The intervals of {most} counted values{within} hold together.")
    return [*sentences, *_assumed(statement)]


def _clipping(statement: ReleaseStatement) -> list[str]:
    if "clip" not in statement.parameters:
        return []
    low, high = _ends(statement)
    clipped = (
        f"Records were clipped: those below {low} count as {low}, and those above {high} as {high}. "
        "These bounds were chosen privately."
    )
    if statement.unbounded:
        return [clipped]
    changed = (
        "How much that changed the answer is not" if statement.interval_of == OF_CLIPPED else "What that changed is"
    )
    return [f"{clipped} {changed} in the range above."]


def _clips(statement: ReleaseStatement) -> list[str]:
    """How the records of two columns were clipped."""
    if "clips" not in statement.parameters:
        return []
    first, second = (" to ".join(said(end) for end in clip) for clip in statement.clips())
    included = (
        "How much that changed the answer is not in the range above."
        if statement.interval_of == OF_CLIPPED
        else "What that changed is in the range above."
    )
    return [
        f"Records were clipped: those of the first column to {first}, and those of the second to {second}. "
        f"These bounds were chosen privately. {included}"
    ]


def _ranked(statement: ReleaseStatement, sizes: Sequence[int]) -> list[str]:
    """The error of quantiles and extremes, in ranks."""
    of = "of a group " if statement.by else ""
    sentences = [
        f"Think of all records {of}in increasing order: "
        "the answer is a number near the requested place, and its error is how many places it is off."
    ]
    sentences += _rung(statement)
    what = "The answer" if len(statement.values) == 1 else "Each answer"
    model = statement.error_model()
    sentences += places(model, sizes, what)
    return sentences + _failure(statement, model)


def _rung(statement: ReleaseStatement) -> list[str]:
    """What is known for free of the rung that the answer lies on."""
    stated = statement.parameters.inner("rung")
    if "percentiles" not in stated:
        return []
    percentiles, level = stated.floats("percentiles"), stated.amount("level")
    if len(percentiles) != 2:
        raise ValueError("parameters.rung.percentiles must be a list of two numbers")
    if not 0 < level < 1:
        raise ValueError("parameters.rung.level must be greater than 0 and less than 1")
    low, high = (_end(statement, stated, name) for name in ("low", "high"))
    where = (
        f"({low} to {high}) " if low and high else f"(at least {low}) " if low else f"(at most {high}) " if high else ""
    )
    first, last = (f"{end:.4g}" for end in percentiles)
    return [
        f"Some number on the rung of the answer {where}lies between the percentiles {first} and {last} of the records, "
        f"at {100 * level:.4g}%: that holds for every data set. "
        "Of the answer itself it is not said: many equal records may lie beside it on the rung."
    ]


def _end(statement: ReleaseStatement, stated: ReleaseFields, name: str) -> str | None:
    """An end of a rung in words, None where it is infinite; a text where answers have a type."""
    end = stated.mapping.get(name)
    if end is None:
        return None
    if statement.column_kind.of_answer(statement.statistic).typed:
        return stated.word(name)
    if isinstance(end, list):
        raise ValueError(f"parameters.rung.{name} must be a number")
    return said(stated.floats(name)[0])


def places(model: ErrorModel | None, sizes: Sequence[int], what: str) -> list[str]:
    """The expected rank error of quantiles and extremes, for each number of records in `sizes`."""
    if not sizes:
        return []
    errors = None if model is None else _by_size(model.rank_errors, sizes)
    if model is None or not errors:
        return ["How many places that is was not worked out for a release made in this way."]
    texts = [_between(*ends) for _, ends in errors]
    parts = [f"{text} among {n:,}" for text, n in zip(texts, sizes, strict=True)]
    if len(set(texts)) == 1:
        parts = [f"{texts[0]} among {listed([f'{n:,}' for n in sizes])}"]
    return [f"{what} is off by this many places on average: {listed(parts)} records, in {SHAPES_IN_WORDS}."]


def _failure(statement: ReleaseStatement, model: ErrorModel | None) -> list[str]:
    """What quantiles and extremes do with too few records."""
    sentences = ["With too few records there is no answer."]
    if statement.by:
        enough = _over(_OF_GROUP, _epsilon(statement.spending()))
        sentences = [f"{sentences[0]} About {enough} records are enough for a median without bounds (in each group)."]
    elif model is not None:
        rows = Answerable("maximum", neighbors=model.neighbors).rows(model.spending)
        sentences = [f"{sentences[0]} About {rows:,} records are enough for one in 95% of cases."]
    if statement.statistic in ("maximum", "bounds") and "upper" not in statement.parameters:
        sentences.append("The maximum may be above the largest record.")
    return sentences


def _vector(statement: ReleaseStatement) -> list[str]:
    sentences = []
    if "noise_scale" in statement.parameters:
        half = about(1.96 * statement.parameters.amount("noise_scale"))
        sentences.append(f"Noise moves each number by at most {half}, 95% of the time.")
    if "clip" in statement.parameters:
        clip = said(statement.parameters.amount("clip"))
        sentences.append(
            f"Rows with a Euclidean norm above {clip} were shortened to it, a bound that was chosen privately. "
            "What that changed is not in the noise."
        )
    return sentences


def _by_size(
    expected: Callable[[int], tuple[float, float]], sizes: Sequence[int]
) -> list[tuple[int, tuple[float, float]]]:
    """Forecasts by the number of records; none if no release has these parameters."""
    try:
        with np.errstate(all="ignore"):
            forecasts = [(n, expected(n)) for n in sizes]
    except _IMPOSSIBLE:  # the file may state anything, and only public numbers are involved here
        return []
    return forecasts if all(math.isfinite(end) for _, ends in forecasts for end in ends) else []


def _between(low: float, high: float) -> str:
    """A range of rank errors, in as few words as possible."""
    if high < 0.95:
        return "less than 1"
    first, last = about(low) if low >= 0.1 else "0", about(high)
    return first if first == last else f"{first} to {last}"


def _ends(statement: ReleaseStatement) -> list[str]:
    """The ends of the clip; an end that is negligible beside the other is "about 0"."""
    ends = statement.parameters.floats("clip")
    if statement.facts_kind.typed:
        return [said(statement.facts_kind.value(end)) for end in ends]
    least = max(map(abs, ends)) / 10**6
    return [said(end) if end == 0 or abs(end) >= least else "about 0" for end in ends]


def _epsilon(spending: Spending) -> float:
    """The epsilon for one row; for a rho, the epsilon with the same noise."""
    return math.sqrt(2 * spending.amount) if spending.zcdp else float(spending.amount)


def _over(number: int, epsilon: float) -> str:
    """`number` / `epsilon`, rounded up to two digits."""
    return about(float(math.ceil(Fraction(number) / Fraction(epsilon)))) if epsilon > 1e-300 else "infinitely many"
