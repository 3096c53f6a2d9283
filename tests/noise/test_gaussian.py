"""Discrete Gaussian noise: its law is the law on paper, doubles and balls decide alike, and its tails are bounded."""

import math
import random
from bisect import bisect_right
from fractions import Fraction as F

import hypothesis.strategies as st
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from scipy import stats
from support.chance import seed_of

from nobounds.exact import ball
from nobounds.noise import gaussian
from nobounds.noise.discrete import Exponential
from nobounds.noise.gaussian import DiscreteGaussian, discrete_gaussian, two_sided
from nobounds.noise.source import random_source

LIMIT = 1e-9
DRAWS = 20_000
VARIANCES = [F(1, 4), F(1), F(7, 3), F(100), F(10**6, 7), F(2**80), F(2**80, 3), F(2**250), F(2**400)]
variances = pytest.mark.parametrize("variance", VARIANCES, ids=lambda v: f"{float(v):.3g}")


def at_most(variance: F, j: int) -> float:
    """P(J <= j): summed for small variances, by the continuous law half a step on for large ones."""
    if variance > 1000:
        return stats.norm.cdf(float(j + F(1, 2)) / math.sqrt(variance))
    reach = math.isqrt(math.ceil(80 * variance)) + 2
    weights = {i: math.exp(-i * i / (2 * variance)) for i in range(-reach, reach + 1)}
    return math.fsum(w for i, w in weights.items() if i <= j) / math.fsum(weights.values())


def chi_square(draws, variance: F) -> float:
    """p-value of the draws against the law of this variance, in at most 20 bins."""
    draws, sigma = sorted(draws), F(math.isqrt(math.ceil(variance * 2**40)), 2**20)
    cuts = sorted({round(sigma * F(z)) for z in stats.norm.ppf(np.arange(1, 20) / 20)} | {-1, 0})
    observed = np.diff([0, *(bisect_right(draws, cut) for cut in cuts), len(draws)])
    expected = np.diff([0.0, *(at_most(variance, cut) for cut in cuts), 1.0]) * len(draws)
    full = expected > 5
    return stats.chisquare(observed[full], expected[full] * observed[full].sum() / expected[full].sum()).pvalue


# --- the law ------------------------------------------------------------------------------------------------------


@pytest.mark.medium
@variances
def test_draws_have_the_law_on_paper(variance):
    """P(J = j) is proportional to exp(-j**2 / (2 variance)), by chi-square. A variance 30% off is rejected."""
    source, law = random_source(random.Random(3)), DiscreteGaussian(variance)
    draws = [law.draw(source) for _ in range(DRAWS)]
    assert all(type(j) is int for j in draws)
    assert chi_square(draws, variance) > LIMIT
    assert chi_square(draws, variance * F(13, 10)) < LIMIT
    assert chi_square(draws, variance / F(13, 10)) < LIMIT


@pytest.mark.medium
@pytest.mark.parametrize("variance", [F(1, 4), F(1), F(5)])
def test_small_outcomes_have_their_probability(variance):
    """Each of the outcomes -3, ..., 3 is as frequent as its exact probability says."""
    source = random_source(np.random.default_rng(4))
    draws = [discrete_gaussian(variance, source) for _ in range(DRAWS)]
    for j in range(-3, 4):
        probability = at_most(variance, j) - at_most(variance, j - 1)
        assert stats.binomtest(draws.count(j), DRAWS, probability).pvalue > LIMIT, j


@pytest.mark.parametrize("variance", [F(1, 10**4), F(1, 10**120), F(1, 10**400)])
def test_tiny_variances_give_no_noise(variance):
    """At a variance of 1/10000 a draw other than 0 has probability 2 exp(-5000); smaller ones are not 0 as floats."""
    source = random_source(random.Random(7))
    assert {discrete_gaussian(variance, source) for _ in range(200)} == {0}
    assert two_sided(variance, F(1, 10**9)) == 0


def test_the_same_seed_gives_the_same_draws():
    """A law that is kept and one that is made for each draw use the same bits in the same way."""
    law, kept, fresh = DiscreteGaussian(F(50)), random_source(random.Random(2)), random_source(random.Random(2))
    assert [law.draw(kept) for _ in range(100)] == [discrete_gaussian(F(50), fresh) for _ in range(100)]


# --- two precisions, one decision ---------------------------------------------------------------------------------


@variances
@pytest.mark.sampled
def test_doubles_and_balls_decide_alike(variance, monkeypatch):
    """From the same random bits, double precision and ball arithmetic accept the same sizes."""
    law, sigma = DiscreteGaussian(variance), math.isqrt(math.ceil(variance))
    sizes = [round(k * F(sigma, 7)) for k in range(35)]

    def decisions():
        return [
            law.accepts(size, Exponential(random_source(random.Random(seed_of(seed)))))
            for seed in range(30)
            for size in sizes
        ]

    quick = decisions()
    assert 0 < sum(quick) < len(quick)
    monkeypatch.setattr(Exponential, "bounds", lambda self: (0.0, math.inf))
    assert decisions() == quick


