"""Columns of no declared type: read as numbers where a statistic names them, and marked where hardly any are."""

import random
import re

import pytest

import nobounds as nb
from nobounds.release.words import NO_SPREAD, ONE_VALUE, TOO_FEW, TOO_FEW_NUMBERS
from nobounds.tables.opened import OpenedTable

ROWS = 3000
ASKED = {
    "quantile": lambda table, name, **options: table.quantile(name, 0.5, **options),
    "interval": lambda table, name, **options: table.quantile(name, 0.5, interval=0.9, **options),
    "quantiles": lambda table, name, **options: table.quantiles(name, [0.1, 0.5], **options),
    "maximum": lambda table, name, **options: table.maximum(name, **options),
    "bounds": lambda table, name, **options: table.bounds(name, **options),
    "sum": lambda table, name, **options: table.sum(name, **options),
    "mean": lambda table, name, **options: table.mean(name, **options),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A CSV file with a column of names, one of numbers and one of groups."""
    path = tmp_path_factory.mktemp("opened") / "people.csv"
    path.write_text("name,age,city\n" + "".join(f"Ann {k},{20 + k % 50},{k % 3}\n" for k in range(ROWS)))
    return path


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("statistic", ASKED)
def test_a_column_of_texts_is_marked_and_not_answered_by_0(path, statistic, neighbors):
    """Its release carries the noisy number of values that could be read; numbers are answered beside that number."""
    table = nb.Table(path, csv=nb.Csv(header=True), neighbors=neighbors)
    names = ASKED[statistic](table, "name", epsilon=2, rng=random.Random(1))
    assert names.value in (None, (None, None)) and names.reason == TOO_FEW_NUMBERS
    assert 0 <= names.parameters["values_read"] < 100
    assert "too few numbers: about" in re.sub(r"\s+", " ", str(nb.explain(names)))
    ages = ASKED[statistic](table, "age", epsilon=2, rng=random.Random(1))
    assert ages.reason is None and abs(ages.parameters["values_read"] - ROWS) < ROWS / 5  # a size is rounded
    said = (
        f"About {ages.parameters['values_read']:,} of its values are numbers; how many others are left out is unknown."
    )
    assert said in re.sub(r"\s+", " ", str(nb.explain(ages)))
    declared = nb.Table(path, csv=nb.Csv(header=True), schema={"age": "integer"}, neighbors=neighbors)
    few = ASKED[statistic](declared, "age", epsilon="0.001", rng=random.Random(1))
    assert few.reason == TOO_FEW and "values_read" not in few.parameters


def test_numbers_of_one_value_are_not_called_too_few(tmp_path):
    """More of them would not help, whatever type the column has."""
    path = tmp_path / "heap.csv"
    path.write_text("age\n" + "7.5\n" * 3000)
    table = nb.Table(path, csv=nb.Csv(header=True))
    reasons = {table.mean("age", epsilon=1, rng=random.Random(seed)).reason for seed in range(4)}
    assert reasons <= {NO_SPREAD, ONE_VALUE}


@pytest.mark.medium
def test_summaries_and_groups_say_the_same(path):
    """Cells and groups without an answer."""
    table = nb.Table(path, csv=nb.Csv(header=True))
    described = table.describe(["name", "age"], epsilon=2, rng=random.Random(1))
    assert set(described.columns["name"].reasons.values()) == {TOO_FEW_NUMBERS} and not described.columns["age"].reasons
    assert f"Empty cells: {TOO_FEW_NUMBERS} for the epsilon." in str(described)
    groups = table.group_by("city", keys=["0", "1", "2"]).mean("name", epsilon=2, rng=random.Random(1))
    assert set(groups.reasons) == {TOO_FEW_NUMBERS} and groups.values.mask.all()


def test_types_are_those_of_a_schema(path):
    """What `columns` says is public, in the words of a schema."""
    table = nb.Table(path, csv=nb.Csv(header=True), schema={"age": "decimal(5,1)", "city": "boolean"})
    assert table.columns == {"name": "text that may be numbers", "age": "decimal(5,1)", "city": "boolean"}
    assert OpenedTable.columns.__doc__
