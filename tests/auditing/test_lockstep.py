"""The audit driver: it sees what outcomes tell, what decisions cost, and every other difference between two runs."""

import math
from fractions import Fraction

import numpy as np
import pytest

from nobounds.accounting.cost import pure
from nobounds.accounting.loss import PrivacyLoss
from nobounds.auditing.claims.releases import cases, claims, of_column, seen
from nobounds.auditing.evidence.compare import both_ways, largest
from nobounds.auditing.evidence.keys import ShownKeys
from nobounds.auditing.lockstep import Apart, Setting, explore, lockstep
from nobounds.mechanisms.decisions import Nested, Noisy, Together
from nobounds.noise.additive import Additive
from nobounds.statistics.sums import count

ONE, TWO = Fraction(1), Fraction(2)


def noisy(number, epsilon=ONE, price=ONE):
    """A number with noise, at a price that may be wrong."""
    return Noisy(number, Additive(epsilon), lambda: pure(price))


def call_of(program, charged=ONE):
    """A call that charges, and runs a program on the number of records."""

    def call(data, driver, budget):
        budget.charge(PrivacyLoss.pure(charged), "a test")
        return driver.run(program(len(data)))

    return call


def plain(n):
    """A number with noise."""
    value = yield noisy(n)
    return value


def test_what_an_outcome_tells_is_what_was_charged():
    """A count tells all of its epsilon, at the worst outcome, and its Renyi divergences are below its rho."""
    transcript = lockstep(call_of(plain), [1, 2], [1], worst=True)
    assert transcript.log_ratio == pytest.approx(1)
    assert transcript.ratios()["epsilon"] == pytest.approx(1)
    assert 0.5 < transcript.ratios()["rho"] <= 1
    assert transcript.costs == [pure(ONE)]


def test_equal_data_tell_nothing():
    """Whatever the outcomes."""
    assert lockstep(call_of(plain), [1, 2], [3, 4], worst=True).log_ratio == 0


def too_little_noise(n):
    return (yield noisy(n, epsilon=TWO))


def too_little_noise_well_paid(n):
    return (yield noisy(n, epsilon=TWO, price=TWO))


def branches_on_data(n):
    if n > 1:
        return (yield noisy(n))
    return (yield Together((noisy(n),), lambda: pure(ONE)))


def other_noise(n):
    return (yield noisy(n, epsilon=ONE / n))


def ends_early(n):
    if n > 1:
        yield noisy(n)
    return 0


def returns_data(n):
    yield noisy(n)
    return n


def fails(n):
    yield noisy(n)
    raise ValueError(f"{n} records")


def fails_on_all(n):
    yield noisy(n)
    raise TypeError("a refusal")


@pytest.mark.parametrize(
    ("program", "complaint"),
    [
        (fails_on_all, "an error after the charge: TypeError"),
        (too_little_noise, "a decision tells .*, and costs"),
        (too_little_noise_well_paid, "the decisions cost epsilon 2"),
        (branches_on_data, "one run decides Noisy.*, and the other Together"),
        (other_noise, "one run decides Noisy"),
        (ends_early, "one run ends .*, and the other decides once more"),
        (returns_data, "release: 2 in one run, 1 in the other"),
        (fails, "an error after the charge: ValueError.*2 records"),
    ],
)
def test_what_differs_tells_two_runs_apart(program, complaint):
    """More told than paid, more paid than charged, another decision, another release, another error."""
    with pytest.raises(Apart, match=complaint):
        lockstep(call_of(program), [1, 2], [1], worst=True)


def test_a_program_within_a_program_has_one_price():
    """What is inside is compared decision by decision, and paid for once."""

    def both(n):
        first = yield noisy(n)
        return first, (yield noisy(n))

    def cheap(n):
        return (yield Nested(lambda: both(n), lambda: pure(TWO)))

    transcript = lockstep(call_of(cheap, TWO), [1, 2], [1], worst=True)
    assert transcript.log_ratio == pytest.approx(2)
    assert transcript.costs == [pure(TWO)] and len(transcript.revealed) == 2
    with pytest.raises(Apart, match="the decisions cost epsilon 2"):
        lockstep(call_of(cheap, ONE), [1, 2], [1], worst=True)


