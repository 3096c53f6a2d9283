"""Algorithms 1 and 3 as plain loops: they halt by the law on paper, once, and cost what they say."""

import inspect
import math
import random
from decimal import Decimal
from fractions import Fraction
from functools import partial

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats
from support.chance import seed_of
from support.purse import Purse
from support.streams import NeverHits, Watched

from nobounds import AboveThreshold, IterativeExponential
from nobounds.accounting.cost import general, monotonic, pure
from nobounds.auditing.enumerated import enumerated_law
from nobounds.mechanisms import above_threshold, hits
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.hits import FreshThreshold, Reached, Selected, first_selected, hits_of
from nobounds.mechanisms.walk import Walk
from nobounds.programs.law import paths
from nobounds.programs.program import Driver
from nobounds.programs.streams import over

LIMIT = 1e-9
NOISES = ("exponential", "laplace", "gumbel")
NAN, INF = math.nan, math.inf
RUNS = 4_000


def mechanism(name: str, threshold=0, **keywords):
    """AboveThreshold with the noise of that name, or Algorithm 3 for "iterative"."""
    if name == "iterative":
        return IterativeExponential(threshold, **keywords)
    return AboveThreshold(threshold, noise=name, **keywords)


every = pytest.mark.parametrize("name", [*NOISES, "iterative"])


# --- the law ------------------------------------------------------------------------------------------------------


def law_of(name: str, queries, threshold, eps1, eps2) -> np.ndarray:
    """The exact law of halting at 0, 1, ... and of never halting; Algorithm 3 has that of Gumbel noise."""
    noise = "gumbel" if name == "iterative" else name
    step = Fraction(1, 1024)
    return Law(Walk.of(queries, Fraction(threshold), eps1=eps1, eps2=eps2, step=step, noise=noise)).pmf()


CASES = [
    ("exponential", True, Fraction(1, 2)),
    ("exponential", False, Fraction(1, 4)),
    ("laplace", False, Fraction(2, 3)),
    ("gumbel", True, Fraction(1, 2)),
    ("iterative", False, Fraction(1, 2)),
]


@pytest.mark.medium
@pytest.mark.parametrize(("name", "is_monotonic", "share"), CASES)
@pytest.mark.sampled
def test_runs_have_the_law_on_paper(name, is_monotonic, share):
    """Where 4,000 runs halt agrees with the exact law, by chi-square; an epsilon 30% off is rejected."""
    queries, threshold = [-8, -6, -5, -3, 0, 2], 0
    options = {} if name == "iterative" else {"share": share}
    rng = random.Random(seed_of(31))
    observed = np.zeros(len(queries) + 1)
    for _ in range(RUNS):
        run = mechanism(name, threshold, epsilon=1, monotonic=is_monotonic, rng=rng, **options)
        halted = run.first_above(queries)
        observed[len(queries) if halted is None else halted] += 1
    for factor, agrees in ((Fraction(1), True), (Fraction(13, 10), False), (Fraction(10, 13), False)):
        expected = law_of(name, queries, threshold, run.eps1 * factor, run.eps2 * factor) * RUNS
        pvalue = stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue
        assert (pvalue > LIMIT) if agrees else (pvalue < LIMIT), (factor, pvalue)


def test_the_law_is_that_of_the_lattice_summed_by_hand():
    """For one query the exact law is a double sum over two lattices, here added up without the library."""
    eps1, eps2, step, gap = 0.5, 0.25, 1 / 1024, 3  # threshold 3 above the query
    j = np.arange(120 * 1024)
    threshold_noise = -math.expm1(-eps1 * step) * np.exp(-eps1 * step * j)
    halts = float(threshold_noise @ np.exp(-eps2 * np.maximum(gap + step * j, 0)))
    found = law_of("exponential", [0], 3, Fraction(1, 2), Fraction(1, 4))
    assert found == pytest.approx([halts, 1 - halts], rel=1e-9)


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_the_program_has_the_closed_law(noise):
    """Driven through every noise of its threshold and every answer, the program halts by the law of its walk."""
    queries = (0, 2, -1, 1, 3)
    fresh = FreshThreshold(Fraction(2), Fraction(1), Fraction(2, 3), noise, 1, cost_of(1))
    found = enumerated_law(lambda driver: driver.run(over(hits_of(fresh), map(Fraction, queries))), 30).logs
    law = Law(Walk.of(list(queries), Fraction(2), eps1=Fraction(1), eps2=Fraction(2, 3), noise=noise)).pmf()
    assert [math.exp(found[hit]) for hit in (*((k,) for k in range(5)), ())] == pytest.approx(list(law), abs=1e-12)


