"""What the tests of SQLAlchemy share: tables by their names, their columns, and statements that write."""

import pytest

from nobounds.counting.scan import gathered
from nobounds.engines.sql.catalogue import Listed, listed
from nobounds.engines.sql.database import from_table
from nobounds.engines.streams.local import Local
from nobounds.expressions.statements.relation import Named


def opened(source, name):
    """A stored table by its name."""
    table = listed(source, Named((name,), (False,)), False)
    assert isinstance(table, Listed) and not table.result
    return from_table(source, table.sql, table.parts)


def values(stream, name):
    """A column as numbers."""
    return gathered(Local(stream).columns([name], None)[name].chunks())


def keys(stream, name):
    """A column as keys, of the type that the stream declares."""
    batches = list(stream.batches([name], []))
    assert all(batch.schema.types == [stream.kinds[name]] for batch in batches)
    return [key for batch in batches for key in batch.column(0).to_pylist()]


def write(source, *statements):
    """Run statements and commit."""
    with source.begin() as connection:
        for each in statements:
            connection.exec_driver_sql(each)


@pytest.fixture
def sqlite(tmp_path):
    """An engine for a file of SQLite."""
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: pip install sqlalchemy")
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/tables.db")
    yield engine
    engine.dispose()
