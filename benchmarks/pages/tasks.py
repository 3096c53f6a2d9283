"""The page of ten tasks: what a new user types, what is printed, and the true value beside it.

`python benchmarks/pages/tasks.py --out docs/tasks.md` writes it. The tables are synthetic, and made by a block on the
page, so that the page can be tried; the tests do. The noise of the page has a seed.
"""

import argparse
import contextlib
import io
import os
import random
import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.csv import read_csv

import nobounds.noise.source
from nobounds.cli.__main__ import main as nobounds_main

TABLES = """\
import numpy as np
import pyarrow as pa
from pyarrow.csv import write_csv

rng = np.random.default_rng(7)


def picked(keys, weights, n):
    return rng.choice(keys, n, p=np.array(weights) / sum(weights))


n = 40_000
boroughs = ["Bronx", "Brooklyn", "Manhattan", "Queens", "Staten Island"]
fares = (3 + rng.lognormal(2.3, 0.7, n)).round(2)
write_csv(pa.table({"borough": picked(boroughs, [5, 10, 60, 20, 5], n), "fare": fares}), "trips.csv")

carriers = picked(["AA", "B6", "DL", "EV", "UA", "WN", "HA"], [20, 30, 25, 25, 30, 10, 0.02], n)
delays = np.where(rng.random(n) < 0.6, rng.normal(-4, 3, n), rng.exponential(30, n) - 5).round()
write_csv(pa.table({"carrier": carriers, "delay": delays.astype(int)}), "flights.csv")

players, years = 12_000, 4  # each plays one to four years, most of them in one team
first, kept = rng.integers(2012, 2016, players), rng.integers(1, years + 1, players)
team = rng.choice(["ATL", "BOS", "NYA", "SEA"], players)
who = np.repeat(np.arange(players), kept)
year = first[who] + np.arange(len(who)) - np.repeat(np.cumsum(kept) - kept, kept)
salary = (rng.lognormal(14, 0.8, players)[who] * rng.lognormal(0, 0.1, len(who))).round(-3)
names = np.char.add("player ", who.astype(str))
write_csv(pa.table({"player": names, "team": team[who], "year": year, "salary": salary.astype(int)}), "salaries.csv")

n = 20_000
loans = {"amount": rng.lognormal(9.3, 0.7, n).round(-2), "rate": rng.gamma(6, 2, n).round(2)}
for k in range(3, 41):
    kinds = (rng.lognormal(k / 4, 1, n).round(2), rng.normal(10 * k, 5, n).round(3), rng.poisson(k / 3, n))
    loans[f"field_{k}"] = kinds[k % 3]
write_csv(pa.table(loans), "loans.csv")

n = 12_000
zones = picked(list("ABCDEF"), [6, 5, 4, 3, 2, 1], n)
write_csv(pa.table({"zone": zones, "claim": (rng.gamma(0.4, 5000, n)).round(2)}), "claims.csv")

ages = np.clip(rng.normal(44, 16, n), 0, 99).astype(int)
joined = np.datetime64("2015-03-01") + rng.integers(0, 3_000, n)
paid = rng.lognormal(4, 1, n).round(2)
write_csv(pa.table({"age": ages, "joined": joined, "paid": paid}), "members.csv")
"""

Truth = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Task:
    """A request, the command that answers it, the true answer, and what a new user has to know."""

    title: str
    tries: int  # commands until the answer was there, by the help and the messages alone
    command: str
    truth: Truth
    note: str


def by(file: str, keys: list[str], column: str, statistic: str, places: int) -> str:
    """The true answers by group."""
    table = read_csv(file)
    if statistic == "quantile":
        frame = table.to_pandas().groupby(keys)[column].quantile(0.95)
    else:
        frame = table.to_pandas().groupby(keys)[column].agg(statistic)
    texts = []
    for key, value in frame.items():
        name = " ".join(map(str, key)) if isinstance(key, tuple) else key
        texts.append(f"{name} {value:,.{places}f}")
    return ", ".join(texts)


