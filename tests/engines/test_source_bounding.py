"""Bounding: at most so many rows of a unit in so many groups, chosen by its own rows and a salt, by nothing else."""

import sqlite3
from collections import Counter
from fractions import Fraction
from unittest import mock

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import nobounds as nb
from nobounds.counting.lattice import Lattice
from nobounds.counting.tally import BITS
from nobounds.engines.files.paths import from_paths
from nobounds.engines.memory.tables import from_memory
from nobounds.engines.source import Bounding, Keyed
from nobounds.engines.sql.database import from_query
from nobounds.engines.sql.duck import from_relation
from nobounds.engines.streams.local import Local
from nobounds.engines.streams.stream import TableStream
from nobounds.ladders.ladder import Ladder

IDS = Ladder.grid(1, bits=16)  # a rung for each whole number up to 65,536
SALTS = st.integers(0, 2**62 - 1)
FINE = Ladder.float_bits(BITS)
LATTICE = Lattice.of(Fraction(10), Fraction(500), integral=False)


def table(seed=1, heavy=300, others=30):
    """Half of the rows are of unit 0; values are whole numbers, each there once; groups are a to e."""
    rng = np.random.default_rng(seed)
    unit = np.append(np.zeros(heavy, dtype=np.int64), rng.integers(1, others + 1, heavy))
    group = np.array(list("abcde"))[rng.integers(0, 5, len(unit))]
    order = rng.permutation(len(unit))
    return pa.table({"unit": unit[order], "g": group[order], "x": np.arange(1.0, len(unit) + 1)})


TABLE = table()
UNITS = dict(zip(TABLE["x"].to_pylist(), TABLE["unit"].to_pylist(), strict=True))


def kept(source, bounding, by=("g",), known=None, name="x"):
    """The rows that are kept, as (key, ..., value) with how often; and how many units each key has."""
    local = source if isinstance(source, Local) else Local(from_memory(source))
    found = local.tally(name, IDS, Keyed(by, known), bounding)
    names = list(zip(*(array.to_pylist() for array in found.keys), strict=True))
    entries = zip(found.tally.groups.tolist(), found.tally.rungs.tolist(), found.tally.counts.tolist(), strict=True)
    rows = Counter({(*names[group], rung): count for group, rung, count in entries})
    return rows, dict(zip(names, found.units.tolist(), strict=True))


@pytest.mark.medium
@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(1, 6), SALTS)
def test_no_unit_has_more_rows_or_groups_than_it_may(most, groups, salt):
    """Each unit keeps as many rows as it may: the bound, or all that it has in its groups."""
    rows, units = kept(TABLE, Bounding("unit", most, groups, salt))
    assert set(rows.values()) == {1}
    have = Counter((unit, group) for unit, group in zip(*(TABLE[n].to_pylist() for n in ("unit", "g")), strict=True))
    found = Counter(UNITS[x] for _, x in rows)
    for unit in set(UNITS.values()):
        mine = {group for group, x in rows if UNITS[x] == unit}
        assert len(mine) <= min(groups, most)
        assert found[unit] <= most
        if groups < most:
            assert len(mine) == min(groups, sum(u == unit for u, _ in have)) or found[unit] == most
            assert found[unit] <= sum(have[unit, group] for group in "abcde")
        else:
            assert found[unit] == min(most, sum(have[unit, group] for group in "abcde"))
    for (group,), count in units.items():
        assert count == len({UNITS[x] for g, x in rows if g == group})


def test_the_bound_bites():
    """Without a bound the heavy unit has half of the rows and all groups."""
    rows, units = kept(TABLE, None)
    assert sum(UNITS[x] == 0 for _, x in rows) == len(rows) / 2 == 300
    assert {group for group, x in rows if UNITS[x] == 0} == set("abcde")
    assert sum(units.values()) == len(rows)


