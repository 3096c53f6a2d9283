"""Programs and drivers: outcomes are sent in order, results come back, and a driver may stand in for a generator."""

import random
from fractions import Fraction

import pytest

import nobounds as nb
from nobounds.accounting.cost import pure
from nobounds.mechanisms.decisions import Bits, Noisy
from nobounds.noise.additive import Additive
from nobounds.programs.program import Draw, Driver, driver_of, sent


def noisy(number):
    return Noisy(number, Additive(Fraction(1)), lambda: pure(Fraction(1)))


def two_steps():
    """A program whose second decision depends on the first outcome."""
    first = yield noisy(10)
    second = yield noisy(first * 2)
    return first, second


class Raw(Driver):
    """Settles noisy numbers without noise, and remembers them."""

    def __init__(self):
        self.seen = []

    def decide(self, decision):
        self.seen.append(decision)
        return decision.number


def test_outcomes_are_sent_in_order():
    """Each decision sees the outcomes before it."""
    driver = Raw()
    assert driver.run(two_steps()) == (10, 20)
    assert [decision.number for decision in driver.seen] == [10, 20]


def test_the_decision_after_some_outcomes():
    """A program can be brought to any of its decisions, and past the last one."""
    assert sent(two_steps(), ()).number == 10
    assert sent(two_steps(), (7,)).number == 14
    with pytest.raises(StopIteration) as end:
        sent(two_steps(), (7, 1))
    assert end.value.value == (7, 1)


def test_a_stop_iteration_of_a_driver_is_no_result():
    """An error while a decision is settled is an error of the run."""

    class Failing(Driver):
        def decide(self, decision):
            raise StopIteration("not the end")

    with pytest.raises(StopIteration, match="not the end"):
        Failing().run(two_steps())


def test_the_driver_of_a_generator_draws_from_it():
    """The same seed gives the same bits; another driver is taken as it is."""
    assert driver_of(random.Random(3)).decide(Bits(40)) == random.Random(3).getrandbits(40)
    assert isinstance(driver_of(None), Draw)
    raw = Raw()
    assert driver_of(raw) is raw
    with pytest.raises(TypeError, match="rng must be None"):
        driver_of(7)


def test_a_driver_settles_the_decisions_of_a_release():
    """In the place of a generator: the count without noise, and the loss as always."""
    driver = Raw()
    release = nb.count([1.0, 2.0, None], epsilon=1, rng=driver)
    assert (release.value, release.loss.epsilon, len(driver.seen)) == (2, 1.0, 1)
