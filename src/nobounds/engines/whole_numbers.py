"""The whole numbers of records as expressions of SQL: what the dialects share.

A dialect writes numbers, rounds and converts; and it says where its arithmetic has no expression.
"""

from collections.abc import Callable

from nobounds.counting.group_totals import StepsMap
from nobounds.counting.lattice import Beyond, Lattice, Outside, Squares
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a database writes what a record x becomes."""

    number: Callable[[float], str]  # a float, to the last bit
    on_lattice: Callable[[Lattice], str | None]  # the steps of a record above the lower end of the clip
    double: Callable[[str], str]  # a whole number as a float
    rounded: Callable[[str], str]  # a float as the nearest whole number, ties to even
    flag: Callable[[str], str]  # 1 where a condition is true, else 0
    beyond: Callable[[Beyond, str], str | None]  # whether a difference, which may overflow, is too large


def steps_of(given: StepsMap | Lattice | Squares, sql: Dialect) -> str | None:
    """The whole number of a record; None where there is no expression."""
    steps = getattr(given, "__self__", given)  # a map may be the method of a lattice
    if isinstance(steps, Lattice):
        return sql.on_lattice(steps)
    if isinstance(steps, Squares):
        whole = sql.on_lattice(steps.lattice)
        far = float(max(steps.center, steps.lattice.width - steps.center, 1))
        # The difference is a whole number, so the quotient does not underflow.
        distance = f"({sql.double(f'{whole} - {steps.center}')} / {sql.number(far)})"
        return whole and sql.rounded(f"{distance} * {distance} * {sql.number(float(steps.width))}")
    if isinstance(steps, Outside):
        return sql.flag(f"x {'>=' if steps.upwards else '<='} {sql.number(steps.end)}")
    if isinstance(steps, Beyond):
        center = sql.number(steps.center)
        is_beyond = sql.beyond(steps, f"x - {center}" if steps.sign > 0 else f"{center} - x")
        return is_beyond and sql.flag(is_beyond)
    return None
