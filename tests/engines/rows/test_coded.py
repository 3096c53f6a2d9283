"""Rows by group in this process: the sums of groups, and how often the data are read for them."""

import random
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.engines.memory.tables import from_memory
from nobounds.engines.rows.coded import CodedRows
from nobounds.engines.source import Keyed
from nobounds.engines.streams.local import Local

ROWS = 200_000


def coded(codes, values):
    """The rows of four groups, read in parts of three."""
    records = np.array(values)
    return CodedRows(
        (pa.array("abcd"),),
        np.bincount(np.array(codes)[np.array(codes) >= 0], minlength=4),
        np.array(codes, dtype=np.int32),
        lambda: (records[k : k + 3] for k in range(0, len(records), 3)),
    )


def test_some_groups_are_numbered_anew():
    """Rows of other groups are in none, and the records are those of the rows that are left."""
    rows = coded([0, 2, -1, 3, 2, 1, 0], [1.0, 2.0, np.nan, 4.0, 5.0, 6.0, 7.0])
    some = rows.only(np.array([2, 0]), (pa.array("ca"),))
    assert some.totals()[0].tolist() == some.units.tolist() == [2, 2]
    counts, (sums,) = some.totals(lambda values: values.astype(np.int64))
    assert (counts.tolist(), sums.tolist()) == ([2, 2], [7, 8])
    assert np.concatenate(list(some.records())).tolist() == [1.0, 2.0, 5.0, 7.0]
    assert np.concatenate(list(rows.records())).tolist() == [1.0, 2.0, 4.0, 5.0, 6.0, 7.0]
    assert repr(rows) == "CodedRows(hidden)"


def counted(data, again):
    """A table that counts its passes over keys and over values."""
    stream, passes = from_memory(data), Counter()

    def batches(keys, values):
        passes["keys"] += 1
        return stream.batches(keys, values)

    def columns(names):
        def read(column):
            passes["values"] += 1
            return column.chunks()

        return {name: replace(each, chunks=partial(read, each)) for name, each in stream.again(names).items()}

    return Local(replace(stream, batches=batches, again=columns if again else None)), passes


@pytest.mark.parametrize("unit", [None, "u"])
@pytest.mark.parametrize("again", [True, False])
def test_keys_are_read_once_and_values_a_few_times(unit, again):
    """A count reads once; a sum reads keys once, and values for its clip and once for all sums."""
    rng = np.random.default_rng(1)
    data = {"g": rng.integers(0, 50, ROWS), "u": rng.integers(0, ROWS // 4, ROWS), "x": rng.lognormal(size=ROWS)}
    for statistic, values in (("count", 0), ("sum", 5), ("mean", 6)):
        local, passes = counted(data, again)
        options = {} if unit is None else {"unit": unit, "rows_per_unit": 3}
        table = nb.Table(data, **options)
        object.__setattr__(table._opened, "held", local)
        groups = table.group_by("g", keys=range(50))
        column = () if statistic == "count" else ("x",)
        getattr(groups, statistic)(*column, epsilon=1, rng=random.Random(1))
        assert passes["keys"] == 1
        assert passes["values"] <= (values if again and unit is None else 0)


def test_a_second_pass_does_not_see_rows_of_another_read():
    """Codes and records stay those of the same rows: rows that are read once are kept."""
    local = Local(replace(from_memory({"g": ["a", "b", "a"], "x": [1.0, 2.0, 4.0]}), again=None))
    rows = local.rows("x", Keyed(("g",)), None)
    for _ in range(2):
        assert rows.totals(lambda values: values.astype(np.int64))[1][0].tolist() == [5, 2]
