"""Column: the common form of the data of every engine, public facts and a stream of float64 records.

A record becomes the float64 nearest to it (IEEE round-to-nearest, ties to even; beyond the range, an infinity), and a
missing record becomes NaN. That depends on the record alone, so the same number gives the same float in each engine.

Data are refused by public facts only: their type, dtype or number of dimensions. No message has a value or a length.
"""

from collections.abc import Callable, Iterator
from dataclasses import field, replace

from nobounds.counting.scan import Chunks, read_once
from nobounds.ladders.facts import Facts
from nobounds.values import dataclass

CHUNK = 65_536
"""The number of records that are converted at a time."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of numbers: its public facts, and its records as float64 chunks.

    `chunks` starts a pass over the records and may be called again; each chunk is a contiguous array, with NaN for
    the missing records, and may be the data themselves. `rows` counts all records, missing ones too: sensitive unless
    neighbours have equal sizes.
    """

    facts: Facts
    chunks: Callable[[], Chunks] = field(repr=False)
    rows: Callable[[], int] = field(repr=False)

    def public(self, sized: bool) -> Facts:
        """The facts, and if it is public and wanted (`sized`) the number of records, which may take a pass."""
        return replace(self.facts, rows=self.rows()) if sized else self.facts

    def read_once(self) -> "Column":
        """The same column, for one statistic: if it has few records, only the first pass reads them."""
        return Column(self.facts, read_once(self.chunks), self.rows)


def windows(length: int, each: int = CHUNK) -> Iterator[slice]:
    """The consecutive slices of at most `each` records that cover `length` records."""
    return (slice(start, start + each) for start in range(0, length, each))


def refuse_type(name: str, fix: str) -> TypeError:
    """The error for one column whose element type is not a type of real numbers."""
    return TypeError(f"data must have an integer, float or boolean type, got {name}; {fix}")


def refuse_frame(name: str) -> TypeError:
    """The error for a whole table where one column is wanted."""
    return TypeError(f"data must be one column, got a {name}; pass one column, for example df['income']")
