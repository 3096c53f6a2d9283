"""The options about the text of files become a dialect and a schema; what is not given stays unstated."""

import pytest

import nobounds as nb
from nobounds.cli.options.text import Text


def test_nothing_given_states_nothing():
    """Neither a dialect nor a schema."""
    assert Text().csv is None and Text().stated is None


def test_marks_have_names():
    """tab and none are words for what is hard to type."""
    dialect = Text(delimiter="tab", quote="none", header="yes", na=["NA"]).csv
    assert dialect == nb.Csv(header=True, delimiter="\t", quote=None, missing=("NA",))
    with pytest.raises(ValueError, match="--header must be yes or no, got 'true'"):
        Text(header="true").csv  # noqa: B018 - refuses


def test_a_type_is_given_once():
    """Which of two would be meant is not known."""
    with pytest.raises(ValueError, match="--type must be given once for each column"):
        Text(type=["age=integer", "age=text"]).stated  # noqa: B018 - refuses