def test_the_program_of_algorithm_3_has_the_law_of_gumbel_noise():
    """The probabilities of its selections multiply to those of halting with Gumbel noise."""
    queries = (0, 2, -1, 2, 1, 3)
    program = partial(first_selected, Fraction(2), Fraction(2, 3), cost_of(1))
    found = {halt: chance for chance, halt in paths(lambda: over(program(), map(Fraction, queries)))}
    law = Law(Walk.of(list(queries), Fraction(2), eps1=Fraction(2, 3), eps2=Fraction(2, 3), noise="gumbel")).pmf()
    assert [found[(k,)] for k in range(6)] + [found[()]] == pytest.approx(list(law), rel=1e-9)


def test_the_chance_of_a_selection_is_a_share_of_the_weights():
    """For two scores it is 1 / (1 + exp(gap)), near and far."""
    for gap in (0, 1, -3, 300, -300, 10**600, -(10**600)):
        scores = {Fraction(0): 1, Fraction(gap): 1} if gap else {Fraction(0): 2}
        chance = Selected(Fraction(0), scores, Fraction(1), cost_of(1)).chance
        assert chance == pytest.approx(0.0 if gap > 700 else 1 / (1 + math.exp(max(gap, -700))))


def cost_of(epsilon):
    return lambda: pure(Fraction(epsilon))


# --- what drivers see ---------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("is_monotonic", [True, False])
def test_the_decisions_of_a_run_cost_what_was_charged(name, is_monotonic):
    """The costs of all decisions of a run add up to the loss, however many queries there were."""
    driver = Watched(random.Random(5))
    run = mechanism(name, 0, epsilon=3, monotonic=is_monotonic, rng=driver)
    for value in (-INF, -40, NAN, -41, -40):
        assert not run.query(value)
    total = sum((decision.cost() for decision, _ in driver.settled[1:]), driver.settled[0][0].cost())
    assert total == (monotonic if is_monotonic else general)(run.eps1, run.eps2)
    assert len(driver.answers) == 3  # infinities are answered without a decision
    assert len(driver.thresholds) == (0 if name == "iterative" else 1)


@every
def test_a_driver_settles_everything(name):
    """With a driver in the place of a generator no noise is drawn, and its outcomes are the answers."""

    class Settled(Driver):
        def decide(self, decision):
            return "a stand-in" if isinstance(decision, FreshThreshold) else decision.query == 7

    run = mechanism(name, 0, epsilon=1, rng=Settled())
    assert [run.query(value) for value in (10**9, -(10**9), 7)] == [False, False, True]
    assert run.halted_at == 2


def test_decisions_show_no_query():
    """Their texts show public facts alone, and those are the same whatever the queries are."""
    cost, far = cost_of(1), Fraction(123456)
    fresh = FreshThreshold(Fraction(7), Fraction(1, 2), Fraction(1, 3), "laplace", 1024, cost)
    assert "laplace" in repr(fresh) and fresh.public == (7, Fraction(1, 2), Fraction(1, 3), "laplace", 1024)
    for decision, other in (
        (Reached(far, far), Reached(far, Fraction(1))),
        (Selected(far, {far: 2, Fraction(0): 1}, Fraction(1), cost), Selected(far, {far: 3}, Fraction(1), cost)),
    ):
        assert "123456" not in repr(decision)
        assert decision.public == other.public


# --- one halt, and then no more -----------------------------------------------------------------------------------


@every
def test_it_halts_once_and_then_refuses(name):
    """True is the last answer; the next question is refused, and again."""
    run = mechanism(name, 10, epsilon=1000, rng=random.Random(1))
    assert [run.query(0), run.query(-5), run.query(100)] == [False, False, True]
    assert (run.answered, run.halted_at) == (3, 2)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="has halted or was stopped"):
            run.query(0)
    assert (run.answered, run.halted_at) == (3, 2)


@every
def test_it_can_be_stopped(name):
    """After stop() no more queries are answered; it has not halted, and cost what it cost."""
    run = mechanism(name, 10, epsilon=1000, rng=random.Random(1))
    assert not run.query(0)
    before = run.loss
    run.stop()
    run.stop()
    with pytest.raises(RuntimeError, match="has halted or was stopped"):
        run.query(100)
    assert (run.answered, run.halted_at, run.loss) == (1, None, before)


