"""Permute-and-flip over rungs: its law, its exact sampler and what it costs."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import integrate, stats
from support.chance import seed_of
from support.laws import SEVEN as DATA
from support.laws import TWENTY as LADDER
from support.laws import audited_choice, runs_of

from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms import flip as flip_module
from nobounds.mechanisms.flip import flip_law, flip_rung
from nobounds.noise.discrete import Exponential, Uniform, uniform_below
from nobounds.noise.source import random_source


@pytest.mark.parametrize("q", [F(0), F(1, 7), F(3, 10), F(1, 2), F(1)], ids=str)
def test_distances_count_ties_right(q):
    """The distance of a rung is that of q n from [records below it, records below or in it]."""
    runs = runs_of(q)
    rungs = LADDER.rungs(DATA)
    every = np.arange(LADDER.first, LADDER.last + 1)
    below, up_to = (rungs[None, :] < every[:, None]).sum(1), (rungs[None, :] <= every[:, None]).sum(1)
    target = float(q * len(DATA))
    wanted = np.maximum(0, np.maximum(below - target, target - up_to))
    assert np.repeat(runs.distances(), runs.lengths) == pytest.approx(wanted)
    assert [float(runs.distance(run)) for run in range(len(runs.starts))] == pytest.approx(runs.distances())
    assert runs.distances().min() == 0


@pytest.mark.parametrize("rate", [F(1, 20), F(1, 2), F(3)], ids=str)
@pytest.mark.parametrize("q", [F(1, 7), F(3, 10), F(1, 2)], ids=str)
def test_the_law_is_that_of_noisy_max_with_exponential_noise(q, rate):
    """P(rung) = a times the integral over z from 0 to 1 of the product of (1 - a' z) over the other rungs."""
    runs = runs_of(q, rate)
    a = np.exp(-float(rate) * np.repeat(runs.distances(), runs.lengths))
    wanted = [
        a[i] * integrate.quad(lambda z, i=i: np.prod(np.delete(1 - a * z, i)), 0, 1, epsabs=1e-13)[0]
        for i in range(len(a))
    ]
    assert np.exp(flip_law(runs).log_pmf()) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.medium
@pytest.mark.sampled
def test_the_sampler_matches_the_law_and_rejects_one_20_percent_off():
    """Chi-square over all rungs of a small ladder, 8,000 draws."""
    runs, source = runs_of(F(3, 10)), random_source(np.random.default_rng(seed_of(3)))
    counts = np.bincount([flip_rung(runs, source) - LADDER.first for _ in range(8_000)], minlength=LADDER.size)
    law, off = (np.exp(flip_law(runs_of(F(3, 10), rate)).log_pmf()) for rate in (F(1, 2), F(3, 5)))
    assert stats.chisquare(counts, law / law.sum() * 8_000).pvalue > 1e-6
    assert stats.chisquare(counts, off / off.sum() * 8_000).pvalue < 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("q", [F(1, 2), F(123456789, 10**9)], ids=str)
@pytest.mark.sampled
def test_doubles_and_balls_choose_alike(q):
    """From the same variables, ball arithmetic chooses the run that double precision chose."""
    from flint import ctx

    data = np.random.default_rng(seed_of(1)).lognormal(0, 1, 300)
    runs = runs_of(q, F(1, 3), data, Ladder.float_bits(12))
    decided = 0
    for seed in range(25):
        source = random_source(random.Random(seed_of(seed)))
        e, u = Exponential(source), Uniform(source)
        run = flip_module._in_doubles(runs, e, u)
        if run is not None:
            decided += 1
            with ctx.workprec(192):
                assert flip_module._in_balls(runs, e, u, 192) == run
    assert decided >= 24


@pytest.mark.medium
@pytest.mark.parametrize(
    ("relation", "q", "reached"),
    [
        ("add-remove", F(1, 4), 0.9),
        ("add-remove", F(1, 2), 0.95),
        ("add-remove", F(1), 0.49),  # at the ends of the ranks all utilities move one way, which halves the cost
        ("swap", F(1, 4), 0.75),
        ("swap", F(1, 2), 0.75),
    ],
    ids=str,
)
def test_it_costs_epsilon(relation, q, reached):
    """With rate epsilon / (2 sensitivity) no pair of up to four records shows more than epsilon; some come near it."""
    found = audited_choice(flip_law, relation, q)
    assert reached < found.epsilon <= 1 + 1e-9


def test_tails_add_up_the_law():
    """The tail at k is the sum of the masses from the k-th rung on."""
    law = flip_law(runs_of(F(1, 2)))
    masses = np.exp(law.log_pmf())
    assert law.tail(np.arange(law.length)) == pytest.approx(np.cumsum(masses[::-1])[::-1])
    assert law.tail([law.length]) == pytest.approx([0.0])


@pytest.mark.sampled
def test_uniform_numbers_are_uniform():
    """Every number below n is equally likely, for n that are no powers of two."""
    source = random_source(random.Random(seed_of(5)))
    counts = np.bincount([uniform_below(7, source) for _ in range(14_000)], minlength=7)
    assert len(counts) == 7 and stats.chisquare(counts).pvalue > 1e-9
    assert uniform_below(1, source) == 0


def test_no_data_is_one_run():
    """Without records every rung is equally likely."""
    law = flip_law(runs_of(F(1, 2), data=[]))
    assert np.exp(law.log_pmf()) == pytest.approx(np.full(LADDER.size, 1 / LADDER.size))
    assert "hidden" in repr(runs_of(F(1, 2)))
