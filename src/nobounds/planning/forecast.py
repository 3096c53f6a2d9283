"""A forecast: the errors to expect for each epsilon or rho, before anything is spent."""

import json
import math
from dataclasses import field
from typing import Any, Literal

from nobounds.plots import plot_forecast
from nobounds.values import dataclass

_ONE = {"histogram": "a count", "value_counts": "a count", "top_k": "a count", "cdf": "a share"}
_HEADS = {
    "rank_error": "rank error",
    "value_error": "value error",
    "median_error": "median",
    "error_95": "95%",
    "rows_needed": "rows needed",
    "units": "units to show a group",
}
_SOME = ("rows_needed", "units")  # that not all forecasts have
NO_INTERVAL = "no interval"


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """The errors to expect for one epsilon or rho.

    rank_error: the expected number of records between the answer and the requested rank; None if there is no rank.
    value_error: the expected error in value (for a quantile, from that of numpy). No error counts for more than that of
    a useless answer: the range of the data and 0 for a quantile, the sum or mean of the magnitudes for a sum or mean,
    n for a count. So one release in a million does not dominate the mean.
    median_error, error_95: the error in value is at most this 50% and 95% of the time.
    units: where keys are chosen privately, how many units a group needs to be shown 95% of the time.
    rows_needed: how many records, of each group, it takes for an answer 95% of the time, and of a quantile or a median
    for an interval with an end; None for counts, which are answered always. What is not answered is off by as much as a
    useless answer.
    """

    spent: float
    rank_error: float | None
    value_error: float
    median_error: float
    error_95: float
    units: int | None = None
    rows_needed: int | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    """The errors to expect of a statistic, a row for each epsilon or rho; nothing in it is sensitive.

    typical: the true values, one for each number released, where every record lies at its expected place.
    sampled: whether answers were drawn; mean errors are then good to about a quarter, else they are exact.
    notes: sentences on what else a reader should know.
    """

    statistic: str
    spending: Literal["epsilon", "rho"]
    rows: tuple[ForecastRow, ...]
    typical: tuple[float, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    sampled: bool = False
    notes: tuple[str, ...] = ()

    @property
    def epsilon(self) -> float:
        """The epsilon of the only row."""
        return self._only("epsilon")

    @property
    def rho(self) -> float:
        """The rho of the only row."""
        return self._only("rho")

    def _only(self, name: str) -> float:
        if self.spending != name or len(self.rows) != 1:
            raise ValueError(
                f"{name} is that of a forecast for one {name}; this one has {len(self.rows)} rows, see rows"
            )
        return self.rows[0].spent

    def columns(self) -> dict[str, list[str]]:
        """The cells of the table as text, by the names of its columns."""
        cells: dict[str, list[str]] = {self.spending: [f"{row.spent:.10g}" for row in self.rows]}
        for name, head in _HEADS.items():
            values = self._line(name)
            if None not in values:
                head = head.replace("group", self._group)
                cells[head] = [digits(value) for value in values]
        return cells

    def table(self) -> str:
        """The rows as aligned text."""
        cells = self.columns()
        widths = {head: max(len(head), *map(len, column)) for head, column in cells.items()}
        lines = [cells.keys(), *zip(*cells.values(), strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths.values(), strict=True)) for line in lines
        )

    def title(self) -> str:
        """What is forecast, in a line."""
        q, scale, bins = (self.parameters.get(name) for name in ("q", "scale", "bins"))
        of = f" (q = {', '.join(q) if isinstance(q, list) else q})" if q else f" of {bins} bins" if bins else ""
        shape = self.parameters.get("data", "") + (f", scale {scale}" if scale else "")
        groups, n = self.parameters.get("groups"), self.parameters.get("n")
        records = "" if n is None else f" of {n:,} records" if not bins else f" and {n:,} records"
        each = "" if groups is None else f"{' in each' if n else ''} of {groups:,} {self._group}s"
        return f"{self.statistic}{of}{records}{each}{f' ({shape})' if shape else ''}"

    @property
    def _group(self) -> str:
        """What a group is called."""
        return "value" if self.statistic in ("value_counts", "top_k") else "group"

    def sentences(self) -> list[str]:
        """The expected errors in words, for the row that is nearest to 1."""
        row, n = min(self.rows, key=lambda row: abs(math.log(row.spent))), self.parameters.get("n")
        ranks = "" if row.rank_error is None else f"by {digits(row.rank_error)} of {n:,} ranks, or "
        one, say = _ONE.get(self.statistic, "the answer"), _points if self.statistic == "cdf" else digits
        few = self.too_few(row)
        sentences = [few] if few else []
        sentences.append(
            f"For {self.spending} {row.spent:.10g} {one} is off {ranks}by {say(row.value_error)} on average"
            f"{self._about(row)}, and 95% of the time by at most {say(row.error_95)}."
        )
        if row.units is not None:
            small = f": these {self._group}s are mostly left out" if n is not None and row.units > n else ""
            sentences.append(
                f"About {row.units:,} units per {self._group} are needed at this epsilon and delta for a {self._group} "
                f"to be shown 95% of the time{small}."
            )
        if self.sampled:
            sentences.append("These are simulated releases: mean errors are good to about a quarter.")
        return [*sentences, *self.notes]

    def too_few(self, row: ForecastRow) -> str:
        """That the records are too few for an answer, or for an interval, if so, and how many it takes."""
        n = self.parameters.get("n")
        if n is None or row.rows_needed is None or n >= row.rows_needed:
            return ""
        each = " in each group" if "groups" in self.parameters else ""
        return (
            f"With {n:,} records{each} the {self.statistic} mostly has {lacking(self.statistic, bool(each))} for "
            f"{self.spending} {row.spent:.10g}: about {row.rows_needed:,} are needed for one 95% of the time."
        )

    def _about(self, row: ForecastRow) -> str:
        """The size of the truth, and for one count among several what part of it the error is."""
        if self.statistic in _ONE and self.typical:
            part = 100 * row.value_error / self.typical[0]
            return f" ({digits(part)}% of {digits(self.typical[0])}, if all have as many)"
        return f" (the truth is about {' and '.join(map(digits, self.typical))})" if 1 <= len(self.typical) <= 2 else ""

    def __str__(self) -> str:
        return "\n".join([self.title(), self.table(), *self.sentences()])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        heads = [name for name in _HEADS if name not in _SOME or getattr(self.rows[0], name) is not None]
        rows = [{self.spending: row.spent, **{name: getattr(row, name) for name in heads}} for row in self.rows]
        return {
            "statistic": self.statistic,
            "rows": rows,
            "typical": list(self.typical),
            "parameters": dict(self.parameters),
            "sampled": self.sampled,
        } | ({"notes": list(self.notes)} if self.notes else {})

    def to_json(self) -> str:
        """The forecast as one line of JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def plot(self) -> Any:
        """A matplotlib figure of the errors over what is spent."""
        lines = {"mean": "value_error", "95%": "error_95", "median": "median_error"}
        panels = {"error in value": {name: self._line(field) for name, field in lines.items()}}
        if self.rows[0].rank_error is not None:
            panels = {"mean error in ranks": {"mean": self._line("rank_error")}, **panels}
        return plot_forecast([row.spent for row in self.rows], panels, self.spending, self.title())

    def _line(self, name: str) -> list[float]:
        return [getattr(row, name) for row in self.rows]


def lacking(statistic: str, grouped: bool) -> str:
    """What a statistic of too few rows lacks."""
    return NO_INTERVAL if statistic in ("quantile", "median") and not grouped else "too few rows for an answer"


def _points(share: float) -> str:
    return f"{digits(100 * share)} percentage points"


def digits(value: float) -> str:
    """Three digits, and no exponent in the ordinary range."""
    if value == 0 or not 1e-4 <= abs(value) < 1e15:
        return f"{value:.3g}"
    shown = float(f"{value:.3g}")
    return f"{shown:,.0f}" if abs(shown) >= 100 else f"{shown:.3g}"
