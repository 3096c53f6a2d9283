"""Passes that run in PostgreSQL: groups, what is read again, and the answers of each way to the rows."""

import random
from itertools import pairwise

import numpy as np
import psycopg
import psycopg2
import pyarrow as pa
import pytest
from support.pushed import INF, LATTICES, MAX, NAN, PASSES, records, same, store

import nobounds as nb
from nobounds.counting.histogram import Counted
from nobounds.counting.lattice import Beyond, Outside, Total
from nobounds.counting.scan import gathered, scan
from nobounds.engines.source import Keyed
from nobounds.engines.sql.database import from_table
from nobounds.engines.sql.pushed.snapshot import Session
from nobounds.engines.streams.local import Local
from nobounds.ladders.ladder import Ladder

KEYS = {"g text": ["a", "A", "a ", "", "é", None], "g float8": [0.0, -0.0, NAN, 1.5, None, INF]}
KEYS |= {"g numeric": ["1.0", "1.00", "1", "NaN", "2", None], "g date": ["2024-01-01", "infinity", None, "0001-01-01"]}


@pytest.mark.medium
@pytest.mark.parametrize("column", KEYS)
def test_groups_are_those_of_fetched_rows(reader, writer, column):
    """Their keys, tallies, counts and sums; with keys that are public, and with those of the table."""
    rng = np.random.default_rng(3)
    rows = [
        (KEYS[column][k % len(KEYS[column])], None if k % 7 == 0 else x) for k, x in enumerate(rng.normal(0, 9, 300))
    ]
    store(writer, "grouped", f"{column}, x float8", [*rows, (KEYS[column][0], MAX), (KEYS[column][0], INF)])
    pushed = Local(from_table(reader, "public.grouped"))
    there = pushed._elsewhere()
    fetched = Local(there.snapshot.fetched)
    ladder, maps = Ladder.float_bits(16), (LATTICES[0].steps, Outside(3.0, upwards=True), Beyond(0.5, -1, 4.0))
    known = fetched.tally("x", ladder, Keyed(("g",)), None).keys
    some = (known[0].take(pa.array([1, 0])),)
    for keyed in (Keyed(("g",)), Keyed(("g",), some), Keyed(("g",), some, units=True)):
        for name in ("x", None):
            assert listed(pushed.tally(name, ladder, keyed, None)) == listed(fetched.tally(name, ladder, keyed, None))
            one, other = (each.rows(name, keyed, None) for each in (pushed, fetched))
            assert summed(one, maps) == summed(other, maps)
            kept = np.array([k for k, key in enumerate(one.keys[0].to_pylist()) if key == some[0][0].as_py()])
            taken = one.only(kept, (one.keys[0].take(pa.array(kept)),))
            same_key = {str(key): values for key, *values in summed(other, maps)}
            assert [values for _, *values in summed(taken, maps)] == [same_key[str(some[0][0].as_py())]]
            assert same(Counted(ladder)([gathered(taken.records())]), scan(taken.records(), Counted(ladder), None))


def listed(tallied):
    """The number of units, the rungs and the counts of each key with records."""
    keys, tally = tallied.keys[0].to_pylist(), tallied.tally
    starts = tally.starts(len(keys))
    entries = [(tally.rungs[a:b].tolist(), tally.counts[a:b].tolist()) for a, b in pairwise(starts)]
    units = [*tallied.units.tolist(), *[0] * len(keys)]
    return sorted((str(key), unit, *entry) for key, unit, entry in zip(keys, units, entries, strict=False) if entry[0])


def summed(rows, maps):
    """The key, the count and the sums of each group with records."""
    counts, sums = rows.totals(*maps)
    keys = rows.keys[0].to_pylist()
    return sorted((str(key), int(n), *map(int, each)) for key, n, *each in zip(keys, counts, *sums, strict=False) if n)


def test_what_was_read_is_not_read_again(reader, writer, monkeypatch):
    """Classes that are as fine serve again, and a column with few values is read once for all passes."""
    queries = []
    monkeypatch.setattr(Session, "rows", lambda self, query: queries.append(query) or rows(self, query))
    for kind, step, number in (("float8", 1e-7, 2), ("int", 1, 1)):
        values = 1 + np.arange(3000) * step
        store(writer, "again", f"x {kind}", [(x,) for x in values.tolist()])
        pushed, chunks = records(reader, "again"), [values.astype(float)]
        queries.clear()
        for each in (PASSES[1], PASSES[0], PASSES[1], PASSES[3], PASSES[3], Total(LATTICES[0]), PASSES[0]):
            assert same(scan(pushed, each, None), each(chunks))
        assert len(queries) == number, queries
        del pushed


