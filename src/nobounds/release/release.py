"""A release: a private answer, how it was made, and what it cost. Safe to print, keep and send."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nobounds.accounting.loss import PrivacyLoss


@dataclass(frozen=True, slots=True)
class Release:
    """A private answer. Only `value`, and what the mechanism itself paid to learn, depend on the data.

    statistic, value: the name of the statistic, and the answer; a tuple for bounds, several quantiles and vectors.
    loss: what it cost, a `PrivacyLoss`.
    parameters: how it was made: the clip, the noise, the ladder, what was stated about the data. `rows_of` is there if
    the rows are those of a query's result, and not of a table as it is stored.
    interval: of a sum, mean or count, a 95% interval for the added noise; it excludes bias from clipping.

    >>> from fractions import Fraction
    >>> from nobounds.accounting.loss import PrivacyLoss, pure
    >>> print(Release("quantile", 37, PrivacyLoss.of(pure(Fraction(1)), "add-remove"), {"q": "1/2"}))
    quantile (q=1/2): 37, for epsilon 1 (add-remove, per row; rho 0.4622)
    """

    statistic: str
    value: int | float | tuple[int | float, ...]
    loss: PrivacyLoss
    parameters: dict[str, Any] = field(default_factory=dict)
    interval: tuple[float, float] | None = None  # 95%, for the added noise only

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        plain: dict[str, Any] = {
            "statistic": self.statistic,
            "value": value,
            "loss": self.loss.to_dict(),
            "parameters": dict(self.parameters),
        }
        if self.interval is not None:
            plain["interval"] = [end if math.isfinite(end) else None for end in self.interval]
        return plain

    def to_json(self) -> str:
        """The release as one line of JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Release":
        """The release that `to_json` wrote."""
        fields = json.loads(text)
        value = tuple(fields["value"]) if isinstance(fields["value"], list) else fields["value"]
        bar = fields.get("interval")
        interval = None if bar is None else ends(bar)
        return cls(fields["statistic"], value, PrivacyLoss.from_dict(fields["loss"]), fields["parameters"], interval)

    def __str__(self) -> str:
        of = f" (q={self.parameters['q']})" if "q" in self.parameters else ""
        return f"{self.statistic}{of}: {self._value()}{self._bar()}, for {self.loss.in_words(self.parameters)}"

    def _value(self) -> str:
        """The value; of a long vector the first numbers."""
        if not isinstance(self.value, tuple) or len(self.value) <= 4:
            return str(self.value)
        return f"({', '.join(map(str, self.value[:3]))}, ... {len(self.value)} numbers)"

    def _bar(self) -> str:
        """The error bar in words."""
        if self.interval is None:
            return ""
        if not all(map(math.isfinite, self.interval)):
            return " (too few records to tell more)"
        low, high = self.interval
        clipped = "" if self.statistic == "count" else "; clipping is not in it"
        return f" ({low:.6g} to {high:.6g} for the noise, at 95 %{clipped})"


def ends(bar: Sequence[float | None]) -> tuple[float, float]:
    """The ends of an interval from JSON, where None stands for an infinite one."""
    low, high = bar
    return -math.inf if low is None else low, math.inf if high is None else high
