"""Noise: integers whose law is the law on paper, from random bits that are looked at only as far as needed."""

import math
import os
import random
from bisect import bisect_left
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from flint import arb, ctx, fmpz
from hypothesis import given
from scipy import stats
from support.chance import seed_of

from nobounds.noise import discrete as noise
from nobounds.noise.discrete import (
    Exponential,
    check_noise,
    discrete_laplace,
    discrete_laplaces,
    geometric,
    threshold_noise,
)
from nobounds.noise.source import random_source, signs_and_bits

LIMIT = 1e-9
DRAWS = 60_000


def chi_square(draws, tail) -> float:
    """p-value of integer draws against the law with P(J >= j) = tail(j), in about 20 bins of like probability."""
    draws = np.sort(draws)
    span = range(-(10**6), 10**6)
    cuts = sorted({span[bisect_left(span, k / 20 - 1, key=lambda j: -tail(j))] for k in range(1, 20)})
    cuts = [j for j in cuts if 20 / len(draws) < tail(j) < 1 - 20 / len(draws)]
    observed = np.diff([0, *np.searchsorted(draws, cuts), len(draws)])
    expected = -np.diff([1.0, *(tail(j) for j in cuts), 0.0]) * len(draws)
    return stats.chisquare(observed, expected).pvalue


def geometric_tail(rate: float):
    return lambda j: math.exp(-rate * max(j, 0))


def laplace_tail(rate: float):
    p = math.exp(-rate)
    return lambda j: p**j / (1 + p) if j > 0 else 1 - p ** (1 - j) / (1 + p)


SAMPLERS = {"exponential": (geometric, geometric_tail), "laplace": (discrete_laplace, laplace_tail)}
both = pytest.mark.parametrize("name", SAMPLERS)


# --- the laws -----------------------------------------------------------------------------------------------------


@pytest.mark.medium
@both
@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(1, 30), Fraction(3, 10), Fraction(1), Fraction(7, 3)])
def test_draws_have_the_law_on_paper(name, rate):
    """P(J >= j) = exp(-rate j); P(J = j) proportional to exp(-rate |j|): by chi-square. A rate 5% off is rejected."""
    sample, tail = SAMPLERS[name]
    source = random_source(random.Random(11))
    draws = [sample(rate, source) for _ in range(DRAWS)]
    assert chi_square(draws, tail(float(rate))) > LIMIT
    if rate <= 1:
        assert chi_square(draws, tail(float(rate) * 1.05)) < LIMIT
        assert chi_square(draws, tail(float(rate) / 1.05)) < LIMIT


@pytest.mark.medium
@both
def test_small_outcomes_have_their_probability(name):
    """At rate 1 each of the outcomes 0, 1, 2, 3 (and -1, -2, -3) is as frequent as its exact probability says."""
    sample, tail = SAMPLERS[name]
    source = random_source(np.random.default_rng(4))
    draws = np.array([sample(Fraction(1), source) for _ in range(DRAWS)])
    for j in range(-3 if name == "laplace" else 0, 4):
        probability = tail(1.0)(j) - tail(1.0)(j + 1)
        assert stats.binomtest(int(np.sum(draws == j)), DRAWS, probability).pvalue > LIMIT, j


@pytest.mark.medium
@pytest.mark.parametrize("rate", [Fraction(1, 10**12), Fraction(1, 10**30)])
def test_tiny_rates_reach_the_continuous_law(rate):
    """At a tiny rate, rate * J is exponential, by Kolmogorov and Smirnov; a scale 5% off is rejected."""
    source = random_source(random.Random(5))
    draws = np.array([float(rate * geometric(rate, source)) for _ in range(DRAWS)])
    assert stats.kstest(draws, stats.expon.cdf).pvalue > LIMIT
    assert stats.kstest(draws * 1.05, stats.expon.cdf).pvalue < LIMIT


@pytest.mark.medium
@pytest.mark.sampled
def test_rates_below_the_floats():
    """A rate of 1e-400 is 0 as a float; its draws are exponential all the same."""
    rate, source = Fraction(1, 10**400), random_source(random.Random(seed_of(5)))
    draws = [float(rate * geometric(rate, source)) for _ in range(2000)]
    assert stats.kstest(draws, stats.expon.cdf).pvalue > LIMIT


@pytest.mark.medium
def test_tiny_rates_of_both_signs():
    """At a tiny rate the discrete Laplace law is the continuous one."""
    rate, source = Fraction(1, 10**12), random_source(random.Random(6))
    draws = np.array([float(rate * discrete_laplace(rate, source)) for _ in range(DRAWS)])
    assert stats.kstest(draws, stats.laplace.cdf).pvalue > LIMIT
    assert stats.kstest(draws * 1.08, stats.laplace.cdf).pvalue < LIMIT


