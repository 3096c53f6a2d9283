"""Processor time to read a CSV file of 10^7 rows and 3 columns, beside named peers: the last section of docs/speed.md.

Run with `make bench`. All peers are told the types and read the file in turns in one process, so that what else the
machine does hits each of them. The time is that of the processors in all threads together.
"""

import argparse
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

SECTION = "## A CSV file"
NAMES = ("id", "pay", "x")


def written(size: int, folder: Path) -> Path:
    """A file with whole numbers, cents and decimals."""
    import pyarrow as pa
    from pyarrow.csv import write_csv

    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 10**6, size), rng.lognormal(10, 1, size).round(2), rng.normal(0, 1, size).round(6)]
    path = folder / "values.csv"
    write_csv(pa.table(dict(zip(NAMES, columns, strict=True))), path)
    return path


def all_columns(path: Path) -> float:
    """Our reader: all columns as float64, with the copy that it keeps for later passes."""
    import nobounds as nb
    from nobounds.engines.csv.table import CsvFiles

    files = CsvFiles.of([path], nb.Csv(header=True), None)
    return float(sum(batch.column(1).to_numpy().sum() for batch in files.batches([], list(NAMES))))


def one_column(path: Path) -> float:
    """Our reader: one column, as the command line reads it."""
    import nobounds as nb
    from nobounds.engines.csv.table import CsvFiles

    files = CsvFiles.of([path], nb.Csv(header=True), None, only=["pay"])
    return float(sum(batch.column(0).to_numpy().sum() for batch in files.batches([], ["pay"])))


def median(path: Path) -> float:
    """A whole private answer."""
    import nobounds as nb

    return float(nb.Table(path, csv=nb.Csv(header=True)).quantile("pay", 0.5, epsilon=1).value)


def by_duckdb(path: Path, what: str, columns: str) -> float:
    """DuckDB, told the types."""
    import duckdb

    types = ", ".join(f"'{name}': 'DOUBLE'" for name in NAMES)
    options = f"columns={{{types}}}, header=true, auto_detect=false"
    with duckdb.connect() as connection:
        found = connection.sql(f"select {columns} from read_csv('{path}', {options})")
        return float(
            np.sum(found.to_arrow_table().column("pay").to_numpy()) if what == "fetch" else found.fetchall()[0][0]
        )


def by_pyarrow(path: Path) -> float:
    """pyarrow.csv, which infers types; not exact for odd records."""
    from pyarrow.csv import read_csv

    return float(np.sum(read_csv(path).column("pay").to_numpy()))


def by_polars(path: Path) -> float:
    """Polars, told the types."""
    import polars as pl

    return float(pl.read_csv(path, schema=dict.fromkeys(NAMES, pl.Float64))["pay"].sum())


PEERS: dict[str, Callable[[Path], float]] = {
    "DuckDB, three columns fetched": lambda path: by_duckdb(path, "fetch", "*"),
    "DuckDB, three sums": lambda path: by_duckdb(path, "sum", "sum(pay), sum(id), sum(x)"),
    "DuckDB, one sum": lambda path: by_duckdb(path, "sum", "sum(pay)"),
    "polars.read_csv": by_polars,
    "pyarrow.csv": by_pyarrow,
    "nobounds, three columns": all_columns,
    "nobounds, one column": one_column,
    "nobounds, a private median": median,
}
BASE = "DuckDB, three columns fetched"


def worked() -> float:
    """Seconds of the processors so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(path: Path, rounds: int) -> dict[str, float]:
    """The least processor time of each peer over some rounds, in which they take turns."""
    times: dict[str, list[float]] = {name: [] for name in PEERS}
    for turn in range(rounds + 1):
        for name, peer in PEERS.items():
            start = worked()
            peer(path)
            if turn:  # in the first, libraries are loaded
                times[name].append(worked() - start)
    return {name: min(runs) for name, runs in times.items()}


def section(found: dict[str, float], size: int) -> str:
    """The section of the page."""
    rows = "".join(f"| {name} | {time:.2f} s | {time / found[BASE]:.2f} |\n" for name, time in found.items())
    return (
        f"{SECTION}\n\n"
        f"{size:,} rows of three columns of numbers. All peers take turns in one process; the time is that of the\n"
        "processors in all threads. DuckDB and polars get the types, pyarrow infers them. nobounds counts every\n"
        "record exactly once, whatever is in it ([the rules](csv.md)); its three columns include the copy that later\n"
        "statistics of the table read.\n\n"
        f"| | processor time | over {BASE} |\n|---|---|---|\n{rows}"
    )


def main() -> None:
    """Measure, print, and write the section."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--page", type=Path, help="the page whose last section this is")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(written(options.size, Path(folder)), options.rounds)
    text = section(found, options.size)
    print(text)
    if options.page is not None:
        before = options.page.read_text().partition(f"\n{SECTION}\n")[0]
        options.page.write_text(f"{before}\n{text}")


if __name__ == "__main__":
    main()
