"""A stream: a table in this process that is read from front to back as Arrow batches.

Data that are fast to read again, in memory and in Parquet files, provide their columns directly; text and queries are
read once, into a spool.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import field
from typing import Any, Protocol

from nobounds.arrays import Floats
from nobounds.counting.scan import Chunks
from nobounds.engines.column import Column
from nobounds.engines.source import GroupRows, Keyed, Tallied
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.values import dataclass


class Elsewhere(Protocol):
    """The rows of a table at one moment, and passes over them that run where they are."""

    def rows(self) -> int:
        """The number of rows."""
        ...

    def columns(self, names: list[str], several: bool = False) -> dict[str, Chunks]:
        """The records of some columns; `several`: for several statistics of each."""
        ...

    def tally(self, name: str | None, ladder: Ladder, keyed: Keyed) -> Tallied:
        """As of a `source.TableSource`."""
        ...

    def group_rows(self, name: str | None, keyed: Keyed) -> GroupRows:
        """The rows of a column by group."""
        ...

    def selected(self, columns: dict[str, str]) -> "Elsewhere":
        """The same with these columns: new names, each with the old one."""
        ...


@dataclass(frozen=True, slots=True)
class TableStream:
    """The public facts of a table, and functions to read it.

    `batches(keys, values)` starts a pass: pyarrow record batches with the columns `keys` unchanged, and `values` as
    float64 with NaN for missing records. `again` returns columns that can be read repeatedly, if the table has any.
    `kinds` has the Arrow types of all columns. `share` returns the share of the table that the current pass has
    read, if known. `query`, `connected` and `enums` are as in `source.TableSource`. `turns` is a lock to hold
    during a pass (see `turns`). `kept` gives a record 0 for each row, and a missing one for a row that a condition
    has dropped; None if no row is missing. `elsewhere` opens the table where its rows are, for passes that run
    there; None if they have to be read here.
    """

    facts: dict[str, Facts] = field(repr=False)
    others: dict[str, str] = field(repr=False)
    kinds: dict[str, Any] = field(repr=False)
    batches: Callable[[list[str], list[str]], Iterator[Any]] = field(repr=False)
    rows: Callable[[], int] = field(repr=False)
    again: Callable[[list[str]], dict[str, Column]] | None = field(default=None, repr=False)
    typed: bool = True
    share: Callable[[], float] | None = field(default=None, repr=False)
    query: bool = False
    connected: bool = False
    turns: Any = field(default=nullcontext(), repr=False)
    kept: Callable[[], Iterator[Floats]] | None = field(default=None, repr=False)
    enums: dict[str, list[str]] = field(default_factory=dict, repr=False)
    elsewhere: Callable[[], "Elsewhere | None"] | None = field(default=None, repr=False)
