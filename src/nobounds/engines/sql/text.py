"""The text of queries: statements around one, checks of its column names, and the error if it fails."""

from contextlib import AbstractContextManager

from nobounds.engines.refusals import query_failed, replacing_errors


def no_rows(query: str) -> str:
    """A query for the columns of a query, without rows."""
    return around(query, "*") + " where 1 = 0"


def counted(query: str) -> str:
    """A query for the number of rows of a query."""
    return around(query, "count(*)")


def around(query: str, selection: str) -> str:
    """A selection from a query, which may end in semicolons or a comment. Without `as`, which some databases refuse."""
    return f"select {selection} from (\n{query.strip().rstrip(';')}\n) nobounds_query"


def backticked(name: str) -> str:
    """A name as an identifier of MariaDB, whatever its mode makes of double quotes."""
    return "`{}`".format(name.replace("`", "``"))


def literal(text: str) -> str:
    """A text without backslashes in SQL, the same whatever a server makes of them."""
    return "'" + text.replace("'", "''") + "'"


def bare(column: str) -> str:
    """A column of SQLite as an expression with the same value and no type.

    With `detect_types`, sqlite3 calls a converter for the type of a column, and that may fail on a value.
    """
    return f"+{column}"


def refuse_repeated(names: list[str]) -> None:
    """ValueError if two columns have the same name."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"column {name!r} appears more than once; give each column a name of its own")


def hiding_driver_errors() -> AbstractContextManager[None]:
    """Replace every error of a driver by one fixed error: its message can contain values."""
    return replacing_errors(query_failed)
