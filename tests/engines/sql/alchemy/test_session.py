"""Connections of SQLAlchemy: one snapshot for all queries of a statistic, and given back as they were."""

import random
import sqlite3
import sys
from threading import Thread

import pytest
from support.alchemy import opened, values, write

import nobounds as nb
from nobounds.counting.scan import gathered
from nobounds.engines.sql.database import from_table

sqlalchemy = pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: pip install sqlalchemy")


def test_a_release_sees_one_snapshot_of_sqlite(sqlite):
    """Counts and passes are of the same rows, whatever is written between them; the next release sees the new ones."""
    write(sqlite, "pragma journal_mode = wal", "create table kept (x real)", "insert into kept values (1), (2)")
    stream = opened(sqlite, "kept")
    there = stream.elsewhere()
    assert there.rows() == 2
    write(sqlite, "insert into kept values (3)")
    assert gathered(there.columns(["x"])["x"].fetched()).tolist() == [1, 2]
    assert (there.rows(), stream.elsewhere().rows()) == (2, 3)
    del there
    write(sqlite, "drop table kept")  # no transaction is left open


class Autocommit(sqlite3.Connection):
    """As sqlite3 is with autocommit=True, from Python 3.12 on."""

    def rollback(self):
        """Nothing."""


DRIVERS = [{}, {"isolation_level": None}, {"isolation_level": None, "factory": Autocommit}]
if sys.version_info >= (3, 12):
    DRIVERS += [{"autocommit": True}, {"autocommit": False}]


@pytest.mark.parametrize("given", DRIVERS)
def test_no_transaction_of_ours_is_left(tmp_path, given):
    """With autocommit=True, sqlite3 ignores rollback(), and later releases would see the old rows."""
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/own.db", connect_args=given, pool_size=1, max_overflow=0)
    write(engine, "create table own (x real)", "insert into own values (1), (2)")
    stream = opened(engine, "own")
    assert stream.elsewhere().rows() == 2
    with engine.connect() as connection:
        assert connection.connection.driver_connection.in_transaction == (given.get("autocommit") is False)
    write(engine, "insert into own values (3)")
    assert stream.elsewhere().rows() == 3
    engine.dispose()


