"""Tables in this process: their columns, bounded by unit if needed, and the tally of their groups."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from nobounds.accounting.loss import Unit
from nobounds.arrays import Floats, Ints
from nobounds.counting.scan import Chunks
from nobounds.counting.tally import Tallying
from nobounds.engines.column import Column, windows
from nobounds.engines.grouped import GroupedRecords
from nobounds.engines.keys import is_key, public_keys
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.memory.arrow_floats import floats_in
from nobounds.engines.refusals import query_failed
from nobounds.engines.rows.coded import CodedRows
from nobounds.engines.rows.key_codes import KeyCodes, together
from nobounds.engines.rows.unit_rows import UnitRows
from nobounds.engines.source import Bounding, GroupRows, Keyed, Progress, Tallied
from nobounds.engines.sql.duck import unit_groups, unit_sizes
from nobounds.engines.streams.bounded import bounded
from nobounds.engines.streams.spool import Spool, once
from nobounds.engines.streams.stream import Elsewhere, TableStream
from nobounds.engines.streams.viewed import stream_types, viewed
from nobounds.expressions.types import Type
from nobounds.expressions.view import View
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.values import dataclass

Read = TypeVar("Read", Tallied, CodedRows, GroupedRecords)


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
    def query(self) -> bool:
        """Whether the rows are those of a query's result."""
        return self.stream.query

    @property
    def connected(self) -> bool:
        """Whether the rows are read by a connection of this process, as those of every query are."""
        return self.stream.connected or self.stream.query

    def columns(self, names: list[str], bounding: Bounding | None, *, several: bool = False) -> dict[str, Column]:
        """Columns, read in place if that can be repeated, and otherwise once, into a spool."""
        if bounding is None and self.stream.again is not None:
            return {name: self._watched(column) for name, column in self.stream.again(names).items()}
        spool = once(lambda: Spool(names, self._records(names, bounding)))
        if bounding is not None:
            unit = Unit(bounding.unit, bounding.rows)
            return {name: _spooled(spool, name, self.facts[name], unit) for name in names}
        there = once(self._elsewhere)
        pushed = once(lambda: None if (elsewhere := there()) is None else elsewhere.columns(names, several))

        def records(name: str) -> Chunks:
            columns = pushed()
            return spool().chunks(name) if columns is None else columns[name]

        # The number of rows is public under swap, and counting must not read the rows into the spool.
        rows = once(lambda: self._rows() if (elsewhere := there()) is None else elsewhere.rows())
        return {name: Column(self.facts[name], partial(records, name), rows=rows) for name in names}

    def tally(self, name: str | None, ladder: Ladder, keyed: Keyed, bounding: Bounding | None) -> Tallied:
        """One pass over the keys and the values, where the rows are or here."""
        if bounding is None and (there := self._elsewhere()) is not None:
            return there.tally(name, ladder, keyed)
        codes, growing, units = KeyCodes(keyed.known), Tallying(ladder), _Units(keyed)
        for row_codes, firsts, values in self._coded([] if name is None else [name], keyed, bounding, codes):
            records = values[0] if values else np.zeros(len(row_codes))
            groups = _present(row_codes, values)
            inside = groups >= 0
            units.add(groups if firsts is None else firsts)
            growing.add(groups[inside], records[inside])
        return units.used(Tallied(self._keys(keyed, codes), units.counts, growing.tally()), bounding)

    def rows(self, name: str | None, keyed: Keyed, bounding: Bounding | None) -> GroupRows:
        """One pass over the keys and the values; the values are read again in place if that can be repeated."""
        if bounding is None and (there := self._elsewhere()) is not None:
            return there.group_rows(name, keyed)
        codes, units, parts = KeyCodes(keyed.known), _Units(keyed), [np.zeros(0, dtype=np.int32)]
        names = [] if name is None else [name]

        def read() -> Iterator[dict[str, Floats]]:
            for row_codes, firsts, values in self._coded(names, keyed, bounding, codes):
                groups = _present(row_codes, values)
                units.add(groups if firsts is None else firsts)
                parts.append(groups.astype(np.int32))
                yield dict(zip(names, values, strict=True))

        again = self.stream.again is not None and bounding is None
        spool = None
        if name is None or again:
            for _ in read():
                pass
        else:
            spool = Spool(names, read())

        def values() -> Iterable[Floats]:
            assert name is not None
            return spool.chunks(name) if spool is not None else self.columns([name], None)[name].chunks()  # type: ignore[return-value]

        row_codes = np.concatenate(parts)
        coded = CodedRows(self._keys(keyed, codes), units.counts, row_codes, None if name is None else values)
        return units.used(coded, bounding)

    def records(self, names: list[str], keyed: Keyed, bounding: Bounding | None) -> GroupedRecords:
        """One pass over the keys and the values."""
        codes, units = KeyCodes(keyed.known), _Units(keyed)

        def rows() -> Iterator[tuple[Ints, dict[str, Floats]]]:
            for groups, firsts, values in self._coded(names, keyed, bounding, codes):
                units.add(groups if firsts is None else firsts)
                yield groups, dict(zip(names, values, strict=True))

        read = list(rows())
        return units.used(GroupedRecords.of(self._keys(keyed, codes), units.counts, read, names), bounding)

    def row_marks(self, bounding: Bounding | None) -> Column:
        """A record 0 for each row: for all rows, or for those kept of each unit."""
        facts = Facts(integral=True, nullable=self.stream.kept is not None)
        if bounding is None:
            rows, kept = once(self._rows), self.stream.kept
            if kept is not None:
                some = once(lambda: self._spool(["rows"], kept(), lambda marks: {"rows": marks}))
                return replace(_spooled(some, "rows", facts, Unit()), rows=rows)
            return Column(facts, lambda: (np.zeros(len(range(rows())[w])) for w in windows(rows())), rows=rows)

        def marks() -> Iterator[dict[str, Floats]]:
            return ({"rows": np.zeros(len(codes))} for codes, _, _ in self._coded([], _ALL, bounding, KeyCodes()))

        return _spooled(once(lambda: Spool(["rows"], marks())), "rows", facts, Unit(bounding.unit, bounding.rows))

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

    def _elsewhere(self) -> Elsewhere | None:
        """The table where its rows are, if passes can run there."""
        if self.stream.elsewhere is None:
            return None
        with self.stream.turns:
            return self.stream.elsewhere()

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

    def _records(self, names: list[str], bounding: Bounding | None) -> Iterator[dict[str, Floats]]:
        """The records of some columns, bounded by unit if needed."""
        for _, _, values in self._coded(names, _ALL, bounding, KeyCodes()):
            yield dict(zip(names, values, strict=True))

    def _coded(
        self, names: list[str], keyed: Keyed, bounding: Bounding | None, codes: KeyCodes
    ) -> Iterator[tuple[Ints, Ints | None, list[Floats]]]:
        """The code of the group of each row, those of the first row of each unit in each group, and the values.

        Without units each row is a first one. The first rows are known if units are counted.
        """
        with self.stream.turns:
            if bounding is None:
                read = self._read(list(keyed.names), names)
                for batch in together(read) if keyed.names else read:
                    yield _codes(batch, 0, keyed, codes), None, _values(batch, names)
                return
            batches = together(self._read([bounding.unit, *keyed.names], names))
            whose = (_with_unit(batch, keyed, names, codes) for batch in batches)
            yield from bounded(whose, lambda: self._keys(keyed, codes), bounding, keyed.counted)

    def _keys(self, keyed: Keyed, codes: KeyCodes) -> tuple[Any, ...]:
        """The keys of the groups: the public ones, or those that were read."""
        none = (import_pyarrow().nulls(0, self.stream.kinds[key]) for key in keyed.names)
        return keyed.known if keyed.known is not None else codes.keys() or tuple(none)


