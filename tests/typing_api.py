"""The types of the public functions, pinned: mypy checks this file, and nothing runs it."""

from decimal import Decimal
from fractions import Fraction
from typing import Any, assert_type

import numpy as np

import nobounds as nb
from nobounds.kinds.kind import Value
from nobounds.release.grouped import GroupedRelease
from nobounds.tables.grouped import GroupedTable

x = np.arange(10)

assert_type(nb.quantile(x, 0.5, epsilon=1), nb.Release)
assert_type(nb.quantile([1.0, None], "0.99", epsilon="0.1", lower=0, upper=Decimal(9)), nb.Release)
assert_type(nb.maximum(x, epsilon=Fraction(1, 3), resolution=0.01, beta="1.01"), nb.Release)
assert_type(nb.minimum(x, epsilon=1.0, neighbors="swap", noise="laplace"), nb.Release)
assert_type(nb.bounds(x, epsilon=1.0), nb.Release)
assert_type(nb.maximum(x, epsilon=1).loss + nb.minimum(x, epsilon=1).loss, nb.PrivacyLoss)
assert_type(nb.maximum(x, epsilon=1).loss.epsilon, float)
assert_type(nb.maximum(x, epsilon=1).to_json(), str)
assert_type(nb.quantile(x, 0.5, epsilon=1, method="flip", ladder=nb.Ladder.grid(1)), nb.Release)
assert_type(nb.AboveThreshold(100, epsilon=1, monotonic=True).query(3), bool)
assert_type(nb.IterativeExponential(100, epsilon=1).first_above([1, 2.5, Fraction(1, 3)]), int | None)
histogram = nb.Histogram.of([np.zeros(3)], nb.Ladder.float_bits())
assert_type(histogram + histogram, nb.Histogram)
assert_type(nb.sum(x, epsilon=1, lower=0, resolution="0.01"), nb.Release)
assert_type(nb.mean(x, epsilon="0.5", neighbors="swap"), nb.Release)
assert_type(nb.count(x, epsilon=1).interval, tuple[float, float] | None)
assert_type(nb.describe({"x": x}, epsilon=1, lower={"x": 0}, resolution=1), nb.Description)
assert_type(nb.describe(x, epsilon=1)["value"].values["mean"], Value | None)
assert_type(nb.vector_sum(np.ones((9, 2)), rho=1, upper=3, neighbors="swap"), nb.Release)
assert_type(nb.vector_mean(np.ones((9, 2), dtype=np.float32), epsilon="1", delta=1e-6), nb.Release)
assert_type(nb.SparseVector(100, hits=5, epsilon=1).query(3), bool)
assert_type(nb.SparseVector(100, hits=5, epsilon=1, delta=1e-6, monotonic=True).loss, nb.PrivacyLoss)
assert_type(nb.quantiles(x, [0.5, "0.9"], rho=0.1, budget=nb.Budget(rho=1)), nb.Release)
assert_type(nb.Budget(epsilon=3).remaining, float)
assert_type(nb.PrivacyLoss.zcdp(0.5).at(1e-6), float)
assert_type(nb.explain(nb.count(x, epsilon=1)).text(), str)
assert_type(nb.plan("mean", n=100, data="normal", epsilon=[0.1, 1]), nb.Forecast)
assert_type(nb.minimum(x, epsilon=1).value, Value | tuple[Value | None, ...] | None)
assert_type(nb.Table({"x": x}).quantile("x", 0.5, epsilon=1, method="walk", beta="1.01", rows=10), nb.Release)
table = nb.Table({"x": x, "k": ["a"] * 10}, neighbors="add-remove", budget=nb.Budget(epsilon=99, delta=1e-3))
assert_type(nb.Table({"x": x, "who": x}, unit="who", rows_per_unit=2, progress=lambda rows: None), nb.Table)
assert_type(nb.Table({"who": x}, unit="who").suggest_rows_per_unit(epsilon=1, q="0.9"), nb.Release)
assert_type(nb.Table({"who": x}, unit="who", rows_per_unit=2).rows_left_out(epsilon=1), nb.Release)
assert_type(nb.plan_describe(3, rows=1000, epsilon=1), nb.DescribeForecast)
assert_type(nb.rows_needed("quantile", q=0.5, epsilon=1), int)
assert_type(table.columns, dict[str, str])
assert_type(table.quantiles("x", [0.5, "0.9"], epsilon=1, lower=0, upper=Decimal(9)), nb.Release)
assert_type(table.maximum("x", epsilon=1, resolution=1, rng=np.random.default_rng(1)), nb.Release)
assert_type(table.sum("x", epsilon=Fraction(1, 3)), nb.Release)
assert_type(table.count(epsilon=1), nb.Release)
assert_type(table.count_distinct("k", values_per_unit=2, epsilon=1), nb.Release)
assert_type(table.value_counts("k", keys=["a", "b"], epsilon=1), nb.GroupedRelease)
assert_type(table.top_k("k", 3, delta=1e-6, epsilon=1), nb.GroupedRelease)
assert_type(nb.value_counts(["a", "b"], keys=["a"], epsilon=1), nb.GroupedRelease)
assert_type(nb.top_k(["a", "b"], 1, keys="enum", epsilon=1), nb.GroupedRelease)
assert_type(nb.count_distinct(["a", "b"], epsilon=1), nb.Release)
assert_type(table.describe(["x"], epsilon=1, lower={"x": 0}), nb.Description)
assert_type(table.group_by("k", delta=1e-6), GroupedTable)
groups = table.group_by("k", "x", keys=[("a", 1), ("a", 2)])
assert_type(groups.quantile("x", 0.5, epsilon=1, lower=0), GroupedRelease)
assert_type(groups.mean("x", epsilon="0.5", resolution=1), GroupedRelease)
release = groups.count(epsilon=1)
assert_type(release, GroupedRelease)
assert_type(release["a", 1], Value | None)
assert_type(release.loss, nb.PrivacyLoss)
assert_type(list(release), list[tuple[Any, Value | None]])
assert_type(release.to_dict(), dict[str, Any])
assert_type(release.to_json(), str)
