"""The noisy average: what it tells of one record by its exact law, the scale of its noise, and its error bars."""

import math
import random
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from nobounds.auditing.audit import all_data, neighbors_of
from nobounds.clipping.average import Average, AverageRule
from nobounds.noise import additive
from nobounds.noise.additive import Additive, two_laplace
from nobounds.programs.program import Draw

WIDTH = 3
MISSING = None
RELATIONS = ["add-remove", "swap, none missing", "swap"]
BIG = 1 << 30


def rule(relation, epsilon=F(1), rows=None):
    return AverageRule(F(epsilon), relation.split(",")[0], rows, relation != "swap, none missing")


def drawn(how, count, total, width, source):
    """The average of `count` whole numbers with this sum, with noise from the source."""
    return Draw(source).run(how.release(count, total, width))


class Script:
    """Stands for the discrete Laplace sampler: gives the noise that it is told to, and notes the rates asked for."""

    def __init__(self, monkeypatch):
        self.noise, self.rates = (), []
        monkeypatch.setattr(additive, "discrete_laplace", self.draw)

    def draw(self, rate, bits):
        self.rates.append(float(rate))
        return self.noise[len(self.rates) - 1]

    def release(self, how, data, *noise):
        """What is released with this noise, and its log-probability."""
        self.noise, self.rates = noise, []
        there = [record for record in data if record is not MISSING]
        found = drawn(how, len(there), sum(there), WIDTH, source=None)
        assert len(self.rates) == len(noise)  # all noise that was offered was asked for
        return (found.count, found.total, found.value, found.scales), math.fsum(map(log_laplace, self.rates, noise))

    def law(self, how, data, reach):
        """Log-probabilities of all that is released with noise up to `reach`, and what of it needs 7 less."""
        found, inner = {}, set()
        for noise in product(*(range(-far, far + 1) for far in reach)):
            seen, chance = self.release(how, data, *noise)
            found.setdefault(seen, []).append(chance)
            if all(abs(j) <= far - 7 for j, far in zip(noise, reach, strict=True)):
                inner.add(seen)
        return {seen: math.log(math.fsum(map(math.exp, chances))) for seen, chances in found.items()}, inner


def log_ratio(mine, yours):
    """The worst log-ratio of two such laws: infinite if one releases what the other cannot, with 7 more of noise."""
    (p, inner_p), (q, inner_q) = mine, yours
    if inner_p - q.keys() or inner_q - p.keys():
        return math.inf
    return max(abs(p[seen] - q[seen]) for seen in p.keys() & q.keys())


def log_laplace(rate, j):
    """The discrete Laplace law, as on paper."""
    return math.log(math.tanh(rate / 2)) - rate * abs(j)


@pytest.fixture
def script(monkeypatch):
    return Script(monkeypatch)


def worst(script, relation, epsilon):
    """The worst log-ratio over all neighbours of up to three records, for each kind of pair."""
    spots = (0, 1, WIDTH, *((MISSING,) if relation == "swap" else ()))
    neighbors = relation.split(",")[0]
    # Sums move by at most 6. Numbers of missing records get much noise: tails of it are released as one.
    reach = {"add-remove": (11, 11), "swap, none missing": (11,), "swap": (11, math.ceil(60 / epsilon))}[relation]
    laws = {}
    for data in all_data(spots, 3 if relation != "swap" else 2, 1 if neighbors == "swap" else 0):
        how = rule(relation, epsilon, len(data) if neighbors == "swap" else None)
        laws[data] = script.law(how, data, reach)
    worst = {"moved": 0.0, "added": 0.0}
    for data in laws:
        for other in neighbors_of(data, spots, neighbors):
            kind = "moved" if data.count(MISSING) == other.count(MISSING) and len(data) == len(other) else "added"
            worst[kind] = max(worst[kind], log_ratio(laws[data], laws[other]))
    return worst


