"""Statistics of a table in PostgreSQL and DuckDB, beside the first version: rows moved and processor time, docs/sql.md.

`--server` says how to connect to a server of this machine with an empty database, for example
"host=/tmp/there dbname=postgres". `--first` is the folder `src` of the first version, which fetches every row:
git worktree add first 0c16156. The server's processor time is that of all its processes, from /proc.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import duckdb
import numpy as np
import psycopg

ROWS = 10**6
TURNS = 3
START, END = "<!-- pushed down: begin -->", "<!-- pushed down: end -->"
KEYS = [f"zone {k}" for k in range(20)]
ASKED = {
    "quantile": lambda t: t.quantile("fare", 0.9, epsilon=1, rng=random.Random(1)),
    "sum": lambda t: t.sum("fare", epsilon=1, rng=random.Random(1)),
    "mean": lambda t: t.mean("fare", epsilon=1, rng=random.Random(1)),
    "describe, 3 columns": lambda t: t.describe(["fare", "tip", "age"], epsilon=3, rng=random.Random(1)),
    "sum by 20 groups": lambda t: t.group_by("zone", keys=KEYS).sum("fare", epsilon=1, rng=random.Random(1)),
    "median by 20 groups": lambda t: t.group_by("zone", keys=KEYS).quantile(
        "fare", 0.5, epsilon=1, rng=random.Random(1)
    ),
}


class Moved:
    """Counts queries and the rows that they return, by psycopg's cursors on the server and by ADBC."""

    def __init__(self):
        self.queries = self.rows = 0
        self._by_psycopg()
        with suppress(ImportError):
            self._by_adbc()

    def _by_psycopg(self):
        execute, fetchmany = psycopg.ServerCursor.execute, psycopg.ServerCursor.fetchmany

        def counted(cursor, *arguments, **options):
            self.queries += 1
            return execute(cursor, *arguments, **options)

        def fetched(cursor, *arguments):
            rows = fetchmany(cursor, *arguments)
            self.rows += len(rows)
            return rows

        psycopg.ServerCursor.execute, psycopg.ServerCursor.fetchmany = counted, fetched

    def _by_adbc(self):
        from adbc_driver_manager.dbapi import Cursor

        read = Cursor.fetch_record_batch

        def batches(cursor):
            self.queries += 1
            for batch in read(cursor):
                self.rows += len(batch)
                yield batch

        Cursor.fetch_record_batch = batches


def store(connection):
    """The table: lognormal fares, tips with many zeros, whole ages, and zones."""
    connection.execute("drop table if exists taxis")
    connection.execute(f"""
        create table taxis as select exp(3 + 0.8 * sqrt(-2 * ln(1 - random())) * cos(6.283185307 * random())) as fare,
            case when random() < 0.6 then 0 else 9 * random() end as tip, floor(90 * random())::int as age,
            'zone ' || floor(20 * random())::int as zone from generate_series(1, {ROWS})""")
    connection.execute("vacuum analyze taxis")


def server_seconds(connection):
    """The processor time of the server: that of its first process, of all that have ended, and of those that run."""
    folder = connection.execute("show data_directory").fetchone()[0]
    first = int(Path(folder, "postmaster.pid").read_text().split()[0])
    ticks = 0
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(entry) == first:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == first:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def in_postgres(server):
    """Of each statistic: rows moved, queries, seconds of client and server, and seconds that pass; least of turns."""
    import nobounds as nb

    moved = Moved()
    with psycopg.connect(server, autocommit=True) as own, psycopg.connect(server) as connection:
        table = nb.Table.sql(connection, "select * from taxis")
        for name, ask in ASKED.items():
            times = []
            for _ in range(TURNS):
                moved.queries = moved.rows = 0
                start, client, there = time.perf_counter(), time.process_time(), server_seconds(own)
                ask(table)
                seconds, client = time.perf_counter() - start, time.process_time() - client
                time.sleep(0.3)  # a process that has ended is counted when it is waited for
                times.append((client, server_seconds(own) - there, seconds))
            yield name, [moved.rows, moved.queries, *np.min(times, axis=0).tolist()]


def fetching(server, by_adbc):
    """The same as `in_postgres`, with every row fetched from the snapshot, by ADBC or by psycopg."""
    from nobounds.engines.sql.pushed.snapshot import Session
    from nobounds.engines.sql.pushed.table import Pushed
    from nobounds.engines.streams.held import fetched_columns

    Pushed.columns = lambda self, names: fetched_columns(self.snapshot.fetched, names)
    if not by_adbc:
        Session._joined = lambda self: None
    return in_postgres(server)


