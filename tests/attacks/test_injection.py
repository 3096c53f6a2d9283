"""SQL and paths in names, keys, units and file names: all of them are data, and none is run, globbed or fetched."""

import json
import os
import random
import socket
import sqlite3
from itertools import product

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.csv_files import HEADER
from support.shell import run

import nobounds as nb

EVIL = [
    "u; drop table victim",
    "u'; drop table victim; --",
    'u"; drop table victim; --',
    "1); drop table victim; --",
    "' or '1'='1",
    "(select secret from victim)",
    "read_csv('/etc/passwd')",
    "*; attach 'x.db'",
]
FETCHED = ["https://example.com/a.csv", "http://127.0.0.1:1/a.parquet", "s3://bucket/a.parquet", "hf://datasets/a.csv"]
FETCHED += ["file:///etc/passwd", "gs://a/b.csv", "ftp://example.com/a.csv", "az://a.parquet", "data:,x.csv"]


@pytest.fixture
def victim():
    """A DuckDB connection with a table that must survive."""
    with duckdb.connect() as connection:
        connection.execute("create table victim as select 1 as secret from range(100)")
        yield connection


def survives(connection):
    """Whether the victim is as it was."""
    return connection.execute("select count(*), sum(secret) from victim").fetchone() == (100, 100)


@pytest.mark.medium
@pytest.mark.parametrize("evil", EVIL)
def test_names_and_keys_with_sql_in_them_are_data(evil, victim):
    """As the name of a column, a unit and a key, and as a key itself, SQL counts its rows and touches nothing."""
    at = np.arange(200)
    keys = np.where(at % 2 == 0, evil, "plain")
    source = pa.table({evil: at % 5 + 10.0, "key of " + evil: keys, "unit": at % 50})
    relation = victim.from_arrow(source)
    table = nb.Table(relation, unit="unit", rows_per_unit=4)
    assert table.mean(evil, epsilon=100).value == pytest.approx(12, abs=1)
    groups = table.group_by("key of " + evil, keys=[evil, "plain"])
    assert groups.count(evil, epsilon=100).values.tolist() == pytest.approx([100, 100], abs=3)
    private = table.group_by("key of " + evil, delta=0.1).count(epsilon=100)
    assert sorted(private.groups) == sorted([evil, "plain"])
    assert nb.Table(relation, unit="key of " + evil, rows_per_unit=1).count(epsilon=100).value in range(1, 4)
    with pytest.raises(ValueError, match="is not in the table"):
        table.mean("no " + evil, epsilon=1)
    assert survives(victim)


STATEMENTS = [
    "drop table victim",
    "select 1 as x; drop table victim",
    "drop table victim; select 1 as x",
    "insert into victim values (2)",
    "delete from victim returning secret",
    "copy victim to 'stolen.csv'",
    "attach 'other.db'",
    "install httpfs",
    "load httpfs",
    "create table other as select 1 as x",
    "pragma memory_limit='1GB'",
    "set threads = 1",
    "call pragma_version()",
    "",
    "select",
    "select no_such_column from victim",
]


@pytest.mark.medium
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_query_is_one_select(statement, victim, tmp_path, monkeypatch):
    """Anything else is refused before it runs, on DuckDB and on SQLite, and what the database says is not told."""
    monkeypatch.chdir(tmp_path)
    other = sqlite3.connect(":memory:")
    other.execute("create table victim (secret integer)")
    other.executemany("insert into victim values (?)", [(1,)] * 100)
    fixed = {"query must be one select", "the query failed; run it on its own to see why"}
    for connection, rows_of in product((victim, other), ("source", "result")):
        with pytest.raises(ValueError) as caught:
            nb.Table.sql(connection, statement, rows_of=rows_of).count(epsilon=1)
        assert rows_of == "source" or str(caught.value) in fixed
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        assert survives(connection)
        tables = "information_schema.tables" if connection is victim else "sqlite_master"
        assert connection.execute(f"select count(*) from {tables}").fetchone()[0] == 1
    assert os.listdir(tmp_path) == []


