"""What AboveThreshold costs: Definition A.1 as printed, its maximum over neighbours, and conversions that round up."""

import json
import math
from decimal import Decimal
from fractions import Fraction as F
from itertools import product
from typing import NamedTuple

import hypothesis.strategies as st
import pytest
from hypothesis import given
from support.laws import text

from nobounds.accounting.conversions import epsilon_from_rho, rho_from_pure, rho_from_range
from nobounds.accounting.cost import (
    Cost,
    Sides,
    both,
    fixed_threshold,
    gaussian,
    gaussian_by_kind,
    general,
    mirrored,
    monotonic,
    moving_threshold,
    one_sided_loss,
    pure,
    pure_parts,
    range_bounded,
    split,
    worst,
)
from nobounds.accounting.loss import PrivacyLoss, check_neighbors
from nobounds.exact import round_up

EPSILONS = [(F(1), F(1)), (F(1, 3), F(2)), (F(5), F(1, 7)), (F(1, 2), F(1, 2))]
epsilons = pytest.mark.parametrize(("eps1", "eps2"), EPSILONS)
QS = [F(0), F(1, 20), F(1, 2), F(2, 3), F(19, 20), F(1)]
LENGTH = 5  # of the query streams in brute-force searches

values = st.fractions(-5, 5, max_denominator=8)
streams = st.lists(st.tuples(values, values), min_size=0, max_size=7)
positives = st.fractions(F(1, 100), 10, max_denominator=100)


# --- Definition A.1 -----------------------------------------------------------------------------------------------


def definition_A1(f, g, eps1, eps2, delta):
    """Definition A.1 as printed, f on x and g on x', with k from 1."""

    def delta_k(k):
        return max([max(0, g[i] - f[i]) for i in range(len(f)) if i + 1 < k], default=0)

    def at(k):
        return eps1 / delta * delta_k(k) + eps2 / delta * max(0, delta_k(k) - (g[k - 1] - f[k - 1]))

    return max([at(k) for k in range(1, len(f) + 1)], default=F(0))


@pytest.mark.medium
@given(stream=streams, eps1=positives, eps2=positives, delta=positives)
def test_one_sided_loss_is_definition_A1(stream, eps1, eps2, delta):
    """On a stream that goes on with equal queries, the one-sided loss is the maximum of Definition A.1."""
    # An endless stream has no outcome "never"; on one more query that no neighbour changes, halting costs as much.
    f, g = [pair[0] for pair in stream], [pair[1] for pair in stream]
    last = max([b - a for a, b in stream] + [F(0)])
    printed = definition_A1([*f, F(0)], [*g, last], eps1, eps2, delta)
    assert one_sided_loss(f, g, eps1=eps1, eps2=eps2, sensitivity=delta) == printed


@pytest.mark.medium
@given(stream=streams, eps1=positives, eps2=positives)
def test_never_halting_counts_as_an_outcome(stream, eps1, eps2):
    """The loss is at least that of Definition A.1, and at least eps1 times the largest rise: the cost of never."""
    f, g = [pair[0] for pair in stream], [pair[1] for pair in stream]
    found = one_sided_loss(f, g, eps1=eps1, eps2=eps2)
    never = eps1 * max([b - a for a, b in stream] + [F(0)])
    assert found == max(definition_A1(f, g, eps1, eps2, F(1)), never)


@pytest.mark.medium
@given(stream=streams, eps1=positives, eps2=positives, factor=positives, shift=values)
def test_one_sided_loss_scales_and_shifts(stream, eps1, eps2, factor, shift):
    """It is homogeneous in (eps1, eps2), inverse in the sensitivity, and blind to public shifts."""
    f, g = [pair[0] for pair in stream], [pair[1] for pair in stream]
    plain = one_sided_loss(f, g, eps1=eps1, eps2=eps2)
    assert one_sided_loss(f, g, eps1=eps1 * factor, eps2=eps2 * factor) == plain * factor
    assert one_sided_loss(f, g, eps1=eps1, eps2=eps2, sensitivity=factor) == plain / factor
    tilted = [[x + shift * i for i, x in enumerate(stream_)] for stream_ in (f, g)]
    assert one_sided_loss(*tilted, eps1=eps1, eps2=eps2) == plain


