"""Joins with public tables: a row of the one table that is not public gets the columns of one public row, or none.

The key is unique in the public table, so a row stays one row, and which one it gets depends on that row alone.
"""

from typing import Any

from nobounds.exact import shown
from nobounds.expressions.statements.relation import Lookup, Relation, Scope, Source
from nobounds.expressions.statements.syntax import only, refused
from nobounds.expressions.tree import Column, IsNull, Node, Not

_DECLARE = "if it holds nothing to be protected, declare it: public_tables=[...]"


def joined(sources: list[Source], joins: list[Any]) -> Scope:
    """The scope of the tables in a from clause; `joins` has how each but the first is joined."""
    aliases = [source.alias.lower() for source in sources if source.alias]
    if len(set(aliases)) < len(aliases):
        refused("a self-join", "a row would meet other rows of its own table; if they are two tables, give aliases")
    if not joins:
        return Scope(sources[0].relation, ((sources[0].alias, sources[0].relation.columns),))
    _one_sensitive(sources)
    if sources[0].public and len(sources) == 2:
        if joins[0].args.get("side"):
            refused("an outer join from a public table", "put the other table first: from trips left join zones")
        sources = sources[::-1]
    if sources[0].public:
        refused("a join that starts at a public table", "put the table that is not public first")
    scope = Scope(sources[0].relation, ((sources[0].alias, sources[0].relation.columns),))
    for source, join in zip(sources[1:], joins, strict=True):
        scope = _with(scope, source, join)
    return scope


def _one_sensitive(sources: list[Source]) -> None:
    """Refuse joins of two tables that are not public, and of a table with itself."""
    sensitive = [source for source in sources if not source.public]
    tables = [source.relation.base.identity for source in sources]
    if len(set(tables)) < len(tables):
        refused("a self-join", "a row would meet other rows of its own table")
    if len(sensitive) > 1:
        name = sensitive[1].alias or "a subquery"
        refused(f"a join with {name}", f"one row could meet the rows of several units; {_DECLARE}")
    if not sensitive:
        refused("a join of public tables alone", "there is nothing to be protected; read them without nobounds")


def _with(scope: Scope, source: Source, join: Any) -> Scope:
    """The scope with one more public table."""
    parts = only(join, ("this", "on", "using", "side", "kind"), "a join")
    side, kind = (str(parts.get(part, "")).upper() for part in ("side", "kind"))
    if kind not in ("", "INNER", "OUTER") or side not in ("", "LEFT"):
        refused(f"{side or kind} join".lower(), "only (inner) join and left join keep one row for a row")
    relation, alias = scope.relation, source.alias
    names: dict[str, str] = {}
    for column in source.relation.base.columns:
        names[column] = _free(column, alias, {*relation.taken, *names.values()})
    own: dict[str, Node] = {column: Column(name) for column, name in names.items()}
    if "using" in parts:
        keys = [identifier.name for identifier in parts["using"]]
        pairs = [(_plain(scope.named(key)), _key(key, own)) for key in keys]
        visible = {column: node for column, node in own.items() if column not in keys}
    elif "on" in parts:
        both = Scope(relation, (*scope.tables, (alias, own)))
        pairs = [_equal(part, both, names) for part in _ands(parts["on"])]
        visible = own
    else:
        refused("a join without on", "every row would meet every other; join on a key: on trips.zone = zones.id")
    lookup = Lookup(source.relation.base.identity, tuple(pairs), {name: column for column, name in names.items()})
    wider = Relation(relation.base, relation.columns, relation.condition, (*relation.lookups, lookup))
    if side != "LEFT":
        wider = wider.where(Not(IsNull(Column(names[pairs[0][1]]))))  # a row without a partner is dropped
    return Scope(wider, (*scope.tables, (alias, visible)))


def _ands(given: Any) -> list[Any]:
    """The conditions that and joins."""
    while type(given).__name__ == "Paren":
        given = given.this
    return [part for each in given.flatten() for part in _ands(each)] if type(given).__name__ == "And" else [given]


def _equal(given: Any, scope: Scope, names: dict[str, str]) -> tuple[str, str]:
    """The column and the key that an equality compares."""
    if type(given).__name__ != "EQ":
        refused(f"on {shown(given.sql())}", "a join is by equal keys; write other conditions into where")
    looked_up = {name: column for column, name in names.items()}
    sides = [_plain(scope.node(part)) for part in (given.this, given.expression)]
    keys = [looked_up.get(side) for side in sides]
    if (keys[0] is None) == (keys[1] is None):
        refused(f"on {shown(given.sql())}", "compare a column of the one table with a key of the public one")
    return (sides[1], keys[0]) if keys[0] is not None else (sides[0], str(keys[1]))


def _plain(node: Node) -> str:
    if not isinstance(node, Column):
        refused("a join on an expression", "join on a column as it is in its table")
    return node.name


def _key(name: str, columns: dict[str, Node]) -> str:
    if name not in columns:
        raise ValueError(f"column {name!r} is not in the public table")
    return name


def _free(column: str, alias: str, taken: set[str]) -> str:
    """A name for a column of a public table that no other column has."""
    name = column if column not in taken else f"{alias}.{column}"
    while name in taken:
        name += "_"
    return name
