"""The skip-ahead sampler draws exactly from the law: by chi-square, by bits, and on ladders of any length."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from flint import arb
from scipy import stats
from support.chance import seed_of

from nobounds.mechanisms import skip_ahead
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.runs import pick, pick_ball
from nobounds.mechanisms.skip_ahead import halt_position
from nobounds.mechanisms.walk import Walk
from nobounds.noise.discrete import Exponential, Uniform
from nobounds.noise.source import random_source

QUERIES = [0] * 20 + [3] * 15 + [5] * 8 + [8, 9]


def walk_of(noise, eps1=F(1, 2), eps2=F(1, 2)):
    return Walk.of(QUERIES, F(11, 2), eps1=eps1, eps2=eps2, step=F(1, 2), noise=noise)


def p_value(draws, law):
    """Chi-square p-value of the counts of outcomes (never halting is the last) under a law."""
    counts = np.bincount([len(law) - 1 if k is None else k for k in draws], minlength=len(law))
    return stats.chisquare(counts, law / law.sum() * len(draws)).pvalue


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "many"), [("exponential", 40_000), ("laplace", 60_000), ("gumbel", 10_000)])
def test_draws_match_the_law_and_reject_one_10_percent_off(noise, many):
    """p > 1e-6 against the law; against the laws with a noise scale 10% off, p < 1e-9: as many draws as that takes."""
    source = random_source(np.random.default_rng(20))
    walk = walk_of(noise)
    draws = [halt_position(walk, source) for _ in range(many)]
    assert p_value(draws, Law(walk).pmf()) > 1e-6
    off = F(1, 2) * F(110, 100)
    if noise == "gumbel":
        assert p_value(draws, Law(walk_of(noise, off, off)).pmf()) < 1e-9
    else:
        assert p_value(draws, Law(walk_of(noise, eps1=off)).pmf()) < 1e-9
        assert p_value(draws, Law(walk_of(noise, eps2=off)).pmf()) < 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.sampled
def test_a_fine_lattice_has_the_noise_of_its_step(noise):
    """On steps of a half, 6,000 draws match the law, and reject the one whose threshold noise is for whole steps."""
    source = random_source(np.random.default_rng(seed_of(21)))
    walk = walk_of(noise)
    draws = [halt_position(walk, source) for _ in range(6_000)]
    assert p_value(draws, Law(walk).pmf()) > 1e-9
    assert p_value(draws, Law(walk_of(noise, eps1=2 * walk.eps1)).pmf()) < 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("noise", ["exponential", "laplace", "gumbel"])
@pytest.mark.parametrize("b", [1, 7, 10**16])
def test_doubles_and_balls_decide_alike(noise, b, monkeypatch):
    """From the same random bits, ball arithmetic gives the position that double precision gave."""
    walk = Walk.of(QUERIES, F(5 * b + 3, b), eps1=F(1, 3), eps2=F(1, 3), step=F(1, b), noise=noise)
    by_doubles = [halt_position(walk, random_source(random.Random(seed))) for seed in range(150)]
    monkeypatch.setattr(skip_ahead, "_in_doubles", lambda *_: None)
    assert [halt_position(walk, random_source(random.Random(seed))) for seed in range(150)] == by_doubles


@pytest.mark.parametrize("noise", ["exponential", "laplace", "gumbel"])
@pytest.mark.sampled
def test_double_precision_says_so_when_it_cannot_tell(noise):
    """On runs of 10**30 queries the position has more digits than a double: balls decide, and it lies in the run."""
    starts, levels = np.array([0, 10**18]), np.array([0, 60])
    walk = Walk(starts, levels, 4 * 10**18, F(60), F(1), F(1), F(1), noise)
    source = random_source(random.Random(seed_of(1)))
    draws = [halt_position(walk, source) for _ in range(300)]
    assert all(k is None or 0 <= k < walk.length for k in draws)
    assert len({k for k in draws if k is not None and k >= 10**18}) > 5


@pytest.mark.medium
@pytest.mark.parametrize("noise", ["exponential", "laplace", "gumbel"])
@pytest.mark.sampled
def test_a_long_ladder_follows_its_law(noise):
    """On a walk of 10**12 queries in four runs, the fractions of draws in ten blocks are those of the law."""
    starts, levels = np.array([0, 10**11, 5 * 10**11, 6 * 10**11]), np.array([0, 30, 55, 70])
    walk = Walk(starts, levels, 10**12, F(60), F(1), F(1, 2), F(1, 2), noise)
    law = Law(walk)
    cuts = np.array([0, 10**10, 10**11, 10**11 + 10**6, 2 * 10**11, 5 * 10**11, 5 * 10**11 + 10, 6 * 10**11, 10**12])
    masses = np.append(law.between(cuts[:-1], cuts[1:]), law.tail([10**12]))
    source = random_source(np.random.default_rng(seed_of(4)))
    draws = [halt_position(walk, source) for _ in range(20_000)]
    blocks = np.searchsorted(cuts, [10**12 if k is None else k for k in draws], side="right") - 1
    keep = masses > 1e-4
    counts = np.bincount(blocks, minlength=len(masses))
    assert counts[~keep].sum() <= 30
    scaled = masses[keep] / masses[keep].sum() * counts[keep].sum()
    assert stats.chisquare(counts[keep], scaled).pvalue > 1e-9


def test_a_query_at_the_threshold_halts_surely_without_threshold_noise():
    """With enormous eps1 and eps2 the walk is the noiseless one."""
    walk = Walk.of([1, 2, 3, 4], F(3), eps1=F(10**6), eps2=F(10**6))
    assert {halt_position(walk, random_source(random.Random(seed))) for seed in range(50)} == {2}


def test_an_open_comparison_draws_more_bits():
    """Bits are read only as far as the comparison needs them: 64 for the variable, more for a ball."""
    asked = []

    def bits(k):
        asked.append(k)
        return random.Random(len(asked)).getrandbits(k)

    e = Exponential(bits)
    e.bounds()
    assert sum(asked) == 64
    e.ball(256)
    assert sum(asked) >= 256


def test_a_halt_among_the_runs_left_out_is_not_decided_in_doubles():
    """A variable smaller than all that was left out may belong there: only a look at those runs can tell."""
    walk = Walk.of([0] * 50 + [200], F(200), eps1=F(1), eps2=F(1))
    ones = Exponential(lambda k: (1 << k) - 1)  # about 2**-64
    assert skip_ahead._in_doubles(walk, F(200), ones) is None
    assert skip_ahead._in_doubles(walk, F(200), Exponential(lambda k: 1 << (k - 1))) == 50


def test_a_choice_among_the_runs_left_out_is_not_decided_in_doubles():
    """So it is for the choice of a run by a uniform number, in doubles and in balls."""
    passed = np.array([1.0, 2.0])
    tiny, half = Uniform(lambda k: 1), Uniform(lambda k: 1 << (k - 1) | 1)
    assert pick(passed, passed, 0.0, 2.0**-60, tiny) is None
    assert pick(passed, passed, 0.0, 2.0**-60, Uniform(lambda k: 1 << (k - 2))) == 0
    assert pick(passed, passed, 2.0**-40, 2.0**-60, half) is None
    assert pick(passed, passed * (1 + 2.0**-40), 0.0, 2.0**-60, half) is None
    assert pick_ball([arb(1), arb(1)], arb(2) ** -40, tiny, 64) is None
