"""Answers in files: what is read back is what was answered, whole or not at all, and no cell is a formula."""

import csv
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nobounds as nb
from nobounds.release.files import cell_text, replacing
from nobounds.release.grouped import GroupedRelease

LOSS = nb.PrivacyLoss.pure(1)
EVIL = ["=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1", 'a"b', "a,b", "<script>", ""]


def by(keys, name="k"):
    return GroupedRelease("sum", (name,), (pa.array(keys),), np.arange(len(keys)) - 2.5, LOSS)


def test_a_csv_file_has_no_formula(tmp_path):
    """Texts that a spreadsheet would run get an apostrophe, names of columns too; numbers stay as they are."""
    path = tmp_path / "out.csv"
    by(EVIL, "=name").to_csv(path)
    with path.open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["'=name", "sum"]
    assert [row[0].removeprefix("'") for row in rows] == EVIL
    assert not any(row[0].startswith(tuple("=+-@\t\r\n\uff1d")) for row in rows)
    assert [float(row[1]) for row in rows] == [k - 2.5 for k in range(len(EVIL))]


@given(st.text() | st.floats(allow_nan=False) | st.integers())
def test_a_cell_keeps_its_value(cell):
    """Numbers have all digits; a text is itself, or itself behind an apostrophe."""
    text = cell_text(cell)
    assert type(cell)(text) == cell if not isinstance(cell, str) else text.removeprefix("'") == cell.removeprefix("'")


def test_csv_and_parquet_read_back(tmp_path):
    """The frame that comes back is the frame of the answer."""
    release = nb.Release("quantiles", (0.1 + 0.2, None), LOSS, {"q": ["1/2", "9/10"]}, (), "too few rows")
    for answer in (release, by(["a", "b"])):
        answer.to_csv(tmp_path / "out.csv")
        answer.to_parquet(tmp_path / "out.parquet")
        frame = answer.to_pandas()
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out.csv"), frame, check_dtype=False)
        assert pq.read_table(tmp_path / "out.parquet").equals(answer.to_arrow())


def test_a_description_is_written_in_rows(tmp_path):
    """A row for each number, so that intervals, reasons and costs are in the file."""
    days = pa.array(np.arange(2000), pa.int32()).cast(pa.date32())
    described = nb.Table({"x": np.arange(2000) - 1000, "day": days}).describe(epsilon=5)
    described.to_csv(tmp_path / "out.csv")
    described.to_parquet(tmp_path / "out.parquet")
    rows = pd.read_csv(tmp_path / "out.csv", dtype=str).set_index(["column", "statistic"])
    assert float(rows.loc[("x", "min"), "value"]) == described["x"].values["min"] < 0
    assert rows.loc[("day", "50%"), "value"] == described["day"].values["50%"].isoformat()
    assert pq.read_table(tmp_path / "out.parquet").equals(described.to_arrow(long=True))


def test_a_file_is_replaced_as_a_whole(tmp_path):
    """If writing fails, the file that was there stays, and nothing is left beside it."""
    path = tmp_path / "out.csv"
    by(["a"]).to_csv(path)
    before = path.read_text()
    with pytest.raises(RuntimeError), replacing(path) as unfinished:
        unfinished.write_text("half")
        raise RuntimeError
    assert path.read_text() == before and list(tmp_path.iterdir()) == [path]
    by(["b"]).to_csv(path)
    assert "b," in path.read_text() and json.loads(by(["b"]).to_json())["keys"] == {"k": ["b"]}
