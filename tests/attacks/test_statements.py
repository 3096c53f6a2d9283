"""Hostile SQL statements: each is refused with its reason, from the text and the names of columns alone."""

import logging
import random
import sqlite3

import duckdb
import numpy as np
import polars as pl
import psycopg
import pytest
from support.hostile_statements import REFUSED
from support.purse import Purse

import nobounds as nb

N = 900
TAXIS = pl.DataFrame(
    {
        "fare": np.arange(N) % 30 * 1.0,
        "tip": np.arange(N) % 7 * 1.0,
        "borough": ["Bronx", "Queens", "Bronx"] * (N // 3),
        "rider": np.arange(N) % 50,
        "zone": np.arange(N) % 20,
    }
)
RIDERS = pl.DataFrame({"rider": np.arange(50), "fare": np.arange(50) * 1.0})
ZONES = pl.DataFrame({"id": np.arange(20), "side": ["east", "west"] * 10, "half": np.arange(20) // 2})
PUBLIC = {"public_tables": ["zones"]}


@pytest.fixture(autouse=True)
def quiet():
    """The parser logs what it cannot read."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


def in_memory():
    return {"taxis": TAXIS, "cabs": TAXIS, "riders": RIDERS, "zones": ZONES}


def in_duckdb():
    connection = duckdb.connect(config={"python_enable_replacements": False})
    for name, frame in in_memory().items():
        if name != "cabs":
            connection.register("given", frame.to_arrow())
            connection.execute(f"create table {name} as select * from given")
    connection.execute("create view cabs as select * from taxis")
    return connection


def in_sqlite():
    connection = sqlite3.connect(":memory:")
    for name, frame in in_memory().items():
        if name != "cabs":
            connection.execute(f"create table {name} ({', '.join(frame.columns)})")
            marks = ", ".join("?" * frame.width)
            connection.executemany(f"insert into {name} values ({marks})", frame.rows())
    connection.execute("create view cabs as select * from taxis")
    return connection


def options(statement):
    return PUBLIC | ({"delta": 1e-6} if "group by" in statement else {})


def test_there_are_enough_of_them():
    """At least 200, none of them without a reason."""
    assert len(REFUSED) >= 300 and all(REFUSED.values())


@pytest.mark.parametrize("statement", REFUSED)
def test_it_is_refused_with_the_reason_and_nothing_is_charged(statement):
    """Before a record is read: the same words for an empty table."""
    purse, said = Purse(), []
    for tables in (in_memory(), {name: frame.clear() for name, frame in in_memory().items()} | {"zones": ZONES}):
        if "cabs" in statement:
            tables["cabs"] = tables["taxis"]
        with pytest.raises((ValueError, TypeError)) as caught:
            nb.sql(statement, tables, epsilon=1, budget=purse, **options(statement))
        assert REFUSED[statement].lower() in str(caught.value).lower()
        said.append(str(caught.value))
    assert said[0] == said[1] and not purse.charged


@pytest.mark.medium
@pytest.mark.parametrize("connect", [in_duckdb, in_sqlite])
def test_so_it_is_on_a_database(connect):
    """The statement is not given to the database: its tables are as they were."""
    connection, purse = connect(), Purse()
    for statement in REFUSED:
        # SQLite has no types, so texts may be numbers there.
        if connect is in_sqlite and statement.endswith(
            ("borough > 3", "private_mean(borough) from taxis", "zone = side")
        ):
            continue
        with pytest.raises((ValueError, TypeError)):
            nb.sql(statement, connection, epsilon=1, budget=purse, **options(statement))
    assert not purse.charged
    assert connection.execute("select count(*), sum(fare) from taxis").fetchone() == (N, TAXIS["fare"].sum())


@pytest.mark.medium
def test_so_it_is_on_a_server(postgres):
    """By a connection that may write, in a transaction that stays open; the tables are as they were."""
    purse = Purse()
    with psycopg.connect(postgres) as connection:
        connection.execute("create schema hostile; set search_path = hostile")
        for name, frame in in_memory().items():
            if name != "cabs":
                kinds = {pl.Float64: "float8", pl.Int64: "int8", pl.String: "text"}
                columns = ", ".join(f"{column} {kinds[kind]}" for column, kind in frame.schema.items())
                connection.execute(f"create table {name} ({columns})")
                connection.cursor().executemany(
                    f"insert into {name} values ({', '.join(['%s'] * frame.width)})", frame.rows()
                )
        connection.execute("create view cabs as select * from taxis")
        for statement in REFUSED:
            with pytest.raises((ValueError, TypeError)):
                nb.sql(statement, connection, epsilon=1, budget=purse, **options(statement))
        assert not purse.charged
        counted = connection.execute("select count(*), sum(fare) from taxis").fetchone()
        assert counted == (N, TAXIS["fare"].sum())
        answers = nb.sql(SAFE[0], connection, epsilon=1, rng=random.Random(3))
        connection.rollback()
    expected = nb.sql(SAFE[0], in_memory(), epsilon=1, rng=random.Random(3))
    assert str(answers) == str(expected)


@pytest.mark.medium
@pytest.mark.parametrize("statement", [each for each in REFUSED if "private_" not in each or "from (" in each])
def test_a_query_of_rows_is_refused_for_the_same_reason(statement):
    """`Table.sql` uses the same check: what is no select of rows of one table is refused there too."""
    single = statement.startswith(("select fare", "select 1 from", "select * from", "table taxis", "select taxis.*"))
    if single:
        assert nb.Table.sql(in_duckdb(), statement.replace("select 1 from", "select 1 as one from")).columns
        return
    with pytest.raises((ValueError, TypeError)):
        nb.Table.sql(in_duckdb(), statement)


SAFE = [
    "select private_mean(fare) from taxis where fare > 3;",
    "select private_mean(fare) from taxis where fare > 3; --",
    "select /* all of them */ private_mean(fare) from taxis -- here\n where fare > 3",
    "SELECT PRIVATE_MEAN(FARE) FROM TAXIS WHERE FARE > 3",
    'select private_avg("fare") from "taxis" where (("fare" > 3))',
    "(select private_mean(t.fare) from taxis as t where t.fare > 3)",
    "select private_mean(fare) from (select * from taxis where fare > 3 order by tip) t",
    "with a as (select * from taxis), b as (select fare from a where fare > 3) select private_mean(fare) from b",
    "select private_mean(f) from (select fare as f, tip as fare from taxis where fare > 3) t",
    "select private_mean(fare) from cabs where 3 < fare",
    "select private_mean(fare) from taxis left join zones on zone = id where fare > 3",
]


@pytest.mark.medium
@pytest.mark.parametrize("statement", SAFE)
def test_what_only_looks_odd_is_answered_as_the_table_itself(statement):
    """Comments, case, parentheses, subqueries of rows, and names that change places."""
    for tables in (in_memory(), in_duckdb()):
        answers = nb.sql(statement, tables, epsilon=1, rng=random.Random(3), **PUBLIC)
        expected = nb.Table(TAXIS).where("fare > 3").agg("mean(fare)", epsilon=1, rng=random.Random(3))
        (release,) = answers.releases.values()
        assert release.value == expected["mean(fare)"].value and answers.loss == expected.loss


@pytest.mark.parametrize("more", ["; else drop table taxis", ";; else", "; select 1", "; drop table taxis", "; end"])
def test_nothing_follows_a_statement(more):
    """What comes after a semicolon is refused, also where the parser reads it as no statement and drops it."""
    statement, purse = "select private_mean(fare) from taxis", Purse()
    with pytest.raises(ValueError, match=r"one select|cannot|nobounds can read"):
        nb.sql(f"{statement}{more}", in_memory(), epsilon=1, budget=purse)
    for expression in (f"fare > 3{more}", f"fare > 3){more}", f"fare > 3){more} (true"):
        with pytest.raises(ValueError, match="expression"):
            nb.Table(TAXIS, budget=purse).where(expression)
    assert not purse.charged


def test_a_statement_cannot_choose_another_unit():
    """The unit is a column of the table itself, whatever the statement calls by its name."""
    renamed = "select private_mean(fare) from (select fare, zone as rider from taxis) t"
    answers = nb.sql(renamed, in_memory(), epsilon=1, unit="rider", rows_per_unit=2, rng=random.Random(1))
    expected = nb.Table(TAXIS, unit="rider", rows_per_unit=2).agg("mean(fare)", epsilon=1, rng=random.Random(1))
    assert str(answers) == str(expected)
    with pytest.raises(ValueError, match="the unit 'id' must be a column of the table"):
        nb.sql(
            "select private_mean(fare) from taxis join zones on zone = id", in_memory(), epsilon=1, unit="id", **PUBLIC
        )


def test_a_table_under_two_names_is_one_table(tmp_path):
    """The same frame, or the same file by two paths, is not joined with itself by declaring one of them public."""
    TAXIS.write_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").symlink_to(tmp_path / "a.parquet")
    join = "select private_mean(a.fare) from a join b on a.rider = b.rider"
    for tables in ({"a": TAXIS, "b": TAXIS}, {name: tmp_path / f"{name}.parquet" for name in "ab"}):
        with pytest.raises(ValueError, match="self-join"):
            nb.sql(join, tables, epsilon=1, public_tables=["b"])
    named = join.replace("from a join b", "from 'a.parquet' a join 'b.parquet' b")
    for tables in ({}, {"c": tmp_path / "a.parquet"}, duckdb.connect()):
        with pytest.raises(ValueError, match="self-join"):
            nb.sql(named, tables, folder=tmp_path, epsilon=1, public_tables=["b.parquet"])


VIEWS = {
    "create view v as select max(fare) as fare from taxis": "aggregate",
    "create view v as select distinct fare from taxis": "distinct",
    "create view v as select a.fare from taxis a join taxis b on a.rider = b.rider": "self-join|parentheses",
    "create view v as select fare from taxis union all select fare from taxis": "union",
    "create view v as select fare from taxis limit 3": "limit",
    "create view v as select row_number() over () as fare from taxis": "window",
    "create view v(fare) as select tip from taxis": "cannot be read",
    "create view w as select sum(fare) as fare from taxis; create view v as select fare from w": "aggregate",
}


@pytest.mark.parametrize("connect", [in_duckdb, in_sqlite])
@pytest.mark.parametrize("created", VIEWS)
def test_a_view_is_checked_by_its_definition(created, connect):
    """One that is not made of rows of a table needs the user's word, and then releases say so."""
    connection = connect()
    for each in created.split(";"):
        connection.execute(each)
    with pytest.raises(ValueError, match=VIEWS[created]) as caught:
        nb.sql("select private_mean(fare) from v", connection, epsilon=1)
    assert "rows_of='result'" in str(caught.value)
    answers = nb.sql("select private_mean(fare) from v", connection, epsilon=1, rows_of="result")
    connection.close()
    assert answers.parameters["rows_of"] == "query result"


def test_functions_of_the_database_are_not_called():
    """A macro that takes the name of a function has no say: nobounds computes the expressions."""
    connection = in_duckdb()
    connection.execute("create macro abs(x) as (select max(fare) from taxis)")
    statement = "select private_mean(abs(fare)) from taxis"
    answers = nb.sql(statement, connection, epsilon=1, rng=random.Random(1))
    expected = nb.sql(statement, in_memory(), epsilon=1, rng=random.Random(1))
    assert str(answers) == str(expected)


COMPUTED = "create table made (x integer, y integer generated always as (abs(x)) virtual)"


@pytest.mark.parametrize("connect", [in_duckdb, in_sqlite])
def test_columns_that_the_database_computes_are_declared(connect):
    """Such a column may fail on a row, as abs does on the lowest integer, so whether it does would tell of the rows."""
    connection = connect()
    connection.execute(COMPUTED)
    with pytest.raises(ValueError, match=r"^made has a column that the database computes .*rows_of='result'"):
        nb.sql("select private_mean(y) from made", connection, epsilon=1)
    connection.execute("insert into made (x) values (3)")
    answers = nb.sql("select private_mean(y) from made", connection, epsilon=1, rows_of="result")
    assert answers.parameters["rows_of"] == "query result"
    connection.close()


@pytest.mark.medium
def test_columns_that_mariadb_computes_are_declared(mariadb):
    """As in the others."""
    with mariadb.begin() as connection:
        for statement in ("drop table if exists made", COMPUTED):
            connection.exec_driver_sql(statement)
    with pytest.raises(ValueError, match=r"^made has a column that the database computes"):
        nb.sql("select private_mean(y) from made", mariadb, epsilon=1)


SYSTEM = r"is a table of the database system, .*rows_of='result'"


def test_tables_of_sqlite_itself_are_declared():
    """They hold exact numbers of rows, and largest keys."""
    connection = in_sqlite()
    connection.execute("create table counted (x integer primary key autoincrement)")
    connection.execute("insert into counted values (7)")
    connection.execute("create index of_fares on taxis (fare)")
    connection.execute("analyze")
    for name in ("sqlite_stat1", "sqlite_sequence", '"SQLITE_STAT1"'):
        with pytest.raises(ValueError, match=SYSTEM):
            nb.sql(f"select private_count() from {name}", connection, epsilon=1)
    answers = nb.sql("select private_count() from sqlite_sequence", connection, epsilon=1, rows_of="result")
    assert answers.parameters["rows_of"] == "query result"
    connection.close()


@pytest.mark.medium
def test_tables_of_servers_themselves_are_declared(postgres, mariadb):
    """Their rows come from those of other tables: what protects a row of them protects nobody."""
    with psycopg.connect(postgres) as connection:
        for name in ("pg_class", "pg_catalog.pg_statistic", "pg_stats", "information_schema.tables"):
            with pytest.raises(ValueError, match=SYSTEM):
                nb.sql(f"select private_count() from {name}", connection, epsilon=1)
    for name in ("mysql.innodb_table_stats", "information_schema.tables"):
        with pytest.raises(ValueError, match=SYSTEM):
            nb.sql(f"select private_count() from {name}", mariadb, epsilon=1)


@pytest.mark.medium
def test_a_part_on_another_server_is_declared(postgres):
    """A table may have partitions and children that are foreign tables."""
    with psycopg.connect(postgres) as connection:
        for statement in (
            "create table whole (x float8)",
            "create table part () inherits (whole)",
            "create foreign data wrapper nothing",
            "create server nowhere foreign data wrapper nothing",
            "create foreign table far (x float8) server nowhere",
            "alter foreign table far inherit part",
        ):
            connection.execute(statement)
        with pytest.raises(ValueError, match=r"^whole has a part that is a foreign table"):
            nb.sql("select private_mean(x) from whole", connection, epsilon=1)
        connection.rollback()
