"""Jobs and processor time of statistics on Spark, beside its own sum and percentile_approx: docs/spark.md.

A local session with two cores reads Parquet; with `--cluster`, a master and two workers with a core each do. Processor
time is that of the driver's Python, and that of all JVMs with their Python workers, from /proc; the least of several
turns. `--results` keeps the numbers, and `--first` measures the first version too.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

from pyspark.sql import SparkSession
from pyspark.sql.classic.dataframe import DataFrame

import nobounds as nb

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.spark_cluster import cluster, executors

MARKS = "<!-- {0}: begin -->", "<!-- {0}: end -->"
KEYS = [f"zone {k}" for k in range(20)]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
COMPARED = ["quantile", "sum", "mean", "describe, 3 columns", "sum by 20 groups", "median by 20 groups"]
COLUMNS = [
    "exp(3 + 0.8 * randn(1)) as fare",
    "if(rand(2) < 0.6, 0, 9 * rand(3)) as tip",
    "cast(90 * rand(4) as int) as age",
    "concat('zone ', cast(20 * rand(5) as int)) as zone",
]


def asked(frame):
    """What is measured, by name."""
    table = nb.Table(frame)
    groups = table.group_by("zone", keys=KEYS)
    return {
        "Spark's sum": lambda: frame.selectExpr("sum(fare)").collect(),
        "Spark's percentile_approx": lambda: frame.selectExpr("percentile_approx(fare, 0.9)").collect(),
        "quantile": lambda: table.quantile("fare", 0.9, epsilon=1, rng=random.Random(1)),
        "sum": lambda: table.sum("fare", epsilon=1, rng=random.Random(1)),
        "mean": lambda: table.mean("fare", epsilon=1, rng=random.Random(1)),
        "mean of whole numbers": lambda: table.mean("age", epsilon=1, rng=random.Random(1)),
        "describe, 3 columns": lambda: table.describe(["fare", "tip", "age"], epsilon=3, rng=random.Random(1)),
        "sum by 20 groups": lambda: groups.sum("fare", epsilon=1, rng=random.Random(1)),
        "median by 20 groups": lambda: groups.quantile("fare", 0.5, epsilon=1, rng=random.Random(1)),
    }


def workers_seconds(*jvms):
    """The processor time of JVMs and of all processes below them, those that have ended included."""
    stats = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stats[int(entry)] = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
    inside = set(jvms)
    for _ in range(4):
        inside |= {pid for pid, fields in stats.items() if int(fields[1]) in inside}
    return sum(sum(map(int, stats[pid][11:15])) for pid in inside if pid in stats) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """The most memory that a process has had, in MB."""
    status = Path("/proc", str(pid), "status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


class Moved:
    """Counts the rows that the driver gets from Spark, and their bytes; a task's pickled result is one row."""

    def __init__(self):
        self.rows = self.bytes = 0
        to_arrow, collect = DataFrame.toArrow, DataFrame.collect

        def arrow(frame):
            table = to_arrow(frame)
            self.rows, self.bytes = self.rows + table.num_rows, self.bytes + table.nbytes
            return table

        def collected(frame):
            rows = collect(frame)
            self.rows, self.bytes = self.rows + len(rows), self.bytes + 8 * sum(map(len, rows))
            return rows

        DataFrame.toArrow, DataFrame.collect = arrow, collected


def measured(session, ask, jvms, moved):
    """Rows and bytes moved, the number of jobs, seconds of the driver's Python and of all else, and on the clock."""
    context, group = session.sparkContext, uuid4().hex
    context.setJobGroup(group, group)
    moved.rows = moved.bytes = 0
    clock, own, there = time.monotonic(), time.process_time(), workers_seconds(*jvms())
    ask()
    times = time.process_time() - own, workers_seconds(*jvms()) - there, time.monotonic() - clock
    return [moved.rows, moved.bytes, len(context.statusTracker().getJobIdsForGroup(group)), *times]


