"""The whole numbers of records as SQL: what an expression says is what the lattice of the library says."""

from fractions import Fraction

import duckdb
import numpy as np
import pytest

from nobounds.counting.lattice import Beyond, Lattice, Outside, Squares
from nobounds.engines.whole_numbers import Dialect, steps_of

DUCK = Dialect(
    number=lambda x: f"cast({x!r} as double)",
    on_lattice=lambda lattice: f"cast(round_even(x, 0) as bigint) - {lattice.low}",
    double=lambda sql: f"cast({sql} as double)",
    rounded=lambda sql: f"cast(round_even({sql}, 0) as bigint)",
    flag=lambda sql: f"cast({sql} as int)",
    beyond=lambda beyond, away: None,
)
RECORDS = np.array([-3.0, 0.0, 1.0, 2.0, 7.0, 8.0])


def answers(sql: str) -> list[int]:
    """The expression for each record, in a database."""
    rows = duckdb.execute(f"select {sql} from (select unnest(?) as x)", [RECORDS.tolist()]).fetchall()
    return [row[0] for row in rows]


@pytest.mark.parametrize("end", [1.0, 7.0])
@pytest.mark.parametrize("upwards", [True, False])
def test_records_outside_an_end_count_as_one(end, upwards):
    """Those at the end are outside, as in the library."""
    outside = Outside(end, upwards)
    sql = steps_of(outside, DUCK)
    assert sql is not None and answers(sql) == outside(RECORDS).tolist()


def test_squares_are_those_of_the_library():
    """A lattice of whole numbers, and squared steps around its middle."""
    lattice = Lattice.of(Fraction(-3), Fraction(8), True)
    squares = Squares(lattice, 5)
    sql = steps_of(squares, DUCK)
    assert sql is not None and answers(sql) == squares.steps(RECORDS).tolist()
    assert answers(steps_of(lattice, DUCK)) == lattice.steps(RECORDS).tolist()


def test_what_has_no_expression_is_none():
    """A dialect may have none for a difference that may overflow, and an unknown map has none at all."""
    assert steps_of(Beyond(0.0, 1, 2.0), DUCK) is None
    assert steps_of(lambda records: records, DUCK) is None
