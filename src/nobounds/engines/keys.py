"""Keys and units as Arrow arrays in one canonical form, on which all engines agree, and public keys of that form."""

from datetime import date
from typing import Any

import numpy as np

from nobounds.engines.memory.arrow import import_pyarrow


def text_of(raw: bytes) -> str:
    """The text of some bytes: UTF-8, or else Latin-1, with which different bytes give different texts.

    >>> text_of("Müller".encode()), text_of("Müller".encode("latin-1")), text_of("Möller".encode("latin-1"))
    ('Müller', 'Müller', 'Möller')
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def plain(array: Any) -> Any:
    """A column of keys without dictionaries and extensions, and text in one layout.

    Each key has one canonical form, on which all engines agree: NaN is missing, and -0.0 is 0.0. A date or time that
    Python cannot represent, like infinity, is missing too: it could not be shown. Text that is not UTF-8 is read as
    Latin-1.
    """
    pa = import_pyarrow()
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_floating(array.type):
        return _one_form(array)
    if pa.types.is_date(array.type) or pa.types.is_timestamp(array.type):
        return _in_calendar(array)
    if pa.types.is_time(array.type):
        return _in_day(array)
    if array.type in (pa.binary(), getattr(pa, "binary_view", pa.binary)()) or pa.types.is_fixed_size_binary(
        array.type
    ):
        return array.cast(pa.large_binary())
    text = (pa.string(), getattr(pa, "string_view", pa.string)(), pa.large_string())
    return _in_unicode(array.cast(pa.large_string())) if array.type in text else array


def _in_unicode(array: Any) -> Any:
    """Texts in the form of `text_of`: in Arrow and Parquet files a text column may hold any bytes."""
    pa = import_pyarrow()
    try:
        array.validate(full=True)
        return array
    except pa.ArrowInvalid:
        texts = (None if text is None else text_of(text) for text in _bytes(array))
        return pa.array(list(texts), type=pa.large_string())


def _bytes(array: Any) -> list[bytes | None]:
    raw: list[bytes | None] = array.cast(import_pyarrow().large_binary()).to_pylist()
    return raw


def _one_form(array: Any) -> Any:
    import pyarrow.compute as pc

    pa = import_pyarrow()
    floats = array.cast(pa.float32()) if pa.types.is_float16(array.type) else array
    zero = pa.scalar(0.0, type=floats.type)
    return pc.if_else(pc.is_nan(floats), pa.scalar(None, type=floats.type), pc.add(floats, zero))


def _in_calendar(array: Any) -> Any:
    import pyarrow.compute as pc

    pa = import_pyarrow()
    kind = array.type
    unit = "d" if pa.types.is_date32(kind) else "ms" if pa.types.is_date64(kind) else kind.unit
    a_day = {"d": 1, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}[unit]
    since = date(1970, 1, 1).toordinal() * a_day
    low, high = date.min.toordinal() * a_day - since, (date.max.toordinal() + 1) * a_day - since - 1
    if unit == "ns":  # all of them, from 1677 to 2262, except the one that is NaT in pandas
        low, high = -(1 << 63) + 1, (1 << 63) - 1
    aside = a_day if getattr(kind, "tz", None) is not None else 0  # a margin for the hours between time zones
    whole = array.cast(pa.int32() if unit == "d" else pa.int64())
    inside = pc.and_(pc.greater_equal(whole, low + aside), pc.less_equal(whole, high - aside))
    return pc.if_else(inside, array, pa.scalar(None, type=kind))


def _in_day(array: Any) -> Any:
    import pyarrow.compute as pc

    pa = import_pyarrow()
    a_day = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}[array.type.unit]
    whole = array.cast(pa.int32() if pa.types.is_time32(array.type) else pa.int64())
    inside = pc.and_(pc.greater_equal(whole, 0), pc.less(whole, a_day))
    return pc.if_else(inside, array, pa.scalar(None, type=array.type))


def is_key(kind: Any) -> bool:
    """Whether values of an Arrow type returned by `plain` can be keys or units: compared, ordered and shown."""
    types = import_pyarrow().types
    if types.is_decimal128(kind):
        return 0 <= int(kind.scale) <= int(kind.precision)  # DuckDB has no other decimals
    if types.is_timestamp(kind):
        return _has_clock(kind)
    numbers = (types.is_boolean, types.is_integer, types.is_float32, types.is_float64)
    texts = (types.is_large_string, types.is_large_binary, types.is_null)
    return any(fits(kind) for fits in (*numbers, *texts, types.is_date, types.is_time))


def _has_clock(kind: Any) -> bool:
    """Whether Python knows the time zone of a type."""
    try:
        import_pyarrow().scalar(0, type=kind).as_py()
    except Exception:
        return False
    return True


_OWN = frozenset({bool, int, float, str})


def public_keys(given: list[Any], kind: Any, name: str) -> Any:
    """Public keys of one column as an Arrow array of the column's type."""
    pa = import_pyarrow()
    types = pa.types
    given = given if _OWN.issuperset(map(type, given)) else [_python(key) for key in given]
    try:
        array = plain(pa.array(given, type=kind))
        # Arrow would round keys to the type of the column, and would convert numbers to dates.
        back = array.to_pylist()
        same = types.is_floating(kind) or given == back
        same = same or all(key is None or key == again for key, again in zip(given, back, strict=True))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, TypeError, ValueError):
        same = False
    if not same:
        type_name = "text" if types.is_large_string(kind) else str(kind)
        raise ValueError(f"keys must be of the type of the column {name!r}, which is {type_name}; convert them first")
    if array.null_count:
        raise ValueError("keys must not be missing: rows without a key are in no group")
    return array


def _python(key: Any) -> Any:
    """A key of numpy or Arrow as a Python value; other keys unchanged."""
    if isinstance(key, np.datetime64):
        return key.astype("datetime64[us]").item() if np.datetime_data(key)[0] == "ns" else key.item()
    if isinstance(key, np.generic):
        return key.item()
    return key.as_py() if isinstance(key, import_pyarrow().Scalar) else key


def all_differ(arrays: tuple[Any, ...]) -> bool:
    """Whether all keys are distinct."""
    columns = [array.dictionary_encode() for array in arrays]
    if len(columns) == 1:
        return len(columns[0].dictionary) == len(columns[0])
    codes = np.stack([column.indices.to_numpy() for column in columns], axis=1)
    return len(np.unique(codes, axis=0)) == len(codes)
