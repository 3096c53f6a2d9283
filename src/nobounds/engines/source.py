"""A source: a table in memory, in files or on a server, as `tables` sees it.

Names and types of columns are public. Nothing is read before the columns' records or the tally are requested, so a
budget can be charged first. At most `Bounding.rows` rows of a privacy unit are used, in at most `Bounding.groups`
groups. Which ones depends on the rows of that unit and a number drawn for each statistic, never on other rows or on
their order: removing a unit removes no more than its rows, and reading again chooses the same rows (see docs/units.md).
"""

from collections.abc import Callable
from typing import Any, Protocol

from nobounds.arrays import Ints
from nobounds.counting.group_totals import StepsMap, Totals
from nobounds.counting.scan import Chunks
from nobounds.counting.tally import Tally
from nobounds.engines.column import Column
from nobounds.engines.grouped import GroupedRecords
from nobounds.expressions.types import Type
from nobounds.expressions.view import View
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Bounding:
    """At most `rows` rows of a unit, in at most `groups` groups; `salt` decides which, and is drawn anew each time."""

    unit: str
    rows: int
    groups: int
    salt: int


@dataclass(frozen=True, slots=True)
class Keyed:
    """The requested groups: the columns of their keys, and the public keys, one Arrow array for each column.

    units: whether the units of groups with public keys are counted, as those of others are.
    """

    names: tuple[str, ...]
    known: tuple[Any, ...] | None = None
    units: bool = False

    @property
    def counted(self) -> bool:
        """Whether the units of groups are counted."""
        return bool(self.names) and (self.units or self.known is None)


@dataclass(frozen=True, slots=True, eq=False)
class Tallied:
    """The tally of the groups of a table, their keys, and how many units (or rows, without units) each of them has.

    Group k has the key made of element k of each array in `keys`. Where keys are public, nobody chooses among them;
    units are counted if `Keyed.units` says so, and else all are 0. Sensitive: its repr hides everything.
    """

    keys: tuple[Any, ...]
    units: Ints
    tally: Tally

    def only(self, kept: Ints, keys: tuple[Any, ...]) -> "Tallied":
        """The groups `kept`, numbered in that order, with their keys."""
        return Tallied(keys, self.units[kept], self.tally.only(kept))

    def __repr__(self) -> str:
        return "Tallied(hidden)"


class GroupRows(Protocol):
    """The rows of one column by group, read again by each pass. Keys and units are as in `Tallied`; sensitive."""

    @property
    def keys(self) -> tuple[Any, ...]:
        """An array for each column of keys."""
        ...

    @property
    def units(self) -> Ints:
        """How many units, or rows without units, each group has."""
        ...

    def only(self, kept: Ints, keys: tuple[Any, ...]) -> "GroupRows":
        """The rows of the groups `kept`, numbered in that order, with their keys."""
        ...

    def records(self) -> Chunks:
        """The records of all groups; each call starts a pass."""
        ...

    def totals(self, *maps: StepsMap) -> Totals:
        """The number of records of each group, and the sum of each map over them; one pass."""
        ...


Progress = Callable[[int], None]
"""Gets the number of rows read since its last call; that number is sensitive, so it must not be shown."""


class TableSource(Protocol):
    """A table in this process or on a cluster."""

    @property
    def facts(self) -> dict[str, Facts]:
        """The numeric columns, in order."""
        ...

    @property
    def others(self) -> dict[str, str]:
        """The family of the type of each other column."""
        ...

    @property
    def typed(self) -> bool:
        """Whether the types of columns are known; if not, all of them are listed as numeric."""
        ...

    @property
    def query(self) -> bool:
        """Whether the rows are computed when they are read: one row underneath may then change many of them."""
        ...

    @property
    def connected(self) -> bool:
        """Whether the rows are read by a connection or a position that belongs to this process."""
        ...

    def columns(self, names: list[str], bounding: Bounding | None, *, several: bool = False) -> dict[str, Column]:
        """Some of the numeric columns, read when their records are requested; `several`: for several statistics."""
        ...

    def tally(self, name: str | None, ladder: Ladder, keyed: Keyed, bounding: Bounding | None) -> Tallied:
        """The groups of a numeric column, read now; without a name each row counts as a record."""
        ...

    def rows(self, name: str | None, keyed: Keyed, bounding: Bounding | None) -> GroupRows:
        """The rows of a numeric column by group; without a name each row counts as a record 0."""
        ...

    def records(self, names: list[str], keyed: Keyed, bounding: Bounding | None) -> GroupedRecords:
        """The records of some numeric columns by group, read now; a row is one of all columns."""
        ...

    def row_marks(self, bounding: Bounding | None) -> Column:
        """A record 0 for each row."""
        ...

    @property
    def types(self) -> dict[str, Type]:
        """The types of all columns in expressions."""
        ...

    @property
    def enums(self) -> dict[str, list[str]]:
        """The categories that the types of Enum columns declare; a user may say that they are public."""
        ...

    def viewed(self, view: View, masked: bool) -> "TableSource":
        """The table with a condition on its rows and with computed columns.

        masked: rows that the condition drops stay as rows in which everything is missing, so that their number does.
        """
        ...

    def check_keys(self, names: tuple[str, ...]) -> None:
        """TypeError if a column is of a type that cannot be a key or a unit."""
        ...

    def known_keys(self, names: tuple[str, ...], given: list[list[Any]]) -> tuple[Any, ...]:
        """Public keys, a list for each column, as Arrow arrays of the types of the columns."""
        ...

    def rows_of_units(self, unit: str) -> Column:
        """How many rows each unit has, one record per unit."""
        ...

    def groups_of_units(self, unit: str, by: tuple[str, ...]) -> tuple[Column, Column]:
        """How many rows each unit has, and in how many groups by these columns, one record per unit in each."""
        ...
