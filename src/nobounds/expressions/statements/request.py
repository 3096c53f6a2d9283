"""What a statement asks for: private statistics of the columns of a relation, perhaps for each of its groups."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from nobounds.ask import STATISTICS, Ask, columns_of, statistic_of
from nobounds.exact import shown
from nobounds.expressions.statements.reading import scope_of
from nobounds.expressions.statements.relation import Catalogue, Relation, Scope
from nobounds.expressions.statements.syntax import clauses, only, refuse_kind, refused, select
from nobounds.expressions.text import text
from nobounds.expressions.tree import Column, Node
from nobounds.values import dataclass

PREFIX = "private_"
_ASKED = ("expressions", "from", "joins", "where", "with", "group")
_NUMBERS = ("Literal", "Neg")


@dataclass(frozen=True, slots=True)
class Request:
    """A statement: a relation, statistics of its columns, and the columns whose values are the groups.

    formulas: the computed columns that the statistics and groups name.
    written, aliases: each statistic with the columns as the statement names them, and its alias or an empty text.
    by_names: what the columns of groups are called in the answers.
    """

    scope: Scope = field(repr=False)
    asks: tuple[Ask, ...]
    written: tuple[Ask, ...]
    aliases: tuple[str, ...]
    by: tuple[str, ...]
    by_names: tuple[str, ...]
    formulas: Mapping[str, Node]

    @property
    def relation(self) -> Relation:
        """The rows that are asked about."""
        return self.scope.relation

    def check_unit(self, name: str) -> None:
        """ValueError if the table itself has no such column: what a statement calls by its name does not count."""
        if name not in self.relation.base.columns:
            raise ValueError(f"the unit {name!r} must be a column of the table that is protected")


def request_of(statement: str, catalogue: Catalogue) -> Request:
    """What a statement asks for; ValueError with the reason if it may not be answered. Reads no record."""
    syntax = select(statement)
    parts = only(syntax, _ASKED, "a statement")
    return _Reader(scope_of(parts, catalogue, {}, 0)).request(parts)


class _Reader:
    """Reads the select list and the groups of a statement."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._formulas: dict[str, Node] = {}

    def request(self, parts: Mapping[str, Any]) -> Request:
        """The request of these clauses."""
        items = [_aliased(item) for item in parts.get("expressions", ())]
        keys = {place: self._scope.node(_key(item)) for place, (item, _) in enumerate(items) if not _private(item)}
        groups = self._groups(parts.get("group"), items, keys)
        for place, node in keys.items():
            if node not in groups:
                refused(
                    f"{shown(items[place][0].sql())} beside private statistics",
                    "it is a value of single rows; put it into group by, or ask for a statistic of it",
                )
        calls = [(self._ask(item), alias) for item, alias in items if _private(item)]
        if not calls:
            known = ", ".join(PREFIX + name for name in STATISTICS)
            raise ValueError(f"a statement needs a private statistic, such as private_mean(fare); there are {known}")
        by_names = []
        for node in groups:
            called = [items[place][1] for place, own in keys.items() if own == node and items[place][1]]
            by_names.append(called[0] if called else self._written(node))
        by = tuple(
            self._named(node, None if isinstance(node, Column) else name)
            for node, name in zip(groups, by_names, strict=True)
        )
        names = [alias or written.name for (_, written), alias in calls]
        every = [*names, *by_names]
        if len(set(every)) < len(every):
            twice = next(name for name in every if every.count(name) > 1)
            raise ValueError(f"{shown(twice)} appears more than once; give each answer a name of its own")
        asks, written = zip(*(both for both, _ in calls), strict=True)
        aliases = tuple(alias for _, alias in calls)
        return Request(self._scope, asks, written, aliases, by, tuple(by_names), self._formulas)

    def _groups(self, group: Any, items: list[tuple[Any, str]], keys: dict[int, Node]) -> list[Node]:
        """The expressions of group by: columns, names or places of the select list."""
        if group is None:
            return []
        if not only(group, ("expressions",), "group by"):
            raise ValueError("group by needs a column")
        named = {alias: place for place, (_, alias) in enumerate(items) if alias and place in keys}
        groups: list[Node] = []
        for each in group.expressions:
            if type(each).__name__ == "Literal" and not each.is_string:
                place = int(each.name) - 1 if each.name.isdigit() else -1
                if place not in keys:
                    raise ValueError(f"group by {each.name} must be the place of a column in the select list")
                node = keys[place]
            elif type(each).__name__ in ("Rollup", "Cube", "GroupingSets"):
                refuse_kind(each)
            elif (alias := self._alias(each, named)) is not None:
                node = keys[named[alias]]
            else:
                node = self._scope.node(_key(each))
            if node not in groups:
                groups.append(node)
        return groups

    def _alias(self, item: Any, named: Mapping[str, int]) -> str | None:
        """The name in the select list that group by means, by the rule for names; those of columns come first."""
        if type(item).__name__ != "Column":
            return None
        known = [name for _, columns in self._scope.tables for name in columns]
        if item.name in known or item.name in named:
            return None if item.name in known else str(item.name)
        alike = [name for name in (*known, *named) if name.lower() == item.name.lower()]
        return alike[0] if len(alike) == 1 and alike[0] in named and not item.this.args.get("quoted") else None

    def _ask(self, call: Any) -> tuple[Ask, Ask]:
        """The statistic of a call, of columns of the table, and as it was written."""
        only(call, ("this", "expressions"), "a statistic")
        name, written = str(call.this)[len(PREFIX) :].lower(), shown(call.sql(normalize_functions=False))
        statistic = statistic_of(name)
        if statistic is None:
            raise ValueError(
                f"there is no statistic {PREFIX + name}; there are {', '.join(PREFIX + one for one in STATISTICS)}"
            )
        many = columns_of(statistic)
        nodes: list[Node] = []
        numbers: list[str] = []
        keywords: dict[str, str] = {}
        given = [] if [type(each).__name__ for each in call.expressions] == ["Star"] else call.expressions
        if statistic != "count" and not given:
            raise ValueError(f"{written} needs a column")
        for each in given:
            kind = type(each).__name__
            if kind in ("Kwarg", "PropertyEQ"):
                keywords[each.this.name.lower()] = _constant(each.expression, written)
            elif keywords:
                raise ValueError(f"in {written} a keyword stands last: private_mean(fare, lower => 0)")
            elif len(nodes) < many:
                nodes.append(self._scope.node(_key(each)))
            elif kind == "Array":
                numbers += [_constant(one, written) for one in each.expressions]
            else:
                numbers.append(_constant(each, written))
        columns = [self._named(node) for node in nodes]
        ask = Ask.call(statistic, [*columns, *numbers], keywords, written, PREFIX)
        return ask, replace(ask, columns=tuple(map(self._written, nodes)))

    def _written(self, node: Node) -> str:
        """The name by which the statement knows a column, or the text of an expression."""
        for _, columns in self._scope.tables:
            for name, own in columns.items():
                if own == node:
                    return name
        return text(node)

    def _named(self, node: Node, wanted: str | None = None) -> str:
        """The name of a column, which may have to be computed."""
        if isinstance(node, Column):
            return node.name
        name = wanted or text(node)
        while name in self._scope.relation.taken or self._formulas.get(name, node) != node:
            name += "_"
        self._formulas[name] = node
        return name