def column(file: str, name: str) -> pa.ChunkedArray:
    """A column of a file."""
    return read_csv(file)[name]


def ages() -> str:
    """The true number of members in each bin."""
    values, edges = column("members.csv", "age").to_pylist(), [20, 30, 40, 50, 60, 70, 80]
    ends = [float("-inf"), *edges, float("inf")]
    counts = (sum(low <= age < high for age in values) for low, high in pairwise(ends))
    return ", ".join(f"{count:,}" for count in counts)


def by_team_and_year() -> str:
    """The true means of the two years."""
    frame = read_csv("salaries.csv").to_pandas()
    means = frame[frame.year.isin([2014, 2015])].groupby(["team", "year"]).salary.mean()
    return ", ".join(f"{team} {year} {value:,.0f}" for (team, year), value in means.items())


def loans() -> str:
    """The true numbers of the first column."""
    amount = read_csv("loans.csv").to_pandas().amount
    median, mean = amount.median(), amount.mean()
    return f"of `amount`: count {len(amount):,}, mean {mean:,.0f}, std {amount.std():,.0f}, median {median:,.0f}"


def dates() -> str:
    """The true median and ends."""
    joined = sorted(column("members.csv", "joined").to_pylist())
    return f"median {joined[len(joined) // 2]}, from {joined[0]} to {joined[-1]}"


TASKS = [
    Task(
        "The 95th percentile of fares by borough",
        2,
        "nobounds quantile trips.csv --column fare --q 0.95 --by borough "
        '--keys "Bronx,Brooklyn,Manhattan,Queens,Staten Island" --interval 0.95 --epsilon 1',
        lambda: by("trips.csv", ["borough"], "fare", "quantile", 2),
        "The boroughs are known to everybody, so they are public keys. A quantile has an interval if `--interval` asks "
        "for one, and pays for it with some accuracy.",
    ),
    Task(
        "Mean salary per team and year, with the player as unit",
        3,
        "nobounds mean salaries.csv --column salary --by team --by year --keys ATL,BOS,NYA,SEA --keys 2014,2015 "
        "--unit player --rows-per-unit 2 --lower 0 --epsilon 1",
        by_team_and_year,
        "All rows of a player are protected together. A player has a row a year, so at most two rows are in these two "
        "years. With `--by` twice there is a `--keys` for each, in the same order.",
    ),
    Task(
        "A summary of a table of loans with 40 numeric columns",
        2,
        "nobounds describe loans.csv --header yes --epsilon 4 --out loans.json",
        loans,
        "One epsilon pays for 400 numbers. `--header yes` says that the first line holds names, which the summary "
        "shows; `--out` writes all of it to a file.",
    ),
    Task(
        "The sum of claims per zone",
        1,
        "nobounds sum claims.csv --column claim --by zone --keys A,B,C,D,E,F --lower 0 --epsilon 1",
        lambda: by("claims.csv", ["zone"], "claim", "sum", 0),
        "`--lower 0` says that no claim is negative; nobody says how large one can be.",
    ),
    Task(
        "The median delay by carrier, when nobody knows the carriers",
        1,
        "nobounds median flights.csv --column delay --by carrier --delta 1e-6 --resolution 1 --interval 0.95 "
        "--epsilon 1",
        lambda: by("flights.csv", ["carrier"], "delay", "median", 0),
        "`--delta` chooses privately which keys are shown. HA has too few flights to be one of them. `--resolution 1` "
        "says that delays are whole minutes.",
    ),
    Task(
        "The share of late flights",
        2,
        'nobounds proportion flights.csv --condition "delay > 15" --epsilon 1',
        lambda: f"{pc.mean(pc.greater(column('flights.csv', 'delay'), 15)).as_py():.5f}",
        "A condition is written as in SQL.",
    ),
    Task(
        "A histogram of ages",
        1,
        "nobounds histogram members.csv --column age --edges 20,30,40,50,60,70,80 --epsilon 1",
        ages,
        "Without `--edges` they are chosen privately, and are round numbers.",
    ),
    Task(
        "The number of distinct players",
        1,
        "nobounds count-distinct salaries.csv --unit player --epsilon 1",
        lambda: f"{pc.count_distinct(column('salaries.csv', 'player')).as_py():,}",
        "Each player counts once, however many rows they have.",
    ),
    Task(
        "The median and the range of a column of dates",
        2,
        "nobounds agg members.csv --type joined=date --ask 'median(joined)' --ask 'bounds(joined)' --epsilon 1",
        dates,
        "A CSV file does not say which column holds dates, so `--type` does; in a Parquet file the type is known. The "
        "range stops a few records short of both ends, so that no single row shows.",
    ),
    Task(
        "The total of a column of money",
        1,
        "nobounds sum members.csv --column paid --type paid=money --lower 0 --epsilon 1",
        lambda: f"{pc.sum(column('members.csv', 'paid')).as_py():,.2f}",
        "`money` is a decimal number with two places.",
    ),
]


