"""Type in, type out: dates, datetimes, times, durations and decimals give the same answers from every engine.

The extremes of a type raise nothing, one missing record more changes no type or shape, and JSON gives the values back.
"""

import json
import random
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator

import nobounds as nb
from nobounds.explaining.explain import paragraphs
from nobounds.kinds.kind import Kind
from nobounds.release.grouped import GroupedRelease
from nobounds.release.schema import json_schema

N = 3000
BERLIN = ZoneInfo("Europe/Berlin")
RNG = np.random.default_rng(5)
NUMBERS = [None if k % 50 == 0 else int(x) for k, x in enumerate(RNG.normal(0, 4000, N))]
TYPES: dict[str, tuple[Callable[[int], Any], Any, type]] = {
    "date": (lambda x: date(2024, 1, 1) + timedelta(days=x // 40), pa.date32(), date),
    "datetime": (lambda x: datetime(2024, 1, 1) + timedelta(seconds=37 * x), pa.timestamp("us"), datetime),
    "datetime(Europe/Berlin)": (
        lambda x: datetime(2024, 3, 31, 0, 30, tzinfo=BERLIN) + timedelta(seconds=37 * x),
        pa.timestamp("us", "Europe/Berlin"),
        datetime,
    ),
    "time": (
        lambda x: (datetime(1, 1, 1, 12) + timedelta(seconds=max(min(x, 43_199), -43_200))).time(),
        pa.time64("us"),
        time,
    ),
    "duration": (lambda x: timedelta(milliseconds=x), pa.duration("us"), timedelta),
    "decimal(12,2)": (lambda x: Decimal(x).scaleb(-2), pa.decimal128(12, 2), Decimal),
}
ENDS = {
    "date": [date.min, date.max],
    "datetime": [datetime.min, datetime.max],
    "datetime(Europe/Berlin)": [
        datetime.min.replace(tzinfo=ZoneInfo("UTC")),
        datetime.max.replace(tzinfo=ZoneInfo("UTC")),
    ],
    "time": [time.min, time.max],
    "duration": [timedelta(days=-106_751_990), timedelta(days=106_751_990)],
    "decimal(12,2)": [Decimal("-9999999999.99"), Decimal("9999999999.99")],
}


def arrow(name: str, values: list[Any] | None = None) -> pa.Table:
    """A table of values of a type, and of cities."""
    make, kind, _ = TYPES[name]
    listed = [None if x is None else make(x) for x in NUMBERS] if values is None else values
    cities = ["rome" if k % 3 else "oslo" for k in range(len(listed))]
    return pa.table({"x": pa.array(listed, kind), "city": pa.array(cities, pa.string())})


def asked(table: nb.Table, name: str) -> list[Any]:
    """Answers of all kinds to one table."""
    some = {"epsilon": 2}
    by = table.group_by("city", keys=["rome", "oslo"])
    calls: list[Callable[..., Any]] = [
        lambda rng: table.quantile("x", 0.3, rng=rng, **some),
        lambda rng: table.quantile("x", 0.5, interval=0.95, rng=rng, **some),
        lambda rng: table.quantiles("x", [0.25, 0.75], rng=rng, **some),
        lambda rng: table.bounds("x", rng=rng, **some),
        lambda rng: table.mean("x", rng=rng, **some),
        lambda rng: table.count("x", rng=rng, **some),
        lambda rng: table.describe(["x"], rng=rng, **some),
        lambda rng: by.quantile("x", 0.5, rng=rng, **some),
        lambda rng: by.mean("x", rng=rng, **some),
    ]
    if Kind.parse(name).adds:
        calls += [lambda rng: table.sum("x", rng=rng, **some), lambda rng: by.sum("x", rng=rng, **some)]
    return [call(random.Random(3)) for call in calls]


def values(release: Any) -> Any:
    """The answers of a release and the ends of its intervals."""
    if isinstance(release, nb.Description):
        return release["x"].values, release["x"].intervals
    if isinstance(release, GroupedRelease):
        return release.values.tolist(), None if release.intervals is None else release.intervals.tolist()
    return release.value, tuple(tuple(map(_known, bar)) for bar in release.intervals)


def _known(end: Any) -> Any:
    """An end of an interval; one that is not known is the first or last moment of a type, on the clock of its zone."""
    return end.year if isinstance(end, datetime) and end.year in (1, 9999) else end


@cache
def in_memory(name: str) -> list[Any]:
    """The answers of the table in Arrow."""
    return [values(release) for release in asked(nb.Table(arrow(name)), name)]


def shape(value: Any) -> Any:
    """The types of answers, without the answers."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    return [shape(each) for each in value] if isinstance(value, list | tuple) else type(value).__name__


def on_postgres(table: pa.Table, name: str, connection: Any) -> nb.Table:
    """The table on a server, in the type that it has there."""
    sql = {"datetime": "timestamp", "datetime(Europe/Berlin)": "timestamptz", "duration": "interval"}.get(name, name)
    with connection.cursor() as cursor:
        cursor.execute(f"drop table if exists typed; create table typed (x {sql}, city text)")
        with cursor.copy("copy typed from stdin") as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)
    return nb.Table.sql(connection, "select * from typed")


def opened(engine: str, name: str, table: pa.Table, folder: Path) -> nb.Table:
    """The same table in an engine."""
    frame = pl.DataFrame(table)
    if engine == "numpy":
        unit = {"date": "M8[D]", "duration": "m8[us]"}.get(name, "M8[us]")
        return nb.Table({"x": table["x"].to_numpy().astype(unit), "city": table["city"].to_pylist()})
    if engine == "pandas":
        return nb.Table(table.to_pandas())
    if engine == "pandas of Arrow":
        return nb.Table(table.to_pandas(types_mapper=pd.ArrowDtype))
    if engine == "objects":
        data = {"x": np.array(table["x"].to_pylist(), dtype=object), "city": table["city"].to_pylist()}
        return nb.Table(data, schema={"x": name})
    if engine == "parquet":
        pq.write_table(table, folder / "typed.parquet")
        return nb.Table(folder / "typed.parquet")
    if engine == "duckdb":
        return nb.Table(duckdb.connect().from_arrow(table))
    if engine == "sql":
        connection = duckdb.connect()
        connection.register("typed", table)
        return nb.Table.sql(connection, "select * from typed")
    return nb.Table({"polars": frame, "lazy": frame.lazy(), "stream": table.to_reader()}[engine])


ENGINES = ["numpy", "pandas", "pandas of Arrow", "objects", "polars", "lazy", "parquet", "duckdb", "sql"]
LACKS = {  # types that an engine does not have
    "numpy": {"datetime(Europe/Berlin)", "time", "decimal(12,2)"},
    "pandas": {"date", "time", "decimal(12,2)"},
    "duckdb": {"duration"},
    "sql": {"duration"},
}


@pytest.mark.medium
@pytest.mark.parametrize("engine", ENGINES)
def test_a_type_gives_the_same_answers_from_every_engine(engine: str, tmp_path: Path):
    """With the same generator, and in the same type."""
    for name in TYPES.keys() - LACKS.get(engine, set()):
        table = arrow(name)
        expected = in_memory(name)
        answers = [values(release) for release in asked(opened(engine, name, table, tmp_path), name)]
        assert answers == expected, name
        assert shape(answers) == shape(expected)
        assert type(expected[0][0]) is TYPES[name][2]


@pytest.mark.medium
def test_a_type_gives_the_same_answers_from_postgresql(postgres: str):
    """Also intervals, and moments on the clock of the session."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres, autocommit=True) as connection:
        for name in TYPES:
            table = on_postgres(arrow(name), name, connection)
            assert [values(release) for release in asked(table, name)] == in_memory(name), name
        cursor = connection.cursor()
        cursor.execute("drop table typed; create table typed (x date, y timestamptz)")
        cursor.execute("insert into typed select 'infinity', '-infinity' from generate_series(1, 1000)")
        table = nb.Table.sql(connection, "select * from typed")
        assert table.minimum("x", epsilon=5).value > date(9990, 1, 1)
        assert table.maximum("y", epsilon=5).value.year < 10


@pytest.mark.medium
@pytest.mark.parametrize("name", TYPES)
def test_the_extremes_of_a_type_raise_nothing(name: str):
    """Records at its ends, all of them or some, and few of them; JSON and words work for all answers."""
    first, last = ENDS[name]
    middle = TYPES[name][0](0)
    for listed in ([first] * 500, [last] * 500, [first, last] * 400, [first, *[middle] * 600, last], [middle], []):
        table = nb.Table(arrow(name, listed))
        for marks in (True, False):
            for release in asked(table, name) if marks else [table.mean("x", epsilon=0.01, marks=False)]:
                again = type(release).from_json(release.to_json())
                assert values(again) == values(release)
                assert str(release)
    assert nb.Table(arrow(name, [last] * 500)).maximum("x", epsilon=5, rng=random.Random(1)).value is not None


def test_38_digits_are_decimals():
    """Also where sums have more digits, and for means of as many."""
    most = Decimal("9" * 36 + ".99")
    column = pa.array([most, most.copy_negate()] * 300 + [most] * 500, pa.decimal128(38, 2))
    for call in (nb.sum, nb.mean, nb.maximum, nb.minimum):
        value = call(column, epsilon=5, rng=random.Random(1)).value
        assert isinstance(value, Decimal) and value == Decimal(str(value))
    exact = pa.array([Decimal(k).scaleb(-2) for k in range(2000)], pa.decimal128(38, 2))
    total = nb.sum(exact, epsilon=10**9, lower=0, upper=20, rng=random.Random(1)).value
    assert total == sum(exact.to_pylist())


@pytest.mark.medium
@pytest.mark.parametrize("name", TYPES)
def test_one_missing_record_more_changes_no_type_or_shape(name: str):
    """In the values, in JSON and in Arrow tables."""
    listed = [each for each in arrow(name)["x"].to_pylist() if each is not None]
    for engine in ("polars", "pandas"):
        if name in LACKS.get(engine, set()):
            continue
        releases = [asked(opened(engine, name, arrow(name, rows), Path()), name) for rows in (listed, [*listed, None])]
        for one, other in zip(*releases, strict=True):
            assert shape(values(one)) == shape(values(other))
            assert shape(one.to_dict()) == shape(other.to_dict())
            if isinstance(one, GroupedRelease):
                assert one.to_arrow().schema == other.to_arrow().schema


@pytest.mark.medium
@pytest.mark.parametrize("name", TYPES)
def test_the_forms_of_a_release(name: str):
    """JSON in its schema and back, with the zone; words for people."""
    validator = Draft202012Validator(json_schema())
    for release in asked(nb.Table(arrow(name)), name):
        fields = json.loads(release.to_json())
        validator.validate(fields)
        again = type(release).from_json(release.to_json())
        assert values(again) == values(release) and shape(values(again)) == shape(values(release))
        assert str(again) == str(release)
        assert paragraphs(fields, sizes=())
        if fields["statistic"] not in ("count", "describe"):
            assert fields["parameters"]["type"] == name
    zoned = nb.quantile(arrow("datetime(Europe/Berlin)")["x"], 0.5, epsilon=5)
    assert nb.Release.from_json(zoned.to_json()).value.tzinfo == zoned.value.tzinfo == BERLIN


def test_sums_of_moments_are_refused_by_their_type_before_a_charge():
    """For columns and groups, with a fix."""
    budget = nb.Budget(epsilon=1)
    for name in ("date", "datetime", "time"):
        table = nb.Table(arrow(name), budget=budget)
        for call in (table.sum, table.group_by("city", keys=["rome"]).sum):
            with pytest.raises(TypeError, match=f"a sum of values of type {name} makes no sense; take the mean"):
                call("x", epsilon=1)
    assert budget.remaining == 1


def test_bounds_are_stated_in_the_type():
    """As values or texts; those of another type are refused, before a charge."""
    moments, budget = arrow("datetime(Europe/Berlin)")["x"], nb.Budget(epsilon=1)
    release = nb.quantile(moments, 0.5, epsilon=1, lower="2024-03-01", upper=date(2024, 5, 1), resolution="1h")
    assert (release.value.minute, release.value.second) == (0, 0)
    wrong: dict[str, Any] = {"lower": 5, "upper": "soon", "resolution": 3600}
    for option, given in wrong.items():
        with pytest.raises((TypeError, ValueError), match=f"{option} must be"):
            nb.quantile(moments, 0.5, epsilon=1, budget=budget, **{option: given})
    with pytest.raises(ValueError, match=r"give a span of time such as '1h'"):
        nb.quantile(moments, 0.5, epsilon=1, budget=budget, resolution="1 month")
    with pytest.raises(ValueError, match="lower must be a finite number"):
        nb.mean([1.0], epsilon=1, lower="2024-01-01", budget=budget)
    assert budget.remaining == 1
    both = nb.describe({"x": moments, "n": range(len(moments))}, epsilon=9, lower=0, resolution={"x": "1h"})
    assert both["x"].values["50%"].minute == 0 and both["n"].values["min"] >= 0
    with pytest.raises(TypeError, match=r"lower must be a datetime.*got lower=0$"):
        nb.describe({"x": moments}, epsilon=1, lower=0)


def test_moments_in_groups_are_counted_to_the_second():
    """Seconds since 1970 have 31 bits, of which other columns have 16 there."""
    moments = np.arange(1_700_000_000, 1_700_002_001).astype("M8[s]")
    table = nb.Table({"x": moments, "city": np.array(["rome"] * len(moments))})
    median = table.group_by("city", keys=["rome"]).quantile("x", 0.5, epsilon=1000, rng=random.Random(1))["rome"]
    assert abs(median - datetime(2023, 11, 14, 22, 30)) < timedelta(seconds=10)