@every
def test_first_above_is_the_loop_over_query(name):
    """With the same seed, first_above and one query after the other halt at the same place, or never."""
    queries = [-3, 0, -1, 2, -9, 4]
    for seed in range(60):
        loop, whole = (mechanism(name, 1, epsilon=1, rng=random.Random(seed)) for _ in range(2))
        by_hand = None
        for k, value in enumerate(queries):
            if loop.query(value):
                by_hand = k
                break
        assert whole.first_above(queries) == by_hand == whole.halted_at
        if by_hand is not None:
            assert whole.answered == by_hand + 1


@every
def test_first_above_takes_streams_and_asks_no_more_than_it_must(name):
    """A generator is read up to the halt and no further, and an empty stream never halts."""
    taken = []

    def stream():
        for value in (0, 10**6, 5):
            taken.append(value)
            yield value

    assert mechanism(name, 1000, epsilon=100, rng=random.Random(2)).first_above(stream()) == 1
    assert taken == [0, 10**6]
    assert mechanism(name, 1000, epsilon=100).first_above([]) is None


@pytest.mark.medium
@every
def test_the_same_seed_gives_the_same_run(name):
    """Runs repeat with their seed, for both kinds of generator, and differ with another."""

    def halts(make, seed):
        rng = make(seed)
        return [mechanism(name, 3, epsilon=1, rng=rng).first_above(range(-3, 9)) for _ in range(30)]

    for make in (random.Random, np.random.default_rng):
        assert halts(make, 5) == halts(make, 5) != halts(make, 6)


# --- values -------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    "low", [NAN, -INF, np.float32("nan"), np.float64("-inf"), np.float16("-inf"), -1e308, -(10**400)]
)
def test_values_below_everything_do_not_halt(name, low):
    """NaN counts as minus infinity: neither is an error, and neither halts."""
    run = mechanism(name, 0, epsilon=1, rng=random.Random(3))
    assert not any(run.query(low) for _ in range(50))


@every
@pytest.mark.parametrize("high", [INF, np.float32("inf"), 1e308, 10**400, Fraction(10**400, 3)])
def test_values_above_everything_halt(name, high):
    """Infinity, and what is as good as it, halts at once."""
    for seed in range(20):
        assert mechanism(name, 0, epsilon=1, rng=random.Random(seed)).query(high)


@pytest.mark.medium
@every
@settings(max_examples=60, deadline=None)
@given(
    queries=st.lists(st.fractions(-6, 6, max_denominator=2048), min_size=1, max_size=8),
    sensitivity=st.sampled_from([Fraction(3), Fraction(1, 7), Fraction(5, 2)]),
    seed=st.integers(0, 2**32),
)
def test_noise_scales_with_the_sensitivity(name, queries, sensitivity, seed):
    """Queries, threshold and sensitivity three times as large halt at the same place: only their ratios matter."""
    plain = mechanism(name, 2, epsilon=1, rng=random.Random(seed))
    scaled = mechanism(name, 2 * sensitivity, epsilon=1, sensitivity=sensitivity, rng=random.Random(seed))
    assert plain.first_above(queries) == scaled.first_above([sensitivity * value for value in queries])
    assert plain.loss == scaled.loss


@every
@given(value=st.floats(-1e9, 1e9), sensitivity=st.sampled_from([Fraction(1), Fraction(3), Fraction(1, 7)]))
def test_queries_are_rounded_down_to_the_lattice(name, value, sensitivity):
    """A float is read exactly, and the noise is added to the multiple of 1/1024 of the sensitivity at or below it."""
    driver = NeverHits()
    mechanism(name, Fraction(1, 2), epsilon=1, sensitivity=sensitivity, rng=driver).query(value)
    assert driver.queries == [Fraction(math.floor(Fraction(value) / sensitivity * 1024), 1024)]
    assert 0 <= Fraction(value) - driver.queries[0] * sensitivity < sensitivity / 1024