def test_one_sided_loss_reads_numbers_as_written():
    """Floats are their decimal text, so 0.1, "1/10" and Fraction(1, 10) give one exact loss."""
    losses = {one_sided_loss([0, 0], [1, 0], eps1=e, eps2=e) for e in (0.1, "1/10", F(1, 10), Decimal("0.1"))}
    assert losses == {F(2, 10)}


def test_streams_of_unequal_length_are_refused():
    """Neighbours answer the same queries."""
    with pytest.raises(ValueError):
        one_sided_loss([1, 2], [1], eps1=1, eps2=1)


# --- the table: maxima over neighbours ----------------------------------------------------------------------------


class Worst(NamedTuple):
    """The largest one-sided loss from x to x', the largest back, and the largest sum of both for one pair."""

    forth: F
    back: F
    eta: F


def worst_over(differences, eps1, eps2, sensitivity=1) -> Worst:
    """The worst over pairs with f(x) - f(x') in `differences`, from one-sided losses alone."""
    zero = [0] * LENGTH
    forth = [one_sided_loss(d, zero, eps1=eps1, eps2=eps2, sensitivity=sensitivity) for d in differences]
    back = [one_sided_loss(zero, d, eps1=eps1, eps2=eps2, sensitivity=sensitivity) for d in differences]
    return Worst(max(forth), max(back), max(a + b for a, b in zip(forth, back, strict=True)))


def claim(cost: Cost) -> Worst:
    """What a cost with one kind of pairs says."""
    ((forth, back),) = cost.kinds
    assert cost.epsilon == max(forth, back)
    assert cost.eta == forth + back
    return Worst(forth, back, cost.eta)


def counts_of(rows) -> list[int]:
    """How many of a person's rows lie below each edge, a row being the number of the first edge above it."""
    return [sum(row <= i for row in rows) for i in range(LENGTH)]


@epsilons
def test_general_queries(eps1, eps2):
    """eps1 + 2 eps2 and range 2 eps1 + 4 eps2 are the maxima over all streams that differ by -1, 0, 1 (Lemma A.3)."""
    assert worst_over(list(product((-1, 0, 1), repeat=LENGTH)), eps1, eps2) == claim(general(eps1, eps2))


@epsilons
def test_monotonic_queries(eps1, eps2):
    """eps1 + eps2 and range eps1 + 2 eps2 are the maxima over all streams that differ one way (Lemma A.3)."""
    larger = list(product((0, 1), repeat=LENGTH))
    assert worst_over(larger, eps1, eps2) == claim(monotonic(eps1, eps2))
    smaller = [[-d for d in pattern] for pattern in larger]
    assert worst_over(smaller, eps1, eps2) == claim(mirrored(monotonic(eps1, eps2)))


@epsilons
def test_counts_under_swap(eps1, eps2):
    """One record moves from a place to another: the cost of monotonic queries, and it is reached."""
    places = [counts_of([place]) for place in range(LENGTH + 1)]
    lower_in_x = [[a - b for a, b in zip(x, y, strict=True)] for i, x in enumerate(places) for y in places[i:]]
    assert worst_over(lower_in_x, eps1, eps2) == claim(monotonic(eps1, eps2))


@epsilons
@pytest.mark.parametrize("q", QS)
def test_moving_threshold(q, eps1, eps2):
    """Counts - q n, one record added anywhere or removed: the row of the table is the maximum (Lemma B.1)."""
    added = [[count - q for count in counts_of([place])] for place in range(LENGTH + 1)]
    assert worst_over(added, eps1, eps2) == claim(moving_threshold(q, eps1, eps2))


@epsilons
@pytest.mark.parametrize("q", QS)
def test_moving_threshold_walking_down(q, eps1, eps2):
    """Walking down, counts of records at or above the edge against (1-q) n: the same row with 1 - q."""
    added = [[1 - count - (1 - q) for count in reversed(counts_of([place]))] for place in range(LENGTH + 1)]
    assert worst_over(added, eps1, eps2) == claim(moving_threshold(1 - q, eps1, eps2))


