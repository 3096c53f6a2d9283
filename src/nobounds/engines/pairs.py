"""Two columns of the same rows, read together: a row with a missing record in either is missing in both."""

from dataclasses import replace

from nobounds.counting.scan import Join, Records, first_of, paired, second_of
from nobounds.engines.column import Column
from nobounds.engines.memory.arrays import column
from nobounds.ladders.facts import Facts
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """Two columns of one table; `first` and `second` as they are, `x` and `y` with the rows that have both records."""

    first: Column
    second: Column

    @classmethod
    def of(cls, x: object, y: object) -> "Pair":
        """The pair of two columns in memory; ValueError if they do not have equally many rows."""
        first, second = column(x), column(y)
        if first.rows() != second.rows():
            raise ValueError("the two columns must have the same length, a record of each for every row")
        return cls(first, second)

    @property
    def x(self) -> Column:
        """The first column."""
        return replace(self.first, facts=self._known(self.first.facts), chunks=self.records(first_of))

    @property
    def y(self) -> Column:
        """The second column."""
        return replace(self.second, facts=self._known(self.second.facts), chunks=self.records(second_of))

    def records(self, join: Join) -> Records:
        """A record for each row, by a function of its two records, which must keep missing ones missing.

        The function may run on other machines, so it must be picklable.
        """
        return lambda: paired(self.first.chunks(), self.second.chunks(), join)

    def named(self) -> str | None:
        """The names of both columns, if they have names."""
        names = [facts.name for facts in (self.first.facts, self.second.facts) if facts.name is not None]
        return " and ".join(names) or None

    def _known(self, facts: Facts) -> Facts:
        return replace(facts, nullable=self.first.facts.nullable or self.second.facts.nullable)
