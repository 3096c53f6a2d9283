"""Statistics of groups and of units beside polars' and DuckDB's own group sums in the same run: docs/speed.md.

All take turns in one process; the time is that of the processors in all threads, and the least of several turns counts.
`--large` measures a median of each of 10^6 groups of 10^7 rows, beside polars' own.
"""

import argparse
import math
import time
import tracemalloc
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
from verdicts import verdicts

import nobounds as nb

ROWS, GROUPS = 10**6, (10, 10**3, 10**5)
PER_UNIT = 5
SUMS = {10: 6.0, 10**3: 4.0, 10**5: 2.0}  # bars: times polars' own sums
UNITS = 4.0  # and times the sum without units
TURNS = 5
LARGE = 10**7, 10**6
PEER = "polars, group sums"
SECTION = "## Groups and units"
LAST = "## A CSV file"  # the section after this one

TEXT = f"""{SECTION}

Made by `python benchmarks/speed/groups.py --page docs/speed.md`. 10^6 rows of a polars frame in 10, 10^3 and 10^5
groups with public keys, and 250,000 units with four rows each on average, of which at most {PER_UNIT} count. Processor
time in milliseconds, and how many times as long as polars' own group sums that is. polars and DuckDB are exact, and not
private. Intervals of sums and means are computed when they are read; "read" includes that.

"""


def data(rows, groups):
    """A frame of groups, units and lognormal numbers."""
    rng = np.random.default_rng(1)
    columns = {"g": rng.integers(0, groups, rows), "u": rng.integers(0, rows // 4, rows)}
    return pl.DataFrame(columns | {"x": rng.lognormal(3, 0.8, rows)})


def calls(frame, groups):
    """What is measured, by name."""
    database = duckdb.connect()
    database.register("rows", frame.to_arrow())
    own = nb.Table(frame).group_by("g", keys=range(groups))
    units = nb.Table(frame, unit="u", rows_per_unit=PER_UNIT).group_by("g", keys=range(groups))
    return {
        PEER: lambda: frame.group_by("g").agg(pl.col("x").sum()),
        "DuckDB, group sums": lambda: database.sql("select g, sum(x) from rows group by g").to_arrow_table(),
        "sum": lambda: own.sum("x", epsilon=1),
        "sum, with a unit": lambda: units.sum("x", epsilon=1),
        "sum, read": lambda: own.sum("x", epsilon=1).intervals,
        "mean": lambda: own.mean("x", epsilon=1),
        "mean, with a unit": lambda: units.mean("x", epsilon=1),
        "count": lambda: own.count(epsilon=1),
        "count, with a unit": lambda: units.count(epsilon=1),
        "median": lambda: own.median("x", epsilon=1),
        "median, with a unit": lambda: units.median("x", epsilon=1),
    }


def measured(work, turns=TURNS):
    """The least processor time of each call, in turns."""
    times = dict.fromkeys(work, math.inf)
    for turn in range(turns + 1):
        for name, call in work.items():
            start = time.process_time()
            call()
            if turn:  # the first one warms up
                times[name] = min(times[name], time.process_time() - start)
    return times


def peak(call):
    """The peak of memory of a call, in megabytes beside the data; that of Arrow and polars is not in it."""
    call()
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return most


def section():
    """The section of the page."""
    times, memory = {}, {}
    for groups in GROUPS:
        work = calls(data(ROWS, groups), groups)
        times[groups] = measured(work)
        memory[groups] = {name: peak(work[name]) for name in ("sum", "sum, with a unit")}
        print(f"{groups:,} groups: done", flush=True)
    text = TEXT + f"| | {' | '.join(f'{groups:,} groups' for groups in GROUPS)} |\n|---|---|---|---|\n"
    for name in times[GROUPS[0]]:
        cells = (f"{1e3 * times[g][name]:.0f} ({times[g][name] / times[g][PEER]:.1f} x)" for g in GROUPS)
        text += f"| {name} | {' | '.join(cells)} |\n"
    most = "; ".join(
        f"{name} {', '.join(f'{memory[g][name]:.0f}' for g in GROUPS)} MB" for name in ("sum", "sum, with a unit")
    )
    rows = [
        (f"sum in {g:,} groups: times polars", limit, times[g]["sum"] / times[g][PEER]) for g, limit in SUMS.items()
    ]
    rows += [
        (f"sum in {g:,} groups: with a unit over without", UNITS, times[g]["sum, with a unit"] / times[g]["sum"])
        for g in GROUPS
    ]
    return f"{text}\n{verdicts('groups', rows)}\nThe peak of memory beside the data: {most}.\n"


def with_section(page, text):
    """The page with this section in the place of the old one, before the last section."""
    before, _, rest = page.partition(f"\n{SECTION}\n")
    if not rest:
        before, _, after = page.partition(f"\n{LAST}\n")
    else:
        after = rest.partition(f"\n{LAST}\n")[2]
    return f"{before}\n{text}" + (f"\n{LAST}\n{after}" if after else "")


def large():
    """Print the times of a median of each of many groups."""
    rows, groups = LARGE
    frame = data(rows, groups)
    table = nb.Table(frame)
    times = measured(
        {
            "polars group_by quantile": lambda: frame.group_by("g").agg(pl.col("x").quantile(0.5)),
            "nobounds, public keys": lambda: table.group_by("g", keys=range(groups)).median("x", epsilon=1),
            "nobounds, private keys": lambda: table.group_by("g", delta=1e-6).median("x", epsilon=8),
        },
        turns=2,
    )
    peer = times["polars group_by quantile"]
    for name, each in times.items():
        print(f"{name:<26}{each:8.2f} s of processors{each / peer:8.1f} x polars")


def main():
    """Print the section, or write it to the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--page", type=Path, help="the page that this is a section of")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    if options.large:
        large()
        return
    text = section()
    if options.page is not None:
        options.page.write_text(with_section(options.page.read_text(), text))
    print(text)


if __name__ == "__main__":
    main()
