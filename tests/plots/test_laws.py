"""Pictures show the laws they are made of."""

from fractions import Fraction as F

import numpy as np
import pytest
from support.laws import answer_law

from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk
from nobounds.plots.laws import plot_answers, plot_laws


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
