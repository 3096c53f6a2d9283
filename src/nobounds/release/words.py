"""The words of intervals and of what is not answered: the same in print, in explanations and on the page."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from nobounds.exact import printable, text_up
from nobounds.kinds.kind import NUMBER, Kind
from nobounds.release.digits import said as in_digits
from nobounds.release.digits import said_ends, said_reach
from nobounds.release.schema import Interval, type_in

TOO_FEW = "too few rows"  # why a number is not answered
TOO_FEW_NUMBERS = "too few numbers"  # the same, of a column whose type is not declared
NO_SPREAD = "the spread was not found, as where many rows have one value"  # why a sum or a mean is not answered
ONE_VALUE = "nearly all rows have one value, so state lower and upper"  # the same, where noisy counts show that
NONE_SEEN = "no rows seen"  # why a group has no number, by a noisy count
OF_CLIPPED = "clipped records"  # what an interval is of, where it does not cover what clipping changed
UNKNOWN = "its error is not known"
SUMMARIES = (  # what the intervals of a summary are, wherever it is shown
    "Ranges are 95% intervals; those of means include what clipping changed. Quantiles, minimum and maximum have none "
    "here, but each has one where it is the only statistic of a call."
)


def bars_in_words(bars: Sequence[Interval], parameters: Mapping[str, Any], values: Sequence[Any] = ()) -> str:
    """Intervals, of `values` if these are known, and their level: "12 to 15 at 95%"."""
    level = parameters.get("interval", {}).get("level")
    kind = type_in(parameters)
    words = ", ".join(between(bar, kind, value) for bar, value in zip_longest(bars, values[: len(bars)]))
    return words if level is None or words == UNKNOWN else f"{words} at {100 * level:.4g}%{_of_clipped(parameters)}"


def between(bar: Interval, kind: Kind = NUMBER, value: Any = None) -> str:
    """An interval in words, of a value if it is known; ends may be infinite, and of a type its first or last value."""
    low, high = said_ends(bar, kind, value)
    if low is not None and high is not None:
        return f"{low} to {high}"
    if low is not None:
        return f"at least {low}"
    return UNKNOWN if high is None else f"at most {high}"


def margin_in_words(value: Any, bar: Interval, kind: Kind = NUMBER) -> str:
    """The interval beside its value: "± 400", or its ends if it reaches further on one side: "(at least 0)"."""
    reach = said_reach(value, bar, kind)
    return f"({between(bar, kind, value)})" if reach is None else f"± {reach}"


def needed_in_words(parameters: Mapping[str, Any]) -> str:
    """What would do where a number is not answered: ": about 120 rows would do, or epsilon 3".

    Of a column of no declared type, how many of its texts are numbers, and how many would do.
    """
    needed, read = parameters.get("needed", {}), parameters.get("values_read")
    if read is not None and "rows" in needed:
        typed = "; if it holds dates or times, state its type (--type, or schema=)" if 2 * read < needed["rows"] else ""
        return f": about {read:,} of its values are numbers, and about {needed['rows']:,} would do{typed}"
    ways = [f"about {needed['rows']:,} rows"] if "rows" in needed else []
    ways += [f"{kind} {text_up(needed[kind], 2)}" for kind in ("epsilon", "rho") if kind in needed]
    return f": {' or '.join(ways)} would do" if ways else ""


def read_in_words(parameters: Mapping[str, Any]) -> str:
    """How many values of a column of no declared type are numbers, where a noisy number of them was bought."""
    read = parameters.get("values_read")
    return "" if read is None else f"About {read:,} of its values are numbers; how many others are left out is unknown."


def rows_needed(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with the rows that would do alone: an epsilon would be that of one answer, and of several not all."""
    rows = {name: number for name, number in parameters.get("needed", {}).items() if name == "rows"}
    return {**parameters, "needed": rows} if rows else dict(parameters)


def units_in_words(parameters: Mapping[str, Any], unit: str) -> str:
    """How many rows of a unit count, or how many values, where some may be left out."""
    of = next((what for what in ("row", "value") if f"{what}s_per_unit" in parameters), None)
    if of is None:
        return ""
    most = parameters[f"{of}s_per_unit"]
    number = f"{most:,} {of}{'s' * (most != 1)} count{'s' * (most == 1)}"
    return f"Of each {printable(unit)} at most {number}; the other {of}s are left out."


