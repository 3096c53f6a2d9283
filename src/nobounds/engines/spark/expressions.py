"""What passes compute of a record x, as expressions of Spark SQL: the class of a record, and its whole numbers.

Double arithmetic of Spark is that of IEEE 754, as numpy's is, and has no errors: what overflows is infinite. The
conversions to whole numbers, which can fail, are of numbers within the clip. So an expression has the value that numpy
computes, whatever the record.

x is a double that is neither null nor NaN. The numbers in the expressions are public or noisy, because plans and event
logs show them.
"""

import math
from typing import Any

from nobounds.counting.deviation import Deviation
from nobounds.counting.group_totals import StepsMap
from nobounds.counting.lattice import Beyond, Lattice, Squares
from nobounds.engines import whole_numbers
from nobounds.exact import MAX

TYPES = ("double", "float", "byte", "short", "integer", "long")
"""The types of columns whose cast to double is the nearest float64."""

COARSE = 8
"""Bits of the mantissa that records of one class share."""

_HALF = 21  # bits of the lower parts of whole numbers: sums of 2**42 of either part fit into 64 bits
_POINT = 24  # bits behind the point, of values whose class needs no logarithm


def classed(rows: Any, value: str) -> Any:
    """Rows with a whole number `class`, which differs if the sign, the exponent or the leading bits of a value do.

    value: a double, which may be null. The class is null if it is.

    |value| * 2**24 as a whole number has the leading bits of the value, and its length is the number of ones after
    all bits below the first one are set. For sizes where that does not fit into 62 bits there is a logarithm, which may
    be off by one near a power of two: then classes are finer. Zero and all values below 2**-1022 are one class. Who
    counts classes has to check that they are fine enough (see `known`).
    """
    small, large, tiny = (_number(2.0**power) for power in (COARSE - _POINT, 62 - _POINT, -1022))
    near, far = f"abs(y) >= {small} and abs(y) < {large}", f"abs(y) between {tiny} and {_number(MAX)}"
    scaled = f"if({near}, cast(abs(y) * {_number(2.0**_POINT)} as bigint), 0L)"
    ones = [f"i{bits} | shiftright(i{bits}, {bits}) as i{2 * bits}" for bits in (1, 2, 4, 8, 16, 32)]
    size, exponent = 1 << COARSE, "floor(log2(abs(y)))"
    of_near = f"length * {size}L + (shiftright(i1, length - {COARSE + 1}) & {size - 1}L)"
    of_far = f"({exponent} + 2000L) * {2 * size}L + cast(floor(abs(y) * pow(2.0D, -{exponent}) * {size}) as bigint)"
    of_size = (
        f"case when {near} then {of_near} when {far} then {of_far} when abs(y) < {tiny} then 0L else {1 << 40}L end"
    )
    key = f"if(y is null, null, if(y < 0, -1L, 1L) * ({of_size})) as class"
    return rows.selectExpr("*", f"{value} as y", f"{scaled} as i1", *ones, "bit_count(i64) as length", key)


def deviation_of(deviation: Deviation) -> str | None:
    """The deviation of a record, but for its scale; None where there is no expression."""
    if deviation.all_present or deviation.unit is not None or not abs(deviation.center) < math.inf:
        return None
    clipped = "x"
    if deviation.high < math.inf:
        clipped = f"least({clipped}, {_number(deviation.high)})"
    if deviation.low > -math.inf:
        clipped = f"greatest({clipped}, {_number(deviation.low)})"
    return f"if(x is null, null, {clipped} - {_number(deviation.center)})"  # `least` passes over nulls


def steps_of(given: StepsMap | Lattice | Squares) -> str | None:
    """The whole number of a record, a bigint of up to 42 bits; None where there is no expression."""
    return whole_numbers.steps_of(given, _DIALECT)


def sums_of(expression: str) -> tuple[str, str]:
    """Two sums, of the upper and of the lower parts of whole numbers: neither of them can overflow."""
    return f"sum(shiftright({expression}, {_HALF}))", f"sum({expression} & {(1 << _HALF) - 1}L)"


def whole(upper: int, lower: int) -> int:
    """The sum of whole numbers, from those of their parts."""
    return (upper << _HALF) + lower


def _on_lattice(lattice: Lattice) -> str | None:
    low, high, unit = lattice.low, lattice.low + lattice.width, float(lattice.unit)
    if abs(lattice.exponent) > 900 or not 2.0**-900 <= unit <= 2.0**900 or max(abs(low), abs(high)) > 1 << 52:
        return None
    value = "x" if lattice.unit == 1 else f"rint(x / {_number(unit)})"
    scaled = f"{value} * {_number(math.ldexp(1.0, -lattice.exponent))}"
    clipped = f"greatest(least({scaled}, {_number(float(high))}), {_number(float(low))})"
    return f"(cast(rint({clipped}) as bigint) - ({low}L))"


def _number(value: float) -> str:
    """A double, by the shortest text that is read as the same float."""
    return f"double('{value!r}')"


def _beyond(steps: Beyond, away: str) -> str:
    return f"{away} > {_number(steps.far)}"


_DIALECT = whole_numbers.Dialect(
    _number,
    _on_lattice,
    double="cast({} as double)".format,
    rounded="cast(rint({}) as bigint)".format,
    flag="if({}, 1L, 0L)".format,
    beyond=_beyond,
)
