"""The law of an answer: its tails, points and masses say the same."""

import numpy as np
import pytest
from support.laws import answer_law, chance_above

from nobounds.ranks.law import AnswerLaw

DATA = np.random.default_rng(7).normal(100, 5, 400)


@pytest.mark.parametrize("options", [{"beta": 1.01}, {"rows": 400}, {"rows": 400, "resolution": 1}], ids=str)
def test_masses_are_differences_of_tails(options):
    """Answer by answer, or, where these are too many, for points that stand for them."""
    law = answer_law(DATA, 0.5, epsilon=0.5, **options)
    assert isinstance(law, AnswerLaw)
    values, masses = law.pmf(0, 200)
    assert masses.sum() == pytest.approx(1, abs=1e-3)
    for cut in (95.03, 99.51, 100.02, 104.07):
        close = 1e-9 if "beta" in options else 0.02
        assert masses[values > cut].sum() == pytest.approx(law.above(cut), abs=close)
        assert law.above(cut) == pytest.approx(chance_above(law, cut), abs=1e-12)
        assert law.above(cut) + law.below(cut) <= 1 + 1e-9


def test_tails_fall_from_one_to_zero():
    """Over the whole line."""
    law = answer_law(DATA, 0.9, epsilon=1, rows=400, least=1e-4)
    tails = [chance_above(law, value) for value in (-1e300, 50.0, 105.0, 107.0, 200.0, 1e300)]
    assert tails == sorted(tails, reverse=True)
    assert tails[0] == pytest.approx(1, abs=1e-2) and tails[-1] < 1e-6
