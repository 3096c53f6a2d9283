"""Classes: one record of each class and their number give the result of all records."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pushed import FLOATS, PASSES, same

from nobounds.counting.classes import Classes
from nobounds.ladders.rungs import Edges

CLASSED = [each for each in PASSES if getattr(each, "classes", None) is not None]


def class_of(classes, value):
    """The class of a record, by numpy."""
    if np.isnan(value):
        return None
    if classes.edges is not None:
        return tuple(int(np.searchsorted(np.array(classes.edges), value, side)) for side in ("left", "right"))
    if classes.ladder is None:
        return value + 0.0
    far = np.array([value])
    away = far if classes.deviation is None else classes.deviation(far)
    return None if np.isnan(away[0]) else int(classes.ladder.rungs(away)[0])


@pytest.mark.parametrize("number", range(len(CLASSED)))
@given(st.lists(FLOATS.map(lambda x: np.nan if x is None else x), min_size=1, max_size=30))
def test_one_record_of_each_class_is_enough(number, values):
    """With the number of records in the class; where a pass looks at intervals, of the records in these."""
    each = CLASSED[number]
    classes = each.classes
    chosen = {}
    for value in values:
        edges = None if classes.spans is None else classes.spans.edges
        inside = edges is None or any(a <= value <= b for a, b in zip(edges[::2], edges[1::2], strict=True))
        if inside:
            chosen.setdefault(class_of(classes, value), []).append(value)
    some = np.array([group[0] for group in chosen.values()])
    counts = np.array([len(group) for group in chosen.values()], dtype=np.int64)
    assert same(each([(some, counts)]), each([np.array(values)]))


def test_what_tells_records_apart_is_hidden():
    """Spans are sensitive."""
    assert repr(Classes(edges=(1.0,))) == "Classes(hidden)"
    assert any(isinstance(each.classes.ladder.map, Edges) for each in CLASSED if each.classes.ladder is not None)
