"""A stored table of PostgreSQL as passes see it: each pass is a query that returns its small result.

A query groups records by their class (see `counting.classes`) and returns one record of each class and the number of
records in it. The pass runs on these in this process, so it is the same code as for any other table. Sums add up the
whole numbers of records in the server.
"""

from collections.abc import Callable, Iterable
from dataclasses import field, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.counting import lattice
from nobounds.counting.classes import Classes
from nobounds.counting.group_totals import StepsMap, Totals, fitting
from nobounds.counting.lattice import Total
from nobounds.counting.scan import Chunk, Chunks, Join, Remote, joined
from nobounds.counting.tally import Tally
from nobounds.engines.keys import plain
from nobounds.engines.rows.key_codes import KeyCodes
from nobounds.engines.source import GroupRows, Keyed, Tallied
from nobounds.engines.sql.postgres import unpacked
from nobounds.engines.sql.pushed.expressions import MOST_EDGES, class_of, is_finer, steps_of
from nobounds.engines.sql.pushed.snapshot import Snapshot, opened
from nobounds.engines.streams.held import chunks_of, fetched_columns
from nobounds.engines.streams.local import Local
from nobounds.engines.streams.spool import once
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import FloatBits
from nobounds.values import dataclass

P = TypeVar("P")
_PRESENT = "x <> 'NaN'"  # false for NaN, which equals itself here, and null for null
_COARSE = 12  # bits of the mantissa
_MOST_KEPT = 1 << 20  # classes
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Pushed:
    """Passes over the columns of one snapshot, and over its groups (see `stream.Elsewhere`)."""

    snapshot: Snapshot

    def rows(self) -> int:
        """The number of rows."""
        return self.snapshot.rows()

    def columns(self, names: list[str], several: bool = False) -> dict[str, Chunks]:
        """The records of some columns; they are fetched, once, where each of many passes would be a query."""
        if several or len(names) > 1:
            return fetched_columns(self.snapshot.fetched, names)
        columns = once(lambda: Local(self.snapshot.fetched).columns(names, None))
        return {name: PushedRecords(self._column(name), partial(chunks_of, columns, name)) for name in names}

    def tally(self, name: str | None, ladder: Ladder, keyed: Keyed) -> Tallied:
        """The groups of a column, of fetched rows if there are hardly fewer classes than rows, or none in SQL."""
        fine = isinstance(ladder.map, FloatBits) and ladder.map.bits > _COARSE
        column = self._column(name, keyed)
        read = None if name is not None and fine else column.classes(Classes(ladder))
        if read is None:
            return Local(self.snapshot.fetched).tally(name, ladder, keyed, None)
        codes, values, counts, _ = read
        rungs = ladder.rungs(values)
        # Adding the entries to an empty tally sorts them.
        tally = Tally.of(None, np.zeros(0), ladder) + Tally(ladder, codes, rungs, counts)
        return Tallied(column.keys(), column.units(codes, counts), tally)

    def group_rows(self, name: str | None, keyed: Keyed) -> "PushedRows":
        """The rows of a column by group."""
        column = self._column(name, keyed)
        codes, counts = column.sums(())[:2] if keyed.counted else (_NONE, _NONE)
        return PushedRows(column.keys(), column.units(codes, counts), column, partial(self._fetched_rows, name, keyed))

    def selected(self, columns: dict[str, str]) -> "Pushed":
        """The same with these columns: new names, each with the old one."""
        return Pushed(self.snapshot.selected(columns))

    def close(self) -> None:
        """End the transaction, and close its connections."""
        self.snapshot.session.close()

    def _column(self, name: str | None, keyed: Keyed | None = None) -> "_Column":
        number = "0::float8" if name is None else self.snapshot.fields[name].number
        assert number is not None, "a column of numbers"
        names = () if keyed is None else keyed.names
        codes = None if keyed is None else KeyCodes(keyed.known)
        return _Column(self.snapshot, number, names, codes, keyed)

    def _fetched_rows(self, name: str | None, keyed: Keyed, keys: tuple[Any, ...]) -> GroupRows:
        return Local(self.snapshot.fetched).rows(name, replace(keyed, known=keys), None)


def opened_table(connection: Any, table: str) -> Pushed | None:
    """The passes over a stored table; None where its rows have to be fetched."""
    snapshot = opened(connection, table)
    return None if snapshot is None else Pushed(snapshot)


