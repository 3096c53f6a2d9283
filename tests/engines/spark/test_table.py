"""A Spark DataFrame gives the tables of an array to the last record, also when workers die and shuffles get lost."""

import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare
from support import filters, spark_cluster
from support.pushed import HOSTILE, LATTICES, same

import nobounds as nb
from nobounds.accounting.loss import Unit
from nobounds.arrays import Floats, Ints
from nobounds.counting.deviation import Deviation
from nobounds.counting.group_totals import group_totals
from nobounds.counting.histogram import Counted, Histogram
from nobounds.counting.kept import Gathered
from nobounds.counting.lattice import Beyond, Lattice, Outside, Squares, Total, Totals
from nobounds.counting.scan import Chunk, gathered, scan
from nobounds.counting.second_look import Within
from nobounds.counting.spans import Spans
from nobounds.counting.tally import BITS, Tally
from nobounds.engines.memory.tables import from_memory
from nobounds.engines.source import Bounding, Keyed, Tallied
from nobounds.engines.spark import is_spark, plans
from nobounds.engines.spark.plans import is_stored, tasks_of
from nobounds.engines.spark.table import Spark, bounded, from_spark
from nobounds.engines.spark.viewed import KEPT
from nobounds.engines.streams.local import Local
from nobounds.expressions.text import text
from nobounds.expressions.view import View
from nobounds.kinds.kind import BOOLEAN, DATE, DATETIME, DURATION, Kind
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import FloatBits

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'nobounds[spark]'")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java, and there is no java"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

