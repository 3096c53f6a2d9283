"""Tables and the picture of the benchmark."""

import pytest

from nobounds.research.bench import report
from nobounds.research.bench.cells import Cell
from nobounds.research.bench.results import Outcome


@pytest.fixture
def outcomes():
    near, far = (Cell("tails", "q=0.9", "normal", offset, 100, 1.0, "add-remove") for offset in (0.0, 5.0))
    top = Cell("extremes", "maximum", "normal", 0.0, 300, 1.0, "swap")
    return [
        Outcome(near, {"nobounds": [1.0, 1.0, 1.0], "mapped": [2.0, 2.0, 2.0], "mine": [0.5, 0.5, 0.5]}),
        Outcome(far, {"nobounds": [1.0, 1.0, 1.0], "mapped": [8.0, 8.0, 8.0], "mine": [1.0, 1.1, 0.9]}),
        Outcome(top, {"nobounds": [0.0, 0.0, 0.0], "doubling": [1.0, 2.0, 3.0]}),
    ]


def test_rows_have_every_cell_and_mark_the_best(outcomes):
    """A method that does not answer a statistic has an empty field."""
    head, *rows = report.rows(outcomes)
    assert head[6:] == ["nobounds", "mapped", "mine", "doubling"] and len(rows) == 3
    assert rows[0][6:] == ["1 (0)", "2 (0)", "0.5 (0)*", ""] and rows[2][6:] == ["0 (0)*", "", "", "2 (0.6)"]


def test_the_summary_counts_wins_and_losses(outcomes):
    """Geometric means of errors over that of nobounds; even within two standard errors."""
    _, mapped, mine, doubling = report.summary(outcomes)
    assert mapped == ["mapped", "4.00", "0", "0", "2", "2"]
    assert mine == ["mine", "0.71", "1", "1", "0", "2"] and doubling[-2:] == ["1", "1"]


def test_a_table_is_markdown(outcomes):
    """A heading, a line and rows of as many fields."""
    lines = report.as_markdown(report.rows(outcomes)).splitlines()
    assert len(lines) == 5 and {line.count("|") for line in lines} == {11}


@pytest.mark.medium
def test_the_picture_has_a_panel_for_each_statistic(outcomes):
    """Places are named by what differs; an error of 0 is drawn at the left end."""
    figure = report.picture(outcomes)
    quantile, maximum = figure.axes
    assert [label.get_text() for label in quantile.get_yticklabels()] == [
        "normal at 0, n 100, add-remove",
        "normal at 5, n 100, add-remove",
    ]
    assert maximum.get_title() == "maximum" and maximum.get_xlim()[0] <= report.LOWEST
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["nobounds", "mapped", "mine", "doubling"]
