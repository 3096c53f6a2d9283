"""Streams of Arrow batches: each batch is kept as it came."""

import random

import numpy as np
import pyarrow as pa

import nobounds as nb

BATCHES, SIZE = 20, 500
SCHEMA = pa.schema([("x", pa.float64()), ("user", pa.int64()), ("group", pa.int64())])


def reader(reuse):
    """Batch k holds the value k; with `reuse` all batches are filled into the same memory, one after the other."""

    def batches():
        x, user, group = np.empty(SIZE), np.empty(SIZE, np.int64), np.empty(SIZE, np.int64)
        for k in range(BATCHES):
            x[:], user[:], group[:] = k, np.arange(SIZE) + k * SIZE, k % 2
            columns = (x, user, group) if reuse else (x.copy(), user.copy(), group.copy())
            yield pa.record_batch([pa.array(column) for column in columns], schema=SCHEMA)

    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


def answers(reuse):
    """A mean of the rows, of users and by group."""
    options = {"epsilon": 50, "lower": 0, "upper": 20, "rng": random.Random(1)}
    users = nb.Table(reader(reuse), unit="user", rows_per_unit=1)
    groups = nb.Table(reader(reuse)).group_by("group", keys=[0, 1])
    return [
        nb.Table(reader(reuse)).mean("x", **options).value,
        users.mean("x", **options).value,
        *groups.mean("x", **options).values,
    ]


def test_memory_that_is_filled_again_changes_no_batch():
    """A row counts once, also where the maker of the stream uses the memory of a batch again for the next one."""
    assert answers(reuse=True) == answers(reuse=False)
    np.testing.assert_allclose(answers(reuse=True), [9.5, 9.5, 9, 10], atol=0.01)