def run(rows, folder, turns, wanted, address=None):
    """All measurements."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(address or "local[2]").config("spark.local.dir", str(folder))
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.config("spark.executor.memory", "1g").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    driver, path = session.sparkContext._gateway.proc.pid, str(folder.resolve() / "rows.parquet")

    def jvms():
        return [driver, *(executors(folder.resolve()) if address else ())]

    try:
        session.range(0, rows, 1, max(4, rows // 10**7)).selectExpr(*COLUMNS).write.parquet(path)
        asks, moved, times = asked(session.read.parquet(path)), Moved(), {}
        for turn in range(turns):  # all of them in each turn: what runs later would gain by a warm JVM
            for name, ask in asks.items():
                if not wanted or name in wanted:
                    times.setdefault(name, []).append(measured(session, ask, jvms, moved))
                    print(turn, name, times[name][-1], file=sys.stderr, flush=True)
        seen = {name: [min(each) for each in zip(*turned, strict=True)] for name, turned in times.items()}
        print("MB, at most:", {"python": memory(os.getpid()), "JVMs": [memory(pid) for pid in jvms()]}, file=sys.stderr)
        return seen
    finally:
        session.stop()
        shutil.rmtree(path, ignore_errors=True)


def first_version(source, given):
    """What the first version measures, in a process of its own; `source` is the folder of its package."""
    results = given.folder / "first.json"
    command = [sys.executable, __file__, "--rows", str(given.rows), "--turns", str(given.turns)]
    command += ["--folder", str(given.folder), "--results", str(results), "--only", *(given.only or COMPARED)]
    environment = os.environ | {"PYTHONPATH": str(source.resolve())}
    subprocess.run([*command, *(["--cluster"] if given.cluster else [])], env=environment, check=True)
    return json.loads(results.read_text())


def table(seen, before):
    """The table of the page."""
    yield (
        "| | rows moved | kB moved | jobs | driver's Python, ms | JVMs and workers, ms | on the clock, ms "
        "| processor time over Spark's own |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for name, numbers in seen.items():
        cells = _cells(numbers)
        if name in before and not name.startswith("Spark"):
            cells = [f"{one} → {other}" for one, other in zip(_cells(before[name]), cells, strict=True)]
        peer = {"quantile": "Spark's percentile_approx", "sum": "Spark's sum"}.get(name)
        ratio = "" if peer not in seen else f"{sum(numbers[3:5]) / sum(seen[peer][3:5]):.2g}"
        yield f"| {name} | {' | '.join(cells)} | {ratio} |"


def _cells(numbers):
    rows, size, jobs, *seconds = numbers
    return [f"{rows:,}", f"{size / 1000:,.0f}", f"{jobs}", *(f"{1000 * each:,.0f}" for each in seconds)]


def main():
    """Measure, and write the table into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2 * 10**6)
    parser.add_argument("--folder", type=Path, default=Path("build"))
    parser.add_argument("--turns", type=int, default=8)
    parser.add_argument("--only", nargs="*", default=[], help="names of what is measured; all without it")
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--results", type=Path)
    parser.add_argument(
        "--first", type=Path, help="the folder src of the first version: git worktree add first 0c16156"
    )
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    numbers = given.rows, given.folder, given.turns, given.only
    if given.cluster:
        with cluster(given.folder.resolve(), "1g") as address:
            seen = run(*numbers, address)
    else:
        seen = run(*numbers)
    if given.results is not None:
        given.results.write_text(json.dumps(seen))
    before = {} if given.first is None else first_version(given.first, given)
    lines = "\n".join(table(seen, before))
    print(lines)
    if given.page is not None:
        text = given.page.read_text()
        start, end = (mark.format("cluster" if given.cluster else "jobs") for mark in MARKS)
        given.page.write_text(f"{text.split(start)[0]}{start}\n{lines}\n{end}{text.split(end)[1]}")


if __name__ == "__main__":
    main()
