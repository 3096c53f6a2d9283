"""The options of statistics: numbers by column, and what groups cannot be combined with."""

import pytest

from nobounds.cli.options.answers import GroupOptions, KeyOptions, SearchOptions, WalkOptions, listed, per_column


def test_numbers_are_for_all_columns_or_for_each():
    """A mixture of both is refused, and none is None."""
    assert per_column("lower", None) is None and per_column("lower", ["0"]) == "0"
    assert per_column("lower", ["age=0", "a=b=1"]) == {"age": "0", "a=b": "1"}
    with pytest.raises(ValueError, match="NAME=NUMBER each time"):
        per_column("lower", ["0", "age=1"])


def test_values_stand_between_commas():
    """With or without blanks."""
    assert listed("1, 2,3") == ["1", "2", "3"] and listed(None) is None


def test_groups_need_their_keys_in_one_way():
    """Public ones or a delta, and not both."""
    with pytest.raises(ValueError, match=r"--by needs the groups: .*--keys or --keys-file .*--delta"):
        GroupOptions(["region"])
    with pytest.raises(ValueError, match="give one of --keys, --keys-file and --delta, got --keys and --delta"):
        GroupOptions(["region"], keys=["a"], delta="1e-6")


def test_values_can_be_counted_in_groups_whose_keys_are_public_or_not():
    """One delta is for the values and for the groups."""
    assert KeyOptions(keys=["a"]).groups(1) is None
    assert KeyOptions(delta="1e-6", by=["region"]).groups(1) == GroupOptions(["region"], delta="1e-6")
    with pytest.raises(ValueError, match="--by-keys needs --by"):
        KeyOptions(keys=["a"], by_keys=["b"]).groups(1)


def test_groups_take_an_interval_and_no_method():
    """Those are the keywords of a single answer."""
    alone, by = GroupOptions(), GroupOptions(["region"], keys=["a"])
    assert set(SearchOptions().keywords(by, WalkOptions())) == {"interval", "of", "guarantee"}
    assert {"method", "rows", "beta", "noise"} <= set(SearchOptions().keywords(alone, WalkOptions()))
    assert WalkOptions().refuse_groups(by) == {} and WalkOptions(beta="1.1").refuse_groups(alone)["beta"] == "1.1"
    for wrong in (SearchOptions(method="walk"), SearchOptions(rows="9")):
        with pytest.raises(ValueError, match="--by cannot be combined with"):
            wrong.keywords(by, WalkOptions())
    with pytest.raises(ValueError, match="--by cannot be combined with"):
        WalkOptions(noise="gumbel").refuse_groups(by)