@epsilons
def test_fixed_threshold(eps1, eps2):
    """Counts against a public constant, one record added or removed: max(eps1, eps2), range eps1 + eps2."""
    added = [counts_of([place]) for place in range(LENGTH + 1)]
    assert worst_over(added, eps1, eps2) == claim(fixed_threshold(eps1, eps2))
    assert fixed_threshold(eps1, eps2) == moving_threshold(F(0), eps1, eps2)


def everyone(m: int) -> list[list[int]]:
    """The rows that a person with at most m of them may have, no rows included."""
    places = range(LENGTH + 1)
    return [list(rows) for k in range(m + 1) for rows in product(places, repeat=k) if list(rows) == sorted(rows)]


@pytest.mark.medium
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("q", [F(0), F(1, 20), F(1, 2), F(1)])
def test_several_rows_a_person_cost_the_same_at_sensitivity_m(m, q):
    """With at most m rows a person under add-remove, noise scaled to m gives the same row (docs/costs.md)."""
    people = [[count - q * len(rows) for count in counts_of(rows)] for rows in everyone(m)]
    for eps1, eps2 in EPSILONS:
        assert worst_over(people, eps1, eps2, sensitivity=m) == claim(moving_threshold(q, eps1, eps2))


@pytest.mark.medium
@pytest.mark.parametrize("m", [2, 3])
def test_several_rows_a_person_under_swap(m):
    """Under swap with m rows the pure cost is still eps1 + eps2; the range is at most 2 (eps1 + eps2)."""
    people = [rows for rows in everyone(m) if len(rows) == m]
    swaps = [[b - a for a, b in zip(counts_of(x), counts_of(y), strict=True)] for x in people for y in people]
    distinct = [list(d) for d in {tuple(d) for d in swaps}]
    for eps1, eps2 in EPSILONS:
        found = worst_over(distinct, eps1, eps2, sensitivity=m)
        assert found.forth == found.back == eps1 + eps2
        assert found.eta <= 2 * (eps1 + eps2)


def test_a_pure_mechanism_has_twice_its_epsilon_as_range():
    """Log-ratios in [-eps, eps] differ by at most 2 eps."""
    assert claim(pure(F(1, 3))) == (F(1, 3), F(1, 3), F(2, 3))


one_kind = st.builds(Sides, positives, positives)
some_costs = st.lists(st.builds(lambda sides, rho: Cost((sides,), rho), one_kind, positives), min_size=1, max_size=4)


@pytest.mark.medium
@given(costs=some_costs)
def test_worst_is_taken_on_each_side(costs):
    """Which of several mechanisms is run may be chosen privately: each side of the log-ratio has its own maximum."""
    forth, back = (max(cost.kinds[0][side] for cost in costs) for side in (0, 1))
    assert claim(worst(costs)) == (forth, back, forth + back)
    assert worst(costs).eta >= max(cost.eta for cost in costs)
    assert worst(costs).rho == max(cost.rho for cost in costs)


@pytest.mark.medium
@given(costs=some_costs)
def test_costs_add_on_each_side(costs):
    """One mechanism after the other: the one-sided losses add, and so do epsilon at most, range and rho."""
    total = costs[0]
    for cost in costs[1:]:
        total = total + cost
    forth, back = (sum(cost.kinds[0][side] for cost in costs) for side in (0, 1))
    assert claim(total) == (forth, back, forth + back)
    assert total.epsilon <= sum(cost.epsilon for cost in costs)
    assert total.eta == sum(cost.eta for cost in costs)
    assert total.rho == sum(cost.rho for cost in costs)


@pytest.mark.medium
@given(a=one_kind, b=one_kind, c=one_kind)
def test_kinds_of_pairs_are_kept_apart(a, b, c):
    """Under two kinds of pairs the cost is the worse of both; a mechanism of one kind adds to either."""
    one, two, other = (Cost((sides,), F(1)) for sides in (a, b, c))
    pair = both(one, two)
    assert pair.kinds == (a, b)
    assert (pair.epsilon, pair.eta) == (max(one.epsilon, two.epsilon), max(one.eta, two.eta))
    assert (pair + other).kinds == (other + pair).kinds == ((one + other).kinds[0], (two + other).kinds[0])
    assert worst([pair, other]).kinds == (worst([one, other]).kinds[0], worst([two, other]).kinds[0])
    assert mirrored(mirrored(pair)) == pair
    assert mirrored(pair).kinds == tuple(Sides(sides.back, sides.forth) for sides in (a, b))


