"""Every answer can be explained and written, by the end of a file's name."""

import json

import numpy as np
import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.release.answer import Answer, write
from nobounds.release.grouped import GroupedRelease
from nobounds.release.several import together, total, write_all

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
