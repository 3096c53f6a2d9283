"""`make lint` finds names and phrases that the code does not use, and says what to write instead."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PLANTED = '''"""A sum of so
many records."""

def clip(asked):
    # A scale is bought, if it is not too
    # dear; an answer holds 95 times of 100.
    found = asked + 1  # 5 % of the records
    return found

MESSAGE = "no column was found for so many rows"
SHARE = f"{found:g} rows are 95 % of all"
'''


@pytest.fixture
def words(monkeypatch):
    """The tool."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    import words

    yield words
    sys.modules.pop("words")


def test_planted_words_are_caught_at_their_lines(words):
    """Names, docstrings and comments, across line breaks; of other strings only how they write percentages."""
    assert [(line, word) for line, word, _ in words.findings(PLANTED)] == [
        (1, "so many"),
        (4, "asked"),
        (5, "too dear"),
        (6, "times of 100"),
        (7, "5 %"),
        (7, "asked"),
        (7, "found"),
        (8, "found"),
        (11, "95 %"),
    ]


def test_percentages_of_pages_are_caught(words):
    """Pages of the documentation write 95%, and how often, in one way."""
    page = "An interval\nholds 95 times of 100,\nor 95 % of the time.\n"
    assert [(line, word) for line, word, _ in words.page_findings(page)] == [(2, "times of 100"), (3, "95 %")]
    assert words.page_findings("It holds 95% of the time; so many rows are asked for.\n") == []


@pytest.mark.parametrize(
    "source",
    [
        "profound = 1  # 95% of the time\n",
        "left = total % 2  # k % 2 is the place, 7 % 2 is 1\n",
        '"""As many as requested, treated as 0, by nowadays\' standard."""\n',
    ],
)
def test_other_words_are_left_alone(words, source):
    """Parts of words, remainders and what is to be written instead."""
    assert words.findings(source) == []


def test_a_file_that_is_named_so_is_caught(words):
    """A module is a name too."""
    assert [word for _, word, _ in words.findings("", stem="told")] == ["told"]


def test_every_phrase_is_caught_by_its_own_rule(words):
    """No rule is dead: an example of each of them is caught."""
    examples = """so many; taken for; times of 100; 5 %; too dear; for want of; wherever it lies; who names; asked for;
    is told; was found; by now"""
    instead = {finding.instead for finding in words.findings(f'"""{examples}"""')}
    assert instead == set((words.PHRASES | words.PERCENTAGES).values())


def test_the_lint_fails_and_says_what_to_write(words, tmp_path, monkeypatch, capsys):
    """One finding more than is allowed is an error with file, line, word and a better one; none more is not."""
    file, allowed = tmp_path / "planted.py", tmp_path / "words.txt"
    monkeypatch.setattr(words, "ALLOWED", allowed)
    file.write_text("x = 1  # deviations that are taken for 0\n")
    assert words.main([str(file)]) == 1
    assert f"{file}:1: taken for -> treated as" in capsys.readouterr().out
    allowed.write_text(f"1 {file}\n")
    assert words.main([str(file)]) == 0


def test_what_is_allowed_only_goes_down(words):
    """Lowering takes the smaller number, drops files that have none left, and adds no file."""
    may, has = {"a": 3, "b": 2, "gone": 4}, {"a": 1, "b": 5, "c": 7}
    assert words.lowered(may, has) == {"a": 1, "b": 2}