@both
@pytest.mark.parametrize("rate", [Fraction(10**6), Fraction(10**300), Fraction(10**400)])
def test_huge_rates_give_no_noise(name, rate):
    """At a rate of a million a draw other than 0 has probability exp(-1000000)."""
    source = random_source(random.Random(7))
    assert {SAMPLERS[name][0](rate, source) for _ in range(300)} == {0}


@pytest.mark.sampled
def test_threshold_noise_goes_by_its_name():
    """Exponential noise is never negative, Laplace noise is half the time."""
    rate = Fraction(1, 100)
    source = random_source(random.Random(seed_of(8)))
    assert min(threshold_noise("exponential", rate, source) for _ in range(200)) >= 0
    below = sum(threshold_noise("laplace", rate, source) < 0 for _ in range(2000))
    assert 850 < below < 1150


# --- two precisions, one integer ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [Fraction(1, 10**6), Fraction(1, 1000), Fraction(1, 3), Fraction(2), Fraction(50)])
def test_doubles_and_balls_decide_alike(rate, monkeypatch):
    """From the same random bits, double precision and ball arithmetic come to the same integer."""
    quick = [geometric(rate, random_source(random.Random(seed))) for seed in range(1500)]
    monkeypatch.setattr(Exponential, "bounds", lambda self: (0.0, math.inf))
    assert [geometric(rate, random_source(random.Random(seed))) for seed in range(1500)] == quick


def test_doubles_decide_almost_always(monkeypatch):
    """Not one draw in 20,000 needs ball arithmetic."""

    def refuse(self, precision):
        raise AssertionError("ball arithmetic was used")

    monkeypatch.setattr(Exponential, "ball", refuse)
    source = random_source(random.Random(9))
    for _ in range(20_000):
        geometric(Fraction(1, 1000), source)


@pytest.mark.parametrize(("later", "expected"), [(0, 1), (2**64 - 1, 0)])
def test_an_open_comparison_is_decided_by_later_bits(later, expected):
    """With U = 1/2 to 64 bits and rate ln 2 - 2**-100, whether E = -ln U reaches the rate is up to the later bits."""
    with ctx.workprec(300):
        rate = Fraction(int((arb(2).log() * 2**200).floor().unique_fmpz()), 2**200) - Fraction(1, 2**100)
    asked = []

    def bits(k):
        asked.append(k)
        return 2**63 if len(asked) == 1 else later

    assert geometric(rate, bits) == expected
    assert len(asked) > 1


firsts = (
    st.integers(0, 2**64 - 1)
    | st.integers(0, 63).map(lambda k: 1 << k)
    | st.integers(0, 64).map(lambda k: 2**64 - max(2**k, 1) if k < 64 else 0)
    | st.sampled_from([0, 1, 2, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1])
)


@given(first=firsts, seed=st.integers(0, 2**32))
def test_the_bounds_enclose_the_variable(first, seed):
    """low <= E <= high for the doubles, whatever the 64 first bits and the later ones; and they are close."""
    later = random.Random(seed)
    drawn = []

    def bits(k):
        drawn.append(later.getrandbits(k) if drawn else first)
        return drawn[-1]

    e = Exponential(bits)
    low, high = e.bounds()
    with ctx.workprec(256):
        ball = e.ball(256)
        assert arb(low) <= ball
        assert math.isinf(high) or ball <= arb(high)
    assert e.bounds() == (low, high)  # more bits do not change what the first ones say
    if 2**20 < first < 2**64 - 2**20:
        assert high - low <= high * 2.0**-19


@given(seed=st.integers(0, 2**32), precision=st.sampled_from([64, 128, 512, 2048]))
def test_balls_hold_minus_the_log_of_the_uniform(seed, precision):
    """Both ends of what is known of U have their -ln in the ball, and the ball is narrow."""
    generator = random.Random(seed)
    drawn = []

    def bits(k):
        drawn.append((k, generator.getrandbits(k)))
        return drawn[-1][1]

    e = Exponential(bits)
    with ctx.workprec(precision):
        ball = e.ball(precision)
    u, width = 0, 0
    for k, part in drawn:
        u, width = (u << k) | part, width + k
    with ctx.workprec(4096):
        for end in (u, u + 1):
            exact = -(arb(fmpz(end)) * arb(2) ** -width).log()
            assert ball.overlaps(exact)
            assert ball.lower() <= exact.upper()
            assert exact.lower() <= ball.upper()
        assert ball.rad() < arb(2) ** (20 - precision)


