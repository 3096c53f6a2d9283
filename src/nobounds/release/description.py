"""A private summary of a table. Safe to print, keep and send."""

import json
import math
from dataclasses import dataclass, field
from typing import Any

from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import printable, text_up
from nobounds.kinds.kind import NUMBER, Kind, Value
from nobounds.release.digits import said
from nobounds.release.schema import Interval, from_ends, head, loaded, to_ends
from nobounds.release.shares import STATISTICS
from nobounds.release.words import HARDLY, TOO_FEW, rows_in_words, units_in_words


@dataclass(frozen=True, slots=True)
class Summary:
    """The private statistics of one column, the cost of each, and 95% intervals of the noise where there is one.

    A statistic that is not answered has the value None, and `reasons` says why.
    """

    values: dict[str, Value | None]
    intervals: dict[str, Interval]
    costs: dict[str, float]
    reasons: dict[str, str] = field(default_factory=dict)

    def to_dict(self, kind: Kind = NUMBER) -> dict[str, Any]:
        """Plain values, for JSON; `kind` is that of the column."""
        return {
            "values": {name: kind.to_json(value) for name, value in self.values.items()},
            "intervals": {name: to_ends(bar, kind.of_answer(name)) for name, bar in self.intervals.items()},
            "costs": dict(self.costs),
            "reasons": dict(self.reasons),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any], kind: Kind = NUMBER) -> "Summary":
        """The summary that `to_dict` wrote."""
        values = {name: kind.of_answer(name).from_json(value) for name, value in fields["values"].items()}
        bars = {name: from_ends(bar, kind.of_answer(name)) for name, bar in fields["intervals"].items()}
        return cls(values, bars, dict(fields["costs"]), dict(fields["reasons"]))


@dataclass(frozen=True, slots=True)
class Description:
    """A private summary of a table: the statistics of each column, the skipped columns and why, and the total loss.

    `described["age"].values` has the statistics of a column by name, `.intervals` the 95% intervals for the noise in
    its count, mean and standard deviation, `.costs` the cost of each number, and `.reasons` why others are None.
    """

    columns: dict[str, Summary]
    skipped: dict[str, str]
    loss: PrivacyLoss
    parameters: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Summary:
        return self.columns[name]

    def kind(self, name: str) -> Kind:
        """The type of a column's values; that of numbers if it is none of its own."""
        return Kind.parse(self.parameters.get("types", {}).get(name, "number"))

    def said(self, name: str, statistic: str) -> str:
        """A statistic of a column for people, with the digits that its interval supports; empty if not answered."""
        summary, value = self.columns[name], self.columns[name].values[statistic]
        bar = summary.intervals.get(statistic)
        return "" if value is None else said(value, bar, self.kind(name).of_answer(statistic))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            **head("description"),
            "statistic": "describe",
            "columns": {name: summary.to_dict(self.kind(name)) for name, summary in self.columns.items()},
            "skipped": dict(self.skipped),
            "loss": self.loss.to_dict(),
            "parameters": dict(self.parameters),
        }

    def to_json(self) -> str:
        """The description as one line of JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Description":
        """The description that `to_json` wrote."""
        fields = loaded(text, "description")
        kinds = fields["parameters"].get("types", {})
        columns = {
            name: Summary.from_dict(each, Kind.parse(kinds.get(name, "number")))
            for name, each in fields["columns"].items()
        }
        return cls(columns, dict(fields["skipped"]), PrivacyLoss.from_dict(fields["loss"]), dict(fields["parameters"]))

    def split_in_words(self) -> str:
        """One sentence on how epsilon or rho was split, and one on empty cells if there are any."""
        pure = self.loss.epsilon < math.inf
        name, total = ("Epsilon", self.loss.epsilon) if pure else ("Rho", self.loss.rho)
        split = self.parameters.get("split", {})
        parts = [f"{part} {text_up(100 * amount / total, 2)} %" for part, amount in split.items()]
        sentence = f"{name} {text_up(total)}, split by noisy counts: {', '.join(parts) or 'nothing'}."
        reasons = {why for summary in self.columns.values() for why in summary.reasons.values()}
        few = f"{TOO_FEW} for the {name.lower()}" if reasons - {HARDLY} else ""
        why = " or ".join(filter(None, [few, HARDLY if HARDLY in reasons else ""]))
        return f"{sentence} Empty cells: {why}." if why else sentence

    def __str__(self) -> str:
        names = {name: printable(name) for name in self.columns}
        width = max([len("column"), *map(len, names.values())])
        rows = [[self.said(name, statistic) for statistic in STATISTICS] for name in self.columns]
        wide = [max(10, *map(len, column)) for column in zip(STATISTICS, *rows, strict=True)]
        lines = [" ".join(["column".ljust(width), *map(str.rjust, STATISTICS, wide)])]
        for name, row in zip(self.columns, rows, strict=True):
            lines.append(" ".join([names[name].ljust(width), *map(str.rjust, row, wide)]).rstrip())
        lines += [f"skipped: {printable(name)} ({why})" for name, why in self.skipped.items()]
        total = self.loss.in_words(self.parameters)
        notes = filter(None, (rows_in_words(self.parameters), units_in_words(self.parameters, self.loss.unit)))
        return "\n".join([*lines, self.split_in_words(), f"Total: {total}", *notes])
