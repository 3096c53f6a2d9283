"""docs/proofs/above_threshold.md and lattice.md: the one-sided loss bounds the exact law of every stream of queries."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nobounds.accounting.cost import one_sided_loss
from nobounds.auditing.audit import pair_loss
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk

NOISES = st.sampled_from(["exponential", "laplace", "gumbel"])
EPSILONS = st.sampled_from([F(1, 5), F(1, 2), F(1), F(3)])
PAIRS = st.lists(st.tuples(st.integers(-6, 6), st.integers(-2, 2)), min_size=1, max_size=8)


def log_pmf(queries, threshold, eps1, eps2, noise, step=F(1)):
    return Law(Walk.of(queries, F(threshold), eps1=eps1, eps2=eps2, noise=noise, step=step)).log_pmf()


@pytest.mark.medium
@settings(deadline=None)
@given(pairs=PAIRS, threshold=st.integers(-4, 4), eps1=EPSILONS, eps2=EPSILONS, noise=NOISES)
def test_no_outcome_of_any_stream_exceeds_the_one_sided_loss(pairs, threshold, eps1, eps2, noise):
    """Halting at each query and never halting, both ways round, for arbitrary differences of the queries."""
    eps1 = eps2 if noise == "gumbel" else eps1
    f, g = [a for a, _ in pairs], [a + d for a, d in pairs]
    ratios = log_pmf(f, threshold, eps1, eps2, noise) - log_pmf(g, threshold, eps1, eps2, noise)
    assert ratios.max() <= float(one_sided_loss(f, g, eps1=eps1, eps2=eps2)) + 1e-9
    assert -ratios.min() <= float(one_sided_loss(g, f, eps1=eps1, eps2=eps2)) + 1e-9


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_never_halting_alone_can_reach_its_loss(noise):
    """Many queries far below, which all rise by one: never halting becomes less likely by nearly e^-eps1."""
    length, eps1, eps2 = 10**12, F(1, 2), F(1)
    walks = [Walk(np.array([0]), np.array([f]), length, F(0), F(1), eps1, eps2, noise) for f in (0, 1)]
    fewer, more = (Law(walk).log_pmf([0])[-1] for walk in walks)
    assert 0.99 * float(eps1) < fewer - more <= float(eps1) + 1e-9


@settings(deadline=None, max_examples=30)
@given(pairs=PAIRS, shifts=st.lists(st.integers(-3, 3), min_size=8, max_size=8), noise=NOISES)
def test_a_tilted_stream_is_a_stream_with_the_same_loss(pairs, shifts, noise):
    """Public numbers added to the queries leave the one-sided loss as it was, and the law within it."""
    f, g = [a for a, _ in pairs], [a + d for a, d in pairs]
    tilted = [[x + b for x, b in zip(stream, shifts, strict=False)] for stream in (f, g)]
    loss = one_sided_loss(f, g, eps1=1, eps2=1)
    assert one_sided_loss(*tilted, eps1=1, eps2=1) == loss
    laws = [log_pmf(stream, 1, F(1), F(1), noise) for stream in tilted]
    assert (laws[0] - laws[1]).max() <= float(loss) + 1e-9


def test_walking_down_is_walking_up_on_the_mirror_image():
    """The counts at or above each edge, from the top, are the counts at or below of the negated records."""
    data, edges = np.array([-3, 0, 1, 1, 4]), np.arange(-4, 6)
    down = [int((data >= edge).sum()) for edge in edges[::-1]]
    assert down == [int((-data <= edge).sum()) for edge in -edges[::-1]]
    assert down[0] == 0 and down[-1] == len(data) and sorted(down) == down


def off_lattice_law(threshold, eps, far=400):
    """One query 0 against a threshold that need not be a whole number, with exponential noise on whole numbers."""
    p = math.exp(-eps)
    halts = sum((1 - p) * p**j * min(1.0, p ** math.ceil(threshold + j)) for j in range(far))
    return np.log([halts, 1 - halts])


def test_noise_on_a_lattice_needs_differences_on_it():
    """A threshold that moves by a half costs half as much on halves, and on whole numbers as much as moving by one."""
    eps = F(1, 100)
    fine = [log_pmf([0], t, eps, eps, "exponential", F(1, 2)) for t in (5, F(11, 2))]
    coarse = [off_lattice_law(t, float(eps), 5000) for t in (5, 5.5)]
    whole = [off_lattice_law(t, float(eps), 5000) for t in (5, 6)]
    assert pair_loss(*fine)[0] <= float(eps) / 2 + 1e-9
    assert pair_loss(*coarse)[0] == pytest.approx(pair_loss(*whole)[0]) and pair_loss(*coarse)[0] > 0.6 * float(eps)


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.parametrize("step", [F(1), F(1, 3)], ids=str)
def test_given_the_threshold_a_query_halts_with_the_probability_stated(noise, step):
    """min(1, exp(-eps2 gap)) for exponential noise, the two tails for Laplace noise: sums of the noise's own law."""
    eps2, frozen = F(1, 2), F(10**6)
    a = float(eps2 * step)
    for steps in range(-6, 12):
        gap = step * steps
        halts = Law(Walk.of([0], gap, eps1=frozen, eps2=eps2, step=step, noise=noise)).pmf()[0]
        js = np.arange(-4000, 4000)
        masses = np.exp(-a * np.abs(js)) * ((js >= 0) | (noise == "laplace"))
        assert halts == pytest.approx(masses[js >= steps].sum() / masses.sum(), rel=1e-9)
        if noise == "exponential":
            assert halts == pytest.approx(min(1.0, math.exp(-float(eps2 * gap))), rel=1e-12)
