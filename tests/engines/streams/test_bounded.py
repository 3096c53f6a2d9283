"""Where the rows of units are chosen: in memory, and in DuckDB if they are many."""

import random
from unittest import mock

import numpy as np
import pytest

import nobounds as nb
from nobounds.engines.streams import bounded

DATA = {"u": np.repeat(np.arange(100), 7), "g": np.arange(700) % 3, "x": np.arange(700.0)}


@pytest.mark.parametrize(("held", "queries"), [(700, 0), (699, 1), (0, 1)])
def test_few_rows_need_no_database(held, queries):
    """One query chooses the rows of a large table, and none those of a small one; the answers are the same."""
    table = nb.Table(DATA, unit="u", rows_per_unit=2)
    asked = [
        lambda rng: table.sum("x", epsilon=1, rng=rng),
        lambda rng: table.group_by("g", keys=range(3)).count(epsilon=1, rng=rng),
        lambda rng: table.group_by("g", delta=1e-6).mean("x", epsilon=5, rng=rng),
    ]
    for ask in asked:
        expected = ask(random.Random(5))
        with (
            mock.patch.object(bounded, "MOST", held),
            mock.patch.object(bounded, "queried", wraps=bounded.queried) as queried,
        ):
            assert repr(ask(random.Random(5))) == repr(expected)
        assert queried.call_count == queries
