"""SparseVector: so many hits and then no more, by the law on paper, for what was promised."""

import inspect
import random
from fractions import Fraction as F

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats
from support.chance import seed_of
from support.laws import text
from support.purse import Purse
from support.streams import Watched

from nobounds.accounting.bands import cheapest
from nobounds.accounting.conversions import rho_from_approximate
from nobounds.accounting.cost import general, monotonic
from nobounds.accounting.loss import PrivacyLoss
from nobounds.mechanisms import hits as programs
from nobounds.mechanisms import sparse_vector
from nobounds.mechanisms.sparse_law import SparseLaw
from nobounds.mechanisms.sparse_vector import Promise, Rates, SparseVector

LIMIT = 1e-9
RUNS = 8_000
METHODS = ("iterated", "classical")
MICRO = F(1, 10**6)

both_methods = pytest.mark.parametrize("method", METHODS)


# --- the law ------------------------------------------------------------------------------------------------------

CASES = [
    ("iterated", "exponential", True, 2, F(1, 2)),
    ("iterated", "laplace", False, 2, F(1, 3)),
    ("iterated", "gumbel", True, 3, F(1, 2)),
    ("classical", "exponential", False, 2, F(2, 3)),
    ("classical", "laplace", True, 3, F(1, 2)),
]


@pytest.mark.medium
@pytest.mark.parametrize(("method", "noise", "is_monotonic", "hits", "share"), CASES)
@pytest.mark.sampled
def test_runs_have_the_law_on_paper(method, noise, is_monotonic, hits, share):
    """The hits of 8,000 runs agree with the exact law, by chi-square; rates 30% off are rejected."""
    queries, threshold, epsilon = (-1, 1, 0, -2, 1), 1, hits * 2
    rng = random.Random(seed_of(47))
    options = {"method": method, "noise": noise, "monotonic": is_monotonic, "hits": hits, "share": share}
    observed: dict[tuple[int, ...], int] = {}
    for _ in range(RUNS):
        run = SparseVector(threshold, epsilon=epsilon, rng=rng, **options)
        list(run.answers(queries))
        observed[run.hits_at] = observed.get(run.hits_at, 0) + 1
    for factor, agrees in ((F(1), True), (F(13, 10), False), (F(10, 13), False)):
        law = SparseLaw(
            queries, F(threshold), hits, run.eps1 * factor, run.eps2 * factor, method, noise, step=F(1, 1024)
        )
        expected = np.exp(law.log_pmf()) * RUNS
        seen = np.array([observed.get(pattern, 0) for pattern in law.patterns])
        assert seen.sum() == RUNS
        pvalue = stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue
        assert (pvalue > LIMIT) if agrees else (pvalue < LIMIT), (factor, pvalue)


def test_the_two_methods_have_different_laws():
    """With the same rates, hits of a classical one come together: its threshold is low for all, or for none."""
    laws = [
        np.exp(SparseLaw((0, 0, 0), F(3), 3, F(1, 2), F(2), method).log_pmf())  # (), ..., (0, 1, 2)
        for method in METHODS
    ]
    assert laws[1][-1] > 1.2 * laws[0][-1]


def test_the_sampler_does_not_know_the_law():
    """The loop shares no code with the law that it is compared with."""
    source = inspect.getsource(sparse_vector) + inspect.getsource(programs)
    assert not any(f"nobounds.{module}" in source for module in ("laws", "mechanisms.walk", "mechanisms.skip_ahead"))


# --- so many hits, and then no more -------------------------------------------------------------------------------


@both_methods
def test_it_answers_until_the_last_hit_and_then_refuses(method):
    """Each hit is told, the last one ends it, and the next question is refused, again and again."""
    run = SparseVector(10, hits=2, epsilon=1000, method=method, rng=random.Random(1))
    assert [run.query(value) for value in (0, 100, -5, 100)] == [False, True, False, True]
    assert (run.answered, run.hits_at, run.hits_found, run.hits) == (4, (1, 3), 2, 2)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="this SparseVector has halted or was stopped; start a new one"):
            run.query(0)
    assert (run.answered, run.hits_found) == (4, 2)


@both_methods
def test_it_can_be_stopped(method):
    """After stop() no more queries are answered, and it cost what it cost."""
    run = SparseVector(10, hits=3, epsilon=1000, method=method, rng=random.Random(1))
    assert run.query(100)
    before = run.loss
    run.stop()
    with pytest.raises(RuntimeError, match="has halted or was stopped"):
        run.query(100)
    assert (run.answered, run.hits_found, run.loss) == (1, 1, before)


