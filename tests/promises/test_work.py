"""How much work a call does, counted and not timed: passes over the data, and bytes in use."""

import random
import subprocess
import sys
import tracemalloc
from typing import Any, NamedTuple

import numpy as np
import pytest

import nobounds as nb
from nobounds.counting import kernels
from nobounds.engines.memory import arrays

N = 300_000
VALUES = np.random.default_rng(0).lognormal(3, 0.8, N)
DECILES = [k / 10 for k in range(1, 10)]
# Passes at most. Each look at the records around a rank is one; shells and sums are one each.
MOST = {"median": 4, "tail": 5, "maximum": 3, "sum": 5, "mean": 6, "deciles": 10, "quartiles": 4, "describe": 11}
PEAK = 13e6  # bytes; the table of the first pass has 8 MB
CALLS: dict[str, Any] = {
    "median": lambda data, **options: nb.quantile(data, 0.5, **options),
    "tail": lambda data, **options: nb.quantile(data, 0.9, **options),
    "maximum": lambda data, **options: nb.maximum(data, **options),
    "sum": lambda data, **options: nb.sum(data, **options),
    "mean": lambda data, **options: nb.mean(data, **options),
    "deciles": lambda data, **options: nb.quantiles(data, DECILES, **options),
    "quartiles": lambda data, **options: nb.quantiles(data, [0.25, 0.5, 0.75], **options),
    "describe": lambda data, **options: nb.describe(data, **options),
}


class Work(NamedTuple):
    passes: int
    peak: int


def work(call: Any, data: Any) -> Work:
    """What a call does, once everything public is planned."""
    call(data, epsilon=1, rng=random.Random(1))
    passes, windows = [], arrays.windows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "windows", lambda length, *each: passes.append(length) or windows(length, *each))
        patch.setattr(kernels, "WORTH", 1 << 62)  # compiled loops have other tables
        tracemalloc.start()
        try:
            call(data, epsilon=1, rng=random.Random(1))
            return Work(len(passes), tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()


@pytest.mark.medium
@pytest.mark.parametrize("name", CALLS)
def test_a_call_does_no_more_than_this(name):
    """The work of each statistic on 300,000 records; none of it depends on the machine."""
    done = work(CALLS[name], VALUES)
    assert done.passes <= MOST[name] and done.peak <= PEAK, done


@pytest.mark.medium
@pytest.mark.parametrize("name", CALLS)
def test_work_beside_the_passes_does_not_grow_with_the_records(name):
    """Four times as many records take about as many passes and about as much memory.

    The peak is that of the first pass: its table, a mark for each of its entries, and the keys of a block. The records
    that are kept for a second look are fewer than these.
    """
    few, many = work(CALLS[name], VALUES), work(CALLS[name], np.tile(VALUES, 4) * np.linspace(1, 1.0001, 4 * N))
    assert many.passes <= few.passes + 1 and many.peak <= few.peak + 2**20


@pytest.mark.parametrize("name", [name for name in CALLS if name != "describe"])
def test_few_records_are_read_once(name):
    """Whatever noise decides: what every later look needs is kept, in order."""
    assert work(CALLS[name], VALUES[:1000]).passes == 1


@pytest.mark.medium
def test_few_draws_need_a_pass_more():
    """The number and both ends of its interval are looked at once each, and hardly any of them twice."""
    passes = [
        work(
            lambda data, seed=seed, **options: nb.quantile(data, 0.5, **(options | {"rng": random.Random(seed)})),
            VALUES,
        ).passes
        for seed in range(40)
    ]
    assert min(passes) >= 2 and sum(passes) <= 4.5 * len(passes) and max(passes) <= 6


@pytest.mark.medium
def test_an_import_loads_nothing_and_a_call_no_more_than_it_needs():
    """Neither numpy for the names alone, nor tables, plans, audits, other libraries' frames or numba for a quantile."""
    code = """
import sys, nobounds as nb
assert "numpy" not in sys.modules
nb.quantile([1.0] * 100, 0.5, epsilon=1)
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    for unused in ("pandas", "polars", "duckdb", "pyarrow", "numba", "sklearn", "nobounds.tables", "nobounds.planning"):
        assert unused not in loaded, unused
