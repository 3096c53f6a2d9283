"""Every row of the cost table, audited: over all neighbouring small data sets the claim holds and is nearly reached."""

from collections import Counter
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from nobounds.accounting import cost as loss
from nobounds.auditing.audit import all_data, audit, neighbors_of, pair_loss
from nobounds.auditing.cases import neighbouring
from nobounds.auditing.claims.walks import NOISES, PERSONS, SETTINGS, SPLITS, SPOTS, counts, law_of
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk

CASES = [
    pytest.param(noise, *split, id=f"{noise}-{split[0]}-{split[1]}")
    for noise in NOISES
    for split in SPLITS
    if noise != "gumbel" or split[0] == split[1]
]


def claim_is_tight(findings, cost, eta=True):
    """No finding exceeds the claim, and one comes within 2% of it."""
    epsilons, etas = [found.epsilon for found in findings], [found.eta for found in findings]
    assert 0.98 * float(cost.epsilon) <= max(epsilons) <= float(cost.epsilon) + 1e-9
    assert (0.98 * float(cost.eta) if eta else 0) <= max(etas) <= float(cost.eta) + 1e-9


def reaches_its_range(noise, eps1, eps2):
    """Two-sided noise comes within 2% of the range only where the threshold's part is the larger."""
    return noise != "laplace" or (eps1, eps2) == (F(7, 10), F(3, 10))


@pytest.mark.medium
@pytest.mark.parametrize(("noise", "eps1", "eps2"), CASES)
def test_counts_under_swap_with_the_threshold_fixed(noise, eps1, eps2):
    """Monotonic queries cost eps1 + eps2, with range eps1 + 2 eps2 (Lemma A.3)."""
    found = [
        audit(lambda data: law_of(counts(data), 1 + shift, eps1, eps2, noise, layout), SPOTS, 2, "swap", least=1)  # noqa: B023
        for layout, shift in SETTINGS
    ]
    claim_is_tight(found, loss.monotonic(eps1, eps2), reaches_its_range(noise, eps1, eps2))


@pytest.mark.medium
@pytest.mark.parametrize("up", [True, False], ids=["up", "down"])
@pytest.mark.parametrize("q", [F(0), F(1, 4), F(1, 2), F(4, 5), F(1)], ids=str)
@pytest.mark.parametrize(("noise", "eps1", "eps2"), CASES)
def test_counts_under_add_remove_with_the_threshold_moving(noise, eps1, eps2, q, up):
    """Counts - q n cost max((1-q) eps1, q eps1 + eps2) walking up, and the same with 1-q walking down (Lemma B.1)."""
    target = q if up else 1 - q

    def law(layout, shift):
        lattice = F(1, target.denominator)
        return lambda data: law_of(counts(data, up), target * len(data) + shift, eps1, eps2, noise, layout, lattice)

    found = [audit(law(layout, shift), SPOTS, 2, "add-remove") for layout, shift in SETTINGS]
    claim_is_tight(found, loss.moving_threshold(target, eps1, eps2), reaches_its_range(noise, eps1, eps2))


@pytest.mark.medium
@pytest.mark.parametrize(("noise", "eps1", "eps2"), CASES)
def test_counts_under_add_remove_with_a_public_threshold(noise, eps1, eps2):
    """Counts against a public constant cost max(eps1, eps2), with range eps1 + eps2 (Lemma B.2)."""
    found = [
        audit(lambda data: law_of(counts(data), 1 + shift, eps1, eps2, noise, layout), SPOTS, 2, "add-remove")  # noqa: B023
        for layout, shift in SETTINGS
    ]
    claim_is_tight(found, loss.fixed_threshold(eps1, eps2), reaches_its_range(noise, eps1, eps2))


@pytest.mark.medium
@pytest.mark.parametrize(("noise", "eps1", "eps2"), CASES)
def test_general_queries(noise, eps1, eps2):
    """Queries that move either way by at most 1 cost eps1 + 2 eps2; the range is bounded by twice that (Lemma A.3)."""
    streams = list(product((0, 1), repeat=4))
    worst = []
    for layout, shift in SETTINGS:
        laws = {stream: law_of(list(stream), shift, eps1, eps2, noise, layout) for stream in streams}
        worst += [pair_loss(laws[a], laws[b]) for a in streams for b in streams if a < b]
    cost = loss.general(eps1, eps2)
    assert 0.98 * float(cost.epsilon) <= max(epsilon for epsilon, _ in worst) <= float(cost.epsilon) + 1e-9
    assert max(eta for _, eta in worst) <= float(cost.eta) + 1e-9


