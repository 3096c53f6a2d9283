"""Answers as Arrow arrays and tables, with all digits; dates, times, durations and decimals in types of Arrow's own."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Any

from nobounds.exact import finite_float
from nobounds.kinds.kind import NUMBER, Kind

_FAR = (1 << 63) - 1024  # microseconds that fit into 64 bits
_DIGITS = 38  # of decimals that all libraries of frames read; longer ones become floats


def arrow() -> Any:
    """pyarrow, or an error that says how to install it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError("frames of answers need pyarrow: pip install 'nobounds[arrow]'") from None
    return pyarrow


def answer_array(values: Sequence[Any], kind: Kind = NUMBER) -> Any:
    """Answers as an Arrow array, null where there is none.

    Whole numbers beyond 64 bits become floats, and so do all numbers if some are floats.
    """
    pa = arrow()

    if kind.typed:
        return _typed_array(values, kind)
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, int) and abs(value) < 1 << 63 for value in known):
        return pa.array(values, pa.int64())
    return pa.array([None if value is None else _float(value) for value in values], pa.float64())


def known_ends(bar: Sequence[Any] | None, kind: Kind = NUMBER) -> tuple[Any, Any]:
    """The ends of an interval: None without an interval, and of a type where an end is not known."""
    if bar is None:
        return None, None
    low, high = (None if kind.typed and end is not None and kind.is_end(end) else end for end in bar)
    return low, high


def end_arrays(bars: Iterable[Sequence[Any] | None], kind: Kind = NUMBER) -> list[Any]:
    """The low and the high ends of intervals: null without an interval, infinite (of a type, null) if not known."""
    pairs = [known_ends(bar, kind) for bar in bars]
    columns = [[pair[k] for pair in pairs] for k in (0, 1)]
    if kind.typed:
        return [answer_array(column, kind) for column in columns]
    return [arrow().array(column, arrow().float64()) for column in columns]


def named_table(keys: Mapping[str, Any], columns: Mapping[str, Any]) -> Any:
    """A table of the user's own columns first, and then of ours, which are renamed if a name is taken."""
    pa = arrow()

    names = list(keys)
    for name in columns:
        while name in names:
            name = f"private_{name}"
        names.append(name)
    return pa.table([*keys.values(), *columns.values()], names=names)


def _float(value: int | float) -> float:
    return float(value) if isinstance(value, float) and not math.isfinite(value) else finite_float(Fraction(value))


def _typed_array(values: Sequence[Any], kind: Kind) -> Any:
    """Values of a type as an Arrow array of the nearest type of Arrow."""
    pa = arrow()

    if kind.name == "decimal":
        scale = max((-value.as_tuple().exponent for value in values if value is not None), default=kind.scale)
        whole = max((value.adjusted() + 1 for value in values if value is not None), default=1)
        if max(whole, 1) + scale > _DIGITS:
            return pa.array([None if value is None else float(value) for value in values], pa.float64())
        return pa.array(values, pa.decimal128(_DIGITS, scale))
    types = {"date": pa.date32(), "time": pa.time64("us"), "duration": pa.duration("us")}
    if kind.name != "duration":
        return pa.array(values, types.get(kind.name) or pa.timestamp("us", kind.zone))
    spans = [None if value is None else value / timedelta(microseconds=1) for value in values]
    micros = [None if span is None else round(min(max(span, -_FAR), _FAR)) for span in spans]
    return pa.array(micros, pa.int64()).cast(types["duration"])


def text_array(texts: Sequence[str | None]) -> Any:
    """Texts as an Arrow array."""
    return arrow().array(texts, arrow().string())
