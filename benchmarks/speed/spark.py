"""Jobs and processor time of statistics on Spark, beside its own sum and percentile_approx: docs/spark.md.

A local session with two cores reads Parquet. Processor time is that of the driver's Python, and that of the JVM with
its Python workers, from /proc; the least of several turns. `--results` keeps the numbers, and `--before` has those of
another version.
"""

import argparse
import json
import os
import random
import shutil
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

import nobounds as nb

TURNS = 3
START, END = "<!-- jobs: begin -->", "<!-- jobs: end -->"
KEYS = [f"zone {k}" for k in range(20)]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
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
        "median by 20 groups": lambda: groups.median("fare", epsilon=1, rng=random.Random(1)),
    }


def workers_seconds(jvm):
    """The processor time of the JVM and of all processes below it, those that have ended included."""
    stats = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stats[int(entry)] = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
    inside = {jvm}
    for _ in range(4):
        inside |= {pid for pid, fields in stats.items() if int(fields[1]) in inside}
    return sum(sum(map(int, stats[pid][11:15])) for pid in inside if pid in stats) / os.sysconf("SC_CLK_TCK")


def measured(session, ask):
    """The number of jobs, and the seconds of the driver's Python and of all else."""
    context, jvm = session.sparkContext, session.sparkContext._gateway.proc.pid
    times = []
    for turn in range(TURNS):
        group = f"{id(ask)} {turn}"
        context.setJobGroup(group, group)
        own, there = time.process_time(), workers_seconds(jvm)
        ask()
        times.append((time.process_time() - own, workers_seconds(jvm) - there))
        jobs = len(context.statusTracker().getJobIdsForGroup(group))
    return [jobs, *(min(each) for each in zip(*times, strict=True))]


def run(rows, folder):
    """All measurements."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.local.dir", str(folder))
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    path = str(folder / "rows.parquet")
    try:
        session.range(0, rows, 1, 4).selectExpr(*COLUMNS).write.parquet(path)
        found = {}
        for name, ask in asked(session.read.parquet(path)).items():
            found[name] = measured(session, ask)
            print(name, found[name], flush=True)
        return found
    finally:
        session.stop()
        shutil.rmtree(path, ignore_errors=True)


def table(found, before):
    """The table of the page."""
    yield "| | jobs | driver's Python, ms | JVM and workers, ms | all, over Spark's own |"
    yield "|---|---|---|---|---|"
    for name, numbers in found.items():
        cells = [f"{numbers[0]}", *(f"{1000 * each:,.0f}" for each in numbers[1:])]
        if name in before and not name.startswith("Spark"):
            old = [f"{before[name][0]}", *(f"{1000 * each:,.0f}" for each in before[name][1:])]
            cells = [f"{one} → {other}" for one, other in zip(old, cells, strict=True)]
        peer = {"quantile": "Spark's percentile_approx", "sum": "Spark's sum"}.get(name)
        ratio = "" if peer is None else f"{sum(numbers[1:]) / sum(found[peer][1:]):.1f}"
        yield f"| {name} | {' | '.join(cells)} | {ratio} |"


def main():
    """Measure, and write the table into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2 * 10**6)
    parser.add_argument("--folder", type=Path, default=Path("build"))
    parser.add_argument("--results", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    found = run(given.rows, given.folder)
    if given.results is not None:
        given.results.write_text(json.dumps(found))
    if given.page is not None:
        before = {} if given.before is None else json.loads(given.before.read_text())
        text = given.page.read_text()
        lines = "\n".join(table(found, before))
        given.page.write_text(f"{text.split(START)[0]}{START}\n{lines}\n{END}{text.split(END)[1]}")


if __name__ == "__main__":
    main()