def interrupted(*given):
    """A user's Ctrl-C."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("where", ["session.sqlite_rows", "table._floats", "table._key"])
def test_a_kept_interrupt_holds_no_transaction(sqlite, monkeypatch, where):
    """A notebook keeps the last error, with the frames that read; writers must not wait for it."""
    write(sqlite, "create table kept (x real, g text)", "insert into kept values (1, 'a')")
    there = opened(sqlite, "kept").elsewhere()
    monkeypatch.setattr(f"nobounds.engines.sql.alchemy.{where}", interrupted)
    with pytest.raises(KeyboardInterrupt) as kept:
        list(there.stream.batches(["g"], ["x"]))
    assert sqlite.pool.checkedout() == 0
    write(sqlite, "drop table kept")
    assert kept.tb is not None and there is not None


@pytest.mark.medium
def test_a_kept_interrupt_holds_no_transaction_of_mariadb(mariadb, monkeypatch):
    """While rows are on their way too."""
    write(mariadb, "drop table if exists kept", "create table kept (x double)")
    write(mariadb, "insert into kept select seq from seq_1_to_100000")
    before, there = mariadb.pool.checkedout(), opened(mariadb, "kept").elsewhere()
    monkeypatch.setattr("nobounds.engines.sql.alchemy.table._floats", interrupted)
    with pytest.raises(KeyboardInterrupt) as kept:
        list(there.stream.batches([], ["x"]))
    assert mariadb.pool.checkedout() == before
    write(mariadb, "drop table kept")  # waits for transactions that have read it
    assert kept.tb is not None and there is not None


def test_kept_errors_hold_no_transaction(sqlite):
    """Of a table that is not there, or no longer."""
    write(sqlite, "create table kept (x real)", "insert into kept values (1)")
    stream = opened(sqlite, "kept")
    counted, read = stream.elsewhere(), stream.elsewhere()
    write(sqlite, "drop table kept")
    assert sqlite.pool.checkedout() == 2
    with pytest.raises(ValueError, match="there is no table") as unknown:
        opened(sqlite, "kept")
    assert sqlite.pool.checkedout() == 2
    with pytest.raises(ValueError, match="the query failed") as first:
        counted.rows()
    with pytest.raises(ValueError, match="the query failed") as second:
        list(read.stream.batches([], ["x"]))
    assert sqlite.pool.checkedout() == 0
    assert all(each.tb is not None for each in (unknown, first, second))


def test_rows_that_are_not_wanted_end_nothing(sqlite):
    """A pass may stop early, and the next one sees the same rows."""
    write(sqlite, "pragma journal_mode = wal", "create table kept (x real)", "insert into kept values (1), (2)")
    there = opened(sqlite, "kept").elsewhere()
    batches = there.stream.batches([], ["x"])
    assert next(batches).num_rows == 2
    batches.close()
    write(sqlite, "insert into kept values (3)")
    assert there.rows() == 2


@pytest.mark.medium
def test_a_release_sees_one_snapshot_of_mariadb(mariadb):
    """The transaction reads only, and its rows are those of its beginning."""
    write(mariadb, "drop table if exists kept", "create table kept (x double)", "insert into kept values (1), (2)")
    stream = opened(mariadb, "kept")
    there = stream.elsewhere()
    write(mariadb, "insert into kept values (3)")
    assert there.rows() == 2
    write(mariadb, "delete from kept where x = 1")
    assert gathered(there.columns(["x"])["x"].fetched()).tolist() == [1, 2]
    assert stream.elsewhere().rows() == 2
    del there
    write(mariadb, "drop table kept")  # waits for transactions that have read it


@pytest.mark.medium
def test_a_connection_goes_back_as_it_was(mariadb):
    """No transaction of ours is left on it, not even with an engine that commits by itself."""
    write(mariadb, "drop table if exists given", "create table given (x double)", "insert into given values (1)")
    for level in ("AUTOCOMMIT", "READ COMMITTED"):
        engine = mariadb.execution_options(isolation_level=level)
        there = opened(engine, "given").elsewhere()
        assert there.rows() == 1
        del there
        with engine.connect() as connection:
            assert connection.exec_driver_sql("select @@in_transaction").scalar() == 0
            connection.exec_driver_sql("update given set x = x + 1")
            connection.commit()


def test_a_transaction_that_the_user_has_begun_is_read_in(sqlite):
    """What is not committed is seen by its own connection alone, which stays as it was."""
    write(sqlite, "create table mine (x real)", "insert into mine values (1)")
    with sqlite.connect() as connection:
        connection.exec_driver_sql("insert into mine values (2)")
        assert values(opened(connection, "mine"), "x").tolist() == [1, 2]
        assert connection.in_transaction()
        connection.rollback()
        assert values(opened(connection, "mine"), "x").tolist() == [1]


@pytest.mark.parametrize("level", ["SERIALIZABLE", "AUTOCOMMIT"])
def test_a_transaction_that_the_driver_has_not_begun_has_a_snapshot(sqlite, level):
    """After a mere read, SQLAlchemy is in a transaction and sqlite3 is not; the connection is left as it was."""
    write(sqlite, "pragma journal_mode = wal", "create table kept (x real)", "insert into kept values (1), (2)")
    with sqlite.connect().execution_options(isolation_level=level) as connection:
        connection.exec_driver_sql("select 1").all()
        driver = connection.connection.driver_connection
        assert connection.in_transaction() and not driver.in_transaction
        there = opened(connection, "kept").elsewhere()
        assert there.rows() == 2
        write(sqlite, "insert into kept values (3)")
        assert gathered(there.columns(["x"])["x"].fetched()).tolist() == [1, 2]
        del there
        assert connection.in_transaction() and not driver.in_transaction
        assert values(opened(connection, "kept"), "x").tolist() == [1, 2, 3]
        connection.exec_driver_sql("insert into kept values (4)")
        connection.commit()
    assert values(opened(sqlite, "kept"), "x").tolist() == [1, 2, 3, 4]


def test_writes_of_the_user_outlive_a_release(sqlite):
    """What the user writes on a connection that is still read by a release is the user's to commit."""
    write(sqlite, "create table kept (x real)", "insert into kept values (1)")
    with sqlite.connect() as connection:
        connection.exec_driver_sql("select 1").all()
        there = opened(connection, "kept").elsewhere()
        assert there.rows() == 1
        connection.exec_driver_sql("insert into kept values (2)")
        del there
        connection.commit()
    assert values(opened(sqlite, "kept"), "x").tolist() == [1, 2]


@pytest.mark.medium
def test_passes_run_in_postgres_through_sqlalchemy(postgres):
    """Its connections are psycopg's."""
    folder = postgres.split()[0].removeprefix("host=")
    engine = sqlalchemy.create_engine(f"postgresql+psycopg://nobounds@/postgres?host={folder}")
    write(engine, "drop table if exists public.through", "create table public.through (x float8)")
    write(engine, "insert into public.through select generate_series(1, 100)")
    table = nb.Table.sql(engine, "select * from public.through")
    assert table.count(epsilon=50).value == pytest.approx(100, abs=3)
    stream = from_table(engine, "public.through")
    assert stream.elsewhere().rows() == 100
    del stream, table
    engine.dispose()


def test_a_driver_without_streams_is_refused():
    """By its name, before it connects."""

    class Dialect:
        name, driver = "mysql", "mysqlconnector"

    engine = sqlalchemy.create_engine("sqlite://")
    engine.dialect = Dialect()
    with pytest.raises(TypeError, match=r"^MariaDB is read by PyMySQL or mysqlclient, got mysqlconnector"):
        nb.sql("select private_count() from t", engine, epsilon=1)


@pytest.mark.medium
@pytest.mark.parametrize("rows_of", ["source", "result"])
def test_threads_with_one_connection_for_all_take_turns(rows_of):
    """As a database in memory has it: no release ends the transaction of another one."""
    given = {"poolclass": sqlalchemy.StaticPool, "connect_args": {"check_same_thread": False}}
    engine = sqlalchemy.create_engine("sqlite://", **given)
    write(engine, "create table kept (x real, y real)", f"insert into kept values {', '.join(['(1, 2)'] * 3000)}")
    statement, told = "select private_mean(x), private_sum(y), private_count() from kept where y > 1", []

    def release():
        told.append(str(nb.sql(statement, engine, epsilon=1, rows_of=rows_of, rng=random.Random(7))))

    release()
    threads = [Thread(target=release) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == told[:1] * 13
