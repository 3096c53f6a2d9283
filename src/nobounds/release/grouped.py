"""A private answer for each group of a table. Safe to print, keep and send."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import finite_float, printable

_SHOWN = 12  # groups in the text
_LONG = 10**15  # whole numbers below this are shown in full


@dataclass(frozen=True, slots=True, eq=False)
class GroupedRelease:
    """Private answers by key, what they cost together, and how they were made.

    `groups` has the key of each group, and `values` its answer. Public keys are in the order in which
    they were given, all of them; keys that were chosen privately are sorted.
    """

    statistic: str
    by: tuple[str, ...]
    arrays: tuple[Any, ...] = field(repr=False)  # one Arrow array for each key column
    values: NDArray[Any]
    loss: PrivacyLoss
    parameters: dict[str, Any] = field(default_factory=dict)
    half_intervals: NDArray[np.float64] | None = None  # noise moves each answer by at most this, 95% of the time
    _places: dict[Any, int] = field(default_factory=dict, init=False, repr=False)  # filled on first use

    @property
    def groups(self) -> list[Any]:
        """The keys: plain values for one column, tuples for several."""
        columns = [array.to_pylist() for array in self.arrays]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[tuple[Any, int | float]]:
        return zip(self.groups, self.values.tolist(), strict=True)

    def __getitem__(self, key: Any) -> int | float:
        """The answer for a key; KeyError if it is not shown."""
        if not self._places:
            self._places.update((group, k) for k, group in enumerate(self.groups))
        place = self._places[key]
        answer: int | float = self.values[place : place + 1].tolist()[0]
        return answer

    def to_arrow(self) -> Any:
        """A pyarrow table: the key columns, and a column named after the statistic.

        Whole numbers beyond 64 bits become floats there.
        """
        import pyarrow as pa

        name = self.statistic
        while name in self.by:
            name = f"private_{name}"
        plain = self.values.dtype != object
        values = self.values if plain else np.array([finite_float(Fraction(value)) for value in self.values])
        return pa.table([*self.arrays, pa.array(values)], names=[*self.by, name])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; dates and times become text."""
        plain = (int, float, str, bool, type(None))
        columns = {
            name: [key if isinstance(key, plain) else str(key) for key in array.to_pylist()]
            for name, array in zip(self.by, self.arrays, strict=True)
        }
        return {
            "statistic": self.statistic,
            "by": list(self.by),
            "keys": columns,
            "values": self.values.tolist(),
            "loss": self.loss.to_dict(),
            "parameters": dict(self.parameters),
            **({} if self.half_intervals is None else {"half_intervals": self.half_intervals.tolist()}),
        }

    def to_json(self) -> str:
        """The release as one line of JSON."""
        fields = self.to_dict()
        fields["keys"] = {name: [_finite(key) for key in keys] for name, keys in fields["keys"].items()}
        return json.dumps(fields, allow_nan=False)

    def __str__(self) -> str:
        keys = zip(*(array[:_SHOWN].to_pylist() for array in self.arrays), strict=True)
        shown = [
            (", ".join(map(_printed, key)), _short(value))
            for key, value in zip(keys, self.values[:_SHOWN].tolist(), strict=True)
        ]
        heads = ", ".join(map(printable, self.by)), self.statistic
        widths = [max(map(len, column)) for column in zip(heads, *shown, strict=True)]
        lines = [f"{key.ljust(widths[0])}  {value.rjust(widths[1])}" for key, value in [heads, *shown]]
        more = [f"... {len(self)} groups"] if len(self) > _SHOWN else []
        return "\n".join([*lines, *more, f"For {self.loss.in_words(self.parameters)}"])


def _printed(key: Any) -> str:
    """A key on one line of a terminal."""
    return printable(str(key))


def _short(value: int | float) -> str:
    if isinstance(value, int) and abs(value) < _LONG:
        return str(value)
    return f"{finite_float(Fraction(value)):.6g}"


def _finite(key: Any) -> Any:
    return None if isinstance(key, float) and not math.isfinite(key) else key


def ordered(arrays: tuple[Any, ...]) -> NDArray[np.int64]:
    """The indices that sort the keys."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [str(k) for k in range(len(arrays))]
    table = pa.table(list(arrays), names=names)
    return np.asarray(pc.sort_indices(table, sort_keys=[(name, "ascending") for name in names]), dtype=np.int64)
