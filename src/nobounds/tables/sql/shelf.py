"""The tables that a statement may name: those of a dict, or those of a database; and the rows of a relation of them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from nobounds.engines.csv.dialect import Csv
from nobounds.engines.files.formats import file_hint, format_of, is_name
from nobounds.engines.files.paths import expand, file_identity, from_paths, name_of, named_in
from nobounds.engines.open import open_stream
from nobounds.engines.spark import is_spark
from nobounds.engines.sql.catalogue import Listed, listed
from nobounds.engines.sql.database import from_query, from_table
from nobounds.engines.streams.joined import joined
from nobounds.engines.streams.stream import TableStream
from nobounds.engines.streams.viewed import stream_types
from nobounds.expressions.statements.reading import table_name
from nobounds.expressions.statements.relation import Base, Definition, Named, Relation
from nobounds.expressions.statements.request import Request
from nobounds.expressions.statements.syntax import refused
from nobounds.expressions.view import View
from nobounds.tables.sql import RESULT, SOURCE
from nobounds.values import dataclass


def is_declared(rows_of: object) -> bool:
    """Whether the user says that one row of a query's or view's result is what is to be protected."""
    if rows_of not in (SOURCE, RESULT):
        raise ValueError(f"rows_of must be {SOURCE!r} or {RESULT!r}, got rows_of={rows_of!r}")
    return rows_of == RESULT


@dataclass(frozen=True, slots=True)
class Held:
    """A table that was opened: whatever `nb.Table` takes, and its name for a budget."""

    data: Any
    base: Base
    label: str | None = None


class Shelf:
    """The tables by name, opened when a statement names them; names and types are read, and no record."""

    def __init__(
        self,
        data: Any,
        public_tables: Iterable[str] = (),
        *,
        declared: bool = False,
        folder: Any = None,
        csv: Csv | None = None,
    ) -> None:
        if isinstance(public_tables, str):
            raise TypeError(f"public_tables must be a list of names, got a text; for one give [{public_tables!r}]")
        self._data, self._declared, self._folder, self._csv = data, declared, folder, csv
        self._held: dict[str, Held] = {}
        self._public: set[str] = set()
        self._public = {self._table(table_name(name), declared=True).base.identity for name in public_tables}

    def find(self, name: Named) -> Base | Definition:
        """The table or view of this name."""
        if isinstance(self._data, Mapping) or self._is_file(name) or self.is_public(name):
            return self._table(name, declared=True).base
        table = listed(self._data, name, self._declared)
        return table if isinstance(table, Definition) else self._in_database(table).base

    def is_public(self, name: Named) -> bool:
        """Whether the user has declared it to be public."""
        return bool(self._public) and self._table(name, declared=True).base.identity in self._public

    def open(self, relation: Relation) -> tuple[Any, str | None]:
        """The table of a relation, with the columns that are looked up in public ones, and its name for a budget."""
        held = self._held[relation.base.identity]
        stream = held.data
        for lookup in relation.lookups:
            if not isinstance(stream, TableStream):
                refused("a join on Spark", "join the public table in Spark before, on its key")
            stream = joined(stream, self._held[lookup.table].data, lookup)
        return stream, held.label

    def kinds(self, request: Request) -> dict[str, Any]:
        """The Arrow types of the columns of a table in this process, and of those that a request computes."""
        stream, _ = self.open(request.relation)
        formulas = View(stream_types(stream)).with_columns(request.formulas).formulas
        return {**stream.kinds, **{name: formula.arrow for name, formula in formulas.items()}}

    def _table(self, name: Named, *, declared: bool) -> Held:
        """A table that is read as it is."""
        if self._is_file(name):
            return self._of_file(name)
        if isinstance(self._data, Mapping):
            return self._in_memory(name)
        table = listed(self._data, name, declared)
        assert isinstance(table, Listed)
        return self._in_database(table)

    def _is_file(self, name: Named) -> bool:
        """Whether a name is one of a file, which the database underneath is never given: it would glob and fetch."""
        if not is_name(str(name)) or (isinstance(self._data, Mapping) and str(name) in self._data):
            return False
        return self._folder is not None

    def _of_file(self, name: Named) -> Held:
        path = named_in(self._folder, str(name))
        return self._of_files([path], name_of(path))

    def _of_files(self, paths: list[Path], label: str | None) -> Held:
        # Two names for the same files are one table.
        identity = "|".join(sorted(str(file_identity(path)) for path in paths))
        if identity not in self._held:
            opened = from_paths(paths, self._csv if format_of(paths[0]) == "csv" else None)
            self._held[identity] = Held(opened, Base(identity, _names(opened)), label)
        return self._held[identity]

    def _in_memory(self, name: Named) -> Held:
        known = {given: given for given in self._data}
        if not all(name.quoted):
            known = {given.lower(): given for given in self._data} | known
        own = known.get(str(name), known.get(str(name).lower()) if not all(name.quoted) else None)
        if own is None:
            raise ValueError(
                f"there is no table {str(name)!r}; there are {', '.join(map(repr, self._data))}{file_hint(str(name))}"
            )
        data = self._data[own]
        if isinstance(data, str | PathLike | list | tuple):
            return self._of_files(expand(data), name_of(data))
        identity = f"{id(data)}"
        if identity not in self._held:
            opened = data if is_spark(data) else open_stream(data)
            self._held[identity] = Held(opened, Base(identity, _names(opened)), name_of(data))
        return self._held[identity]

    def _in_database(self, table: Listed) -> Held:
        if table.sql not in self._held:
            # Only the rows of a stored table are the same each time they are read in one transaction.
            stream = (
                from_query(self._data, f"select * from {table.sql}")
                if table.result
                else from_table(self._data, table.sql, table.parts)
            )
            stream = replace(stream, query=table.result)
            self._held[table.sql] = Held(stream, Base(table.sql, _names(stream)))
        return self._held[table.sql]


def _names(data: Any) -> tuple[str, ...]:
    """The names of the columns."""
    return (*data.facts, *data.others) if isinstance(data, TableStream) else tuple(data.columns)
