"""The six data sets of the paper's evaluation, or your own data in their place.

Two are synthetic, 10,000 draws each; four are columns of the bundled tables. A repetition samples 1000 records. The
exponential mechanism suffers from ties, so the paper adds a little normal noise to the real data; true quantiles are
those of the unchanged data, and answers on integer data are rounded.
"""

import csv
import gzip
import math
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np

from nobounds.arrays import Floats
from nobounds.counting.scan import gathered
from nobounds.engines.csv.dialect import Csv
from nobounds.engines.files.columns import read_column
from nobounds.engines.files.formats import format_of
from nobounds.values import dataclass

ROWS = 1000  # in a repetition


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """A data set, the range given to bounded methods, its grid, and the noise that breaks its ties."""

    name: str
    title: str
    values: Floats
    lower: float
    upper: float
    resolution: str | None = None
    jitter: float = 0.0

    def sample(self, rng: np.random.Generator, rows: int = ROWS) -> tuple[Floats, Floats]:
        """A random sample of records, unchanged and with their ties broken."""
        records = rng.choice(self.values, rows, replace=False)
        return records, records + rng.normal(0, self.jitter, rows) if self.jitter else records

    def rounded(self, answers: Floats) -> Floats:
        """The answers, rounded for integer data."""
        return np.rint(answers) if self.resolution == "1" else answers


NAMES = ("uniform", "normal", "ratings", "pages", "ages", "hours")
SYNTHETIC = NAMES[:2]
OWN, SEPARATOR = "own-", "\n"


@cache
def dataset(name: str) -> DataSet:
    """One of the six."""
    rng = np.random.default_rng(20220928)
    if name == "uniform":
        return DataSet(name, "uniform on [-5, 5]", rng.uniform(-5, 5, 10_000), -5, 5)
    if name == "normal":
        return DataSet(name, "normal(0, 5)", rng.normal(0, 5, 10_000), -25, 25)
    if name == "ratings":
        return DataSet(name, "book ratings", _bundled("books", "average_rating"), 0, 10, "0.01", 0.001)
    if name == "pages":
        return DataSet(name, "book pages", _bundled("books", "num_pages"), 0, 10_000, "1", 0.1)
    if name == "ages":
        return DataSet(name, "census ages", _bundled("adult", "age"), 0, 100, "1", 0.1)
    if name == "hours":
        return DataSet(name, "census hours", _bundled("adult", "hours_per_week"), 0, 100, "1", 0.1)
    if name.startswith(OWN):
        path, column, low, high, *grid = unquote(name.removeprefix(OWN)).split(SEPARATOR)
        return own(Path(path), column, float(low), float(high), grid[0] if grid else None)
    raise ValueError(f"a data set must be one of {', '.join(NAMES)}, got {name!r}")


def own_name(words: str) -> str:
    """The name of a data set of your own, from FILE:COLUMN:LOWER:UPPER[:RESOLUTION]."""
    parts = words.rsplit(":", 4)
    if len(parts) == 5 and not _is_number(parts[2]):  # without a resolution, the file's name may itself contain a colon
        parts = words.rsplit(":", 3)
    if len(parts) < 4 or not all(map(_is_number, parts[2:])):
        raise ValueError(f"data must be FILE:COLUMN:LOWER:UPPER[:RESOLUTION], got {words!r}")
    return OWN + quote(SEPARATOR.join([str(Path(parts[0]).resolve()), *parts[1:]]), safe="")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def own(path: Path, column: str, lower: float, upper: float, resolution: str | None = None) -> DataSet:
    """A column of your own file, with the range given to bounded methods."""
    values = gathered(read_column(path, column, Csv(header=True) if format_of(path) == "csv" else None).chunks())
    jitter = float(resolution) / 10 if resolution else 0.0
    return DataSet(column, column, values[np.isfinite(values)], lower, upper, resolution, jitter)


def _bundled(file: str, column: str) -> Floats:
    with gzip.open(str(files("nobounds") / "data" / f"{file}.csv.gz"), "rt") as text:
        return np.array([float(row[column]) for row in csv.DictReader(text)])