@pytest.mark.medium
@given(
    a=st.fractions(-50, 50),
    move=st.fractions(-1, 1),
    sensitivity=st.sampled_from([Fraction(1), Fraction(3), Fraction(1, 7)]),
)
def test_rounding_keeps_sensitivity_and_order(a, move, sensitivity):
    """Values at most one sensitivity apart are at most 1 apart on the lattice, in the same order."""
    run = AboveThreshold(0, epsilon=1, sensitivity=sensitivity)
    moved = run._snap(a + move * sensitivity) - run._snap(a)
    assert abs(moved) <= 1
    assert moved * move >= 0


@every
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.longdouble, Decimal])
def test_queries_of_any_type_are_read_exactly(name, kind):
    """A number has one noisy answer per seed, whatever type holds it: 0.75 is not 0, and -0.75 is not 0 either."""
    for value in (0.75, -0.75, 1.5, -2.25):
        driver = NeverHits()
        run = mechanism(name, 0, epsilon=10**6, sensitivity="0.5", rng=driver)
        run.query(kind(value))
        run.query(value)
        assert driver.queries == [Fraction(value) * 2] * 2


@every
@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long doubles are doubles here")
def test_long_doubles_are_not_rounded_to_doubles(name):
    """Values that differ in their last bit are read as different numbers, and those beyond all doubles as finite."""
    run = mechanism(name, 1, epsilon=1, sensitivity=Fraction(1, 2**60))
    one = run._read(np.longdouble(1))
    assert [run._read(1 + k * np.longdouble(2) ** -60) - one for k in (-2, 1, 127, 129)] == [-2, 1, 127, 129]
    large = mechanism(name, "1e600", epsilon=1, sensitivity="1e600")
    assert 0 <= Fraction(3, 2) - large._read(np.longdouble("1.5e600")) <= Fraction(1, 1024)
    assert large._read(np.longdouble("-inf")) == -INF == large._read(np.longdouble("nan"))


@every
def test_whole_numbers_of_any_type_are_read_exactly(name):
    """Integers and booleans of numpy and Python are whole numbers, however large."""
    driver = NeverHits()
    run = mechanism(name, 0, epsilon=1, rng=driver)
    for value in (np.int8(-3), np.uint64(2**64 - 1), 2**70 + 1, True, np.bool_(True)):
        run.query(value)
    assert driver.queries == [-3, 2**64 - 1, 2**70 + 1, 1, 1]


@pytest.mark.parametrize("epsilon", ["1e-6", "1e6"])
@every
def test_tiny_and_huge_epsilons(name, epsilon):
    """At epsilon 1e6 the answer is the true one, ties apart; at 1e-6 it is still an answer."""
    for seed in range(10):
        halted = mechanism(name, 0, epsilon=epsilon, rng=random.Random(seed)).first_above([-3, -1, 1, 5])
        assert halted == 2 if epsilon == "1e6" else halted in {None, 0, 1, 2, 3}


# --- cost ---------------------------------------------------------------------------------------------------------


@pytest.mark.medium
@every
@pytest.mark.parametrize("is_monotonic", [True, False])
@given(epsilon=st.fractions(Fraction(1, 1000), 100, max_denominator=1000))
def test_the_loss_is_the_epsilon_that_was_asked_for(name, is_monotonic, epsilon):
    """eps1 and eps2 cost exactly epsilon, by the row of the table for such queries, and the loss says so."""
    run = mechanism(name, 0, epsilon=epsilon, monotonic=is_monotonic, neighbors="swap")
    cost = (monotonic if is_monotonic else general)(run.eps1, run.eps2)
    assert cost.epsilon == epsilon
    assert Fraction(repr(run.loss.epsilon)) >= epsilon
    assert run.loss.epsilon == pytest.approx(float(epsilon))
    assert run.loss.eta == pytest.approx(float(cost.eta))
    assert Fraction(repr(run.loss.rho)) == cost.rho
    assert run.loss.neighbors == "swap"


def test_monotonic_queries_get_less_noise_for_the_same_loss():
    """eps1 + 2 eps2 = 3 and eps1 + eps2 = 2 are the same price list at different epsilons."""
    anything = AboveThreshold(0, epsilon=3)
    one_way = AboveThreshold(0, epsilon=3, monotonic=True)
    assert (anything.eps1, anything.eps2) == (1, 1)
    assert (one_way.eps1, one_way.eps2) == (Fraction(3, 2), Fraction(3, 2))


def test_share_divides_the_noise():
    """share is eps1 / (eps1 + eps2)."""
    run = AboveThreshold(0, epsilon=1, share=0.2, monotonic=True)
    assert (run.eps1, run.eps2) == (Fraction(1, 5), Fraction(4, 5))