def test_a_nested_program_costs_no_more_than_its_price():
    """Even if what is inside tells nothing about these data."""

    def cheap(n):
        return (yield Nested(lambda: plain(7), lambda: pure(ONE / 10)))

    with pytest.raises(Apart, match="a nested program costs 1"):
        lockstep(call_of(cheap, ONE / 10), [1, 2], [1])


def test_the_charge_comes_first():
    """No decision is made before it, and none without it."""

    def charged_at_the_end(data, driver, budget):
        value = driver.run(plain(len(data)))
        budget.charge(PrivacyLoss.pure(1), "a test")
        return value

    with pytest.raises(Apart, match="comes before the charge"):
        lockstep(charged_at_the_end, [1, 2], [1])
    with pytest.raises(Apart, match="nothing was charged"):
        lockstep(lambda data, driver, budget: 0, [1, 2], [1])


def test_a_price_that_depends_on_data_is_noticed():
    """Though both are paid for."""

    def priced(n):
        return (yield noisy(n, price=ONE + n))

    with pytest.raises(Apart, match="has another cost in the other run"):
        lockstep(call_of(priced, 5), [1, 2], [1])


def test_several_rows_cost_several_times_as_much():
    """Of a unit with two rows a decision may tell twice its cost, which is twice as much to charge."""
    transcript = lockstep(call_of(plain, TWO), [1, 2, 3], [1], rows=2, worst=True)
    assert transcript.log_ratio == pytest.approx(2)
    with pytest.raises(Apart, match="the decisions cost epsilon 2"):
        lockstep(call_of(plain, ONE), [1, 2, 3], [1], rows=2)
    with pytest.raises(Apart, match="a decision tells"):
        lockstep(call_of(plain, TWO), [1, 2, 3], [1], worst=True)


def test_a_case_of_a_release_has_what_was_charged_and_what_was_told():
    """For a count: both are epsilon; a release that cannot be compared has no bounded loss."""
    call, pair = of_column(count, epsilon=1), (np.array([1.0, 2.0]), np.array([1.0]))
    assert claims(call, pair) == pytest.approx({"rho": PrivacyLoss.pure(1).rho, "epsilon": 1.0, "range": 2.0})
    assert max(one.value for one in seen(call, [pair]) if one.measure == "epsilon") == pytest.approx(1)
    worst = list(seen(call_of(returns_data), [pair]))
    assert {one.measure for one in worst} == {"epsilon", "rho", "range"}
    assert all(one.value == math.inf for one in worst)
    assert len({case.mechanism for case in cases()}) > 20


def test_findings_count_transcripts_and_complain():
    """Four for each pair: drawn and worst outcomes, forth and back."""
    pairs = [([1, 2], [1]), ([], [5])]
    right, wrong = (explore([Setting("a test", call_of(program), pairs)]) for program in (plain, returns_data))
    assert (right.transcripts, right.wrong) == (8, [])
    assert right.ratios["epsilon"] == pytest.approx(1) and right.ratios["eta"] == pytest.approx(1)
    assert (wrong.transcripts, len(wrong.wrong)) == (0, 8)


def test_keys_that_one_data_set_must_show_are_shown_by_both():
    """The rest as they were drawn, or for the worst case all that both may show."""
    mine = ShownKeys({"a": (1.0, 0.0), "b": (0.3, 0.7), "c": (0.2, 0.8)}, frozenset("a"))
    yours = ShownKeys({"a": (0.9, 0.1), "b": (0.2, 0.8)}, frozenset())
    assert mine.shown(yours, worst=False) == {"a"}
    assert mine.shown(yours, worst=True) == {"a", "b"}
    assert mine.given(frozenset("ab"), True).tolist() == [True, True, False]
    assert mine.epsilon(mine, 0.0) == pytest.approx(0, abs=1e-9)
    assert mine.epsilon(yours, 0.3) < mine.epsilon(yours, 0.25)


def test_the_outcome_that_tells_the_most_is_not_too_improbable():
    """And of those that tell about as much, the most probable one."""
    mine, yours = np.log([0.5, 0.3, 1e-30]), np.log([0.25, 0.1501, 1e-40])
    assert largest(mine, yours, mine, 100.0) == 2
    assert largest(mine, yours, mine, 20.0) == 0
    assert largest(mine, mine - 400, mine, 20.0) is None
    assert largest(mine, np.array([-1.0, -np.inf, -1.0]), mine, 20.0) == 1
    p = np.log([0.5, 0.5])
    assert both_ways(p, p) == pytest.approx([0.0] * 4, abs=1e-12)
