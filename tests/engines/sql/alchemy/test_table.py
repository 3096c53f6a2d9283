"""Stored tables through SQLAlchemy: whatever their names, and those that have to be declared."""

from contextlib import closing

import pytest
from support.alchemy import opened, values, write

import nobounds as nb
from nobounds.engines.sql.catalogue import listed
from nobounds.expressions.statements.relation import Named

sqlalchemy = pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: pip install sqlalchemy")
EXAMPLE = "say so by rows_of='result'"


@pytest.mark.medium
def test_names_are_quoted(sqlite, mariadb):
    """Any name that a column can have may be asked for."""
    for engine, quote in ((sqlite, '"'), (mariadb, "`")):
        names = ["a b", "select", f"q{quote}q", "É%s", "50%", ":y"]
        columns = ", ".join(f"{quote}{name.replace(quote, 2 * quote)}{quote} int" for name in names)
        with closing(engine.raw_connection()) as connection:
            cursor = connection.cursor()
            cursor.execute(f"create table named ({columns})")
            cursor.execute(f"insert into named values ({', '.join(map(str, range(len(names))))})")
            connection.commit()
        stream = opened(engine, "named")
        assert [values(stream, name).tolist() for name in names] == [[k] for k in range(len(names))]


@pytest.mark.medium
def test_a_database_of_any_name_is_read(mariadb):
    """Also of one whose name ends in a backslash, which MariaDB takes for an escape."""
    write(mariadb, "create database if not exists `it's\\`", "create or replace table `it's\\`.own (x int)")
    write(mariadb, "insert into `it's\\`.own values (5)")
    engine = sqlalchemy.create_engine(mariadb.url.set(database="it's\\"))
    assert values(opened(engine, "own"), "x").tolist() == [5]
    engine.dispose()


def test_a_column_without_a_type_has_none(sqlite):
    """Then every column may be of numbers, as by a connection of sqlite3."""
    write(sqlite, "create table bare (x, g text)", "insert into bare values (1, 'a'), ('2', 'b')")
    stream = opened(sqlite, "bare")
    assert not stream.typed
    assert values(stream, "x").tolist() == [1, 2]


def test_views_and_tables_without_snapshots_are_declared(mariadb):
    """A view, and a table of an engine without transactions; the name of a table may be in another case."""
    write(mariadb, "drop table if exists Base, still", "drop view if exists seen")
    write(mariadb, "create table Base (x double)", "create table still (x double) engine=MyISAM")
    write(mariadb, "create view seen as select distinct x from Base")
    for name, what in (("seen", "a view"), ("still", "a table of MyISAM, which has no snapshots")):
        with pytest.raises(ValueError, match=f"^{name} is {what}; .*{EXAMPLE}"):
            nb.sql(f"select private_mean(x) from {name}", mariadb, epsilon=1)
        assert listed(mariadb, Named((name,), (False,)), True).result
    assert listed(mariadb, Named(("base",), (False,)), False).parts == ("tests", "Base")
    for name in ("none", "a.b.c", "it's"):
        with pytest.raises(ValueError, match="there is no table"):
            listed(mariadb, Named(tuple(name.split(".")), (False,) * len(name.split("."))), False)
