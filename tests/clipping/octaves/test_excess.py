"""The law of the excess: it covers the excess of families that fall log-concavely, and not that of a far cluster."""

import numpy as np
import pytest
from support.chance import fewest, seed_of

from nobounds.clipping.octaves import excess as module
from nobounds.clipping.octaves.excess import BELOW, RELATIVE, CountNoise, excess, fitted

NOISE = CountNoise(5.0, False)
FAMILIES = {
    "uniform": lambda rng, n: rng.random(n),
    "exponential": lambda rng, n: rng.exponential(1, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
    "Pareto(2.5)": lambda rng, n: 1 + rng.pareto(2.5, n),
}


def noisy_octaves(values, clip, rng):
    """Noisy counts of the octaves from BELOW below the clip on."""
    edges = clip * 2.0 ** np.arange(-BELOW, 4)
    counts = np.append(np.histogram(values, edges)[0], np.sum(values > edges[-1]))
    return np.rint(counts + rng.laplace(0, NOISE.scale, len(counts))).astype(np.int64)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.sampled
def test_the_upper_end_holds(family):
    """The 95% point of the law is above the excess in nine of ten data sets at least."""
    rng, held = np.random.default_rng(seed_of(1)), []
    for _ in range(200):
        values = np.sort(FAMILIES[family](rng, 2000))
        clip = float(values[-12])
        points = excess(noisy_octaves(values, clip, rng), NOISE)
        held.append(np.maximum(values - clip, 0).sum() / clip <= np.quantile(points, 0.95))
    assert sum(held) >= fewest(200, 0.9)


def test_a_far_cluster_is_not_seen():
    """One record in a hundred, fifty times larger: the assumption fails, and so does the upper end."""
    rng = np.random.default_rng(2)
    values = np.append(rng.random(2000), np.full(8, 50.0))
    points = excess(noisy_octaves(values, 1.0, rng), NOISE)
    assert np.quantile(points, 0.9) < 8 * 49


def test_an_empty_side_has_hardly_any_excess():
    """Where all counts may be noise, most of the law is at 0."""
    points = excess(np.array([3, 1, -2, 2, -4, 1, 5, -3, 0]), NOISE)
    assert np.mean(points == 0) > 0.5
    assert np.median(points) == 0


def test_public_bounds_bound_the_excess():
    """No record exceeds the clip by more than a public bound allows."""
    counts = np.array([300, 400, 500, 400, 300, 100, 40, 20, 10])
    assert excess(counts, NOISE, most=0.5).max() < 0.5 * excess(counts, NOISE).max()


def test_wider_noise_gives_a_wider_law():
    """The same counts tell less if they are noisier."""
    counts = np.array([500, 600, 600, 400, 150, 3, 1, 0, 1])
    ends = [np.quantile(excess(counts, CountNoise(scale, True)), 0.95) for scale in (1.0, 20.0)]
    assert ends[0] < ends[1]


@pytest.mark.parametrize("count", [-20.0, 0.0, 60.0])
@pytest.mark.parametrize("scale", [1.0, 33.0, 400.0])
def test_the_likelihood_of_a_noisy_count_is_that_of_all_whole_numbers(scale, count):
    """Whatever the noise: were 0 records to stand for several numbers, intervals would miss at small epsilons."""
    noise = CountNoise(scale, False)
    shape = 1 / RELATIVE**2
    cell = module._cell(count, noise, 70, shape)
    failures, success = module._logs(70, shape)
    numbers = np.arange(np.ceil(max(count, 0) + 14 * scale) + 1)
    ways = np.array([module._ways(x, shape) for x in numbers]) - module.math.lgamma(shape)
    whole = np.logaddexp.reduce(ways + noise.log_density(numbers - count) + failures + numbers * success, axis=1)
    likely = whole > whole.max() - 5
    np.testing.assert_allclose(cell.likelihood[likely], whole[likely], atol=0.05)


@pytest.mark.parametrize("times", [5, 20])
def test_more_records_in_as_much_more_noise_leave_about_as_much_beyond(times):
    """An epsilon that is smaller by as much as the records are more is no reason to expect less beyond the clip."""
    counts = np.array([60, 90, 100, 80, 50, 25, 10, 4, 2, 1, 0, 0, 0])
    few, many = (excess(k * counts, CountNoise(5.0 * k, False)).mean() / k for k in (1, times))
    assert many > 0.85 * few


@pytest.mark.parametrize("clip", [0.75, 1.3])
def test_the_excess_beyond_a_clip_within_an_octave(clip):
    """For an exponential law the mean excess is the true one to a fifth, and a wider clip leaves less."""
    values = np.sort(np.random.default_rng(5).exponential(1, 200_000))
    edges = 4 * 2.0 ** np.arange(-BELOW, 4)
    counts = np.append(np.histogram(values, edges)[0], np.sum(values > edges[-1]))
    law = fitted(counts, CountNoise(1.0, False))
    true = np.maximum(values / 4 - clip, 0).sum()
    assert np.mean(law.excess(law.numbers, clip=clip)) == pytest.approx(true, rel=0.2)
    assert np.mean(law.excess(law.numbers, clip=clip + 0.1)) < np.mean(law.excess(law.numbers, clip=clip))


def test_a_curve_that_bends_more_and_more_leaves_less_beyond():
    """The same counts just below the clip leave less after octaves that bend than after a straight line."""
    bent, straight = (np.array([*before, 100, 30, 3, 0, 1, -1]) for before in ([150, 200, 190], [3600, 1100, 330]))
    ends = [np.quantile(excess(counts, NOISE), 0.975) for counts in (bent, straight)]
    assert ends[0] < 0.6 * ends[1]


def test_octaves_before_a_sharp_beginning_say_nothing():
    """Pareto data begin at once: that there is nothing before does not make their tail end."""
    begins = np.array([2, -3, 820, 145, 26, 4, 1, 0, 1])
    rest = np.array([26_000, 4600, 820, 145, 26, 4, 1, 0, 1])
    ends = [np.quantile(excess(counts, NOISE), 0.975) for counts in (begins, rest)]
    assert ends[0] >= 0.9 * ends[1]


def test_octaves_before_a_gap_say_nothing():
    """Heaps of equal records leave octaves empty between them; beyond the last one there may be nothing."""
    counts = np.array([6, 428, 9, 0, 776, 18, 22, 1, -5, 3, 2, 4, 2, 24])
    low, high = np.quantile(excess(counts, CountNoise(10.0, False)), [0.025, 0.975])
    assert low < 10
    assert high < 100
