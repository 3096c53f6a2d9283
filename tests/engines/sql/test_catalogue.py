"""What names stand for in PostgreSQL, by each driver."""

import random
from contextlib import closing

import polars as pl
import psycopg
import pytest
from support.drivers import connection  # noqa: F401

import nobounds as nb

MADE = """
    drop schema if exists cat cascade; drop role if exists analyst; create schema cat; set search_path = cat, public;
    create table trips as select i % 40 as rider, (i % 25)::float8 as fare, 'z' || i % 3 as "Zone"
        from generate_series(1, 1000) i;
    create table zones as select 'z' || i as id, i::int as toll from generate_series(0, 2) i;
    create view rows_only as select fare * 2::double precision as twice, "Zone" as zone from trips where fare > 3;
    create view sums as select rider, sum(fare) as total from trips group by rider;
    create materialized view kept as select * from trips;
    create table secured as select * from trips;
    alter table secured enable row level security; alter table secured force row level security;
    create policy mine on secured using (rider < (select avg(rider) from trips));
    create or replace function evil(float8) returns float8 language sql as 'delete from trips returning 1.0::float8';
"""


@pytest.fixture
def catalogue(connection, postgres):  # noqa: F811
    """A schema with tables and views, on the path of a connection."""
    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute(MADE)
    with closing(connection.cursor()) as cursor:
        cursor.execute("set search_path = cat, public")
    return connection


def asked(statement, connection, **more):  # noqa: F811
    return nb.sql(statement, connection, epsilon=1, rng=random.Random(1), **more)


@pytest.mark.medium
def test_tables_and_views_of_rows_are_read(catalogue):
    """The answers are those of the same rows in memory, and the release is for rows of the table."""
    data = {"fare": [float(i % 25) for i in range(1, 1001)], "Zone": [f"z{i % 3}" for i in range(1, 1001)]}
    table = nb.Table(pl.DataFrame(data))
    expected = (
        table.where("fare > 3").with_columns(twice="fare * 2").agg("mean(twice)", epsilon=1, rng=random.Random(1))
    )
    for statement in (
        "select private_mean(twice) from rows_only",
        "select private_mean(twice) from cat.rows_only",
        "select private_mean(fare * 2) as m from TRIPS where fare > 3",
    ):
        answers = asked(statement, catalogue)
        (release,) = answers.releases.values()
        assert release.value == expected["mean(twice)"].value and "rows_of" not in answers.parameters
    by_zone = asked('select "Zone", private_count() from trips group by 1', catalogue, keys=["z0", "z1", "z2"])
    assert by_zone.by == ("Zone",)
    joined = 'select private_sum(toll) from trips join zones on "Zone" = zones.id'
    assert asked(joined, catalogue, public_tables=["zones"])["sum(toll)"].value == pytest.approx(1000, abs=30)


@pytest.mark.medium
@pytest.mark.parametrize(
    ("name", "why"),
    [("sums", "group"), ("kept", "materialized"), ("nobody", "no table"), ("pg_catalog.pg_stats", "database system")],
)
def test_others_are_refused_before_anything_is_read(name, why, catalogue):
    """With the reason; nothing of the statement is run by the server."""
    with pytest.raises(ValueError, match=why):
        asked(f"select private_count() from {name}", catalogue)
    with pytest.raises(ValueError, match="the function evil"):
        asked("select private_mean(evil(fare)) from trips", catalogue)


@pytest.mark.medium
def test_row_security_may_look_at_other_rows(catalogue, postgres):
    """A table whose rows are shown by a policy is refused to those for whom the policy is active."""
    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute(
            "create role analyst; grant usage on schema cat to analyst; grant select on cat.secured to analyst"
        )
        try:
            assert asked("select private_count() from cat.secured", owner)
            owner.execute("set role analyst")
            with pytest.raises(ValueError, match="row security"):
                asked("select private_count() from cat.secured", owner)
            owner.execute("reset role")
        finally:
            owner.execute("reset role; drop owned by analyst; drop role analyst")


@pytest.mark.medium
def test_a_user_may_declare_that_rows_of_a_view_are_protected(catalogue):
    """Then the release says so."""
    answers = asked("select private_mean(total) from sums", catalogue, rows_of="result")
    assert answers.parameters["rows_of"] == "query result"
    assert "rows_of" not in asked("select private_mean(fare) from trips", catalogue, rows_of="result").parameters
