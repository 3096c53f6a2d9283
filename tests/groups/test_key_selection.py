"""Key selection: chances that are the largest for (epsilon, delta), met exactly, for one key and for sets of keys."""

import math
import random
from fractions import Fraction
from functools import partial
from itertools import pairwise, product

import hypothesis.strategies as st
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from scipy import stats
from support.chance import seed_of

from nobounds.accounting.conversions import rho_from_approximate
from nobounds.accounting.cost import pure
from nobounds.accounting.spending import nominal
from nobounds.auditing.claims.keys import keys_seen, least_delta, set_law
from nobounds.exact import ball
from nobounds.groups import key_selection
from nobounds.groups.key_selection import Chances, KeepKeys, KeySelection
from nobounds.noise.source import random_source

CLOSE = arb(10) ** -40  # at 256 bits; where the bound is reached, balls cannot say which side of it they are on
PARTS = [
    (Fraction(1), Fraction(1, 10)),
    (Fraction(1), Fraction(1, 10**6)),
    (Fraction(1, 10), Fraction(1, 10**12)),
    (Fraction(20), Fraction(1, 10**12)),
    (Fraction(7, 3), Fraction(1, 2)),
    (Fraction(1, 2), Fraction(9, 10)),
    (Fraction(1, 50), Fraction(1, 1000)),
]
parts = pytest.mark.parametrize(("epsilon", "delta"), PARTS)


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(256):
        yield


def recursion(epsilon: Fraction, delta: Fraction, most: int) -> list[arb]:
    """p_0, p_1, ... up to the first 1, from the definition."""
    x, d, p = ball(epsilon).exp(), ball(delta), [arb(0)]
    while len(p) <= most:
        first, second = x * p[-1] + d, 1 - (1 - p[-1] - d) / x
        p.append(min(first, second, key=lambda chance: chance.mid()))
        if p[-1] > 1 - CLOSE:
            return [*p[:-1], arb(1)]
    return p


def chances_of(epsilon: Fraction, delta: Fraction) -> list[arb]:
    """p_0, p_1, ... and two more after the first 1, as the library has them."""
    chances = Chances.of(epsilon, delta)
    return [chances.ball(n) for n in range(chances.certain + 3)]


def audit(p: list[arb], groups: int, epsilon: Fraction) -> float:
    """The least delta at epsilon of the choice among `groups` keys, all of which one unit more or less is in."""
    return max(one.value for one in keys_seen(p, groups, epsilon))


# --- the chances --------------------------------------------------------------------------------------------------


@parts
def test_chances_follow_the_recursion(epsilon, delta):
    """The closed form is the recursion of the paper for every n, and reaches 1 where the recursion does."""
    expected = recursion(epsilon, delta, 10**4)
    chances = Chances.of(epsilon, delta)
    assert chances.certain == len(expected) - 1
    assert all(abs(chances.ball(n) - p) < CLOSE for n, p in enumerate(expected))
    assert chances.ball(chances.certain + 7) == 1


@pytest.mark.medium
@settings(max_examples=60)
@given(
    epsilon=st.fractions(Fraction(1, 20), 20, max_denominator=1000),
    delta=st.fractions(0, 1, max_denominator=10**6).filter(lambda delta: 0 < delta < 1),
)
def test_chances_follow_the_recursion_everywhere(epsilon, delta):
    """The same for parameters drawn by hypothesis, and doubles are as close to them as is trusted."""
    with ctx.workprec(256):
        expected, chances = recursion(epsilon, delta, 10**4), Chances.of(epsilon, delta)
        assert chances.certain == len(expected) - 1
        assert all(abs(chances.ball(n) - p) < CLOSE for n, p in enumerate(expected))
        doubles = chances.doubles(np.arange(1, chances.certain))
        assert all(abs(arb(p) - q) < 2.0**-44 for p, q in zip(doubles.tolist(), expected[1:-1], strict=True))


