"""Charts have a row for each number, and nothing that does not belong on one."""

import math
import re
import xml.etree.ElementTree as tree

import pytest

import nobounds as nb
from nobounds.studio.results.charts import Chart, curve, outline, png, together


def chart(rows, labels=None, reasons=None):
    labels = labels or tuple(f"g{k}" for k in range(len(rows)))
    return Chart("a <b> of c", labels, tuple(rows), reasons or (None,) * len(rows))


def texts(svg):
    return [each.text for each in tree.fromstring(svg).iter() if each.tag.endswith("text")]


def test_every_row_has_its_label_and_its_number():
    """In words that a person reads, without exponents."""
    svg = chart([(25_000.0, (24_000.0, 26_000.0)), (3e6, (2.9e6, 3.1e6))]).svg(alone=True)
    assert {"g0", "g1", "25,000", "3,000,000"} <= set(texts(svg)) and "e+" not in svg


def test_an_answer_that_is_missing_says_why():
    """In its row, without a mark."""
    svg = chart([(1.0, None), (None, None), (2.0, None)], reasons=(None, "too few rows", None)).svg(alone=True)
    assert "too few rows" in texts(svg) and svg.count("<circle") == 2


def test_an_end_that_is_not_known_is_a_tip():
    """And it does not stretch the axis."""
    svg = chart([(10.0, (9.0, math.inf)), (12.0, (11.0, 13.0))]).svg(alone=True)
    assert svg.count('class="tip"') == 1 and "inf" not in svg


def test_names_from_anybody_are_escaped():
    """In labels and titles; long ones are cut, and whole in a tooltip."""
    bad = "<script>alert(1)</script> and a long end"
    svg = chart([(1.0, None), (2.0, None)], labels=(bad, "b")).svg(alone=True)
    assert "<script" not in svg and any(each and each.endswith("…") for each in texts(svg))


def test_one_number_is_no_chart():
    """There is nothing to compare it with."""
    people = nb.Table({"pay": [float(k % 500) for k in range(5000)], "town": ["a"] * 5000})
    release = people.group_by("town", keys=["a", "none"]).mean("pay", epsilon=1)
    assert Chart.of_groups("pay", release) is None
    mean = people.mean("pay", epsilon=1)
    assert Chart.of_column("pay", [("mean", mean)]) is None
    assert Chart.of_column("pay", [("mean", mean), ("median", people.median("pay", epsilon=1))]) is not None


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1e-9, 1e-9), (1e12, 1e12 + 1), (5.0, 5.0), (-3e5, 7e5)])
def test_any_range_has_a_few_ticks(low, high):
    """Between two and seven, in increasing places."""
    svg = chart([(low, None), (high, None)]).svg(alone=True)
    places = [float(x) for x in re.findall(r'<line class="grid" x1="([\d.]+)"', svg)]
    assert 2 <= len(places) <= 7 and places == sorted(set(places))


@pytest.mark.medium
def test_files_of_charts():
    """An SVG that stands alone, and a PNG."""
    both = [chart([(1.0, (0.5, 1.5)), (2.0, None)]), chart([(1.0, None), (4.0, None)])]
    assert tree.fromstring(together(both)).tag.endswith("svg") and "prefers-color-scheme" in together(both)
    assert png(both).startswith(b"\x89PNG")


def test_small_pictures():
    """The outline of a shape, and a line through the levels."""
    tree.fromstring(outline([0, 1, 0.5]))
    svg = curve([("1", 0.2), ("2", 0.1)], ["Balanced", "Weaker"], "2")
    assert svg.count("<circle") == 2 and "± 20%" in svg
