"""Spark jobs: passes and tallies that run on the workers and return only their small results.

The workers run the same functions as any process, on chunks that the same code makes from Arrow batches. A task may run
several times, and Spark uses the result of one attempt; there are no side effects.
"""

import pickle
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np

from nobounds.arrays import Floats
from nobounds.counting.scan import Chunk, Join, Remote, changed
from nobounds.counting.tally import Tallying
from nobounds.engines.column import windows
from nobounds.engines.memory.arrow import import_pyarrow, to_floats
from nobounds.engines.refusals import replacing_errors
from nobounds.engines.rows.key_codes import KeyCodes, together
from nobounds.ladders.ladder import Ladder

P = TypeVar("P")

FIRST = "first"
"""The column that is true in one row of each unit in each group."""

_RESULT = "result binary"


class KeptRows:
    """Rows that are read once, on first use, and that Spark keeps as long as this object exists."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self._frame: Any = None

    def frame(self) -> Any:
        """The rows as a persisted DataFrame."""
        if self._frame is None:
            # Spark identifies persisted data by their plan. The mark makes the plan unique: nobody else has persisted
            # it or will drop it.
            frame = self._rows.where(f"'{uuid4().hex}' is not null")
            self._frame = run(frame, frame.persist)
            weakref.finalize(self, _forget, self._frame).atexit = False
        return self._frame

    def count(self) -> int:
        """The number of rows."""
        frame = self.frame()
        return int(run(frame, frame.count))


def _forget(frame: Any) -> None:
    with suppress(Exception):  # the session may be gone
        frame.unpersist()


@dataclass(frozen=True, slots=True)
class Passes(Remote):
    """The records of one column: a `scan.Remote`."""

    kept: KeptRows = field(repr=False)
    name: str
    changes: tuple[Callable[[Floats], Floats], ...] = ()
    other: str | None = None  # a second column of the same rows, and what makes one record of two
    join: Join | None = field(default=None, repr=False)

    def scan(self, part: Callable[[Iterable[Chunk]], P], merge: Callable[[P, P], P]) -> P:
        """Each task turns its part into one row; a few tasks merge these, and their rows are merged here."""
        names = [self.name] if self.other is None else [self.name, self.other]
        scanned = partial(_scanned, part, self.changes, self.join)
        results = merged_results(self.kept.frame().select(*names), scanned, merge)
        return results[0] if results else part(())

    def mapped(self, change: Callable[[Floats], Floats]) -> "Passes":
        """The same records, each changed by a function of that record alone."""
        return replace(self, changes=(*self.changes, change))

    def paired(self, other: Remote, join: Join) -> "Passes":
        """A record for each row, of two columns as they are."""
        assert isinstance(other, Passes) and self.kept is other.kept, "columns of one table"
        assert not self.changes and not other.changes, "they are as they were read"
        return replace(self, other=other.name, join=join)


def merged_results(frame: Any, part: Callable[[Iterator[Any]], Iterator[Any]], merge: Callable[[P, P], P]) -> list[P]:
    """The merged result of a function that turns the batches of each task into one row; none of no tasks."""
    # Spark chooses the number of tasks for such small data. A task that runs again produces one row as before, and
    # its row goes to the same task as before.
    fewer = frame.mapInArrow(part, _RESULT).hint("rebalance").mapInArrow(partial(_merged, merge), _RESULT)
    pickled = run(fewer, fewer.toArrow).column(0).to_pylist()
    return [reduce(merge, map(pickle.loads, pickled))] if pickled else []


def _scanned(
    part: Callable[[Iterable[Chunk]], Any],
    changes: tuple[Callable[[Floats], Floats], ...],
    join: Join | None,
    batches: Iterator[Any],
) -> Iterator[Any]:
    def records(batch: Any) -> Floats:
        first = to_floats(batch.column(0))
        return first if join is None else join(first, to_floats(batch.column(1)))

    chunks: Iterator[Chunk] = map(records, batches)
    yield result_row(part(reduce(changed, changes, chunks)))


def _merged(merge: Callable[[Any, Any], Any], batches: Iterator[Any]) -> Iterator[Any]:
    unpickled = (pickle.loads(result.as_py()) for batch in batches for result in batch.column(0))
    for first in unpickled:  # at most one iteration: the merge consumes the rest
        yield result_row(reduce(merge, unpickled, first))


def result_row(result: Any) -> Any:
    """The row of a task's result."""
    pa = import_pyarrow()
    return pa.record_batch([pa.array([pickle.dumps(result)], pa.binary())], names=["result"])


