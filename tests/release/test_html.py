"""Answers in a notebook: the number, its interval and its cost, and nothing that a name or a key could add."""

import random
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.release.answers import Answers
from nobounds.release.grouped import GroupedRelease

LOSS = nb.PrivacyLoss.pure(1)
EVIL = [
    "<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "</td></table><img src=x onerror=alert(1)>",
    "' style='position:fixed",
    "\u202etxt.exe",
    "\x1b[2J\x00",
    "&lt;b&gt;",
    "<!-- -->",
]


class Page(HTMLParser):
    """The elements of a page, their attributes and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data

    def handle_comment(self, data):
        raise AssertionError("a comment")


def page(answer) -> Page:
    shown = Page(answer._repr_html_())
    assert set(shown.tags) <= {"div", "span", "table", "thead", "tbody", "tr", "th", "td"}
    assert shown.attributes <= {"style", "title"} and not shown.open
    return shown


def test_a_number_has_its_interval_and_its_cost():
    """With the digits that the interval supports."""
    release = nb.Release("mean", 31540.28, LOSS, {"column": "pay"}, ((31204.0, 31877.0),))
    text = page(release).text
    assert text.startswith("mean of pay31,50031,200 to 31,900 95% interval") and "epsilon 1" in text
    missing = nb.Release("mean", None, LOSS, {"needed": {"rows": 1200}}, reason="too few rows")
    assert "not answered" in page(missing).text and "about 1,200 rows" in page(missing).text


@pytest.mark.parametrize("text", EVIL)
def test_a_value_that_a_file_says_is_text(text):
    """JSON from somebody else may have a text in the place of a number: it is shown as text."""
    for value in (text, (text, text)):
        page(nb.Release("mean", value, LOSS))
        page(nb.Release.from_json(nb.Release("mean", value, LOSS).to_json()))


def test_several_numbers_are_a_table():
    """Ranks or ends beside their numbers; a long vector is cut, and says so."""
    quantiles = nb.Release("quantiles", (2, None), LOSS, {"q": ["1/2", "199/200"]}, (), "too few rows")
    assert page(quantiles).cells == ["", "value", "50%", "2", "99.5%", "–"]  # noqa: RUF001
    assert page(nb.Release("bounds", (1, 2.5), LOSS)).cells[2:] == ["minimum", "1", "maximum", "2.5"]
    assert "... and 20 more numbers" in page(nb.Release("vector_sum", tuple(range(120)), LOSS)).text


@pytest.mark.medium
def test_no_name_or_key_is_markup():
    """Whatever they are: the page has our elements and attributes, and the names as text."""
    number = len(EVIL)
    values = np.ma.array(np.arange(number) * 1.5, mask=[True] + [False] * (number - 1))
    bars = np.stack([np.arange(number) - 1.0, np.arange(number) + 2.0], axis=1)
    whys = ("too few rows", *[None] * (number - 1))
    groups = GroupedRelease(EVIL[0], tuple(EVIL[1:3]), (pa.array(EVIL), pa.array(EVIL)), values, LOSS,
                            {"where": EVIL[0]}, bars, np.arange(number), whys)  # fmt: skip
    described = nb.describe({name: np.arange(3000.0) for name in EVIL} | {"t": ["x"] * 3000}, epsilon=50,
                            rng=random.Random(1))  # fmt: skip
    release = nb.Release(EVIL[1], 1, LOSS, {"column": EVIL[0], "where": EVIL[2], "rows_per_unit": 2})
    for answer in (groups, described, release):
        shown = page(answer)
        assert EVIL[0] in shown.text and EVIL[2] in shown.text
        assert "\u202e" not in shown.text and "\x1b" not in shown.text
    assert page(groups).cells[5:10] == [EVIL[0], EVIL[0], "–", "", "0"]  # noqa: RUF001


def test_a_cut_is_stated_in_a_notebook():
    """With the number of groups."""
    groups = GroupedRelease("count", ("k",), (pa.array(range(250)),), np.arange(250), LOSS)
    assert "... and 150 more of 250 groups" in page(groups).text
    assert page(groups).tags.count("tr") == 101


def test_several_answers_are_one_table():
    """With their names, intervals and what all of them cost; hostile names are text."""
    release = nb.Release("mean", 31540.28, LOSS, {}, ((31204.0, 31877.0),))
    answers = Answers({EVIL[0]: release, "b": nb.Release("count", 7, LOSS)}, nb.PrivacyLoss.pure(2))
    assert page(answers).cells[3:] == [EVIL[0], "31,500", "31,200 to 31,900", "b", "7", ""]
    assert "epsilon 2" in page(answers).text
    assert [axes.get_title(loc="left") for axes in answers.plot().axes] == [EVIL[0], "b"]