def assumed_in_words(parameters: Mapping[str, Any]) -> str:
    """What an interval assumes, if anything."""
    assumed = parameters.get("interval", {}).get("assumes")
    return f"The interval assumes: {printable(assumed)}." if assumed else ""


def rows_in_words(parameters: Mapping[str, Any]) -> str:
    """Which rows count, and what computed columns are: "Rows where age >= 18, with rate = late / trips."."""
    where, formulas = parameters.get("where"), parameters.get("formulas", {})
    parts = [] if where is None else [f"rows where {printable(where)}"]
    made = ", ".join(f"{printable(name)} = {printable(formula)}" for name, formula in formulas.items())
    said = ", ".join([*parts, *([f"with {made}"] if made else [])])
    return f"{said[0].upper()}{said[1:]}." if said else ""


def key_in_words(statistic: str, key: Sequence[Any]) -> str:
    """A key for people; of a histogram the bin from one edge to the next, or beyond the last one."""
    own = {"histogram": 2, "cdf": 1}.get(statistic, 0)  # of the bin; others are those of a group
    words = [printable(str(part)) for part in key[: len(key) - own]]
    place = key[len(key) - own :]
    parts = [None if part is None else printable(part) if isinstance(part, str) else in_digits(part) for part in place]
    return ", ".join([*words, *([_bin_in_words(*parts)] if parts else [])])


def _bin_in_words(low: str | None, high: str | None = "") -> str:
    """The bin between two edges, each None if it is open there; or a point alone."""
    if low is None:
        return "all" if high is None else f"below {high}"
    return f"{low} or more" if high is None else f"{low} to {high}" if high else low


def key_heads(statistic: str, by: Sequence[str]) -> list[str]:
    """The heads of a column of keys in words: those of its columns, or of a bin one for both of its edges."""
    return [*map(printable, by[:-2]), "bin"] if statistic == "histogram" else [*map(printable, by)]


def edges_in_words(parameters: Mapping[str, Any]) -> str:
    """That there were too few rows to find edges or points, if so."""
    name = next((name for name in ("edges", "points") if parameters.get(name) == "private"), None)
    if name is None or "needed" not in parameters:
        return ""
    return f"{TOO_FEW[0].upper()}{TOO_FEW[1:]} to find {name}{needed_in_words(parameters)}."


def shown_in_words(parameters: Mapping[str, Any], groups: int, unit: str) -> str:
    """How many units a group needs to be shown, where keys are chosen privately; and that none was, if so."""
    least = parameters.get("units_to_show")
    if least is None:
        return ""
    units = "rows" if unit == "row" else "units"
    sentence = f"A group needs about {least:,} {units} to be shown, at this epsilon and delta (95% of the time)"
    return f"No group is shown. {sentence}." if groups == 0 else f"{sentence}; smaller ones are mostly missing here."


def group_needed_in_words(parameters: Mapping[str, Any], reasons: Sequence[str | None] | None) -> str:
    """How many rows a group needs to be answered, if one has too few."""
    rows = parameters.get("needed", {}).get("rows")
    if rows is None or not {TOO_FEW, TOO_FEW_NUMBERS, NONE_SEEN} & set(reasons or ()):
        return ""
    return f"For an answer, a group needs about {rows:,} rows."


def interval_heading(parameters: Mapping[str, Any]) -> str:
    """The heading of a column of intervals, such as "95% interval"."""
    return f"{100 * parameters.get('interval', {}).get('level', 0.95):.4g}% interval{_of_clipped(parameters)}"


def is_of_clipped(parameters: Mapping[str, Any]) -> bool:
    """Whether intervals are for the clipped records alone: the statistic of all records may well lie outside."""
    return bool(parameters.get("interval", {}).get("of") == OF_CLIPPED)


def _of_clipped(parameters: Mapping[str, Any]) -> str:
    return " for the clipped records" if is_of_clipped(parameters) else ""


def rank_in_words(q: str) -> str:
    """A rank in percent: "99.5%"."""
    return f"{100 * float(Fraction(q)):.10g}%"


def cut_in_words(groups: int, shown: int) -> str:
    """That not all groups are shown: "... and 88 more of 100 groups"."""
    return f"... and {groups - shown:,} more of {groups:,} groups"
