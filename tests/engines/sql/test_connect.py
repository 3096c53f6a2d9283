"""Databases are opened to be read, by a file or a URL, and their tables are listed from the catalogue."""

import sqlite3
from contextlib import ExitStack

import duckdb
import pytest

from nobounds.engines.sql.connect import connect, is_sqlite, table_names, whole_table


@pytest.fixture(params=["duckdb", "sqlite"])
def database(tmp_path, request):
    """A database with a table whose name needs quotes."""
    path = tmp_path / f"a.{request.param}"
    opened = duckdb.connect(str(path)) if request.param == "duckdb" else sqlite3.connect(path)
    opened.cursor().execute('create table "b ""c" (x double)')
    opened.commit()
    opened.close()
    return path


def test_a_file_is_opened_to_be_read(database):
    """Its tables are listed and read, and nothing can be written."""
    with ExitStack() as stack:
        connection, name = connect(str(database), stack)
        assert name == database.name and table_names(connection) == ['b "c']
        assert connection.execute(whole_table('b "c')).fetchall() == []
        with pytest.raises((duckdb.Error, sqlite3.Error)):
            connection.execute('insert into "b ""c" values (1)')


def test_other_files_are_refused_in_words(tmp_path):
    """By their first bytes; an empty file is a database of SQLite."""
    (tmp_path / "x.db").write_bytes(b"something else, long enough")
    (tmp_path / "empty.db").touch()
    assert is_sqlite(tmp_path / "empty.db")
    for name, said in (("x.db", "is neither"), ("none.db", "is no file")):
        with ExitStack() as stack, pytest.raises(ValueError, match=said):
            connect(str(tmp_path / name), stack)


def test_an_error_of_a_server_does_not_name_its_password():
    """Neither in its words nor behind them, whatever server it is."""
    for scheme, said in (
        ("postgresql", "be reached"),
        ("postgresql+psycopg", "be reached"),
        ("oracle", "another kind"),
    ):
        with ExitStack() as stack, pytest.raises(ValueError, match=said) as found:
            connect(f"{scheme}://me:hunter2@127.0.0.1:1/none", stack)
        assert "hunter2" not in str(found.value) and found.value.__context__ is None


@pytest.mark.medium
def test_mariadb_is_opened_to_be_read(mariadb):
    """Its tables are listed and read, nothing can be written, and an error does not name the password."""
    with mariadb.begin() as writer:
        for statement in ("drop table if exists opened", "create table opened (x double)"):
            writer.exec_driver_sql(statement)
    with ExitStack() as stack:
        engine, name = connect(mariadb.url.set(drivername="mariadb").render_as_string(hide_password=False), stack)
        assert name == "tests" and "opened" in table_names(engine)
        with engine.connect() as connection, pytest.raises(Exception, match="READ ONLY"):
            connection.exec_driver_sql("insert into opened values (1)")
    with ExitStack() as stack, pytest.raises(ValueError, match="cannot be reached") as found:
        connect("mariadb://me:hunter2@127.0.0.1:1/none", stack)
    assert "hunter2" not in str(found.value) and found.value.__context__ is None
