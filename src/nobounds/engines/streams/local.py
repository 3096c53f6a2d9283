"""Tables in this process: their columns, bounded by unit if needed, and the tally of their groups."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nobounds.accounting.loss import Unit
from nobounds.arrays import Floats, Ints
from nobounds.counting.tally import Tallying
from nobounds.engines.column import Column, windows
from nobounds.engines.grouped import GroupedRecords
from nobounds.engines.keys import KeyCodes, is_key, public_keys, together
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.memory.arrow_floats import floats_in
from nobounds.engines.source import Bounding, Keyed, Progress, Tallied
from nobounds.engines.sql.duck import bounded, query_failed, unit_groups, unit_sizes
from nobounds.engines.streams.spool import Spool, once
from nobounds.engines.streams.stream import TableStream
from nobounds.engines.streams.viewed import stream_types, viewed
from nobounds.expressions.types import Type
from nobounds.expressions.view import View
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder


def _silent(rows: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Local:
    """A table in this process (see `source.TableSource`)."""

    stream: TableStream
    progress: Progress = field(default=_silent, repr=False)

    @property
    def facts(self) -> dict[str, Facts]:
        """The numeric columns."""
        return self.stream.facts

    @property
    def others(self) -> dict[str, str]:
        """The other columns."""
        return self.stream.others

    @property
    def typed(self) -> bool:
        """Whether the types of columns are known."""
        return self.stream.typed

    @property
    def shown(self) -> frozenset[str] | None:
        """The names that may be shown."""
        return self.stream.shown

    @property
    def query(self) -> bool:
        """Whether the rows are those of a query's result."""
        return self.stream.query

    @property
    def connected(self) -> bool:
        """Whether the rows are read by a connection of this process, as those of every query are."""
        return self.stream.connected or self.stream.query

    def columns(self, names: list[str], bounding: Bounding | None) -> dict[str, Column]:
        """Columns, read in place if that can be repeated, and otherwise once, into a spool."""
        if bounding is None and self.stream.again is not None:
            return {name: self._watched(column) for name, column in self.stream.again(names).items()}

        def records(batch: Any) -> dict[str, Floats]:
            return {name: _floats(batch, k - len(names)) for k, name in enumerate(names)}

        spool = once(lambda: self._spool(names, self._batches([], names, bounding), records))
        # The number of rows is public under swap, and counting must not read the rows into the spool.
        if bounding is None:
            rows = once(self._rows)
            return {name: replace(_spooled(spool, name, self.facts[name], Unit()), rows=rows) for name in names}
        unit = Unit(bounding.unit, bounding.rows)
        return {name: _spooled(spool, name, self.facts[name], unit) for name in names}

    def tally(self, name: str | None, ladder: Ladder, sums: bool, keyed: Keyed, bounding: Bounding | None) -> Tallied:
        """One pass over the keys and the values."""
        names, codes, growing = list(keyed.names), KeyCodes(keyed.known), Tallying(ladder, sums)
        start = 0 if bounding is None else 1  # the position of the first key: names may be repeated
        units = np.zeros(0 if keyed.known is None else len(keyed.known[0]), dtype=np.int64)
        values = [] if name is None else [name]
        wanted = Wanted(keyed.known) if keyed.known is not None and bounding is not None else None
        with self.stream.turns:
            for batch in together(self._batches(names, values, bounding, wanted)):
                row_codes = codes.codes([batch.column(start + k) for k in range(len(names))])
                records = _floats(batch, start + len(names)) if name is not None else np.zeros(len(row_codes))
                inside = (row_codes >= 0) & ~np.isnan(records)
                groups, records = row_codes[inside], records[inside]
                firsts = groups if bounding is None else groups[_floats(batch, 0)[inside] > 0]
                counted = np.bincount(firsts, minlength=len(units))
                units = counted + np.pad(units, (0, len(counted) - len(units)))
                growing.add(groups, records)
        none = tuple(import_pyarrow().nulls(0, self.stream.kinds[key]) for key in names)
        keys = codes.keys() or none if keyed.known is None else keyed.known
        return Tallied(keys, units.astype(np.int64), growing.tally())

    def records(self, names: list[str], keyed: Keyed, bounding: Bounding | None) -> GroupedRecords:
        """One pass over the keys and the values."""
        keys, codes = list(keyed.names), KeyCodes(keyed.known)
        start = 0 if bounding is None else 1
        wanted = Wanted(keyed.known) if keyed.known is not None and bounding is not None else None

        def rows() -> Iterator[tuple[Ints, Ints, dict[str, Floats]]]:
            for batch in together(self._batches(keys, names, bounding, wanted)):
                groups = codes.codes([batch.column(start + k) for k in range(len(keys))])
                firsts = groups if bounding is None else groups[_floats(batch, 0) > 0]
                values = {name: _floats(batch, start + len(keys) + k) for k, name in enumerate(names)}
                yield groups, firsts, values

        with self.stream.turns:
            read = list(rows())
        none = tuple(import_pyarrow().nulls(0, self.stream.kinds[key]) for key in keys)
        arrays = codes.keys() or none if keyed.known is None else keyed.known
        return GroupedRecords.of(arrays, len(arrays[0]), read, names)

    def row_marks(self, bounding: Bounding | None) -> Column:
        """A record 0 for each row: for all rows, or for those kept of each unit."""
        facts = Facts(integral=True, nullable=self.stream.kept is not None)
        if bounding is None:
            rows, kept = once(self._rows), self.stream.kept
            if kept is not None:
                some = once(lambda: self._spool(["rows"], kept(), lambda marks: {"rows": marks}))
                return replace(_spooled(some, "rows", facts, Unit()), rows=rows)
            return Column(facts, lambda: (np.zeros(len(range(rows())[w])) for w in windows(rows())), rows=rows)

        def marks(batch: Any) -> dict[str, Floats]:
            return {"rows": np.zeros(len(batch))}

        spool = once(lambda: self._spool(["rows"], self._batches([], [], bounding), marks))
        return _spooled(spool, "rows", facts, Unit(bounding.unit, bounding.rows))

    def rows_of_units(self, unit: str) -> Column:
        """One record per unit, its number of rows; read once."""

        def sizes(batch: Any) -> dict[str, Floats]:
            return {"rows": batch.column(0).to_numpy(zero_copy_only=False)}

        spool = once(lambda: self._spool(["rows"], unit_sizes(self._read([unit], [])), sizes))
        return _spooled(spool, "rows", Facts(integral=True, nullable=False, lower=1), Unit(unit, 1))

    def groups_of_units(self, unit: str, by: tuple[str, ...]) -> tuple[Column, Column]:
        """One record per unit, its numbers of rows and of groups; both are read in one pass."""
        names, facts = ["rows", "groups"], Facts(integral=True, nullable=False, lower=0)

        def sizes(batch: Any) -> dict[str, Floats]:
            return {name: batch.column(k).to_numpy(zero_copy_only=False) for k, name in enumerate(names)}

        spool = once(lambda: self._spool(names, unit_groups(self._read([unit, *by], []), len(by)), sizes))
        return _spooled(spool, "rows", facts, Unit(unit, 1)), _spooled(spool, "groups", facts, Unit(unit, 1))

    @property
    def types(self) -> dict[str, Type]:
        """The types of columns in expressions."""
        return stream_types(self.stream)

    @property
    def enums(self) -> dict[str, list[str]]:
        """The categories of Enum columns."""
        return self.stream.enums

    def viewed(self, view: View, masked: bool) -> "Local":
        """The table with a condition and computed columns."""
        return replace(self, stream=viewed(self.stream, view, masked))

    def check_keys(self, names: tuple[str, ...]) -> None:
        """TypeError if a column is of a type that cannot be a key or a unit."""
        for name in names:
            kind = self.stream.kinds.get(name)
            if kind is None or not is_key(kind):
                family = self.others.get(name, "number")
                rule = "must be of text, numbers or dates to be a unit or a key"
                raise TypeError(f"column {name!r} {rule}, got {family}; cast it first")

    def known_keys(self, names: tuple[str, ...], given: list[list[Any]]) -> tuple[Any, ...]:
        """Public keys, a list for each column, as arrays of the types of the columns."""
        return tuple(public_keys(part, self.stream.kinds[name], name) for name, part in zip(names, given, strict=True))

    def _watched(self, column: Column) -> Column:
        """The column, with reports of the rows read to `progress`."""

        def chunks() -> Iterator[Any]:
            for chunk in column.chunks():  # type: ignore[union-attr]
                self.progress(len(chunk))
                yield chunk

        return replace(column, chunks=chunks)

    def _spool(self, names: list[str], batches: Iterator[Any], records: Callable[[Any], dict[str, Floats]]) -> Spool:
        """A spool of all batches, read immediately."""
        with self.stream.turns:
            return Spool(names, map(records, batches))

    def _rows(self) -> int:
        with self.stream.turns:
            return self.stream.rows()

    def _read(self, keys: list[str], values: list[str]) -> Iterator[Any]:
        kinds = [self.stream.kinds[name] for name in keys]
        for batch in self.stream.batches(keys, values):
            if batch.schema.types[: len(keys)] != kinds:  # a query may return other types than it declared
                raise query_failed()
            self.progress(len(batch))
            yield batch

    def _batches(
        self, keys: list[str], values: list[str], bounding: Bounding | None, wanted: "Wanted | None" = None
    ) -> Iterator[Any]:
        if bounding is None:
            return self._read(keys, values)
        rows = self._read([bounding.unit, *keys], values)
        chosen = bounded(rows if wanted is None else map(wanted.only, rows), keys, values, bounding)
        return (_cast(batch, [self.stream.kinds[name] for name in keys]) for batch in chosen)


