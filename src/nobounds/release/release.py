"""A release: a private answer, how it was made, and what it cost. Safe to print, keep and send."""

import json
from dataclasses import field
from datetime import date, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import finite_float, rational
from nobounds.kinds.kind import Value
from nobounds.release.answer import Answer, may_wait
from nobounds.release.digits import said
from nobounds.release.frames import answer_array, end_arrays, known_ends, named_table, text_array
from nobounds.release.schema import Interval, from_ends, head, loaded, to_ends, type_in
from nobounds.release.words import bars_in_words, needed_in_words, rows_in_words, units_in_words
from nobounds.values import dataclass

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    V = TypeVar("V", default=Any)
else:
    from typing import TypeVar

    V = TypeVar("V")

_SHOWN = 4  # numbers in the text


@may_wait("parameters", "intervals")
@dataclass(frozen=True, slots=True)
class Release(Answer, Generic[V]):
    """A private answer. Only `value`, and what the mechanism itself paid to learn, depend on the data.

    statistic, value: the name of the statistic, and the answer; a tuple for bounds, several quantiles and vectors. What
    is not answered is None. Of a column of dates, times, durations or decimals, answers are such values, where
    type checkers see numbers.
    loss: what it cost, a `PrivacyLoss`.
    parameters: how it was made: the clip, the noise, the ladder, what was stated about the data. `rows_of` is there if
    the rows are those of a query's result, and not of a table as it is stored. `where` is the condition on the rows,
    and `formulas` has those of computed columns. `interval` says what the interval is
    for, at which level and under which assumption; `needed` how many rows or how much epsilon would do.
    intervals: of each number two ends, infinite where an end is not known; `interval` is that of a single number. Of
    dates and the like an end that is not known is the first or the last of the type.
    reason: why the value, or a number of it, is not answered.

    >>> from fractions import Fraction
    >>> from nobounds.accounting.loss import PrivacyLoss, pure
    >>> print(Release("quantile", 37, PrivacyLoss.of(pure(Fraction(1)), "add-remove"), {"q": "1/2"}))
    quantile (q=1/2): 37, for epsilon 1 (add-remove, per row; rho 0.4622)
    """

    statistic: str
    value: V
    loss: PrivacyLoss
    parameters: dict[str, Any] = field(default_factory=dict)
    intervals: tuple[Interval, ...] = ()
    reason: str | None = None

    def _single(self) -> Value:
        """The value; ValueError if it is not answered, or if there are several."""
        value: Any = self.value
        if value is None:
            raise ValueError(f"the {self.statistic} is not answered: {self.reason}")
        if isinstance(value, tuple):
            raise ValueError(f"the release of {self.statistic} has {len(value)} numbers, not one")
        single: Value = value
        return single

    def _number(self) -> int | float | Decimal:
        """The value, if it is a single number."""
        value = self._single()
        if isinstance(value, date | time | timedelta):
            raise TypeError(f"the {self.statistic} is a {type(value).__name__}, not a number; take its value")
        return value

    def __float__(self) -> float:
        """The value; ValueError if it is not answered, or if there are several."""
        return float(self._number())

    def __int__(self) -> int:
        """The value if it is a whole number; ValueError if it is not, not answered, or one of several."""
        number = self._number()
        if number != int(number):
            raise ValueError(f"the {self.statistic} is not a whole number; round(float(...)) rounds it")
        return int(number)

    def __format__(self, spec: str) -> str:
        """The value in a format, like ".2f" or, of a date, "%Y"; without a format the text of the release."""
        return format(self._single(), spec) if spec else str(self)

    @property
    def answered(self) -> bool:
        """Whether there is a value, or any of several."""
        return (
            any(value is not None for value in self.value) if isinstance(self.value, tuple) else self.value is not None
        )

    @property
    def interval(self) -> Interval | None:
        """The interval of a single number, if it has one."""
        return self.intervals[0] if len(self.intervals) == 1 else None

    @property
    def numbers(self) -> list[tuple[str, Value | None, Interval | None]]:
        """What each number is (a rank, an end, or the statistic itself), the number and its interval."""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        bars = self.intervals or (None,) * len(values)
        qs = self.parameters.get("q")
        ends = ["minimum", "maximum"] if self.statistic == "bounds" else [self.statistic] * len(values)
        names = [str(q) for q in qs] if isinstance(qs, list) else ends
        return list(zip(names, values, bars, strict=False))

    def to_arrow(self) -> Any:
        """A pyarrow table with a row for each number: `statistic`, `q` of quantiles, `value`, `low`, `high`, `reason`.

        `column` is the first one, if the release names it. The ends of its interval are null if it has none, and
        infinite where they are not known; `reason` says why a value is null. Bounds are a minimum and a maximum.
        """
        cells, kind = self.cells(), type_in(self.parameters).of_answer(self.statistic)
        low, high = end_arrays(zip(cells["low"], cells["high"], strict=True), kind)
        arrays = {"value": answer_array(cells["value"], kind), "low": low, "high": high}
        return named_table({}, cells | arrays | {"reason": text_array(cells["reason"])})

    def cells(self) -> dict[str, list[Any]]:
        """The columns of `to_arrow`."""
        names, values, bars = zip(*self.numbers, strict=True)
        kind, qs = type_in(self.parameters).of_answer(self.statistic), self.parameters.get("q")
        ends = [known_ends(None if value is None else bar, kind) for value, bar in zip(values, bars, strict=True)]
        column = self.parameters.get("column")
        return {
            **({} if column is None else {"column": [column] * len(names)}),
            "statistic": list(names) if self.statistic == "bounds" else [self.statistic] * len(names),
            **({} if qs is None else {"q": [_rank(q) for q in (qs if isinstance(qs, list) else [qs])]}),
            "value": list(values),
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
            "reason": [None if value is not None else self.reason for value in values],
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        kind = type_in(self.parameters)
        return {
            **head("release"),
            "statistic": self.statistic,
            "value": list(map(kind.to_json, self.value)) if isinstance(self.value, tuple) else kind.to_json(self.value),
            "intervals": [to_ends(bar, kind) for bar in self.intervals],
            "reason": self.reason,
            "loss": self.loss.to_dict(),
            "parameters": dict(self.parameters),
        }

    def to_json(self) -> str:
        """The release as one line of JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Release":
        """The release that `to_json` wrote."""
        fields = loaded(text, "release")
        given, kind = fields["value"], type_in(fields["parameters"])
        value: Any = tuple(map(kind.from_json, given)) if isinstance(given, list) else kind.from_json(given)
        bars = tuple(from_ends(bar, kind) for bar in fields["intervals"])
        loss = PrivacyLoss.from_dict(fields["loss"])
        return cls(fields["statistic"], value, loss, fields["parameters"], bars, fields["reason"])

    def __str__(self) -> str:
        of = f" (q={self.parameters['q']})" if "q" in self.parameters else ""
        line = f"{self.statistic}{of}: {self._value()}{self._bar()}, for {self.loss.in_words(self.parameters)}"
        notes = filter(None, (rows_in_words(self.parameters), units_in_words(self.parameters, self.loss.unit)))
        return ". ".join(filter(None, [line, " ".join(notes)]))

    def _value(self) -> str:
        """The value; of a long vector the first numbers. Where some numbers are not answered, why."""
        why = f"not answered, {self.reason}{needed_in_words(self.parameters)}"
        if not self.answered:
            return why
        if not isinstance(self.value, tuple):
            return self._said(0, self.value)
        shown = self.value if len(self.value) <= _SHOWN else self.value[: _SHOWN - 1]
        rest = f", ... and {len(self.value) - len(shown):,} more of {len(self.value):,} numbers"
        words = f"({', '.join(map(self._said, range(len(shown)), shown))}{rest if shown != self.value else ''})"
        return f"{words}, None is {why}" if None in self.value else words

    def _said(self, k: int, value: Any) -> str:
        """The number k, with the digits that its interval supports."""
        bar = self.intervals[k] if self.intervals else None
        return "None" if value is None else said(value, bar, type_in(self.parameters))

    def _bar(self) -> str:
        """The intervals in words."""
        if not self.answered or not 0 < len(self.intervals) <= _SHOWN:
            return ""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        return f" ({bars_in_words(self.intervals, self.parameters, values)})"


Single: TypeAlias = Release[float | None]
"""The release of one number. Its type does not know of columns of dates, times and decimals, whose values are such."""

Several: TypeAlias = Release[tuple[float | None, ...]]
"""The release of bounds, or of several quantiles."""

Vector: TypeAlias = Release[tuple[float, ...] | None]
"""The release of a vector, which is answered as a whole."""


def _rank(q: str) -> float:
    return finite_float(rational(q, "q"))
