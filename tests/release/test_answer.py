"""Every answer can be explained and written, by the end of a file's name."""

import json

import numpy as np
import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.release.answer import Answer, write
from nobounds.release.grouped import GroupedRelease
from nobounds.release.several import cells, together, total, write_all

LOSS = nb.PrivacyLoss.pure(1)
RELEASE = nb.Release("count", 12, LOSS, {"column": "a"}, ((9.0, 15.0),))
GROUPS = GroupedRelease("count", ("k",), (pa.array(["a", "b"]),), np.array([3, 4]), LOSS)


@pytest.mark.medium
@pytest.mark.parametrize("answer", [RELEASE, GROUPS, nb.describe({"x": np.arange(900)}, epsilon=1)])
def test_an_answer_explains_itself(answer, tmp_path):
    """As `nobounds.explain` does; and its JSON file is its JSON."""
    assert isinstance(answer, Answer)
    assert answer.explain(n=1000).text() == nb.explain(answer, n=1000).text()
    write(answer, tmp_path / "out.JSON")
    assert json.loads((tmp_path / "out.JSON").read_text()) == json.loads(answer.to_json())
    write(answer, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().count("\n") > 1


def test_several_releases_are_one_file(tmp_path):
    """Their rows are below each other, and their losses add up."""
    other = nb.Release("count", 13, LOSS, {"column": "b"}, ((10.0, 16.0),))
    assert total([RELEASE, other]).epsilon == 2 == together([RELEASE, other])["loss"]["epsilon"]
    write_all([RELEASE, other], tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines == ["column,statistic,value,low,high,reason", "a,count,12,9.0,15.0,", "b,count,13,10.0,16.0,"]


def counted(*by):
    """A release that counts the values of the last of these columns, each of which has keys of its own."""
    keys = tuple(pa.array([f"{name} 1", f"{name} 2"]) for name in by)
    return GroupedRelease("value_counts", by, keys, np.array([3, 4]), LOSS, {}, np.array([[2.0, 4.0], [3.0, 5.0]]))


@pytest.mark.parametrize("names", [("low", "age"), ("age", "low"), ("value_counts", "high"), ("column", "value")])
def test_counted_columns_may_be_called_like_ours(names):
    """Their values are in `value`, so all other columns keep their names and have an entry in each row."""
    table = cells([counted(name) for name in names])
    assert table == {
        "column": [names[0], names[0], names[1], names[1]],
        "value": [f"{name} {k}" for name in names for k in (1, 2)],
        "value_counts": [3, 4, 3, 4],
        "low": [2.0, 3.0, 2.0, 3.0],
        "high": [4.0, 5.0, 4.0, 5.0],
    }


@pytest.mark.parametrize(
    ("by", "shown"),
    [
        (["column", "column_key"], ["private_column_key", "column_key"]),
        (["column_key", "column"], ["column_key", "private_column_key"]),
        (["value", "private_value"], ["value", "private_value"]),
        (["low", "column"], ["low", "column_key"]),
    ],
    ids=str,
)
def test_every_key_has_a_column_of_its_own(by, shown, tmp_path):
    """Also where the names of the groups are those of our columns; in Parquet as in CSV."""
    import pyarrow.parquet as pq

    releases = [counted(*by, name) for name in ("age", "city")]
    table = cells(releases)
    assert list(table)[:3] == ["column", *shown]
    assert [table[name] for name in shown] == [[f"{name} 1", f"{name} 2"] * 2 for name in by]
    (values,) = (name for name, column in table.items() if column == ["age 1", "age 2", "city 1", "city 2"])
    assert values == ("private_private_value" if "value" in by else "value")
    assert None not in [cell for column in table.values() for cell in column]
    write_all(releases, tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == table


def test_means_by_groups_called_column_keep_their_keys():
    """As counted values do."""
    keys = (pa.array(["x"]), pa.array(["y"]))
    means = [
        GroupedRelease("mean", ("column", "column_key"), keys, np.array([3]), LOSS, {"column": name}) for name in "ab"
    ]
    assert cells(means) == {
        "column": ["a", "b"],
        "private_column_key": ["x", "x"],
        "column_key": ["y", "y"],
        "mean": [3, 3],
    }