def _aliased(item: Any) -> tuple[Any, str]:
    """What is selected, and its alias or an empty text."""
    if type(item).__name__ != "Alias":
        return item, ""
    only(item, ("this", "alias"), "a column")
    return item.this, item.alias


def _private(item: Any) -> bool:
    """Whether something is a call of a private statistic."""
    return type(item).__name__ == "Anonymous" and str(item.this).lower().startswith(PREFIX)


def _key(item: Any) -> Any:
    """An expression on one row, with what may not be in it refused by its name."""
    kind = type(item).__name__
    if kind == "Star" or (kind == "Column" and type(item.this).__name__ == "Star"):
        refused("*", "it is all values of single rows; ask for statistics: private_mean(fare)")
    if kind == "Distinct":
        refused(
            "distinct in a statistic", "it compares rows with each other; nb.Table(...).count_distinct counts values"
        )
    for each in item.walk():
        if _private(each):
            around = {"Window": "a window over", "Filter": "filter after", "Distinct": "distinct before"}.get(kind)
            what = f"{around or 'an expression on'} {str(each.this).lower()}"
            refused(what, "a private statistic stands alone; filter by where, and compute with the answers afterwards")
    named = kind != "Anonymous" and hasattr(item, "sql_name")
    name = (item.sql_name() if named else str(clauses(item).get("this", ""))).lower()
    statistic = statistic_of(name)
    if statistic is not None and kind != "Column":
        refused(f"the exact {name}", f"write {PREFIX}{statistic}(...)")
    return item


def _constant(given: Any, written: str) -> str:
    """A constant of a call as text, to its last digit."""
    kind = type(given).__name__
    if kind == "Cast" and type(given.this).__name__ == "Literal" and given.this.is_string:
        return str(given.this.name)
    if kind in _NUMBERS and (kind == "Literal" or type(given.this).__name__ == "Literal"):
        return given.name if kind == "Literal" else f"-{given.this.name}"
    keywords = "; keywords are written lower => 0" if kind == "EQ" else ""
    raise ValueError(f"{shown(given.sql())} in {written} must be a constant{keywords}")
