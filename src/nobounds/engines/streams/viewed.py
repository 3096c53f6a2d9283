"""A stream with a condition on its rows and with computed columns, on Arrow batches as they are read.

Rows that a condition drops are gone, before rows of a unit are chosen. Under swap the number of rows is public, so they
stay as rows in which everything is missing.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from nobounds.arrays import Floats
from nobounds.engines.memory.arrow import import_pyarrow, to_floats
from nobounds.engines.refusals import replacing_errors
from nobounds.engines.sql.duck import schema_facts
from nobounds.engines.streams.stream import TableStream
from nobounds.expressions.evaluate import Rows
from nobounds.expressions.types import OPEN, OTHER, TEXT, Type, of_arrow
from nobounds.expressions.values import Mask
from nobounds.expressions.view import View
from nobounds.ladders.facts import Facts


def stream_types(stream: TableStream) -> dict[str, Type]:
    """The types of the columns of a stream in expressions; text that may be numbers is open."""
    types = {name: of_arrow(kind) for name, kind in stream.kinds.items()}
    names = dict.fromkeys([*stream.facts, *stream.others])
    known = {name: types.get(name, OTHER) for name in names}
    return {
        name: _open(stream.facts[name]) if kind == TEXT and name in stream.facts else kind
        for name, kind in known.items()
    }


def _open(facts: Facts) -> Type:
    """The type of objects and texts that may be numbers; dates among them are not compared as the texts they are."""
    return OTHER if facts.kind.name in ("date", "datetime", "time", "duration") else OPEN


def viewed(stream: TableStream, view: View, masked: bool) -> TableStream:
    """The stream of a view; `masked`: dropped rows stay, and everything in them is missing."""
    reader = _Reader(stream, view, masked)
    facts, others, kinds = schema_facts(
        import_pyarrow().schema([(name, formula.arrow) for name, formula in view.formulas.items()])
    )
    for name, known in stream.facts.items():
        if name not in view.formulas:
            facts[name] = replace(known, nullable=known.nullable or (masked and view.condition is not None))
    old = [name for name in (*stream.facts, *stream.others) if name not in view.formulas]
    filtering = view.condition is not None
    return replace(
        stream,
        facts={name: facts[name] for name in (*old, *view.formulas) if name in facts},
        others={name: kind for name, kind in stream.others.items() if name in old} | others,
        kinds=stream.kinds | kinds,
        enums={name: declared for name, declared in stream.enums.items() if name in old},
        batches=reader.batches,
        rows=reader.rows if filtering and not masked else stream.rows,
        again=None,
        elsewhere=None,
        kept=reader.marks if filtering and masked else None,
    )


class _Reader:
    """Reads the columns that a view needs, and computes the others."""

    def __init__(self, stream: TableStream, view: View, masked: bool) -> None:
        self._stream, self._view, self._masked = stream, view, masked

    def batches(self, keys: list[str], values: list[str]) -> Iterator[Any]:
        """As in `TableStream`."""
        pa, view = import_pyarrow(), self._view
        for batch in self._read(keys, values):
            floats = {name: batch.float(name) for name in values if name not in view.formulas}
            with replacing_errors(_failed):
                made = {name: view.computed(name, batch.rows) for name in (*keys, *values) if name in view.formulas}
                mask = view.kept(batch.rows)
                arrays = [made[name] if name in made else batch.rows.columns[name] for name in keys]
                arrays += [pa.array(to_floats(made[name])) if name in made else floats[name] for name in values]
                if mask is not None and self._masked:
                    arrays = [_missing(each, mask, k < len(keys)) for k, each in enumerate(arrays)]
                elif mask is not None:
                    arrays = [each.filter(pa.array(mask)) for each in arrays]
            if arrays and len(arrays[0]):
                yield pa.record_batch(arrays, names=[*keys, *values])

    def rows(self) -> int:
        """The number of rows that are kept."""
        return sum(int(mask.sum()) for mask in self._masks())

    def marks(self) -> Iterator[Floats]:
        """A record 0 for each row, missing if it is dropped."""
        for mask in self._masks():
            yield np.where(mask, 0.0, np.nan)

    def _masks(self) -> Iterator[Mask]:
        for batch in self._read([], []):
            with replacing_errors(_failed):
                mask = self._view.kept(batch.rows)
            assert mask is not None
            yield mask

    def _read(self, keys: list[str], values: list[str]) -> Iterator["_Batch"]:
        view = self._view
        own, numbers = view.needed(dict.fromkeys(name for name in (*keys, *values) if name in view.formulas))
        own = list(dict.fromkeys([*(name for name in keys if name not in view.formulas), *own]))
        numbers = list(dict.fromkeys([*(name for name in values if name not in view.formulas), *numbers]))
        if not own and not numbers:  # a batch without a column would have no rows
            own, numbers = list(self._stream.kinds)[:1], []
        if not own and not numbers:
            numbers = list(self._stream.facts)[:1]
        for batch in self._stream.batches(own, numbers):
            yield _Batch(batch, own, numbers)


class _Batch:
    """A batch by the names of its columns: in their types, and as float64."""

    def __init__(self, batch: Any, own: list[str], numbers: list[str]) -> None:
        columns = {name: batch.column(k) for k, name in enumerate(own)}
        floats = {name: batch.column(len(own) + k) for k, name in enumerate(numbers)}
        self.rows = Rows(columns, floats, len(batch))

    def float(self, name: str) -> Any:
        """A column as float64."""
        return self.rows.numbers[name]


def _missing(array: Any, mask: Mask, key: bool) -> Any:
    """The array, missing where the mask is False: null for keys, and NaN for numbers."""
    import pyarrow.compute as pc

    pa = import_pyarrow()
    return pc.if_else(pa.array(mask), array, pa.scalar(None, type=array.type) if key else pa.scalar(np.nan))


def _failed() -> ValueError:
    return ValueError("an expression on the rows could not be computed; is there memory?")
