"""The evaluator is the loop over Python values, for random expressions on odd values of each type."""

import random

import pyarrow as pa
import pytest
from support import filters

from nobounds.expressions.check import checked, formula
from nobounds.expressions.evaluate import Rows, computed, evaluate, kept
from nobounds.expressions.sql import parsed
from nobounds.expressions.text import text
from nobounds.expressions.tree import Literal
from nobounds.expressions.types import of_arrow

COLUMNS = filters.records(150)
TABLE = filters.arrow(COLUMNS)
TYPES = {field.name: of_arrow(field.type) for field in TABLE.schema}
ROWS = Rows({name: TABLE[name].combine_chunks() for name in TABLE.column_names}, {}, len(TABLE))
RECORDS = TABLE.to_pylist()


@pytest.mark.medium
@pytest.mark.parametrize("seed", range(5))
def test_random_conditions_are_those_of_a_loop(seed):
    """True, false or null in the same rows; 100 conditions each."""
    writer = filters.Writer(seed)
    for _ in range(100):
        node = writer.condition()
        tree, _kind = checked(node, TYPES)
        values = evaluate(tree, ROWS)
        found = [bool(x) if valid else None for x, valid in zip(values.data, values.valid, strict=True)]
        assert found == [filters.value(node, row) for row in RECORDS], text(node)


@pytest.mark.parametrize("kind", filters.KINDS)
def test_random_formulas_are_those_of_a_loop(kind):
    """To the last bit, and in the Arrow type that was promised."""
    writer = filters.Writer(7)
    for _ in range(60):
        node = writer.value(kind, 3)
        if isinstance(node, Literal):
            continue
        tree, known = formula(node, TYPES)
        array = computed(tree, ROWS)
        expected = [filters.value(node, row) for row in RECORDS]
        if known.name == "number":
            expected = [None if x is None else float(x) for x in expected]
        assert of_arrow(array.type) == known
        assert array.to_pylist() == expected, text(node)


@pytest.mark.medium
def test_the_text_of_a_random_expression_is_read_back_as_it():
    """Parsing undoes writing."""
    writer = filters.Writer(99)
    for _ in range(200):
        node = writer.condition(4)
        again = parsed(text(node))
        assert parsed(text(again)) == again
        first, _ = checked(node, TYPES)
        second, _ = checked(again, TYPES)
        assert (kept(first, ROWS) == kept(second, ROWS)).all(), text(node)


def test_a_row_alone_decides():
    """The same value in any batch and any order."""
    writer = filters.Writer(5)
    order = list(range(len(TABLE)))
    random.Random(1).shuffle(order)
    shuffled = TABLE.take(pa.array(order[:37]))
    rows = Rows({name: shuffled[name].combine_chunks() for name in TABLE.column_names}, {}, 37)
    none = Rows({name: shuffled[name].combine_chunks()[:0] for name in TABLE.column_names}, {}, 0)
    for _ in range(60):
        tree, _ = checked(writer.condition(), TYPES)
        whole = kept(tree, ROWS)
        assert kept(tree, rows).tolist() == whole[order[:37]].tolist()
        assert kept(tree, none).tolist() == []