@dataclass(frozen=True, slots=True, eq=False)
class PushedRecords(Remote):
    """The records of a column, or of some of its groups: a `scan.Remote`.

    fetched: starts a pass over the records in this process, for passes that have no query.
    places: the places of groups by their codes, -1 for groups that are left out.
    """

    column: "_Column"
    fetched: Callable[[], Chunks] = field(repr=False)
    places: Ints | None = field(default=None, repr=False)
    _read: dict[str, "_Read"] = field(default_factory=dict, repr=False)  # by the expressions of classes

    def scan(self, part: Callable[[Iterable[Chunk]], P], merge: Callable[[P, P], P]) -> P:
        """The result of a pass."""
        whole = next((read for read in self._read.values() if read.is_whole), None)
        if whole is not None and (isinstance(part, Total | lattice.Totals) or hasattr(part, "classes")):
            # The order of records does not matter to these.
            return part([(whole.values, whole.counts)])  # type: ignore[return-value]
        classes: Classes | None = getattr(part, "classes", None)
        read = None if classes is None else self._classes(classes)
        if read is not None:
            return part([(read.values, read.counts)])
        steps = steps_of(part.steps) if isinstance(part, Total) and self.places is None else None
        if steps is not None:
            _, counts, (sums,) = self.column.sums([steps])
            return int(counts.sum()), int(sums.sum())  # type: ignore[return-value]
        return part(self.fetched())  # type: ignore[arg-type]

    def _classes(self, classes: Classes) -> "_Read | None":
        """The records by class, from a query, or from an earlier one with the same classes or finer ones."""
        own = class_of(classes)
        finer = next((read for other, read in self._read.items() if is_finer(other, own)), None)
        if finer is not None and classes.spans is None:
            return finer
        read = self.column.classes(classes)
        if read is None or own is None:
            return None
        codes, values, counts, single = read
        inside = slice(None) if self.places is None else self.places[codes] >= 0
        some = _Read(values[inside], counts[inside], classes.spans is None and single)
        if classes.spans is None and len(values) <= _MOST_KEPT:
            self._read[own] = some
        return some

    def paired(self, other: Remote, join: Join) -> Chunks:
        """A record for each row, of two columns that are fetched."""
        assert isinstance(other, PushedRecords) and self.column.snapshot is other.column.snapshot, (
            "columns of one table"
        )
        return joined(self.fetched(), other.fetched(), join)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, eq=False)
class PushedRows:
    """The rows of one column by group (see `source.GroupRows`); each pass over them is a query. Sensitive."""

    keys: tuple[Any, ...]
    units: Ints
    column: "_Column"
    fetched: Callable[[tuple[Any, ...]], GroupRows] = field(repr=False)  # the rows of groups with these keys
    places: Ints | None = field(default=None, repr=False)

    def only(self, kept: Ints, keys: tuple[Any, ...]) -> "PushedRows":
        """The rows of the groups `kept`, numbered in that order, with their keys."""
        places = np.full(len(self.units), -1, dtype=np.int64)
        places[kept] = np.arange(len(kept))
        return replace(self, keys=keys, units=self.units[kept], places=places[self._places()])

    def records(self) -> PushedRecords:
        """The records of all groups."""
        fetched = lambda: self.fetched(self.keys).records()  # noqa: E731
        together = self.column.of_keys(self.keys)
        if together is not None:
            return PushedRecords(together, fetched)
        return PushedRecords(self.column, fetched, self._places())

    def totals(self, *maps: StepsMap) -> Totals:
        """The number of records of each group, and the sum of each map over them."""
        steps = [steps_of(each) for each in maps]
        if any(each is None for each in steps):
            return self.fetched(self.keys).totals(*maps)
        codes, counts, sums = self.column.sums(each for each in steps if each is not None)
        places = self._places()[codes]
        inside = places >= 0
        total = np.zeros(len(self.units), dtype=np.int64)
        np.add.at(total, places[inside], counts[inside])
        return total, [fitting(_added(len(self.units), places[inside], each[inside])) for each in sums]

    def _places(self) -> Ints:
        return np.arange(len(self.units)) if self.places is None else self.places

    def __repr__(self) -> str:
        return "PushedRows(hidden)"


class _Read(NamedTuple):
    """One record of each class, and the number of records in it.

    is_whole: the records of each class are equal, so these are all records.
    """

    values: Floats
    counts: Ints
    is_whole: bool


