"""A stream: a table in this process that is read from front to back as Arrow batches.

What is quickly read again and again, data in memory and Parquet files, gives its columns as they are; what is text or
a query is read once, into a spool.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from nobounds.engines.column import Column
from nobounds.ladders.facts import Facts


@dataclass(frozen=True, slots=True)
class TableStream:
    """The public facts of a table, and how it is read.

    `batches(keys, values)` starts to read it: pyarrow record batches with the columns `keys` as they are, and `values`
    as float64 with NaN for what is missing. `again` gives columns that can be read again and again, if there is a way.
    `kinds` has the Arrow types of all columns. `share` tells how much of the table the pass under way has read, if that
    is known. `shown` has the names of the columns that may be shown; None if all may be. `query` is as in
    `source.Source`. `turns` is held while a pass is read (see `turns`).
    """

    facts: dict[str, Facts] = field(repr=False)  # the names in a CSV file may be a record
    others: dict[str, str] = field(repr=False)
    kinds: dict[str, Any] = field(repr=False)
    batches: Callable[[list[str], list[str]], Iterator[Any]] = field(repr=False)
    rows: Callable[[], int] = field(repr=False)
    again: Callable[[list[str]], dict[str, Column]] | None = field(default=None, repr=False)
    typed: bool = True
    share: Callable[[], float] | None = field(default=None, repr=False)
    shown: frozenset[str] | None = None
    query: bool = False
    turns: Any = field(default=nullcontext(), repr=False)
