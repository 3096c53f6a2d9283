"""Files of answers, and how answers are shown."""

import csv
import io

import pytest
from support.studio import people

import nobounds as nb
from nobounds.studio.layouts import Layout
from nobounds.studio.results.downloads import AGAIN, CHARTS, TABLES, download
from nobounds.studio.results.shelf import Inquiry, Shelf
from nobounds.studio.results.shown import explained, overview, protected, sections, summary
from nobounds.studio.sources import Source

GROUPED = {
    "count": ["yes"],
    "ask": ["mean:income", "median:income"],
    "by1": ["region"],
    "keys": ["north, south, =west"],
}
ALONE = {"count": ["yes"], "ask": ["median:income", "percentiles:income", "sum:age"], "interval": ["0.9"]}


@pytest.fixture
def answered(tmp_path):
    """Answers of a table of people to a question."""
    people(tmp_path / "people.parquet")
    source = Source("file", tmp_path / "people.parquet")

    def made(question):
        inquiry = Inquiry(source, Layout().columns(source), {}, question | {"level": ["4"]})
        with source.opened() as table:
            answers = inquiry.recipe(tmp_path / "b").question.answers(table)
        return Shelf(tmp_path / "b").put(inquiry, answers)

    return made


@pytest.mark.medium
@pytest.mark.parametrize("question", [GROUPED, ALONE], ids=["grouped", "alone"])
def test_every_file_is_made(answered, question):
    """And a name that is none of them is no file."""
    kept = answered(question)
    for kind in (*TABLES, *CHARTS, *AGAIN):
        media, content = download(kept, kind)
        assert "/" in media and content
    assert download(kept, "exe") is None


def test_the_table_runs_no_formula(answered):
    """Keys come from anybody, and spreadsheets run what starts with =."""
    rows = list(csv.DictReader(io.StringIO(download(answered(GROUPED), "csv")[1])))
    assert [row["region"] for row in rows] == ["north", "south", "'=west"]


def test_without_charts_there_is_no_file_of_them(answered):
    """One number is no chart."""
    kept = answered({"count": ["yes"]})
    assert download(kept, "png") is None and download(kept, "svg") is None
    assert nb.Answers.from_json(download(kept, "json")[1]).releases.keys() == {"count()"}


def test_tables_by_group_and_alone(answered):
    """A table for each statistic with marks, or one of all; charts for those whose values can be compared."""
    kept = answered(GROUPED)
    tables = sections(kept)
    assert [table.title for table in tables] == [
        "Number of rows by region",
        "Average of income by region",
        "Median of income by region",
    ]
    assert tables[1].rows[2].reason and tables[1].marked == 1 and tables[1].chart is not None
    heads, rows = overview(kept)
    assert heads == ("region", "Number of rows", "Average of income", "Median of income") and len(rows) == 3
    first, chart = sections(answered(ALONE))
    assert [row.names[0] for row in first.rows][:2] == ["Number of rows", "Median of income"]
    assert chart.chart.labels == ("25th percentile", "median", "75th percentile")


def test_two_sentences_come_first(answered):
    """Who is protected and what the intervals are; then what is left out, and the rest is folded."""
    lines = summary(answered(GROUPED))
    assert (
        lines[0].startswith("These answers would be almost the same without any one row")
        and "95% of the time" in lines[1]
    )
    assert any("left out" in line for line in lines[2:])
    assert "90% for medians" in " ".join(summary(answered(ALONE)))
    kept = answered(GROUPED)
    assert [heading for heading, _ in explained(kept)][:2] == ["Number of rows", "Average of income"]
    assert protected(kept)
