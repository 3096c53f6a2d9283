"""Pictures show the laws they are made of."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from support.laws import answer_law

import nobounds as nb
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk
from nobounds.plots import plot_answers, plot_description, plot_laws, plot_release

pytest.importorskip("matplotlib")


@pytest.mark.medium
def test_the_lines_of_a_walk_are_its_probabilities(tmp_path):
    """Each line has the law's masses, and the legend the chance never to halt; the file is a picture."""
    laws = {
        noise: Law(Walk.of([0] * 20 + [5] * 5, F(4), eps1=F(1), eps2=F(1), noise=noise))
        for noise in ("exponential", "gumbel")
    }
    figure = plot_laws(laws)
    for line, law in zip(figure.axes[0].get_lines(), laws.values(), strict=True):
        assert line.get_ydata() == pytest.approx(law.pmf()[:-1])
    assert "never" in figure.axes[0].get_legend().get_texts()[0].get_text()
    figure.savefig(tmp_path / "laws.png")
    assert (tmp_path / "laws.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.medium
def test_the_area_under_answers_is_their_probability():
    """The densities of answers integrate to the mass between the two values."""
    data = np.random.default_rng(1).lognormal(3, 0.8, 1000)
    law = answer_law(data, 0.5, epsilon=1)
    figure = plot_answers({"median": law}, 15, 25, truth=float(np.median(data)))
    stairs = figure.axes[0].patches[0].get_data()
    area = float((stairs.values * np.diff(stairs.edges)).sum())
    assert area == pytest.approx(law.pmf(15, 25)[1].sum(), rel=1e-9)
    assert area > 0.99


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
        assert labels["50%"] == f"{summary.values['50%']:.4g}"
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
