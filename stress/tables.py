"""Random tables for the stress test, in every form that nobounds reads."""

import csv
import gzip
import math
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Columns: TypeAlias = dict[str, NDArray[Any]]

REGIONS = ("north", "south", "east", "west", "centre")
MEMORY = ("numpy", "arrow", "pandas", "polars", "lazy")
FILES = ("csv", "csv.gz", "parquet", "parquets")
QUERIES = ("relation", "sql")
COMPUTED = (
    "lazy",
    "relation",
)  # when they are read, so that releases say that their rows are those of a query's result
_NEEDS = {"pandas": "pandas", "polars": "polars", "lazy": "polars", "relation": "duckdb", "sql": "duckdb"}


def forms() -> tuple[str, ...]:
    """The forms that the installed libraries allow."""
    return tuple(form for form in (*MEMORY, *FILES, *QUERIES) if find_spec(_NEEDS.get(form, "numpy")) is not None)


def columns_of(seed: int, rows: int) -> Columns:
    """A table of sales: most users have few rows and some have many; some amounts are missing."""
    rng = np.random.default_rng(seed)
    users = rng.integers(0, max(rows // 3, 1), rows)
    users[: rows // 10] = rng.integers(0, 3, rows // 10)
    amount = np.round(rng.lognormal(3, 1.5, rows), 2) * rng.choice([1, 1, 1, -1], rows)
    amount[rng.random(rows) < 0.02] = math.nan
    return {
        "user": users.astype(np.int64),
        "region": np.array(REGIONS)[rng.integers(0, len(REGIONS), rows)],
        "shop": rng.integers(0, 12, rows).astype(np.int64),
        "age": rng.integers(18, 95, rows).astype(np.int64),
        "amount": amount,
    }


def written(form: str, columns: Columns, folder: Path) -> list[Path]:
    """The files of a table of a form, in a folder; none for one in memory."""
    if form in ("csv", "csv.gz"):
        path = folder / f"sales.{form}"
        opener: Any = gzip.open if form == "csv.gz" else open
        with opener(path, "wt", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*(_texts(column) for column in columns.values()), strict=True))
        return [path]
    if form not in ("parquet", "parquets"):
        return []
    from pyarrow import parquet

    table, parts = _arrow(columns), 3 if form == "parquets" else 1
    size, paths = math.ceil(len(table) / parts), [folder / f"sales-{part}.parquet" for part in range(parts)]
    for part, path in enumerate(paths):
        parquet.write_table(table.slice(part * size, size), path, row_group_size=300)
    return paths


def opened(form: str, columns: Columns, paths: list[Path], stack: ExitStack) -> Any:
    """The table in its form; a query comes as its connection and its text."""
    if form in FILES:
        return str(paths[0]) if len(paths) == 1 else str(paths[0].with_name("sales-*.parquet"))
    if form == "numpy":
        return columns
    if form == "pandas":
        import pandas

        return pandas.DataFrame(columns)
    if form in ("polars", "lazy"):
        import polars

        frame = polars.from_arrow(_arrow(columns))
        return frame.lazy() if form == "lazy" and isinstance(frame, polars.DataFrame) else frame
    if form == "arrow":
        return _arrow(columns)
    import duckdb

    connection = stack.enter_context(duckdb.connect(config={"threads": 1}))
    connection.register("sales", _arrow(columns))
    return connection.table("sales") if form == "relation" else (connection, "select * from sales")


def _arrow(columns: Columns) -> Any:
    import pyarrow as pa

    # A missing amount is a null in some places and NaN in others; both are missing.
    return pa.table({name: pa.array(column, from_pandas=name == "amount") for name, column in columns.items()})


def _texts(column: NDArray[Any]) -> list[str]:
    return ["" if value != value else str(value) for value in column.tolist()]