N = 40_000
FINE = Ladder.float_bits(BITS)
LATTICE = Lattice.of(Fraction(-7), Fraction(1000), integral=False)
COARSE = Ladder.float_bits(8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Spark keeps shuffles and blocks, so that tests can lose them."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[Any]:
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # code that runs once or twice
        "spark.local.dir": str(folder),
        "spark.task.maxDirectResultSize": "16m",  # a session that has lost shuffles keeps no larger results in blocks
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": str(folder / "events"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    (folder / "events").mkdir()
    environment = pytest.MonkeyPatch()
    environment.setenv("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2,4]")  # a task may fail three times
    for name, value in settings.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import the tests
    yield found
    found.stop()
    environment.undo()


def odd_values(rng: np.random.Generator) -> Floats:
    """Records of all sizes, a quarter of them on an edge of the two ladders or the float next to one."""
    values = rng.lognormal(0, 5, N) * rng.choice([-1, 1], N)
    near = rng.random(N) < 0.25
    left_out = np.where(rng.random(N) < 0.5, 52 - 8, 52 - 16)
    edges = (values.view(np.int64) >> left_out << left_out).view(np.float64)
    towards = rng.choice([-np.inf, 0.0, np.inf], N)
    edges = np.where(towards == 0, edges, np.nextafter(edges, towards))
    values[near] = edges[near]
    odd = [np.inf, -np.inf, 0.0, -0.0, 5e-324, sys.float_info.max, -sys.float_info.max, np.nan, 1.0, 2.0**53]
    some = rng.choice(N, 3000, replace=False)
    values[some] = rng.choice(odd, len(some))
    return values


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """One user has half of the rows; some rows have no user, no region or no value."""
    rng = np.random.default_rng(14)
    users = np.where(rng.random(N) < 0.5, 0, rng.integers(1, 4000, N))
    return pa.table(
        {
            "user.id": pa.array(users, mask=rng.random(N) < 0.01),
            "Région": pa.array(rng.choice(["north", "south", "öst", ""], N), mask=rng.random(N) < 0.02),
            "kind": pa.array(rng.integers(0, 3, N).astype(np.int16)),
            "value": pa.array(odd_values(rng), mask=rng.random(N) < 0.05),
            "whole": pa.array(rng.integers(-(2**62), 2**62, N), mask=rng.random(N) < 0.05),
            "flag": pa.array(rng.random(N) < 0.5),
        }
    )


@pytest.fixture(scope="module")
def frame(session: Any, table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Any:
    import pyarrow.parquet as pq

    data = tmp_path_factory.mktemp("data")
    for k, (start, end) in enumerate(pairwise([0, 40_000, 41_000, 41_000, 90_000, N])):
        pq.write_table(table.slice(start, end - start), data / f"{k}.parquet")
    return session.read.parquet(str(data))


@pytest.fixture(scope="module")
def spark(frame: Any) -> Spark:
    return from_spark(frame)


def floats(table: pa.Table, name: str) -> Floats:
    return np.concatenate([np.zeros(0), *from_memory_column(table, name)])


def from_memory_column(table: pa.Table, name: str) -> Iterable[Any]:
    return Local(from_memory(table)).columns([name], None)[name].chunks()


def same_histogram(one: Histogram, other: Histogram) -> None:
    np.testing.assert_array_equal(one.rungs, other.rungs)
    np.testing.assert_array_equal(one.counts, other.counts)


def same_tally(one: Tally, other: Tally) -> None:
    for name in ("groups", "rungs", "counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def same_tallied(one: Tallied, other: Tallied) -> None:
    assert [key.to_pylist() for key in one.keys] == [key.to_pylist() for key in other.keys]
    np.testing.assert_array_equal(one.units, other.units)
    same_tally(one.tally, other.tally)


# --- the same tables as in one process


@pytest.mark.parametrize("name", ["value", "whole", "flag"])
def test_a_histogram_is_that_of_the_array(spark: Spark, table: pa.Table, name: str):
    """Records on and next to edges, infinite, missing and too long for a float fall on the rungs they have in numpy."""
    column, values = spark.columns([name], None)[name], floats(table, name)
    for ladder in (COARSE, FINE, Ladder.grid(1)):
        same_histogram(Histogram.of(column.chunks(), ladder), Histogram.of([values], ladder))
    assert column.rows() == N


@pytest.mark.parametrize("names", [("Région",), ("Région", "kind")])
def test_a_tally_is_that_of_the_array(spark: Spark, table: pa.Table, names: tuple[str, ...]):
    """Counts, sums and units of each key are those of the kernel on the whole column, in the order of the keys."""
    found = spark.tally("value", FINE, Keyed(names), None)
    values = floats(table, "value")
    rows = list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
    present = [k for k, row in enumerate(rows) if None not in row and not np.isnan(values[k])]
    keys = sorted({rows[k] for k in present})
    codes = {key: code for code, key in enumerate(keys)}
    groups = np.array([codes[rows[k]] for k in present])
    assert list(zip(*(key.to_pylist() for key in found.keys), strict=True)) == keys
    np.testing.assert_array_equal(found.units, np.bincount(groups))
    same_tally(found.tally, Tally.of(groups, values[present], FINE))
    rows = spark.rows("value", Keyed(names), None)
    assert [key.to_pylist() for key in rows.keys] == [key.to_pylist() for key in found.keys]
    counts, (sums,) = rows.totals(LATTICE.steps)
    assert counts.tolist() == rows.units.tolist() == found.units.tolist()
    assert sums.tolist() == [LATTICE.steps(values[present][groups == k]).sum() for k in range(len(keys))]


def test_public_keys_are_tallied_at_their_places(spark: Spark, table: pa.Table):
    """Keys that are not asked for are left out, and those that no row has are empty."""
    local = Local(from_memory(table))
    for names, given in (
        (("Région",), [("öst",), ("nowhere",), ("north",)]),
        (("kind", "Région"), [(2, "south"), (9, "south"), (0, "")]),
    ):
        keyed = Keyed(names, spark.known_keys(names, [list(part) for part in zip(*given, strict=True)]))
        for name in ("value", None):
            same_tallied(spark.tally(name, FINE, keyed, None), local.tally(name, FINE, keyed, None))


def test_the_answers_are_those_of_the_array(spark: Spark, table: pa.Table):
    """A quantile, a mean and a private sum on Spark are, with the same random numbers, those of the array."""
    here, there = floats(table, "value"), spark.columns(["value"], None)["value"]
    for statistic in (partial(nb.quantile, q=0.9), nb.mean):
        for neighbors in ("swap", "add-remove"):
            answers = [statistic(data, epsilon=1, neighbors=neighbors, rng=random.Random(5)) for data in (here, there)]
            assert answers[0] == answers[1]


def test_a_table_on_spark_answers_as_one_in_memory(frame: Any, table: pa.Table):
    """By groups with public keys and without groups: the same releases, but that one is of a query's result."""
    names = ["Région", "value", "kind"]
    tables = [nb.Table(frame.select(*names)), nb.Table(table.select(names))]
    statistics: list[Callable[[nb.Table], Any]] = [
        lambda data: data.count(epsilon=1, rng=random.Random(2)),
        lambda data: data.maximum("value", epsilon=1, rng=random.Random(3)),
        lambda data: data.group_by("Région", keys=["öst", "", "?"]).mean("value", epsilon=1, rng=random.Random(4)),
        lambda data: data.weighted_mean("value", "kind", epsilon=1, rng=random.Random(5)),
    ]
    for statistic in statistics:
        one, other = map(statistic, tables)
        assert one.parameters.pop("rows_of") == "query result"
        assert repr(one) == repr(other)


def test_records_by_group_are_those_of_the_array(spark: Spark, table: pa.Table):
    """Public keys at their places and keys that are found, the values of two columns, with and without units."""
    local = Local(from_memory(table))
    names = [name for name in spark.facts if name in local.facts][:2]
    key = next(name for name in spark.others if spark.others[name] == "text")
    known = local.known_keys((key,), [[*sorted(set(table.column(key).drop_null().to_pylist()))[:2], "nobody"]])
    for keyed in (Keyed((key,), known), Keyed((key,))):
        one, other = (source.records(names, keyed, None) for source in (spark, local))
        of_keys = [
            {
                k: [sorted(map(repr, each.columns[n][each.starts[i] : each.starts[i + 1]].tolist())) for n in names]
                for i, k in enumerate(each.keys[0].to_pylist())
            }
            for each in (one, other)
        ]
        assert of_keys[0] == of_keys[1]
        assert sorted(one.units.tolist()) == sorted(other.units.tolist())


def test_types_on_spark_answer_as_in_memory(session: Any):
    """Dates, moments, durations and decimals, some missing; by units, too."""
    rng = np.random.default_rng(3)
    numbers, missing = rng.integers(-(10**6), 10**6, 3000), rng.random(3000) < 0.1
    kinds = {
        "day": pa.date32(),
        "moment": pa.timestamp("us"),
        "instant": pa.timestamp("us", "UTC"),
        "span": pa.duration("us"),
        "paid": pa.decimal128(12, 2),
    }
    columns = {name: pa.array(numbers // 50, pa.int32()).cast(kind) for name, kind in kinds.items() if name == "day"}
    columns |= {
        name: pa.array(numbers * 10**6).cast(kind)
        for name, kind in kinds.items()
        if name in ("moment", "instant", "span")
    }
    columns["paid"] = pa.array([Decimal(int(x)).scaleb(-2) for x in numbers], kinds["paid"])
    columns = {name: pa.array(column.to_pylist(), column.type, mask=missing) for name, column in columns.items()}
    table = pa.table(columns | {"who": pa.array(rng.integers(0, 900, 3000))})
    frame = session.createDataFrame(table)
    frame = frame.withColumn("moment", frame["moment"].cast("timestamp_ntz"))  # Spark takes moments for instants
    for name in kinds:
        answers = []
        for data in (frame, table):
            one = nb.Table(data)
            of_units = nb.Table(data, unit="who", rows_per_unit=9)
            answers.append(
                [
                    one.quantile(name, 0.5, epsilon=1, rng=random.Random(1)).value,
                    one.mean(name, epsilon=1, rng=random.Random(1)).value,
                    type(of_units.bounds(name, epsilon=5, rng=random.Random(1)).value[0]),
                ]
            )
        assert answers[0] == answers[1], name


def test_an_empty_frame_has_empty_tables(session: Any, spark: Spark):
    """No rows, no partitions: the tables of nothing."""
    for empty in (spark.frame.limit(0), session.createDataFrame([], "k string, value double")):
        source = from_spark(empty.toDF(*spark.fields) if len(empty.columns) > 2 else empty)
        column = source.columns(["value"], None)["value"]
        assert Histogram.of(column.chunks(), COARSE).total == column.rows() == 0
        assert len(gathered(column.chunks())) == 0
    found = source.tally("value", FINE, Keyed(("k",)), Bounding("k", 2, 1, 5))
    assert len(found.keys[0]) == len(found.units) == len(found.tally.rungs) == 0


# --- what the schema says


def test_facts_come_from_the_schema(session: Any):
    """Types and the nullable flag are public; floats may be NaN whatever the flag says."""
    empty = session.createDataFrame(
        [],
        "a tinyint not null, b smallint, c int, d bigint not null, e float not null, f double, g boolean not null, "
        "h decimal(30, 2) not null, i string, j date, k array<int>, l timestamp, m interval day to second, "
        "n timestamp_ntz",
    )
    source = from_spark(empty)
    assert source.facts == {
        "a": Facts(True, False),
        "b": Facts(True, True),
        "c": Facts(True, True),
        "d": Facts(True, False),
        "e": Facts(False, True),
        "f": Facts(False, True),
        "g": Facts.of(BOOLEAN, nullable=False),
        "h": Facts.of(Kind.parse("decimal(30,2)")),
        "j": Facts.of(DATE),
        "l": source.facts["l"],
        "m": Facts.of(DURATION),
        "n": Facts.of(DATETIME),
    }
    assert source.facts["l"].kind.zone is not None
    assert source.others == {"i": "text", "k": "Spark type array"}
    assert source.typed
    with pytest.raises(TypeError, match="column 'k' must have a plain type"):
        source.tally(None, FINE, Keyed(("k",)), None)


def test_what_cannot_be_a_source_is_refused_by_its_schema(session: Any):
    """Streams, names that appear twice, and units that are equal without being the same."""
    with pytest.raises(ValueError, match="streaming"):
        from_spark(session.readStream.format("rate").load())
    with pytest.raises(ValueError, match="column 'id' appears more than once"):
        from_spark(session.range(3).selectExpr("id", "id"))
    names = session.createDataFrame([], "name string collate UTF8_LCASE, x double")
    with pytest.raises(TypeError, match="column 'name' must not have a collation"):
        from_spark(names).columns(["x"], Bounding("name", 1, 1, 1))


def test_a_spark_frame_is_known_by_its_type(frame: Any):
    """Frames are; columns, other tables and other things are not."""
    assert is_spark(frame)
    assert not any(map(is_spark, (frame["kind"], pa.table({"x": [1]}), 3, "pyspark.sql.DataFrame")))


def test_keys_keep_their_types(session: Any):
    """Keys of plain types come back as they were, and can be given as public keys."""
    texts = {
        "decimal(38, 10)": "1.5",
        "double": "-0.5",
        "boolean": "true",
        "binary": "x",
        "varchar(9)": "y",
        "date": "2024-02-29",
        "timestamp": "2024-02-29 01:02:03",
        "timestamp_ntz": "2024-02-29 01:02:03",
    }
    keys = [f"cast('{text}' as {kind}) as `{kind}`" for kind, text in texts.items()]
    source = from_spark(session.range(6).selectExpr(*keys, "id as unit", "id as x"))
    names = tuple(texts)
    found = source.tally("x", FINE, Keyed(names), None)
    assert found.units.tolist() == [6]
    known = source.known_keys(names, [[key[0].as_py()] for key in found.keys])
    assert all(one.equals(other) for one, other in zip(known, found.keys, strict=True))
    same_tally(source.tally("x", FINE, Keyed(names, known), Bounding("unit", 1, 1, 3)).tally, found.tally)


# --- bounding


def test_no_unit_has_more_than_its_rows_and_groups(spark: Spark):
    """Whatever the salt, and although one user has half of all rows."""
    for salt, rows, groups in ((1, 5, 2), (2**62 - 1, 3, 3), (77, 4, 1)):
        bounding = Bounding("user.id", rows, groups, salt)
        found = spark.tally("value", FINE, Keyed(("user.id", "Région")), bounding)
        records, in_groups = Counter[int](), Counter(found.keys[0].to_pylist())
        users = found.keys[0].to_pylist()
        for group, count in zip(found.tally.groups.tolist(), found.tally.counts.tolist(), strict=True):
            records[users[group]] += count
        assert max(records.values()) == records[0] == rows
        assert max(in_groups.values()) == groups
        assert set(found.units.tolist()) == {1}
    marks = spark.row_marks(Bounding("user.id", 3, 3, 8))
    sizes = gathered(spark.rows_of_units("user.id").chunks())
    assert marks.rows() == np.minimum(sizes, 3).sum()
    assert marks.facts.unit == Unit("user.id", 3)
    assert spark.row_marks(None).rows() == N


def test_rows_of_units_are_counted(spark: Spark, table: pa.Table):
    """One record a unit; rows without a unit count for nobody."""
    column = spark.rows_of_units("user.id")
    counted = Counter(user for user in table.column("user.id").to_pylist() if user is not None)
    assert sorted(gathered(column.chunks()).tolist()) == sorted(counted.values())
    facts = column.facts
    assert (facts.integral, facts.nullable, facts.lower, facts.unit) == (True, False, 1, Unit("user.id", 1))


def test_rows_and_groups_of_units_are_counted(spark: Spark, table: pa.Table):
    """A record for each unit in both columns; a key with a missing part is no group."""
    rows, groups = spark.groups_of_units("user.id", ("Région", "kind"))
    units: dict[Any, list[Any]] = {}
    for user, *key in zip(*(table.column(name).to_pylist() for name in ("user.id", "Région", "kind")), strict=True):
        if user is not None:
            units.setdefault(user, []).append(tuple(key))
    expected = sorted((len(keys), len({key for key in keys if None not in key})) for keys in units.values())
    pairs = zip(gathered(rows.chunks()).tolist(), gathered(groups.chunks()).tolist(), strict=True)
    assert sorted(pairs) == expected


def test_the_choice_depends_on_content_alone(frame: Any, spark: Spark):
    """Rows in another order and in other partitions: the same tally; with another salt, another one."""
    shuffled = from_spark(frame.orderBy("flag", "whole").repartition(3))
    bounding = Bounding("user.id", 3, 2, 4)
    keyed = Keyed(("Région", "kind"))
    found = spark.tally("value", FINE, keyed, bounding)
    same_tallied(shuffled.tally("value", FINE, keyed, bounding), found)
    other = spark.tally("value", FINE, keyed, replace(bounding, salt=5)).tally
    assert not np.array_equal(other.counts, found.tally.counts)
    columns = [source.columns(["value", "whole"], bounding) for source in (spark, shuffled)]
    for name in ("value", "whole"):
        one, two = (np.sort(gathered(found[name].chunks())) for found in columns)
        np.testing.assert_array_equal(one, two)


def test_each_row_has_the_same_chance(session: Any):
    """Of 7 rows 3 are kept from a uniform start on, and of 5 groups 2, each as often as the others."""
    units = 6000
    rows = session.range(units * 7).selectExpr("id div 7 as unit", "id % 7 as x", "id % 7 % 5 as key")
    for salt in (3, 4):
        found = from_spark(rows).tally("x", FINE, Keyed(("unit",)), Bounding("unit", 3, 3, salt))
        kept = found.tally.ladder.map.floats(found.tally.rungs).reshape(units, 3)
        starts = Counter(map(tuple, np.round(kept, 2).tolist()))
        assert len(starts) == 7
        assert chisquare(list(starts.values())).pvalue > 1e-9
        found = from_spark(rows).tally("x", FINE, Keyed(("key",)), Bounding("unit", 6, 2, salt))
        assert found.units.sum() == 2 * units
        deviations = (found.units - units * 2 / 5) / np.sqrt(units * 2 / 5 * 3 / 5)
        assert np.abs(deviations).max() < 6.2


def test_public_keys_are_chosen_before_rows_are_bounded(session: Any):
    """Rows of other groups do not use up the rows and groups of a unit."""
    rows = session.range(3000).selectExpr("id div 30 as unit", "id % 30 as key", "1.0D as x")
    source = from_spark(rows)
    keyed = Keyed(("key",), source.known_keys(("key",), [[7, 8]]))
    found = source.rows("x", keyed, Bounding("unit", 2, 2, 1))
    assert found.totals()[0].tolist() == [100, 100]


def test_units_and_keys_have_one_form(session: Any):
    """Zero has one sign, and NaN and dates that Python has not are missing: before rows are bounded."""
    sign = "if(id % 2 = 0, 1, -1)"
    rows = session.range(200).selectExpr(f"0.0D * {sign} as zero", "id div 2 as unit", "1 as x")
    source = from_spark(rows)
    found = source.tally("x", FINE, Keyed(("zero",)), Bounding("unit", 2, 1, 6))
    assert (found.keys[0].to_pylist(), found.units.tolist(), found.tally.counts.tolist()) == ([0.0], [100], [200])
    assert source.row_marks(Bounding("zero", 3, 3, 6)).rows() == 3
    far = "date_add(date'1970-01-01', cast(id % 2 * 100000000 as int))"
    odd = {
        "float": "cast(id % 2 / 0.5 as float) * float('Infinity')",
        "double": "(id % 2) * double('Infinity')",
        "date": far,
        "timestamp": f"cast({far} as timestamp)",
        "timestamp_ntz": f"cast({far} as timestamp_ntz)",
    }
    rows = session.range(200).selectExpr(
        *(f"{text} as {kind}" for kind, text in odd.items()), "id div 2 as unit", "1 as x"
    )
    source = from_spark(rows)
    assert {kind: source.fields[kind][1].typeName() for kind in odd} == {kind: kind for kind in odd}
    for kind in odd:
        assert gathered(source.rows_of_units(kind).chunks()).tolist() == [100]
    found = source.tally("x", FINE, Keyed(("double",)), Bounding("unit", 1, 1, 6))
    assert found.units.tolist() == [100]
    found = source.tally("x", FINE, Keyed(tuple(odd)), Bounding("unit", 1, 1, 6))
    assert found.units.tolist() == []  # in each row a part of the key is missing


# --- workers that die, shuffles that get lost


def first_time(mark: Path) -> bool:
    """Whether nobody has asked before, in any process."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def test_text_that_is_no_utf8_has_one_form_before_rows_are_chosen(session: Any):
    """Keys that differ stay apart, and a user counts once in one that is written in two encodings."""
    raw = "cast(unhex(h) as string) as key, 1 as user, 1.0D as x"
    rows = session.sql("select explode(array('4180', '41BB', '4141', 'C3BC', 'FC')) as h").selectExpr(*raw.split(", "))
    found = from_spark(rows).tally("x", FINE, Keyed(("key",)), Bounding("user", 9, 9, 3))
    assert found.keys[0].to_pylist() == ["AA", "A\x80", "A\xbb", "ü"]
    assert (found.units.tolist(), found.tally.counts.tolist()) == ([1, 1, 1, 1], [1, 1, 1, 2])


def test_a_pass_survives_a_killed_worker(spark: Spark, table: pa.Table, tmp_path: Path):
    """The first worker that has read its records is killed with its counts, and each record is counted once."""
    mark = tmp_path / "killed"

    def part(chunks: Iterable[Chunk]) -> Histogram:
        found = Histogram.of(chunks, COARSE)
        if first_time(mark):
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    found = scan(spark.columns(["value"], None)["value"].chunks(), part, Histogram.__add__)
    assert mark.exists()
    same_histogram(found, Histogram.of([floats(table, "value")], COARSE))


def disturbed(act: Callable[[], None]) -> Ladder:
    """The ladder of tallies; when records are taken to its rungs, something happens first."""

    class Disturbed(FloatBits):
        def of(self, values: Floats) -> Ints:
            act()
            return FloatBits.of(self, values)

    return replace(FINE, map=Disturbed(16, -100))


@pytest.mark.parametrize("bounding", [None, Bounding("user.id", 3, 2, 9)])
def test_a_tally_survives_a_killed_worker(spark: Spark, tmp_path: Path, bounding: Bounding | None):
    """Also with bounded units."""
    mark = tmp_path / "killed"

    def kill() -> None:
        if first_time(mark):
            os.kill(os.getpid(), signal.SIGKILL)

    keyed = Keyed(("Région",))
    found = spark.tally("value", disturbed(kill), keyed, bounding)
    assert mark.exists()
    same_tallied(found, spark.tally("value", FINE, keyed, bounding))


def lose_shuffles(folder: Path) -> int:
    """Delete the output of all map tasks, as if the machines that keep it were gone; how many files it was."""
    files = [*folder.rglob("shuffle_*.data"), *folder.rglob("shuffle_*.index")]
    for file in files:
        file.unlink(missing_ok=True)
    return len(files)


@pytest.fixture
def many_tasks(session: Any) -> Iterator[None]:
    """Spark does not put small partitions together."""
    session.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    yield
    session.conf.unset("spark.sql.adaptive.coalescePartitions.enabled")


@pytest.mark.usefixtures("many_tasks")
def test_a_tally_survives_a_killed_worker_and_lost_shuffles(spark: Spark, folder: Path, tmp_path: Path):
    """The second task with bounded rows loses all shuffles and dies: rows are bounded again, and chosen as before."""
    marks, calls = [tmp_path / "one", tmp_path / "two"], tmp_path / "calls"

    def lose_and_kill() -> None:
        with calls.open("a") as file:
            file.write("x")
        if not first_time(marks[0]) and first_time(marks[1]):
            time.sleep(0.5)  # the other worker ends its task, and its output is lost too
            marks[1].write_text(str(lose_shuffles(folder)))
            os.kill(os.getpid(), signal.SIGKILL)

    keyed, bounding = Keyed(("user.id", "Région")), Bounding("user.id", 3, 2, 9)
    found = spark.tally("value", disturbed(lose_and_kill), keyed, bounding)
    assert int(marks[1].read_text()) > 0
    assert len(calls.read_text()) > 4 + 1  # more than a try for each part, and one for that whose worker was killed
    same_tallied(found, spark.tally("value", FINE, keyed, bounding))
    records = Counter[int]()
    users = found.keys[0].to_pylist()
    for group, count in zip(found.tally.groups.tolist(), found.tally.counts.tolist(), strict=True):
        records[users[group]] += count
    assert max(records.values()) == 3


def rows_of_units_after_a_loss(chosen: Any, folder: Path, mark: Path) -> Counter[Any]:
    """How many rows of each unit k0 arrive, if shuffles get lost when some groups k1 have been read, and others not."""

    def lose(batches: Iterator[Any]) -> Iterator[Any]:
        found = [batch.select([0]) for batch in batches]
        if first_time(mark):
            mark.write_text(str(lose_shuffles(folder)))
        yield from found

    found = chosen.repartition(8, "k1").mapInArrow(lose, "k0 long").toArrow()
    assert int(mark.read_text()) > 0
    return Counter(found.column("k0").to_pylist())


def test_a_choice_by_content_keeps_the_bound_when_shuffles_get_lost(session: Any, folder: Path, tmp_path: Path):
    """Half of the groups are read from the first choice, and half from the second, and these are the same."""
    rows = session.range(40_000).selectExpr("id % 200 as u", "id % 200 as k0", "id div 200 as k1", "id as v0")
    chosen = bounded(rows, 2, 1, Bounding("u", 3, 3, 21))
    assert set(rows_of_units_after_a_loss(chosen, folder, tmp_path / "lost").values()) == {3}


@pytest.fixture
def no_checksums(session: Any) -> Iterator[None]:
    """As in Spark 4.1: later versions compare what is computed again by its checksum, and give the job up."""
    names = [f"spark.sql.shuffle.orderIndependentChecksum.{name}" for name in ("enabled", "enableFullRetryOnMismatch")]
    for name in names:
        session.conf.set(name, "false")
    yield
    for name in names:
        session.conf.unset(name)


@pytest.mark.usefixtures("no_checksums")
def test_a_random_choice_breaks_the_bound_when_shuffles_get_lost(session: Any, folder: Path, tmp_path: Path):
    """The negative control: rows drawn with fresh random numbers arrive from two choices, more than the bound."""

    def draw(batches: Iterator[Any]) -> Iterator[Any]:
        found = pa.Table.from_batches(list(batches))
        units, seed = found.column("k0").to_numpy(), int.from_bytes(os.urandom(8))
        order = np.random.default_rng(seed).permutation(len(units))
        order = order[np.argsort(units[order], kind="stable")]
        starts = np.searchsorted(units[order], units[order])
        yield from found.take(order[np.arange(len(order)) - starts < 3]).to_batches()

    rows = session.range(40_000).selectExpr("id % 200 as k0", "id div 200 as k1").repartition(4, "k0")
    counts = rows_of_units_after_a_loss(rows.mapInArrow(draw, "k0 long, k1 long"), folder, tmp_path / "lost")
    assert max(counts.values()) > 3


def test_a_choice_by_rand_depends_on_the_order_of_rows(session: Any):
    """The negative control for seeds: rand(1) belongs to a place in a partition, and so to no row."""

    def kept(rows: Any) -> list[int]:
        ranked = rows.selectExpr("u", "v", "row_number() over (partition by u order by rand(1)) as place")
        return sorted(ranked.where("place <= 3").toArrow().column("v").to_pylist())

    rows = session.range(4000).selectExpr("id % 20 as u", "id as v")
    assert kept(rows.orderBy("v")) != kept(rows.orderBy("v", ascending=False))


# --- jobs


def test_rows_are_read_once_and_kept_as_long_as_the_column(session: Any, tmp_path: Path):
    """Passes read what the first of them kept, which is dropped with the column."""
    seen = tmp_path / "seen"

    def noted(batches: Iterator[Any]) -> Iterator[Any]:
        with seen.open("a") as file:
            file.write("x")
        yield from batches

    def kept() -> int:
        return len(session.sparkContext._jsc.getPersistentRDDs())

    source, before = from_spark(session.range(0, 1000, 1, 3).mapInArrow(noted, "id long")), kept()
    columns = [source.columns(["id"], None)["id"] for _ in range(2)]
    assert kept() == before
    for _ in range(2):
        assert Histogram.of(columns[0].chunks(), COARSE).total == columns[0].rows() == 1000
    assert seen.read_text() == "xxx"
    assert columns[1].rows() == 1000
    assert kept() == before + 2
    columns.pop()
    gc.collect()
    assert kept() == before + 1
    assert columns[0].rows() == 1000
    assert seen.read_text() == "xxx" * 2


def test_the_error_of_a_job_shows_no_record(session: Any):
    """A query that fails on a record says what to do, and nothing of the record."""
    source = from_spark(session.range(5).selectExpr("cast(raise_error('record ' || id) as double) as x", "'a' as k"))
    jobs: list[Callable[[], object]] = [
        lambda: Histogram.of(source.columns(["x"], None)["x"].chunks(), COARSE),
        lambda: source.columns(["x"], None)["x"].rows(),
        lambda: source.tally("x", FINE, Keyed(("k",)), None),
    ]
    for job in jobs:
        with pytest.raises(
            ValueError, match=r"^the Spark job failed; run df.count\(\) on its own to see why, and"
        ) as error:
            job()
        assert "record" not in str(error.value)
        assert error.value.__cause__ is None
        assert error.value.__suppress_context__


CONNECT = """
import random
import sys
from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession

import nobounds as nb
from nobounds.engines.spark import jobs, known
from nobounds.engines.source import Bounding, Keyed
from nobounds.engines.spark import is_spark, plans
from nobounds.engines.spark.table import from_spark
from nobounds.counting.deviation import Deviation
from nobounds.counting.histogram import Counted, Histogram
from nobounds.counting.kept import Gathered
from nobounds.ladders.ladder import Ladder

print("imported")
hidden = Path(sys.argv[1])
session = (
    SparkSession.builder.remote("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
print("started")
frame = session.range(10_000).selectExpr("id div 10 as unit", "id % 3 as key", "sqrt(id) as x")
assert is_spark(frame), type(frame)
assert "connect" in type(frame).__module__
source = from_spark(frame)
column = source.columns(["x"], None)["x"]
try:
    source.tally("x", Ladder.float_bits(16), Keyed(("key",)), None)  # on the workers; a histogram needs none
except ValueError as error:
    print(error)
hidden.unlink()
found = Histogram.of(column.chunks(), Ladder.float_bits(16))
expected = Histogram.of([np.sqrt(np.arange(10_000.0))], Ladder.float_bits(16))
assert np.array_equal(found.rungs, expected.rungs) and np.array_equal(found.counts, expected.counts)
keyed = Keyed(("key",), source.known_keys(("key",), [[2, 0]]))
tallied = source.tally("x", Ladder.float_bits(16), keyed, Bounding("unit", 1, 1, 3))
assert tallied.tally.counts.sum() == 1000
rows = source.rows("x", keyed, Bounding("unit", 1, 1, 3))
assert rows.totals()[0].tolist() == np.bincount(tallied.tally.groups, tallied.tally.counts).tolist()
print("counted")


def answers(table):
    # What users ask for, seeded.
    for ask in (table.median, table.sum, table.mean):
        yield repr(ask("x", epsilon=1, rng=random.Random(1)).value)
    yield str(table.describe(["x", "key"], epsilon=4, rng=random.Random(1))).replace(" of the query result", "")
    groups = table.group_by("key", keys=[0, 2])
    for ask in (groups.sum, groups.median):
        yield repr(ask("x", epsilon=1, rng=random.Random(1)).values.tolist())


far, near = nb.Table(frame), nb.Table(frame.toArrow())
expected = list(answers(near))
for most in (1 << 20, 400):  # the second: passes in SQL and on the workers
    jobs.MOST = jobs.MANY = known.MOST = known._OF_TASK = most
    assert list(answers(far)) == expected
print("answered")
"""

HIDE = """
import pathlib, sys


class Hide:
    def find_spec(self, name, path=None, target=None):
        if name == "nobounds" and pathlib.Path({hidden!r}).exists():
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Hide())
"""


def test_spark_connect_misses_nobounds_on_workers_and_then_gives_the_same(tmp_path: Path):
    """While workers cannot import nobounds the error says just that; then Connect answers as an array does."""
    hidden, hooks, worker = tmp_path / "hidden", tmp_path / "hooks", tmp_path / "python"
    hooks.mkdir()
    hidden.touch()
    (hooks / "sitecustomize.py").write_text(HIDE.format(hidden=str(hidden)))
    worker.write_text(f'#!/bin/sh\nPYTHONPATH="{hooks}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    worker.chmod(0o755)
    environment = os.environ | {"PYSPARK_PYTHON": str(worker), "PYSPARK_DRIVER_PYTHON": sys.executable}
    environment["SPARK_TESTING"] = "1"  # the server takes a free port
    command = [sys.executable, "-W", "ignore", "-c", CONNECT, str(hidden)]
    found = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert "imported" in found.stdout, found.stderr[-2000:]
    if "started" not in found.stdout:
        pytest.skip("a local Spark Connect server cannot be started here")
    assert found.returncode == 0, found.stderr[-2000:]
    assert "counted" in found.stdout and "answered" in found.stdout
    assert "nobounds cannot be imported on the workers" in found.stdout


# --- filters and computed columns


@pytest.fixture(scope="module")
def odd(session: Any) -> Iterator[tuple[pa.Table, Any]]:
    """Odd values of each type, as an Arrow table and as a DataFrame with other time zones."""
    table = filters.arrow(filters.records(80, seed=1))
    settings = {"spark.sql.session.timeZone": "Asia/Tokyo", "spark.sql.timestampType": "TIMESTAMP_NTZ"}
    before = {name: session.conf.get(name) for name in settings}
    for name, value in settings.items():
        session.conf.set(name, value)
    yield table, session.createDataFrame(table).repartition(2)
    for name, value in before.items():
        session.conf.set(name, value)


def test_500_conditions_keep_the_rows_that_other_engines_keep(odd: tuple[pa.Table, Any]):
    """All of them in one job, as columns: true, false or null where a loop over Python values says so."""
    table, frame = odd
    writer, rows = filters.Writer(2022), table.to_pylist()
    nodes = [node for node in (writer.condition() for _ in range(500)) if text(node) != "null"]
    source = from_spark(frame)
    view = View(source.types).with_columns({f"q{k}": node for k, node in enumerate(nodes)})
    seen = source.viewed(view, masked=False)
    found = seen._base(["id", *view.formulas]).toArrow().rename_columns(["id", *view.formulas, KEPT]).sort_by("id")
    for k, node in enumerate(nodes):
        assert found[f"q{k}"].to_pylist() == [filters.value(node, row) for row in rows], text(node)


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_statistics_of_a_view_are_those_of_a_table_in_memory(neighbors: str, odd: tuple[pa.Table, Any]):
    """Counts, computed columns and groups, whether rows are dropped or missing."""
    table, frame = odd
    answers = []
    for data in (table, frame):
        view = nb.Table(data, neighbors=neighbors).with_columns(k="j * 2", w="cast(d as text)", y="z", p="m")
        view = view.where("d >= '2024-01-01' or y < '2024-02-01' or s > 'a'")
        options = {"epsilon": 1000, "marks": False}
        found = [view.count(**options, rng=random.Random(1)).value]
        found += [view.sum("k", lower=-50, upper=50, **options, rng=random.Random(1)).value]
        if neighbors == "add-remove":
            keys = ["2024-02-29", "9999-12-31"]
            found += view.group_by("w", keys=keys).count("p", **options, rng=random.Random(1)).values.tolist()
        answers.append(found)
    assert answers[0] == answers[1]
    assert answers[0][0] > 20


# --- what runs where, and in how many jobs


def jobs_of(session: Any, ask: Callable[[], Any]) -> int:
    """How many jobs Spark runs for something."""
    group = f"group {random.random()}"
    session.sparkContext.setJobGroup(group, group)
    ask()
    return len(session.sparkContext.statusTracker().getJobIdsForGroup(group))


def test_passes_in_sql_are_those_of_numpy(session: Any, monkeypatch: pytest.MonkeyPatch):
    """On hostile records of each type that SQL takes: classes and exact sums, also of groups, and no worker counts."""
    monkeypatch.setattr("nobounds.engines.spark.jobs.MOST", 0)  # no record is read
    monkeypatch.setattr("nobounds.engines.spark.jobs.merged_results", None)
    known = [0.0 if x is None else x for x in HOSTILE]
    columns = {
        "x": pa.array([*HOSTILE, *np.random.default_rng(2).normal(0, 40, 2000)] * 2, pa.float64()),
        "single": pa.array([*np.float32(np.clip(known, -3e38, 3e38)), *np.linspace(-9, 9, 2000, dtype=np.float32)] * 2),
        "long": pa.array([2**63 - 1, -(2**63), 2**53 + 1, *range(2000), *range(len(HOSTILE) - 3)] * 2, pa.int64()),
    }
    rows, keys = len(columns["x"]), Keyed(("g",), (pa.array(["b", "a"]),))
    frame = session.createDataFrame(pa.table(columns | {"g": pa.array(["a", "b"] * (rows // 2))}))
    spark, exact = from_spark(frame), [Total(each) for each in LATTICES] + [Total(Squares(LATTICES[0], 9))]
    for name in columns:
        pushed, values = spark.columns([name], None)[name].chunks(), floats(pa.table(columns), name)
        coarse = [Counted(Ladder.float_bits(0)), Counted(Ladder.float_bits(8, -100)), Counted(Ladder.float_bits(8))]
        for each in [*coarse, Totals(()), *(exact if name == "x" else exact[:2])]:
            assert same(scan(pushed, each, None), each([values])), (name, each)
        codes = np.where(np.isnan(values), -1, np.array([1, 0] * (rows // 2)))
        maps = (LATTICES[0].steps, LATTICES[5].steps, Beyond(0.5, -1, 4.0), Outside(3.0, upwards=True))
        counts, sums = spark.rows(name, keys, None).totals(*maps)
        expected = group_totals([(codes, values)], 2, maps)
        assert counts.tolist() == expected[0].tolist()
        assert [each.tolist() for each in sums] == [each.tolist() for each in expected[1]]


def test_deviations_and_second_looks_in_sql_are_those_of_numpy(session: Any, monkeypatch: pytest.MonkeyPatch):
    """Around centres with and without a clip, and records in intervals, few of them; no worker counts."""
    monkeypatch.setattr("nobounds.engines.spark.jobs.MOST", 400)
    values = np.random.default_rng(2).normal(0, 40, 4000)
    values[:9] = [0.0, -0.0, 0.3, 1e-9, -1e12, 2.0**60, np.nan, np.inf, -np.inf]
    far = from_spark(session.createDataFrame(pa.table({"x": pa.array(values), "n": pa.array(range(4000))})))
    ladder, spans = Ladder.float_bits(3, -40), Spans.of([(-1.5, -0.25), (0.0, 0.5), (7.0, 8.0)])
    passes: list[Any] = [Counted(ladder, Deviation(0.3, -np.inf, np.inf, 5)), Gathered(spans), Within(FINE, spans)]
    passes += [Counted(ladder, Deviation(7.0, -9.0, 1e9, -3)), Counted(COARSE, Deviation(0.0, -np.inf, np.inf, 0))]
    column = far.columns(["x"], None)["x"].chunks()
    many = Within(FINE, Spans.of([(-80.0, 80.0)]))
    assert same(scan(column, many, Histogram.__add__), many([values])), "the workers count what is inside"
    monkeypatch.setattr("nobounds.engines.spark.jobs.merged_results", None)
    for each in passes:
        assert same(scan(column, each, None), each([values])), each
    whole = far.columns(["n"], None)["n"].chunks()
    assert same(scan(whole, Counted(Ladder.grid(1, 8)), None), Counted(Ladder.grid(1, 8))([np.arange(4000.0)]))


def test_the_intervals_of_second_looks_are_in_no_plan_and_in_no_event(
    session: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    """They are sensitive. A literal of the same query is in both, so the search would find them."""
    monkeypatch.setattr("nobounds.engines.spark.jobs.MOST", 400)
    rows = session.range(4000).selectExpr("id / 7 as x").where("x < 1234.56789012345D")
    low, high = 17.123456789012345, 17.987654321098765
    column = from_spark(rows).columns(["x"], None)["x"].chunks()
    scan(column, Gathered(Spans.of([(low, high)])), None)
    plan = column.kept.inside("v0", Spans.of([(low, high)]))._jdf.queryExecution().toString()  # type: ignore[union-attr]
    session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    events = "".join(path.read_text() for path in (folder / "events").rglob("*") if path.is_file())
    for text_of in (plan, events):
        assert "1234.56789012345" in text_of
        assert "17.1234567" not in text_of and "17.9876543" not in text_of


def test_a_statistic_is_that_of_the_same_rows_in_memory(session: Any, monkeypatch: pytest.MonkeyPatch):
    """Whether the driver keeps the values of a column or not."""
    rng = np.random.default_rng(8)
    data = {"x": rng.normal(50, 9, 30_000), "y": rng.lognormal(3, 1, 30_000), "n": rng.integers(0, 90, 30_000)}
    local, far = nb.Table(pa.table(data)), nb.Table(session.createDataFrame(pa.table(data)))
    asked: list[Callable[[nb.Table], Any]] = [
        lambda table: table.quantile("x", 0.9, epsilon=1, rng=random.Random(1)).value,
        lambda table: table.sum("x", epsilon=1, rng=random.Random(1)).value,
        lambda table: table.mean("y", epsilon=1, rng=random.Random(1)).value,
        lambda table: str(table.describe(["x", "y", "n"], epsilon=4, rng=random.Random(1))),
    ]
    for ask in asked:
        assert str(ask(far)).replace(" of the query result", "") == str(ask(local))
    for name in ("known.MOST", "jobs.MOST", "known._OF_TASK"):
        monkeypatch.setattr(f"nobounds.engines.spark.{name}", 1000)
    for ask in asked:
        assert str(ask(far)).replace(" of the query result", "") == str(ask(local))


@pytest.mark.parametrize("limits", [{"MANY": 1000}, {"MANY": 1000, "LONG": 1000}])
def test_a_summary_of_long_columns_takes_a_job_for_each(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: dict[str, int]
):
    """Besides the first, up to a limit; beyond it each pass takes one, with the same answers."""
    rng = np.random.default_rng(8)
    data = {"x": rng.normal(50, 9, 30_000), "y": rng.lognormal(3, 1, 30_000), "z": rng.exponential(3, 30_000)}
    frame = session.createDataFrame(pa.table(data))
    frame.write.parquet(str(tmp_path / "long"))
    stored, far = nb.Table(session.read.parquet(str(tmp_path / "long"))), nb.Table(frame)
    for name, limit in {"_FEW_TASKS": 64, "MOST": 1000, **limits}.items():
        monkeypatch.setattr(f"nobounds.engines.spark.jobs.{name}", limit)
    for name in ("MOST", "_OF_TASK"):
        monkeypatch.setattr(f"nobounds.engines.spark.known.{name}", 1000)

    def ask(table: nb.Table) -> str:
        return str(table.describe(["x", "y", "z"], epsilon=4, rng=random.Random(1))).replace(" of the query result", "")

    assert ask(far) == ask(stored) == ask(nb.Table(pa.table(data)))
    jobs, persisted = (jobs_of(session, partial(ask, table)) for table in (stored, far))
    assert (jobs == 4 and persisted <= 6) if "LONG" not in limits else jobs > 6


def test_statistics_of_stored_columns_leave_the_settings_of_the_session(session: Any, tmp_path: Path):
    """And shuffles of few rows have one task."""
    session.range(1_200_000).selectExpr("id / 7 as x").write.parquet(str(tmp_path / "rows"))
    table, settings = nb.Table(session.read.parquet(str(tmp_path / "rows"))), session.conf.getAll
    assert table.quantile("x", 0.9, epsilon=1).value is not None and table.mean("x", epsilon=1).value is not None
    assert session.conf.getAll == settings
    with changed(session, "spark.sql.session.timeZone", "Asia/Tokyo"):
        frame = session.read.parquet(str(tmp_path / "rows")).groupBy().count()
        small = plans.with_one_shuffle_task(frame)
        assert small._jdf.sparkSession().conf().get("spark.sql.session.timeZone") == "Asia/Tokyo"
        assert small.toArrow().to_pylist() == [{"count": 1_200_000}]


@contextmanager
def changed(session: Any, name: str, value: str) -> Iterator[None]:
    """Another setting for a while."""
    before = session.conf.get(name)
    session.conf.set(name, value)
    try:
        yield
    finally:
        session.conf.set(name, before)


@pytest.mark.parametrize("given", ["1g", "512m", "0", "100", "2048KB", "a lot"])
def test_what_the_driver_may_get_is_read_from_the_settings(given: str):
    """0 is without a limit, and what is not understood is none at all."""

    class Conf:
        def get(self, name: str, default: str) -> str:
            return given

    class Frame:
        class sparkSession:
            conf = Conf()

    expected = {"1g": 2**30, "512m": 2**29, "0": np.inf, "100": 100, "2048KB": 2**21, "a lot": 0}
    assert plans.most_bytes(Frame()) == expected[given]


def test_columns_of_stored_files_are_not_persisted(session: Any, tmp_path: Path):
    """Another pass reads them as fast; all else is kept, with the rows of units and of computed columns."""
    session.range(1000).selectExpr("id", "id / 7 as x").write.parquet(str(tmp_path / "rows"))
    stored = session.read.parquet(str(tmp_path / "rows"))

    def kept() -> int:
        gc.collect()
        return len(session.sparkContext._jsc.getPersistentRDDs())

    before = kept()
    for frame, more in ((stored.where("id < 900"), 0), (stored.distinct(), 1), (session.range(900).toDF("x"), 1)):
        column = from_spark(frame).columns(["x"], None)["x"]
        assert column.rows() in (900, 1000) and kept() == before + more
        assert Histogram.of(column.chunks(), FINE).total == column.rows()
        del column
    units = from_spark(stored).columns(["x"], Bounding("id", 2, 2, 5))["x"]
    assert units.rows() == 1000 and kept() == before + 1


def test_a_dataframe_that_differs_each_time_is_refused(session: Any, tmp_path: Path):
    """As far as its plan shows; what is written down does not differ."""
    from pyspark.sql.functions import udf

    rows = session.range(100)
    drawn = udf(lambda x: float(x) * random.random(), "double").asNondeterministic()
    for frame in (rows.selectExpr("rand() as x"), rows.selectExpr("uuid() as x"), rows.select(drawn("id").alias("x"))):
        with pytest.raises(ValueError, match=r"^the DataFrame computes random or changing values, so each pass"):
            nb.Table(frame)
    moving = [
        "hour(now()) as x",
        "unix_timestamp() as x",
        "(select max(unix_date(current_date()))) as x",
        "localtimestamp() as x",
    ]
    for expression in moving:
        with pytest.raises(ValueError, match=r"^the DataFrame computes random or changing values, so each pass"):
            nb.Table(rows.selectExpr(expression))
    assert nb.Table(rows.where("timestamp 'now' > timestamp '2024-01-01' and current_user() <> ''")).columns
    rows.selectExpr("rand() as x").write.parquet(str(tmp_path / "rows"))
    stored = session.read.parquet(str(tmp_path / "rows"))
    assert list(nb.Table(stored).columns) == ["x"]
    assert is_stored(stored.where("x > 0.5")) and not is_stored(stored.distinct()) and tasks_of(stored) >= 1


def test_a_standalone_cluster_answers_as_memory_does_also_after_it_has_lost_an_executor(tmp_path: Path):
    """A master and two workers: rows that the lost executor kept are computed again, and answers stay what they are."""
    command = [sys.executable, "-W", "ignore", "-m", "support.spark_cluster", str(tmp_path)]
    tests = Path(__file__).parents[2]
    paths = os.pathsep.join([str(tests), str(Path(nb.__file__).parents[1])])
    found = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": paths}, cwd=tests, capture_output=True, text=True, timeout=600
    )
    assert found.returncode == 0, found.stderr[-2000:]
    told = list(spark_cluster.answers(nb.Table(pa.table(spark_cluster.data()))))
    assert found.stdout.splitlines() == [*told, "executors 2", f"total {spark_cluster.ROWS}", *told]
