"""Types of Arrow: each record of one that is admitted becomes a float or a key, and the others are refused unread."""

import datetime as dt
import random
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.engines.keys import is_key, plain
from nobounds.engines.memory.arrow import is_decimal, to_floats

BITS = {128: pa.decimal128, 256: pa.decimal256}
for name in ("decimal32", "decimal64"):  # of later versions
    if hasattr(pa, name):
        BITS[int(name[-2:])] = getattr(pa, name)
DIGITS = {32: 9, 64: 18, 128: 38, 256: 76}


def raw(dtype, whole, width):
    """An Arrow array of any bits."""
    packed = b"".join(int(number).to_bytes(width, "little", signed=True) for number in whole)
    return pa.Array.from_buffers(dtype, len(whole), [None, pa.py_buffer(packed)])


@pytest.mark.parametrize("bits", sorted(BITS))
def test_every_decimal_of_an_admitted_type_is_its_nearest_float(bits):
    """Whatever the bits are, and for all scales that are admitted, which are those that Arrow can write."""
    rng = random.Random(bits)
    digits, width = DIGITS[bits], bits // 8
    for scale in (-digits - 1, -digits, -1, 0, 1, digits, digits + 1, 500, -300):
        dtype = BITS[bits](digits, scale)
        whole = [0, 1, -1, 10**digits - 1, *(rng.getrandbits(bits) - (1 << bits - 1) for _ in range(200))]
        records = raw(dtype, whole, width)
        assert is_decimal(dtype) == (abs(scale) <= digits)
        if is_decimal(dtype):
            assert to_floats(records).tolist() == [float(Decimal(f"{number}E{-scale}")) for number in whole]
        else:
            with pytest.raises(pa.ArrowInvalid):
                to_floats(records)


def test_other_decimals_are_neither_numbers_nor_keys():
    """A stream with such a column has it among those of other types."""

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            column = raw(pa.decimal128(38, -300), [7, 8], 16)
            return pa.table({"x": column, "y": [1.0, 2.0]}).__arrow_c_stream__(requested_schema)

    table = nb.Table(Stream())
    assert table.columns == {"y": "number", "x": "Arrow type decimal128"}
    assert table.count("y", epsilon=1e6).value == 2


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_outside_a_day_are_missing(unit):
    """Python has no such time, so it could not be shown as a key."""
    dtype, width = (pa.time32(unit), 4) if unit in {"s", "ms"} else (pa.time64(unit), 8)
    a_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    whole = [0, 86_400 * a_second - a_second, 86_400 * a_second, -1, 2 ** (8 * width - 1) - 1]
    found = plain(raw(dtype, whole, width))
    assert found.type == dtype
    assert found.to_pylist() == [dt.time(0), dt.time(23, 59, 59), None, None, None]


def test_a_time_outside_a_day_fails_no_group():
    """Enough rows have it for it to be chosen, and it is no key."""
    column = raw(pa.time64("us"), [2**60] * 500 + [0] * 500, 8)
    found = nb.Table(pa.table({"k": column})).group_by("k", delta=0.01).count(epsilon=10, rng=random.Random(1))
    assert found.groups == [dt.time(0)]


@pytest.mark.parametrize(
    ("dtype", "fits"),
    [
        (pa.timestamp("us", "UTC"), True),
        (pa.timestamp("us", "+07:30"), True),
        (pa.timestamp("us", "Mars/Olympus"), False),
        (pa.decimal128(38, 2), True),
        (pa.decimal128(38, -2), False),
        (pa.decimal128(5, 6), False),
        (pa.decimal256(76, 2), False),
    ],
    ids=str,
)
def test_keys_can_be_shown_and_compared(dtype, fits):
    """A zone that Python does not know, and a scale that DuckDB does not have, are refused by the type."""
    assert is_key(dtype) == fits
    table = nb.Table(pa.table({"k": pa.nulls(3, dtype), "x": np.ones(3)}))
    if fits:
        assert len(table.group_by("k", delta=0.01).count(epsilon=1)) == 0
    else:
        with pytest.raises(TypeError, match="column 'k' must be of text, numbers or dates to be a unit or a key"):
            table.group_by("k", delta=0.01)
