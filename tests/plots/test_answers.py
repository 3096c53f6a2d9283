"""Pictures of answers show the numbers, the intervals and what is missing."""

import random
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.plots.answers import plot_description, plot_release
from nobounds.release.digits import said
from nobounds.release.grouped import GroupedRelease


@pytest.mark.medium
def test_the_picture_of_a_description_has_its_quantiles():
    """Axes for each column, with its name, the box between its quartiles and its numbers as labels."""
    described = nb.describe({"age": np.arange(18, 78), "pay": np.arange(6000.0)}, epsilon=50)
    figure = plot_description(described)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["age", "pay"]
    for axes, summary in zip(figure.axes, described.columns.values(), strict=True):
        box = axes.patches[0]
        assert box.get_x() == summary.values["25%"]
        assert box.get_x() + box.get_width() == pytest.approx(summary.values["75%"])
        labels = {text.get_text().split("\n")[0]: text.get_text().split("\n")[1] for text in axes.texts}
        assert labels["50%"] == said(float(f"{summary.values['50%']:.4g}"))
    assert len(plot_description(nb.describe({"name": np.array(["x"])}, epsilon=1)).axes) == 1


@pytest.mark.parametrize("rows", [3, 100, 300, 450])
def test_the_picture_of_a_description_has_what_was_answered(rows):
    """Nothing but a few words for 3 rows, and with more of them a median, a box and a mean, and the ends."""
    described = nb.describe({"x": np.arange(rows) + 0.5}, epsilon=1, rng=random.Random(1))
    (axes,) = plot_description(described).axes
    shown = {text.get_text().partition("\n")[0] for text in axes.texts}
    answered = {name for name, value in described["x"].values.items() if value is not None}
    assert shown == (answered - {"count", "mean", "std"} or {"too few rows"})


@pytest.mark.medium
@pytest.mark.parametrize("kind", ["M8[D]", "M8[s]", "m8[s]"])
def test_pictures_of_dates_and_durations_have_values_of_the_type(kind):
    """On their axes and beside the answers, at the ends of the calendar as well."""
    near = np.arange(4000).astype(kind)
    for data in (near, np.full(900, -(2**40)).astype(kind)):
        release = nb.quantile(data, 0.5, epsilon=3, interval=0.95, rng=random.Random(1))
        figure = plot_release(release)
        figure.canvas.draw()
        labels = [text.get_text() for text in figure.axes[0].texts]
        assert str(release.value) in labels or kind == "m8[s]"
        plot_description(nb.describe({"x": data}, epsilon=3, rng=random.Random(1))).canvas.draw()


HOSTILE = [
    "<script>alert(1)</script>",
    "$\\frac{1}{0}$",
    "$x",
    "a\"b'c",
    "\u202eevil",
    "\x1b[2J",
    "-->",
    "&amp;",
    "]]>",
    "x" * 300,
]


@pytest.mark.medium
def test_names_and_keys_are_text_in_every_figure():
    """No element of the SVG comes from a key or a name, and no formula of one is run."""
    loss = nb.PrivacyLoss.pure(1)
    values = np.ma.array(np.arange(len(HOSTILE)) * 1000.5, mask=[False] * (len(HOSTILE) - 1) + [True])
    bars = np.stack([np.ma.getdata(values) - 10, np.full(len(HOSTILE), np.inf)], axis=1)
    whys = (*[None] * (len(HOSTILE) - 1), "too few rows")
    groups = GroupedRelease("mean", ("<b>$k$</b>",), (pa.array(HOSTILE),), values, loss, {}, bars, None, whys)
    release = nb.Release("mean", 3.5, loss, {"column": "$<i>$"}, ((3.0, 4.0),))
    described = nb.describe({name: np.arange(3000.0) for name in HOSTILE[:3]}, epsilon=9, rng=random.Random(1))
    for answer in (groups, release, described):
        svg = answer.plot()._repr_svg_()
        names = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()}
        drawn = {"svg", "g", "path", "defs", "clipPath", "rect", "use", "style", "metadata"}
        about = {"RDF", "Work", "type", "format", "creator", "Agent", "title", "date"}
        assert names <= drawn | about
    labels = [text.get_text() for text in groups.plot().axes[0].get_yticklabels()]
    assert labels[0] == HOSTILE[0] and labels[1] == r"\$\frac{1}{0}\$" and len(labels[-1]) == 40


def test_a_group_has_its_error_bar():
    """From the low to the high end, beside its value and at its key; a cut is stated above."""
    values, loss = np.arange(50) * 10.0, nb.PrivacyLoss.pure(1)
    bars = np.stack([values - 3, values + 5], axis=1)
    groups = GroupedRelease("sum", ("k",), (pa.array(range(50)),), values, loss, {}, bars)
    figure = groups.plot()
    (axes,) = figure.axes
    ends = [tuple(line.get_xdata()) for line in axes.get_lines() if len(line.get_xdata()) == 2]
    assert ends == [tuple(bar) for bar in bars[:40]]
    assert "10 more of 50 groups" in figure._suptitle.get_text()