@dataclass(frozen=True, slots=True)
class Kernel:
    """The tally of one part of the rows, as rows (keys, rung, count).

    Without a rung, the count is that of units, or of rows if they are not bounded. Rows with equal key and rung add up.
    """

    keys: int
    valued: bool
    bounded: bool
    ladder: Ladder
    known: tuple[Any, ...] | None = None

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Batches with the keys, the value if there is one, and FIRST if rows are bounded; in this order."""
        pa = import_pyarrow()
        codes, growing, units = KeyCodes(self.known), Tallying(self.ladder), np.zeros(0, dtype=np.int64)
        kinds: list[Any] = []
        for rows in together(batches):
            kinds = [rows.schema.field(k).type for k in range(self.keys)]
            row_codes = codes.codes([rows.column(k) for k in range(self.keys)])
            records = to_floats(rows.column(self.keys)) if self.valued else np.zeros(len(row_codes))
            inside = (row_codes >= 0) & ~np.isnan(records)
            ones = inside & np.asarray(rows.column(FIRST)) if self.bounded else inside
            counted = np.bincount(row_codes[ones], minlength=len(units))
            units = counted + np.pad(units, (0, len(counted) - len(units)))
            growing.add(row_codes[inside], records[inside])
        if not kinds:
            return
        tally = growing.tally()
        present = np.flatnonzero(units)
        groups = np.concatenate([present, tally.groups])
        keys = codes.keys() if self.known is None else self.known
        none = np.zeros(len(present), dtype=np.int64)
        names = [*(f"k{k}" for k in range(self.keys)), "rung", "count"]
        for w in windows(len(groups)):
            arrays = [array.take(pa.array(groups[w])).cast(kind) for array, kind in zip(keys, kinds, strict=True)]
            rungs = pa.array(np.concatenate([none, tally.rungs])[w], mask=(np.arange(len(groups)) < len(present))[w])
            counts = np.concatenate([units[present], tally.counts])[w]
            yield pa.record_batch([*arrays, rungs, pa.array(counts)], names=names)


def run(frame: Any, job: Callable[[], Any]) -> Any:
    """The result of a job. The error of a failed job may quote a record, so it is replaced."""
    with replacing_errors(lambda: ValueError(_reason(frame.sparkSession))):
        return job()


def _reason(session: Any) -> str:
    """What to do about a failed job, from a job on no data: the true reason may depend on the data."""

    def importable(batches: Iterator[Any]) -> Iterator[Any]:  # a local function, which workers need not import
        import pyarrow

        try:
            import nobounds.engines.spark.jobs  # noqa: F401

            imported = 1
        except ImportError:
            imported = 0
        for _ in batches:
            yield pyarrow.record_batch({"imported": [imported]})

    try:
        imported = session.range(0, 1, 1, 1).mapInArrow(importable, "imported long").toArrow().column(0).to_pylist()
    except Exception:
        return (
            "the Spark job failed, and so does a job on no data; the session must run, and its workers need the "
            "Python version of this process, with numpy and pyarrow"
        )
    if imported == [0]:
        return (
            "the Spark job failed: nobounds cannot be imported on the workers; install it there, in the version of "
            "this process"
        )
    return (
        "the Spark job failed; run df.count() on its own to see why, and if that runs give the driver more memory "
        "(spark.driver.memory, spark.driver.maxResultSize)"
    )
