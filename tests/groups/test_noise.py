"""Noise for many groups: equal to the scalar samplers on the same words, and of their laws."""

import math
import random
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats
from support.grouped import Recording

from nobounds.groups import discrete_gaussian_many, discrete_laplace_many, geometric_many, noise_many
from nobounds.groups import noise as noises
from nobounds.groups.choices import below
from nobounds.groups.draws import exponential_bounds, uniform_bounds, words
from nobounds.groups.noise import gaussians, geometrics, laplaces
from nobounds.groups.ragged import running
from nobounds.noise.additive import Additive
from nobounds.noise.discrete import Exponential, Uniform, discrete_laplace, geometric, uniform_below
from nobounds.noise.gaussian import discrete_gaussian
from nobounds.noise.source import random_source

RATES = [F(10**301), F(40), F(2), F(1, 3), F(1, 1000), F(3, 10**9), F(1, 2**45), F(1, 10**25)]
ODD_WORDS = [0, 1, 2, 2**16, 2**44, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2**20, 2**64 - 2, 2**64 - 1]


def same(many, one, n, seed=1):
    """Each group's draw is that of the scalar sampler on its words, and uses all of them."""
    draws = Recording(random_source(random.Random(seed)))
    found = many(np.arange(n), draws)
    for g in range(n):
        bits, left = draws.replayed(g)
        assert int(found[g]) == one(bits)
        assert not left
    return found


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: f"{float(rate) if rate < 10**300 else math.inf:.1e}")
def test_geometric_and_laplace_draws_are_the_scalar_ones(rate):
    """At all rates; numbers that do not fit into 64 bits are Python ints."""
    found = same(lambda who, draws: geometrics(rate, who, draws), lambda bits: geometric(rate, bits), 300)
    assert (found.dtype == object) == (rate < F(1, 10**20))
    same(lambda who, draws: laplaces(rate, who, draws), lambda bits: discrete_laplace(rate, bits), 300)


@pytest.mark.parametrize("variance", [F(1, 10**6), F(1, 3), F(7), F(10**9, 3), F(2**60), F(10**110)], ids=float)
def test_gaussian_draws_are_the_scalar_ones(variance):
    """At all variances."""
    same(lambda who, draws: gaussians(variance, who, draws), lambda bits: discrete_gaussian(variance, bits), 200)


def test_whole_numbers_below_are_the_scalar_ones():
    """Also 1, powers of two and next to them, and what a double rounds up."""
    n = np.array([1, 2, 3, 4, 5, 255, 256, 257, 2**53, 2**53 + 1, 2**60 - 1, 2**60, 2**60 + 1, 2**62] * 20)
    draws = Recording(random_source(random.Random(2)))
    found = below(n, np.arange(len(n)), draws)
    for g, (most, value) in enumerate(zip(n.tolist(), found.tolist(), strict=True)):
        bits, left = draws.replayed(g)
        assert value == uniform_below(most, bits) and not left


def test_extended_precision_decides_most_of_what_doubles_cannot(monkeypatch):
    """At a rate of 2**-45 fewer than 1 in 100 draws go to balls; without it, a good part of them."""
    if not noises._LONG:
        pytest.skip("no long doubles here")
    asked = []
    monkeypatch.setattr(noises, "geometric", lambda rate, bits: asked.append(1) or geometric(rate, bits))
    with_it = geometric_many(F(1, 2**45), 3000, random_source(random.Random(3)))
    assert len(asked) < 30
    monkeypatch.setattr(noises, "_LONG", False)
    asked.clear()
    assert np.array_equal(geometric_many(F(1, 2**45), 3000, random_source(random.Random(3))), with_it)
    assert len(asked) > 100


def test_bounds_hold_the_variable_and_are_close():
    """Against balls, on random words and at the ends; the scalar bounds are not much closer."""
    from flint import ctx

    drawn = np.concatenate([np.array(ODD_WORDS, dtype=np.uint64), words(random_source(random.Random(4)), 300)])
    low, high = exponential_bounds(drawn)
    first, last = uniform_bounds(drawn)
    for k, word in enumerate(drawn.tolist()):
        for then in (1, 2**64 - 1):  # further bits, nearly all 0 or all 1
            with ctx.workprec(300):
                e, u = Exponential(then_always(word, then)).ball(200), Uniform(then_always(word, then)).ball(200)
                assert not (e < low[k] or e > high[k])
                assert not (u < first[k] or u > last[k])
        if 2**46 < word < 2**64 - 2**20:
            assert high[k] - low[k] <= high[k] * 2.0**-43
    assert not low[0] > 0  # a word of zeros says nothing


def then_always(word, other):
    """A source of one word, and then of another for ever."""
    given = iter([word])
    return lambda k: next(given, other)


def chi_square(draws, log_weight):
    """p-value against weights on whole numbers, those expected fewer than 20 times taken together."""
    reach = int(np.abs(draws).max()) + 1
    values = np.arange(-reach, reach + 1)
    masses = np.exp(log_weight(values))
    expected = masses / masses.sum() * len(draws)
    counts = np.bincount(draws + reach, minlength=len(values))
    kept = expected >= 20
    return stats.chisquare(
        np.append(counts[kept], counts[~kept].sum()), np.append(expected[kept], expected[~kept].sum())
    ).pvalue


@pytest.mark.medium
def test_a_million_draws_have_the_law_and_not_one_two_percent_off():
    """Laplace and Gaussian noise by chi-square: p > 1e-6, and p < 1e-9 against a scale 2% off."""
    source = random_source(np.random.default_rng(5))
    laplace = discrete_laplace_many(F(1, 4), 10**6, source)
    gauss = discrete_gaussian_many(F(10), 10**6, source)
    for off, wanted in ((1.0, lambda p: p > 1e-6), (1.02, lambda p: p < 1e-9)):
        assert wanted(chi_square(laplace, lambda j, off=off: -np.abs(j) / 4 * off))
        assert wanted(chi_square(gauss, lambda j, off=off: -(j**2) / 20 * off))


def test_noise_many_follows_the_kind_of_noise():
    """Under zCDP Gaussian with the standard deviation sensitivity / epsilon, else Laplace."""
    source = random_source(np.random.default_rng(6))
    for additive, scale in ((Additive(F(1, 2), True), 20.0), (Additive(F(1, 2)), 20.0 * math.sqrt(2))):
        found = noise_many(additive, 10, 100_000, source)
        assert abs(found.std() / scale - 1) < 0.02 and found.dtype == np.int64


def test_words_are_one_request():
    """n words are 64 n bits, asked for at once; each bit is used."""
    asked = []

    def bits(k):
        asked.append(k)
        return (1 << k) - 1

    assert np.all(words(bits, 5) == 2**64 - 1) and asked == [320]


def test_running_sums_start_again_in_each_group():
    """Equal to the sums one group after the other, also next to groups that are 1e300 times as large."""
    rng = np.random.default_rng(7)
    sizes = rng.integers(1, 40, 500)
    starts = np.cumsum(sizes) - sizes
    values = rng.exponential(size=sizes.sum()) * np.repeat(10.0 ** rng.choice([-200, 0, 100], 500), sizes)
    expected = np.concatenate([np.cumsum(part) for part in np.split(values, starts[1:])])
    assert np.allclose(running(values.copy(), starts), expected, rtol=1e-14, atol=0)
