"""A Spark DataFrame as a TableSource, by a classic session or by Spark Connect; docs/spark.md has the promises.

Columns are renamed by position, so no name needs quotes or is ambiguous.
"""

from dataclasses import field, replace
from functools import partial
from typing import Any

import numpy as np

from nobounds.accounting.loss import Unit
from nobounds.counting.tally import Tally
from nobounds.engines.column import Column
from nobounds.engines.grouped import GroupedRecords
from nobounds.engines.keys import plain, public_keys
from nobounds.engines.memory.arrow import to_floats
from nobounds.engines.rows.key_codes import KeyCodes
from nobounds.engines.source import Bounding, Keyed, Tallied
from nobounds.engines.spark.jobs import FIRST, KeptRows, Kernel, Passes, run
from nobounds.engines.spark.plans import check_deterministic
from nobounds.engines.spark.rows import SparkRows
from nobounds.engines.spark.viewed import KEPT, applied, spark_kind, spark_type, wanted
from nobounds.engines.units import decimal_kind, zoned_kind
from nobounds.expressions.types import Type
from nobounds.expressions.view import View
from nobounds.kinds.kind import BOOLEAN, DATE, DATETIME, DURATION, TIME, Kind
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.values import dataclass

_INTEGRAL = ("byte", "short", "integer", "long")
_TEXT = ("string", "char", "varchar")
_KINDS = {"boolean": BOOLEAN, "date": DATE, "timestamp_ntz": DATETIME, "time": TIME, "daytimeinterval": DURATION}
_PLAIN = (*_INTEGRAL, *_TEXT, "boolean", "decimal", "binary", "time")
# Keys and units in the canonical form of `keys.plain`: NaN and dates outside Python's calendar are missing.
_FORMS = {
    "float": "if(isnan({0}), null, if({0} = 0, 0.0F, {0}))",
    "double": "if(isnan({0}), null, if({0} = 0, 0.0D, {0}))",
    "date": "if({0} between date'0001-01-01' and date'9999-12-31', {0}, null)",
    "timestamp": "if({0} >= timestamp'0001-01-02 00:00:00Z' and {0} < timestamp'9999-12-31 00:00:00Z', {0}, null)",
    "timestamp_ntz": (
        "if({0} between timestamp_ntz'0001-01-01 00:00:00' and timestamp_ntz'9999-12-31 23:59:59.999999', {0}, null)"
    ),
} | dict.fromkeys(_PLAIN, "{0}")
_FORMS |= dict.fromkeys(_TEXT, "if(is_valid_utf8({0}), {0}, decode(cast({0} as binary), 'ISO-8859-1'))")
_SALT = (1 << 63) - 1


def from_spark(frame: Any) -> "Spark":
    """The TableSource of a Spark DataFrame; reads its schema, and no record."""
    if frame.isStreaming:
        raise ValueError("a streaming DataFrame has no end; write it to a table, and read that")
    check_deterministic(frame)
    facts: dict[str, Facts] = {}
    others: dict[str, str] = {}
    zone = _session_zone(frame)
    for column in frame.schema.fields:
        if column.name in facts or column.name in others:
            raise ValueError(f"column {column.name!r} appears more than once; give each column a name of its own")
        known = _facts(column.dataType, zone, column.nullable)
        if known is None:
            others[column.name] = _family(column.dataType)
        else:
            facts[column.name] = known
    fields = {column.name: (f"c{k}", column.dataType) for k, column in enumerate(frame.schema.fields)}
    return Spark(facts, others, frame.toDF(*(place for place, _ in fields.values())), fields)


def _session_zone(frame: Any) -> Kind:
    """The datetimes of a session, in its zone."""
    return zoned_kind(str(frame.sparkSession.conf.get("spark.sql.session.timeZone")))


def _facts(column_type: Any, zoned: Kind, nullable: bool = True) -> Facts | None:
    """The public facts of a numeric column, None for another."""
    kind = column_type.typeName().split("(")[0]
    if kind in _INTEGRAL:
        return Facts(integral=True, nullable=nullable)
    if kind in ("float", "double"):
        return Facts(integral=False, nullable=True)
    if kind == "decimal":
        return Facts.of(decimal_kind(column_type.precision, column_type.scale))
    known = zoned if kind == "timestamp" else _KINDS.get(kind)
    return None if known is None else Facts.of(known, nullable=nullable)


def _family(kind: Any) -> str:
    return "text" if kind.typeName() in _TEXT else f"Spark type {kind.typeName()}"


