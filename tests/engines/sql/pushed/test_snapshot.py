"""A snapshot: one transaction of our own for all passes, and no sensitive number in the text of a query."""

from contextlib import closing

import numpy as np
import psycopg
import psycopg2
import pytest
from support.pushed import INF, LATTICES, records, store

from nobounds.counting.histogram import Counted
from nobounds.counting.kept import Gathered
from nobounds.counting.lattice import Total, Totals
from nobounds.counting.scan import gathered, scan
from nobounds.counting.second_look import Within
from nobounds.counting.spans import Spans
from nobounds.engines.sql.database import from_table
from nobounds.engines.sql.pushed.snapshot import Session
from nobounds.engines.streams.local import Local
from nobounds.ladders.ladder import Ladder

rows = Session.rows


def passes_of(connection, name):
    """What three passes over a table see: the number of records, their sum and their median's rung."""
    pushed = records(connection, name)
    yield scan(pushed, Totals(()), None)[0]
    yield scan(pushed, Total(LATTICES[0]), None)[0]
    yield len(scan(pushed, Gathered(Spans.of([(-INF, INF)])), None))
    yield len(gathered(pushed))


@pytest.mark.medium
@pytest.mark.parametrize("driver", [psycopg, psycopg2])
def test_all_passes_see_one_snapshot(postgres, writer, driver):
    """Rows that others add and remove between passes are not seen, not even by one that fetches."""
    store(writer, "written", "x float8", [(k,) for k in range(100)])
    with closing(driver.connect(postgres)) as connection:
        for number in passes_of(connection, "written"):
            writer.execute("insert into written select generate_series(1, 1000); delete from written where x < 3")
            assert number == 100
        assert next(passes_of(connection, "written")) > 1000
        assert not connection.info.transaction_status or connection.rollback() is None


def test_the_transaction_writes_nothing(reader, writer):
    """It is read only and repeatable, and names are those of the catalogue."""
    store(writer, "kept", "x float8", [(1.0,)])
    session = records(reader, "kept").column.snapshot.session
    shown = [
        session.rows(f"select current_setting('{name}')")[0][0] for name in ("transaction_read_only", "search_path")
    ]
    assert shown == ["on", "pg_catalog"]
    assert session.rows("select current_setting('transaction_isolation')") == [("repeatable read",)]
    with pytest.raises(ValueError, match="the query failed"):
        session.rows("delete from public.kept returning 1")
    assert session.connection.closed  # after an error, even if its traceback is kept


def test_functions_of_others_are_not_called(postgres, writer):
    """A function in the user's search path that takes the name of one of ours has no say."""
    store(writer, "taken", "x float8", [(1.0,), (2.0,)])
    writer.execute("create schema if not exists taken")
    writer.execute(
        "create or replace function taken.float8send(float8) returns bytea language sql as 'select null::bytea'"
    )
    with psycopg.connect(postgres, options="-c search_path=taken,public,pg_catalog") as connection:
        assert scan(records(connection, "taken"), Totals(()), None) == [2]
        counted = scan(records(connection, "taken"), Counted(Ladder.float_bits(8)), None)
        assert counted.counts.tolist() == [1, 1]


@pytest.mark.medium
def test_no_text_of_a_query_depends_on_the_data(postgres, writer, monkeypatch):
    """The texts are those of other data with the same noisy numbers: intervals of second looks are in none of them."""
    texts = []
    monkeypatch.setattr(Session, "rows", lambda self, query: texts.append(query) or rows(self, query))
    values = np.random.default_rng(5).lognormal(3, 1, 9000)
    seen = set()
    for scale in (1.0, 1.37):
        store(writer, "logged", "x float8", [(x,) for x in values * scale])
        with psycopg.connect(postgres) as connection:
            spans = Spans.of([(float(np.sort(values)[4000] * scale), float(np.sort(values)[5000] * scale))])
            pushed = records(connection, "logged")
            texts.clear()
            assert len(scan(pushed, Gathered(spans), None)) == 1001
            scan(pushed, Within(Ladder.float_bits(30), spans), None)
            seen.add(tuple(texts))
            del pushed
    assert len(seen) == 1


@pytest.mark.parametrize("state", ["temporary", "written", "repeatable", "gone", "full"])
def test_where_another_connection_would_see_something_else_rows_are_fetched(postgres, writer, state, monkeypatch):
    """Of temporary tables, in a transaction that has written or has a snapshot, or without a second connection."""
    store(writer, "there", "x float8", [(1.0,)])
    with psycopg.connect(postgres) as connection:
        table = "public.there"
        if state == "temporary":
            connection.execute("create temporary table own (x float8)")
            connection.execute("insert into own values (1), (2)")
            table = connection.execute("select 'own'::regclass::oid::regclass::text").fetchone()[0]
        if state == "written":
            connection.execute("insert into there values (2)")
        if state == "repeatable":
            connection.execute("set transaction isolation level repeatable read")
            connection.execute("select count(*) from there")
            writer.execute("insert into there values (2), (3)")
        if state == "gone":
            monkeypatch.setattr(psycopg, "connect", lambda **_: (_ for _ in ()).throw(OSError))
        if state == "full":
            writer.execute("create role few login connection limit 1")
            writer.execute("grant select on there to few")
            connection.close()
            connection = psycopg.connect(postgres.replace("user=nobounds", "user=few"))
        local = Local(from_table(connection, table))
        assert local._elsewhere() is None
        seen = gathered(local.columns(["x"], None)["x"].chunks())
        assert sorted(seen) == {"temporary": [1, 2], "written": [1, 2]}.get(state, [1])
        connection.close()


def test_the_role_of_the_user_reads(postgres, writer):
    """A role that was set counts, as if its own connection asked."""
    store(writer, "granted", "x float8", [(1.0,), (2.0,)])
    writer.execute("create role reading")
    writer.execute("grant select on granted to reading")
    with psycopg.connect(postgres) as connection:
        connection.execute("set role reading")
        connection.commit()
        pushed = records(connection, "granted")
        assert pushed.column.snapshot.session.rows("select current_user::text") == [("reading",)]
        assert len(scan(pushed, Gathered(Spans.of([(0.0, 1.5)])), None)) == 1


def test_without_a_temporary_table_a_second_look_is_fetched(postgres, writer):
    """As on a standby server: the counts are the same, and intervals are in no query."""
    store(writer, "standby", "x float8", [(float(k),) for k in range(50)])
    writer.execute("create role plain login; revoke temporary on database postgres from public")
    writer.execute("grant select on standby to plain")
    try:
        with psycopg.connect(postgres.replace("user=nobounds", "user=plain")) as connection:
            pushed = records(connection, "standby")
            assert not pushed.column.snapshot.session.has_spans
            assert len(scan(pushed, Gathered(Spans.of([(3.0, 7.0)])), None)) == 5
    finally:
        writer.execute("grant temporary on database postgres to public")