class Wanted:
    """A filter for rows with public keys: a unit is bounded among these, and other rows do not count against it."""

    def __init__(self, known: tuple[Any, ...]) -> None:
        self._codes = KeyCodes(known)
        self._many = len(known)

    def only(self, batch: Any) -> Any:
        """The rows of a batch with public keys; its first column is the unit, and the next are the keys."""
        codes = self._codes.codes([batch.column(1 + k) for k in range(self._many)])
        return batch.filter(import_pyarrow().array(codes >= 0))


def _cast(batch: Any, kinds: list[Any]) -> Any:
    """A bounded batch with the original types of its keys: DuckDB has fewer time units and zones."""
    keys = [batch.column(1 + k).cast(kind) for k, kind in enumerate(kinds)]
    rest = batch.columns[1 + len(keys) :]
    return import_pyarrow().record_batch([batch.column(0), *keys, *rest], names=batch.schema.names)


def _spooled(spool: Any, name: str, facts: Facts, unit: Unit) -> Column:
    return Column(replace(facts, unit=unit), lambda: spool().chunks(name), rows=lambda: spool().rows)


def _floats(batch: Any, place: int) -> Floats:
    """A column of numbers."""
    column = batch.columns[place]
    return floats_in(column if str(column.type) == "double" else column.cast("float64"))