def run(command: str) -> tuple[str, float]:
    """What a command prints, and its seconds."""
    output, start = io.StringIO(), time.perf_counter()
    before, sys.argv = sys.argv, shlex.split(command)
    try:
        with contextlib.redirect_stdout(output):
            nobounds_main()
    except SystemExit as end:
        assert not end.code, command
    finally:
        sys.argv = before
    return output.getvalue(), time.perf_counter() - start


PUBLIC = Path(__file__).with_name("tasks_public.md")  # tries on tables that are not part of this package

HEAD = """\
# Ten tasks

What an analyst types for ten everyday requests, what is printed, and the true value. The tables are made up, and every
block on this page runs in the tests. `python benchmarks/pages/tasks.py --out docs/tasks.md` writes the page again.

Each task takes one command. One new user, with `--help` and the messages alone, typed this many until the answer was
there. The first ones lacked the keys of `--by`, `--rows-per-unit`, `--header yes`, `--condition` or the type of a
column of dates, and the message said so. Tasks 5, 7 and 8 count as they work now: the options that they use
were added after that.

| task | commands typed |
|---|---:|
{tries}

{public}
## The tables

```python
{tables}```
"""


def page() -> str:
    """The page: each task with its command, its answer and the truth."""
    tries = "\n".join(f"| {number}. {task.title} | {task.tries} |" for number, task in enumerate(TASKS, 1))
    parts = [HEAD.format(tables=TABLES, tries=tries, public=PUBLIC.read_text())]
    exec(TABLES, {})
    for number, task in enumerate(TASKS, 1):
        printed, seconds = run(task.command)
        print(f"{number} {task.title}: {seconds:.1f} s", file=sys.stderr)
        lines = "\n".join(line.rstrip() for line in printed.rstrip().splitlines())
        before = "It prints:"  # words between both blocks: the noise of another run may have other words
        if "describe" in task.command:  # the first of many tables
            before, lines = "It starts with:", lines[: lines.index("\n", lines.index("\nmax ") + 1)]
        command, shown = f"```sh\n{task.command}\n```", f"{before}\n\n```text\n{lines}\n```"
        parts.append(f"## {number}. {task.title}\n\n{command}\n\n{shown}\n\nTrue: {task.truth()}.\n\n{task.note}\n")
    return "\n".join(parts)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/tasks.md"))
    out = parser.parse_args().out.resolve()
    nobounds.noise.source._system_bits = random.Random(3).getrandbits  # the same page each time
    os.environ["COLUMNS"] = "100"
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        try:
            text = page()
        finally:
            os.chdir(before)
    out.write_text(text)


if __name__ == "__main__":
    main()
