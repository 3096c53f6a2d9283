"""A private answer for each group of a table. Safe to print, keep and send."""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import field
from datetime import datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.loss import PrivacyLoss
from nobounds.kinds.kind import DURATION, Kind
from nobounds.release.answer import Answer, may_wait
from nobounds.release.digits import said
from nobounds.release.frames import answer_array, arrow, end_arrays, named_table, text_array
from nobounds.release.schema import from_ends, head, loaded, to_ends, type_in
from nobounds.release.words import (
    assumed_in_words,
    between,
    cut_in_words,
    edges_in_words,
    group_needed_in_words,
    interval_heading,
    key_heads,
    key_in_words,
    rows_in_words,
    shown_in_words,
    units_in_words,
)
from nobounds.values import dataclass

_SHOWN = 12  # groups in the text


@may_wait("intervals")
@dataclass(frozen=True, slots=True, eq=False)
class GroupedRelease(Answer):
    """Private answers by key, what they cost together, and how they were made.

    `groups` has the key of each group, and `values` its answer, masked where a group is not answered; `reasons` says
    why. `intervals` has two ends for each group, and `counts` its noisy number of rows, where these are known.
    Public keys are in the order in which they were given, all of them; keys that were chosen privately are sorted.
    """

    statistic: str
    by: tuple[str, ...]
    arrays: tuple[Any, ...] = field(repr=False)  # one Arrow array for each key column
    values: NDArray[Any]  # a masked array, if some groups are not answered
    loss: PrivacyLoss
    parameters: dict[str, Any] = field(default_factory=dict)
    intervals: NDArray[Any] | None = None  # low and high ends in two columns, infinite where they are not known
    counts: NDArray[np.int64] | None = None  # noisy numbers of rows
    reasons: tuple[str | None, ...] | None = None  # None where a group is answered
    _places: dict[Any, int] = field(default_factory=dict, init=False, repr=False)  # filled on first use

    @property
    def groups(self) -> list[Any]:
        """The keys: plain values for one column, tuples for several."""
        columns = [array.to_pylist() for array in self.arrays]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[tuple[Any, float | None]]:
        return zip(self.groups, self.values.tolist(), strict=True)

    def __getitem__(self, key: Any) -> float | None:
        """The answer for a key, None if it is not answered; KeyError if it is not shown."""
        place = self.place(key)
        answer: float | None = self.values[place : place + 1].tolist()[0]
        return answer

    def place(self, key: Any) -> int:
        """The place of a key in all arrays; KeyError if it is not shown."""
        if not self._places:
            self._places.update((group, k) for k, group in enumerate(self.groups))
        return self._places[key]

    def to_arrow(self) -> Any:
        """A pyarrow table: the key columns, a column named after the statistic, and `low`, `high`, `rows`, `reason`.

        The last four are there if they are known. Whole numbers beyond 64 bits become floats there.
        """
        kind = type_in(self.parameters).of_answer(self.statistic)
        columns = {self.statistic: answer_array(self.values.tolist(), kind)}
        if self.intervals is not None:
            columns |= zip(("low", "high"), end_arrays(self.bars, kind), strict=True)
        if self.counts is not None:
            columns["rows"] = arrow().array(self.counts)
        if self.reasons is not None:
            columns["reason"] = text_array(self.reasons)
        return named_table(dict(zip(self.by, self.arrays, strict=True)), columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; dates and times become text."""
        plain = (int, float, str, bool, type(None))
        columns = {
            name: [key if isinstance(key, plain) else str(key) for key in array.to_pylist()]
            for name, array in zip(self.by, self.arrays, strict=True)
        }
        kind = type_in(self.parameters)
        bars = None if self.intervals is None else [to_ends(bar, kind) for bar in self.intervals.tolist()]
        return {
            **head("groups"),
            "statistic": self.statistic,
            "by": list(self.by),
            "types": [str(array.type) for array in self.arrays],
            "keys": columns,
            "values": list(map(kind.to_json, self.values.tolist())),
            "intervals": bars,
            "counts": None if self.counts is None else self.counts.tolist(),
            "reasons": None if self.reasons is None else list(self.reasons),
            "loss": self.loss.to_dict(),
            "parameters": dict(self.parameters),
        }

    def to_json(self) -> str:
        """The release as one line of JSON."""
        fields = self.to_dict()
        fields["keys"] = {name: [_finite(key) for key in keys] for name, keys in fields["keys"].items()}
        return json.dumps(fields, allow_nan=False)

    def __eq__(self, other: object) -> bool:
        """Whether two releases say the same."""
        return self.to_json() == other.to_json() if isinstance(other, GroupedRelease) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_json())

    @classmethod
    def from_json(cls, text: str) -> "GroupedRelease":
        """The release that `to_json` wrote; keys of types without a JSON form come back as text."""
        fields = loaded(text, "groups")
        keys = tuple(
            _typed(fields["keys"][name], kind) for name, kind in zip(fields["by"], fields["types"], strict=True)
        )
        bars, kind = fields["intervals"], type_in(fields["parameters"])
        ends = None if bars is None else [from_ends(bar, kind) for bar in bars]
        return cls(
            fields["statistic"],
            tuple(fields["by"]),
            keys,
            masked([kind.from_json(value) for value in fields["values"]], kind),
            PrivacyLoss.from_dict(fields["loss"]),
            fields["parameters"],
            None if ends is None else np.array(ends, dtype=object if kind.typed else np.float64).reshape(-1, 2),
            None if fields["counts"] is None else np.array(fields["counts"], dtype=np.int64),
            None if fields["reasons"] is None else tuple(fields["reasons"]),
        )

    def __str__(self) -> str:
        keys = zip(*(array[:_SHOWN].to_pylist() for array in self.arrays), strict=True)
        texts = (key_in_words(self.statistic, key) for key in keys)
        by = ", ".join(key_heads(self.statistic, self.by))
        heading = "" if self.intervals is None else interval_heading(self.parameters)
        rows = [(by, self.statistic, heading), *zip(texts, self.said_or_why(_SHOWN), self.ranges(_SHOWN), strict=True)]
        wide, right, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
        lines = [f"{key.ljust(wide)}  {answer.rjust(right)}  {ends}".rstrip() for key, answer, ends in rows]
        more = [cut_in_words(len(self), _SHOWN)] if len(self) > _SHOWN else []
        assumed = assumed_in_words(self.parameters)
        notes = [note for note in (assumed, *self.notes()) if note]
        return "\n".join([*lines, *more, f"For {self.loss.in_words(self.parameters)}", *notes])

    def notes(self) -> list[str]:
        """What is said of the keys, the rows and the units beside the answers."""
        notes = (
            edges_in_words(self.parameters),
            group_needed_in_words(self.parameters, self.reasons),
            shown_in_words(self.parameters, len(self), self.loss.unit),
            rows_in_words(self.parameters),
            units_in_words(self.parameters, self.loss.unit),
        )
        return [note for note in notes if note]

    def said(self, most: int | None = None) -> list[str]:
        """The answers of the first groups for people, with the digits that intervals support; "-" if not answered."""
        kind = type_in(self.parameters).of_answer(self.statistic)
        values, bars = self.values[:most].tolist(), self.bars[:most]
        return ["-" if value is None else said(value, bar, kind) for value, bar in zip(values, bars, strict=True)]

    def said_or_why(self, most: int | None = None) -> list[str]:
        """The same, with the reason where a group is not answered."""
        answers = self.said(most)
        reasons = (self.reasons or (None,) * len(self))[:most]
        return [why or answer for answer, why in zip(answers, reasons, strict=True)]

    def ranges(self, most: int | None = None) -> list[str]:
        """The intervals of the first groups for people; empty where there is none, or no answer."""
        kind = type_in(self.parameters).of_answer(self.statistic)
        shown = zip(self.values[:most].tolist(), self.bars[:most], strict=True)
        return ["" if bar is None or value is None else between(bar, kind, value) for value, bar in shown]

    @property
    def bars(self) -> list[tuple[Any, Any] | None]:
        """The interval of each group, None where there are no intervals."""
        if self.intervals is None:
            return [None] * len(self)
        return [(low, high) for low, high in self.intervals.tolist()]


def _typed(keys: list[Any], kind: str) -> Any:
    """Keys from JSON as an Arrow array of the type that they had, as far as a text can be read as it."""
    import pyarrow as pa

    plain = pa.array(keys)
    try:
        if span := re.fullmatch(r"duration\[(\w+)\]", kind):
            return pa.array(_each(keys, DURATION.from_json), pa.duration(span[1]))
        if digits := re.fullmatch(r"decimal128\((\d+), (\d+)\)", kind):
            return pa.array(_each(keys, Decimal), pa.decimal128(int(digits[1]), int(digits[2])))
        if zoned := re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", kind):
            return pa.array(_each(keys, datetime.fromisoformat), pa.timestamp(zoned[1], zoned[2]))
        if kind.startswith("time64"):
            return pa.array(_each(keys, time.fromisoformat), pa.type_for_alias(kind))
        return plain.cast(pa.type_for_alias(kind))
    except (ValueError, ArithmeticError, pa.ArrowNotImplementedError):  # ArrowInvalid is a ValueError
        return plain


def _each(keys: list[Any], read: Callable[[str], Any]) -> list[Any]:
    return [None if key is None else read(key) for key in keys]


def masked(values: list[Any], kind: Kind) -> NDArray[Any]:
    """Answers from JSON; None is masked."""
    missing = [value is None for value in values]
    if kind.typed:
        typed = np.empty(len(values), dtype=object)
        typed[:] = [kind.value(0) if value is None else value for value in values]
        return np.ma.array(typed, mask=missing) if any(missing) else typed
    plain = [0 if value is None else value for value in values]
    whole = all(isinstance(value, int) for value in plain)
    fits = not whole or max(map(abs, plain), default=0) < 1 << 63
    numbers = np.array(plain, dtype=(np.int64 if whole else np.float64) if fits else object)
    return np.ma.array(numbers, mask=missing) if any(missing) else numbers


def _finite(key: Any) -> Any:
    return None if isinstance(key, float) and not math.isfinite(key) else key


def ordered(arrays: tuple[Any, ...]) -> NDArray[np.int64]:
    """The indices that sort the keys."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [str(k) for k in range(len(arrays))]
    table = pa.table(list(arrays), names=names)
    return np.asarray(pc.sort_indices(table, sort_keys=[(name, "ascending") for name in names]), dtype=np.int64)