def in_duckdb(server):
    """The same for the same rows in DuckDB, which runs in this process."""
    import nobounds as nb

    with duckdb.connect() as connection, psycopg.connect(server) as own:
        names = ["fare", "tip", "age", "zone"]
        rows = own.execute(f"select {', '.join(names)} from taxis").fetchall()
        columns = dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True))
        columns["zone"] = columns["zone"].astype(object)
        connection.register("given", columns)
        connection.execute("create table taxis as select * from given")
        table = nb.Table.sql(connection, "select * from taxis")
        for name, ask in ASKED.items():
            times = []
            for _ in range(TURNS):
                start, client = time.perf_counter(), time.process_time()
                ask(table)
                times.append((time.process_time() - client, time.perf_counter() - start))
            yield name, [ROWS, 1, *np.min(times, axis=0).tolist()]
        query = "select count(*), min(fare), max(fare) from taxis group by floor(fare * 64)"
        for name, ask in {
            "fetch": lambda: connection.sql("select fare from taxis").to_arrow_table(),
            "classes": lambda: connection.sql(query).to_arrow_table(),
        }.items():
            times = []
            for _ in range(9):
                client = time.process_time()
                ask()
                times.append(time.process_time() - client)
            yield name, [0, 0, min(times), 0.0]


WAYS = {
    "postgres": in_postgres,
    "adbc": lambda server: fetching(server, by_adbc=True),
    "psycopg": lambda server: fetching(server, by_adbc=False),
    "duckdb": in_duckdb,
}


def measured(source, server, where):
    """What a version measures, in a process of its own; `source` is the folder of its package."""
    command = [sys.executable, __file__, "--server", server, "--measure", where]
    environment = os.environ | {"PYTHONPATH": str(source)}
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def lines(server, first):
    """The tables of the page."""
    with psycopg.connect(server, autocommit=True) as own:
        store(own)
    now = Path(__file__).parents[2] / "src"
    yield "| PostgreSQL | rows moved | queries | client, ms | server, ms | both, first / now | time, first / now |"
    yield "|---|---|---|---|---|---|---|"
    before, after = measured(first, server, "postgres"), measured(now, server, "postgres")
    for name in ASKED:
        old, new = before[name], after[name]
        shown = [f"{a:,} → {b:,}" for a, b in zip(old[:2], new[:2], strict=True)]
        shown += [f"{1000 * a:,.0f} → {1000 * b:,.0f}" for a, b in zip(old[2:4], new[2:4], strict=True)]
        shown += [f"{sum(old[2:4]) / sum(new[2:4]):.1f}", f"{old[4] / new[4]:.1f}"]
        yield f"| {name} | {' | '.join(shown)} |"
    yield ""
    yield "| client + server, ms | passes in the server | fetched by ADBC | fetched by psycopg |"
    yield "|---|---|---|---|"
    ways = [after, measured(now, server, "adbc"), measured(now, server, "psycopg")]
    for name in ("quantile", "sum", "mean"):
        shown = (f"{1000 * each[name][2]:,.0f} + {1000 * each[name][3]:,.0f}" for each in ways)
        yield f"| {name} | {' | '.join(shown)} |"
    yield ""
    yield "| DuckDB | processor time, ms | time, first / now |"
    yield "|---|---|---|"
    before, after = measured(first, server, "duckdb"), measured(now, server, "duckdb")
    for name in ASKED:
        old, new = before[name], after[name]
        yield f"| {name} | {1000 * old[2]:,.0f} → {1000 * new[2]:,.0f} | {old[3] / new[3]:.1f} |"
    yield ""
    fetch, classes = (1000 * after[name][2] for name in ("fetch", "classes"))
    yield f"DuckDB hands over a column of 10^6 floats as Arrow in {fetch:,.0f} ms of processor time. It takes"
    yield f"{classes:,.0f} ms to count them by classes that are cheaper than exact ones, `floor(fare * 64)`."


def main():
    """Print the tables, or write them into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    parser.add_argument("--first", type=Path)
    parser.add_argument("--measure", choices=WAYS, help="measure the installed version alone")
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    if given.measure is not None:
        print(json.dumps(dict(WAYS[given.measure](given.server))))
        return
    if given.first is None:
        parser.error("--first is needed: the folder src of the first version")
    table = "\n".join(lines(given.server, given.first))
    print(table)
    if given.page is not None:
        text = given.page.read_text()
        before, after = text.split(START)[0], text.split(END)[1]
        given.page.write_text(f"{before}{START}\n{table}\n{END}{after}")


if __name__ == "__main__":
    main()
