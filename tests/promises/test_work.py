"""How much work a call does, counted and not timed: passes over the data, rungs that are weighed, bytes in use."""

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
from nobounds.mechanisms.joint.stretches import Stretches
from nobounds.mechanisms.runs import Runs

N = 300_000
VALUES = np.random.default_rng(0).lognormal(3, 0.8, N)
DECILES = [k / 10 for k in range(1, 10)]
# Passes, rungs weighed at once, and bytes at the peak, each at most. The table of the first pass has 8 MB; a pass more
# may be needed where noise leaves a choice open that coarse counts do not decide, but not for this seed.
MOST = {
    "median": (2, 6000, 13e6),
    "tail": (2, 6000, 13e6),
    "maximum": (2, 6000, 13e6),
    "sum": (2, 2000, 13e6),
    "mean": (3, 6000, 13e6),
    "deciles": (2, 30_000, 13e6),
    "quartiles": (2, 6000, 13e6),
    "describe": (5, 6000, 13e6),
}
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
    weighed: int
    peak: int


def work(call: Any, data: Any) -> Work:
    """What a call does, once everything public is planned."""
    call(data, epsilon=1, rng=random.Random(1))
    passes, weighed = [], [0]
    windows, between, stretches = arrays.windows, Runs.between.__func__, Stretches.of.__func__

    def runs_between(cls: Any, starts: Any, *rest: Any, **options: Any) -> Runs:
        weighed.append(len(starts))
        return between(cls, starts, *rest, **options)

    def stretches_of(cls: Any, *rest: Any) -> Stretches:
        made = stretches(cls, *rest)
        weighed.append(len(made.starts))
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "windows", lambda length, *each: passes.append(length) or windows(length, *each))
        patch.setattr(Runs, "between", classmethod(runs_between))
        patch.setattr(Stretches, "of", classmethod(stretches_of))
        patch.setattr(kernels, "WORTH", 1 << 62)  # compiled loops have other tables
        tracemalloc.start()
        try:
            call(data, epsilon=1, rng=random.Random(1))
            return Work(len(passes), max(weighed), tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()


@pytest.mark.medium
@pytest.mark.parametrize("name", CALLS)
def test_a_call_does_no_more_than_this(name):
    """The work of each statistic on 300,000 records; none of it depends on the machine."""
    done, (passes, weighed, peak) = work(CALLS[name], VALUES), MOST[name]
    assert done.passes <= passes and done.weighed <= weighed and done.peak <= peak, done


@pytest.mark.medium
@pytest.mark.parametrize("name", CALLS)
def test_work_beside_the_passes_does_not_grow_with_the_records(name):
    """Four times as many records take as many passes, weigh about as many rungs, and need about as much memory.

    The peak is that of the first pass: its table, a mark for each of its entries, and the keys of a block. The records
    that are kept for a second look are fewer than these.
    """
    few, many = work(CALLS[name], VALUES), work(CALLS[name], np.tile(VALUES, 4) * np.linspace(1, 1.0001, 4 * N))
    assert many.passes <= few.passes + 1 and many.weighed <= 1.5 * few.weighed and many.peak <= few.peak + 2**20


@pytest.mark.parametrize("name", [name for name in CALLS if name != "describe"])
def test_few_records_are_read_once(name):
    """Whatever noise decides: what every later look needs is kept, in order."""
    assert work(CALLS[name], VALUES[:1000]).passes == 1


@pytest.mark.medium
def test_few_draws_need_a_pass_more():
    """Coarse counts decide the centre and the scale of most medians; the others take a pass or two more."""
    passes = [
        work(
            lambda data, seed=seed, **options: nb.quantile(data, 0.5, **(options | {"rng": random.Random(seed)})),
            VALUES,
        ).passes
        for seed in range(40)
    ]
    assert min(passes) == 2 and sum(passes) <= 2.5 * len(passes) and max(passes) <= 6


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
