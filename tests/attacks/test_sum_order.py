"""Rounding, order and overflow as a side channel of sums (Casacuberta, Shoemate, Vadhan and Wagaman 2022).

A float sum of clipped records changes by more than the clip when one record changes how all later ones are rounded, and
an integer sum when it wraps around. Here a record is a whole number of steps by itself, and whole numbers of Python or
of 64 bits that cannot overflow add up in any order: one record changes the total by the clip at most.
"""

import random
from fractions import Fraction

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.csv_files import headed
from support.hostile import ODD

import nobounds as nb
from nobounds.counting.lattice import Lattice, totals
from nobounds.engines.memory.arrays import column
from nobounds.engines.open import open_source
from nobounds.engines.source import Keyed

BIG = 2.0**53
# Each 3 is rounded to 4 once the first record is there.
ROUNDED = np.array([BIG] + [3.0] * 1000)
CLIP = Lattice.of(Fraction(0), Fraction(BIG), integral=False)


def test_the_attack_works_on_sums_of_floats():
    """Of two neighbours with records from 0 to 2**53 the float sums differ by 1000 more than 2**53."""
    with_record, without = (float(np.add.accumulate(data)[-1]) for data in (ROUNDED, ROUNDED[1:]))
    assert with_record - without == BIG + 1000


def test_the_attack_works_on_sums_that_depend_on_their_order():
    """The same records in another order have another float sum, by a thousand times their smallest."""
    forth, back = (float(np.add.accumulate(data)[-1]) for data in (ROUNDED, ROUNDED[::-1]))
    assert forth - back == 1000


def test_the_attack_works_on_sums_of_64_bits():
    """A sum of int64 wraps around: one record more, of at most 2**62, changes it by almost 2**64."""
    data = np.array([2**62, 2**62 - 1, 1], dtype=np.int64)
    assert abs(int(np.sum(data)) - int(np.sum(data[:-1]))) > 2**63


def test_one_record_changes_our_sum_by_the_clip():
    """On the data of these attacks the totals differ by the steps of the record, exactly."""
    (n, total), (m, rest) = (totals(column(data).chunks(), CLIP.steps) for data in (ROUNDED, ROUNDED[1:]))
    assert n - m == 1
    assert total - rest == CLIP.width == int(CLIP.steps(np.array([BIG]))[0])


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_no_sum_of_whole_numbers_wraps_around(dtype):
    """Sums of the largest 64-bit numbers grow by the clip with each record, far beyond 2**63, grouped ones too."""
    top = np.iinfo(dtype).max
    lattice = Lattice.of(Fraction(0), Fraction(int(top)), integral=True)
    found = []
    for n in (5, 6, 1000):
        data = np.full(n, top)
        whole = totals(column(data).chunks(), lattice.steps)[1]
        assert whole == n * lattice.width
        assert whole * lattice.step >= n * int(top)
        assert _grouped({"x": data, "k": ["a"] * n}, lattice) == [whole, 0]
        found.append(nb.sum(data, epsilon=10.0, rng=random.Random(1)).value)
    assert found[2] > 900 * int(top)


def _grouped(data, lattice):
    keys = pa.array(["a", "b"], type=pa.large_string())
    found = open_source(data).rows("x", Keyed(("k",), (keys,)), None)
    return [int(total) for total in found.totals(lattice.steps)[1][0]]


# Huge and tiny, of both signs, and pairs that cancel all but their last bits.
RECORDS = st.sampled_from([x for x in ODD if x == x] + [BIG, -BIG, BIG + 2, 1e-300, -1e-300, 0.1, 1 / 3]) | st.floats()
LATTICES = st.sampled_from([(-1, 1), (0, 2**53), (-(2**70), 2**70), (Fraction(1, 3), Fraction(2, 3)), (-5, 10**300)])


@pytest.mark.medium
@given(rows=st.lists(RECORDS, min_size=1, max_size=40), ends=LATTICES, seed=st.integers(0, 99), cut=st.integers(1, 7))
def test_no_order_and_no_chunks_change_a_sum(rows, ends, seed, cut):
    """Shuffled and cut anywhere, the sum is the same whole number; without a record it is less by 0 to the width."""
    lattice = Lattice.of(Fraction(ends[0]), Fraction(ends[1]), integral=False)
    data = np.array(rows)
    shuffled = np.random.default_rng(seed).permutation(data)
    count, total = totals([data], lattice.steps)
    chunks = [shuffled[k : k + cut] for k in range(0, len(data), cut)]
    assert totals(chunks, lattice.steps) == [count, total]
    present = [x for x in rows if x == x]
    assert total == sum(int(lattice.steps(np.array([x]))[0]) for x in present)
    for k in range(len(data)):
        rest = totals([np.delete(data, k)], lattice.steps)[1]
        assert 0 <= total - rest <= lattice.width


