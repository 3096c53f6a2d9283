"""A question to a table: which rows, which groups, which statistics of which columns, and what it may cost.

It is read from the fields of a form. Numbers stay text until the library reads them: 0.1 then means exactly one tenth.
"""

import csv
import math
import re
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from itertools import product
from typing import Any

import nobounds as nb
from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Spending
from nobounds.ask import Ask
from nobounds.studio.fields import Checks, Fields, Mistakes, chosen, text, whole
from nobounds.studio.layouts import numeric
from nobounds.values import dataclass

SUMMARY = "summary"
STATISTICS = {
    SUMMARY: ("Summary", "Average, spread, smallest value, quartiles, median and largest value at once."),
    "mean": ("Average", "The usual average: the total divided by the number."),
    "median": ("Median", "Half of the values are below it, half above."),
    "sum": ("Total", "All values added up."),
    "percentiles": ("Percentiles", "The values that a part of all values stay below."),
    "minimum": ("Smallest", "A value near the smallest one."),
    "maximum": ("Largest", "A value near the largest one."),
    "std": ("Spread", "The standard deviation: how far values typically lie from the average."),
}
LEVELS = {
    "0.1": "Very strong",
    "0.5": "Strong",
    "1": "Balanced",
    "2": "Weaker",
    "4": "Weak",
}
"""Levels of privacy in words, by their epsilon."""

INTERVALS = {"0.95": "95%", "0.9": "90%", "0.99": "99%", "": "none"}
DELTA = "1e-6"
MOST = 200  # statistics in one question
_RANKED = ("median", "quantile", "minimum", "maximum")
_SUMMARY = (  # what a summary of a column has, beside the number of rows
    ("mean", ()),
    ("std", ()),
    ("minimum", ()),
    ("quantile", ("0.25",)),
    ("median", ()),
    ("quantile", ("0.75",)),
    ("maximum", ()),
)
_BOUNDS = re.compile(r"(.+):\s*(\S+)?\s+to\s*(\S+)?\s*")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a table, and for how much."""

    asks: tuple[Ask, ...]
    amount: str
    spending: str = "epsilon"
    where: str = ""
    by: tuple[str, ...] = ()
    keys: tuple[tuple[str, ...], ...] | None = None  # the listed names of groups; None if these are not public
    delta: str | None = None
    groups_per_unit: int | None = None
    neighbors: Neighbors = "add-remove"
    summaries: tuple[str, ...] = ()  # the columns with a summary

    @classmethod
    def of(cls, fields: Fields, columns: dict[str, str], unit: str | None = None) -> "Question":
        """The question in the fields of a form; Mistakes says what is wrong with it."""
        checks, offered = Checks(), numeric(columns, unit)
        amount, spending = checks.get(lambda: _amount(fields), ("1", "epsilon"))
        asks = checks.get(lambda: _asks(fields, offered), ())
        by = checks.get(lambda: _by(fields, columns), ())
        keys, delta = checks.get(lambda: _keys(fields, by), (None, None))
        neighbors = checks.get(lambda: chosen(fields, "neighbors", ("add-remove", "swap"), "add-remove"), "add-remove")
        if neighbors == "swap" and (unit or by):
            checks.fields["neighbors"] = "Replaced rows do not go with groups, or with several rows of a person."
        most = None
        if by and unit and text(fields, "groups_per_unit"):
            most = checks.get(lambda: whole(fields, "groups_per_unit", "the number of groups"), None)
        if delta is not None and spending == "rho":
            checks.fields["spending"] = "Groups without listed names need an epsilon."
        checks.done()
        where, summaries = text(fields, "where"), _summaries(fields, offered)
        return cls(asks, amount, spending, where, by, keys, delta, most, neighbors, summaries)  # type: ignore[arg-type]

    @property
    def spent(self) -> dict[str, str]:
        """The keyword for what it may cost."""
        return {self.spending: self.amount}

    @property
    def columns(self) -> list[str]:
        """The columns that statistics are asked of."""
        return list(dict.fromkeys(name for ask in self.asks for name in ask.columns))

    @property
    def groups(self) -> int | None:
        """The number of groups, if it is known."""
        return None if self.keys is None or not self.by else len(self._texts())

    def of_table(self, table: nb.Table) -> Any:
        """The table or its groups that the statistics are asked of; nothing is read, and nothing is charged."""
        checks, viewed = Checks(), table
        with checks.field("where", "This condition cannot be used: "):
            viewed = table.where(self.where) if self.where else table
        grouped: Any = viewed
        with checks.field("keys" if self.keys is not None else "names"):
            grouped = self._grouped(viewed) if self.by else viewed
        checks.done()
        return grouped

    def answers(self, table: nb.Table) -> nb.Answers:
        """The private answers of a table."""
        answers: nb.Answers = self.of_table(table).agg(*self.asks, **self.spent)
        return answers

    def title(self) -> str:
        """The question in one line."""
        others = [ask for ask in self.asks if not self.summaries or (ask.columns and not self.in_summary(ask))]
        named = [f"summary of {_listed(self.summaries)}"] if self.summaries else []
        first = _listed([*named, *(ask_in_words(ask) for ask in others)])
        return f"{first} by {' and '.join(self.by)}" if self.by else first

    def in_summary(self, ask: Ask) -> bool:
        """Whether a statistic is a part of the summary of its column."""
        return any(name in self.summaries for name in ask.columns) and (ask.statistic, ask.q) in _SUMMARY

    def key_list(self, columns: dict[str, str]) -> list[Any] | None:
        """The listed names of groups in the types of their columns."""
        if self.keys is None:
            return None
        each = [
            [_typed(part, columns.get(name, "text"), name) for part in parts]
            for name, parts in zip(self.by, zip(*self._texts(), strict=True), strict=True)
        ]
        return each[0] if len(each) == 1 else list(zip(*each, strict=True))

    def _grouped(self, table: nb.Table) -> Any:
        keys = {"keys": self.key_list(table.columns)} if self.keys is not None else {"delta": self.delta}
        most = {} if self.groups_per_unit is None else {"groups_per_unit": self.groups_per_unit}
        return table.group_by(*self.by, **keys, **most)  # type: ignore[arg-type]

    def _texts(self) -> list[tuple[str, ...]]:
        """All combinations of the listed names."""
        return list(product(*(self.keys or ())))


def _listed(names: Sequence[str]) -> str:
    """The first three of some names, and how many more there are."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def ask_in_words(ask: Ask) -> str:
    """A statistic for people: "average of wait"."""
    if ask.statistic == "count":
        return "number of rows"
    of = " and ".join(ask.columns)
    if ask.statistic == "quantile":
        return f"{100 * float(Fraction(str(ask.q[0]))):.10g}th percentile of {of}"
    word = STATISTICS[ask.statistic][0] if ask.statistic in STATISTICS else ask.statistic
    return f"{word.lower()} of {of}"


