"""The same table from every engine gives the same tally, to the last bit; and tallies are exact, however cut."""

import gzip
import sqlite3
from fractions import Fraction
from itertools import pairwise

import adbc_driver_postgresql.dbapi
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import psycopg2
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.csv_files import headed

from nobounds.counting.histogram import Histogram
from nobounds.counting.lattice import Lattice
from nobounds.counting.scan import gathered
from nobounds.counting.tally import BITS, Tally, Tallying, merged
from nobounds.engines.files.paths import expand, from_paths
from nobounds.engines.memory.tables import from_lazy, from_memory
from nobounds.engines.source import Keyed
from nobounds.engines.sql.database import from_query
from nobounds.engines.sql.duck import from_relation
from nobounds.engines.streams.local import Local
from nobounds.ladders.ladder import Ladder

FINE = Ladder.float_bits(BITS)
CENT = Ladder.grid(Fraction(1, 100))
LADDERS = [Ladder.float_bits(8), FINE, Ladder.grid(1), CENT, Ladder.float_bits(16, floor=-1022)]


LATTICE = Lattice.of(Fraction(-7), Fraction(1000), integral=False)


# --- the tables


def near_edges(rng, number):
    """Floats on edges of rungs, and the floats next to them on either side."""
    found = []
    for ladder in LADDERS:
        for rung in rng.integers(-3000, 3000, number // 20).tolist() + rng.integers(1 << 20, size=9).tolist():
            found.append(float(ladder.map.interval(int(np.clip(rung, ladder.first + 1, ladder.last - 1)))[0]))
    powers = 2.0 ** rng.integers(-1074, 1024, number // 10)
    edges = np.concatenate([found, powers, -powers])
    return rng.permutation(np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf)]))[:number]