@pytest.mark.medium
@given(rows=st.lists(RECORDS, min_size=1, max_size=30), ends=LATTICES, seed=st.integers(0, 99))
def test_no_order_changes_the_sums_of_groups(rows, ends, seed):
    """So with groups: one record changes the sum of its group by 0 to the width, and no other group's."""
    lattice = Lattice.of(Fraction(ends[0]), Fraction(ends[1]), integral=False)
    data, keys = np.array(rows), np.array(["a", "b"])[np.arange(len(rows)) % 2]
    order = np.random.default_rng(seed).permutation(len(data))
    whole = _grouped({"x": data, "k": keys}, lattice)
    assert _grouped({"x": data[order], "k": keys[order]}, lattice) == whole
    rest = _grouped({"x": data[1:], "k": keys[1:]}, lattice)
    assert rest[1] == whole[1]
    assert 0 <= whole[0] - rest[0] <= lattice.width


HARD = np.concatenate([ROUNDED, -ROUNDED[::-1], np.tile([1e300, -1e300, 1e-300, 0.1], 50), [np.inf, -np.inf, np.nan]])


def _shuffled(seed):
    order = np.random.default_rng(seed).permutation(len(HARD))
    return pa.table({"x": HARD[order], "k": pa.array(np.array(["a", "b"])[order % 2]), "o": order})


ORDERS = {
    "pandas": lambda table, folder: table.to_pandas(),
    "polars": lambda table, folder: pl.from_arrow(table),
    "lazy": lambda table, folder: pl.from_arrow(table).lazy().sort("x"),
    "arrow chunks": lambda table, folder: pa.concat_tables([table[k : k + 7] for k in range(0, len(table), 7)]),
    "duckdb": lambda table, folder: duckdb.connect().from_arrow(table),
    "duckdb by value": lambda table, folder: duckdb.connect().from_arrow(table).order("x desc"),
    "duckdb by hash": lambda table, folder: duckdb.connect().from_arrow(table).order("hash(o)"),
    "parquet": lambda table, folder: _written(table, folder),
    "csv": lambda table, folder: _csv(table, folder),
}


def _written(table, folder):
    for k in range(0, len(table), 500):
        pq.write_table(table[k : k + 500], folder / f"{k}.parquet", row_group_size=64)
    return str(folder / "*.parquet")


def _csv(table, folder):
    lines = [f"{x!r},{k},{o}\n" for x, k, o in zip(*table.to_pydict().values(), strict=True)]
    (folder / "all.csv").write_text("x,k,o\n" + "".join(lines))
    return headed(folder / "all.csv")


@pytest.mark.parametrize("engine", ORDERS)
def test_every_engine_has_one_sum_for_all_orders(engine, tmp_path):
    """Three orders of hard records, in each engine: the sums, and those of the groups, are those of exact fractions."""
    lattice = Lattice.of(Fraction(-(2**54)), Fraction(2**54), integral=False)
    there = HARD[~np.isnan(HARD)]
    expected = int(lattice.steps(there).astype(object).sum())
    groups = [int(lattice.steps(HARD[k::2][~np.isnan(HARD[k::2])]).astype(object).sum()) for k in (0, 1)]
    for seed in (1, 2, 3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        data = ORDERS[engine](_shuffled(seed), folder)
        found = open_source(data).columns(["x"], None)["x"]
        assert totals(found.chunks(), lattice.steps) == [len(there), expected]
        one_by_one = _grouped(data, lattice)
        # A rung on the edge of the clip has one value in a tally; inside it, half a step for each rung at most.
        assert all(abs(a - b) <= 64 for a, b in zip(one_by_one, groups, strict=True))
        assert one_by_one == _grouped(ORDERS["pandas"](_shuffled(seed), folder), lattice)


@pytest.mark.medium
@pytest.mark.parametrize("statistic", ["sum", "mean"])
def test_answers_do_not_depend_on_the_order(statistic):
    """With one seed the whole release is the same for every order of the records, in memory and by groups."""
    orders = [_shuffled(seed) for seed in (1, 2, 3)]
    ask = {
        "column": lambda table: getattr(nb, statistic)(table["x"], epsilon=1.0, rng=random.Random(5)),
        "groups": lambda table: getattr(nb.Table(table).group_by("k", keys=["a", "b"]), statistic)(
            "x", epsilon=1.0, rng=random.Random(5)
        ).to_json(),
        "users": lambda table: getattr(nb.Table(table, unit="o", rows_per_unit=1), statistic)(
            "x", epsilon=1.0, rng=random.Random(5)
        ),
    }
    for call in ask.values():
        assert call(orders[0]) == call(orders[1]) == call(orders[2])