@dataclass(frozen=True, slots=True)
class Spark:
    """A table on a cluster (see `source.TableSource`)."""

    facts: dict[str, Facts]
    others: dict[str, str]
    frame: Any = field(repr=False)
    fields: dict[str, tuple[str, Any]] = field(repr=False)  # the name in `frame` and the Spark type of each column
    typed: bool = True
    query: bool = True  # a DataFrame is a plan, whose joins and aggregates are not visible here
    connected: bool = True
    view: View | None = field(default=None, repr=False)
    whole: "Spark | None" = field(default=None, repr=False)  # without the view
    masked: bool = False  # whether rows that the view drops stay as rows in which everything is missing
    enums: dict[str, list[str]] = field(default_factory=dict, repr=False)  # Spark has no such type

    @property
    def types(self) -> dict[str, Type]:
        """The types of columns in expressions."""
        return {name: spark_type(kind) for name, (_, kind) in self.fields.items()}

    def viewed(self, view: View, masked: bool) -> "Spark":
        """The table with a condition and computed columns."""
        kinds = {name: spark_kind(formula.type) for name, formula in view.formulas.items()}
        computed = {name: (f"d{k}", kind) for k, (name, kind) in enumerate(kinds.items())}
        dropping, zone = masked and view.condition is not None, _session_zone(self.frame)
        facts = {name: replace(known, nullable=known.nullable or dropping) for name, known in self.facts.items()}
        others = {name: family for name, family in self.others.items() if name not in computed}
        for name, kind in kinds.items():
            known, family = _facts(kind, zone), _family(kind)
            facts.pop(name, None)
            if known is None:
                others[name] = family
            else:
                facts[name] = known
        return replace(
            self, facts=facts, others=others, fields=self.fields | computed, view=view, masked=dropping, whole=self
        )

    def columns(self, names: list[str], bounding: Bounding | None, *, several: bool = False) -> dict[str, Column]:
        """Columns of rows that are read once, by the first pass."""
        kept = KeptRows(self._rows([], names, bounding))
        unit = Unit() if bounding is None else Unit(bounding.unit, bounding.rows)
        return {name: _column(kept, f"v{k}", self.facts[name], unit) for k, name in enumerate(names)}

    def tally(self, name: str | None, ladder: Ladder, keyed: Keyed, bounding: Bounding | None) -> Tallied:
        """One job: a tally of each part, then their sum for each key and rung."""
        rows = self._rows(list(keyed.names), [] if name is None else [name], bounding, keyed.known)
        return self._tally(rows, name is not None, ladder, keyed, bounding is not None)

    def _tally(self, rows: Any, valued: bool, ladder: Ladder, keyed: Keyed, bounded: bool) -> Tallied:
        keys = [f"k{k}" for k in range(len(keyed.names))]
        kernel = Kernel(len(keys), valued, bounded, ladder, keyed.known)
        kinds = [self._key_kind(key) for key in keyed.names] + ["long"] * len(_PARTS)
        schema = ", ".join(f"{column} {kind}" for column, kind in zip([*keys, *_PARTS], kinds, strict=True))
        parts = rows.mapInArrow(kernel, schema).groupBy(*keys, "rung")
        total = parts.sum("count").toDF(*keys, *_PARTS)
        return _tallied(run(total, total.toArrow), keys, keyed, ladder)

    def rows(self, name: str | None, keyed: Keyed, bounding: Bounding | None) -> SparkRows:
        """Rows that are read once, by the first job; private keys take a job of their own."""
        rows = self._rows(list(keyed.names), [] if name is None else [name], bounding, keyed.known)
        keys = [f"k{k}" for k in range(len(keyed.names))]
        if name is None:
            rows = rows.selectExpr(*keys, "0.0D as v0", *([] if bounding is None else [FIRST]))
        if keyed.known is not None and bounding is None:
            rows = rows.join(self._known(keyed.known), keys, "left_semi")
        if keyed.known is not None and not keyed.counted:
            return SparkRows(keyed.known, np.zeros(len(keyed.known[0]), dtype=np.int64), KeptRows(rows), self._known)
        kept = KeptRows(rows)
        tallied = self._tally(kept.frame(), True, Ladder.float_bits(0), keyed, bounding is not None)
        return SparkRows(tallied.keys, tallied.units, kept, self._known)

    def records(self, names: list[str], keyed: Keyed, bounding: Bounding | None) -> GroupedRecords:
        """One job, whose rows are collected here: groups that are answered one by one need their records."""
        keys = [f"k{k}" for k in range(len(keyed.names))]
        rows = self._rows(list(keyed.names), names, bounding, keyed.known)
        if keyed.known is not None and bounding is None:
            rows = rows.join(self._known(keyed.known), keys, "left_semi")
        read = run(rows, rows.toArrow).sort_by([(key, "ascending") for key in keys])
        codes = KeyCodes(keyed.known)
        groups = codes.codes([read.column(key).combine_chunks() for key in keys])
        firsts = groups if bounding is None else groups[np.asarray(read.column(FIRST))]
        values = {name: to_floats(read.column(f"v{k}")) for k, name in enumerate(names)}
        arrays = codes.keys() if keyed.known is None else keyed.known
        units = np.bincount(firsts[firsts >= 0] if keyed.counted else firsts[:0], minlength=len(arrays[0]))
        return GroupedRecords.of(arrays, units, [(groups, values)], names)

    def row_marks(self, bounding: Bounding | None) -> Column:
        """A record 0 for each row."""
        unit = Unit() if bounding is None else Unit(bounding.unit, bounding.rows)
        if self.masked:  # under swap, where there are no units
            kept = KeptRows(self._base([]).selectExpr(f"if({KEPT}, 0.0D, null) as v0"))
        else:
            kept = KeptRows(self._rows([], [], bounding).selectExpr("0.0D as v0"))
        return _column(kept, "v0", Facts(integral=True, nullable=self.masked), unit)

    def rows_of_units(self, unit: str) -> Column:
        """One record per unit: its number of rows."""
        units = self._base([unit]).selectExpr(f"{self._key(unit)} as u").where("u is not null")
        sizes = units.groupBy("u").count().selectExpr("count as v0")
        return _column(KeptRows(sizes), "v0", Facts(integral=True, nullable=False, lower=1), Unit(unit, 1))

    def groups_of_units(self, unit: str, by: tuple[str, ...]) -> tuple[Column, Column]:
        """One record per unit, its numbers of rows and of groups, by one job."""
        names = [f"k{k}" for k in range(len(by))]
        keys = [f"{self._key(name)} as {place}" for name, place in zip((unit, *by), ("u", *names), strict=True)]
        rows = self._base([unit, *by]).selectExpr(*keys).where("u is not null")
        kept, facts = KeptRows(_counted(rows, names)), Facts(integral=True, nullable=False, lower=0)
        return _column(kept, "v0", facts, Unit(unit, 1)), _column(kept, "v1", facts, Unit(unit, 1))

    def check_keys(self, names: tuple[str, ...]) -> None:
        """TypeError if a column is of a type that cannot be a key or a unit."""
        for name in names:
            self._key(name)

    def known_keys(self, names: tuple[str, ...], given: list[list[Any]]) -> tuple[Any, ...]:
        """Public keys, a list for each column, as arrays of the types of the columns."""
        none = self._base(list(names)).selectExpr(*map(self._key, names)).limit(0)
        kinds = (plain(column).type for column in run(none, none.toArrow).columns)
        return tuple(public_keys(part, kind, name) for name, part, kind in zip(names, given, kinds, strict=True))

    def _rows(
        self, keys: list[str], values: list[str], bounding: Bounding | None, known: tuple[Any, ...] | None = None
    ) -> Any:
        """The columns k0, k1, ... and v0, v1, ..., and FIRST if rows are bounded.

        A unit is bounded among its rows with public keys: other rows do not count against it.
        """
        key = [f"{self._key(name)} as k{k}" for k, name in enumerate(keys)]
        value = [f"{self.fields[name][0]} as v{k}" for k, name in enumerate(values)]
        if bounding is None:
            return self._base([*keys, *values]).selectExpr(*key, *value)
        rows = self._base([bounding.unit, *keys, *values]).selectExpr(f"{self._key(bounding.unit)} as u", *key, *value)
        if known is not None:
            rows = rows.join(self._known(known), [f"k{k}" for k in range(len(keys))], "left_semi")
        return bounded(rows, len(keys), len(values), bounding)

    def _base(self, names: list[str]) -> Any:
        """The rows with at least these columns; those of the view, if there is one."""
        if self.view is None or self.whole is None:
            return self.frame
        columns, _ = self.view.needed(dict.fromkeys(wanted(names, self.view)))
        keys = {name: self.whole._key(name) for name in columns}
        places = {name: self.fields[name] for name in dict.fromkeys(names)}
        return applied(self.frame, self.view, places, keys, self.masked)

    def _known(self, known: tuple[Any, ...]) -> Any:
        import pyarrow as pa

        table = pa.table(list(known), names=[f"k{k}" for k in range(len(known))])
        return self.frame.sparkSession.createDataFrame(table).hint("broadcast")

    def _key(self, name: str) -> str:
        """The SQL expression of a column of units or keys, in their canonical form."""
        place, kind = self.fields[name]
        if kind.typeName() not in _FORMS:
            raise TypeError(f"column {name!r} must have a plain type to be a unit or a key, got {_family(kind)}")
        if "collate" in kind.simpleString():
            # Different texts may compare equal under a collation, with different hashes.
            raise TypeError(f"column {name!r} must not have a collation; use collate({name}, 'UTF8_BINARY')")
        return _FORMS[kind.typeName()].format(place)

    def _key_kind(self, name: str) -> str:
        kind = self.fields[name][1]
        return "string" if kind.typeName() in _TEXT else str(kind.simpleString())