def doubles(rng, rows):
    """A quarter on or beside edges; the rest of all magnitudes; and every odd one."""
    odd = np.array([0.0, -0.0, 5e-324, -5e-324, 2.2250738585072009e-308, np.inf, -np.inf, np.nan, np.finfo(float).max])
    values = np.concatenate([np.repeat(odd, 20), near_edges(rng, rows // 4)])
    rest = rng.normal(size=rows - len(values)) * 10 ** rng.uniform(-6, 9, rows - len(values))
    return rng.permutation(np.append(values, np.where(rng.random(len(rest)) < 0.3, np.round(rest, 2), rest)))


def singles(rng, rows):
    """Floats of 32 bits."""
    values = doubles(rng, rows)
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(np.float32)


def integers(rng, rows):
    """Whole numbers, some of them more than a float can tell apart, some on edges of wide rungs."""
    powers = 2 ** rng.integers(0, 62, rows // 4) + rng.integers(-1, 2, rows // 4)
    wide = rng.integers(-(2**63), 2**63 - 1, rows // 4)
    few = rng.integers(-100, 70_000, rows - 2 * (rows // 4))
    return rng.permutation(np.concatenate([powers, wide, few]))


ROWS = {doubles: 100_000, singles: 20_000, integers: 20_000}
WORDS = ["a", "b", "é", "two words", "x,y", '"', "3", "NULL"]


@pytest.fixture(scope="module", params=ROWS, ids=lambda make: make.__name__)
def table(request):
    """A table of values and two keys, one of text and one of whole numbers."""
    rng = np.random.default_rng(20)
    rows = ROWS[request.param]
    words = pa.array(WORDS).take(rng.integers(0, len(WORDS), rows))
    return pa.table({"x": request.param(rng, rows), "g": words, "h": rng.integers(-2, 3, rows)})


def arrays(table):
    """The columns as numpy arrays."""
    return {"x": table["x"].to_numpy(), "g": np.array(table["g"].to_pylist()), "h": table["h"].to_numpy()}


def csv(table, gap=","):
    """The table as text: floats as Python writes them."""
    rows = zip(*table.to_pydict().values(), strict=True)
    quoted = (gap.join([str(x), '"' + g.replace('"', '""') + '"', str(h)]) for x, g, h in rows)
    return "\n".join([gap.join(table.column_names), *quoted]) + "\n"


# --- the engines: a table, a folder and the fixtures, to a Stream


def numpy_dict(table, folder, request):
    return from_memory(arrays(table))


def numpy_strided(table, folder, request):
    return from_memory({name: np.repeat(array, 2)[::-2] for name, array in arrays(table).items()})


def numpy_masked(table, folder, request):
    found = arrays(table)
    missing = np.isnan(found["x"])
    found["x"] = np.ma.array(np.where(missing, 7, found["x"]).astype(found["x"].dtype), mask=missing)
    return from_memory(found)


def numpy_structured(table, folder, request):
    found = arrays(table)
    rows = np.empty(len(table), dtype=[(name, array.dtype) for name, array in found.items()])
    for name, array in found.items():
        rows[name] = array
    return from_memory(rows)


def lists(table, folder, request):
    return from_memory(table.to_pydict())


def pandas_numpy(table, folder, request):
    return from_memory(pd.DataFrame(arrays(table)))


def pandas_nullable(table, folder, request):
    found = pd.DataFrame(arrays(table))
    return from_memory(found.astype({"x": str(found["x"].dtype).capitalize(), "g": "string", "h": "Int64"}))


def pandas_arrow(table, folder, request):
    return from_memory(table.to_pandas(types_mapper=pd.ArrowDtype))


def pandas_categories(table, folder, request):
    return from_memory(pd.DataFrame(arrays(table)).astype({"g": "category"}))


def polars_eager(table, folder, request):
    return from_memory(pl.from_arrow(table))


def polars_lazy(table, folder, request):
    return from_lazy(pl.from_arrow(table).lazy())


def arrow_table(table, folder, request):
    return from_memory(table)


def arrow_batches(table, folder, request):
    return from_memory(pa.Table.from_batches(table.to_batches(max_chunksize=7777)))


def arrow_reader(table, folder, request):
    return from_memory(table.to_reader(max_chunksize=5000))


def arrow_dictionary(table, folder, request):
    return from_memory(table.set_column(1, "g", table["g"].dictionary_encode()))


def duckdb_relation(table, folder, request):
    connection = duckdb.connect()
    request.addfinalizer(connection.close)
    connection.register("t", table)
    return from_relation(connection.table("t"))


def csv_file(table, folder, request):
    (folder / "t.csv").write_text(csv(table))
    return headed(folder / "t.csv")


def csv_gzipped(table, folder, request):
    (folder / "t.csv.gz").write_bytes(gzip.compress(csv(table).encode(), 1))
    return headed(folder / "t.csv.gz")


def tsv_glob(table, folder, request):
    for k, part in enumerate([table[:9000], table[9000:9001], table[9001:]]):
        (folder / f"part-{k}.tsv").write_text(csv(part, "\t"))
    return headed(folder / "part-*.tsv")


def parquet_file(table, folder, request):
    pq.write_table(table, folder / "t.parquet", row_group_size=30_000)
    return from_paths(expand(folder / "t.parquet"))


def parquet_glob(table, folder, request):
    for k, part in enumerate([table[:9000], table[9000:9000], table[9000:]]):
        pq.write_table(part, folder / f"part-{k}.parquet", row_group_size=4000, use_dictionary=k > 0)
    return from_paths(expand(str(folder / "part-?.parquet")))


def sqlite(table, folder, request):
    connection = sqlite3.connect(folder / "t.db")
    request.addfinalizer(connection.close)
    connection.execute("create table t (x, g, h)")
    connection.executemany("insert into t values (?, ?, ?)", zip(*table.to_pydict().values(), strict=True))
    return from_query(connection, "select * from t")


@pytest.fixture(scope="module")
def stored(table, request):
    """Where the table is on the server."""
    server = request.getfixturevalue("postgres")
    kind = {"double": "float8", "float": "float4", "int64": "int8"}[str(table["x"].type)]
    with psycopg.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(f"create table if not exists t_{kind} (x {kind}, g text, h int4); truncate t_{kind}")
        with cursor.copy(f"copy t_{kind} from stdin (format csv, header)") as copy:
            copy.write(csv(table))
    return server, f"select * from t_{kind}"


def postgres_psycopg(table, folder, request):
    server, query = request.getfixturevalue("stored")
    connection = psycopg.connect(server)
    request.addfinalizer(connection.close)
    return from_query(connection, query)


def postgres_psycopg2(table, folder, request):
    server, query = request.getfixturevalue("stored")
    connection = psycopg2.connect(server)
    request.addfinalizer(connection.close)
    return from_query(connection, query)


def postgres_numeric(table, folder, request):
    """The same numbers as decimals of many digits."""
    server, query = request.getfixturevalue("stored")
    connection = psycopg.connect(server, options="-c extra_float_digits=3")
    request.addfinalizer(connection.close)
    return from_query(connection, query.replace("*", "x::float8::text::numeric as x, g, h"))


def postgres_adbc(table, folder, request):
    server, query = request.getfixturevalue("stored")
    host = server.split()[0].removeprefix("host=")
    connection = adbc_driver_postgresql.dbapi.connect(f"postgresql:///postgres?user=nobounds&host={host}")
    request.addfinalizer(connection.close)
    return from_query(connection, query)


ENGINES = [
    *[numpy_dict, numpy_strided, numpy_masked, numpy_structured, lists],
    *[pandas_numpy, pandas_nullable, pandas_arrow, pandas_categories, polars_eager, polars_lazy],
    *[arrow_table, arrow_batches, arrow_reader, arrow_dictionary, duckdb_relation],
    *[csv_file, csv_gzipped, tsv_glob, parquet_file, parquet_glob],
    *[sqlite, postgres_psycopg, postgres_psycopg2, postgres_numeric, postgres_adbc],
]


# --- one table, one tally


def ordered(names, units, tally):
    """A tally with its groups in the order of their keys as text."""
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.argsort(order)
    rows = np.lexsort([tally.rungs, place[tally.groups]])
    return (
        [names[k] for k in order],
        [units[order], place[tally.groups][rows], tally.rungs[rows], tally.counts[rows]],
    )


def expected(table, by, ladder):
    """The tally, and the sums on a lattice, by numpy alone."""
    values = table["x"].to_numpy().astype(np.float64)
    names = list(zip(*(map(str, table[name].to_pylist()) for name in by), strict=True))
    keys = sorted(set(names))
    codes = np.array([keys.index(name) for name in names])
    present = ~np.isnan(values)
    units = np.bincount(codes[present], minlength=len(keys))
    sums = [LATTICE.steps(values[present & (codes == k)]).sum() for k in range(len(keys))]
    return ordered(keys, units, Tally.of(codes, values, ladder)), dict(zip(keys, sums, strict=True))


def named(keys):
    """The keys as texts."""
    return [tuple(map(str, key)) for key in zip(*(array.to_pylist() for array in keys), strict=True)]


@pytest.fixture(scope="module")
def references(table):
    """What every engine must find."""
    cases = [(("g",), FINE), (("g", "h"), CENT)]
    tallies = [(*case, expected(table, *case)) for case in cases]
    values = table["x"].to_numpy().astype(np.float64)
    return tallies, [Histogram.of([values], ladder) for ladder in LADDERS]


@pytest.mark.medium
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
def test_every_engine_makes_the_same_tally(engine, table, references, tmp_path, request):
    """Keys, units, rungs, counts and exact sums are the same numbers, and so are the histograms of the column."""
    local = Local(engine(table, tmp_path, request))
    tallies, histograms = references
    for by, ladder, ((names, parts), sums) in tallies:
        found = local.tally("x", ladder, Keyed(by), None)
        keys = named(found.keys)
        found_names, found_parts = ordered(keys, found.units, found.tally)
        assert found_names == names
        assert len(found_parts) == len(parts)
        for one, other in zip(found_parts, parts, strict=True):
            assert one.dtype == other.dtype == np.int64
            assert np.array_equal(one, other)
        rows = local.rows("x", Keyed(by), None)
        counts, (totals,) = rows.totals(LATTICE.steps)
        assert dict(zip(named(rows.keys), totals.tolist(), strict=True)) == sums
        assert counts.tolist() == rows.units.tolist() == rows.totals()[0].tolist()
    values = gathered(local.columns(["x"], None)["x"].chunks())
    for ladder, histogram in zip(LADDERS, histograms, strict=True):
        found = Histogram.of([values], ladder)
        assert np.array_equal(found.rungs, histogram.rungs)
        assert np.array_equal(found.counts, histogram.counts)


@pytest.mark.medium
def test_the_tables_are_hard():
    """Nearly a quarter of the records lie within two floats of an edge: a rounding would put them on another rung."""
    values = doubles(np.random.default_rng(20), 100_000)
    finite = values[np.abs(values) < 1e308]
    above, below = (np.nextafter(np.nextafter(finite, end), end) for end in (np.inf, -np.inf))
    moved = np.zeros(len(finite), dtype=bool)
    for ladder in LADDERS:
        rungs = ladder.rungs(finite)
        moved |= (ladder.rungs(above) != rungs) | (ladder.rungs(below) != rungs)
    assert np.mean(moved) > 0.2


# --- tallies


floats = st.floats(allow_nan=True, allow_infinity=True, width=64) | st.floats(-100, 100)
records = st.lists(st.tuples(st.integers(0, 4), floats), max_size=60)


def tallied(rows, ladder=FINE):
    groups = np.array([group for group, _ in rows], dtype=np.int64)
    return Tally.of(groups, np.array([x for _, x in rows], dtype=np.float64), ladder)


def parts_of(tally):
    return [part.tolist() for part in (tally.groups, tally.rungs, tally.counts)]


@pytest.mark.medium
@given(records, st.lists(st.integers(0, 60), max_size=4), st.booleans())
def test_tallies_of_parts_add_up_to_the_whole(rows, cuts, growing):
    """However the records are cut, and in which order the parts are added, the tally is the same."""
    ends = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    parts = [rows[a:b] for a, b in pairwise(ends)][::-1]
    whole = parts_of(tallied(rows))
    if growing:
        tally = Tallying(FINE)
        for part in parts:
            tally.add(np.array([g for g, _ in part], dtype=np.int64), np.array([x for _, x in part], dtype=np.float64))
        assert parts_of(tally.tally()) == whole
    else:
        assert parts_of(merged(tallied(part) for part in parts)) == whole
        assert parts_of(sum(map(tallied, parts), tallied([]))) == whole


@pytest.mark.medium
@given(records, st.sets(st.integers(0, 4)))
def test_some_groups_are_those_of_a_smaller_table(rows, wanted):
    """Groups that are picked are numbered anew, in order, with all their records."""
    kept = np.array(sorted(wanted), dtype=np.int64)
    fewer = [(sorted(wanted).index(group), x) for group, x in rows if group in wanted]
    assert parts_of(tallied(rows).only(kept)) == parts_of(tallied(fewer))
