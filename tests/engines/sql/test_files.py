"""Files whose types DuckDB would guess are refused, and a notebook shows nothing of the plan that tells them."""

import duckdb
import pytest

from nobounds.engines.sql.files import files_named, refuse_guesses


@pytest.fixture
def connection(tmp_path):
    """A connection with a table, and with a view of a CSV file."""
    file = tmp_path / "people.csv"
    file.write_text("age\n41\n")
    connection = duckdb.connect()
    connection.execute("create table people as select 41 as age")
    connection.execute(f"create view hidden as select * from '{file}'")
    return connection


class Shown:
    """A relation that shows its plan, as those of DuckDB do in a notebook, if it is asked to explain itself."""

    def __init__(self, relation):
        self.query = relation.query

    def explain(self, *given, **more):
        raise AssertionError("a plan with estimates of numbers of rows was shown")


def test_a_plan_is_read_and_not_shown(connection):
    """Views of CSV files are refused, tables are not, and neither is explained on the screen."""
    refuse_guesses(Shown(connection.table("people")))
    with pytest.raises(ValueError, match="guesses from its records"):
        refuse_guesses(Shown(connection.table("hidden")))


def test_files_in_a_query_are_named_or_refused(connection):
    """CSV files that stand as tables are read here; functions that guess are not called."""
    assert files_named(connection, "select age from 'people.csv'") == ["people.csv"]
    with pytest.raises(ValueError, match="read_csv_auto guesses types"):
        files_named(connection, "select age from read_csv_auto('people.csv')")
