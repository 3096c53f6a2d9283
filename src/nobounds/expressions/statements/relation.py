"""A relation: the rows of one table, with a condition, and with columns that are computed from each row alone.

A row of the table makes at most one row of the relation, and no other row has a say in that. Columns of public tables
are looked up by a key.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Protocol

from nobounds.exact import shown
from nobounds.expressions.sql import from_syntax
from nobounds.expressions.statements.syntax import clauses, only, refused
from nobounds.expressions.tree import And, Column, Node
from nobounds.values import dataclass

_QUOTES = "; double quotes are for names, and a text is written in single quotes"


@dataclass(frozen=True, slots=True)
class Named:
    """The name of a table: catalogue, schema and name, as far as they are given, and which of them are in quotes."""

    parts: tuple[str, ...]
    quoted: tuple[bool, ...]

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class Base:
    """A table that is read: what identifies it, and the names of its columns."""

    identity: str
    columns: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Definition:
    """The select that a view stands for, in a dialect of sqlglot."""

    text: str
    dialect: str


class Catalogue(Protocol):
    """The tables that a statement may name."""

    def find(self, name: Named) -> Base | Definition:
        """The table or view of this name; ValueError if there is none."""
        ...

    def is_public(self, name: Named) -> bool:
        """Whether the user has declared a table of this name to be public."""
        ...


@dataclass(frozen=True, slots=True)
class Lookup:
    """Columns of a public table, looked up for each row by a key that is unique in that table.

    on: columns of the rows, each with the column of the public table that it equals.
    columns: the new names of the columns of the public table.
    """

    table: str
    on: tuple[tuple[str, str], ...]
    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Relation:
    """The rows of a table for which a condition is true, and what the names of their columns stand for."""

    base: Base
    columns: Mapping[str, Node] = field(repr=False)
    condition: Node | None = None
    lookups: tuple[Lookup, ...] = ()

    @classmethod
    def of(cls, base: Base) -> "Relation":
        """A table as it is."""
        return cls(base, {name: Column(name) for name in base.columns})

    @property
    def taken(self) -> set[str]:
        """The names of all columns that the table and its lookups have."""
        return {*self.base.columns, *(name for lookup in self.lookups for name in lookup.columns)}

    def where(self, condition: Node) -> "Relation":
        """The rows for which one more condition is true."""
        parts = () if self.condition is None else (self.condition,)
        return replace(self, condition=And((*parts, condition)) if parts else condition)


@dataclass(frozen=True, slots=True)
class Scope:
    """What the names in a select stand for: the columns of each table in it, by its alias."""

    relation: Relation
    tables: tuple[tuple[str, Mapping[str, Node]], ...]

    def column(self, given: Any) -> Node:
        """What a column of sqlglot stands for."""
        parts = clauses(given)
        if not set(parts) <= {"this", "table"} or type(given.this).__name__ != "Identifier":
            refused(shown(given.sql()), "name a column, alone or after the alias of its table")
        exact = bool(given.this.args.get("quoted"))
        return self.named(given.name, given.args.get("table"), exact=exact, fix=_QUOTES if exact else "")

    def named(self, name: str, table: Any = None, *, exact: bool = True, fix: str = "") -> Node:
        """What a name stands for; one without quotes may differ from the column by upper and lower case."""
        alias = None if table is None else table.name
        tables = [columns for own, columns in self.tables if alias is None or own.lower() == alias.lower()]
        if not tables:
            raise ValueError(f"there is no table {alias!r} in the statement")
        nodes = [columns[name] for columns in tables if name in columns]
        if not nodes and not exact:
            nodes = [node for columns in tables for own, node in columns.items() if own.lower() == name.lower()]
        if len(nodes) > 1:
            raise ValueError(f"column {name!r} is in several tables, or in several spellings; write it as table.column")
        if not nodes:
            known = ", ".join(repr(own) for columns in tables for own in columns)
            raise ValueError(f"column {name!r} is not in the table; the columns are {known}{fix}")
        return nodes[0]

    def every(self, table: str | None) -> dict[str, Node]:
        """All columns, or those of one table."""
        named: dict[str, Node] = {}
        for alias, columns in self.tables:
            if table is None or alias.lower() == table.lower():
                for name, node in columns.items():
                    add_column(named, name, node)
        return named

    def node(self, syntax: Any) -> Node:
        """An expression on the columns of one row."""
        return from_syntax(syntax, self.column)

    def filtered(self, where: Any) -> "Scope":
        """The scope of the rows for which a where clause is true."""
        if where is None:
            return self
        only(where, ("this",), "where")
        return replace(self, relation=self.relation.where(self.node(where.this)))


@dataclass(frozen=True, slots=True)
class Source:
    """A table or a subquery in a from clause."""

    alias: str
    relation: Relation
    public: bool = False


def add_column(columns: dict[str, Node], name: str, node: Node) -> None:
    """Add a column, which must have a name of its own."""
    if name in columns:
        raise ValueError(f"column {name!r} appears more than once; give each column a name of its own")
    columns[name] = node
