"""A view of a table: a condition on its rows, and columns that are computed from others; both public.

All expressions are about one row and about the columns of the table underneath: a computed column in a later expression
stands for its formula.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from nobounds.expressions import check
from nobounds.expressions.evaluate import Rows, computed, kept
from nobounds.expressions.given import expression
from nobounds.expressions.text import text
from nobounds.expressions.tree import And, Column, Node, check_size, columns, substituted, walk
from nobounds.expressions.types import Type, to_arrow
from nobounds.expressions.values import Mask
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Formula:
    """A computed column: its tree as it was given, its checked tree, and its type."""

    given: Node
    tree: Node
    type: Type

    @property
    def text(self) -> str:
        """The formula in SQL."""
        return text(self.given)

    @property
    def arrow(self) -> Any:
        """Its Arrow type."""
        return to_arrow(self.type)


@dataclass(frozen=True, slots=True)
class View:
    """What is kept and computed of a table whose columns have these types."""

    types: Mapping[str, Type] = field(default_factory=dict, repr=False)
    given: Node | None = None
    condition: Node | None = None
    formulas: Mapping[str, Formula] = field(default_factory=dict)

    def where(self, given: Any) -> "View":
        """The view of the rows for which one more condition is true."""
        node = self._plain(expression(given))
        parts = (*_parts(self.given), *_parts(node))
        both = parts[0] if len(parts) == 1 else And(parts)
        check_size(both)
        check.condition(node, self.types)  # alone, for a plain error
        return replace(self, given=both, condition=check.condition(both, self.types))

    def with_columns(self, given: Mapping[str, Any]) -> "View":
        """The view with more columns; each is computed from those before this call."""
        formulas = dict(self.formulas)
        for name, formula in given.items():
            node = self._plain(expression(formula))
            check_size(node)
            tree, kind = check.formula(node, self.types)
            formulas[name] = Formula(node, tree, kind)
        return replace(self, formulas=formulas)

    def _plain(self, node: Node) -> Node:
        """An expression about the columns of the table underneath."""
        for name in columns(node):
            if name not in self.formulas and name not in self.types:
                raise KeyError(name)  # the table has checked the names
        return substituted(node, {name: formula.given for name, formula in self.formulas.items()})

    @property
    def text(self) -> str | None:
        """The condition in SQL, if there is one."""
        return None if self.given is None else text(self.given)

    def used(self, names: Iterable[str | None]) -> tuple[tuple[str, str], ...]:
        """The formulas of those of these columns that are computed, unless the name is the formula."""
        computed = ((name, self.formulas[name].text) for name in names if name is not None and name in self.formulas)
        return tuple((name, formula) for name, formula in computed if name != formula)

    def needed(self, names: Iterable[str]) -> tuple[list[str], list[str]]:
        """The columns to be read in their types, and as numbers, for the condition and these computed columns."""
        trees = [self.formulas[name].tree for name in names]
        trees += [] if self.condition is None else [self.condition]
        columns_read = [node for tree in trees for node in walk(tree) if isinstance(node, Column)]
        own = dict.fromkeys(node.name for node in columns_read if not node.as_number)
        return list(own), list(dict.fromkeys(node.name for node in columns_read if node.as_number))

    def kept(self, rows: Rows) -> Mask | None:
        """Which rows are kept; None if all are."""
        return None if self.condition is None else kept(self.condition, rows)

    def computed(self, name: str, rows: Rows) -> Any:
        """A computed column as an Arrow array."""
        return computed(self.formulas[name].tree, rows)


def named(given: Any) -> tuple[str, ...]:
    """The columns that an expression names."""
    return columns(expression(given))


def _parts(node: Node | None) -> tuple[Node, ...]:
    return () if node is None else node.parts if isinstance(node, And) else (node,)
