"""Records by group: each row in its group, and no other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nobounds.engines.grouped import GroupedRecords
from nobounds.ladders.facts import Facts

KEYS = (np.arange(4),)
ROWS = st.lists(st.tuples(st.integers(-1, 3), st.floats(allow_nan=False, allow_infinity=False)), max_size=30)


@given(ROWS, st.integers(1, 7))
def test_every_record_is_in_its_group(rows, size):
    """Whatever the batches; a group without rows has columns without records, and rows of no group are left out."""
    batches = []
    for start in range(0, len(rows), size):
        groups = np.array([group for group, _ in rows[start : start + size]], dtype=np.int64)
        batches.append((groups, {"x": np.array([value for _, value in rows[start : start + size]])}))
    records = GroupedRecords.of(KEYS, np.zeros(4, dtype=np.int64), batches, ["x"])
    facts = {"x": Facts(False, True)}
    for group in range(4):
        column = records.group(group, facts)["x"]
        inside = [value for own, value in rows if own == group]
        assert np.concatenate([np.zeros(0), *column.chunks()]).tolist() == inside
        assert column.rows() == len(inside)
    some = records.only(np.array([2, 0]), ())
    assert some.columns["x"].tolist() == [value for own in (2, 0) for group, value in rows if group == own]


def test_records_are_not_shown():
    """The repr hides them."""
    records = GroupedRecords.of(KEYS, np.zeros(4, dtype=np.int64), [(np.array([0]), {"x": np.array([31.0])})], ["x"])
    assert repr(records) == "GroupedRecords(hidden)"