@both_methods
def test_answers_are_those_of_query_and_read_no_further(method):
    """A stream is read up to the last hit; with the same seed the answers are those of one query after the other."""
    values = [-3, 4, 0, 5, 9, -1, 7]
    for seed in range(40):
        loop, whole = (SparseVector(4, hits=2, epsilon=3, method=method, rng=random.Random(seed)) for _ in range(2))
        stream = iter(values)
        said = list(whole.answers(stream))
        by_hand = [loop.query(value) for value in values[: len(said)]]
        assert said == by_hand
        assert list(stream) == values[len(said) :]
        assert whole.hits_at == tuple(k for k, hit in enumerate(said) if hit)
        assert len(said) == len(values) or whole.hits_found == 2


def test_the_threshold_is_renewed_after_a_hit():
    """An iterated one draws its noise again after each hit but the last, a classical one never."""
    for method, changes in (("iterated", 2), ("classical", 0)):
        driver = Watched(random.Random(4))
        run = SparseVector(0, hits=3, epsilon=1, method=method, rng=driver)
        for value in (10**6, -(10**6), 10**6, 10**6):
            run.query(value)
        assert len(driver.thresholds) == changes + 1
        used = [decision.threshold for decision, _ in driver.answers]
        latest = driver.thresholds if changes else driver.thresholds * 3
        assert all(a is b for a, b in zip(used, [latest[0], latest[1], latest[1], latest[2]], strict=True))


@pytest.mark.parametrize("is_monotonic", [True, False])
@both_methods
def test_the_decisions_of_a_run_cost_at_most_what_was_charged(method, is_monotonic):
    """With all hits the thresholds cost together what was charged, with fewer hits not more."""
    for values, spent in (((10**6, -(10**6), 10**6, 10**6), 1), ((-(10**6),), F(1, 3) if method == "iterated" else 1)):
        driver = Watched(random.Random(4))
        run = SparseVector(0, hits=3, epsilon=6, monotonic=is_monotonic, method=method, rng=driver)
        list(run.answers(values))
        total = sum((decision.cost() for decision, _ in driver.settled[1:]), driver.settled[0][0].cost())
        assert total.epsilon == 6 * spent
        assert [above for _, above in driver.answers] == [value > 0 for value in values]


@pytest.mark.medium
@settings(max_examples=40, deadline=None)
@given(
    queries=st.lists(st.fractions(-6, 6, max_denominator=2048), min_size=1, max_size=8),
    sensitivity=st.sampled_from([F(3), F(1, 7)]),
    seed=st.integers(0, 2**32),
)
def test_noise_scales_with_the_sensitivity(queries, sensitivity, seed):
    """Queries, threshold and sensitivity three times as large have the same hits: only their ratios matter."""
    plain = SparseVector(2, hits=2, epsilon=3, rng=random.Random(seed))
    scaled = SparseVector(2 * sensitivity, hits=2, epsilon=3, sensitivity=sensitivity, rng=random.Random(seed))
    assert list(plain.answers(queries)) == list(scaled.answers([sensitivity * value for value in queries]))
    assert plain.loss == scaled.loss


def test_nan_is_below_everything():
    """A value that is not a number is no hit and no error."""
    run = SparseVector(0, hits=2, epsilon=1)
    assert not any(run.query(float("nan")) for _ in range(50))


# --- what it costs ------------------------------------------------------------------------------------------------

hit_counts = st.integers(1, 40)
epsilons = st.fractions(F(1, 100), 20, max_denominator=100)


def costs_of(run, is_monotonic):
    return Rates(run.method, run.hits, is_monotonic, run.eps1, run.eps2).costs()


@pytest.mark.medium
@both_methods
@pytest.mark.parametrize("is_monotonic", [True, False])
@given(hits=hit_counts, epsilon=epsilons)
def test_a_pure_epsilon_is_spent_exactly(method, is_monotonic, hits, epsilon):
    """hits (eps1 + eps2) or eps1 + hits eps2, with 2 eps2 if queries are not monotonic, is epsilon."""
    run = SparseVector(0, hits=hits, epsilon=epsilon, monotonic=is_monotonic, method=method, neighbors="swap")
    each = run.eps2 if is_monotonic else 2 * run.eps2
    assert epsilon == (hits * (run.eps1 + each) if method == "iterated" else run.eps1 + hits * each)
    assert text(run.loss.epsilon) >= epsilon
    assert run.loss.epsilon == pytest.approx(float(epsilon))
    assert (run.loss.delta, run.loss.neighbors) == (0.0, "swap")
    assert run.loss.eta <= 2 * run.loss.epsilon * (1 + 1e-12)


