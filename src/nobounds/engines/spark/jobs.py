"""Spark jobs: passes and tallies that run on the workers and return only their small results.

The workers run the same functions as any process, on chunks that the same code makes from Arrow batches. A task may run
several times, and Spark uses the result of one attempt; there are no side effects.
"""

import pickle
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import field, replace
from functools import partial, reduce
from operator import or_
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np

from nobounds.arrays import Floats
from nobounds.counting.classes import Classes
from nobounds.counting.lattice import Lattice, Squares, Total, Totals
from nobounds.counting.scan import Chunk, Join, Remote
from nobounds.counting.spans import Spans
from nobounds.counting.tally import Tallying
from nobounds.engines.column import windows
from nobounds.engines.memory.arrow import import_pyarrow, to_floats
from nobounds.engines.refusals import replacing_errors
from nobounds.engines.rows.key_codes import KeyCodes, together
from nobounds.engines.spark import expressions, plans
from nobounds.engines.spark.known import MOST, Known
from nobounds.engines.streams.spool import Spool
from nobounds.ladders.ladder import Ladder
from nobounds.values import dataclass

P = TypeVar("P")

FIRST = "first"
"""The column that is true in one row of each unit in each group."""

_RESULT = "result binary"
_FEW_TASKS = 64
_FEW_SPANS = 16
_BYTES = 8  # of a record
_FEW_ROWS = 1 << 20  # of tasks together, which one task adds up
_CLASSES = 1 << 12  # that the records of a task make, as a rule
MANY = 1 << 22
"""Rows of several columns that the driver reads: one job instead of several for each column."""
LONG = 1 << 25
"""Rows of each of several columns that the driver reads one after the other, into a spool: a job for each."""