def entries(local, bounding):
    """A tally and the sums of groups as a dict, whatever numbers its groups have."""
    found, rows = (local.tally("x", FINE, Keyed(("g",)), bounding), local.rows("x", Keyed(("g",)), bounding))
    tally, (names,) = found.tally, (array.to_pylist() for array in found.keys)
    parts = zip(*(part.tolist() for part in (tally.groups, tally.rungs, tally.counts)), strict=True)
    counts, (sums,) = rows.totals(LATTICE.steps)
    entries = {(names[group], rung): (count, 0) for group, rung, count in parts}
    entries |= {(name, None): each for name, *each in zip(names, counts.tolist(), sums.tolist(), strict=True)}
    assert rows.units.tolist() == found.units.tolist()
    return entries, Counter(dict(zip(names, found.units.tolist(), strict=True)))


@pytest.mark.medium
@settings(max_examples=15, deadline=None)
@given(st.integers(1, 20), st.integers(1, 6), SALTS)
def test_a_unit_that_is_removed_takes_its_kept_rows_and_nothing_else(most, groups, salt):
    """The tally of all is that of the others and that of the unit alone, entry by entry, sums and units too."""
    bounding = Bounding("unit", most, groups, salt)
    mine = pa.compute.equal(TABLE["unit"], 0)
    parts = [TABLE, TABLE.filter(pa.compute.invert(mine)), TABLE.filter(mine)]
    (whole, units), (rest, others), (own, one) = (entries(Local(from_memory(part)), bounding) for part in parts)
    added = dict(rest)
    for entry, (count, total) in own.items():
        before = added.get(entry, (0, 0))
        added[entry] = (before[0] + count, before[1] + total)
    assert {entry: tuple(each) for entry, each in whole.items()} == {e: tuple(each) for e, each in added.items()}
    assert units == others + one
    assert set(one.values()) == {1}
    assert sum(count for (_, rung), (count, _) in own.items() if rung is None) == min(most, 300) or groups < most


def in_batches(data, size):
    """The same table, read so many rows at a time."""
    stream = from_memory(data)

    def batches(keys, values):
        for start in range(0, len(data), size):
            yield from from_memory(data.slice(start, size)).batches(keys, values)

    return Local(TableStream(stream.facts, stream.others, stream.kinds, batches, lambda: len(data)))


@pytest.mark.medium
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(20, 700), st.integers(1, 20), st.integers(1, 6), SALTS)
def test_neither_the_order_nor_the_batches_matter(seed, size, most, groups, salt):
    """The kept rows are the same multiset, also when many rows are equal."""
    rounded = pa.compute.add(pa.compute.floor(pa.compute.divide(TABLE["x"], 50)), 1)
    data = TABLE.set_column(2, "x", rounded)
    bounding = Bounding("unit", most, groups, salt)
    shuffled = data.take(np.random.default_rng(seed).permutation(len(data)))
    assert kept(in_batches(shuffled, size), bounding) == kept(data, bounding)


@pytest.mark.medium
@settings(max_examples=15, deadline=None)
@given(st.integers(1, 40), st.integers(1, 6), SALTS, st.integers(0, 599))
def test_duckdb_keeps_the_same_rows(most, groups, salt, held):
    """Beyond some number of rows DuckDB chooses; rows and units are the same, with keys of text and pairs of keys."""
    bounding = Bounding("unit", most, groups, salt)
    data = TABLE.append_column("h", pa.compute.multiply(pa.compute.cast(TABLE["unit"], "int8"), -1))
    data = data.append_column("y", pa.array(np.where(np.arange(600) % 3, np.nan, -np.arange(600.0) % 7)))
    local = in_batches(data, 250)
    known = local.known_keys(("g",), [["e", "b", "nobody"]])
    cases = [{}, {"by": ("g", "h")}, {"known": known}, {"name": None}, {"by": ("x",)}]

    def columns():
        parts = local.columns(["y", "x"], bounding)
        rows = zip(*(np.concatenate(list(parts[name].chunks())).tolist() for name in ("x", "y")), strict=True)
        return sorted((x, str(y)) for x, y in rows)

    here = [kept(local, bounding, **case) for case in cases], columns()
    with mock.patch("nobounds.engines.streams.bounded.MOST", held):
        assert ([kept(local, bounding, **case) for case in cases], columns()) == here


