"""Rows that count of each unit: those that a loop over units in Python keeps, and no more sorting than is needed."""

from collections import Counter
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nobounds.engines.rows import unit_rows
from nobounds.engines.rows.unit_rows import KeyOrder, UnitRows, chosen, key_words, mixed, of_groups, starts, words
from nobounds.engines.source import Bounding

values = st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 5e-324, 2.0, 3.0, np.inf])
rows_of = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), values, st.just(np.nan) | values), min_size=1, max_size=40
)


def by_a_loop(rows, keys, bounding):
    """The rule, one unit after the other; rows are counted by what they hold."""
    kept = Counter()
    hashed = key_words((keys,))
    names = keys.to_pylist()
    for unit in {row[0] for row in rows}:
        own = [row for row in rows if row[0] == unit]
        word = words(pa.array([unit]))

        def place(group, word=word):
            return int(of_groups(word, hashed[[group]], bounding.salt)[0]), names[group]

        groups = sorted({row[1] for row in own}, key=place)[: min(bounding.groups, bounding.rows)]
        if bounding.groups < bounding.rows:
            own = [row for row in own if row[1] in groups]
        own.sort(key=lambda row: (names[row[1]], row[2], np.isnan(row[3]), row[3]))
        r, m, start = len(own), bounding.rows, int(starts(word, bounding.salt)[0])
        some = [row for j, row in enumerate(own) if r <= m or (j * m + start % r) % r < m]
        assert len(some) == min(r, m)
        kept.update(shown(row) for row in some)
    return kept


def shown(row):
    """A row as it counts: -0.0 is 0.0, and all NaN are one."""
    return (row[0], row[1], row[2] + 0.0, str(row[3] + 0.0))


@pytest.mark.medium
@settings(deadline=None)
@given(rows_of, st.integers(1, 12), st.integers(1, 5), st.integers(0, 2**62), st.sampled_from([1, 10**12]))
def test_the_rows_are_those_of_a_loop(rows, most, groups, salt, apart):
    """With units that are near to each other or far apart, keys in any order, and two columns of values."""
    bounding, keys = Bounding("u", most, groups, salt), pa.array(["d", "a", "c", "b"], type=pa.large_string())
    rows = [(row[0] * apart, *row[1:]) for row in rows]
    units, codes = pa.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    data = UnitRows(units, codes, [np.array([row[k] for row in rows]) for k in (2, 3)])
    kept, numbers = chosen(data, KeyOrder.of((keys,)), bounding)
    assert Counter(shown(rows[k]) for k in kept.tolist()) == by_a_loop(rows, keys, bounding)
    assert len(set(kept.tolist())) == len(kept)
    pairs = {(row[0], n) for row, n in zip(rows, numbers.tolist(), strict=True)}
    assert len(pairs) == len(set(numbers.tolist())) == len({row[0] for row in rows})


@given(st.lists(st.binary(max_size=9), min_size=1), st.integers(0, 3))
def test_the_hash_of_a_text_is_its_own(texts, cut):
    """It depends on the bytes of that element alone, not on those beside it, and different ones differ."""
    array = pa.array(texts, pa.large_binary())
    hashed = words(array).tolist()
    assert hashed == [int(words(pa.array([text], pa.large_binary()))[0]) for text in texts]
    assert words(array[cut:]).tolist() == hashed[cut:]
    assert len(set(hashed)) == len(set(texts))


def test_numbers_are_mixed_one_to_one():
    """The published values of SplitMix64 from the state 0, and no two of many numbers alike."""
    golden = 0x9E3779B97F4A7C15
    states = np.array([(k * golden) % 2**64 for k in range(3)], dtype=np.uint64)
    assert mixed(states).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert len(np.unique(mixed(np.arange(10**5, dtype=np.uint64)))) == 10**5


def sorted_rows(sizes, most):
    """How many rows are sorted, all passes together."""
    units = pa.array(np.repeat(np.arange(len(sizes)), sizes))
    data = UnitRows(units, np.zeros(len(units), dtype=np.int64), [np.arange(len(units), dtype=np.float64)])
    with (
        mock.patch.object(unit_rows, "_in_order", wraps=unit_rows._in_order) as first,
        mock.patch.object(unit_rows.np, "lexsort", wraps=np.lexsort) as again,
    ):
        chosen(data, KeyOrder.of(()), Bounding("u", most, most, 1))
    return [len(call.args[0]) for call in first.call_args_list], again.call_count


def test_only_rows_of_units_with_more_rows_are_sorted():
    """None if no unit has more; else those of such units, once."""
    assert sorted_rows([3] * 1000, 3) == ([], 0)
    assert sorted_rows([3] * 1000 + [7], 3) == ([7], 0)


@pytest.mark.parametrize("values", ["far", "close", "close, and one far away", "few", "two columns", "none"])
@pytest.mark.parametrize(("many", "groups"), [(1, 1), (40, 1), (40, 9), (40, 1 << 40), (40, 1 << 60)])
def test_rows_are_in_the_order_of_unit_key_and_values_to_the_last_bit(values, many, groups):
    """Also where values differ in their last bits alone, and where units and keys leave no room for a value."""
    rng, size = np.random.default_rng(3), 2000
    units, codes = rng.integers(0, many, size), rng.integers(0, min(groups, 9), size)
    close = 1 + rng.permutation(size) * 2.0**-52
    columns = {
        "far": [rng.normal(0, 9, size)],
        "close": [close],
        "close, and one far away": [np.append(close[1:], -np.inf)],
        "few": [np.round(rng.normal(0, 9, size), 1)],
        "two columns": [np.round(rng.normal(size=size)), close],
        "none": [],
    }[values]
    keys = rng.permutation(groups) if groups < 10 else np.broadcast_to(np.int8(0), groups)
    by = unit_rows._Sorted(units, np.arange(many), codes, keys, columns)
    found = unit_rows._in_order(np.arange(size), by)
    places = keys[codes]
    wanted = np.lexsort((*reversed(columns), places, units))
    assert np.array_equal(np.sort(found), np.arange(size))
    for array in (units, places, *columns):
        assert np.array_equal(array[found], array[wanted])


@given(st.integers(1, 30), st.integers(1, 9))
def test_a_unit_keeps_rows_that_are_evenly_spread(rows, most):
    """Row j of r if (j * most + start) mod r < most: that many rows of each unit, beside others, at any start."""
    start = np.arange(rows + most)
    found = unit_rows._evenly(np.full(len(start), len(start)), start, most)
    wanted = [j + len(start) * s for s in start for j in start if (j * most + s) % len(start) < most]
    assert found.tolist() == wanted
    assert len(found) == most * len(start)
