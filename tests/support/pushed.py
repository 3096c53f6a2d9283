"""What the tests of passes in PostgreSQL share: stored tables, hostile records, and passes of each kind."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from nobounds.counting.deviation import Deviation
from nobounds.counting.histogram import Counted, Histogram
from nobounds.counting.kept import Gathered
from nobounds.counting.lattice import Lattice, Outside, Squares, Total, Totals
from nobounds.counting.second_look import Within
from nobounds.counting.spans import Spans
from nobounds.engines.sql.database import from_table
from nobounds.engines.streams.local import Local
from nobounds.ladders.ladder import Ladder
from nobounds.statistics.bins.edges import CountsBetween

INF, NAN, MAX = math.inf, math.nan, 1.7976931348623157e308
HOSTILE = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-310, MAX, -MAX]
HOSTILE += [
    INF,
    -INF,
    NAN,
    None,
    2.0**53,
    2.0**53 + 2,
    1e300,
    -1e300,
    1e-300,
    0.005,
    0.015,
    0.29,
    7.0,
    6.999999999999999,
]
HOSTILE += [2.0**1022, -(2.0**1022), 2.0**1023, 2.0**-1022, 2.0**-1021, 3.0, 100.0, 1e9 + 0.5, -1e9 - 0.5]
FLOATS = st.one_of(st.sampled_from(HOSTILE), st.floats(width=64), st.integers(-(2**60), 2**60).map(float))


def store(writer, name, columns, rows):
    """A stored table with these rows, in `public`: tests of budgets make a schema with the name of the user."""
    writer.execute("set lock_timeout = '5s'")
    writer.execute(f"drop table if exists public.{name}")
    writer.execute(f"create table public.{name} ({columns})")
    with writer.cursor() as cursor, cursor.copy(f"copy public.{name} from stdin") as copy:
        for row in rows:
            copy.write_row(row)


def records(connection, name, column="x"):
    """The records of a column where they are; and this fails if they would be fetched."""
    there = Local(from_table(connection, f"public.{name}"))._elsewhere()
    assert there is not None
    return there.columns([column])[column]


def same(one, other):
    """Whether the results of a pass are the same, whatever they are made of."""
    if isinstance(one, Histogram):
        return np.array_equal(one.rungs, other.rungs) and np.array_equal(one.counts, other.counts)
    if isinstance(one, np.ndarray):
        return np.array_equal(np.sort(one), np.sort(other))
    return one == other


def unfetched():
    raise AssertionError("records were fetched")


CENT = Fraction(1, 100)
LADDERS = [Ladder.float_bits(0), Ladder.float_bits(9, -100), Ladder.float_bits(16, -1022), Ladder.float_bits(40)]
LADDERS += [Ladder.grid(1), Ladder.grid(CENT, 16), Ladder.grid(7, 20), Ladder.grid(Fraction(1, 2**40))]
LADDERS += [Ladder.grid(1).limited(Fraction(0), Fraction(10)), Ladder.uniform(-3, 8, 11), Ladder.of([0, 1, 7])]
DEEP = Ladder.float_bits(0, -300)
DEVIATIONS = [
    Deviation(0.3, -INF, INF, 5),
    Deviation(7.0, 0.0, 1e9, -3, all_present=True),
    Deviation(-2.5, -INF, 100.0, 1000),
    Deviation(1e-310, -INF, INF, -1000),
    Deviation(1e300, -INF, INF, 990),
    Deviation(29.0, -INF, INF, 0, unit=CENT),
    Deviation(3.0, -1e9, 1e9, 2, unit=Fraction(1)),
    Deviation(0.0, -INF, INF, 4, unit=Fraction(10**20)),
]
SPANS = [Spans.of([(-1.0, 1.0)]), Spans.of([(-INF, -2.5), (-0.0, 0.0), (1.5, 7.0), (1e300, INF)])]
LATTICES = [
    Lattice.of(Fraction(0), Fraction(100), False),
    Lattice.of(Fraction(-3), Fraction(7), True),
    Lattice.of(Fraction(5), Fraction(6), False),
    Lattice.of(Fraction(-(10**200)), Fraction(10**205), False),
    Lattice.of(Fraction(1, 10**200), Fraction(1, 10**199), False),
    Lattice.of(Fraction(-2), Fraction(3), False, CENT),
    Lattice.of(Fraction(-2), Fraction(10**30), True, CENT),
]
PASSES = [Counted(ladder) for ladder in LADDERS] + [Counted(DEEP, each) for each in DEVIATIONS]
PASSES += [Gathered(spans) for spans in SPANS] + [Within(ladder, SPANS[1]) for ladder in LADDERS[1:6]]
PASSES += [Total(each) for each in LATTICES] + [Total(Squares(each, each.width // 3)) for each in LATTICES]
PASSES += [Totals(()), Totals((Outside(0.0, upwards=False), Outside(7.0, upwards=True)))]
PASSES += [CountsBetween((0.0, 1.0, 7.0), closed) for closed in (False, True)]
