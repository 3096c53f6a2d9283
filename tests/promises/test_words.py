"""`make lint` finds names and phrases that the code does not use, and says what to write instead."""

import json
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
SHARE = f"{clip:g} rows are 95 % of all"
'''


@pytest.fixture
def words(monkeypatch):
    """The tool."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    import words

    yield words
    sys.modules.pop("words")


def test_planted_words_are_caught_at_their_lines(words):
    """Names, docstrings, comments and other strings, across line breaks."""
    assert [(line, word) for line, word, _ in words.findings(PLANTED)] == [
        (1, "so many"),
        (4, "asked"),
        (5, "too dear"),
        (6, "times of 100"),
        (7, "5 %"),
        (7, "asked"),
        (7, "found"),
        (8, "found"),
        (10, "so many"),
        (10, "was found"),
        (11, "95 %"),
    ]


def test_phrases_of_pages_are_caught_outside_of_code(words):
    """Pages and templates are prose; of code on a page only how it writes percentages is looked at."""
    page = "An interval\nholds 95 times of 100,\nor 95 % of the time;\nit is\ntold.\n"
    lines = [(line, word) for line, word, _ in words.page_findings(page)]
    assert lines == [(2, "times of 100"), (3, "95 %"), (4, "is told")]
    assert (
        words.page_findings("You asked for `so many` rows.\n```text\nis found\n```\n{% if is_told %}8{% endif %}\n")
        == []
    )
    assert [line for line, *_ in words.page_findings("```text\n95 %\n```\n")] == [2]


def test_notebooks_are_read_cell_by_cell(words):
    """Their text, their code and what they print; the number of a cell is the line."""
    cells = [
        {"cell_type": "markdown", "source": ["It is\n", "told."]},
        {"cell_type": "code", "source": ["found = 1  # so many"], "outputs": [{"text": ["10 % of all\n"]}]},
    ]
    hits = words.notebook_findings(json.dumps({"cells": cells}))
    assert [(line, word) for line, word, _ in hits] == [(1, "is told"), (2, "found"), (2, "so many"), (2, "10 %")]


def test_all_prose_is_looked_at(words):
    """The code, the templates of the studio, the README, the pages and the notebooks."""
    names = {str(path.relative_to(words.ROOT)) for path in words.everything()}
    assert {"README.md", "docs/start.md", "docs/examples/pandas.ipynb", "src/nobounds/cli/options/common.py"} <= names
    assert {"src/nobounds/studio/templates/start.html", "SECURITY.md"} <= names


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
    is told; was found; by now; goes without; (a day, say); hardly ever; who signs; hang on; whoever; tells of;
    the dearest; to the letter"""
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