@pytest.mark.parametrize("epsilon", ["1/1000000000000", "1/1000", "1/10", "1", "20", "1000", "1000000000000"])
@pytest.mark.parametrize("delta", ["1e-900", "1e-12", "1e-6", "0.1", "0.5", "0.9"])
def test_doubles_are_within_the_slack(epsilon, delta):
    """Double precision is within 2**-38 of the ball at all scales, where 2**-36 is trusted; and turns are certified."""
    chances = Chances.of(Fraction(epsilon), Fraction(delta))
    around = {1, 2, chances.bend - 1, chances.bend, chances.bend + 1, chances.certain - 2, chances.certain - 1}
    spread = {int(chances.certain * k / 500) for k in range(500)}
    n = np.array(sorted(k for k in around | spread if 0 < k < chances.certain), dtype=np.int64)
    for k, p in zip(n.tolist(), chances.doubles(n).tolist(), strict=True):
        assert abs(arb(p) - chances.ball(k)) < 2.0**-38, k
    with ctx.workprec(4096):  # delta is 1e-900
        assert chances.ball(chances.bend - 1) < ball(1 - chances.delta) / (1 + ball(chances.epsilon).exp())
        assert chances.ball(chances.bend) > ball(1 - chances.delta) / (1 + ball(chances.epsilon).exp())
        assert chances.ball(chances.certain - 2) < ball(1 - chances.delta)
        assert not chances.ball(chances.certain - 1) < ball(1 - chances.delta)  # equal for delta = 1/2


def test_probabilities_are_the_nearest_floats():
    """A chance is printed as the float nearest to it: p_1 is delta, p_2 is delta (1 + e)."""
    choice = KeySelection(Fraction(1), Fraction(1, 10**6))
    assert [choice.probability(n) for n in (0, 1, 28, 10**6)] == [0.0, 1e-6, 1.0, 1.0]
    assert choice.probability(2) == float((1 + arb(1).exp()) / 10**6)
    assert choice.certain() == 28
    assert choice.probability(27) < 1


def test_half_of_delta_is_where_logarithms_are_whole_numbers():
    """With delta = 1/2 the second unit makes a key certain, and with a little less the third does."""
    assert KeySelection(Fraction(1), Fraction(1, 2)).certain() == 2
    assert KeySelection(Fraction(1), Fraction(1, 2) - Fraction(1, 10**200)).certain() == 3


# --- one key ------------------------------------------------------------------------------------------------------


@parts
def test_one_key_is_private(epsilon, delta):
    """P(S | n) <= e^epsilon P(S | n') + delta for n' = n - 1, n + 1 and both outcomes; with equality at most n."""
    p = chances_of(epsilon, delta)
    found = [least_delta([a, 1 - a], [b, 1 - b], epsilon) for a, b in pairwise(p)]
    assert all(least <= ball(delta) + CLOSE for least in found)
    assert sum(bool(abs(least / ball(delta) - 1) < 1e-9) for least in found) >= len(p) - 5


@parts
def test_no_key_could_be_kept_more_often(epsilon, delta):
    """Each p_n is as large as p_{n-1} allows: a trillionth more breaks the guarantee, unless p_n is 1."""
    p = chances_of(epsilon, delta)
    for a, b in pairwise(p):
        if b < 1:
            more = b + (1 - b) * arb(10) ** -12
            assert least_delta([a, 1 - a], [more, 1 - more], epsilon) > ball(delta)


@parts
def test_chances_are_at_least_those_of_noisy_thresholds(epsilon, delta):
    """Laplace noise and a threshold, or geometric noise cut off at its threshold, keep no key more often."""
    p, e, d = chances_of(epsilon, delta), float(epsilon), float(delta)
    reach = math.ceil(math.log((math.expm1(e) + 2 * d) / (d * (math.exp(e) + 1))) / e)
    masses = np.exp(-e * np.abs(np.arange(-reach, reach + 1)))
    tails = np.cumsum(masses[::-1]) / masses.sum()  # of n + noise > reach, for n = 1, 2, ...
    cut = 1 + math.log(1 / (2 * d)) / e
    for n in range(1, len(p)):
        laplace = math.exp(e * (n - cut)) / 2 if n < cut else 1 - math.exp(e * (cut - n)) / 2
        assert float(p[n]) >= laplace - 1e-12 or d > 0.5  # where d > 0.5 the threshold is no (epsilon, delta) rule
        assert float(p[n]) >= (tails[n - 1] if n <= len(tails) else 1) * (1 - 1e-9)