def test_a_select_may_be_written_in_many_ways(victim):
    """Comments, semicolons at the end and words in any case are still one select."""
    queries = ["select * from victim", "FROM victim;", " select secret from victim -- all\n;", "table victim"]
    for query, rows_of in product(queries, ("source", "result")):
        table = nb.Table.sql(victim, query, rows_of=rows_of)
        assert table.count(epsilon=100).value == pytest.approx(100, abs=2)
    for query in ("select ';drop table victim' as x", "with v as (from victim) select * from v"):
        assert nb.Table.sql(victim, query, rows_of="result").columns
    for query in ("select ';drop table victim' as x from victim", "with v as (from victim) select * from v"):
        assert nb.Table.sql(victim, query).columns


@pytest.fixture
def offline(monkeypatch):
    """No socket may be opened; those who try are listed."""
    tried = []

    def refuse(*given, **options):
        tried.append(given)
        raise OSError("no network here")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return tried


@pytest.mark.parametrize("address", FETCHED)
def test_no_address_is_fetched(address, offline, monkeypatch):
    """A path that looks like an address is the name of a file that is not there."""
    opened = []
    monkeypatch.setattr(duckdb, "connect", lambda *given, **options: opened.append(given))
    for data in (address, [address]):
        with pytest.raises((ValueError, OSError)) as caught:
            nb.Table(data)
        assert "no file is named" in str(caught.value)
    assert not offline and not opened


COUNT = "select private_count() from {}"
ROWS_OF = "select x from {}"


def doors(name, folder):
    """Every way in which a statement may name a table, as a call that gives its number of rows."""
    where = {} if folder is None else {"folder": folder}
    option = [] if folder is None else ["--folder", folder]
    quoted = "'" + name.replace("'", "''") + "'"
    exact = {"epsilon": 1e6}

    def said(done):
        if done.exit_code:
            raise ValueError(done.stderr)
        return float(json.loads(done.stdout)["answers"]["count()"]["value"])

    def shown(*more):
        done = run("count", "--sql", ROWS_OF.format(quoted), *option, *more, "--epsilon", "1e6", "--json")
        if done.exit_code:
            raise ValueError(done.stderr)
        return float(json.loads(done.stdout)["releases"][0]["value"])

    yield lambda: nb.sql(COUNT.format(quoted), {}, **where, **exact)["count()"].value
    yield lambda: nb.sql(COUNT.format(quoted), duckdb.connect(), **where, **exact)["count()"].value
    yield lambda: nb.sql(COUNT.format(quoted), duckdb.connect(), **where, rows_of="result", **exact)["count()"].value
    yield lambda: nb.Table.sql(duckdb.connect(), ROWS_OF.format(quoted), **where).count(**exact).value
    yield lambda: said(run("sql", COUNT.format(quoted), *option, "--epsilon", "1e6", "--json"))
    yield shown
    yield lambda: shown("--rows-of", "result")


@pytest.fixture
def linked(tmp_path, monkeypatch):
    """A folder with a file of 100 rows, links to it, a file with a star in its name, and a file outside."""
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    pq.write_table(pa.table({"x": np.arange(100.0)}), "p0.parquet")
    for k in range(1, 5):
        (folder / f"p{k}.parquet").symlink_to("p0.parquet")
    for name, rows in (("a*b.parquet", 10), ("a1b.parquet", 990), ("../outside.parquet", 7), ("it's.parquet", 20)):
        pq.write_table(pa.table({"x": np.arange(float(rows))}), name)
    (folder / "y=7").mkdir()
    pq.write_table(pa.table({"x": np.arange(30.0)}), "y=7/a.parquet")
    return folder


@pytest.mark.parametrize(
    ("name", "rows"),
    [("p0.parquet", 100), ("p3.parquet", 100), ("a*b.parquet", 10), ("it's.parquet", 20), ("y=7/a.parquet", 30)],
)
def test_a_statement_names_one_file_of_its_folder(name, rows, linked):
    """By its exact name, whatever a glob or SQL makes of it; a pattern is the name of no file."""
    for door in doors(name, linked):
        assert door() == rows
    for wrong in ("p*.parquet", "p?.parquet", "p[0-4].parquet", "**/*.parquet", "../outside.parquet"):
        for door in doors(wrong, linked):
            with pytest.raises(ValueError, match=r"no file is named|not in the folder|no table"):
                door()


