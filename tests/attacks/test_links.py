"""Names of one file: whatever names a list, a glob or a statement gives it, its rows count once."""

import os
import random

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc

import nobounds as nb
from nobounds.engines.files.paths import expand

FRAME = pl.DataFrame({"x": range(1000)})
SUFFIXES = (".csv", ".parquet", ".arrow", ".jsonl")


def write(path):
    """A file of 1,000 rows, and the keywords of a table of it."""
    match path.suffix:
        case ".csv":
            FRAME.write_csv(path)
            return {"csv": nb.Csv(header=True)}
        case ".parquet":
            FRAME.write_parquet(path)
        case ".arrow":
            with ipc.new_file(path, FRAME.to_arrow().schema) as file:
                file.write_table(pa.table(FRAME.to_arrow()))
        case _:
            FRAME.write_ndjson(path)
            return {"schema": {"x": "integer"}}
    return {}


@pytest.mark.parametrize("link", [os.link, os.symlink])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_all_names_of_a_file_are_one_file(suffix, link, tmp_path):
    """Four links beside a file, hard or symbolic, make it no longer, in a glob and in a list."""
    path = tmp_path / f"a{suffix}"
    options = write(path)
    for k in range(4):
        link(path, tmp_path / f"b{k}{suffix}")
    for given in (tmp_path / f"*{suffix}", sorted(tmp_path.iterdir())):
        counted = nb.Table(given, **options).count(epsilon=50, rng=random.Random(1)).value
        assert abs(counted - 1000) < 10


def test_copies_and_links_that_lead_nowhere_stay_apart(tmp_path):
    """Files with the same contents are different files, and so are names without a file behind them."""
    for name in "ab":
        write(tmp_path / f"{name}.csv")
        (tmp_path / f"{name}0.csv").symlink_to(tmp_path / f"{name}0.csv")
    assert len(expand(tmp_path / "*.csv")) == 4


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_file_under_two_names_is_not_joined_with_itself(link, tmp_path):
    """Declaring one of the names public does not help, nor does a list that names both files in another order."""
    paths = {name: tmp_path / f"{name}.parquet" for name in "ab"}
    FRAME.write_parquet(paths["a"])
    link(paths["a"], paths["b"])
    FRAME.write_parquet(tmp_path / "c.parquet")
    more = tmp_path / "c.parquet"
    for tables in (paths, {"a": [paths["a"], more], "b": [more, paths["b"]]}):
        with pytest.raises(ValueError, match="self-join"):
            nb.sql("select private_mean(a.x) from a join b on a.x = b.x", tables, epsilon=1, public_tables=["b"])