FARES = np.random.default_rng(1).lognormal(3, 1, 3000).tolist()
ROWS = [("abc"[k % 3], None if k % 50 == 0 else fare, k % 90) for k, fare in enumerate(FARES)]
IN_MEMORY = pa.table({"g": [g for g, _, _ in ROWS], "fare": pa.array([x for _, x, _ in ROWS])})
IN_MEMORY = IN_MEMORY.append_column("age", pa.array([a for _, _, a in ROWS], pa.int32()))
ASKED = {
    "quantile": lambda t: t.quantile("fare", 0.9, epsilon=1, rng=random.Random(7)),
    "whole numbers": lambda t: t.median("age", epsilon=1, rng=random.Random(7)),
    "maximum": lambda t: t.maximum("fare", epsilon=1, rng=random.Random(7)),
    "sum": lambda t: t.sum("fare", epsilon=1, rng=random.Random(7)),
    "mean": lambda t: t.mean("age", epsilon=1, rng=random.Random(7)),
    "variance": lambda t: t.variance("fare", epsilon=3, rng=random.Random(7)),
    "count": lambda t: t.count("fare", epsilon=1, rng=random.Random(7)),
    "histogram": lambda t: t.histogram("age", edges=[20, 40, 60], epsilon=1, rng=random.Random(7)),
    "correlation": lambda t: t.correlation("fare", "age", epsilon=3, rng=random.Random(7)),
    "describe": lambda t: t.describe(["fare", "age"], epsilon=4, rng=random.Random(7)),
    "one column described": lambda t: t.describe(["fare"], epsilon=4, rng=random.Random(7)),
    "several of one column": lambda t: t.agg("mean(fare)", "median(fare)", epsilon=4, rng=random.Random(7)),
    "one of a column": lambda t: t.agg("mean(fare)", epsilon=4, rng=random.Random(7)),
    "group sum": lambda t: t.group_by("g", keys=["a", "b", "c"]).sum("fare", epsilon=1, rng=random.Random(7)),
    "group mean": lambda t: t.group_by("g", delta=1e-6).mean("fare", epsilon=3, rng=random.Random(7)),
    "group quantile": lambda t: t.group_by("g", delta=1e-6).quantile("fare", 0.3, epsilon=3, rng=random.Random(7)),
    "group quantile of whole numbers": lambda t: t.group_by("g", delta=1e-6).median(
        "age", epsilon=3, rng=random.Random(7)
    ),
    "group count": lambda t: t.group_by("g", delta=1e-6).count(epsilon=1, rng=random.Random(7)),
}


@pytest.fixture(scope="module")
def expected():
    """What the same rows answer in memory."""
    return {name: told(ask(nb.Table(IN_MEMORY))) for name, ask in ASKED.items()}


@pytest.fixture(scope="module", params=["fetched", "psycopg", "psycopg2"])
def asked(request, postgres, writer):
    """The same rows in PostgreSQL, fetched and where they are."""
    store(writer, "asked", "g text, fare float8, age int", ROWS)
    connection = (psycopg2 if request.param == "psycopg2" else psycopg).connect(postgres)
    fetched = request.param == "fetched"
    yield nb.Table.sql(connection, "select * from asked", rows_of="result" if fetched else "source"), fetched
    connection.close()


def told(release):
    """All that a release says, but for what it says about queries."""
    text = release.to_json() if hasattr(release, "to_json") else str(release)
    return text.replace(', "rows_of": "query result"', "")


FETCHED = ("correlation", "describe", "one column described", "several of one column", "group quantile")


@pytest.mark.medium
@pytest.mark.parametrize("name", ASKED)
def test_answers_are_the_same_from_everywhere(name, asked, expected, writer, monkeypatch):
    """With the same seed, in memory, fetched and pushed down; and no snapshot is left open."""
    table, fetched = asked
    queries = []
    monkeypatch.setattr(Session, "rows", lambda self, query: queries.append(query) or rows(self, query))
    release = ASKED[name](table)
    assert told(release) == expected[name]
    # Several columns or statistics are fetched together, and so are groups of numbers that are hardly ever on one rung.
    assert bool(queries) != (fetched or name in FETCHED)
    writer.execute("set lock_timeout = '5s'; alter table asked alter age set default 1")  # waits for snapshots


rows = Session.rows
