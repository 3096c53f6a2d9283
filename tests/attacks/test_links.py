"""Names of one file: whatever names a list, a glob or a statement gives it, its rows count once."""

import os
import random

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc
from typer.testing import CliRunner

import nobounds as nb
from nobounds.cli.app import app
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


@pytest.mark.parametrize("link", [os.link, os.symlink])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_of_a_folder_under_two_names_is_one_table(suffix, link, tmp_path):
    """Whether a statement has both names, or one of them is that of a given table, also in the command line."""
    a, b, c = (tmp_path / f"{name}{suffix}" for name in "abc")
    options, header = write(a), ["--header", "yes"] if suffix == ".csv" else []
    link(a, b)
    write(c)

    def joined(first, second):
        return f"select private_count() from {first} t join {second} u on t.x = u.x"

    def called(tables, first, second):
        spent = {"epsilon": 1e6, "public_tables": [second.strip("'")], "folder": tmp_path}
        return nb.sql(joined(first, second), tables, **spent, **options)["count()"].value

    def ran(first, second):
        words = ["sql", joined(f"'{first.name}'", f"'{second.name}'"), "--public-table", second.name, *header]
        return CliRunner().invoke(app, [*words, "--folder", str(tmp_path), "--epsilon", "1e6"])

    for tables, first, second in (({}, f"'{a.name}'", f"'{b.name}'"), ({"t": a}, "t", f"'{b.name}'")):
        with pytest.raises(ValueError, match="self-join"):
            called(tables, first, second)
    refused = ran(a, b)
    assert refused.exit_code == 2 and "self-join" in refused.stderr
    # A copy is another table.
    assert called({}, f"'{a.name}'", f"'{c.name}'") == 1000 and ran(a, c).exit_code == 0
