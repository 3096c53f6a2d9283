"""Data are chosen by names alone, and what is uploaded stays where only this user can read it."""

import os
import sqlite3

import duckdb
import pytest

from nobounds.studio.sources import Folder, Uploads, database_source, safe_name, tables_of


@pytest.fixture
def folder(tmp_path):
    start = tmp_path / "start"
    (start / "deep" / "er").mkdir(parents=True)
    (start / ".git").mkdir()
    for name in ("b.csv", "a.parquet", "deep/c.xlsx", "deep/er/d.jsonl", ".git/e.csv", ".f.csv", "g.txt", "h.budget"):
        (start / name).write_bytes(b"")
    (tmp_path / "outside.csv").write_text("a\n1\n")
    (start / "link.csv").symlink_to(tmp_path / "outside.csv")
    (start / "inside.csv").symlink_to(start / "b.csv")
    (start / "loop").symlink_to(start)
    return Folder(start)


def test_files_are_listed_by_name(folder):
    """Tables below the start folder, budgets apart from them; nothing hidden, and no link that leads elsewhere."""
    assert folder.files() == ["a.parquet", "b.csv", "inside.csv", "deep/c.xlsx", "deep/er/d.jsonl"]
    assert folder.budgets() == ["h.budget"]


@pytest.mark.parametrize("name", ["../outside.csv", "/etc/passwd", "link.csv", "deep/../b.csv", "", "g.txt"])
def test_a_name_that_is_not_listed_is_no_path(folder, name):
    """Even one of a file that is there."""
    with pytest.raises(ValueError, match="in the list"):
        folder.path(name, folder.files())


def test_a_huge_folder_is_cut(tmp_path):
    """A page lists at most 500 names."""
    for k in range(600):
        (tmp_path / f"{k}.csv").touch()
    assert len(Folder(tmp_path).files()) == 500


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("a.csv", "a.csv"),
        ("../../a.csv", "a.csv"),
        ("C:\\x\\a.csv", "a.csv"),
        ("..a.csv", "a.csv"),
        ("a\n.csv", "a_.csv"),
    ],
)
def test_an_upload_gets_a_safe_name_in_a_folder_of_its_own(tmp_path, name, kept):
    """Only the last part of its name counts, and two of the same name do not meet."""
    uploads = Uploads(tmp_path)
    first, second = uploads.new(name), uploads.new(name)
    assert first != second and first.parent.parent == tmp_path
    assert first.name == kept and os.stat(first).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["a.exe", "a", "", "..", "a.csv/.."])
def test_an_upload_that_is_no_table_is_refused(tmp_path, name):
    """By its name."""
    with pytest.raises(ValueError, match="must end in"):
        Uploads(tmp_path).new(name)
    assert not list(tmp_path.iterdir())


def test_tables_of_a_database_are_listed_and_opened(tmp_path):
    """In DuckDB and SQLite, with names that need quotes."""
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute('create table "odd ""one" as select 1.5 as x')
    with sqlite3.connect(tmp_path / "b.sqlite") as connection:
        connection.execute('create table "odd ""one" (x real)')
    connection.close()
    for name in ("a.duckdb", "b.sqlite"):
        path = str(tmp_path / name)
        assert tables_of(path) == ['odd "one']
        with database_source(path, 'odd "one').opened() as table:
            assert list(table.columns) == ["x"]


@pytest.mark.medium
def test_tables_of_mariadb_are_listed_and_opened(mariadb):
    """By a connection string with or without a driver in it, and with names that need quotes."""
    name = 'odd "one` %s'
    with mariadb.begin() as connection:
        for statement in (
            "drop table if exists {}",
            "create table {} (x double)",
            "insert into {} values (1.5), (2.5)",
        ):
            connection.exec_driver_sql(statement.format("`{}`".format(name.replace("`", "``").replace("%", "%%"))))
    for scheme in ("mariadb", "mysql", "mysql+pymysql"):
        url = mariadb.url.set(drivername=scheme).render_as_string(hide_password=False)
        assert name in tables_of(url)
        source = database_source(url, name)
        assert source.name == f"{name} (MariaDB)"
        with source.opened() as table:
            assert table.count(epsilon=1000).value == 2


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg", "mariadb"])
def test_a_connection_string_is_not_shown(scheme):
    """Neither in the name nor in the text of a source."""
    source = database_source(f"{scheme}://me:secret@host/db", "people")
    assert source.url.endswith("host/db") and "secret" not in f"{source}{source.name}{source.stem}"


def test_names_of_files():
    """What could be a path or hidden is taken out."""
    assert safe_name("../.x/y z.csv") == "_.x_y z.csv"
