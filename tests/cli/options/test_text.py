"""The options about the text of files become a dialect and a schema; what is not given stays unstated."""

import pytest

import nobounds as nb
from nobounds.cli.options.text import Text


def test_nothing_given_states_nothing():
    """Neither a dialect nor a schema, and no name may be shown."""
    assert Text().csv is None and Text().stated is None and Text().shown == frozenset()


def test_marks_have_names():
    """tab and none are words for what is hard to type."""
    dialect = Text(delimiter="tab", quote="none", header="yes", na=["NA"]).csv
    assert dialect == nb.Csv(header=True, delimiter="\t", quote=None, missing=("NA",))
    with pytest.raises(ValueError, match="--header must be yes or no, got 'true'"):
        Text(header="true").csv  # noqa: B018 - refuses


def test_names_are_shown_after_a_header_or_if_they_are_declared():
    """None stands for all of them."""
    assert Text(header="yes").shown is None and Text(type=["age=integer"]).shown == {"age"}
    with pytest.raises(ValueError, match="--type must be given once for each column"):
        Text(type=["age=integer", "age=text"]).stated  # noqa: B018 - refuses
