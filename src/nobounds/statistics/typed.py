"""Answers in the type of their column: numbers become dates, times, durations and decimals where they are released.

This is the last step of every statistic, and post-processing: it follows from the noisy numbers and the public type.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.kinds.kind import Kind
from nobounds.ladders.facts import Facts
from nobounds.release.description import Summary
from nobounds.release.schema import Interval

_SQUARED = {"variance": "std", "covariance": "correlation"}  # and what to take instead


def require_type(statistic: str, facts: Facts) -> None:
    """TypeError for a sum of a type whose values do not add up, or for squares of one that has none."""
    if statistic in _SQUARED and facts.kind.typed and facts.kind.name != "decimal":
        raise TypeError(
            f"a {statistic} of values of type {facts.kind} has no unit of its own; take {_SQUARED[statistic]}"
        )
    if statistic == "sum" and not facts.kind.adds:
        raise TypeError(
            f"a sum of values of type {facts.kind} makes no sense; take the mean, or the sum of their differences "
            "from a fixed one, which are durations"
        )


def typed_value(statistic: str, kind: Kind, value: Any) -> Any:
    """The answer of a statistic, or several numbers, in the type that it has for a column of this kind, None stays."""
    answers = kind.of_answer(statistic)
    if value is not None and _are_apart(answers, kind):
        value = kind.apart(value)
    if isinstance(value, tuple):
        return tuple(None if each is None else answers.value(each) for each in value)
    return None if value is None else answers.value(value)


def typed_intervals(statistic: str, kind: Kind, intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """The ends of its intervals in that type, where infinite ones are those of its range."""
    answers = kind.of_answer(statistic)
    if not answers.typed:
        return intervals
    if _are_apart(answers, kind):
        intervals = tuple((kind.apart(low), kind.apart(high)) for low, high in intervals)
    return tuple((answers.value(low), answers.value(high)) for low, high in intervals)


def _are_apart(answers: Kind, kind: Kind) -> bool:
    """Whether answers are distances between dates or times."""
    return answers.typed and answers.name != kind.name


def typed_rung(parameters: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """Parameters with the ends of the rung of an answer in a type, as JSON has it."""
    if not kind.typed or "rung" not in parameters:
        return parameters
    rung = parameters["rung"]
    ends = {name: None if rung[name] is None else kind.to_json(kind.value(rung[name])) for name in ("low", "high")}
    return parameters | {"rung": rung | ends}


def typed_array(values: NDArray[Any], kind: Kind) -> NDArray[Any]:
    """The answers for groups in a type: an array of objects, masked where a group is not answered."""
    if not kind.typed:
        return values
    typed = np.empty(values.shape, dtype=object)
    for place, value in np.ndenumerate(np.ma.getdata(values)):
        typed[place] = kind.value(value.item() if isinstance(value, np.generic) else value)
    return np.ma.array(typed, mask=np.ma.getmaskarray(values)) if isinstance(values, np.ma.MaskedArray) else typed


def type_of(statistic: str, kind: Kind) -> dict[str, str]:
    """For the parameters of a release: the type of the column, if answers are no numbers.

    Where they are distances between dates or times, it is the type of these, and `column_type` is that of the column.
    """
    answers = kind.of_answer(statistic)
    if not answers.typed:
        return {}
    return {"type": str(kind)} if answers.name == kind.name else {"type": str(answers), "column_type": str(kind)}


def types_of(facts: Mapping[str, Facts]) -> dict[str, dict[str, str]]:
    """For the parameters of a description: the types of the columns that are no numbers."""
    types = {name: str(column.kind) for name, column in facts.items() if column.kind.typed}
    return {"types": types} if types else {}


def typed_summary(summary: Summary, kind: Kind) -> Summary:
    """The statistics of a column in its type: counts are numbers, and standard deviations distances."""
    if not kind.typed:
        return summary

    def value(name: str, number: Any) -> Any:
        if number is None or name == "count":
            return number
        if name == "std":
            return kind.difference(number)
        return kind.of_answer(name).value(number)

    values = {name: value(name, number) for name, number in summary.values.items()}
    bars = {name: (value(name, low), value(name, high)) for name, (low, high) in summary.intervals.items()}
    return Summary(values, bars, summary.costs, summary.reasons)
