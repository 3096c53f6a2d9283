"""The desk charges once for each key, never for an old one, and keeps every answer that was paid for."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.studio import people

import nobounds as nb
from nobounds.studio.asks import Ask, Origin
from nobounds.studio.desk import Charged, Desk, NotCharged
from nobounds.studio.shelf import Shelf
from nobounds.studio.shown import budget_of

MEAN = Ask("mean", ("income",), "0.5")


@pytest.fixture
def desk(tmp_path):
    people(tmp_path / "people.parquet")
    nb.Budget(epsilon=1, path=tmp_path / "people.budget")
    return Desk(Origin((str(tmp_path / "people.parquet"),), tmp_path / "people.budget"))


def charges(desk):
    return desk.statement().history


def test_a_form_that_is_sent_twice_is_charged_once(desk):
    """Even by many at the same moment: all get the one release."""
    key = desk.key()
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lambda _: desk.release(key, MEAN), range(8)))
    assert len({each.name for each in kept}) == 1 and len(charges(desk)) == 1


def test_a_key_of_another_desk_spends_nothing(desk):
    """A form from before a restart is refused."""
    key = desk.key()
    with pytest.raises(NotCharged, match="nothing was charged"):
        Desk(desk.origin).release(key, MEAN)
    assert not charges(desk)


def test_what_does_not_fit_is_refused_and_the_key_is_still_good(desk):
    """A refusal costs nothing, and a smaller ask goes through with the same form."""
    key = desk.key()
    with pytest.raises(nb.BudgetExceeded):
        desk.release(key, Ask("mean", ("income",), "1.5"))
    assert not charges(desk)
    assert desk.release(key, MEAN).release.loss.epsilon == 0.5


def test_data_that_cannot_be_read_are_charged_and_said_to_be(desk, tmp_path):
    """The footer of the file is whole and its records are not, so the fault comes after the charge."""
    path = tmp_path / "people.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"\xff" * 200 + whole[204:])
    assert "income" in desk.numeric()
    key = desk.key()
    with pytest.raises(Charged, match=r"charged \(epsilon 0.5"):
        desk.release(key, MEAN)
    assert len(charges(desk)) == 1 and not desk.shelf.all()
    path.write_bytes(whole)
    with pytest.raises(NotCharged):
        desk.release(key, MEAN)
    assert len(charges(desk)) == 1


def test_a_release_is_kept_through_a_restart(desk):
    """Another desk for the same budget finds it, equal to the last digit."""
    kept = desk.release(desk.key(), MEAN)
    again = Desk(desk.origin).shelf.get(kept.name)
    assert again == kept and Desk(desk.origin).shelf.all() == [kept]


def test_an_answer_that_cannot_be_read_back_is_kept_in_memory(desk, monkeypatch):
    """Whatever a later reader makes of the file, the answer that was paid for is there while the studio runs."""
    monkeypatch.setattr("nobounds.studio.shelf._read", lambda path: None)
    kept = desk.release(desk.key(), MEAN)
    assert desk.shelf.get(kept.name) == kept and desk.shelf.all() == [kept]


def test_what_is_left_is_never_shown_larger_than_it_is(desk):
    """It is rounded down, as the command line does."""
    desk.release(desk.key(), Ask("count", (), "0.00000000001"))
    assert float(budget_of(desk.statement())["left"]) < 1


def test_a_description_is_kept_too(desk):
    """Its numbers, bars and costs come back as they were."""
    kept = desk.release(desk.key(), Ask("describe", (), "0.9"))
    assert Desk(desk.origin).shelf.get(kept.name) == kept


def test_a_folder_that_cannot_be_written_to_loses_no_answer(desk, tmp_path):
    """The release is shown while the studio runs, and is said not to be kept."""
    (tmp_path / "people.budget.releases").write_text("a file where the folder would be")
    kept = desk.release(desk.key(), MEAN)
    assert desk.shelf.get(kept.name) == kept and not desk.shelf.written(kept)
    assert desk.shelf.all() == [kept]


def test_what_others_put_into_the_folder_is_passed_over(tmp_path):
    """Names that are no names of releases are not looked for, and files that are no releases are not shown."""
    name = "20260101T000000-0123abcd"
    for content in ("", "[]", "{}", json.dumps({"made": "x", "ask": {}, "release": {}}), "\0", "9" * 5000, "[" * 10**5):
        (tmp_path / f"{name}.json").write_text(content)
        (tmp_path / "other.json").write_text(content)
        assert Shelf(tmp_path).all() == []
    (tmp_path.parent / "secret.json").write_text("{}")
    assert Shelf(tmp_path).get("../secret") is None


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("ask", "spending", "epsilon='1')\nimport os; os.remove('x')\ny = dict(a"),
        ("ask", "spending", "euros"),
        ("ask", "statistic", "__class__"),
        ("ask", "statistic", "sum"),
        ("ask", "columns", [1, 2]),
        ("ask", "columns", ["a", "b"]),
        ("ask", "q", [{}]),
        ("ask", "amount", 1),
        ("ask", "amount", "-1"),
        ("ask", "more", "fields"),
        ("release", "value", "text"),
        ("release", "value", None),
        ("release", "value", [[1]]),
        ("release", "interval", [1]),
        ("release", "statistic", "a\nb"),
        ("release", "loss", {}),
        ("release", "parameters", []),
    ],
)
def test_a_file_that_was_changed_is_not_shown(desk, part, name, value):
    """No file that the studio could not have written becomes a page, or code to run."""
    kept = desk.release(desk.key(), MEAN)
    path = desk.shelf.folder / f"{kept.name}.json"
    found = json.loads(path.read_text())
    found[part][name] = value
    path.write_text(json.dumps(found))
    assert desk.shelf.get(kept.name) is None and desk.shelf.all() == []


@pytest.mark.skipif(not hasattr(os, "chown") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_neither_read_nor_written(desk):
    """Somebody who was there first cannot show releases of their own making, and no answer is lost to them."""
    kept = desk.release(desk.key(), MEAN)
    os.chown(desk.shelf.folder, 12345, 12345)
    again = Desk(desk.origin)
    assert again.shelf.all() == []
    later = again.release(again.key(), MEAN)
    assert again.shelf.all() == [later] and not again.shelf.written(later)
    assert [path.stem for path in desk.shelf.folder.iterdir()] == [kept.name]


def test_a_used_form_that_was_changed_spends_nothing(desk):
    """It neither charges for the new ask nor passes the old answer off for it."""
    key = desk.key()
    desk.release(key, MEAN)
    with pytest.raises(NotCharged, match="nothing more was charged"):
        desk.release(key, Ask("mean", ("age",), "0.5"))
    assert len(charges(desk)) == 1


def test_columns_that_are_no_numbers_and_the_unit_are_not_offered(desk):
    """Text has no statistics, and the unit's column says whose a row is."""
    assert desk.numeric() == ["income", "age", "user_id"]
    origin = Origin(desk.origin.files, desk.origin.budget, "user_id", 2)
    assert Desk(origin).numeric() == ["income", "age"]