_PARTS = ("rung", "count")


def _tallied(rows: Any, keys: list[str], keyed: Keyed, ladder: Ladder) -> Tallied:
    """The tally from the summed rows of all kernels, in the order of their keys."""
    rows, known = rows.sort_by([(key, "ascending") for key in keys]), keyed.known
    codes = KeyCodes(known)
    groups = codes.codes([rows.column(key).combine_chunks() for key in keys])
    rung, count = (rows.column(part).fill_null(0).to_numpy() for part in _PARTS)
    of_units = rows.column("rung").is_null().to_numpy()
    units = np.zeros(int(groups.max(initial=-1)) + 1 if known is None else len(known[0]), dtype=np.int64)
    if keyed.counted:
        units[groups[of_units]] = count[of_units]
    entries = (part[~of_units] for part in (groups, rung, count))
    # Adding the entries to an empty tally sorts them.
    tally = Tally.of(None, np.zeros(0), ladder) + Tally(ladder, *entries)
    return Tallied(codes.keys() if known is None else known, units, tally)


def _counted(rows: Any, keys: list[str]) -> Any:
    """The number of rows v0 and of different keys v1 of each unit u; a key with a null counts for no group."""
    from pyspark.sql.functions import expr

    distinct = f"count(distinct {', '.join(keys)}) as v1"  # of the rows without a null in them
    return rows.groupBy("u").agg(expr("count(*) as v0"), expr(distinct)).select("v0", "v1")


