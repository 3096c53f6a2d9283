"""The exponential mechanism over rungs: its law, its exact sampler, what it costs and how small its range is."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats
from support.chance import seed_of
from support.laws import SEVEN as DATA
from support.laws import TWENTY as LADDER
from support.laws import audited_choice, runs_of

from nobounds.accounting.conversions import rho_from_pure, rho_from_range
from nobounds.accounting.cost import range_bounded
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms import exponential_mechanism
from nobounds.mechanisms.exponential_mechanism import weighted_law, weighted_rung
from nobounds.mechanisms.runs import Runs
from nobounds.noise.discrete import Uniform
from nobounds.noise.source import random_source


@pytest.mark.parametrize("rate", [F(1, 20), F(1, 2), F(3)], ids=str)
@pytest.mark.parametrize("q", [F(0), F(1, 7), F(3, 10), F(1, 2), F(1)], ids=str)
def test_the_law_is_exponential_in_the_distance(q, rate):
    """P(rung) is proportional to exp(-rate * distance of q n from [records below, records below or in])."""
    rungs, every = LADDER.rungs(DATA), np.arange(LADDER.first, LADDER.last + 1)
    below, up_to = (rungs[None, :] < every[:, None]).sum(1), (rungs[None, :] <= every[:, None]).sum(1)
    target = float(q * len(DATA))
    weights = np.exp(-float(rate) * np.maximum(0, np.maximum(below - target, target - up_to)))
    assert np.exp(weighted_law(runs_of(q, rate)).log_pmf()) == pytest.approx(weights / weights.sum(), rel=1e-12)


@pytest.mark.medium
@pytest.mark.sampled
def test_the_sampler_matches_the_law_and_rejects_one_20_percent_off():
    """Chi-square over all rungs of a small ladder, 9,000 draws."""
    runs, source = runs_of(F(3, 10)), random_source(np.random.default_rng(seed_of(3)))
    counts = np.bincount([weighted_rung(runs, source) - LADDER.first for _ in range(9_000)], minlength=LADDER.size)
    law, off = (np.exp(weighted_law(runs_of(F(3, 10), rate)).log_pmf()) for rate in (F(1, 2), F(3, 5)))
    assert stats.chisquare(counts, law / law.sum() * 9_000).pvalue > 1e-6
    assert stats.chisquare(counts, off / off.sum() * 9_000).pvalue < 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("q", [F(1, 2), F(123456789, 10**9)], ids=str)
@pytest.mark.sampled
def test_doubles_and_balls_choose_alike(q):
    """From the same uniform number, ball arithmetic chooses the run that double precision chose."""
    from flint import ctx

    data = np.random.default_rng(seed_of(1)).lognormal(0, 1, 300)
    runs = runs_of(q, F(1, 3), data, Ladder.float_bits(12))
    decided = 0
    for seed in range(50):
        u = Uniform(random_source(random.Random(seed_of(seed))))
        run = exponential_mechanism._in_doubles(runs, u)
        if run is not None:
            decided += 1
            with ctx.workprec(192):
                assert exponential_mechanism._in_balls(runs, u, 192) == run
    assert decided >= 49


@pytest.mark.medium
@pytest.mark.parametrize(
    ("relation", "q", "reached"),
    [
        ("add-remove", F(1, 4), 0.9),
        ("add-remove", F(1, 2), 0.9),
        ("add-remove", F(1), 0.45),  # at the ends of the ranks all utilities move one way, which halves the cost
        ("swap", F(1, 4), 0.75),
        ("swap", F(1, 2), 0.75),
    ],
    ids=str,
)
def test_it_costs_epsilon_and_so_does_its_range(relation, q, reached):
    """With rate epsilon / (2 sensitivity) no pair of up to four records shows more than epsilon, nor a wider range."""
    found = audited_choice(weighted_law, relation, q)
    assert reached < found.epsilon <= 1 + 1e-9
    assert (0.99 if q < 1 else reached) < found.eta <= 1 + 1e-9


@pytest.mark.parametrize("epsilon", [F(1, 100), F(1, 2), F(1), F(5)], ids=str)
def test_zcdp_follows_from_the_range(epsilon):
    """The cost has the rho of a range of epsilon, well below that of a pure mechanism of epsilon."""
    cost = range_bounded(epsilon)
    assert cost.epsilon == epsilon
    assert float(cost.rho) == rho_from_range(epsilon)
    assert cost.rho < F(rho_from_pure(epsilon)) * (F(3, 10) if epsilon <= 1 else 1)


@pytest.mark.sampled
def test_no_data_is_one_run():
    """Without records every rung is equally likely."""
    law = np.exp(weighted_law(runs_of(F(1, 2), data=[])).log_pmf())
    assert law == pytest.approx(np.full(LADDER.size, 1 / LADDER.size))
    drawn = {
        weighted_rung(runs_of(F(1, 2), data=[]), random_source(random.Random(seed_of(seed)))) for seed in range(50)
    }
    assert len(drawn) > 10 and drawn <= set(range(LADDER.first, LADDER.last + 1))


def test_distances_keep_their_digits_far_from_the_target():
    """A target far outside all ranks, with a fraction: doubles are as near to the exact distances as close by."""
    ranks = np.arange(20)
    target = F(2**41 + 5) + F(1, 3)
    runs = Runs.between(ranks, ranks + 1, ranks, ranks, target, F(1, 4096), (0, 19))
    exact = [float(runs.distance(run)) for run in range(20)]
    assert runs.distances() == pytest.approx(exact, abs=1e-12) and min(exact) == 0
