"""Statistics of a table in PostgreSQL whose passes run in the server, beside fetched rows: docs/sql.md.

`--server` says how to connect to a server of this machine with an empty database, for example
"host=/tmp/there dbname=postgres". The server's processor time is that of all its processes, from /proc.
"""

import argparse
import os
import random
import time
from pathlib import Path

import numpy as np
import psycopg

import nobounds as nb
from nobounds.engines.sql import postgres
from nobounds.engines.sql.pushed import snapshot

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
    "median by 20 groups": lambda t: t.group_by("zone", keys=KEYS).median("fare", epsilon=1, rng=random.Random(1)),
}


class Moved:
    """Counts queries and the rows that they return."""

    def __init__(self):
        self.queries = self.rows = 0

    def watch(self, rows_of):
        def watched(*arguments):
            self.queries += 1
            for rows in rows_of(*arguments):
                self.rows += len(rows)
                yield rows

        return watched


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


def measured(connection, ask, table):
    """The answer, and rows moved, queries, seconds of client and server, and seconds that pass; the least of turns."""
    times = []
    for _ in range(TURNS):
        moved = Moved()
        known = postgres.rows_of
        postgres.rows_of = snapshot.rows_of = moved.watch(known)
        start, own, there = time.perf_counter(), time.process_time(), server_seconds(connection)
        try:
            answer = ask(table)
        finally:
            postgres.rows_of = snapshot.rows_of = known
        seconds = time.perf_counter() - start
        time.sleep(0.2)  # a process that has ended is counted when it is waited for
        times.append((time.process_time() - own, server_seconds(connection) - there, seconds))
    return str(answer), moved.rows, moved.queries, *np.min(times, axis=0).tolist()


def lines(server):
    """The table of the page."""
    yield "| | rows moved | queries | client, ms | server, ms | both, before / now | time, before / now |"
    yield "|---|---|---|---|---|---|---|"
    with psycopg.connect(server, autocommit=True) as own, psycopg.connect(server) as connection:
        store(own)
        for name, ask in ASKED.items():
            before, now = (
                measured(own, ask, nb.Table.sql(connection, "select * from taxis", rows_of=rows_of))
                for rows_of in ("result", "source")
            )
            shown = [f"{a:,} → {b:,}" for a, b in zip(before[1:3], now[1:3], strict=True)]
            shown += [f"{1000 * a:,.0f} → {1000 * b:,.0f}" for a, b in zip(before[3:5], now[3:5], strict=True)]
            shown += [f"{sum(before[3:5]) / sum(now[3:5]):.1f}", f"{before[5] / now[5]:.1f}"]
            line = f"| {name} | {' | '.join(shown)} |"
            print(line, flush=True)
            yield line


def main():
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    table = "\n".join(lines(given.server))
    if given.page is not None:
        text = given.page.read_text()
        before, after = text.split(START)[0], text.split(END)[1]
        given.page.write_text(f"{before}{START}\n{table}\n{END}{after}")


if __name__ == "__main__":
    main()