@pytest.mark.parametrize("name", ["p0.parquet", "p*.parquet", "./p0.parquet", "p0.csv", "p0.jsonl", "p0.arrow"])
def test_no_statement_names_a_file_without_a_folder(name, linked):
    """Those of a dict or of a database are all tables there are, also for the functions and joins of a query."""
    for door in doors(name, None):
        with pytest.raises(ValueError, match=r"no table|--folder|guess"):
            door()
    connection = duckdb.connect()
    connection.execute("create table t as select 1 as x")
    for query in (
        f"select x from t where x in (select x from '{name}')",
        f"with u as (from '{name}') select * from t, u",
        f"select * from (describe '{name}')",
        f"from read_parquet('{name}')",
        f"from parquet_scan('{name}')",
        f"from parquet_metadata('{name}')",
        f"from read_text('{name}')",
        f"from glob('{name}')",
        "from p0.parquet",
        'from "p0"."parquet"',
    ):
        with pytest.raises(ValueError, match=r"no table|reads a file|guess"):
            nb.Table.sql(connection, query, rows_of="result")
    with pytest.raises(ValueError, match="make a view"):
        nb.Table.sql(connection, "select * from t", rows_of="result", folder=linked)


class Driver:
    """DuckDB behind a driver that nobounds does not know."""

    def cursor(self):
        return duckdb.connect()


@pytest.mark.parametrize("name", ["'p0.parquet'", "'p*'", "p0.parquet", '"s3://b"."a.parquet"', "'./p0'", "'p0.csv'"])
def test_no_unknown_driver_is_given_the_name_of_a_file(name, linked):
    """Its catalogue is not read, so a name that could be one of a file is no table, whatever is declared."""
    with pytest.raises(ValueError, match="no table"):
        nb.sql(COUNT.format(name), Driver(), rows_of="result", epsilon=1)


def test_tables_of_a_database_may_be_called_like_files(linked):
    """What the catalogue lists is a table, and DuckDB opens no file for it."""
    connection = duckdb.connect()
    connection.execute("""create table "p0.parquet" as select range as x from range(3)""")
    connection.execute("create view two as from 'p0.parquet'")
    for query in ("from 'p0.parquet'", 'from main."p0.parquet"', 'from memory."main"."P0.parquet"', "from two"):
        for rows_of in ("source", "result"):
            assert nb.Table.sql(connection, f"select * {query}", rows_of=rows_of).count(epsilon=1e6).value == 3


@pytest.mark.parametrize("address", [each for each in FETCHED if not each.startswith("data:")])
def test_no_statement_fetches_an_address(address, linked, offline, monkeypatch):
    """It is refused as text: nothing is charged, and DuckDB is not asked, which would download an extension first."""
    for folder in (None, linked, "/"):
        for door in doors(address, folder):
            with pytest.raises(ValueError, match=r"is an address|no table|--folder"):
                door()
    with pytest.raises(ValueError, match="no table"):
        nb.Table.sql(duckdb.connect(), f'select * from "{address[:8]}"."a.parquet"', rows_of="result")
    assert not offline