@pytest.mark.medium
@settings(max_examples=30)
@given(hits=hit_counts, rho=epsilons, is_monotonic=st.booleans(), method=st.sampled_from(METHODS))
def test_a_rho_is_kept_and_used_up(hits, rho, is_monotonic, method):
    """The rhos of all parts are at most rho together, and less noise by one in a million is too little."""
    run = SparseVector(0, hits=hits, rho=rho, monotonic=is_monotonic, method=method)
    parts = costs_of(run, is_monotonic)
    assert sum(cost.rho for cost in parts) <= rho
    assert text(run.loss.rho) >= sum(cost.rho for cost in parts)
    row = monotonic if is_monotonic else general
    more = 1 + MICRO
    assert len(parts) * row(run.eps1 * more, (1 if method == "iterated" else hits) * run.eps2 * more).rho > rho


@pytest.mark.medium
@settings(max_examples=25, deadline=None)
@given(
    hits=hit_counts,
    epsilon=st.sampled_from([F(1, 2), F(1), F(3)]),
    is_monotonic=st.booleans(),
    method=st.sampled_from(METHODS),
)
def test_an_epsilon_at_a_delta_is_kept_and_used_up(hits, epsilon, is_monotonic, method):
    """The cheapest composition has at most that epsilon, by the sides; with noise less by one in a million, more."""
    run = SparseVector(0, hits=hits, epsilon=epsilon, delta=MICRO, monotonic=is_monotonic, method=method)
    found = cheapest(costs_of(run, is_monotonic), MICRO)
    assert text(found.epsilon) <= epsilon
    rates = Rates(method, hits, is_monotonic, run.eps1, run.eps2)
    assert not Promise(epsilon, MICRO, None)._keeps(rates.times(1 + MICRO).costs())
    assert (run.loss.epsilon, run.loss.delta, run.loss.eta) == (float(epsilon), 1e-6, float("inf"))
    assert text(run.loss.rho) >= sum(cost.rho for cost in costs_of(run, is_monotonic))


@pytest.mark.medium
def test_nothing_allows_more_than_the_sides():
    """For forty hits at a delta the sides win, before ranges, zCDP and the sum of epsilons."""
    run = SparseVector(0, hits=40, epsilon=1, delta=MICRO, monotonic=True, method="iterated")
    parts = costs_of(run, True)
    losses = [PrivacyLoss.of(part, "add-remove") for part in parts]
    assert cheapest(parts, MICRO).rule == "sides"
    assert 1.02 < cheapest(losses, MICRO).epsilon < sum(losses[1:], losses[0]).at(MICRO)


@pytest.mark.medium
def test_a_delta_helps_many_hits():
    """With a hundred hits the noise at delta 1e-6 is a third of that of a pure iterated one, and of no use for one."""
    hundred = {"hits": 100, "epsilon": 1, "monotonic": True, "method": "iterated", "share": F(1, 2)}
    assert SparseVector(0, delta=MICRO, **hundred).eps2 > 3 * SparseVector(0, **hundred).eps2
    one = {"hits": 1, "epsilon": 1}
    assert SparseVector(0, delta=MICRO, **one).eps2 < SparseVector(0, **one).eps2 * (1 + F(1, 10**4))


@pytest.mark.medium
def test_very_many_hits_are_composed_by_zcdp():
    """Beyond a thousand hits rho is what an epsilon at a delta allows, or else the epsilons add up."""
    tiny = SparseVector(0, hits=2000, epsilon="1e-12", delta="1e-300", method="iterated")
    assert 2000 * (tiny.eps1 + 2 * tiny.eps2) == pytest.approx(F(1, 10**12))
    run = SparseVector(0, hits=100_000, epsilon=1, delta=MICRO, monotonic=True)
    most = rho_from_approximate(F(1), MICRO)
    assert run.method == "iterated"
    assert most * (1 - MICRO) < 100_000 * monotonic(run.eps1, run.eps2).rho <= most


@both_methods
def test_the_loss_does_not_depend_on_what_happens(method):
    """The loss is known before the first query and the same after any run."""
    run = SparseVector(5, hits=2, rho=0.5, method=method, rng=random.Random(1))
    before = run.loss
    list(run.answers([3, 100, 10**6]))
    assert run.loss == before == SparseVector(5, hits=2, rho=0.5, method=method).loss


def test_a_budget_is_charged_once_and_first():
    """The whole loss is charged when it is made; if that is refused or a parameter is wrong, nothing is drawn."""
    purse = Purse()
    run = SparseVector(5, hits=3, epsilon=2, budget=purse)
    list(run.answers([3, 100, 10**6]))
    assert purse.charged == [(run.loss, "sparse vector, 3 hits")]
    rng = random.Random(1)
    before = rng.getstate()
    with pytest.raises(RuntimeError, match="spent"):
        SparseVector(5, hits=3, epsilon=2, budget=Purse(refuses=True), rng=rng)
    with pytest.raises(ValueError):
        SparseVector(5, hits=3, epsilon=2, share=2, budget=purse)
    assert rng.getstate() == before
    assert len(purse.charged) == 1


