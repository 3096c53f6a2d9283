"""What passes compute of a record x, as expressions of PostgreSQL: the class of a record, and its whole numbers.

An expression has the value that numpy computes, to the last bit: comparisons, quotients, products, differences and
roundings of float8 are those of IEEE 754. And none of them can fail, whatever the record. PostgreSQL raises an error
where a product or a quotient overflows or underflows and where a difference overflows, so each of these is computed
only for magnitudes where it cannot; `case` evaluates one branch. Records beyond are a class each, or at an end of the
clip. Where that cannot be had there is no expression, and the records are fetched.

x is a float8 that is neither null nor NaN. The numbers in the expressions are public or noisy.
"""

import math
from collections.abc import Callable

from nobounds.counting.classes import Classes
from nobounds.counting.deviation import Deviation
from nobounds.counting.group_totals import StepsMap
from nobounds.counting.lattice import Beyond, Lattice, Squares
from nobounds.engines import whole_numbers
from nobounds.exact import MAX
from nobounds.ladders.rungs import Edges, FloatBits, Grid

MOST_EDGES = 4096
_BYTES = "float8send({0})"
_LARGE = 1022  # log2 of magnitudes whose differences do not overflow


def class_of(classes: Classes) -> str | None:
    """An expression that differs for records of different classes; it may differ within a class."""
    if classes.edges is not None:
        return _place(classes.edges)
    if classes.ladder is None:
        return _BYTES.format("(x + 0)")  # -0.0 + 0 is 0.0
    rungs = classes.ladder.map
    if classes.deviation is not None:
        return _of_deviation(rungs, classes.deviation) if isinstance(rungs, FloatBits) else None
    if isinstance(rungs, FloatBits):
        return _leading("x", rungs.bits)
    if isinstance(rungs, Grid):
        return _of_points("x", float(rungs.unit), lambda points: _leading(points, rungs.bits))
    return _place(tuple(rungs.table.tolist())) if isinstance(rungs, Edges) else None


def is_finer(one: str, other: str | None) -> bool:
    """Whether an expression of classes is another, or both are leading bytes of the record and it has more of them."""
    bytes_of = {_leading("x", 8 * number - 12): number for number in range(2, 8)}
    return one == other or bytes_of.get(one, 0) > bytes_of.get(other or "", 8)


def steps_of(given: StepsMap | Lattice | Squares) -> str | None:
    """The whole number of a record, a bigint; the sum of any number of them is an exact numeric."""
    return whole_numbers.steps_of(given, _DIALECT)


def number(value: float) -> str:
    """A float8, by the shortest text that is read as the same float."""
    return f"'{value!r}'::float8"


def _power(exponent: int) -> str:
    return number(math.ldexp(1.0, exponent))


def _leading(value: str, bits: int) -> str:
    """Sign, exponent and at least `bits` bits of the mantissa, as whole bytes."""
    return f"substring({_BYTES.format(value)} from 1 for {min((12 + bits + 7) // 8, 8)})"


def _place(edges: tuple[float, ...]) -> str | None:
    """The number of edges at or below a record, and whether it is one of them."""
    if len(edges) > MOST_EDGES:
        return None
    if not edges:
        return "1"
    table = "'{" + ",".join(map(repr, edges)) + "}'::float8[]"
    return f"2 * width_bucket(x, {table}) + (x = any({table}))::int"


def _of_points(value: str, unit: float, of: Callable[[str], str], most: float = MAX) -> str:
    """An expression of the nearest grid point of a value, a class of its own where the quotient might overflow.

    Below a quarter of the unit, where the quotient might underflow, the nearest point is 0.
    """
    if unit == 1 and most == MAX:
        return of(f"round({value})")
    high = min(most, MAX if unit >= 1 else unit * 2.0**1000)
    middle = of(f"round({value} / {number(unit)})")
    size = f"abs({value})"
    near = f"when {size} < {number(unit / 4)} then {of(number(0.0))}"
    return f"case {near} when {size} <= {number(high)} then {middle} else {_BYTES.format('x')} end"


def _of_deviation(rungs: FloatBits, deviation: Deviation) -> str | None:
    """The leading bits of the difference; over a power of two it has the same ones, unless it is subnormal.

    Quotients by 2**octave that underflow lie on rung 0, which holds all that is smaller than 2**floor.
    """
    if rungs.floor < -1021 or abs(deviation.center) > math.ldexp(1.0, _LARGE):
        return None
    value, center = "x", number(deviation.center)
    if deviation.high < math.inf:
        value = f"least({value}, {number(deviation.high)})"
    if deviation.low > -math.inf:
        value = f"greatest({value}, {number(deviation.low)})"

    def leading(points: str) -> str:
        difference = f"({points} - {center})"
        normal = f"{points} = {center} or abs{difference} >= {_power(-1022)}"
        return f"case when {normal} then {_leading(difference, rungs.bits)} else {_BYTES.format('x')} end"

    large = math.ldexp(1.0, _LARGE)
    if deviation.unit is not None:
        return _of_points(value, float(deviation.unit), leading, min(large, float(deviation.unit) * 2.0**1000))
    return f"case when abs({value}) <= {number(large)} then {leading(value)} else {_BYTES.format('x')} end"


def _on_lattice(lattice: Lattice) -> str | None:
    """The steps of a clipped record above the lower end of the clip.

    Records beyond 2**60 steps are at an end, since no end has more than 2**52; those below a quarter of a step, or of
    the unit, round to 0.
    """
    e, unit = lattice.exponent, float(lattice.unit)
    low, high = lattice.low, lattice.low + lattice.width
    reach = (e if lattice.unit == 1 else max(e, 0)) + 60  # log2 of the units that are beyond every clip
    if not (e >= -900 and reach <= 900 and abs(math.frexp(unit)[1]) <= 100 and max(abs(low), abs(high)) <= 1 << 52):
        return None
    least, value = (math.ldexp(1.0, e - 2), "x") if lattice.unit == 1 else (unit / 4, f"round(x / {number(unit)})")
    far, zero = number(math.ldexp(unit, reach)), min(max(0, low), high)
    clipped = f"least(greatest({value} * {_power(-e)}, {number(float(low))}), {number(float(high))})::bigint"
    ends = f"when x > {far} then {high} when x < -{far} then {low} when abs(x) < {number(least)} then {zero}"
    return f"((case {ends} else {clipped} end)::bigint - ({low})::bigint)"


def _beyond(steps: Beyond, away: str) -> str | None:
    if max(abs(steps.center), steps.far) > 2.0**1000:
        return None
    side = ">" if steps.sign > 0 else "<"
    return f"case when abs(x) <= {_power(1020)} then {away} > {number(steps.far)} else x {side} 0 end"


_DIALECT = whole_numbers.Dialect(
    number,
    _on_lattice,
    double="({})::float8".format,
    rounded="({})::bigint".format,
    flag="({})::int::bigint".format,
    beyond=_beyond,
)