# --- sets of keys -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1/10"), ("3", "1/100"), ("2", "1/3")])
def test_sets_of_keys_are_private(groups, epsilon, delta):
    """The law of the set of kept keys is within delta at epsilon for a unit in g groups, and not far within."""
    choice = KeySelection(Fraction(epsilon), Fraction(delta), groups)
    p = [choice._chances().ball(n) for n in range(choice.certain() + 2)]
    least = audit(p, groups, choice.epsilon)
    assert 0.8 * float(choice.delta) <= least <= float(choice.delta) * (1 + 1e-9)


@pytest.mark.parametrize("groups", [2, 3])
def test_parts_of_a_rho_are_private_for_sets_of_keys(groups):
    """The parts that are for many groups keep the promise for few as well, over all subsets."""
    epsilon, delta = Fraction(1), Fraction(1, 5)
    part = nominal(rho_from_approximate(epsilon, delta / 2) / groups)
    assert audit(chances_of(part, delta / (2 * groups)), groups, epsilon) <= float(delta)


@pytest.mark.parametrize(("groups", "delta"), [(60, Fraction(1, 10**4)), (300, Fraction(1, 10**6))])
def test_many_groups_are_private(groups, delta):
    """A unit in many groups of two sizes: how many are kept of each says all, and is within delta at epsilon."""
    choice = KeySelection(Fraction(1), delta, groups)
    chances = choice._chances()
    assert chances.epsilon > choice.epsilon / groups  # parts of a rho at half of delta; the other half is for the keys
    assert groups * chances.epsilon**2 / 2 <= rho_from_approximate(choice.epsilon, delta - groups * chances.delta)
    assert chances.certain < Chances.of(choice.epsilon / groups, delta / groups).certain
    places = [0, 1, chances.bend // 2, chances.bend - 1, chances.bend, chances.bend + 1, chances.certain - 1]
    worst = 0.0
    for n, other in product(places, repeat=2):
        a, b = (
            np.multiply.outer(
                stats.binom.pmf(range(groups // 2 + 1), groups // 2, float(chances.ball(n + more))),
                stats.binom.pmf(range(groups // 2 + 1), groups // 2, float(chances.ball(other + more))),
            )
            for more in (0, 1)
        )
        worst = max(worst, np.maximum(a - math.e * b, 0).sum(), np.maximum(b - math.e * a, 0).sum())
    assert 0.4 * float(delta) < worst <= float(delta)


def test_equal_parts_for_few_groups():
    """For few groups each key gets the same part of epsilon and of delta."""
    for groups in (1, 2, 5, 10):
        chances = KeySelection(Fraction(1), Fraction(1, 10**6), groups)._chances()
        assert (chances.epsilon, chances.delta) == (Fraction(1, groups), Fraction(1, 10**6 * groups))


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_a_planted_bug_is_caught(groups):
    """Chances for twice delta, or for the whole epsilon at each of several keys, are more than the audit allows."""
    epsilon, delta = Fraction(1), Fraction(1, 10)
    assert audit(chances_of(epsilon / groups, 2 * delta / groups), groups, epsilon) > 1.5 * float(delta)
    if groups > 1:
        assert audit(chances_of(epsilon, delta / groups), groups, epsilon) > 1.5 * float(delta)


# --- the draws ----------------------------------------------------------------------------------------------------

SAMPLED = [
    (Fraction(1), Fraction(1, 100), 1),
    (Fraction(1, 5), Fraction(1, 1000), 1),
    (Fraction(2), Fraction(1, 50), 3),
]


def fit(found: np.ndarray, repeats: int, choice: KeySelection) -> float:
    """p-value of how often keys of 0, 1, 2, ... units were kept, by chi-square over all that are neither 0 nor 1."""
    p = np.array([choice.probability(n) for n in range(len(found))])
    open_ = (p * repeats > 20) & ((1 - p) * repeats > 20)
    z = (found - repeats * p)[open_] ** 2 / (repeats * p * (1 - p))[open_]
    return float(stats.chi2.sf(z.sum(), len(z)))


@pytest.mark.medium
@pytest.mark.parametrize(("epsilon", "delta", "groups"), SAMPLED)
def test_keys_are_kept_as_often_as_they_should(epsilon, delta, groups):
    """Frequencies fit the chances by chi-square; with an epsilon 10% larger or smaller they do not."""
    choice, repeats = KeySelection(epsilon, delta, groups), 40_000
    counts = np.tile(np.arange(choice.certain() + 3), repeats)
    found = choice.kept(counts, random_source(np.random.default_rng(3))).reshape(repeats, -1).sum(axis=0)
    assert found[0] == 0
    assert all(found[choice.certain() :] == repeats)
    assert fit(found, repeats, choice) > 1e-6
    for wrong in (Fraction(9, 10), Fraction(11, 10)):
        assert fit(found, repeats, KeySelection(epsilon * wrong, delta, groups)) < 1e-6


@pytest.mark.parametrize(("epsilon", "delta", "groups"), SAMPLED)
def test_doubles_and_balls_decide_alike(epsilon, delta, groups, monkeypatch):
    """From the same words, all keys at once in doubles and one by one in balls are kept alike."""
    choice = KeySelection(epsilon, delta, groups)
    counts = np.random.default_rng(5).integers(0, choice.certain() + 2, 3000)
    quick = choice.kept(counts, random_source(random.Random(6)))
    monkeypatch.setattr(key_selection, "_SLACK", 2.0)
    assert np.array_equal(choice.kept(counts, random_source(random.Random(6))), quick)


@pytest.mark.sampled
def test_words_go_to_keys_in_order():
    """Key k has the k-th 64 bits, the lowest first: it is kept if they are below 2**64 p_n."""
    choice = KeySelection(Fraction(1), Fraction(1, 100))
    words = [random.Random(seed_of(k)).getrandbits(64) for k in range(200)]
    counts = np.random.default_rng(seed_of(1)).integers(0, choice.certain() + 1, 200)
    asked = []

    def bits(k):
        asked.append(k)
        return sum(word << (64 * place) for place, word in enumerate(words))

    expected = [word < 2**64 * choice.probability(int(n)) for word, n in zip(words, counts, strict=True)]
    assert choice.kept(counts, bits).tolist() == expected
    assert asked == [64 * 200]


@pytest.mark.parametrize(("later", "expected"), [(0, True), (2**64 - 1, False)])
def test_an_open_comparison_is_decided_by_later_bits(later, expected):
    """If the first 64 bits are those of p_n, the later ones decide, whatever doubles would say."""
    choice = KeySelection(Fraction(1), Fraction(1, 100))
    first = int((choice._chances().ball(4) * arb(2) ** 64).floor().unique_fmpz())
    asked = []

    def bits(k):
        asked.append(k)
        return first if len(asked) == 1 else later

    assert choice.kept(np.array([4]), bits).tolist() == [expected]
    assert len(asked) > 1
    nearby = [choice.kept(np.array([4]), lambda k, word=first + step: word).tolist() for step in (-1, 1)]
    assert nearby == [[True], [False]]


def test_a_key_of_no_units_is_never_kept():
    """Not even with the least uniform there is; and one unit more makes it possible."""
    choice = KeySelection(Fraction(1), Fraction(999, 1000))
    assert choice.kept(np.array([0, 1, 0, 2]), lambda k: 0).tolist() == [False, True, False, True]
    assert not choice.kept(np.zeros(10**5, dtype=np.int64), random_source(random.Random(1))).any()
    assert choice.kept(np.array([], dtype=np.int64), random_source()).tolist() == []


def test_tiny_rates_and_huge_counts():
    """Where a key is certain only with more units than 64 bits count, keys are still kept or not."""
    choice = KeySelection(Fraction(1, 10**12), Fraction(1, 10**900), 10**9)
    assert choice.kept(np.array([0, 1, 2**62]), random_source(random.Random(1))).tolist() == [False, False, False]
    huge = KeySelection(Fraction(10**12), Fraction(1, 10**6))
    assert huge.kept(np.array([0, 1, 2, 3]), random_source(random.Random(1))).tolist() == [False, False, True, True]


# --- what it costs ------------------------------------------------------------------------------------------------


def test_the_loss_is_epsilon_at_delta():
    """The loss is for the choice of all keys, without a rho; a unit that may move to other groups costs twice."""
    choice = KeySelection(Fraction(1, 2), Fraction(1, 10**6), 4)
    loss = choice.loss("add-remove", "person")
    assert (loss.epsilon, loss.delta, loss.neighbors, loss.unit) == (0.5, 1e-6, "add-remove", "person")
    assert loss.rho == loss.eta == math.inf
    assert loss.at(1e-7) == math.inf  # p_1 = delta where p_0 = 0, so there is no epsilon at less
    moved = choice.loss("swap", "person")
    assert (moved.epsilon, moved.delta) == (1.0, 2e-6)


def test_a_unit_that_moves_costs_twice():
    """Under swap a unit leaves its groups and enters others: within 2 delta at 2 epsilon over all subsets."""
    choice = KeySelection(Fraction(1, 10), Fraction(1, 10))
    p = [choice._chances().ball(n) for n in range(choice.certain() + 2)]
    worst = max(
        float(least_delta(set_law([p[a], p[b + 1]]), set_law([p[a + 1], p[b]]), 2 * choice.epsilon))
        for a, b in product(range(len(p) - 1), repeat=2)
    )
    assert float(choice.delta) * 1.5 < worst <= 2 * float(choice.delta)


@pytest.mark.parametrize("delta", [0, 1, Fraction(-1, 2), Fraction(3, 2)])
def test_delta_is_checked(delta):
    """Without a delta no key could ever be shown, and the error says the rule and the value."""
    with pytest.raises(ValueError) as caught:
        KeySelection(Fraction(1), delta)
    assert str(caught.value) == f"delta must be greater than 0 and less than 1, got delta={float(delta):g}"


@pytest.mark.parametrize("groups", [0, -1, 1.0, True, "2", 10**9 + 1])
def test_groups_are_checked(groups):
    """The number of groups is a whole number."""
    with pytest.raises(ValueError, match=r"^groups_per_unit must be a whole number between 1 and 1000000000, got "):
        KeySelection(Fraction(1), Fraction(1, 10), groups)


def test_epsilon_is_checked_and_read_as_written():
    """Epsilon must be positive, and a float stands for its decimal text."""
    with pytest.raises(ValueError, match=r"^epsilon must be greater than 0, got epsilon=0$"):
        KeySelection(0, Fraction(1, 10))
    assert KeySelection(0.1, 1e-6) == KeySelection(Fraction(1, 10), Fraction(1, 10**6))


# --- the decision -------------------------------------------------------------------------------------------------


def decided(choice, counts):
    return KeepKeys(choice, np.array(counts), lambda: [(f"key {k}",) for k in range(len(counts))])


def test_the_decision_is_drawn_by_the_selection_and_knows_its_law():
    """Both probabilities of each key are the nearest floats, also where one of them is tiny."""
    choice = KeySelection(Fraction(1), Fraction(1, 10**6))
    counts = [0, 1, 14, 1, 27, 28, 10**6]
    decision = decided(choice, counts)
    drawn, again = (
        draw(random_source(random.Random(1))) for draw in (decision.draw, partial(choice.kept, np.array(counts)))
    )
    assert drawn.tolist() == again.tolist()
    left_out, kept = zip(*decision.chances(), strict=True)
    assert list(kept) == [choice.probability(n) for n in counts]
    assert list(left_out) == [float(1 - choice._chances().ball(n)) for n in counts]
    assert 0 < left_out[4] < 1e-6


def test_the_keys_and_their_number_are_not_public():
    """A unit may bring a key of its own; the price is that of all keys of a unit."""
    choice = KeySelection(Fraction(1), Fraction(1, 10**6), 3)
    one, other = decided(choice, [777]), decided(choice, [777, 1])
    assert one.public == other.public != decided(KeySelection(Fraction(1), Fraction(1, 10**6), 2), [777]).public
    assert one.cost() == pure(Fraction(1))
    assert "777" not in repr(one) and "key 0" not in repr(one)
    assert other.listed() == [("key 0",), ("key 1",)]
