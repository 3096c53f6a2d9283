"""The desk charges once for each key, never for an old one, and keeps every answer that was paid for."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.studio import people

import nobounds as nb
from nobounds.accounting.budget import read
from nobounds.studio.desk import Charged, Desk, NotCharged
from nobounds.studio.layouts import Layout
from nobounds.studio.results.shelf import Inquiry, Shelf
from nobounds.studio.results.shown import budget_of
from nobounds.studio.sources import Source

MEAN = {"ask": ["mean:income"], "level": ["0.5"]}


class Place:
    """A desk, and a table with its budget."""

    def __init__(self, folder):
        self.desk, self.budget = Desk(), folder / "people.budget"
        self.source = Source("file", folder / "people.parquet")
        self.columns = Layout().columns(self.source)

    @property
    def shelf(self):
        return self.desk.shelf(self.budget)

    def key(self):
        return self.desk.key()

    def answer(self, key, question=MEAN):
        return self.desk.answer(key, Inquiry(self.source, self.columns, {}, question), self.budget)


@pytest.fixture
def desk(tmp_path):
    people(tmp_path / "people.parquet")
    nb.Budget(epsilon=1, path=tmp_path / "people.budget")
    return Place(tmp_path)


def charges(desk):
    return read(desk.budget).history


def test_a_form_that_is_sent_twice_is_charged_once(desk):
    """Even by many at the same moment: all get the one release."""
    key = desk.key()
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lambda _: desk.answer(key), range(8)))
    assert len({each.name for each in kept}) == 1 and len(charges(desk)) == 1


def test_a_key_of_another_desk_spends_nothing(desk):
    """A form from before a restart is refused."""
    key = desk.key()
    with pytest.raises(NotCharged, match="nothing was charged"):
        Place(desk.budget.parent).answer(key)
    assert not charges(desk)


def test_what_does_not_fit_is_refused_and_the_key_is_still_good(desk):
    """A refusal costs nothing, and a smaller ask goes through with the same form."""
    key = desk.key()
    with pytest.raises(nb.BudgetExceeded):
        desk.answer(key, {"ask": ["mean:income"], "level": ["2"]})
    assert not charges(desk)
    assert desk.answer(key).answers.loss.epsilon == 0.5


def test_data_that_cannot_be_read_are_charged_and_said_to_be(desk, tmp_path):
    """The footer of the file is whole and its records are not, so the fault comes after the charge."""
    path = tmp_path / "people.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"\xff" * 200 + whole[204:])
    assert "income" in Layout().columns(desk.source)
    key = desk.key()
    with pytest.raises(Charged, match=r"charged \(epsilon 0.5"):
        desk.answer(key)
    assert len(charges(desk)) == 1 and not desk.shelf.all()
    path.write_bytes(whole)
    with pytest.raises(NotCharged):
        desk.answer(key)
    assert len(charges(desk)) == 1


def test_a_release_is_kept_through_a_restart(desk):
    """Another desk for the same budget finds it, equal to the last digit."""
    kept = desk.answer(desk.key())
    again = Place(desk.budget.parent).shelf
    assert same(again.get(kept.name), kept) and [each.name for each in again.all()] == [kept.name]


def test_an_answer_that_cannot_be_read_back_is_kept_in_memory(desk, monkeypatch):
    """Whatever a later reader makes of the file, the answer that was paid for is there while the studio runs."""
    monkeypatch.setattr("nobounds.studio.results.shelf._read", lambda path, budget: None)
    kept = desk.answer(desk.key())
    assert desk.shelf.get(kept.name) == kept and desk.shelf.all() == [kept]


def test_what_is_left_is_never_shown_larger_than_it_is(desk):
    """It is rounded down, as the command line does."""
    desk.answer(desk.key(), {"count": ["yes"], "level": ["other"], "amount": ["0.00000000001"]})
    assert float(budget_of(read(desk.budget))["left"]) < 1


def test_answers_by_group_are_kept_too(desk):
    """Their numbers, bars, marks and costs come back as they were."""
    question = {"ask": ["mean:income", "median:age"], "by1": ["region"], "keys": ["north, south, west"]}
    kept = desk.answer(desk.key(), question)
    assert same(Place(desk.budget.parent).shelf.get(kept.name), kept)


def same(one, other):
    """Whether two kept answers say the same."""
    return (one.name, one.made, one.inquiry, one.recipe, one.answers.to_json()) == (
        (other.name, other.made, other.inquiry, other.recipe, other.answers.to_json())
    )


def test_a_folder_that_cannot_be_written_to_loses_no_answer(desk, tmp_path):
    """The release is shown while the studio runs, and is said not to be kept."""
    (tmp_path / "people.budget.releases").write_text("a file where the folder would be")
    kept = desk.answer(desk.key())
    assert desk.shelf.get(kept.name) == kept and not desk.shelf.written(kept)
    assert desk.shelf.all() == [kept]


def test_what_others_put_into_the_folder_is_passed_over(tmp_path):
    """Names that are no names of releases are not looked for, and files that are no releases are not shown."""
    name, shelf = "20260101T000000-0123abcd", Shelf(tmp_path / "x.budget")
    shelf.folder.mkdir()
    for content in (
        "",
        "[]",
        "{}",
        json.dumps({"made": "x", "inquiry": {}, "answers": "{}"}),
        "\0",
        "9" * 5000,
        "[" * 10**5,
    ):
        (shelf.folder / f"{name}.json").write_text(content)
        (shelf.folder / "other.json").write_text(content)
        assert shelf.all() == []
    (tmp_path / "secret.json").write_text("{}")
    assert shelf.get("../secret") is None


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("question", "level", ["euros"]),
        ("question", "level", ["2"]),
        ("question", "ask", ["__class__:income"]),
        ("question", "ask", ["sum:income"]),
        ("question", "ask", [1, 2]),
        ("question", "ask", "mean:income"),
        ("question", "by1", ["region"]),
        ("source", "kind", "url"),
        ("source", "path", 7),
        ("source", "table", None),
        ("columns", "income", "text"),
        ("columns", "income", None),
        ("answers", "value", "text"),
        ("answers", "value", None),
        ("answers", "value", [[1]]),
        ("answers", "intervals", [1]),
        ("answers", "statistic", "a\nb"),
        ("answers", "loss", {}),
        ("answers", "parameters", []),
    ],
)
def test_a_file_that_was_changed_is_not_shown(desk, part, name, value):
    """No file that the studio could not have written becomes a page, or code to run."""
    kept = desk.answer(desk.key())
    path = desk.shelf.folder / f"{kept.name}.json"
    found = json.loads(path.read_text())
    if part == "answers":
        answers = json.loads(found["answers"])
        answers["answers"]["mean(income)"][name] = value
        found["answers"] = json.dumps(answers)
    else:
        found["inquiry"][part][name] = value
    path.write_text(json.dumps(found))
    assert desk.shelf.get(kept.name) is None and desk.shelf.all() == []


@pytest.mark.skipif(not hasattr(os, "chown") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_neither_read_nor_written(desk):
    """Somebody who was there first cannot show releases of their own making, and no answer is lost to them."""
    kept = desk.answer(desk.key())
    os.chown(desk.shelf.folder, 12345, 12345)
    again = Place(desk.budget.parent)
    assert again.shelf.all() == []
    later = again.answer(again.key())
    assert again.shelf.all() == [later] and not again.shelf.written(later)
    assert [path.stem for path in desk.shelf.folder.iterdir()] == [kept.name]


def test_a_used_form_that_was_changed_spends_nothing(desk):
    """It neither charges for the new ask nor passes the old answer off for it."""
    key = desk.key()
    desk.answer(key)
    with pytest.raises(NotCharged, match="nothing more was charged"):
        desk.answer(key, {"ask": ["mean:age"], "level": ["0.5"]})
    assert len(charges(desk)) == 1
