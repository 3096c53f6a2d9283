"""The law of a walk equals the paper's formulas and brute-force walks, for every noise and every lattice."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nobounds.mechanisms import halting as law_module
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk

QUERIES = [0, 0, 0, 1, 3, 3, 3, 3, 5]


def brute_force(queries, threshold, eps1, eps2, step, noise):
    """The walk itself: for each threshold noise, one query after the other, with the noise's probabilities summed."""
    outcomes = np.zeros(len(queries) + 1)
    p1, p2 = math.exp(-eps1 * step), math.exp(-eps2 * step)
    far = int(80 / (eps1 * step))
    for j in range(-far if noise == "laplace" else 0, far):
        left = (1 - p1) / (1 + p1) * p1 ** abs(j) if noise == "laplace" else (1 - p1) * p1**j
        for i, query in enumerate(queries):
            gap = round((threshold + j * step - query) / step)
            if noise == "laplace":
                halts = p2**gap / (1 + p2) if gap > 0 else 1 - p2 ** (1 - gap) / (1 + p2)
            else:
                halts = min(1.0, p2**gap)
            outcomes[i] += left * halts
            left *= 1 - halts
        outcomes[-1] += left
    return outcomes


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.parametrize(("threshold", "b"), [(F(3), 1), (F(5, 2), 2), (F(27, 10), 10)], ids=str)
def test_lattice_noise_matches_brute_force(noise, threshold, b):
    """P(halt at k) is the sum over threshold noise of the walk's probabilities."""
    law = Law(Walk.of(QUERIES, threshold, eps1=F(2, 5), eps2=F(3, 5), step=F(1, b), noise=noise)).pmf()
    assert law == pytest.approx(brute_force(QUERIES, float(threshold), 0.4, 0.6, 1 / b, noise), rel=1e-9, abs=1e-13)


@given(
    st.lists(st.integers(-5, 8), min_size=1, max_size=12), st.integers(-3, 9), st.sampled_from([F(1, 3), F(1), F(5, 2)])
)
def test_gumbel_noise_matches_lemma_3_3(queries, threshold, eps):
    """P(halt at k) = e^f_k / (e^T + sum up to k) * e^T / (e^T + sum before k), exponents times eps (Lemma 3.3)."""
    law = Law(Walk.of(queries, F(threshold), eps1=eps, eps2=eps, noise="gumbel")).pmf()
    weights = np.exp(float(eps) * np.array(queries, dtype=float))
    base = math.exp(float(eps) * threshold)
    sums = base + np.concatenate([[0], np.cumsum(weights)])
    assert law[:-1] == pytest.approx(weights / sums[1:] * base / sums[:-1], rel=1e-10)
    assert law[-1] == pytest.approx(base / sums[-1], rel=1e-10)


@pytest.mark.medium
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(-4, 12)), min_size=1, max_size=8),
    st.sampled_from(["exponential", "laplace", "gumbel"]),
    st.sampled_from([F(1, 10), F(1, 2), F(2)]),
    st.integers(-3, 12),
)
@settings(deadline=None)
def test_runs_tails_and_masses_agree(runs, noise, eps, threshold):
    """Runs are only a short way to write queries; the tail is the sum of the masses behind it; all sums to one."""
    queries = [level for length, level in runs for _ in range(length)]
    starts = np.cumsum([0, *(length for length, _ in runs)])[:-1]
    levels = np.array([level for _, level in runs])
    short = Law(Walk(starts, levels, len(queries), F(threshold), F(1), eps, eps, noise))
    plain = Law(Walk.of(queries, F(threshold), eps1=eps, eps2=eps, noise=noise))
    masses = short.pmf()
    assert masses == pytest.approx(plain.pmf(), rel=1e-9, abs=1e-300)
    assert masses.sum() == pytest.approx(1, abs=1e-12)
    tails = short.tail(np.arange(len(queries) + 1))
    assert tails == pytest.approx(np.cumsum(masses[::-1])[::-1], abs=1e-12)
    assert short.between(0, len(queries)) == pytest.approx(1 - masses[-1], abs=1e-12)


@pytest.mark.medium
@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.parametrize(("eps1", "eps2"), [(F(2, 5), F(8, 5)), (F(1, 20), F(1, 10)), (F(3), F(1, 2))], ids=str)
def test_a_fine_lattice_by_gauss_rules_is_the_whole_sum(noise, eps1, eps2, monkeypatch):
    """For q with a large denominator the lattice sum is taken by Gauss rules, to a relative 1e-9 in every outcome."""
    levels, threshold = [0] * 50 + [1] * 10 + [7] * 20 + [9], F(7123, 1000)
    walk = Walk.of(levels, threshold, eps1=eps1, eps2=eps2, step=F(1, 1000), noise=noise)
    by_rules = Law(walk).log_pmf()
    monkeypatch.setattr(law_module, "_SHORT", 10**9)
    assert by_rules == pytest.approx(Law(walk).log_pmf(), abs=1e-9)


def test_ever_finer_lattices_tend_to_continuous_noise():
    """With a lattice of 1e-16 the law is that of continuous exponential noise, here integrated in closed form."""
    # One query, f = T: it halts unless query noise < threshold noise: P(silent) = eps2 / (eps1 + eps2).
    walk = Walk.of([0], F(0), eps1=F(1), eps2=F(3), step=F(1, 10**16))
    assert Law(walk).pmf() == pytest.approx([0.25, 0.75], rel=1e-9)


def test_never_halting_is_an_outcome():
    """Queries far below the threshold almost surely never halt, and a query far above it almost surely does."""
    assert Law(Walk.of([0] * 5, F(200), eps1=F(1), eps2=F(1))).pmf()[-1] == pytest.approx(1)
    assert Law(Walk.of([200], F(0), eps1=F(1), eps2=F(1))).pmf()[0] == pytest.approx(1)


def test_small_probabilities_keep_their_precision():
    """The chance to halt 600 below the threshold is exp(-600 eps2) times a constant, to ten digits."""
    walk = Walk.of([0, 600], F(600), eps1=F(1), eps2=F(1))
    p = math.exp(-1)  # E exp(-noise) over the lattice: (1 - p) / (1 - p^2) = 1 / (1 + p)
    assert Law(walk).log_pmf()[0] == pytest.approx(-600 - math.log1p(p), abs=1e-10)


def test_parameters_that_do_not_fit_are_refused():
    """Gumbel noise needs equal parts, and threshold and levels lie on the lattice."""
    with pytest.raises(ValueError, match="eps1 = eps2"):
        Walk.of([1], F(1), eps1=F(1), eps2=F(2), noise="gumbel")
    with pytest.raises(ValueError, match="at least one query"):
        Walk.of([], F(1), eps1=F(1), eps2=F(1))
    with pytest.raises(ValueError, match="lattice"):
        Walk.of([1], F(1, 2), eps1=F(1), eps2=F(2))


def test_a_walk_hides_its_data():
    """The repr of a walk tells parameters, not queries."""
    assert "12345" not in repr(Walk.of([12345], F(1), eps1=F(1), eps2=F(1)))
