"""A private summary of a table. Safe to print, keep and send."""

import json
import math
from dataclasses import field
from typing import Any

from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import printable, text_up
from nobounds.kinds.kind import NUMBER, Kind, Value
from nobounds.release.answer import Answer
from nobounds.release.digits import said
from nobounds.release.frames import answer_array, end_arrays, known_ends, named_table, text_array
from nobounds.release.schema import Interval, from_ends, head, loaded, to_ends
from nobounds.release.shares import STATISTICS
from nobounds.release.words import SUMMARIES, margin_in_words, rows_in_words, units_in_words
from nobounds.values import dataclass

_NEGLIGIBLE = 1e-6  # a number this far below the largest of its column is printed as 0


@dataclass(frozen=True, slots=True)
class Summary:
    """The private statistics of one column, the cost of each, and 95% intervals where there are such.

    A statistic that is not answered has the value None, and `reasons` says why.
    """

    values: dict[str, Value | None]
    intervals: dict[str, Interval]
    costs: dict[str, float]
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def largest(self) -> float:
        """The largest magnitude of the values of the column that are numbers: minimum, quantiles and maximum."""
        values = (value for name, value in self.values.items() if name not in ("count", "mean", "std"))
        return float(max((abs(value) for value in values if isinstance(value, int | float)), default=0))

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
class Description(Answer):
    """A private summary of a table: the statistics of each column, the skipped columns and why, and the total loss.

    `described["age"].values` has the statistics of a column by name, `.intervals` the 95% intervals of its count, mean
    and standard deviation (that of the mean includes what clipping changed, and that of the standard deviation has no
    upper end), `.costs` the cost of each number, and `.reasons` why others are None.
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
        if bar is None and isinstance(value, float) and abs(value) < _NEGLIGIBLE * summary.largest:
            return "0"
        return "" if value is None else said(value, bar, self.kind(name).of_answer(statistic))

    def margin(self, name: str, statistic: str) -> str:
        """The interval beside that statistic in words, such as "± 400"; empty if there is none."""
        summary, value = self.columns[name], self.columns[name].values[statistic]
        bar = summary.intervals.get(statistic)
        return "" if value is None or bar is None else margin_in_words(value, bar, self.kind(name).of_answer(statistic))

    def to_arrow(self, *, long: bool = False) -> Any:
        """A pyarrow table with a row for each statistic, in `statistic`, and a column for each column of the data.

        long: a row for each number instead: `column`, `statistic`, `value`, `low`, `high`, `reason` and `cost`.
        A column of dates, times, durations or decimals is a column of texts there, as in JSON, because its count and
        its standard deviation are of other types; so are `value`, `low` and `high` of the long form.
        """
        if long:
            return self._table()
        data = {name: self._array(name) for name in self.columns}
        table = named_table(data, {"statistic": list(STATISTICS)})
        return table.select([len(data), *range(len(data))])

    def to_pandas(self, *, long: bool = False) -> Any:
        """A pandas frame like that of `DataFrame.describe`: indexed by statistic, with a column for each column.

        long: a row for each number instead, as in `to_arrow`.
        """
        if long:
            return self._table().to_pandas()
        import pandas as pd

        columns = {name: self._plain(name) for name in self.columns}
        return pd.DataFrame(columns, index=pd.Index(STATISTICS, name="statistic"))

    def to_polars(self, *, long: bool = False) -> Any:
        """A polars frame of the table of `to_arrow`."""
        import polars as pl

        return pl.from_arrow(self.to_arrow(long=long))

    def _plain(self, name: str) -> list[Any]:
        return [self.columns[name].values[statistic] for statistic in STATISTICS]

    def _array(self, name: str) -> Any:
        """The statistics of a column as an Arrow array, of texts if they are of several types."""
        plain = self._plain(name)
        return text_array(list(map(_text, plain))) if self.kind(name).typed else answer_array(plain)

    def cells(self) -> dict[str, list[Any]]:
        """The columns of the long form, with values of several types in one."""
        rows = [(name, statistic) for name in self.columns for statistic in STATISTICS]
        summaries = [(self.columns[name], statistic) for name, statistic in rows]
        kinds = [self.kind(name).of_answer(statistic) for name, statistic in rows]
        bars = [summary.intervals.get(statistic) for summary, statistic in summaries]
        ends = [known_ends(bar, kind) for bar, kind in zip(bars, kinds, strict=True)]
        return {
            "column": [name for name, _ in rows],
            "statistic": [statistic for _, statistic in rows],
            "value": [summary.values[statistic] for summary, statistic in summaries],
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
            "reason": [summary.reasons.get(statistic) for summary, statistic in summaries],
            "cost": [float(summary.costs[statistic]) for summary, statistic in summaries],
        }

    def _table(self) -> Any:
        """The long form: a row for each number of each column."""
        columns = self.cells()
        if any(self.kind(name).typed for name in self.columns):
            texts = {name: text_array(list(map(_text, columns[name]))) for name in ("value", "low", "high")}
            return named_table({}, columns | texts | {"reason": text_array(columns["reason"])})
        low, high = end_arrays(zip(columns["low"], columns["high"], strict=True))
        arrays = {"value": answer_array(columns["value"]), "low": low, "high": high}
        return named_table({}, columns | arrays | {"reason": text_array(columns["reason"])})

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
        parts = [f"{part} {text_up(100 * amount / total, 2)}%" for part, amount in split.items()]
        sentence = f"{name} {text_up(total)}, split by noisy counts: {', '.join(parts) or 'nothing'}."
        reasons = {why for summary in self.columns.values() for why in summary.reasons.values()}
        why = " or ".join(sorted(reasons))
        return f"{sentence} Empty cells: {why} for the {name.lower()}." if why else sentence

    def __str__(self) -> str:
        names = {name: printable(name) for name in self.columns}
        width = max([len("column"), *map(len, names.values())])
        rows = [
            [f"{self.said(name, statistic)} {self.margin(name, statistic)}".strip() for statistic in STATISTICS]
            for name in self.columns
        ]
        wide = [max(10, *map(len, column)) for column in zip(STATISTICS, *rows, strict=True)]
        lines = [" ".join(["column".ljust(width), *map(str.rjust, STATISTICS, wide)])]
        for name, row in zip(self.columns, rows, strict=True):
            lines.append(" ".join([names[name].ljust(width), *map(str.rjust, row, wide)]).rstrip())
        lines += [f"skipped: {printable(name)} ({why})" for name, why in self.skipped.items()]
        total = self.loss.in_words(self.parameters)
        notes = filter(None, (rows_in_words(self.parameters), units_in_words(self.parameters, self.loss.unit)))
        return "\n".join([*lines, self.split_in_words(), SUMMARIES, f"Total: {total}", *notes])


def _text(value: Any) -> str | None:
    """A value as a text, as in JSON."""
    return None if value is None else str(NUMBER.to_json(value))