def test_a_range_may_be_less_than_both_sides():
    """An exponential mechanism has range epsilon; after another one its place may differ, so each side counts then."""
    one = range_bounded(F(1))
    assert (one.epsilon, one.eta) == (1, 1)
    assert (mirrored(one).eta, worst([one, one]).eta) == (1, 2)
    assert ((one + one).epsilon, (one + one).eta) == (2, 3)
    assert (one + pure(F(1, 2))).eta == (pure(F(1, 2)) + one).eta == 3
    assert (one + monotonic(F(1), F(1))).eta == 5
    assert (one + gaussian(F(1))).span is None
    assert (pure(F(1)) + pure(F(1))).span is None


def test_a_range_bounded_mechanism_after_another_takes_both_sides():
    """Which sides the second one has may follow from the first answer: here two of range 1 show 3, not 2."""
    first = (F(1, 2), -F(1, 2))  # log-ratios of the first answer
    second = {F(1, 2): (F(1), F(0)), -F(1, 2): (F(0), -F(1))}  # and after each of them
    total = [a + b for a in first for b in second[a]]
    assert max(total) - min(total) == 3 == (range_bounded(F(1)) + range_bounded(F(1))).eta


COSTS = {
    "general": general,
    "monotonic": monotonic,
    "fixed": fixed_threshold,
    "moving 0.05": lambda a, b: moving_threshold(F(1, 20), a, b),
    "moving 0.9": lambda a, b: moving_threshold(F(9, 10), a, b),
}


@pytest.mark.medium
@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS.keys())
@given(epsilon=positives, share=st.fractions(F(1, 50), F(49, 50), max_denominator=50))
def test_split_inverts_the_cost_exactly(cost, epsilon, share):
    """eps1 : eps2 = share : 1 - share, and together they cost epsilon, with no rounding."""
    eps1, eps2 = split(cost, epsilon, share)
    assert cost(eps1, eps2).epsilon == epsilon
    assert eps1 * (1 - share) == eps2 * share


# --- PrivacyLoss --------------------------------------------------------------------------------------------------


@pytest.mark.medium
@given(
    cost=st.builds(lambda kinds, rho: Cost(tuple(kinds), rho), st.lists(one_kind, min_size=1, max_size=3), positives)
)
def test_losses_are_never_below_the_exact_ones(cost):
    """epsilon, eta and rho as printed are at least the exact ones, and the float below is not."""
    loss = PrivacyLoss.of(cost, "swap")
    for printed, exact in ((loss.epsilon, cost.epsilon), (loss.eta, cost.eta), (loss.rho, cost.rho)):
        assert text(math.nextafter(printed, -math.inf)) < exact <= text(printed)


@pytest.mark.medium
@given(a=positives, b=positives, c=positives, d=positives)
def test_losses_add(a, b, c, d):
    """epsilon and rho add up and are rounded up; the range of one counts with twice the epsilon of the other."""
    x, y = (PrivacyLoss.of(monotonic(*sizes), "add-remove", unit="person") for sizes in ((a, b), (c, d)))
    assert x + y == y + x
    assert text((x + y).epsilon) >= a + b + c + d
    assert text((x + y).rho) >= text(x.rho) + text(y.rho)
    assert text((x + y).eta) >= max(a + 2 * b + 2 * (c + d), c + 2 * d + 2 * (a + b))
    assert (x + y).eta <= 2 * (x + y).epsilon * (1 + 1e-15)
    assert (x + y).neighbors == "add-remove"
    assert (x + y).unit == "person"


def test_a_tenth_and_two_tenths_are_three_tenths():
    """Losses are decimal: 0.1 + 0.2 is printed as 0.3, and ten tenths as 1."""
    tenth = PrivacyLoss.of(pure(F(1, 10)), "swap")
    fifth = PrivacyLoss.of(pure(F(2, 10)), "swap")
    assert (tenth + fifth).epsilon == 0.3
    total = tenth
    for _ in range(9):
        total = total + tenth
    assert (total.epsilon, total.eta) == (1.0, 2.0)


