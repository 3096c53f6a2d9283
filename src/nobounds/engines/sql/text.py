"""Queries: the statements around one, the names of its columns, and what is told when it fails."""

from contextlib import AbstractContextManager

from nobounds.engines.refusals import replacing_errors
from nobounds.engines.sql.duck import query_failed


def no_rows(query: str) -> str:
    """The columns of a query, without its rows."""
    return around(query, "*") + " where 1 = 0"


def counted(query: str) -> str:
    """How many rows a query has."""
    return around(query, "count(*)")


def around(query: str, what: str) -> str:
    """A selection from a query, which may end in semicolons or in a comment. Some databases refuse `as` here."""
    return f"select {what} from (\n{query.strip().rstrip(';')}\n) nobounds_query"


def refuse_repeated(names: list[str]) -> None:
    """Refuse two columns of one name."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"column {name!r} appears more than once; give each column a name of its own")


def hiding_driver_errors() -> AbstractContextManager[None]:
    """Whatever a driver raises becomes one error: its own words can contain values."""
    return replacing_errors(query_failed)