@pytest.mark.medium
@pytest.mark.parametrize(
    "name", ["a'b", 'a"b', "a; drop table x", "a*b", "a[0-9]b", "a?b", "$(id)", "`id`", "-rf", "a b", "~", "%s"]
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_may_have_any_name(name, suffix, tmp_path, monkeypatch):
    """A file that is there is meant by its name, whatever else the name could mean."""
    monkeypatch.chdir(tmp_path)
    table = pa.table({"x": np.full(100, 5.0)})
    path = tmp_path / (name + suffix)
    if suffix == ".csv":
        path.write_text("x\n" + "5.0\n" * 100)
    else:
        pq.write_table(table, path)
    (tmp_path / ("a0b" + suffix)).write_text("x\nnot to be read\n")
    for given in (path, str(path), path.name):
        read = nb.Table(given, csv=HEADER if suffix == ".csv" else None)
        assert read.mean("x", epsilon=50, rng=random.Random(1)).value == pytest.approx(5, abs=1)


def test_a_file_in_a_folder_that_looks_like_an_address_is_local(tmp_path, monkeypatch, offline):
    """A folder named s3: is a folder, and its files are read from the disk."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:").mkdir()
    pq.write_table(pa.table({"x": np.full(100, 5.0)}), tmp_path / "s3:" / "a.parquet")
    assert nb.Table("s3:/a.parquet").mean("x", epsilon=50).value == pytest.approx(5, abs=1)
    assert not offline


@pytest.mark.parametrize(
    "path", ["/dev/zero", "/dev/stdin", "/proc/self/mem", "/etc/passwd", "/", "", "a\0b.csv", "/etc/*"]
)
def test_devices_folders_and_other_formats_are_refused(path):
    """What is no regular CSV or Parquet file is refused by its name, and its contents are not looked at."""
    with pytest.raises((ValueError, OSError)) as caught:
        nb.Table(path)
    assert "root:" not in str(caught.value)


@pytest.mark.medium
@pytest.mark.parametrize("evil", EVIL)
def test_the_command_line_takes_sql_for_names(evil, tmp_path):
    """Columns, units, groups and keys on the command line are names and texts, with SQL in them or not."""
    at = np.arange(200)
    quoted = '"' + evil.replace('"', '""') + '"'
    rows = "".join(f"{i % 5 + 10},{quoted if i % 2 else 'plain'},{i % 50}\n" for i in at)
    path = tmp_path / "a.csv"
    path.write_text(f"{quoted},key,unit\n{rows}")
    done = run("mean", path, "--column", evil, "--epsilon", "100", "--unit", "unit", "--rows-per-unit", "4", "--json")
    assert done.exit_code == 0, done.stderr
    done = run(
        "count", path, "--epsilon", "100", "--by", "key", "--keys", quoted, "--unit", evil, "--rows-per-unit", "40"
    )
    assert done.exit_code == 0, done.stderr
    done = run("count", path, "--epsilon", "100", "--by", evil, "--delta", "0.1", "--json")
    assert done.exit_code == 0 and '"values"' in done.stdout
    assert run("mean", path, "--column", "no" + evil, "--epsilon", "1").exit_code == 2


@pytest.mark.medium
@pytest.mark.parametrize("statement", [s for s in STATEMENTS if "no_such" not in s])
def test_the_command_line_runs_one_select(statement, tmp_path, monkeypatch):
    """`--sql` with anything but one select is a plain line, and files are as before."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table victim as select 1 as secret from range(100)")
    for more in ([], ["--database", path], ["--rows-of", "result"], ["--database", path, "--rows-of", "result"]):
        done = run("count", "--sql", statement, "--epsilon", "1", *more)
        assert done.exit_code == 2 and done.stderr.startswith("Error: --sql") and done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == ["a.duckdb"]
    with duckdb.connect(str(path)) as connection:
        assert survives(connection)


@pytest.mark.medium
def test_a_select_of_the_command_line_cannot_write_to_sqlite(tmp_path):
    """A database is opened to be read only, so that even what gets by as a query changes nothing."""
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table victim (secret integer)")
        connection.executemany("insert into victim values (?)", [(1,)] * 100)
    connection.close()
    before = path.read_bytes()
    for statement, rows_of in product(STATEMENTS, ("source", "result")):
        words = ["--sql", statement, "--epsilon", "1", "--database", path, "--rows-of", rows_of]
        assert run("count", *words).exit_code == 2
    assert path.read_bytes() == before


@pytest.mark.medium
def test_variables_of_the_process_are_no_tables_of_the_command_line():
    """A query cannot reach the data frames of the process that runs it."""
    for rows_of in ("source", "result"):
        done = run("count", "--sql", "select * from EVIL_TABLE", "--epsilon", "1", "--rows-of", rows_of)
        assert done.exit_code == 2


EVIL_TABLE = pa.table({"x": [1.0]})
