"""What passes compute of a record x, as expressions of Spark SQL: the class of a record, and its whole numbers.

Double arithmetic of Spark is that of IEEE 754, as numpy's is, and has no errors: what overflows is infinite. The
conversions to whole numbers, which can fail, are of numbers within the clip. So an expression has the value that numpy
computes, whatever the record.

x is a double that is neither null nor NaN. The numbers in the expressions are public or noisy, because plans and event
logs show them.
"""

import math

from nobounds.counting.group_totals import StepsMap
from nobounds.counting.lattice import Beyond, Lattice, Outside, Squares

TYPES = ("double", "float", "byte", "short", "integer", "long")
"""The types of columns whose cast to double is the nearest float64."""

PRESENT = "x is not null and not isnan(x)"
COARSE = 12
"""Bits of the mantissa that records of one class share."""

_HALF = 21  # bits of the lower parts of whole numbers: sums of 2**42 of either part fit into 64 bits


def classes() -> tuple[str, str]:
    """A whole number and a double that differ for records whose sign, exponent or leading bits differ.

    The exponent is a rounded logarithm, which may be off by one near a power of two; the quotient is exact all the
    same. From just below 1 to just above 2, steps of 2**-13 are no wider than those of 12 bits. Tiny and huge records,
    and missing ones, are classes of their own.
    """
    exponent = "floor(log2(abs(x)))"
    steps = f"cast(floor(abs(x) * pow(2.0D, -{exponent}) * 8192) as bigint)"
    key = f"(({exponent} + 1100) * 32768 + {steps}) * if(x < 0, -1, 1)"
    near = f"abs(x) between {_number(2.0**-1000)} and {_number(2.0**1000)}"
    return f"if({near}, {key}, null)", f"if({near}, null, x)"


def steps_of(given: StepsMap | Lattice | Squares) -> str | None:
    """The whole number of a record, a bigint of up to 42 bits; None where there is no expression."""
    steps = getattr(given, "__self__", given)  # a map may be the method of a lattice
    if isinstance(steps, Lattice):
        return _on_lattice(steps)
    if isinstance(steps, Squares):
        whole = _on_lattice(steps.lattice)
        far = float(max(steps.center, steps.lattice.width - steps.center, 1))
        distance = f"(cast({whole} - {steps.center}L as double) / {_number(far)})"
        return whole and f"cast(rint({distance} * {distance} * {_number(float(steps.width))}) as bigint)"
    if isinstance(steps, Outside):
        return f"if(x {'>=' if steps.upwards else '<='} {_number(steps.end)}, 1L, 0L)"
    if isinstance(steps, Beyond):
        center = _number(steps.center)
        away = f"x - {center}" if steps.sign > 0 else f"{center} - x"
        return f"if({away} > {_number(steps.far)}, 1L, 0L)"
    return None


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
