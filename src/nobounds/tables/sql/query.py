"""The rows of a query as a table of their own, where each is made of one row of a table."""

from collections.abc import Collection
from typing import Any

from nobounds.engines.csv.dialect import Csv
from nobounds.engines.sql.database import from_query
from nobounds.engines.streams.selected import selected
from nobounds.engines.streams.stream import TableStream
from nobounds.engines.streams.viewed import stream_types, viewed
from nobounds.expressions.statements.reading import relation_of
from nobounds.expressions.statements.syntax import select
from nobounds.expressions.tree import Column, Node
from nobounds.expressions.view import View
from nobounds.tables.sql.shelf import Shelf, is_declared


def query_stream(
    data: Any,
    query: str,
    rows_of: object,
    *,
    masked: bool = False,
    views: Collection[str] = (),
    folder: Any = None,
    csv: Csv | None = None,
) -> TableStream:
    """The rows of a query.

    By default the query is read here, and the database gives the columns of its table alone; each row of the result is
    one row of the table, or ValueError says why it is not. With `rows_of="result"` the database runs the query.
    masked, views: as for `viewed` and `from_query`. folder, csv: of the files that the query names.
    """
    if is_declared(rows_of):
        if folder is not None or csv is not None:
            raise ValueError("with rows_of='result' the database reads what it holds; make a view of the file there")
        return from_query(data, query, views)
    shelf = Shelf(data, folder=folder, csv=csv)
    relation = relation_of(select(query), shelf)
    stream, _ = shelf.open(relation)
    view, columns = View(stream_types(stream)), dict[str, str]()
    if relation.condition is not None:
        view = view.where(relation.condition)
    formulas: dict[str, Node] = {}
    for name, node in relation.columns.items():
        columns[name] = node.name if isinstance(node, Column) else _free(name, relation.taken)
        if not isinstance(node, Column):
            formulas[columns[name]] = node
    if formulas:
        view = view.with_columns(formulas)
    if view != View(stream_types(stream)):
        stream = viewed(stream, view, masked)
    return selected(stream, columns)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
