"""How many distinct units, or distinct values of a column, each group of a table has.

A unit changes the number of units of a group by 1, in at most `groups_per_unit` groups. It changes the numbers of
values by at most `values_per_unit` in all groups together: that many pairs of a group and a value are chosen, as groups
of a unit are (see `engines.source`).
"""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.loss import Unit
from nobounds.engines.source import Bounding, GroupRows, Keyed, TableSource
from nobounds.groups import NoisyGroups
from nobounds.groups.key_counts import CountKeys, KeyCounts
from nobounds.groups.key_selection import KeepKeys
from nobounds.ladders.facts import Facts
from nobounds.mechanisms.decisions import Bits
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.tables.by_group.answers import in_order, listed, taken
from nobounds.tables.by_group.key_choice import KeyChoice
from nobounds.tables.opened import MOST_ROWS
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class GroupedDistinct:
    """The units of the groups of a table, or the values that a column has in each of them, not read yet.

    The unit of `facts` says how many numbers a unit changes by 1: the groups it is in, or the values it has.
    """

    source: TableSource
    keyed: Keyed
    column: str | None  # None for the units
    facts: Facts
    groups_per_unit: int
    selection: KeyChoice | None

    def public(self, sized: bool) -> Facts:
        """The public facts; groups are for add-remove alone."""
        return self.facts

    def counted(self, noise: Additive) -> Program[tuple[tuple[Any, ...], NDArray[Any]]]:
        """The keys of the groups to show, and their noisy numbers; this reads the table."""
        if isinstance(self.selection, KeyCounts):  # of units
            rows = yield from self._groups()
            order = in_order(rows)
            keys = taken(rows.keys, order)
            mask, noisy = yield CountKeys(self.selection, rows.units[order], lambda: listed(keys))
            return taken(keys, np.flatnonzero(mask)), noisy
        if self.column is None:
            assert self.selection is None, "numbers of units choose their keys"
            rows = yield from self._groups()
            keys, numbers = rows.keys, rows.units
        else:
            known = self.keyed.known
            keys = (yield from self._chosen()) if known is None else known
            values = yield from self._rows((*self.keyed.names, self.column), None, self.facts.unit.rows)
            cells = Counter(listed(tuple(array[: len(values.units)] for array in values.keys[:-1])))
            numbers = np.array([cells[key] for key in listed(keys)], dtype=np.int64)
        return keys, (yield NoisyGroups(numbers, noise, noise.cost))

    def _chosen(self) -> Program[tuple[Any, ...]]:
        """The keys that enough units have."""
        assert self.selection is not None and not isinstance(self.selection, KeyCounts)
        rows = yield from self._groups()
        order = in_order(rows)
        keys = taken(rows.keys, order)
        mask = yield KeepKeys(self.selection, rows.units[order], lambda: listed(keys))
        return taken(keys, np.flatnonzero(mask))

    def _groups(self) -> Program[GroupRows]:
        return (yield from self._rows(self.keyed.names, self.keyed.known, self.groups_per_unit))

    def _rows(self, names: tuple[str, ...], known: tuple[Any, ...] | None, most: int) -> Program[GroupRows]:
        """All groups by some columns; a unit is in at most `most` of them, with all of its rows."""
        unit, bounding = self.facts.unit, None
        if unit != Unit():
            bounding = Bounding(unit.name, MOST_ROWS, most, (yield Bits(62)))
        return self.source.rows(None, Keyed(names, known, units=True), bounding)