@pytest.mark.medium
@pytest.mark.parametrize("epsilon", [F(1, 2), F(1), F(3)], ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_average_costs_what_it_says(script, relation, epsilon):
    """Number, sum and average together tell at most epsilon of a record, and exactly epsilon of some.

    Under swap that holds for a record that moves and, where it can, for one that turns from missing to present.
    """
    found = worst(script, relation, epsilon)
    claim = float(epsilon) * (1 + 1e-9)
    assert max(found.values()) <= claim
    for kind in {"add-remove": ["added"], "swap, none missing": ["moved"], "swap": ["moved", "added"]}[relation]:
        assert found[kind] > 0.98 * float(epsilon)
    rows = None if relation == "add-remove" else 5
    assert rule(relation, epsilon, rows).cost().epsilon == epsilon


@pytest.mark.parametrize("epsilon", [F(1, 100), F(1), F(7)])
def test_a_record_that_turns_from_missing_to_present_costs_no_more_rho(epsilon):
    """Under swap it changes the sum by half of the width and the number by one: together within rho, and most of it."""
    how = AverageRule(epsilon, "swap", 100, True, zcdp=True)
    half = Additive(epsilon / 2, True).cost().rho
    assert 0.85 * how.cost().rho < half + how.for_count.cost().rho <= how.cost().rho


@pytest.mark.medium
def test_the_audit_sees_noise_that_is_too_small(script, monkeypatch):
    """Noise of half the scale shows twice the loss, and no noise on the number of records an infinite one."""
    how, pair = rule("swap", 1, 2), [(WIDTH, WIDTH), (WIDTH, MISSING)]
    more, others = rule("swap", 1, 10), [(*data, *[MISSING] * 8) for data in pair]  # so many are not overlooked
    assert log_ratio(*(script.law(how, data, (11, 60)) for data in pair)) == pytest.approx(1)
    assert log_ratio(*(script.law(more, data, (11, 60)) for data in others)) <= 1 + 1e-9
    real = script.draw
    monkeypatch.setattr(additive, "discrete_laplace", lambda rate, bits: real(2 * rate, bits))
    assert log_ratio(*(script.law(how, data, (11, 60)) for data in pair)) == pytest.approx(2)
    monkeypatch.setattr(additive, "discrete_laplace", lambda rate, bits: real(rate, bits) * (rate < F(1, 2)))
    assert log_ratio(*(script.law(more, data, (11, 60)) for data in others)) == math.inf


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_noise_has_the_stated_scale(relation):
    """3000 draws of the noisy sum follow Laplace noise of scale width / epsilon; 30 % more or less would be seen."""
    bits, epsilon, n, total = random.Random(4).getrandbits, F(2, 3), 40, 17 * BIG
    how = rule(relation, epsilon, n if relation != "add-remove" else None)
    found = [drawn(how, n, total, BIG, bits) for _ in range(3000)]
    if relation == "swap":  # the sum around the middle, from which the number of records is taken out again
        noise = [float(one.total - one.count * BIG / 2 - (total - n * BIG / 2)) for one in found]
    else:
        noise = [float(one.total) - total for one in found]
    scale = BIG / float(epsilon)
    assert stats.kstest(noise, stats.laplace(scale=scale).cdf).pvalue > 1e-9
    for wrong in (0.7, 1.3):
        assert stats.kstest(np.abs(noise), stats.expon(scale=scale * wrong).cdf).pvalue < 1e-9
    if relation == "add-remove":  # the number of records is the sum of two such parts
        both = [float(one.count - n) * BIG for one in found]
        assert math.isclose(sum(x * x for x in both) / len(both), 4 * scale**2, rel_tol=0.15)


@pytest.mark.medium
@given(
    st.sampled_from(RELATIONS),
    st.integers(0, 50),
    st.integers(0, 50),
    st.floats(0, 1),
    st.sampled_from([1, 2, 1000, BIG]),
    st.sampled_from([F(1, 100), F(1), F(50)]),
    st.integers(0, 10**6),
)
def test_the_average_lies_between_the_ends(relation, count, missing, share, width, epsilon, seed):
    """Whatever the noise, the average is one that records can have, and so is the width of its error bar."""
    missing = missing if relation == "swap" else 0
    how = rule(relation, epsilon, None if relation == "add-remove" else count + missing)
    found = drawn(how, count, int(count * width * share), width, random.Random(seed).getrandbits)
    assert 0 <= found.value <= width
    assert 0 <= found.half_interval(0.05) <= width
    assert all(scale >= 0 for scale in found.scales)
    if relation != "add-remove":
        assert 0 <= found.count <= count + missing


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_records_have_an_average_as_well(relation):
    """Without records the average is anywhere, and its error bar says so."""
    bits = random.Random(2).getrandbits
    for rows in (0, 1):
        how = rule(relation, 1, None if relation == "add-remove" else rows)
        for _ in range(50):
            found = drawn(how, 0, 0, 100, bits)
            assert 0 <= found.value <= 100
            if found.count <= 0:
                assert found.half_interval(0.05) == 100
    if relation != "add-remove":
        assert drawn(rule(relation, 1, 0), 0, 0, 100, bits).value == 50


# --- error bars ---------------------------------------------------------------------------------------------------


def tail(a, b, z):
    """P(|a X + b Y| > z) by quadrature over |Y|."""

    def given_y(y):
        shift = b * y
        far = math.exp(-(z + shift) / a) / 2
        near = math.exp(-(z - shift) / a) / 2 if shift <= z else 1 - math.exp(-(shift - z) / a) / 2
        return math.exp(-y) * (near + far)

    cut = z / b if b else 0.0
    parts = [(0, min(cut, 60)), (min(cut, 60), 60)]
    return sum(integrate.quad(given_y, *part, epsabs=1e-13, epsrel=1e-11)[0] for part in parts)


@pytest.mark.parametrize("chance", [0.3, 0.05, 0.001])
@pytest.mark.parametrize("ratio", [0.0, 1e-5, 0.9e-3, 1.1e-3, 0.1, 0.5, 0.9, 1 - 1e-4, 1 - 1e-7, 1.0])
def test_two_laplace_variables(ratio, chance):
    """The tail at the answer is the chance that was asked for, by numerical integration; the order does not matter."""
    z = two_laplace(7.0, 7.0 * ratio, chance)
    assert tail(7.0, 7.0 * ratio, z) == pytest.approx(chance, rel=1e-5)
    assert two_laplace(7.0 * ratio, 7.0, chance) == z
    assert two_laplace(70.0, 70.0 * ratio, chance) == pytest.approx(10 * z, rel=1e-9)


def test_no_noise_has_no_tail():
    """Without noise nothing moves, and one variable has the tail exp(-z / a)."""
    assert two_laplace(0.0, 0.0, 0.05) == 0
    assert two_laplace(2.0, 0.0, 0.05) == pytest.approx(2 * math.log(20))


def coverage(how, count, share, draws=10_000, seed=1):
    """How often the error bar at 95 % holds the average of the records."""
    bits, total = random.Random(seed).getrandbits, int(count * BIG * share)
    held = 0
    for _ in range(draws):
        found = drawn(how, count, total, BIG, bits)
        held += abs(float(found.value) - total / count) <= found.half_interval(0.05)
    return held / draws


@pytest.mark.medium
@pytest.mark.parametrize("share", [F(1, 2), F(9, 10)], ids=str)
@pytest.mark.parametrize(
    ("relation", "missing", "least"),
    [("add-remove", 0, 0.945), ("swap, none missing", 0, 0.945), ("swap", 0, 0.938), ("swap", 150, 0.945)],
)
def test_error_bars_hold(relation, missing, least, share):
    """At 95 % they hold 94.5 to 97.5 times of 100; if none is missing where some might be, 94 times."""
    how = rule(relation, 1, None if relation == "add-remove" else 300 + missing)
    assert least < coverage(how, 300, share) < 0.975
    bar = drawn(how, 300, int(300 * BIG * share), BIG, random.Random(1).getrandbits).half_interval(0.05)
    assert bar / BIG < 0.02  # not by being wide


@pytest.mark.medium
def test_error_bars_hold_with_a_few_missing_records():
    """With 6 / epsilon missing records of 300 and an average near the end, error bars hold as well."""
    assert coverage(rule("swap", 1, 306), 300, F(99, 100), draws=2000) > 0.94


def test_add_remove_is_never_noisier_than_swap():
    """Two noisy sums tell an average at least as well as one noisy sum and the number of records."""
    for above in (0, 50, 90, 100):
        part = above / 100
        two = Average(100, F(1000), F(0), F(above), ((1 - part) * 100, part * 100), Additive(F(1)))
        one = Average(100, F(1000), F(0), F(above), (100.0, 0.0), Additive(F(1)))
        assert two.half_interval(0.05) <= one.half_interval(0.05) * (1 + 1e-9)