def test_a_uniform_that_begins_with_zeros_is_not_taken_for_zero():
    """64 zero bits leave E above 44.3 with no upper bound; the next bits say where it is."""
    parts = iter([0, 2**63])
    e = Exponential(lambda k: next(parts, 0))
    low, high = e.bounds()
    assert 44.36 < low < 44.37
    assert high == math.inf
    with ctx.workprec(64):
        assert abs(float(e.ball(64)) - 65 * math.log(2)) < 1e-12


def test_a_uniform_known_to_one_bit_is_a_wide_ball():
    """After 127 zeros and a one, U lies between 2**-128 and 2**-127, and the ball holds -ln of all between."""
    parts = iter([0, 1])
    e = Exponential(lambda k: next(parts))
    with ctx.workprec(64):
        ball = e.ball(64)
        assert all(ball.contains(arb(k) * arb(2).log().mid()) for k in (127, 127.5, 128))


def test_decide_takes_the_first_answer_and_the_precision_grows():
    """None means still open: the next attempt has twice the precision, and the working precision is set to it."""
    seen = []

    def attempt(precision):
        seen.append((precision, ctx.prec))
        return 7 if len(seen) == 3 else None

    before = ctx.prec
    assert noise.decide(attempt) == 7
    assert seen == [(128, 128), (256, 256), (512, 512)]
    assert ctx.prec == before


def test_a_comparison_that_never_closes_is_an_error():
    """A comparison still open at the last precision is refused, not guessed."""
    with pytest.raises(ArithmeticError, match="certified comparison stayed open"):
        noise.decide(lambda precision: None)


# --- random bits --------------------------------------------------------------------------------------------------

RNGS = {"numpy": lambda: np.random.default_rng(1), "python": lambda: random.Random(1), "system": lambda: None}


@pytest.mark.entropy
@pytest.mark.parametrize("rng", RNGS.values(), ids=RNGS.keys())
@pytest.mark.parametrize("k", [1, 2, 7, 8, 9, 63, 64, 65, 128])
def test_sources_give_as_many_bits_as_asked(rng, k):
    """k bits are a whole number below 2**k, and in 200 draws each of the k bits is sometimes 0 and sometimes 1."""
    source = random_source(rng())
    draws = [source(k) for _ in range(200)]
    assert all(type(draw) is int and 0 <= draw < 2**k for draw in draws)
    all_ones, all_zeros = 0, 2**k - 1
    for draw in draws:
        all_ones, all_zeros = all_ones | draw, all_zeros & draw
    assert (all_ones, all_zeros) == (2**k - 1, 0)


