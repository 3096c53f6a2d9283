"""A statement: what is left, which loss, unit and label fit, and the words of what does not."""

from datetime import UTC, datetime
from fractions import Fraction

import pytest

from nobounds.accounting.composition import Totals
from nobounds.accounting.cost import pure
from nobounds.accounting.ledger import Charge, Entries, Limits
from nobounds.accounting.loss import PrivacyLoss
from nobounds.accounting.statement import BudgetExceeded, NotCovered, Statement


def loss(epsilon, **known):
    return PrivacyLoss.of(pure(Fraction(epsilon)), known.get("neighbors", "add-remove"), known.get("unit", "row"))


def stated(*charges, labels=(), **limits):
    """The statement of a ledger with these charges."""
    limits = limits or {"epsilon": Fraction(2)}
    return Statement.of(Entries(Limits(**limits), tuple(charges), "", labels), 0, Totals())


def charge(epsilon, label=None, **known):
    return Charge(datetime(2026, 1, 1, tzinfo=UTC), "count", loss(epsilon, **known), label)


def test_what_is_left_is_what_was_not_charged():
    """Exactly, whatever the order, and nothing below 0."""
    first, second = charge("0.7"), charge("0.8")
    assert stated().left == "epsilon 2 of 2 is left"
    assert stated(first, second).remaining == stated(second, first).remaining == 0.5
    assert stated(first, second).spent.epsilon == 1.5
    assert "spent 1.5, remaining 0.5" in str(stated(first, second))


def test_totals_of_the_first_charges_are_not_added_again():
    """A statement goes on from totals that are known."""
    charges = (charge("0.5"), charge("0.25"))
    known = Statement.of(Entries(Limits(epsilon=Fraction(2)), charges, ""), 1, Totals() + charges[0].loss)
    assert known.remaining == stated(*charges).remaining == 1.25


def test_a_loss_that_does_not_fit_is_refused_in_plain_words():
    """With what was asked for, what is left, and what would do."""
    with pytest.raises(BudgetExceeded, match=r"you asked for epsilon 0\.7, but 0\.5 of 2 is left\. Use epsilon=0\.5"):
        stated(charge("1.5")).check(loss("0.7"))
    with pytest.raises(BudgetExceeded, match="nothing is left of epsilon 2"):
        stated(charge(2)).check(loss("0.1"))
    stated(charge("1.5")).check(loss("0.5"))


def test_the_first_charge_fixes_neighbours_and_unit():
    """Losses for others are refused, and before the first nothing is fixed."""
    one = stated(charge(1, unit="user"))
    assert (stated().unit, stated().neighbors) == (None, None) and (one.unit, one.neighbors) == ("user", "add-remove")
    for known, words in (({"unit": "row"}, "unit='user'"), ({"unit": "user", "neighbors": "swap"}, "neighbors=")):
        with pytest.raises(ValueError, match=words):
            one.check(loss("0.1", **known))


def test_data_with_another_label_are_not_covered():
    """Unless the label is allowed; data without one cannot be compared."""
    one = stated(charge(1, "sales"))
    one.check(loss("0.1"), "sales")
    one.check(loss("0.1"), None)
    with pytest.raises(NotCovered, match=r"covers 'sales', and these data are 'staff'.*budget\.allow") as refused:
        one.check(loss("0.1"), "staff")
    assert refused.value.label == "staff"
    stated(charge(1, "sales"), labels=("sales", "staff")).check(loss("0.1"), "staff")
