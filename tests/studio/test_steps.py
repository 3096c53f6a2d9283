"""Steps open one after the other, and work is found again."""

from pathlib import Path

import pytest

from nobounds.studio.sources import Source
from nobounds.studio.steps import STEPS, Studies


def test_steps_open_one_after_the_other():
    """Each needs the one before it; answers can be looked at as soon as there is a budget."""
    studies = Studies()
    study = studies.begin(Source("file", Path("a.csv")))
    assert study.reached() == ["data"]
    study = studies.change(study, settled=True)
    assert study.reached() == ["data", "budget"]
    study = studies.change(study, budget=Path("a.budget"))
    assert study.reached() == ["data", "budget", "question", "answers"] and study.next == "question"
    study = studies.change(study, question={"count": ["yes"]})
    assert study.reached() == list(STEPS) and study.next == "estimate"


def test_the_same_data_take_up_the_same_work():
    """Choosing a file again does not lose what was typed."""
    studies = Studies()
    first = studies.change(studies.begin(Source("file", Path("a.csv"))), settled=True)
    assert studies.begin(Source("file", Path("a.csv"))) == first
    assert studies.begin(Source("file", Path("b.csv"))) != first
    assert [study.source.name for study in studies.all()] == ["b.csv", "a.csv"]


def test_a_change_replaces_parts():
    """The others stay, and an unknown name is no work."""
    studies = Studies()
    study = studies.begin(Source("file", Path("a.csv")))
    assert studies.get("none") is None
    with pytest.raises(TypeError):
        studies.change(study, records=[1])
    assert studies.get(study.name) == study