@pytest.mark.medium
@pytest.mark.parametrize(
    "rng", [lambda: np.random.default_rng(seed_of(2)), lambda: random.Random(seed_of(2))], ids=["numpy", "python"]
)
@pytest.mark.parametrize("k", [1, 3, 64])
@pytest.mark.sampled
def test_bits_are_fair(rng, k):
    """Ones are half of all bits, at each place."""
    source = random_source(rng())
    draws = [source(k) for _ in range(20_000)]
    for place in {0, k // 2, k - 1}:
        assert stats.binomtest(sum(draw >> place & 1 for draw in draws), len(draws), 0.5).pvalue > LIMIT


@both
@pytest.mark.parametrize("rng", [np.random.default_rng, random.Random], ids=["numpy", "python"])
def test_the_same_seed_gives_the_same_draws(name, rng):
    """A seeded generator repeats itself, another seed does not."""

    def draws(seed):
        source = random_source(rng(seed))
        return [SAMPLERS[name][0](Fraction(1, 100), source) for _ in range(50)]

    assert draws(3) == draws(3)
    assert draws(3) != draws(4)


@pytest.mark.entropy
def test_the_default_is_the_operating_system(monkeypatch):
    """With no generator given the bits come from os.urandom, and two sources differ."""
    a, b = random_source(), random_source()
    assert a(128) != b(128)
    monkeypatch.setattr(os, "urandom", lambda n: b"\xff" * n)
    assert random_source()(64) == 2**64 - 1
    assert random_source()(3) == 7


@pytest.mark.entropy
def test_many_draws_read_the_operating_system_once(monkeypatch):
    """Each pair has a bit and 64 bits of its own: no byte serves twice, and none is read that is not needed."""
    read = []
    monkeypatch.setattr(os, "urandom", lambda n: read.append(n) or bytes(range(1, n + 1)))
    pairs = [(k % 2, int.from_bytes(range(k + 1, k + 9), "little")) for k in (1, 10, 19)]
    assert list(signs_and_bits(random_source(), 3)) == pairs
    assert read == [27]


@pytest.mark.entropy
def test_many_draws_of_the_operating_system_have_the_law_of_single_ones():
    """Discrete Laplace noise, by chi-square; a rate 5% off is rejected."""
    draws = discrete_laplaces(Fraction(1, 30), DRAWS, random_source())
    assert chi_square(draws, laplace_tail(1 / 30)) > LIMIT
    assert chi_square(draws, laplace_tail(1.05 / 30)) < LIMIT


def test_many_draws_of_a_seed_are_those_of_single_ones():
    """A seeded generator gives the same noise one by one and at once."""
    one, many = (random_source(random.Random(4)) for _ in range(2))
    rate = Fraction(1, 3)  # zeros are often drawn again
    assert [discrete_laplace(rate, one) for _ in range(200)] == discrete_laplaces(rate, 200, many)


@pytest.mark.parametrize("rng", [7, "seed", np.random.RandomState(1), np.random.PCG64(1), random.random, random])
def test_other_generators_are_refused(rng):
    """A seed, a legacy generator or a function is refused by its type."""
    with pytest.raises(TypeError, match=rf"^rng must be None .*, got rng of type {type(rng).__name__}$"):
        random_source(rng)


@pytest.mark.parametrize("name", ["gaussian", "", None, 3, "Laplace"])
def test_unknown_noise_is_refused(name):
    """The error names the kinds of noise there are, and the one that was asked for."""
    with pytest.raises(ValueError) as caught:
        check_noise(name)
    assert str(caught.value) == f"noise must be one of exponential, laplace, gumbel, got noise={name!r}"


def test_known_noise_is_accepted():
    """The three kinds of the paper have names."""
    assert [check_noise(name) for name in ("exponential", "laplace", "gumbel")] == ["exponential", "laplace", "gumbel"]


# --- what double precision is trusted with ------------------------------------------------------------------------

ln2 = math.log(2)
RANGES = {
    "exp": (np.exp, lambda x: x.exp(), lambda u, tiny: np.where(tiny, 1e-9, 400) * (u - 0.5)),
    "expm1": (np.expm1, lambda x: x.expm1(), lambda u, tiny: -np.where(tiny, 10.0 ** (-280 * u), ln2 * u)),
    "log1p": (np.log1p, lambda x: x.log1p(), lambda u, tiny: np.where(tiny, -(10.0 ** (-280 * u)) / 2, 1.5 * u - 0.5)),
    "log": (np.log, lambda x: x.log(), lambda u, tiny: np.where(tiny, 10.0 ** (-280 * u), u / 2) * 0.99),
}


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("stride", [1, 3])
def test_numpy_functions_are_as_good_as_the_sampler_trusts(name, stride):
    """exp, expm1, log1p and log are within 2**-45 of the ball, relatively, at 10,000 points in any layout."""
    function, exact, spread = RANGES[name]
    rng = np.random.default_rng(12)
    x = spread(rng.uniform(size=10_000), rng.uniform(size=10_000) < 0.3)
    found = function(np.repeat(x, stride)[::stride])
    with ctx.workprec(120):
        for at, value in zip(x.tolist(), found.tolist(), strict=True):
            true = exact(arb(at))
            assert abs(arb(value) - true) <= abs(true) * arb(2) ** -45, at


@pytest.mark.sampled
def test_minus_log_of_the_first_bits_is_as_good_as_trusted():
    """-ln(u / 2**64) in doubles is within 2**-48 relatively, at both ends and between."""
    rng = random.Random(seed_of(13))
    some = [rng.getrandbits(64) + 1 for _ in range(5000)]
    some += [1 << k for k in range(64)] + [2**64 - (1 << k) for k in range(64)] + [2**63 - 1, 2**63, 2**63 + 1]
    with ctx.workprec(200):
        for u in some:
            true = -(arb(fmpz(u)) * arb(2) ** -64).log()
            assert abs(arb(noise._minus_log(u)) - true) <= abs(true) * arb(2) ** -48, u
    assert noise._minus_log(2**64) == 0
    assert noise._minus_log(0) == math.inf


@pytest.mark.sampled
def test_the_bounds_of_an_exponential_variable_hold_and_are_close():
    """-ln U lies between them for all U with these first bits, and they are as close as doubles allow."""
    rng = random.Random(seed_of(14))
    some = [rng.getrandbits(64) for _ in range(5000)]
    some += [(1 << k) + more for k in range(1, 64) for more in (-1, 0, 1)]
    some += [2**64 - (1 << k) + more for k in range(1, 64) for more in (-1, 0, 1)]
    with ctx.workprec(200):
        for u in some:
            low, high = noise._exponential_bounds(u)
            least = -(arb(fmpz(u + 1)) * arb(2) ** -64).log()
            assert not arb(low) > least, u
            if u:
                most = -(arb(fmpz(u)) * arb(2) ** -64).log()
                assert not arb(high) < most, u
                assert arb(high) - arb(low) <= (most - least) * 2 + most * arb(2) ** -46, u
