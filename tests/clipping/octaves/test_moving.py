"""How far a side of a clip is moved: to the end of data that end sharply, further out where counts fall slowly."""

import numpy as np
import pytest

from nobounds.clipping.octaves.excess import CountNoise
from nobounds.clipping.octaves.moving import AWAY, BELOW, alike, errors, errors_of_both, posteriors

NOISE = CountNoise(5.0, False)
UNIT = 1.5


def octaves(values, width):
    """The counts of octaves around a width, from BELOW below it on."""
    edges = width * 2.0 ** np.arange(-BELOW, 4)
    return np.append(np.histogram(values, edges)[0], np.sum(values > edges[-1])).astype(np.float64)


def best(values, width, draws=40):
    """The candidates that a side of this width is moved by, for many draws of the noise on counts."""
    rng, counts = np.random.default_rng(1), octaves(values, width)
    return np.array(
        [AWAY[np.argmin(errors(counts + rng.laplace(0, NOISE.scale, len(counts)), NOISE, UNIT))] for _ in range(draws)]
    )


@pytest.mark.parametrize("spread", [1.0, 0.02])
def test_a_side_at_a_sharp_end_stays(spread):
    """Uniform data end at the width, or all lie close to it: most sides move by a quarter of an octave at most."""
    values = 100 * (1 - spread * np.random.default_rng(2).random(2000))
    assert np.quantile(np.abs(best(values, 100.0)), 0.8) <= 2


def test_a_side_within_the_data_moves_out():
    """A width of half the largest record becomes at least two thirds of it."""
    values = 100 * np.random.default_rng(2).random(2000)
    assert np.quantile(best(values, 50.0), 0.1) >= 3


def test_a_side_beyond_the_data_moves_in():
    """A width of four times the largest record becomes narrower by half an octave at least."""
    values = 100 * np.random.default_rng(2).random(2000)
    assert np.quantile(best(values, 390.0), 0.9) <= -4


def test_heavier_tails_are_clipped_further_out():
    """With the same number of records beyond the side, those of a Pareto law move it further than exponential ones."""
    rng = np.random.default_rng(3)
    exponential, pareto = rng.exponential(1, 5000), 1 + rng.pareto(1.5, 5000)
    moved = [np.mean(best(values, np.sort(values)[-40])) for values in (exponential, pareto)]
    assert moved[1] > moved[0] + 2


def test_an_octave_behind_slowly_falling_ones_is_believed():
    """The same 12 noisy records beyond the side count for more after 150 and 60 than after 400 and 600."""
    slow, sharp = (
        AWAY[np.argmin(errors(np.array([*before, 12.0, 2, -3, 1]), NOISE, UNIT))] for before in ((150, 60), (400, 600))
    )
    assert slow > sharp


def test_an_empty_side_narrows_nothing_by_itself():
    """Where all records lie on one side, the counts of the other change the error of no width by more than a tenth."""
    counts, none = np.array([300.0, 150, 12, -2, 3, 1]), np.array([2.0, -4, 3, 0, -1, 4])
    one, both = errors(counts, NOISE, UNIT), errors_of_both([none, counts], NOISE, UNIT)
    assert np.all(both >= one - 1e-9)
    assert np.all(both[8:] <= 1.1 * one[8:] + 0.2)


def test_noise_of_the_other_side_hides_what_is_cut_off():
    """The wider the other side, the larger the noise, and the less it matters what lies beyond this one."""
    counts = np.array([300.0, 120, 20, 4, -2, 1])
    ends = [AWAY[np.argmin(errors(counts, NOISE, UNIT, beside))] for beside in (0.0, 10.0)]
    assert ends[1] < ends[0]


def test_errors_are_those_of_noise_around_what_lies_beyond():
    """The mean of |L - b| over Laplace noise L and points b of the posterior, which fill it evenly."""
    (law,) = posteriors([np.array([60.0, 20, 9, -4, 6, 1])], NOISE)
    beyond, others = law.points((np.arange(20_000) + 0.5) / 20_000), np.linspace(9, 0, len(AWAY))
    assert law.mean() == pytest.approx(beyond.mean(axis=0), rel=2e-3)
    scale, bias = UNIT * (2.0 ** (AWAY / 8) + 0.5), beyond + others
    direct = (bias + scale * np.exp(-bias / scale)).mean(axis=0)
    assert law.errors(UNIT, 0.5, others) == pytest.approx(direct, rel=2e-3)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 0.01])
@pytest.mark.parametrize("count", [0.0, 1e-13, 1.0, 1e6])
def test_counts_with_hardly_any_noise_have_errors_too(scale, count):
    """At a huge epsilon a noisy count is the count, and an octave may well be empty: errors are finite all the same."""
    noisy, noise = np.full(BELOW + 4, count), CountNoise(scale, False)
    assert np.isfinite(errors(noisy, noise, UNIT)).all()
    assert np.isfinite(errors_of_both([noisy, noisy], noise, UNIT)).all()


def test_sides_that_look_alike_get_one_narrower_width():
    """What lies beyond one side cancels what lies beyond the other; behind sides that differ it does not."""
    side, none = np.array([140.0, 30, 2, -3, 1, 0]), np.array([10.0, 1, -2, 3, 0, 1])
    same = posteriors([side, side], NOISE)
    ends = [int(AWAY[np.argmin(law.errors(UNIT, 1.0))]) for law in same]
    narrower = alike(same, UNIT, 0.02, [end + 3 for end in ends])
    assert narrower is not None
    assert narrower <= ends[0]
    assert alike(posteriors([10 * side, none], NOISE), UNIT, 0.02, [end + 3 for end in ends]) is None