class KeptRows:
    """Rows that are read on first use; Spark keeps them as long as this object exists, unless they are stored."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self._frame: Any = None
        self._known: dict[str, Known] = {}
        self._tasks: int | None = None
        self._spools: dict[str, Spool] = {}

    def frame(self) -> Any:
        """The rows as a DataFrame, persisted unless they are columns of stored files."""
        if self._frame is None and plans.is_stored(self._rows):
            self._frame, self._tasks = self._rows, plans.tasks_of(self._rows)
        elif self._frame is None:
            # Spark identifies persisted data by their plan. The mark makes the plan unique: nobody else has persisted
            # it or will drop it.
            frame = self._rows.where(f"'{uuid4().hex}' is not null")
            self._frame = run(frame, frame.persist)
            weakref.finalize(self, _forget, self._frame).atexit = False
        return self._frame

    def count(self) -> int:
        """The number of rows."""
        for known in self._known.values():
            return int(known.counts.sum())
        frame = self.frame()
        return int(run(frame, frame.count))

    def known(self, name: str, part: Any) -> Known:
        """What is known of a column after a pass over all columns, or in SQL over one of numbers.

        Records that a pass cannot do without are read after that, if they are few.
        """
        if not self._known:
            if self._names == [name] and self.in_sql(name):
                self._known = {name: self.classes(name, "x")}
            else:
                rows = self.frame().select(*self._names)
                parts = merged_results(rows, _known_columns, _known_added, self._tasks)
                none = [Known.none() for _ in self._names]
                self._known = dict(zip(self._names, parts[0] if parts else none, strict=True))
        known, most = self._known[name], MOST if len(self._known) == 1 else MANY
        if not known.serves(part) and int(known.counts.sum()) <= most:
            self._fetch([name for name, known in self._known.items() if not known.is_whole])
        return self._known[name]

    def spooled(self, name: str) -> Spool | None:
        """All records of one of several columns, if it is not too long; None of one that is alone."""
        rows = self.count()
        if len(self._known) == 1 or rows > LONG or 2 * _BYTES * rows > plans.most_bytes(self._rows):
            return None
        if name not in self._spools:
            frame = self.frame().select(name)
            chunks = run(frame, frame.toArrow).column(0).iterchunks()
            self._spools[name] = Spool([name], ({name: to_floats(each)} for each in chunks))
        return self._spools[name]

    @property
    def tasks(self) -> int | None:
        """How many tasks read the rows, if that can be known."""
        if self._tasks is None and self._known:
            self._tasks = plans.tasks_of(self.frame())
        return self._tasks

    def in_sql(self, name: str) -> bool:
        """Whether SQL has the records of a column as doubles, by the rule of all engines."""
        return self._rows.schema[name].dataType.typeName() in expressions.TYPES

    def sums(self, name: str, maps: list[str], keys: list[str], groups: int = 1) -> Any:
        """A table of keys, numbers of records, and two sums for each expression (see `expressions.sums_of`).

        groups: how many keys there are at most.
        """
        from pyspark.sql.functions import expr

        sums = [each for steps in maps for each in expressions.sums_of(steps)]
        wanted = [expr(f"coalesce({each}, 0L) as s{k}") for k, each in enumerate(["count(1)", *sums])]
        rows = self._numbers(name, *keys).where("x is not null").groupBy(*keys).agg(*wanted)
        return self._collected(rows, groups)

    def classes(self, name: str, value: str) -> Known:
        """The records of a column by the leading bits of a value of each."""
        from pyspark.sql.functions import expr

        rows = expressions.classed(self._numbers(name), value)
        # Missing records are counted apart, whatever class they are in: the ends of a class do not show them.
        wanted = ["min(x) as low", "max(x) as high", "count(x) as present", "count(1) as n"]
        read = self._collected(rows.groupBy("class").agg(*map(expr, wanted)), _CLASSES)
        counts, every = (read.column(name).to_numpy() for name in ("present", "n"))
        low, high = (to_floats(read.column(end))[counts > 0] for end in ("low", "high"))
        missing = np.array([np.nan] * bool(len(every)))
        numbers = np.append(counts[counts > 0], [int((every - counts).sum())] * len(missing))
        return Known(np.append(low, missing), np.append(high, missing), numbers)

    def inside(self, name: str, spans: Spans) -> Any:
        """The rows whose records lie in some intervals, as a DataFrame of the records alone.

        The intervals are sensitive. In a DataFrame of their own they are data, which plans and event logs do not show.
        """
        import pyarrow as pa

        names, records = [f"e{k}" for k in range(len(spans.edges))], self._numbers(name)
        edges = pa.array([dict(zip(names, spans.edges.tolist(), strict=True))])
        edge = self._rows.sparkSession.createDataFrame(pa.table({"edges": edges})).scalar()
        pairs = zip(names[::2], names[1::2], strict=True)
        inside = ((records["x"] >= edge[low]) & (records["x"] <= edge[high]) for low, high in pairs)
        return records.where(reduce(or_, inside))

    @property
    def _names(self) -> list[str]:
        return [column.name for column in self._rows.schema.fields if column.name.startswith("v")]

    def _numbers(self, name: str, *others: str) -> Any:
        """The records of such a column, as x, null if they are missing, and other columns."""
        return self.frame().selectExpr(*others, f"nanvl(cast({name} as double), cast(null as double)) as x")

    def _collected(self, rows: Any, groups: int) -> Any:
        """The few rows of an aggregate; each task may send one for each group."""
        if self.tasks is not None and self.tasks * groups <= _FEW_ROWS:
            rows = plans.with_one_shuffle_task(rows)
        return run(rows, rows.toArrow)

    def _fetch(self, names: list[str]) -> None:
        """Read all records of some columns."""
        frame = self.frame().select(*names)
        read = run(frame, frame.toArrow)
        self._known |= {name: Known.of(to_floats(read.column(name))) for name in names}


def _forget(frame: Any) -> None:
    with suppress(Exception):  # the session may be gone
        frame.unpersist()


@dataclass(frozen=True, slots=True)
class Passes(Remote):
    """The records of one column: a `scan.Remote`."""

    kept: KeptRows = field(repr=False)
    name: str
    other: str | None = None  # a second column of the same rows, and what makes one record of two
    join: Join | None = field(default=None, repr=False)

    def scan(self, part: Callable[[Iterable[Chunk]], P], merge: Callable[[P, P], P]) -> P:
        """The result from what is known of the column, from SQL, or from a job whose tasks run the pass."""
        kept, name, rows = self.kept, self.name, None
        if self.join is None and (isinstance(part, Total | Totals) or hasattr(part, "classes")):
            known = kept.known(name, part)
            if known.serves(part):
                return part(known.chunks)  # type: ignore[return-value]
            if (spool := kept.spooled(name)) is not None:
                return part(spool.chunks(name))  # type: ignore[return-value]
            if isinstance(part, Total) and (summed := self._summed(part.steps)) is not None:
                return summed  # type: ignore[return-value]
            classes: Classes | None = getattr(part, "classes", None)
            if kept.in_sql(name) and classes is not None:
                if classes.spans is not None and len(classes.spans.edges) <= 2 * _FEW_SPANS:
                    rows = kept.inside(name, classes.spans)
                    if known.most_inside(classes.spans) <= MOST:
                        return part([to_floats(run(rows, rows.toArrow).column(0))])  # type: ignore[return-value]
                value = None if classes.deviation is None else expressions.deviation_of(classes.deviation)
                if value is not None and (counted := kept.classes(name, value)).serves(part):
                    return part(counted.chunks)  # type: ignore[return-value]
        if rows is None:
            rows = kept.frame().select(*([name] if self.other is None else [name, self.other]))
        results = merged_results(rows, partial(_scanned, part, self.join), merge, kept.tasks)
        return results[0] if results else part(())

    def _summed(self, steps: Lattice | Squares) -> tuple[int, int] | None:
        expression = expressions.steps_of(steps)
        if expression is None or not self.kept.in_sql(self.name):
            return None
        count, upper, lower = (column.to_pylist()[0] for column in self.kept.sums(self.name, [expression], []).columns)
        return count, expressions.whole(upper, lower)

    def paired(self, other: Remote, join: Join) -> "Passes":
        """A record for each row, of two columns as they are."""
        assert isinstance(other, Passes) and self.kept is other.kept, "columns of one table"
        return replace(self, other=other.name, join=join)


def merged_results(
    frame: Any,
    part: Callable[[Iterator[Any]], Iterator[Any]],
    merge: Callable[[P, P], P],
    tasks: int | None = None,
) -> list[P]:
    """The merged result of a function that turns the batches of each task into one row; none of no tasks.

    Rows of few tasks are merged here. If there may be many `tasks`, others merge their rows first, in a second job.
    """
    fewer = frame.mapInArrow(part, _RESULT)
    if tasks is None or tasks > _FEW_TASKS:
        # Spark chooses the number of tasks for such small data. A task that runs again produces one row as before, and
        # its row goes to the same task as before.
        fewer = fewer.hint("rebalance").mapInArrow(partial(_merged, merge), _RESULT)
    pickled = run(fewer, fewer.toArrow).column(0).to_pylist()
    return [reduce(merge, map(pickle.loads, pickled))] if pickled else []


def _scanned(
    part: Callable[[Iterable[Chunk]], Any],
    join: Join | None,
    batches: Iterator[Any],
) -> Iterator[Any]:
    def records(batch: Any) -> Floats:
        first = to_floats(batch.column(0))
        return first if join is None else join(first, to_floats(batch.column(1)))

    yield result_row(part(map(records, batches)))


def _known_columns(batches: Iterator[Any]) -> Iterator[Any]:
    """What is known of each column of a part of the rows; none of a part without rows."""
    known: list[Known] = []
    for rows in together(batches):
        known = known or [Known.none() for _ in rows.columns]
        known = [each.grown(to_floats(column)) for each, column in zip(known, rows.columns, strict=True)]
    if any(len(each.counts) for each in known):
        yield result_row(known)


def _known_added(one: list[Known], other: list[Known]) -> list[Known]:
    return [a + b for a, b in zip(one, other, strict=True)]


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
