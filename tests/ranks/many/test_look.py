"""Looks at the records around ranks: answers from them are those from all records."""

import random

import numpy as np
import pytest
from support.chance import seed_of

import nobounds as nb
from nobounds.ranks.many.look import Look

N = 120_000
DATA = {
    "smooth": np.random.default_rng(1).lognormal(3, 1, N),
    "both signs": np.random.default_rng(2).normal(0, 5, N),
    "ties": np.random.default_rng(3).poisson(6, N).astype(float),
    "far out": np.random.default_rng(4).standard_cauchy(N) * 1e6,
}


@pytest.mark.medium
@pytest.mark.parametrize("spent", [{"epsilon": 2}, {"rho": 0.3}, {"epsilon": 2, "neighbors": "swap"}], ids=str)
@pytest.mark.parametrize("name", DATA)
@pytest.mark.sampled
def test_answers_are_those_of_all_records(name, spent):
    """Quantiles by halving from records around the ranks; almost none needs more than those."""
    many = [k / 64 for k in range(8, 56)] if "neighbors" in spent else [0.25, 0.5, 0.75]
    answers, fulls = [], []
    for windows in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            full = Look.full.func
            patch.setattr(Look.full, "func", lambda look, full=full, w=windows: fulls.append(w) or full(look))
            if not windows:
                patch.setattr(Look, "around", lambda *_: None)
            released = (nb.quantiles(DATA[name], many, rng=random.Random(seed_of(seed)), **spent) for seed in range(2))
            answers.append([release.value for release in released])
    assert answers[0] == answers[1]
    assert fulls.count(False) == 2 and (name != "smooth" or len(many) > 3 or True not in fulls)