@every
def test_the_loss_does_not_depend_on_what_happens(name):
    """The loss is known before the first query and the same after any run."""
    run = mechanism(name, 5, epsilon=2, rng=random.Random(1))
    before = run.loss
    run.first_above([3, 100, 10**6])
    assert run.loss == before == mechanism(name, 5, epsilon=2).loss


@every
def test_a_budget_is_charged_once_and_first(name):
    """The loss is charged when the mechanism is made, not per query; no random bit is drawn if it is refused."""
    purse = Purse()
    run = mechanism(name, 5, epsilon=2, budget=purse)
    run.first_above([3, 100, 10**6])
    ((loss, what),) = purse.charged
    assert loss == run.loss
    assert what == ("iterative exponential mechanism" if name == "iterative" else "above threshold")
    rng = random.Random(1)
    before = rng.getstate()
    with pytest.raises(RuntimeError, match="spent"):
        mechanism(name, 5, epsilon=2, budget=Purse(refuses=True), rng=rng)
    assert rng.getstate() == before


def test_nothing_is_charged_for_wrong_parameters():
    """A call that fails because of its parameters costs nothing."""
    purse = Purse()
    for wrong in ({"share": 0.4, "noise": "gumbel"}, {"sensitivity": 0}, {"neighbors": "near"}, {"rng": 5}):
        with pytest.raises((TypeError, ValueError)):
            AboveThreshold(0, epsilon=1, budget=purse, **wrong)
    assert purse.charged == []


def test_the_default_relation_is_add_remove():
    """Both mechanisms default to add-remove, and take the same other keywords."""
    for kind in (AboveThreshold, IterativeExponential):
        assert kind(0, epsilon=1).loss.neighbors == "add-remove"
        assert inspect.signature(kind).parameters["rng"].default is None


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"epsilon": 0}, "epsilon must be greater than 0, got epsilon=0"),
        ({"epsilon": -1.5}, "epsilon must be greater than 0, got epsilon=-1.5"),
        ({"epsilon": NAN}, "epsilon must be a finite number, got epsilon=nan"),
        ({"epsilon": INF}, "epsilon must be a finite number, got epsilon=inf"),
        ({"epsilon": 1, "sensitivity": 0}, "sensitivity must be greater than 0, got sensitivity=0"),
        ({"epsilon": 1, "share": 0}, "share must be between 0 and 1, got share=0"),
        ({"epsilon": 1, "share": 1}, "share must be between 0 and 1, got share=1"),
        ({"epsilon": 1, "share": 0.4, "noise": "gumbel"}, "share must be 1/2 with Gumbel noise, got share=0.4"),
        ({"epsilon": 1, "noise": "normal"}, "noise must be one of exponential, laplace, gumbel, got noise='normal'"),
        ({"epsilon": 1, "neighbors": "near"}, "neighbors must be one of add-remove, swap, got neighbors='near'"),
        ({"epsilon": 1, "threshold": INF}, "threshold must be a finite number, got threshold=inf"),
    ],
)
def test_wrong_parameters_are_named(keywords, message):
    """A wrong parameter gets a ValueError with its name, the rule and the value."""
    keywords = {"threshold": 0} | keywords
    with pytest.raises(ValueError) as caught:
        AboveThreshold(keywords.pop("threshold"), **keywords)
    assert str(caught.value) == message


@pytest.mark.parametrize("keywords", [{"epsilon": None}, {"epsilon": 1, "sensitivity": "x"}, {"epsilon": 1, "rng": 5}])
def test_wrong_types_are_named(keywords):
    """So does a value of the wrong type."""
    with pytest.raises((TypeError, ValueError), match=rf"^{list(keywords)[-1]} must be"):
        IterativeExponential(0, **keywords)


def test_epsilon_is_required_and_keywords_are_keywords():
    """There is no default epsilon, and nothing but the threshold comes by position."""
    for kind in (AboveThreshold, IterativeExponential):
        with pytest.raises(TypeError):
            kind(0)
        with pytest.raises(TypeError):
            kind(0, 1)


def test_gumbel_accepts_one_half():
    """A share of one half, in any way of writing it, is what Gumbel noise needs."""
    for share in (0.5, "1/2", Fraction(1, 2)):
        run = AboveThreshold(0, epsilon=1, noise="gumbel", share=share)
        assert run.eps1 == run.eps2


