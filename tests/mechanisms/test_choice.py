"""The choice: what is drawn has the law of the exponential mechanism, and neighbours differ by its cost at most."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from support.laws import chi_square
from support.small import FLOATS, masses_of, neighbours, order_of, whole_line

from nobounds.core.prior import float_of, key_of
from nobounds.mechanisms.choice import Choice, choice_cost, is_above
from nobounds.noise.discrete import Exponential

LAST = 12
LINE = whole_line(LAST)
MASSES = masses_of(LAST, LINE)
RELATIONS = pytest.mark.parametrize("relation", ["add-remove", "swap"])


def choice(data, q, rate, ladder=LINE, **how):
    return Choice(order_of(data, ladder, **how), F(q), F(rate), lambda: None)


def law(data, q, rate):
    """The law by its definition, number by number."""
    data = np.array(data)
    losses = [
        max(q * len(data) - int((data <= z).sum()), int((data < z).sum()) - q * len(data), 0) for z in range(LAST + 1)
    ]
    weights = MASSES * np.exp([-float(rate * loss) for loss in losses])
    return weights / weights.sum()


def computed(each):
    """The law as the audit takes it."""
    keys = np.array([key_of(float(z)) for z in range(LAST + 1)])
    return each.log_masses(keys, keys)


DATA = {
    "none": [],
    "one": [5],
    "few": [0, 2, 2, 2, 7, 12],
    "ties": [3] * 40 + [4] * 3 + [9] * 41,
    "many": np.random.default_rng(0).integers(0, LAST + 1, 400),
    "infinite": [3.0] * 4 + [np.inf, -np.inf, np.nan],
}


@pytest.mark.medium
@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
@pytest.mark.parametrize(("q", "rate"), [(F(1, 2), F(1)), (F(1, 2), F(1, 30)), (F(1, 4), F(1, 3)), (F(9, 10), F(40))])
def test_draws_have_the_law_of_the_exponential_mechanism(data, q, rate):
    """With narrow cells and wide ones, from records that are kept and from chunks that are read again."""
    present = np.clip([x for x in data if not np.isnan(x)], 0, LAST)
    expected, source = law(present, q, rate), random.Random(1).getrandbits
    assert np.allclose(np.exp(computed(choice(data, q, rate))), expected, rtol=1e-9, atol=1e-300)
    for how in ({}, {"chunks": 3}):
        each = choice(data, q, rate, **how)
        drawn = [int(float_of(each.draw(source))) for _ in range(500)]
        assert chi_square(np.bincount(drawn, minlength=LAST + 1), expected) > 1e-9


def test_draws_of_another_rate_are_noticed():
    """The comparison sees a rate that is 30% off."""
    each, source = choice(DATA["many"], F(1, 2), F(1, 30)), random.Random(1).getrandbits
    seen = np.bincount([int(float_of(each.draw(source))) for _ in range(2000)], minlength=LAST + 1)
    assert chi_square(seen, law(DATA["many"], F(1, 2), F(1, 30))) > 1e-9
    assert chi_square(seen, law(DATA["many"], F(1, 2), F(1, 43))) < 1e-9


def test_a_number_of_a_cell_is_drawn_by_the_prior():
    """Between two records all floats have the same loss, so short ones come most often."""
    each, source = choice([1.0, 2.0] * 30, F(1, 2), F(1), FLOATS), random.Random(2).getrandbits
    drawn = [float_of(each.draw(source)) for _ in range(600)]
    assert all(1 <= x <= 2 for x in drawn)
    prior = each.line.prior
    stretches = [(key_of(1.0), key_of(1.0)), (key_of(1.0) + 1, key_of(1.5) - 1), (key_of(1.5), key_of(1.5))]
    stretches += [(key_of(1.5) + 1, key_of(2.0) - 1), (key_of(2.0), key_of(2.0))]
    seen = [sum(float_of(a) <= x <= float_of(b) for x in drawn) for a, b in stretches]
    assert chi_square(seen, [prior.mass(a, b) for a, b in stretches]) > 1e-9


def test_a_heap_of_a_number_of_many_digits_is_drawn():
    """Its mass is e**-40 beside the numbers around it, and a draw ends all the same."""
    rng, value = np.random.default_rng(0), 0.12345678901234567
    data = np.concatenate([rng.normal(-5, 1, 2000), np.full(3000, value), value + rng.exponential(1, 2001)])
    each, source = choice(data, F(1, 2), F(1, 16), FLOATS), random.Random(3).getrandbits
    assert {float_of(each.draw(source)) for _ in range(20)} == {value}


@pytest.mark.medium
@RELATIONS
@pytest.mark.parametrize("q", [F(1, 2), F(3, 4)], ids=str)
@pytest.mark.parametrize("rate", [F(1, 2), F(3)], ids=str)
def test_the_cost_holds_and_bites(rate, q, relation):
    """On all neighbours no number tells more than epsilon, and no two more than the range; some tell nearly all."""
    cost, numbers = choice_cost(q, rate, relation), (0, 6, LAST)
    laws, most, widest = {}, 0.0, 0.0
    for pair in neighbours(numbers, 5, relation):
        one, other = (laws.setdefault(data, computed(choice(data, q, rate))) for data in pair)
        most = max(most, np.abs(one - other).max())
        widest = max(widest, np.ptp(one - other))
    assert most <= float(cost.epsilon) * (1 + 1e-9) and widest <= float(cost.eta) * (1 + 1e-9)
    assert widest > 0.95 * float(cost.eta)
    assert rate < 1 or most > 0.7 * float(cost.epsilon)


def test_a_wrong_cost_is_noticed():
    """Ranks of swapped records move by twice as much, so the cost of added ones does not hold for them."""
    cost, laws = choice_cost(F(1, 2), F(3), "add-remove"), {}
    pairs = list(neighbours((0, 6, LAST), 4, "swap"))
    told = (
        np.ptp(np.subtract(*(laws.setdefault(data, computed(choice(data, F(1, 2), F(3)))) for data in pair)))
        for pair in pairs
    )
    assert max(told) > 1.5 * float(cost.eta)


@pytest.mark.parametrize("bound", [F(1, 1000), F(1), F(7, 2), F(40)], ids=str)
def test_an_exponential_lies_above_a_bound_with_its_probability(bound):
    """As often as exp(-bound)."""
    source = random.Random(4).getrandbits
    above = sum(is_above(Exponential(source), bound) for _ in range(3000))
    assert chi_square([above, 3000 - above], [np.exp(-float(bound)), -np.expm1(-float(bound))]) > 1e-9


def test_records_stay_hidden():
    """The repr of a choice shows no record."""
    assert "4.25" not in repr(choice([4.25], F(1, 2), F(1), FLOATS))