def odds(epsilon: str) -> str:
    """How much the odds of an outsider can change, as a factor."""
    factor = math.exp(float(Fraction(epsilon)))
    return f"{factor:.2g}" if factor < 10 else f"{factor:,.0f}"


def _amount(fields: Fields) -> tuple[str, str]:
    level = text(fields, "level", "1")
    if level != "other":
        if level not in LEVELS:
            raise Mistakes({"level": "Choose one of the privacy levels."})
        return level, "epsilon"
    amount, spending = text(fields, "amount"), chosen(fields, "spending", ("epsilon", "rho"), "epsilon")
    try:
        Spending.of(amount if spending == "epsilon" else None, amount if spending == "rho" else None)
    except (ValueError, TypeError):
        raise Mistakes({"amount": f"Give the {spending} as a number above 0, such as 0.5."}) from None
    return amount, spending


def _asks(fields: Fields, offered: list[str]) -> tuple[Ask, ...]:
    """The ticked boxes as statistics, with what is stated about their columns."""
    checks = Checks()
    level = checks.get(lambda: chosen(fields, "interval", list(INTERVALS), "0.95"), "0.95")
    ranks = checks.get(lambda: _ranks(fields), ())
    bounds = checks.get(lambda: _bounds(fields, offered), {})
    summaries = _summaries(fields, offered)
    asks = [Ask("count")] if fields.get("count") or summaries else []
    for value in (*(f"{SUMMARY}:{name}" for name in summaries), *fields.get("ask", ())):
        ticked, _, column = value.partition(":")
        if ticked not in STATISTICS or column not in offered:
            checks.fields["ask"] = "A ticked column is not in the table, or is not one of numbers."
            continue
        known = _facts(fields, column, bounds)
        several = {SUMMARY: _SUMMARY, "percentiles": [("quantile", (q,)) for q in ranks]}
        for statistic, q in several.get(ticked, [(ticked, ())]):
            own = known | ({"interval": level} if level and statistic in _RANKED else {})
            asks.append(Ask(statistic, (column,), q, tuple(own.items())))
    asks = list(dict.fromkeys(asks))
    if not asks and not checks.fields:
        checks.fields["ask"] = "Tick at least one box: the number of rows, or a statistic of a column."
    if len(asks) > MOST:
        each = f" A summary of a column has {len(_SUMMARY)}." if summaries else ""
        checks.fields["ask"] = (
            f"At most {MOST} statistics fit into one question, and {len(asks)} are ticked.{each} Tick fewer boxes."
        )
    checks.done()
    return tuple(asks)