def _added(number: int, places: Ints, whole: NDArray[Any]) -> NDArray[Any]:
    total = np.full(number, 0, dtype=object)
    np.add.at(total, places, whole)
    return total


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """A column of numbers, or the rows, with the keys of groups; `codes` numbers the keys. Sensitive."""

    snapshot: Snapshot = field(repr=False)
    number: str
    names: tuple[str, ...]
    codes: KeyCodes | None = field(repr=False)
    keyed: Keyed | None = field(repr=False)
    condition: str | None = field(default=None, repr=False)

    def of_keys(self, keys: tuple[Any, ...]) -> "_Column | None":
        """The records of the groups with these keys together, without the keys; None if texts cannot say which.

        The keys are public, or chosen by noise.
        """
        if len(self.names) != 1 or not 1 <= len(keys[0]) <= MOST_EDGES:
            return None
        own, kind = self.snapshot.fields[self.names[0]], str(keys[0].type)
        texts = keys[0].to_pylist()
        if kind == "int64":
            among = ", ".join(map(str, texts))
        elif own.is_text:
            among = ", ".join("'{}'".format(text.replace("'", "''")) for text in texts)
        else:
            return None
        return _Column(self.snapshot, self.number, (), None, None, f"{own.key} in ({among})")

    def classes(self, classes: Classes) -> tuple[Ints, Floats, Ints, bool] | None:
        """The group of each class of records, one of the records, and their number; None without an expression.

        Without keys all records are of group 0, and the missing ones are a class; with keys, these are left out. The
        last says whether the records of each class are equal.
        """
        own = class_of(classes)
        if own is None or (classes.spans is not None and not self.snapshot.session.has_spans):
            return None
        where = [] if self.codes is None else [_PRESENT]
        if classes.spans is not None:
            where.append(self.snapshot.session.inside(classes.spans))
        one, equal = "float8send(coalesce(min(x), 'NaN'))", "coalesce(min(x) = max(x), true)"
        by = [f"case when {_PRESENT} then {own} end"]
        *keys, packed, counts, single = self._grouped([one, "count(*)", equal], where, by)
        codes, values, numbers = self._in_groups(keys, unpacked(packed), np.array(counts, dtype=np.int64))
        return codes, values, numbers, all(single)

    def sums(self, expressions: Iterable[str]) -> tuple[Ints, Ints, list[NDArray[Any]]]:
        """The group, the number of records and the sum of each expression over them."""
        sums = [f"coalesce(sum({each}), 0)::text" for each in expressions]
        columns = self._grouped(["count(*)", *sums], [_PRESENT], [])
        keys, (counts, *texts) = columns[: len(self.names)], columns[len(self.names) :]
        whole = [np.array([int(text) for text in each], dtype=object) for each in texts]
        codes, numbers, *totals = self._in_groups(keys, np.array(counts, dtype=np.int64), *whole)
        return codes, numbers, totals

    def keys(self) -> tuple[Any, ...]:
        """The keys of the groups, by their numbers."""
        assert self.codes is not None and self.keyed is not None
        none = tuple(self._key(k, []) for k in range(len(self.names)))
        return self.keyed.known if self.keyed.known is not None else self.codes.keys() or none

    def units(self, codes: Ints, counts: Ints) -> Ints:
        """The number of records of each group, if that is wanted."""
        assert self.keyed is not None
        units = np.zeros(len(self.keys()[0]), dtype=np.int64)
        if self.keyed.counted:
            np.add.at(units, codes, counts)
        return units

    def _grouped(self, selection: list[str], where: list[str], by: list[str]) -> list[tuple[Any, ...]]:
        """The columns of a query that groups records by key and more; the keys come first."""
        keys = [f"k{k}" for k in range(len(self.names))]
        of_keys = [f"{self.snapshot.fields[name].key} as {key}" for name, key in zip(self.names, keys, strict=True)]
        records = self.snapshot.around(", ".join([*of_keys, f"{self.number} as x"]))
        if self.condition is not None:
            records += f" where {self.condition}"
        condition = f" where {' and '.join(where)}" if where else ""
        grouped = f" group by {', '.join([*keys, *by])}" if keys or by else ""
        query = f"select {', '.join([*keys, *selection])} from ({records}) records{condition}{grouped}"
        rows = self.snapshot.session.rows(query)
        return list(zip(*rows, strict=True)) or [()] * (len(keys) + len(selection))

    def _in_groups(self, keys: list[tuple[Any, ...]], *columns: NDArray[Any]) -> Any:
        """The codes of rows of a result, and the columns, without those of no group."""
        if self.codes is None:
            return np.zeros(len(columns[0]), dtype=np.int64), *columns
        codes = self.codes.codes([self._key(k, column) for k, column in enumerate(keys)])
        inside = codes >= 0
        return codes[inside], *(column[inside] for column in columns)

    def _key(self, k: int, elements: Iterable[Any]) -> Any:
        return plain(self.snapshot.fields[self.names[k]].array(list(elements)))