@pytest.mark.parametrize("other", [("swap", "row"), ("add-remove", "person")])
def test_losses_of_different_meaning_do_not_add(other):
    """Another neighbour relation or another unit is another promise."""
    with pytest.raises(ValueError, match="same neighbour relation and privacy unit"):
        PrivacyLoss.of(pure(F(1)), "add-remove") + PrivacyLoss.of(pure(F(1)), *other)


def test_losses_print_and_travel():
    """A loss says epsilon, rho, the relation and the unit; to_dict is plain JSON and comes back as the same loss."""
    loss = PrivacyLoss.of(monotonic(F(1, 2), F(1, 2)), "swap", unit="person")
    assert str(loss) == "epsilon 1 (swap, per person; rho 0.2729)"
    assert PrivacyLoss(**json.loads(json.dumps(loss.to_dict()))) == loss
    assert set(loss.to_dict()) == {"epsilon", "rho", "eta", "neighbors", "unit"}
    with pytest.raises(AttributeError):
        loss.epsilon = 0.0


@pytest.mark.parametrize("size", [F(1, 10**6), F(10**6)])
def test_tiny_and_huge_losses(size):
    """Epsilons of 1e-6 and 1e6 are kept as they are, with a finite rho."""
    loss = PrivacyLoss.of(pure(size), "add-remove")
    assert (loss.epsilon, loss.eta) == (float(size), float(2 * size))
    assert 0 < loss.rho < math.inf


@pytest.mark.parametrize("name", ["replace", None, "", "Swap"])
def test_unknown_relations_are_refused(name):
    """The error names the relations there are, and the one that was asked for."""
    with pytest.raises(ValueError) as caught:
        check_neighbors(name)
    assert str(caught.value) == f"neighbors must be one of add-remove, swap, got neighbors={name!r}"
    assert [check_neighbors(good) for good in ("add-remove", "swap")] == ["add-remove", "swap"]


def test_gaussian_noise_is_priced_for_each_kind_of_pair():
    """What two mechanisms tell of one kind of pair adds up, and rho is that of the worst kind; pure costs count too."""
    moved, turned = gaussian_by_kind(F(4), F(1)), gaussian_by_kind(F(0), F(3))
    assert (moved.rho, turned.rho, (moved + turned).rho) == (4, 3, 4)
    assert (moved + turned).rhos == (4, 4) and not (moved + turned).is_pure
    assert (gaussian(F(2)) + turned).rhos == (turned + gaussian(F(2))).rhos == (2, 5)
    assert (pure(F(1)) + moved).rho == pure(F(1)).rho + 4
    assert both(moved, turned).rho == worst([moved, turned]).rho == mirrored(moved).rho == 4
    assert moved.times(3).rho == 36


# --- losses by plain numbers --------------------------------------------------------------------------------------


@pytest.mark.medium
@given(size=positives)
def test_losses_of_plain_numbers_are_those_of_costs(size):
    """pure, range_bounded and zcdp are the losses of such mechanisms, each number rounded up."""
    whom = {"neighbors": "swap", "unit": "person"}
    assert PrivacyLoss.pure(size, **whom) == PrivacyLoss.of(pure(size), "swap", "person")
    assert PrivacyLoss.zcdp(size, **whom) == PrivacyLoss.of(gaussian(size), "swap", "person")
    ranged = PrivacyLoss.range_bounded(size, **whom)
    assert ranged.epsilon == ranged.eta == round_up(size)
    assert ranged.rho == rho_from_range(size) <= rho_from_pure(size)


def test_losses_of_plain_numbers_have_defaults():
    """Add-remove, per row; and numbers are read as they are written."""
    assert PrivacyLoss.pure(0.1) == PrivacyLoss.pure("1/10") == PrivacyLoss.of(pure(F(1, 10)), "add-remove")
    assert str(PrivacyLoss.approximate(1, 1e-6)) == "epsilon 1 at delta 1e-06 (add-remove, per row)"
    assert str(PrivacyLoss.zcdp(0.5)) == "rho 0.5 (zCDP, add-remove, per row)"
    assert str(PrivacyLoss.zcdp(0.5) + PrivacyLoss.approximate(1, 1e-6)) == "no bound (add-remove, per row)"