# --- the least noise ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hits", [1, 3, 10, 100])
@pytest.mark.parametrize("is_monotonic", [True, False])
def test_the_classical_share_is_the_published_one(hits, is_monotonic):
    """eps1 to the part of the queries is 1 to c**(2/3), or 1 to (2 c)**(2/3) (Lyu, Su and Li 2017)."""
    run = SparseVector(0, hits=hits, epsilon=1, monotonic=is_monotonic, method="classical")
    c = hits if is_monotonic else 2 * hits
    assert float(c * run.eps2 / run.eps1) == pytest.approx(c ** (2 / 3), rel=2e-3)


@pytest.mark.medium
@pytest.mark.parametrize("promised", [{"epsilon": 1}, {"rho": F(1, 50)}, {"epsilon": 1, "delta": MICRO}], ids=str)
@pytest.mark.parametrize("is_monotonic", [True, False])
@pytest.mark.parametrize("hits", [1, 8])
def test_no_other_method_or_share_has_much_less_noise(promised, is_monotonic, hits):
    """Over both methods and 19 shares the noise on a query less that on the threshold deviates by at most 3% less."""
    options = {"hits": hits, "monotonic": is_monotonic, **promised}

    def deviation(**more):
        run = SparseVector(0, **options, **more)
        return float(1 / run.eps1**2 + 1 / run.eps2**2) ** 0.5

    chosen = deviation()
    others = [deviation(method=method, share=F(k, 20)) for method in METHODS for k in range(1, 20)]
    assert chosen <= min(others) * 1.03
    assert max(others) > 1.5 * chosen


@pytest.mark.medium
def test_a_few_hits_are_best_classical_and_many_iterated():
    """One threshold for all is better for a few hits, with and without a delta; a delta turns it round for many."""
    for hits, method in ((2, "classical"), (30, "classical"), (100, "iterated")):
        assert SparseVector(0, hits=hits, epsilon=1, delta=MICRO, monotonic=True).method == method
        assert SparseVector(0, hits=hits, epsilon=1, monotonic=True).method == "classical"


def test_gumbel_noise_is_iterated_at_equal_rates():
    """Gumbel noise takes the one method and the one share for which it is known to be private."""
    run = SparseVector(0, hits=5, epsilon=1, noise="gumbel")
    assert (run.method, run.eps1) == ("iterated", run.eps2)
    assert SparseVector(0, hits=1, epsilon=1, noise="gumbel", method="classical", share=0.5).eps1 == F(1, 3)


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({}, "give epsilon, epsilon and delta, or rho; got none of them"),
        ({"delta": 0.1}, "give epsilon, epsilon and delta, or rho; got delta"),
        ({"epsilon": 1, "rho": 1}, "give epsilon, epsilon and delta, or rho; got epsilon and rho"),
        ({"rho": 0}, "rho must be greater than 0, got rho=0"),
        ({"epsilon": 1, "delta": 1}, "delta must be less than 1, got delta=1"),
        ({"epsilon": 1, "delta": 0}, "delta must be greater than 0, got delta=0"),
        ({"epsilon": 1, "hits": 0}, "hits must be a whole number and at least 1, got hits=0"),
        ({"epsilon": 1, "hits": 1.5}, "hits must be a whole number and at least 1, got hits=1.5"),
        ({"epsilon": 1, "share": 1}, "share must be between 0 and 1, got share=1"),
        ({"epsilon": 1, "method": "new"}, "method must be one of iterated, classical, got method='new'"),
        ({"epsilon": 1, "noise": "normal"}, "noise must be one of exponential, laplace, gumbel, got noise='normal'"),
        ({"epsilon": 1, "noise": "gumbel", "share": 0.4}, "share must be 1/2 with Gumbel noise, got share=2/5"),
        (
            {"epsilon": 1, "noise": "gumbel", "method": "classical"},
            "method must be iterated with Gumbel noise, got method='classical'",
        ),
        ({"epsilon": 1, "neighbors": "near"}, "neighbors must be one of add-remove, swap, got neighbors='near'"),
    ],
)
def test_wrong_parameters_are_named(keywords, message):
    """A wrong parameter gets a ValueError with its name, the rule and the value."""
    with pytest.raises(ValueError) as caught:
        SparseVector(0, **({"hits": 5} | keywords))
    assert str(caught.value) == message