def test_the_plain_loop_does_not_know_the_law():
    """The loop shares no code with the law that it is compared with."""
    source = inspect.getsource(above_threshold) + inspect.getsource(hits)
    assert not any(f"nobounds.{module}" in source for module in ("laws", "mechanisms.walk", "mechanisms.skip_ahead"))


@pytest.mark.parametrize("kind", [AboveThreshold, IterativeExponential])
def test_no_decimal_is_an_error_and_far_ones_keep_their_order(kind):
    """Signalling NaN counts as NaN, and an enormous exponent raises nothing and fills no memory."""
    far = {"1e999999999": True, "Infinity": True, "-1e999999999": False, "NaN": False, "sNaN": False}
    for text, above in far.items():
        assert kind(5, epsilon=10**6).query(Decimal(text)) is above
    assert kind(-1, epsilon=10**6).query(Decimal("1e-999999999")) is True
    assert kind(0, epsilon=10**6).query(Decimal("-1e-999999999")) is False
    assert kind(-1, epsilon=10**6).query(Decimal("0e999999999")) is True
    assert kind(-1, epsilon=10**6).query(Decimal("0e-999999999")) is True


# Distances from the threshold in units of the sensitivity, on both sides of where queries are clamped.
EDGE = 3 * 2**2000  # eps1 = eps2 = 1/3
DISTANCES = [0, 1, 2**70, 10**400, EDGE - 2, EDGE - 1, EDGE, EDGE + 1, 10**5000]
SENSITIVITIES = ["1e-1000", "1e-450", "1/7", "1", "1e450", "1e1000"]


@every
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_clamping_keeps_sensitivity_and_order(name, sensitivity):
    """Values one sensitivity apart are at most 1 apart as they are read, in the same order, near, far and between."""
    s, threshold = Fraction(sensitivity), Fraction(17)
    run = mechanism(name, threshold, epsilon=1, sensitivity=sensitivity)
    for distance in DISTANCES:
        for value in (threshold + distance * s, threshold - distance * s):
            for move in (Fraction(1, 1024), Fraction(1, 3), Fraction(1)):
                assert 0 <= run._read(value + move * s) - run._read(value) <= 1
    assert run._read(threshold + 10**400 * s) - run._read(threshold) == 10**400
    assert run._read(threshold + 10**5000 * s) - run._read(threshold) == EDGE


@every
def test_values_out_of_reach_are_clamped_by_one_rule(name):
    """Whatever type holds a huge value, it is read as the same bound, 2**2000 noise scales from the threshold."""
    run = mechanism(name, 5, epsilon=3)  # eps1 = eps2 = 1
    for sign in (1, -1):
        huge = [sign * 10**5000, Fraction(sign * 10**5000, 3), Decimal(f"{sign}e5000"), Decimal(f"{sign}e999999999")]
        assert {run._read(value) for value in huge} == {5 + sign * 2**2000}
        large = [sign * 10**500, Fraction(sign * 10**500), Decimal(f"{sign}e500")]
        assert {run._read(value) for value in large} == {sign * 10**500}


@every
def test_values_of_a_hundred_thousand_digits_are_answered(name):
    """No value is too large to be compared, whatever the noise."""
    assert mechanism(name, 0, epsilon=1).query(10**100_000)
    assert not mechanism(name, 0, epsilon=1).query(-(10**100_000))


@pytest.mark.parametrize("share", ["1e-1000", 1 - Fraction(1, 10**999)], ids=["least", "most"])
@pytest.mark.parametrize("sensitivity", ["1e-1000", "1e1000"])
@pytest.mark.parametrize("threshold", ["1e1000", "-1e1000", "1e-1000"])
def test_decimals_are_exact_for_the_most_extreme_parameters(threshold, sensitivity, share):
    """Decimals beyond 10**4000 or below 10**-4000 are read as fractions of that size are."""
    run = AboveThreshold(threshold, epsilon="1e-12", sensitivity=sensitivity, share=share)
    for sign, end in ((1, run._highest), (-1, run._lowest)):
        assert run._read(Decimal(f"{sign}e4001")) == run._read(sign * Fraction(10) ** 4001) == end
        assert run._read(Decimal(f"{sign}e-4001")) == run._read(sign * Fraction(1, 10**4001))
        assert run._read(Decimal(f"{sign}e-999999999")) == run._read(sign * Fraction(1, 10**4001))