def several_rows(noise, eps1, eps2, relation, threshold):
    """Audits of persons with two rows each; the noise is scaled to two rows."""

    def law(layout, shift):
        def of(data):
            rows = [row for person in data for row in person]
            return law_of(counts(rows), threshold(len(rows)) + shift, eps1 / 2, eps2 / 2, noise, layout, F(1, 2))

        return of

    least = 1 if relation == "swap" else 0
    return [audit(law(layout, shift), PERSONS, 2, relation, least) for layout, shift in SETTINGS]


@pytest.mark.medium
@pytest.mark.parametrize(("noise", "eps1", "eps2"), CASES)
def test_two_rows_a_person_cost_the_same_with_noise_scaled_to_two(noise, eps1, eps2):
    """Add-remove of a person with two rows costs what the table says for one, with moving and with fixed threshold."""
    moving = several_rows(noise, eps1, eps2, "add-remove", lambda rows: F(rows, 2))
    claim_is_tight(moving, loss.moving_threshold(F(1, 2), eps1, eps2), eta=False)
    fixed = several_rows(noise, eps1, eps2, "add-remove", lambda rows: 2)
    claim_is_tight(fixed, loss.fixed_threshold(eps1, eps2), eta=False)


@pytest.mark.medium
@pytest.mark.parametrize(("noise", "eps1", "eps2"), CASES)
def test_two_rows_a_person_under_swap_are_pure_as_one(noise, eps1, eps2):
    """Swapping a person with two rows costs eps1 + eps2, with range at most twice that."""
    found = several_rows(noise, eps1, eps2, "swap", lambda rows: 2)
    claim_is_tight(found, loss.pure(eps1 + eps2), eta=False)


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.parametrize("bug", ["query noise halved", "eps1 doubled"])
def test_the_audit_catches_the_planted_bugs(bug, noise):
    """Query noise halved or eps1 doubled shows 1.5 where 1.0 is claimed, on 300 equal queries and one step."""
    eps1, eps2 = (F(1, 2), F(1)) if bug == "query noise halved" else (F(1), F(1, 2))

    def law(data):
        levels = [sum(x == 0 for x in data)] * 300 + [len(data)]
        return Law(Walk.of(levels, F(2), eps1=eps1, eps2=eps2, noise=noise)).log_pmf()

    assert 1.45 < audit(law, (0, 1), 2, "swap", least=1).epsilon <= 1.5 + 1e-9


def test_data_sets_and_neighbours_are_complete():
    """All multisets are met, and the neighbours of each are those that differ by one record."""
    assert len(set(all_data("abc", 2))) == 1 + 3 + 6
    assert set(neighbors_of(("a", "b"), "abc", "add-remove")) == {("a",), ("b",)}
    assert set(neighbors_of(("a", "b"), "abc", "swap")) == {("b", "b"), ("b", "c"), ("a", "a"), ("a", "c")}


@pytest.mark.parametrize("relation", ["add-remove", "swap"])
def test_every_pair_of_neighbours_occurs_once(relation):
    """Pairs are those that differ by one record, each in one order, and the worst loss is that over all of them."""
    pairs = list(neighbouring("abc", 3, relation))
    every = list(all_data("abc", 3, 1 if relation == "swap" else 0))

    def differ(one, other):
        more = [(Counter(x) - Counter(y)).total() for x, y in ((one, other), (other, one))]
        return more == ([1, 1] if relation == "swap" else [1, 0])

    wanted = {frozenset(pair) for pair in product(every, repeat=2) if differ(*pair)}
    assert {frozenset(pair) for pair in pairs} == wanted
    assert len(pairs) == len(wanted)

    def law(data):
        chance = np.array([1.0 + data.count("a"), 2.0 + data.count("b"), 1.0 + 3 * data.count("c")])
        return np.log(chance / chance.sum())

    losses = [pair_loss(law(x), law(y)) for x, y in pairs]
    worst = audit(law, "abc", 3, relation, 1 if relation == "swap" else 0)
    assert (worst.epsilon, worst.eta) == tuple(map(max, zip(*losses, strict=True)))


def test_an_impossible_outcome_on_one_side_is_an_infinite_loss():
    """Outcomes that only one neighbour can have cost everything."""
    with np.errstate(divide="ignore"):
        assert pair_loss(np.log(np.array([0.0, 1.0])), np.log(np.array([0.5, 0.5])))[0] == np.inf