def _summaries(fields: Fields, offered: list[str]) -> tuple[str, ...]:
    """The columns with a summary: those that are ticked, or all."""
    ticked, keys = fields.get("ask", ()), [text(fields, name) for name in ("by1", "by2")]
    every = [name for name in offered if name not in keys] if fields.get("every") else []
    return tuple(name for name in offered if name in every or f"{SUMMARY}:{name}" in ticked)


def _ranks(fields: Fields) -> tuple[str, ...]:
    """Percentiles as parts of 1, in exact decimals."""
    ranks = []
    for each in re.split(r"[\s,;%]+", text(fields, "percentiles", "25, 75")):
        if not each:
            continue
        try:
            part = Fraction(each) / 100
        except (ValueError, ZeroDivisionError):
            part = Fraction(0)
        if not 0 < part < 1:
            raise Mistakes({"percentiles": "Percentiles are numbers between 0 and 100, such as 25, 75, 90."})
        ranks.append(f"{float(part):.10g}")
    return tuple(dict.fromkeys(ranks))


def _facts(fields: Fields, column: str, bounds: dict[str, tuple[str, str]]) -> dict[str, str]:
    lower, upper = bounds.get(column, ("", ""))
    if not lower and column in fields.get("positive", ()):
        lower = "0"
    given = {"lower": lower, "upper": upper, "resolution": "1" if column in fields.get("whole", ()) else ""}
    return {name: value for name, value in given.items() if value}


def _bounds(fields: Fields, offered: list[str]) -> dict[str, tuple[str, str]]:
    """Bounds that are public, one column to a line: "age: 0 to 120"."""
    stated = {}
    for line in filter(None, map(str.strip, text(fields, "bounds").splitlines())):
        read = _BOUNDS.fullmatch(line)
        if read is None or read[1].strip() not in offered:
            raise Mistakes({"bounds": "Write a column of numbers and its bounds on each line, such as age: 0 to 120."})
        stated[read[1].strip()] = (read[2] or "", read[3] or "")
    return stated


def _by(fields: Fields, columns: dict[str, str]) -> tuple[str, ...]:
    names = tuple(name for name in (text(fields, "by1"), text(fields, "by2")) if name)
    for place, name in enumerate(names, 1):
        if name not in columns:
            raise Mistakes({f"by{place}": "Choose a column of the table."})
    if len(set(names)) < len(names):
        raise Mistakes({"by2": "Choose another column than the first one."})
    return names


def _keys(fields: Fields, by: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], ...] | None, str | None]:
    if not by:
        return None, None
    if chosen(fields, "names", ("known", "unknown"), "known") == "unknown":
        return None, text(fields, "delta") or DELTA
    checks, lists = Checks(), []
    for place, name in enumerate(by, 1):
        field = "keys" if place == 1 else "keys2"
        lists.append(_split(text(fields, field)))
        if not lists[-1]:
            checks.fields[field] = f"List the groups of {name}: one on each line, or with commas between them."
        elif len(set(lists[-1])) < len(lists[-1]):
            checks.fields[field] = "A group is listed twice."
    checks.done()
    return tuple(lists), None


def _split(given: str) -> tuple[str, ...]:
    """Names on lines of their own, or with commas between them; a name with a comma stands in double quotes."""
    rows = csv.reader(given.splitlines(), skipinitialspace=True)
    return tuple(name.strip() for row in rows for name in row if name.strip())


def _typed(name: str, kind: str, column: str) -> Any:
    """The name of a group in the type of its column."""
    try:
        if kind == "integer":
            return int(name)
        if kind == "boolean":
            return {"true": True, "yes": True, "false": False, "no": False}[name.lower()]
        if kind == "date":
            return date.fromisoformat(name)
        return float(name) if kind == "number" else name
    except (ValueError, KeyError):
        raise Mistakes({"keys": f"{name} is not a value of the column {column}, whose type is {kind}."}) from None
