"""Selects as relations: subqueries, common table expressions and views are read into what they stand for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nobounds.exact import shown
from nobounds.expressions.sql import import_sqlglot
from nobounds.expressions.statements.joins import joined
from nobounds.expressions.statements.relation import Base, Catalogue, Named, Relation, Scope, Source, add_column
from nobounds.expressions.statements.syntax import DEEPEST, only, refuse_kind, refused, select, selected
from nobounds.expressions.tree import Node

_ROWS = ("expressions", "from", "joins", "where", "with", "order")  # without a limit, an order changes nothing


def relation_of(
    syntax: Any, catalogue: Catalogue, ctes: Mapping[str, Relation] | None = None, depth: int = 0
) -> Relation:
    """The relation of a select without aggregates."""
    parts = only(selected(syntax), _ROWS, "a select")
    scope = scope_of(parts, catalogue, ctes or {}, depth)
    columns: dict[str, Node] = {}
    for item in parts.get("expressions", ()):
        kind = type(item).__name__
        if kind == "Star" or (kind == "Column" and type(item.this).__name__ == "Star"):
            only(item if kind == "Star" else item.this, (), "*")
            for name, node in scope.every(item.args["table"].name if kind == "Column" else None).items():
                add_column(columns, name, node)
        elif kind == "Alias":
            only(item, ("this", "alias"), "a column")
            add_column(columns, item.alias, scope.node(item.this))
        elif kind == "Column":
            add_column(columns, item.name, scope.column(item))
        else:
            scope.node(item)  # what is refused is refused by its name
            raise ValueError(f"give {shown(item.sql())} a name in the subquery: {shown(item.sql())} as amount")
    if not columns:
        raise ValueError("a select needs a column")
    return replace(scope.relation, columns=columns)


def scope_of(parts: Mapping[str, Any], catalogue: Catalogue, ctes: Mapping[str, Relation], depth: int) -> Scope:
    """What the names in a select stand for, from its clauses; `ctes` are the relations that it may name."""
    if depth > DEEPEST:
        raise ValueError(f"selects and views may be nested {DEEPEST} deep at most")
    known, own = dict(ctes), set[str]()
    if "with" in parts:
        only(parts["with"], ("expressions",), "with")
        for each in parts["with"].expressions:
            only(each, ("this", "alias"), "with")
            only(each.args["alias"], ("this",), "the names of with")
            if each.alias.lower() in own:
                raise ValueError(f"with names {each.alias!r} more than once; give each select a name of its own")
            own.add(each.alias.lower())
            known[each.alias.lower()] = relation_of(each.this, catalogue, known, depth + 1)
    if "from" not in parts:
        raise ValueError("a statement needs a table: select ... from taxis")
    only(parts["from"], ("this",), "from")
    sources = [parts["from"].this, *(join.this for join in parts.get("joins", ()))]
    read = [source_of(each, catalogue, known, depth) for each in sources]
    return joined(read, parts.get("joins", [])).filtered(parts.get("where"))


def source_of(given: Any, catalogue: Catalogue, ctes: Mapping[str, Relation], depth: int) -> Source:
    """The source that a from clause or a join names."""
    kind = type(given).__name__
    if kind == "Subquery" and type(given.this).__name__ == "Table":
        refused("a table in parentheses", "write it, and its joins, without them")
    if kind == "Subquery":
        parts = only(given, ("this", "alias"), "a subquery")
        return Source(_alias(parts), relation_of(given.this, catalogue, ctes, depth + 1))
    if kind != "Table" or type(given.this).__name__ != "Identifier":
        refuse_kind(given.this if kind == "Table" else given)
    parts = only(given, ("this", "db", "catalog", "alias"), "a table")
    name = name_of(given)
    alias = _alias(parts) or name.parts[-1]
    if len(name.parts) == 1 and name.parts[0].lower() in ctes:
        return Source(alias, ctes[name.parts[0].lower()])
    table = catalogue.find(name)
    if isinstance(table, Base):
        return Source(alias, Relation.of(table), catalogue.is_public(name))
    try:
        return Source(alias, relation_of(select(table.text, table.dialect), catalogue, None, depth + 1))
    except ValueError as error:
        raise ValueError(
            f"{name} is a view: {error}; if one row of the view is what is to be protected, say so by rows_of='result'"
        ) from None


def name_of(table: Any) -> Named:
    """The name of a table of sqlglot."""
    parts = [table.args.get(part) for part in ("catalog", "db", "this")]
    given = [part for part in parts if part is not None]
    if any(type(part).__name__ != "Identifier" for part in given):
        refuse_kind(table)
    return Named(tuple(part.name for part in given), tuple(bool(part.args.get("quoted")) for part in given))


def _alias(parts: Mapping[str, Any]) -> str:
    if "alias" not in parts:
        return ""
    only(parts["alias"], ("this",), "an alias")
    return str(parts["alias"].name)


def table_name(text: str) -> Named:
    """The name of a table from its text, with quotes where it needs them."""
    sqlglot = import_sqlglot()
    try:
        table = sqlglot.exp.to_table(text)
    except (sqlglot.errors.SqlglotError, RecursionError, ValueError):
        raise ValueError(f"{shown(text)} is not the name of a table") from None
    return name_of(table)


def table_names(text: str) -> list[str]:
    """The names of the tables in a statement, each once."""
    exp = import_sqlglot().exp
    syntax = select(text)
    ctes = {each.alias.lower() for each in syntax.find_all(exp.CTE)}
    named = (each for each in syntax.find_all(exp.Table) if type(each.this).__name__ == "Identifier")
    names = dict.fromkeys(str(name_of(each)) for each in named)
    return [name for name in names if name.lower() not in ctes]