def test_doubles_decide_almost_always(monkeypatch):
    """Not one of 5,000 draws at variance 1000 needs ball arithmetic."""

    def refuse(self, precision):
        raise AssertionError("ball arithmetic was used")

    monkeypatch.setattr(Exponential, "ball", refuse)
    source = random_source(random.Random(9))
    for _ in range(5000):
        discrete_gaussian(F(1000), source)


@pytest.mark.parametrize(("later", "expected"), [(0, True), (2**64 - 1, False)])
@pytest.mark.parametrize("size", [0, 5, 17])
def test_an_open_comparison_is_decided_by_later_bits(later, expected, size):
    """With U = exp(-x) to 64 bits, whether E = -ln U exceeds x is up to the later bits."""
    variance = F(100, 3)
    x = (size - variance / 6) ** 2 / (2 * variance)  # 6 = floor(sqrt(100 / 3)) + 1
    with ctx.workprec(300):
        first = int(((-ball(x)).exp() * 2**64).floor().unique_fmpz())
    asked = []

    def bits(k):
        asked.append(k)
        return first if len(asked) == 1 else later

    assert DiscreteGaussian(variance).accepts(size, Exponential(bits)) is expected
    assert len(asked) > 1


fractions = st.builds(lambda a, b, k: F(a, b) * F(2) ** k, *[st.integers(1, 10**9)] * 2, st.integers(-400, 400))


@given(variance=fractions, near=st.fractions(0, 50), shift=st.integers(-3, 3))
def test_the_bounds_enclose_the_exponent(variance, near, shift):
    """least <= (size - variance / scale)**2 / (2 variance) <= most, near the centre and far from it."""
    scale = math.isqrt(math.floor(variance)) + 1
    for size in (max(0, round(near * scale) + shift), max(0, round(variance / scale) + shift)):
        exact = (size - variance / scale) ** 2 / (2 * variance)
        least, most = DiscreteGaussian(variance).exponent_bounds(size)
        assert F(least) <= exact
        assert most == math.inf or exact <= F(most)


# --- tails --------------------------------------------------------------------------------------------------------

CHANCES = [F(9, 10), F(1, 2), F(1, 3), F(1, 20), F(1, 10**6), F(1, 10**20)]


def smallest(variance: F, chance: F) -> int:
    """The smallest j with P(|J| > j) <= chance, as 1 less all that lies within j."""
    with ctx.workprec(400):
        reach = math.isqrt(math.ceil(500 * variance)) + 10
        weights = [(ball(-i * i) / ball(2 * variance)).exp() * (2 if i else 1) for i in range(reach)]
        total, inside = sum(weights, arb(0)), arb(0)
        for j, weight in enumerate(weights):
            inside += weight
            if total - inside <= ball(chance) * total:
                return j
    raise AssertionError("the sum ended too early")


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("variance", [F(1, 10), F(1, 4), F(1), F(7, 3), F(50), F(1000, 3), F(10**4)])
def test_two_sided_is_the_smallest(variance, chance):
    """Up to a variance of 2**14 no smaller j would do."""
    assert two_sided(variance, chance) == smallest(variance, chance)


@pytest.mark.medium
@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("variance", [F(2**14) + F(1, 3), F(10**5, 3)])
def test_two_sided_by_the_continuous_law_is_hardly_more(variance, chance):
    """Above it j suffices, and is at most one step more than the smallest."""
    assert smallest(variance, chance) <= two_sided(variance, chance) <= smallest(variance, chance) + 1


@pytest.mark.medium
@pytest.mark.parametrize("variance", [F(50), F(2**80), F(2**400)])
def test_two_sided_grows_as_the_chance_falls(variance):
    """It is 0 for a chance of 1, never falls as the chance falls, and stays below sigma sqrt(2 ln(2 / chance)) + 1."""
    found = [two_sided(variance, F(1, 2**k)) for k in range(0, 400, 20)]
    assert found[0] == 0
    assert found == sorted(set(found))
    for k, j in zip(range(0, 400, 20), found, strict=True):
        assert j <= math.sqrt(variance) * math.sqrt(2 * (k + 1) * math.log(2)) * (1 + 1e-12) + 1


def test_sums_and_the_line_agree():
    """Two ways to one number: the sum of the tail and the law on the line differ by at most a step at variance 400."""
    for k in range(1, 60):
        with ctx.workprec(200):
            summed, line = (way(F(400), F(1, 2**k)) for way in (gaussian._summed, gaussian._on_the_line))
        assert summed <= line <= summed + 1


@pytest.mark.medium
@pytest.mark.parametrize("variance", [F(3), F(2**90)])
def test_as_many_draws_lie_beyond_as_the_chance_says(variance):
    """Of 20,000 draws at most about one in ten lies beyond the bound of chance 1/10, and beyond one step less more."""
    source, law, j = random_source(random.Random(8)), DiscreteGaussian(variance), two_sided(variance, F(1, 10))
    draws = [law.draw(source) for _ in range(DRAWS)]
    beyond = sum(abs(draw) > j for draw in draws)
    assert stats.binomtest(beyond, DRAWS, 0.1, alternative="greater").pvalue > LIMIT
    assert sum(abs(draw) > j * 0.8 for draw in draws) > 0.11 * DRAWS
