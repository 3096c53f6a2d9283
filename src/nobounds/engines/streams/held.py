"""The rows of a table at one moment, read in this process: passes and counts of a statistic see the same rows."""

from collections.abc import Callable, Iterable
from dataclasses import field
from functools import partial
from typing import TypeVar

from nobounds.counting.scan import Chunk, Chunks, Join, Remote, joined
from nobounds.engines.column import Column
from nobounds.engines.source import GroupRows, Keyed, Tallied
from nobounds.engines.streams.local import Local
from nobounds.engines.streams.selected import selected
from nobounds.engines.streams.spool import once
from nobounds.engines.streams.stream import TableStream
from nobounds.ladders.ladder import Ladder
from nobounds.values import dataclass

P = TypeVar("P")


@dataclass(frozen=True, slots=True, eq=False)
class FetchedRecords(Remote):
    """The records of a column, of a table that its first pass reads; `fetched` starts a pass over them."""

    fetched: Callable[[], Chunks] = field(repr=False)

    def scan(self, part: Callable[[Iterable[Chunk]], P], merge: Callable[[P, P], P]) -> P:
        """The result of a pass."""
        return part(self.fetched())  # type: ignore[arg-type]

    def paired(self, other: Remote, join: Join) -> Chunks:
        """A record for each row of two columns."""
        assert isinstance(other, FetchedRecords), "columns of one table"
        return joined(self.fetched(), other.fetched(), join)  # type: ignore[arg-type]


def fetched_columns(stream: TableStream, names: list[str]) -> dict[str, Chunks]:
    """The records of some columns, read together, once."""
    columns = once(lambda: Local(stream).columns(names, None))
    return {name: FetchedRecords(partial(chunks_of, columns, name)) for name in names}


def chunks_of(columns: Callable[[], dict[str, Column]], name: str) -> Chunks:
    """A pass over one of some columns."""
    return columns()[name].chunks()


@dataclass(frozen=True, slots=True)
class Held:
    """A table whose stream reads the same rows each time (see `stream.Elsewhere`)."""

    stream: TableStream

    def rows(self) -> int:
        """The number of rows."""
        with self.stream.turns:
            return self.stream.rows()

    def columns(self, names: list[str], several: bool = False) -> dict[str, Chunks]:
        """The records of some columns."""
        return fetched_columns(self.stream, names)

    def tally(self, name: str | None, ladder: Ladder, keyed: Keyed) -> Tallied:
        """The groups of a column."""
        return Local(self.stream).tally(name, ladder, keyed, None)

    def group_rows(self, name: str | None, keyed: Keyed) -> GroupRows:
        """The rows of a column by group."""
        return Local(self.stream).rows(name, keyed, None)

    def selected(self, columns: dict[str, str]) -> "Held":
        """The same with these columns: new names, each with the old one."""
        return Held(selected(self.stream, columns))