def bounded(rows: Any, keys: int, values: int, bounding: Bounding) -> Any:
    """At most `bounding.rows` rows of each unit u in at most `bounding.groups` groups, by the rule of `unit_rows`.

    Only the salt is random: a task that runs again, or whose output is lost, chooses the same rows.
    """
    key, value = [f"k{k}" for k in range(keys)], [f"v{k}" for k in range(values)]
    most, salt = f"{bounding.rows}L", f"{bounding.salt & _SALT}L"
    present = [f"{name} is not null" for name in ["u", *key]]
    if values == 1:
        present.append("v0 is not null")
        if rows.schema["v0"].dataType.typeName() in ("float", "double"):
            present.append("not isnan(v0)")
    kept = rows.where(" and ".join(present))
    if keys and bounding.groups < bounding.rows:
        order = ", ".join([f"xxhash64(u, {', '.join(key)}, {salt})", *key])
        kept = kept.selectExpr("*", f"dense_rank() over (partition by u order by {order}) as g")
        kept = kept.where(f"g between 1 and {bounding.groups}")
    # A running count instead of row_number, which has 32 bits.
    order = f"partition by u order by {', '.join([*key, *value]) or 'u'}"
    place = f"count(*) over ({order} rows between unbounded preceding and current row) - 1L as j"
    kept = kept.selectExpr("*", place, "count(*) over (partition by u) as r")
    # Equal to j * most modulo r, without overflow.
    kept = kept.where(f"(j * ({most} % r) + pmod(xxhash64(u, {salt}), r)) % r < {most}")
    first = f"row_number() over (partition by {', '.join(['u', *key])} order by j) = 1 as {FIRST}"
    return kept.selectExpr(*key, *value, first)


def _column(kept: KeptRows, name: str, facts: Facts, unit: Unit) -> Column:
    return Column(replace(facts, unit=unit), partial(Passes, kept, name), rows=kept.count)
