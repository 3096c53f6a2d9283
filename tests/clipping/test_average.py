"""The noisy average: what it tells of one record by its exact law, the scale of its noise, and its error bars."""

import math
import random
from fractions import Fraction as F
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from support.chance import seed_of

from nobounds.auditing.audit import all_data, neighbors_of
from nobounds.auditing.claims.numbers import MISSING, WIDTH, averaged
from nobounds.auditing.enumerated import enumerated_law, loss_between
from nobounds.clipping.average import ADDED, Average, AverageRule, believed, missing_range
from nobounds.noise.additive import Additive, two_laplace
from nobounds.noise.source import random_source
from nobounds.programs.program import Draw

REACH = 12  # scales of noise
RELATIONS = ["add-remove", "swap, none missing", "swap"]
BIG = 1 << 30


def rule(relation, epsilon=F(1), rows=None):
    return AverageRule(F(epsilon), relation.split(",")[0], rows, relation != "swap, none missing")


def drawn(how, count, total, width, source):
    """The average of `count` whole numbers with this sum, with noise from the source."""
    return Draw(source).run(how.release(count, total, width))


def worst(relation, epsilon):
    """The worst log-ratio over all neighbours of up to two records, for each kind of pair."""
    spots = (0, 1, WIDTH, *((MISSING,) if relation == "swap" else ()))
    neighbors = relation.split(",")[0]
    laws = {
        data: enumerated_law(partial(averaged, rule(relation, epsilon), data), REACH)
        for data in all_data(spots, 2, 1 if neighbors == "swap" else 0)
    }
    worst = {"moved": 0.0, "added": 0.0}
    for data in laws:
        for other in neighbors_of(data, spots, neighbors):
            kind = "moved" if data.count(MISSING) == other.count(MISSING) and len(data) == len(other) else "added"
            worst[kind] = max(worst[kind], loss_between(laws[data], laws[other])[0])
    return worst


@pytest.mark.medium
@pytest.mark.parametrize("epsilon", [F(3), F(3, 2)], ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_average_costs_what_it_says(relation, epsilon):
    """Number, sum and average together tell at most epsilon of a record, and exactly epsilon of some.

    Under swap that holds for a record that moves and, where it can, for one that turns from missing to present.
    """
    found = worst(relation, epsilon)
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
def test_the_audit_sees_noise_that_is_too_small():
    """Noise of half the scale shows twice the loss."""
    pair = [(WIDTH, one, *[MISSING] * 8) for one in (WIDTH, MISSING)]  # so many are not overlooked
    for factor in (1, 2):
        laws = [enumerated_law(partial(averaged, rule("swap"), data), REACH, F(factor)) for data in pair]
        assert loss_between(*laws)[0] == pytest.approx(factor, rel=0.01)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.sampled
def test_the_noise_has_the_stated_scale(relation):
    """3000 draws of the noisy sum follow Laplace noise of scale width / epsilon; 30% more or less would be seen."""
    bits, epsilon, n, total = random.Random(seed_of(4)).getrandbits, F(2, 3), 40, 17 * BIG
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
@pytest.mark.sampled
def test_no_records_have_an_average_as_well(relation):
    """Without records the average is anywhere, and its error bar says so."""
    bits = random.Random(seed_of(2)).getrandbits
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


def test_a_noisy_number_of_missing_records_is_believed_by_and_by():
    """None of them up to a few, all from half as many again on, without a jump; never are more than a few left out."""
    few, numbers = F(21, 2), np.arange(-40, 60)
    seen = believed(numbers, float(few))
    assert (seen[numbers <= few] == 0).all()
    assert (seen[numbers >= few * 3 / 2] == numbers[numbers >= few * 3 / 2]).all()
    assert (np.diff(seen) <= 3).all()
    left_out = numbers - seen
    assert (left_out <= few).all()
    assert believed(12, few) == F(9, 2)


@pytest.mark.parametrize("away", [0, 1, 100, 1e6])
def test_noise_on_the_missing_adds_little_to_a_sum_far_from_zero(away):
    """With no record missing, what is believed moves a sum by at most a fifth of its noise, wherever the clip lies."""
    width, rule = 1000, AverageRule(F(1, 2), "swap", 10_000, nullable=True)
    few, each = float(rule.few_missing(away * width, width)), rule.for_count
    numbers = np.arange(1, 2000)
    chances = np.exp(-float(each.epsilon) * numbers) * np.tanh(float(each.epsilon) / 2)
    moved = away * width * float(chances @ np.floor(believed(numbers, few)))
    assert moved <= max(3 / ADDED, 0.2 if away <= 1 else 0) * rule.noise.scale(width)
    assert few >= 2 / each.epsilon
    assert away <= 1 or moved >= rule.noise.scale(width) / (
        2 * ADDED
    )  # and no more missing records are overlooked than needed


@pytest.mark.parametrize("missing", [0, 3, 12, 40])
@pytest.mark.sampled
def test_the_range_of_missing_records_holds_and_is_short_where_none_are(missing):
    """It holds in 95% of runs; with none missing no record more is present, so the range has that end."""
    rule, ends = AverageRule(F(1, 2), "swap", 500, nullable=True), []
    for seed in range(300):
        average = Draw(random_source(random.Random(seed_of(seed)))).run(rule.release(500 - missing, 0, 10, 5000.0))
        off = 500 - missing - int(average.count)
        low, high = missing_range(rule, average, 0.05)
        assert low <= 0 <= high
        ends.append((low <= off <= high, high))
    assert np.mean([held for held, _ in ends]) >= 0.93
    if missing == 0:
        assert np.mean([high == 0 for _, high in ends]) >= 0.97


def test_no_noise_has_no_tail():
    """Without noise nothing moves, and one variable has the tail exp(-z / a)."""
    assert two_laplace(0.0, 0.0, 0.05) == 0
    assert two_laplace(2.0, 0.0, 0.05) == pytest.approx(2 * math.log(20))


def coverage(how, count, share, draws=10_000, seed=1):
    """How often the error bar at 95% holds the average of the records."""
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
    """At 95% they hold 94.5 to 97.5 times of 100; if none is missing where some might be, 94 times."""
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
