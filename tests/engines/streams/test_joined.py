"""Columns of public tables, looked up by key."""

import numpy as np
import pyarrow as pa
import pytest

from nobounds.engines.open import open_stream
from nobounds.engines.streams.joined import joined
from nobounds.engines.streams.selected import selected
from nobounds.expressions.statements.relation import Lookup

ROWS = pa.table({"zone": pa.array([2, 1, None, 7, 2]), "part": list("aabba"), "fare": [1.0, 2.0, 3.0, 4.0, 5.0]})
ZONES = pa.table({"id": pa.array([1, 2, None]), "part": list("aab"), "side": list("ewx"), "price": [10.0, 20.0, 30.0]})


def read(stream, keys, values):
    table = pa.Table.from_batches(list(stream.batches(keys, values)))
    return [column.to_pylist() for column in table.columns]


def test_each_row_stays_one_row():
    """A row whose key is missing, or is not in the public table, gets missing values."""
    lookup = Lookup("zones", (("zone", "id"),), {"side": "side", "price": "price", "id": "id"})
    stream = joined(open_stream(ROWS), open_stream(ZONES), lookup)
    sides, fares, prices = read(stream, ["side"], ["fare", "price"])
    assert sides == ["w", "e", None, None, "w"] and fares == [1, 2, 3, 4, 5]
    assert prices[:2] == [20, 10] and np.isnan(prices[2:4]).all() and prices[4] == 20
    assert stream.rows() == 5 and stream.facts["price"].nullable and stream.others["side"] == "text"


def test_keys_may_have_several_columns():
    """All of them must be equal."""
    lookup = Lookup("zones", (("zone", "id"), ("part", "part")), {"side": "side"})
    assert read(joined(open_stream(ROWS), open_stream(ZONES), lookup), ["side"], []) == [["w", "e", None, None, "w"]]


def test_the_key_must_be_unique_in_the_public_table():
    """Otherwise one row would become several; missing keys meet nothing and may repeat."""
    with pytest.raises(ValueError, match="unique in the public table, and part is not"):
        joined(open_stream(ROWS), open_stream(ZONES), Lookup("zones", (("part", "part"),), {"side": "side"}))
    twice = pa.concat_tables([ZONES.slice(0, 2), ZONES.slice(2), ZONES.slice(2)])
    joined(open_stream(ROWS), open_stream(twice), Lookup("zones", (("zone", "id"),), {"side": "side"}))


def test_keys_of_another_type_are_refused():
    """By the types and the public table alone."""
    with pytest.raises(TypeError, match="of the type of 'zone', which is int64"):
        joined(open_stream(ROWS), open_stream(ZONES), Lookup("zones", (("zone", "side"),), {"id": "id"}))


def test_an_empty_public_table_matches_nothing():
    """Every row stays."""
    lookup = Lookup("zones", (("zone", "id"),), {"side": "side"})
    stream = joined(open_stream(ROWS), open_stream(ZONES.slice(0, 0)), lookup)
    assert read(stream, ["side"], ["fare"]) == [[None] * 5, [1, 2, 3, 4, 5]]


def test_columns_are_selected_under_new_names():
    """Facts and types go with them, and what is not selected is not there."""
    stream = selected(open_stream(ROWS), {"cost": "fare", "fare": "zone"})
    assert list(stream.facts) == ["cost", "fare"] and not stream.others
    assert read(stream, ["fare"], ["cost"]) == [[2, 1, None, 7, 2], [1, 2, 3, 4, 5]]