@pytest.mark.medium
@given(epsilon=positives, delta=st.fractions(F(1, 10**9), F(1, 10)))
def test_an_approximate_loss_says_nothing_else(epsilon, delta):
    """It has no rho and no range, travels, and adds up with a pure one."""
    loss = PrivacyLoss.approximate(epsilon, delta)
    assert (loss.rho, loss.eta) == (math.inf, math.inf)
    assert text(loss.epsilon) >= epsilon and text(loss.delta) >= delta
    assert PrivacyLoss.from_dict(json.loads(json.dumps(loss.to_dict(), allow_nan=False))) == loss
    total = loss + PrivacyLoss.pure(epsilon)
    assert text(total.epsilon) >= 2 * epsilon
    assert (total.delta, total.rho, total.eta) == (loss.delta, math.inf, math.inf)


@pytest.mark.medium
@given(epsilon=positives, rho=positives, delta=st.fractions(F(1, 10**9), F(1, 10)))
def test_the_epsilon_at_a_delta_is_the_smaller_of_two(epsilon, rho, delta):
    """at(delta) is epsilon where its own delta is at most that, or what rho gives, whichever is smaller."""
    assert PrivacyLoss.pure(epsilon).at(0) == round_up(epsilon)
    assert PrivacyLoss.zcdp(rho).at(delta) == epsilon_from_rho(text(round_up(rho)), delta)
    assert PrivacyLoss.zcdp(rho).at(0) == math.inf
    known = PrivacyLoss.approximate(epsilon, delta)
    assert known.at(text(known.delta)) == known.at(1) == known.epsilon
    assert known.at(delta / 2) == math.inf
    either = PrivacyLoss(known.epsilon, round_up(rho), math.inf, "swap", "row", known.delta)
    assert either.at(text(known.delta)) == min(known.epsilon, epsilon_from_rho(text(either.rho), text(known.delta)))


def test_many_small_losses_cost_less_at_a_delta():
    """A hundred pure losses of a tenth are 10 as a sum, and 5.3 at delta 1e-6 by their rho."""
    total = PrivacyLoss.pure(0.1)
    for _ in range(99):
        total = total + PrivacyLoss.pure(0.1)
    assert (total.epsilon, total.at(0)) == (10.0, 10.0)
    assert 5 < total.at(1e-6) < 5.3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PrivacyLoss.pure(-1), "epsilon must not be negative, got epsilon=-1"),
        (lambda: PrivacyLoss.zcdp(math.nan), "rho must be a finite number, got rho=nan"),
        (lambda: PrivacyLoss.range_bounded("-1/2"), "eta must not be negative, got eta='-1/2'"),
        (lambda: PrivacyLoss.approximate(1, 0), "delta must be greater than 0, got delta=0"),
        (lambda: PrivacyLoss.approximate(1, 1), "delta must be less than 1, got delta=1"),
        (
            lambda: PrivacyLoss.pure(1, neighbors="near"),
            "neighbors must be one of add-remove, swap, got neighbors='near'",
        ),
        (lambda: PrivacyLoss.pure(1).at(-1), "delta must not be negative, got delta=-1"),
    ],
)
def test_wrong_losses_are_named(make, message):
    """A number out of its range gets a ValueError with its name, the rule and the value."""
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == message


def test_nothing_costs_nothing():
    """Zero rounds up to 0.0, without a sign."""
    assert str(round_up(F(0))) == "0.0"
    assert str(PrivacyLoss.of(pure(F(0)), "swap")) == "epsilon 0 (swap, per row; rho 0)"


@pytest.mark.parametrize("total", [F(1, 10), F(1), F(2), F(5), F(40)])
@pytest.mark.parametrize("many", [1, 4])
def test_the_rho_of_parts_bounds_every_split_between_the_ends(total, many):
    """The first part goes through all values between the ends; up to 2 the bound is reached, beyond it need not be."""
    ends = (total / 10, total * F(3, 5))
    whole = pure_parts(total, ends, many)
    firsts = [ends[0] + (ends[1] - ends[0]) * F(k, 50) for k in range(51)]
    rhos = [pure(first).rho + many * pure((total - first) / many).rho for first in firsts]
    assert max(rhos) <= whole.rho <= pure(total).rho
    assert (max(rhos) == whole.rho) or total > 2
    assert whole.kinds == pure(total).kinds
