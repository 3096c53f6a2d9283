"""One poisoned record in good data, NaN, infinite, denormal, minus zero or huge, has no more power than any other.

numpy's own mean is NaN after one NaN and its sum infinite after one infinity.
"""

import json
import math
import random

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.csv_files import headed

import nobounds as nb

GOOD = np.random.default_rng(1).normal(50.0, 5.0, 3000)
POISON = {
    "nan": math.nan,
    "negative nan": -math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "denormal": 5e-324,
    "-denormal": -5e-324,
    "minus zero": -0.0,
    "largest": 1.7976931348623157e308,
    "-largest": -1.7976931348623157e308,
    "2**63": 2.0**63,
}
STATISTICS = {
    "quantile": (lambda table, **options: table.quantile("x", 0.5, **options).value, 50.0, 2.0),
    "quantiles": (lambda table, **options: table.quantiles("x", [0.5, 0.9], **options).value[0], 50.0, 2.0),
    "maximum": (lambda table, **options: table.maximum("x", **options).value, 65.0, 20.0),
    "minimum": (lambda table, **options: table.minimum("x", **options).value, 35.0, 20.0),
    "bounds": (lambda table, **options: table.bounds("x", **options).value[1], 65.0, 20.0),
    "sum": (lambda table, **options: table.sum("x", **options).value, 150_000.0, 5_000.0),
    "mean": (lambda table, **options: table.mean("x", **options).value, 50.0, 2.0),
    "count": (lambda table, **options: table.count("x", **options).value, 3000, 50),
    "describe": (lambda table, **options: table.describe(["x"], **options)["x"].values["std"], 5.0, 2.0),
}
GROUPED = ["quantile", "maximum", "minimum", "sum", "mean", "count"]
ENGINES = {
    "dict": lambda table, folder: {name: table[name].to_numpy() for name in table.column_names},
    "lists": lambda table, folder: table.to_pydict(),
    "pandas": lambda table, folder: table.to_pandas(),
    "polars": lambda table, folder: pl.from_arrow(table),
    "lazy": lambda table, folder: pl.from_arrow(table).lazy(),
    "arrow": lambda table, folder: table,
    "duckdb": lambda table, folder: duckdb.connect().from_arrow(table),
    "parquet": lambda table, folder: _parquet(table, folder),
    "csv": lambda table, folder: _csv(table, folder),
}


def _parquet(table, folder):
    pq.write_table(table, folder / "a.parquet")
    return folder / "a.parquet"


def _csv(table, folder):
    lines = [f"{x!r},{k},{u}\n" for x, k, u in zip(*table.to_pydict().values(), strict=True)]
    (folder / "a.csv").write_text("x,k,u\n" + "".join(lines))
    return headed(folder / "a.csv")


def poisoned(poison):
    """The good records and one other, each of a group and of a user of their own."""
    n = len(GOOD) + 1
    return pa.table({"x": np.append(GOOD, poison), "k": np.zeros(n, dtype=int), "u": np.arange(n)})


def near(statistic, value):
    """Whether an answer is a number near the truth of the good records."""
    _, truth, off = STATISTICS[statistic]
    return math.isfinite(value) and abs(value - truth) <= off


@pytest.mark.medium
@pytest.mark.parametrize("poison", POISON)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_poisoned_record_hardly_moves_an_answer(statistic, poison):
    """Every statistic of 3000 good records and a poisoned one is near the truth of the good ones, pure and by zCDP."""
    table = nb.Table(poisoned(POISON[poison]))
    for spent in ({"epsilon": 1.0}, {"rho": 0.5}):
        value = STATISTICS[statistic][0](table, **spent, rng=random.Random(1))
        assert near(statistic, value)


def test_numpy_is_poisoned():
    """The same records have no mean and no sum in floats."""
    data = np.append(GOOD, math.nan)
    assert math.isnan(np.mean(data)) and not near("mean", float(np.mean(data)))
    assert not near("sum", float(np.sum(np.append(GOOD, math.inf))))


@pytest.mark.medium
@pytest.mark.parametrize("engine", ENGINES)
def test_no_engine_is_poisoned(engine, tmp_path):
    """In every engine, of rows and of users, and by groups, no poison makes an error, a NaN or another shape."""
    for poison in POISON.values():
        data = ENGINES[engine](poisoned(poison), tmp_path)
        users = nb.Table(data, unit="u", rows_per_unit=1)
        assert near("mean", users.mean("x", epsilon=1.0, rng=random.Random(1)).value)
        key = "0" if engine in {"csv", "lists"} else 0
        groups = nb.Table(data).group_by("k", keys=[key])
        for name in GROUPED:
            found = getattr(groups, name)(
                *(("x", 0.5) if name == "quantile" else ("x",)), epsilon=1.0, rng=random.Random(1)
            )
            assert found.groups == [key] and near(name, found.values.tolist()[0])


@pytest.mark.parametrize("poison", POISON)
def test_a_poisoned_row_hardly_moves_a_vector(poison):
    """So with means of vectors, where a row with a NaN or an infinity is missing."""
    rows = np.append(np.repeat(GOOD[:, None], 3, axis=1), [[1.0, POISON[poison], 1.0]], axis=0)
    for value in nb.vector_mean(rows, rho=0.5, rng=random.Random(1)).value:
        assert near("mean", value)


@pytest.mark.medium
@pytest.mark.parametrize("poison", [math.nan, math.inf, -math.inf, -0.0, 5e-324])
def test_poisoned_keys_and_users_are_keys_or_missing(poison, tmp_path):
    """A key or a user that is NaN is missing, -0.0 is 0.0, and the other floats are keys like any."""
    table = pa.table({"x": np.ones(400), "k": np.append(np.zeros(200), np.full(200, poison)), "u": np.arange(400.0)})
    for engine in ("arrow", "duckdb", "polars", "parquet"):
        data = ENGINES[engine](table, tmp_path)
        found = nb.Table(data, unit="u", rows_per_unit=1).group_by("k", delta=0.1).count(epsilon=50.0)
        expected = [0.0] if math.isnan(poison) or poison == 0 else sorted([0.0, poison])
        assert found.groups == expected
        assert all(math.copysign(1, key) == 1 for key in found.groups if key == 0)
        assert json.loads(found.to_json())["keys"]["k"] == [None if math.isinf(key) else key for key in expected]
        by_user = nb.Table(data, unit="k", rows_per_unit=1).count(epsilon=50.0).value
        assert abs(by_user - len(expected)) <= 1
    pandas = nb.Table(pd.DataFrame({"x": [1.0] * 3, "k": [poison] * 3})).group_by("k", delta=0.5).count(epsilon=1.0)
    assert len(pandas) <= 1