@pytest.mark.parametrize("kind", [pa.string(), pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(20, 3), pa.date32()])
def test_units_of_every_type_are_bounded_alike(kind):
    """Each unit keeps two rows, of any of its five with some salt, in memory as in DuckDB."""
    units = pa.array(np.repeat(np.arange(40), 5)).cast(pa.int32()).cast(kind)
    data = pa.table({"unit": units, "g": ["a"] * 200, "x": np.arange(1.0, 201)})
    every = set()
    for salt in range(12):
        rows, _ = kept(data, Bounding("unit", 2, 2, salt))
        ids = np.array(sorted(x for _, x in rows)) - 1
        assert np.array_equal(ids // 5, np.repeat(np.arange(40), 2))
        every |= set(ids.tolist())
        with mock.patch("nobounds.engines.streams.bounded.MOST", 0):
            assert kept(data, Bounding("unit", 2, 2, salt))[0] == rows
    assert len(every) > 150


# --- chances, over units and salts; the hashes are fixed, so these tests do not flake

MANY, ROUNDS = 400, 25


def chi_square(counts, chances):
    """The p-value of counts, a row for each experiment, under the same chances in all."""
    counts = np.asarray(counts, dtype=np.float64)
    expected = counts.sum(axis=1, keepdims=True) * np.asarray(chances)
    statistic = ((counts - expected) ** 2 / expected).sum()
    return stats.chi2.sf(statistic, counts.size - len(counts))


@pytest.fixture(scope="module")
def choices():
    """For each unit how often each of its five rows was kept, two at a time; and each of its groups, one at a time."""
    places = np.tile(np.arange(5), MANY)
    data = {"unit": np.repeat(np.arange(MANY), 5), "g": places, "x": np.arange(1.0, 5 * MANY + 1)}
    rows, groups = np.zeros((MANY, 5), dtype=int), np.zeros((MANY, 5), dtype=int)
    salts = np.random.default_rng(7).integers(0, 2**62, ROUNDS).tolist()
    for salt in salts:
        for counts, most in [(rows, 2), (groups, 1)]:
            found, _ = kept(data, Bounding("unit", 2, most, salt))
            ids = np.array([x for _, x in found]) - 1
            assert len(ids) == MANY * most
            counts[ids // 5, ids % 5] += 1
    return rows, groups


def row_chances(rows):
    """The least p-value over the five places: how often the row there was kept, in all and unit by unit."""
    found = [stats.binomtest(int(total), MANY * ROUNDS, 2 / 5).pvalue for total in rows.sum(axis=0)]
    each = ((rows - ROUNDS * 2 / 5) ** 2 / (ROUNDS * 2 / 5 * 3 / 5)).sum(axis=0)
    return min(*found, *stats.chi2.sf(each, MANY))


@pytest.mark.medium
def test_each_row_is_kept_with_the_same_chance(choices):
    """Two of five: 2 / 5 for each row, for each unit on its own over salts; other chances are noticed."""
    rows, _ = choices
    assert rows.sum() == 2 * MANY * ROUNDS
    assert row_chances(rows) > 1e-6
    rng = np.random.default_rng(8)
    assert row_chances(rng.binomial(ROUNDS, 2 / 5, (MANY, 5))) > 1e-6
    assert row_chances(rng.binomial(ROUNDS, [0.44, 0.39, 0.39, 0.39, 0.39], (MANY, 5))) < 1e-6
    assert row_chances(rng.permuted(np.tile([ROUNDS, ROUNDS, 0, 0, 0], (MANY, 1)), axis=1)) < 1e-6  # one salt for all


@pytest.mark.medium
def test_each_group_of_a_unit_is_chosen_with_the_same_chance(choices):
    """One of five, for each unit on its own; an order by hashes that are combined by XOR is noticed."""
    _, groups = choices
    assert chi_square(groups, [1 / 5] * 5) > 1e-6
    rng = np.random.default_rng(9)
    skewed = np.stack([rng.multinomial(ROUNDS, rng.permutation([2, 2, 2, 1, 1]) / 8) for _ in range(MANY)])
    assert chi_square(skewed, [1 / 5] * 5) < 1e-6


def test_rows_of_a_unit_start_anywhere():
    """The kept rows of units with as many rows are each (r / rows)-th, from each start equally often."""
    data = {"unit": np.repeat(np.arange(6000), 5), "g": ["a"] * 30000, "x": np.arange(1.0, 30001)}
    found, _ = kept(data, Bounding("unit", 2, 2, 11))
    ids = np.sort(np.array([x for _, x in found])) - 1
    patterns = Counter(map(tuple, (ids % 5).reshape(-1, 2).tolist()))
    assert len(patterns) == 5
    assert stats.chisquare(list(patterns.values())).pvalue > 1e-6


@pytest.mark.medium
def test_other_salts_choose_other_rows():
    """A salt decides, and the same one decides the same."""
    found = [kept(TABLE, Bounding("unit", 3, 3, salt))[0] for salt in [1, 1, 2, 2**62 - 1, 0]]
    assert found[0] == found[1]
    assert len({tuple(sorted(rows)) for rows in found}) == 4


# --- what is left out


@pytest.mark.medium
def test_rows_without_a_unit_a_key_or_a_value_use_up_nothing():
    """They are left out before a unit is bounded."""
    data = pa.table(
        {
            "unit": pa.array([1, 1, 1, 1, None, None]),
            "g": pa.array(["a", None, "b", "b", "a", None]),
            "x": pa.array([5.0, 6.0, None, float("nan"), 7.0, 8.0]),
        }
    )
    for salt in range(5):
        assert kept(data, Bounding("unit", 1, 1, salt)) == (Counter({("a", 5): 1}), {("a",): 1})


def test_without_a_value_each_row_counts():
    """A row whose value is missing counts as a row, if it has a unit and a key."""
    data = pa.table({"unit": [1, 1, 2, None], "g": ["a", "a", "a", "a"], "x": [None, 1.0, float("nan"), 2.0]})
    rows, units = kept(data, Bounding("unit", 5, 5, 1), name=None)
    assert (rows, units) == (Counter({("a", 0): 3}), {("a",): 2})


@pytest.mark.medium
def test_several_columns_make_a_key():
    """A group is a pair of keys, and a unit is bounded in pairs; a row that lacks one of them is left out."""
    g, h = ["a", "a", "b", "b", None, "a"], [1, 2, 1, 2, 1, None]
    data = pa.table({"unit": [1] * 6, "g": g, "h": h, "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    every = Counter({("a", 1, 1): 1, ("a", 2, 2): 1, ("b", 1, 3): 1, ("b", 2, 4): 1})
    assert kept(data, Bounding("unit", 9, 9, 1), by=("g", "h"))[0] == every
    chosen = set()
    for salt in range(20):
        rows, units = kept(data, Bounding("unit", 9, 1, salt), by=("g", "h"))
        assert len(rows) == 1
        assert rows <= every
        assert sum(units.values()) == 1
        chosen |= set(rows)
    assert chosen == set(every)


@pytest.mark.medium
def test_public_keys_are_chosen_from_first():
    """Rows in other groups do not use up what a unit may have."""
    data = pa.table({"unit": [1] * 102, "g": ["z"] * 100 + ["a"] * 2, "x": np.arange(1.0, 103)})
    local = Local(from_memory(data))
    known = local.known_keys(("g",), [["b", "a"]])
    for salt in range(5):
        rows, _ = kept(local, Bounding("unit", 2, 1, salt), known=known)
        assert rows == Counter({("a", 101): 1, ("a", 102): 1})
    assert any(("a", 101) not in kept(local, Bounding("unit", 2, 2, salt))[0] for salt in range(5))


def test_a_column_can_be_unit_key_and_value():
    """One name may be asked for in each role."""
    data = pa.table({"unit": [1, 1, 2], "g": [3, 3, 4]})
    assert kept(data, Bounding("unit", 1, 1, 5), by=("unit",), name="unit") == (
        Counter({(1, 1): 1, (2, 2): 1}),
        {(1,): 1, (2,): 1},
    )


@pytest.mark.parametrize(
    "keys",
    [
        pa.array([True, False, None]),
        pa.array([1, 2, None], pa.uint8()),
        pa.array([1.5, float("nan"), -0.0], pa.float32()),
        pa.array([1, 2, None], pa.date32()),
        pa.array([1, 2, None], pa.timestamp("ns")),
        pa.array([1, 2, None], pa.timestamp("ms", "Asia/Tokyo")),
        pa.array([1, 2, None], pa.time32("s")),
        pa.array([1, 2, None], pa.decimal128(10, 2)),
        pa.array([b"a", b"\xff", None]),
        pa.array(["a", "é", None]).dictionary_encode(),
        pa.array([None, None, None]),
    ],
    ids=lambda keys: str(keys.type),
)
def test_keys_and_units_keep_their_types(keys):
    """What comes back from the bounding is what would be there without one."""
    data = pa.table({"unit": keys, "g": keys, "x": [1.0, 2.0, 3.0]})
    local = Local(from_memory(data))
    free = local.tally("x", IDS, Keyed(("g",)), None)
    found = local.tally("x", IDS, Keyed(("g",)), Bounding("unit", 1, 1, 3))
    assert found.keys[0].type == free.keys[0].type == local.stream.kinds["g"]
    assert sorted(map(str, found.keys[0].to_pylist())) == sorted(map(str, free.keys[0].drop_null().to_pylist()))


# --- other questions


def test_columns_and_marks_are_of_the_kept_rows():
    """With several values a row stays whole, and each row that is kept has a mark."""
    data = {"unit": np.repeat([1, 2, 3], [5, 1, 2]), "x": np.arange(8.0), "y": np.where(np.arange(8) % 2, np.nan, 1)}
    local, bounding = Local(from_memory(data)), Bounding("unit", 2, 2, 4)
    columns = local.columns(["x", "y"], bounding)
    x, y = (np.concatenate(list(columns[name].chunks())) for name in ["x", "y"])
    assert len(x) == columns["x"].rows() == 5
    assert np.array_equal(np.isnan(y), x % 2 == 1)
    assert columns["x"].facts.unit == ("unit", 2)
    marks = local.row_marks(bounding)
    assert sum(map(len, marks.chunks())) == marks.rows() == 5
    assert local.row_marks(None).rows() == 8


def test_rows_of_units():
    """One record a unit: all of its rows, whatever they hold; rows without a unit are nobody's."""
    data = pa.table({"unit": ["a", "b", None, "a", "a", None], "x": [1.0, None, 2.0, float("nan"), 3.0, 4.0]})
    column = Local(from_memory(data)).rows_of_units("unit")
    facts = column.facts
    assert sorted(np.concatenate(list(column.chunks())).tolist()) == [1, 3]
    assert (column.rows(), facts.integral, facts.nullable, facts.lower, facts.unit) == (
        2,
        True,
        False,
        1,
        ("unit", 1),
    )
    sizes = np.concatenate(list(Local(from_memory(TABLE)).rows_of_units("unit").chunks()))
    assert sorted(sizes.tolist()) == sorted(Counter(UNITS.values()).values())


@pytest.mark.parametrize("data", [TABLE.slice(0, 0), TABLE.set_column(0, "unit", pa.nulls(600, pa.int64()))])
def test_a_table_of_nobody_has_no_groups(data):
    """No rows, or none of a unit: the shape of the answer is the same."""
    found = Local(from_memory(data)).tally("x", FINE, Keyed(("g",)), Bounding("unit", 3, 3, 1))
    assert [len(array) for array in found.keys] == [0]
    assert (len(found.units), len(found.tally.rungs)) == (0, 0)
    assert Local(from_memory(data)).rows_of_units("unit").rows() == 0


@pytest.mark.parametrize("most", [10**6, 10**15, 2**63, 10**30])
def test_a_bound_may_be_larger_than_any_unit(most):
    """Then all rows are kept."""
    assert kept(TABLE, Bounding("unit", most, most, 1))[0] == kept(TABLE, None)[0]


def through_sqlite(request):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (unit, g, x)")
    connection.executemany("insert into t values (?, ?, ?)", list(zip(*TABLE.to_pydict().values(), strict=True)))
    return from_query(connection, "select * from t")


def through_postgres(request):
    connection = psycopg.connect(request.getfixturevalue("postgres"))
    request.addfinalizer(connection.close)
    rows = ", ".join(f"({unit}, '{g}', {x}::float8)" for unit, g, x in zip(*TABLE.to_pydict().values(), strict=True))
    return from_query(connection, f"select * from (values {rows}) as t (unit, g, x)")


def through_duckdb(request):
    connection = duckdb.connect()
    request.addfinalizer(connection.close)
    connection.register("t", TABLE)
    return from_relation(connection.table("t"))


@pytest.mark.parametrize("through", [through_sqlite, through_postgres, through_duckdb])
def test_queries_are_bounded_like_tables(through, request):
    """No unit has more rows and groups than it may, also by connections that work in one thread only."""
    local = Local(through(request))
    rows, _ = kept(local, Bounding("unit", 3, 2, 5))
    assert max(Counter(UNITS[x] for _, x in rows).values()) == 3
    assert max(Counter(UNITS[x] for x in {x for _, x in rows}).values()) <= 3
    assert max(len({g for g, x in rows if UNITS[x] == unit}) for unit in set(UNITS.values())) == 2
    assert local.rows_of_units("unit").rows() == len(set(UNITS.values()))
    if through is not through_sqlite:  # whose units are text
        assert rows == kept(TABLE, Bounding("unit", 3, 2, 5))[0]


@pytest.mark.medium
def test_a_query_that_fails_while_it_is_bounded_tells_nothing(postgres):
    """The error is that of the query, whatever stands between."""
    with psycopg.connect(postgres) as connection:
        query = "select x % 5 as unit, 'a' as g, 1 / (86421 - x) as x from generate_series(1, 100000) as t (x)"
        with pytest.raises(ValueError, match=r"^the query failed; run it on its own to see why$"):
            kept(Local(from_query(connection, query)), Bounding("unit", 3, 2, 5))


LATIN = nb.Csv(header=True, encoding="latin-1")


@pytest.mark.medium
def test_people_whose_names_differ_outside_of_utf8_are_different_units(tmp_path):
    """One of two people of a Latin-1 file leaves, and the other's rows stay as they were; as UTF-8 all are missing."""

    def tallied(rows, salt, csv=LATIN):
        path = tmp_path / "people.csv"
        path.write_bytes(b"u,g,x\n" + b"".join(b"%s,%s,1\n" % row for row in rows))
        keyed = Keyed(("g",), None)
        found = Local(from_paths([path], csv)).tally("x", FINE, keyed, Bounding("u", 4, 4, salt))
        return dict(zip(found.keys[0].to_pylist(), np.bincount(found.tally.groups, found.tally.counts), strict=True))

    other = [("Möller".encode("latin-1"), b"b")] * 4
    for salt in range(6):
        both = tallied([("Müller".encode("latin-1"), b"a")] * 40 + other, salt)
        assert both == {"a": 4, "b": 4}
        assert tallied(other, salt) == {"b": 4}
        assert tallied(other, salt, nb.Csv(header=True)) == {}