_ALL = Keyed(())  # all rows are one group


class _Units:
    """How many units, or rows without units, each group has; counted if that is wanted."""

    def __init__(self, keyed: Keyed) -> None:
        self._keyed = keyed
        self.counts: Ints = np.zeros(0 if keyed.known is None else len(keyed.known[0]), dtype=np.int64)

    def add(self, firsts: Ints) -> None:
        """Count the groups of first rows; -1 is none."""
        if self._keyed.counted:
            counted = np.bincount(firsts[firsts >= 0], minlength=len(self.counts))
            self.counts = counted + np.pad(self.counts, (0, len(counted) - len(self.counts)))

    def used(self, read: Read, bounding: Bounding | None) -> Read:
        """What was read, without keys of which no row is kept: they are not in the table that is left."""
        if bounding is None or self._keyed.known is not None:
            return read
        some = np.flatnonzero(self.counts)
        return read.only(some, tuple(array.take(import_pyarrow().array(some)) for array in read.keys))


def _codes(batch: Any, start: int, keyed: Keyed, codes: KeyCodes) -> Ints:
    """The codes of the keys, which begin at this column; names may be repeated."""
    if not keyed.names:
        return np.zeros(len(batch), dtype=np.int64)
    return codes.codes([batch.column(start + k) for k in range(len(keyed.names))])


def _values(batch: Any, names: list[str]) -> list[Floats]:
    """The last columns, those of the values."""
    return [_floats(batch, k - len(names)) for k in range(len(names))]


def _with_unit(batch: Any, keyed: Keyed, names: list[str], codes: KeyCodes) -> UnitRows:
    """The rows that a unit is bounded among: rows without a unit or a key do not count against it.

    Nor do rows with other keys than the public ones, nor those whose value is missing, if there is one column.
    """
    units, groups, values = batch.column(0), _codes(batch, 1, keyed, codes), _values(batch, names)
    inside = (_present(groups, values) if len(values) == 1 else groups) >= 0
    if units.null_count:
        inside &= ~np.asarray(units.is_null())
    if inside.all():
        return UnitRows(units, groups, values)
    return UnitRows(units.filter(import_pyarrow().array(inside)), groups[inside], [each[inside] for each in values])


def _present(groups: Ints, values: list[Floats]) -> Ints:
    """The groups of rows with a record; -1 where the only value is missing."""
    if len(values) != 1 or not np.isnan(np.max(values[0], initial=0.0)):
        return groups
    return np.where(np.isnan(values[0]), -1, groups)


def _spooled(spool: Any, name: str, facts: Facts, unit: Unit) -> Column:
    return Column(replace(facts, unit=unit), lambda: spool().chunks(name), rows=lambda: spool().rows)


def _floats(batch: Any, place: int) -> Floats:
    """A column of numbers."""
    column = batch.columns[place]
    return floats_in(column if str(column.type) == "double" else column.cast("float64"))
