"""One table in many hands: threads, forked processes, copies and pickles get its own answers, or a plain refusal."""

import copy
import os
import pickle
import random
import signal
import sqlite3
import sys
import threading
import time
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from flint import ctx
from support.csv_files import HEADER
from support.drivers import connection  # noqa: F401

import nobounds as nb
from nobounds.accounting import conversions
from nobounds.engines.streams import spool
from nobounds.noise.discrete import decide
from nobounds.tables.by_group.table import GroupedTable

ROWS, THREADS = 1500, 8
DATA = {
    "who": np.arange(ROWS) // 3,
    "town": [f"town {k % 4}" for k in range(ROWS)],
    "pay": np.random.default_rng(0).lognormal(3, 1, ROWS),
}
UNIT = {"rows": {}, "units": {"unit": "who", "rows_per_unit": 2}}
fork = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the test runner itself may have threads


@pytest.fixture(autouse=True)
def quick_switches():
    """Threads take over from each other in the middle of everything."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def sources(tmp_path):
    """The same table in all kinds of places; a function opens it."""
    frame = pd.DataFrame(DATA)
    frame.to_csv(tmp_path / "sales.csv", index=False)
    frame.to_parquet(tmp_path / "sales.parquet", index=False)
    lite = sqlite3.connect(tmp_path / "sales.db", check_same_thread=False)
    frame.to_sql("sales", lite, index=False)
    lite.commit()
    with duckdb.connect() as duck:
        duck.execute(f"create table sales as select * from '{tmp_path}/sales.parquet'")
        yield {
            "dict": lambda **how: nb.Table(DATA, **how),
            "pandas": lambda **how: nb.Table(frame, **how),
            "csv": lambda **how: nb.Table(tmp_path / "sales.csv", csv=HEADER, **how),
            "parquet": lambda **how: nb.Table(tmp_path / "sales.parquet", **how),
            "stream": lambda **how: nb.Table(Streamed(), **how),
            "lazy": lambda **how: nb.Table(pl.LazyFrame(DATA), **how),
            "relation": lambda **how: nb.Table(duck.table("sales"), **how),
            "duckdb": lambda **how: nb.Table.sql(duck, "select * from sales", **how),
            "sqlite": lambda **how: nb.Table.sql(lite, "select * from sales", **how),
        }
    assert lite.text_factory is str  # as it was, whoever read last
    lite.close()


class Streamed:
    """An Arrow stream that can be read again and again."""

    def __arrow_c_stream__(self, schema=None):
        return pa.table(DATA).to_reader(max_chunksize=100).__arrow_c_stream__(schema)


def answers(table, seed):
    """Seeded answers of all kinds."""
    rng = random.Random(seed)
    groups = table.group_by("town", delta=1e-6)
    found = [
        table.mean("pay", epsilon=1, rng=rng),
        table.count(epsilon=1, rng=rng),
        groups.quantile("pay", 0.9, epsilon=1, rng=rng),
    ]
    return [release.to_json() for release in found]


def at_once(work, many=THREADS):
    """What each of many threads makes of its number, all of them started together; errors stand for themselves."""
    start, found = threading.Barrier(many), [None] * many

    def run(k):
        start.wait()
        try:
            found[k] = work(k)
        except Exception as error:
            found[k] = error

    threads = [threading.Thread(target=run, args=(k,)) for k in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def forked(work):
    """A process that does some work and ends well if that is true."""
    pid = os.fork()
    if pid:
        return pid
    ended = 1
    try:
        ended = 0 if work() else 2
    finally:
        os._exit(ended)


def ended_well(pid, patience=120):
    """Whether a forked process has done so; one that hangs is ended."""
    for _ in range(patience * 20):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return status == 0
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


KINDS = ["dict", "pandas", "csv", "parquet", "stream", "lazy", "relation", "duckdb", "sqlite"]


@pytest.mark.medium
@pytest.mark.parametrize("unit", UNIT)
@pytest.mark.parametrize("name", KINDS)
def test_threads_get_the_answers_of_one_thread(name, unit, sources):
    """Eight threads that ask one table at once, each with a seed of its own, get what one after the other gets."""
    table = sources[name](**UNIT[unit])
    assert at_once(lambda k: answers(table, k)) == [answers(table, k) for k in range(THREADS)]


@pytest.mark.medium
def test_threads_share_a_connection_to_a_server(connection):  # noqa: F811
    """So do threads whose table is a query to PostgreSQL by one connection, of each driver."""
    query = "select i % 7 as k, i / 2.0 as pay from generate_series(1, 2000) i"
    table = nb.Table.sql(connection, query, rows_of="result")

    def ask(k):
        by_k = table.group_by("k", delta=1e-3).sum("pay", epsilon=1, rng=random.Random(k))
        return table.mean("pay", epsilon=1, rng=random.Random(k)), by_k.to_json()

    assert at_once(ask) == [ask(k) for k in range(THREADS)]


@pytest.mark.medium
@fork
@pytest.mark.parametrize("unit", UNIT)
@pytest.mark.parametrize("name", ["dict", "pandas", "csv", "parquet"])
def test_forked_processes_get_the_answers_of_their_parent(name, unit, sources):
    """Files and data in memory are read by forked processes as by the one that opened them, all at once."""
    table = sources[name](**UNIT[unit])
    wanted = [answers(table, k) for k in range(4)]
    pids = [forked(lambda k=k: answers(table, k) == wanted[k]) for k in range(3)]
    assert answers(table, 3) == wanted[3]
    assert [ended_well(pid) for pid in pids] == [True] * 3


@pytest.mark.medium
@fork
@pytest.mark.parametrize("name", ["stream", "lazy", "relation", "duckdb", "sqlite", "reader"])
def test_a_query_belongs_to_the_process_that_opened_it(name, sources, tmp_path):
    """A forked process that shares its connection, or its place in a file, is refused before anything is charged."""
    budget = nb.Budget(epsilon=50, delta=1e-3, path=tmp_path / "people.budget")
    made = sources | {"reader": lambda **how: nb.Table(pa.table(DATA).to_reader(), **how)}
    table = made[name](budget=budget)

    def refused():
        for ask in (lambda: table.mean("pay", epsilon=1), lambda: table.group_by("town", delta=1e-6), table.describe):
            with pytest.raises(
                ValueError, match=r"a query that another process has opened; open it again in this one$"
            ):
                ask()
        return budget.spent is None

    assert ended_well(forked(refused))
    assert table.count("pay", epsilon=20).value == pytest.approx(ROWS, abs=10) and len(budget.history) == 1


def column():
    """A column that is spooled from many batches of a reader, which can be read once."""
    reader = pa.table(DATA).to_reader(max_chunksize=50)
    return nb.Table(reader)._opened.source.columns(["pay"], None)["pay"]


def same_records(found, passes=30):
    """Whether passes over a column all give its records."""
    return all(np.array_equal(np.concatenate(list(found.chunks())), DATA["pay"]) for _ in range(passes))


@pytest.mark.parametrize("held", [0, 170, 10**6], ids=["in a file", "in a file at last", "in memory"])
@pytest.mark.parametrize("pread", [True, False], ids=["by place", "in turn"])
def test_threads_read_the_records_of_one_spool(pread, held, monkeypatch):
    """Threads that read one spooled column at once have its records, each of them, and it is spooled once.

    What can be written to is a copy.
    """
    monkeypatch.setattr(spool, "_HELD", held)
    if not pread:  # as on Windows
        monkeypatch.delattr(os, "pread")
    found = column()
    assert at_once(lambda _: same_records(found)) == [True] * THREADS
    for chunk in found.chunks():
        if chunk.flags.writeable:
            chunk[:] = -1.0
    assert same_records(found, 1)


@pytest.mark.medium
@fork
def test_forked_processes_read_the_records_of_one_spool(monkeypatch):
    """So do forked processes, which share the file and its position with this one."""
    monkeypatch.setattr(spool, "_HELD", 0)
    found = column()
    assert same_records(found, 1)
    pids = [forked(lambda: same_records(found, 200)) for _ in range(3)]
    assert same_records(found, 200)
    assert [ended_well(pid) for pid in pids] == [True] * 3


def test_a_reader_is_read_by_one_thread():
    """Of threads that ask the table of a reader, one is answered; the others are told that it can be read once."""
    table = nb.Table(pa.table(DATA).to_reader())
    found = at_once(lambda k: table.sum("pay", epsilon=1, rng=random.Random(k)))
    answered = [k for k, each in enumerate(found) if isinstance(each, nb.Release)]
    assert len(answered) == 1
    whole = nb.Table(DATA).sum("pay", epsilon=1, rng=random.Random(answered[0]))
    assert found[answered[0]].value == whole.value
    for each in found:
        assert isinstance(each, nb.Release) or str(each).startswith("the reader was read before, and can be read once")


@pytest.mark.medium
def test_threads_have_the_precision_that_they_asked_for():
    """The precision of ball arithmetic is one for all threads: no bound gets looser, nor stays so."""
    exact, before = conversions.rho_from_pure.__wrapped__, ctx.prec
    epsilons = [Fraction(1, k) for k in range(3, 40)]
    wanted = [exact(epsilon) for epsilon in epsilons]

    def work(k):
        if k % 2:
            return all(decide(lambda precision: int(ctx.prec == precision)) for _ in range(3000))
        return all([exact(epsilon) for epsilon in epsilons] == wanted for _ in range(40))

    assert at_once(work) == [True] * THREADS and ctx.prec == before


@pytest.mark.parametrize("unit", UNIT)
@pytest.mark.parametrize("kept", ["memory", "file", "none"])
def test_a_copy_is_charged_to_the_same_budget(kept, unit, tmp_path):
    """A copy of a table, or of its groups, is the table itself, and no budget is spent twice."""
    path = {"path": tmp_path / "people.budget"} if kept == "file" else {}
    budget = None if kept == "none" else nb.Budget(epsilon=5, **path)
    table = nb.Table(DATA, budget=budget, **UNIT[unit])
    groups = table.group_by("town", keys=["town 1"])
    for made in (copy.copy, copy.deepcopy):
        made(table).count(epsilon=1)
        made(groups).count(epsilon=1)
        made({"of mine": [table]})["of mine"][0].group_by("town", keys=["town 1"])
    assert budget is None or (len(budget.history) == 4 and budget.remaining == 1)


@pytest.mark.medium
@pytest.mark.parametrize("how", ["pickle", "cloudpickle"])
def test_no_table_is_pickled(how, sources, tmp_path):
    """It holds data and a budget: what would be another table with another budget elsewhere is refused in words."""
    dumps = pickle.dumps if how == "pickle" else pytest.importorskip("pyspark.cloudpickle").dumps
    for name in KINDS:
        table = sources[name](budget=nb.Budget(epsilon=5, path=tmp_path / f"{name}.budget"))
        for each in (table, table.group_by("town", delta=1e-6), lambda table=table: table.count(epsilon=1)):
            if how == "pickle" and not isinstance(each, nb.Table | GroupedTable):
                continue  # it takes no function of a function
            with pytest.raises((TypeError, pickle.PicklingError), match="a table cannot be pickled: it holds data"):
                dumps(each)
