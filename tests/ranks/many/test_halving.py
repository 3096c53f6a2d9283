"""Recursive halving, audited by exact laws: the joint law of all places that are chosen costs what it says."""

import math
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.chance import seed_of
from support.laws import drawn

import nobounds as nb
from nobounds.accounting.conversions import rho_from_pure, rho_from_range
from nobounds.accounting.cost import pure
from nobounds.accounting.spending import Spending
from nobounds.auditing.audit import all_data, neighbors_of, pair_loss
from nobounds.auditing.claims import slicing
from nobounds.auditing.claims.answers import FEW
from nobounds.auditing.claims.slicing import (
    FIVE,
    QUARTERS,
    THIRDS,
    Joint,
    ends,
    fixed,
    levels_cost,
    loss,
    numbers,
    rho_of,
)
from nobounds.auditing.divergences import ORDERS as EACH_ORDER
from nobounds.counting.second_look import Counts
from nobounds.ladders.frame import Frame, Framed
from nobounds.ladders.ladder import Ladder
from nobounds.programs.program import Draw
from nobounds.ranks.many import halving
from nobounds.ranks.many.halving import HALF, Halving, Setting, around, levels, tree
from nobounds.ranks.many.slices import Lowered, Slice
from nobounds.ranks.problem import Problem
from nobounds.ranks.route import placed
from nobounds.ranks.tuning import TUNING
from nobounds.ranks.values import value_of
from nobounds.ranks.view import View

MISSING = math.nan
WILD = pytest.mark.xfail(strict=True, reason="far out, quantiles of 300 records lie anywhere in some runs")
RELATIONS = ["add-remove", "swap"]
ORDERS = np.array(EACH_ORDER)
SKEWED, TAILS = (F(15, 64), F(15, 16), F(31, 32)), (F(1, 10), HALF, F(9, 10))


def line(n):
    """A ladder of numbers from 0 to n - 1 without bounds: beyond them lie two rungs as far as floats reach."""
    return Ladder.of([-1.7e308, *(k + 0.5 for k in range(n)), 1.7e308])


LINE = line(4)
PLACES = 3  # on a rung: so few can be enumerated


def plan(qs, relation, each=F(1), *, places=PLACES, tuned=None, **options):
    """A plan that spends only on its levels, with few places on a rung and some constants of its own."""
    made = slicing.plan(qs, relation, each, places=places, **options)
    return replace(made, problem=replace(made.problem, tuning=replace(made.tuning, **(tuned or {}))))


def framed(made, size, each=F(1), exact=True):
    """The setting in a frame whose deviations are the records themselves."""
    return Setting(placed(made.ladder, Frame(0.0, 0)), size, exact, True, each, made.tuning.places)


def pairs(spots, relation, most=3):
    """All neighbouring data sets of up to so many records."""
    order = {spot: k for k, spot in enumerate(spots)}
    for data in all_data(spots, most):
        for other in neighbors_of(data, spots, relation):
            yield data, tuple(sorted(other, key=order.__getitem__))


def present(data):
    return sum(record == record for record in data)


def worst(plan, setting, spots, measure=loss, most=3):
    """The largest measure of all neighbours: of a record that moves or is added, and of one that turns missing."""
    laws = {data: Joint(plan, data, setting) for data in all_data(spots, most)}
    found = [0.0, 0.0]
    for data, other in pairs(spots, plan.neighbors, most):
        kind = int(plan.neighbors == "swap" and present(data) != present(other))
        found[kind] = max(found[kind], measure(laws[data], laws[other]))
    return found


def claims(plan, each=F(1)):
    """What the levels of the plan cost them."""
    kinds = levels_cost(plan, each).kinds
    return [float(max(kinds[0])), float(max(kinds[-1]))]


def spots_for(relation):
    return (0.0, 1.0, 3.0, MISSING) if relation == "swap" else (0.0, 1.0, 3.0)


# --- the whole recursion ------------------------------------------------------------------------------------------

AUDITS = [
    # quantiles, size, whether it is exact
    (THIRDS, 2, True),
    (THIRDS, 0, False),
    (QUARTERS, 3, True),
    (SKEWED, 5, True),
    (SKEWED, 2, False),
]


@pytest.mark.medium
@pytest.mark.parametrize("zcdp", [False, True], ids=["pure", "zcdp"])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("qs", "size", "exact"), AUDITS, ids=str)
def test_all_places_together_cost_their_levels(qs, size, exact, relation, zcdp):
    """No neighbours of up to three records tell more by all places than the cost says, whatever the size was."""
    made = plan(qs, relation, zcdp=zcdp, tuned={"near_end": 0, "prior_from": 1, "prior_nats": F(1, 2)})
    found = worst(made, framed(made, size, exact=exact), spots_for(relation))
    wanted = claims(made)
    assert wanted[0] == 2 and (relation == "add-remove" or wanted[1] == F(3, 2))
    assert all(a <= b + 1e-9 for a, b in zip(found, wanted, strict=True))
    assert found[0] > (0.6 if relation == "add-remove" else 0.3) * wanted[0]  # though the ladder has five rungs


@pytest.mark.medium
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("qs", [THIRDS, QUARTERS, SKEWED], ids=str)
def test_all_places_together_cost_their_rho(qs, relation):
    """Under zCDP the Renyi divergence of every order is at most rho times the order."""
    for each in (F(1, 2), F(4)):
        made = plan(qs, relation, zcdp=True)
        found, rho = worst(made, fixed(made, 3, each), spots_for(relation), rho_of, most=2), levels_cost(made, each).rho
        assert 0.2 * float(rho) < max(found) <= float(rho) * (1 + 1e-9)


@pytest.mark.medium
@pytest.mark.parametrize("zcdp", [False, True], ids=["pure", "zcdp"])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("qs", [TAILS, (F(1, 3), HALF, F(99, 100)), (HALF, F(1)), (F(0), HALF)], ids=str)
def test_walks_outward_cost_no_more_than_choices(qs, relation, zcdp):
    """Near the ends of the data, where walks are taken, all places together cost what they say as well."""
    tuned = {"near_end": 1, "tight_nats": F(1, 4)}  # so that no rung is out of reach
    made = plan(qs, relation, zcdp=zcdp, ladder=LINE, tuned=tuned)
    setting = framed(made, 3, exact=relation == "swap")
    assert any(made.outward(node, setting) is not None for node in tree(qs))
    found = worst(made, setting, spots_for(relation))
    assert all(a <= b + 1e-9 for a, b in zip(found, claims(made), strict=True))
    assert found[0] > 0.35 * claims(made)[0]
    if zcdp:
        rho = float(levels_cost(made, F(1)).rho)
        assert max(worst(made, setting, spots_for(relation), rho_of, most=2)) <= rho * (1 + 1e-9)


@pytest.mark.medium
@pytest.mark.parametrize("relation", RELATIONS)
def test_deviations_from_the_first_answer_cost_their_level(monkeypatch, relation):
    """Without a frame, by all first answers of neighbours of up to two records; half of the noise shows."""
    made, setting = slicing.settled(relation, False)
    spots = (-60.0, 3.0, 4.0, MISSING)[: 3 + (relation == "swap")]
    honest = max(worst(made, setting, spots, most=2))
    assert 0.4 < honest <= made.cost().epsilon == 1
    monkeypatch.setattr(Halving, "rate", doubled_rate)
    assert max(worst(made, setting, spots, most=2)) > (1.4 if relation == "add-remove" else 1.7 * honest)


@pytest.mark.medium
@pytest.mark.parametrize("relation", RELATIONS)
def test_three_levels_cost_three_levels(relation):
    """Seven quantiles, two inner nodes under the first: neighbours of up to two records tell at most their cost."""
    ladder = numbers(4)
    made = plan([F(k, 8) for k in range(1, 8)], relation, ladder=ladder, places=2)
    spots = (0.0, 1.0, 2.0, MISSING)[: 3 + (relation == "swap")]
    found = worst(made, fixed(made, 2, F(1)), spots, most=2)
    assert levels(made.qs) == 3
    assert all(a <= b + 1e-9 for a, b in zip(found, claims(made), strict=True))
    assert found[0] > 0.4 * 3


@pytest.mark.parametrize("zcdp", [False, True], ids=["pure", "zcdp"])
def test_the_cost_is_reached_under_add_remove(zcdp):
    """On a hundred rungs, a record below or above another tells 97% of two levels."""
    ladder = numbers(100)
    for qs, data, rest in ((THIRDS, (1, 98), (1,)), (QUARTERS, (1, 98), (98,))):
        made = plan(qs, "add-remove", HALF, zcdp=zcdp, ladder=ladder, places=2)
        setting = fixed(made, 0, HALF)
        assert 0.97 < loss(*(Joint(made, x, setting) for x in (data, rest)), ends) <= 1 + 1e-9


@pytest.mark.medium
@pytest.mark.parametrize(("places", "reached"), [(1, 0.99), (2, 0.92)], ids=str)
def test_the_cost_is_reached_under_swap(places, reached):
    """A record that moves from below all others to above them tells nearly two levels: first it moves, then crosses.

    One that turns missing tells nearly half of every level, and that is what it is charged in all but the first.
    """
    ladder = numbers(400)
    made = plan(QUARTERS, "swap", HALF, ladder=ladder, places=places)
    setting = fixed(made, 2, HALF)
    data, moved, gone = (1, 2, 2, 398), (2, 2, 398, 399), (2, 2, 398, MISSING)
    x, y, z = (Joint(made, each, setting) for each in (data, moved, gone))
    assert reached < loss(x, y, ends) <= 1 + 1e-9
    assert 0.97 * 0.5 < loss(*(Joint(made, each, setting) for each in ((1, 398), (398, MISSING))), ends) <= 0.5 + 1e-9
    assert loss(x, z, ends) <= 0.5 + 1e-9


@pytest.mark.medium
def test_rho_is_reached():
    """Half of the places move away from the target and half towards it: 85% of the rho of two levels."""
    qs, ladder = (HALF, F(5, 8), F(7, 8)), numbers(50)
    for each in (F(1, 4), F(1)):
        for asked, relation, reached, x, y in (
            (qs, "add-remove", 0.85, (), (25,)),
            (QUARTERS, "swap", 0.55, (0, 25), (25, 49)),
        ):
            made = plan(asked, relation, zcdp=True, ladder=ladder)
            rho = float(levels_cost(made, each).rho)
            assert reached * rho < rho_of(*(Joint(made, data, fixed(made, 8, each)) for data in (x, y))) <= rho


# --- planted bugs -------------------------------------------------------------------------------------------------


def doubled_rate(self, slope, each):
    return 2 * HONEST_RATE(self, slope, each)


def rate_without_moves(self, slope, each):
    """As if a record under swap changed a distance by one half, as one that is added does."""
    return each / (2 * max(slope, 1 - slope))


def whole_weights(self, histogram):
    """As if a record belonged to every slice that has a place of its rung."""
    first, last = self.rungs
    some = slice(*np.searchsorted(histogram.rungs, [first, last + 1]))
    return histogram.rungs[some], histogram.counts[some] * self.places


def split_without_crossing(self, slope, up, each):
    """As if a record could not leave the slice of a walk."""
    outer = self.tuning.outer
    moved = halving.monotonic(outer, 1 - outer)
    whole = moved.eta if self.zcdp else moved.epsilon
    return each * outer / whole, each * (1 - outer) / whole


HONEST_RATE = Halving.rate


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_doubled_rate_is_caught(monkeypatch, relation):
    """With twice the rate the audit sees more than the cost."""
    monkeypatch.setattr(Halving, "rate", doubled_rate)
    ladder = numbers(30)
    made = plan(QUARTERS, relation, HALF, ladder=ladder, places=2)
    pair = ((1, 28), (28,)) if relation == "add-remove" else ((1, 2), (2, 28))
    assert loss(*(Joint(made, data, fixed(made, 2, HALF)) for data in pair), ends) > 1.5


def test_a_record_priced_under_swap_as_one_that_is_added_is_caught(monkeypatch):
    """With a slope of one half the sensitivity is one half for a record more, but 1 for one that moves."""
    monkeypatch.setattr(Halving, "rate", rate_without_moves)
    ladder = numbers(30)
    made = plan(QUARTERS, "swap", HALF, ladder=ladder, places=2)
    assert loss(*(Joint(made, data, fixed(made, 2, HALF)) for data in ((1, 2), (2, 28))), ends) > 1.5


def test_a_record_counted_whole_on_both_sides_is_caught(monkeypatch):
    """If a rung that is cut in two counts in full on both sides, its records tell twice in the next level."""
    ladder = numbers(60)
    made = plan(QUARTERS, "add-remove", HALF, ladder=ladder, places=2)
    setting = fixed(made, 4, HALF)
    x, y = (Joint(made, each, setting) for each in ((5, 30), (5,)))

    def level(x, y, cut):
        """What the second level tells if the first answer cut the rung of the record in two."""
        found = []
        for key, piece in (((-1, 1), Slice(0, cut, 2)), ((1, 3), Slice(cut, x.whole.high, 2))):
            found.append([each.law(each.nodes[key], piece)[1] for each in (x, y)])
        return sum(pair_loss(*laws)[0] for laws in found)

    assert level(x, y, 61) <= 0.5 + 1e-9
    monkeypatch.setattr(Slice, "weights", whole_weights)
    x, y = (Joint(made, each, setting) for each in ((5, 30), (5,)))
    assert level(x, y, 61) > 0.55


# --- one level ----------------------------------------------------------------------------------------------------


@pytest.mark.medium
@given(
    st.lists(st.integers(0, 4), max_size=5),
    st.integers(0, 4),
    st.one_of(st.none(), st.integers(0, 4)),
    st.lists(st.integers(1, 14), min_size=3, max_size=3),
    st.integers(0, 6),
    st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_a_level_costs_as_much_as_one_choice(data, record, other, cuts, size, zcdp):
    """However earlier answers cut a rung, a record tells at most one level in all slices together.

    Also one that is added, which tells half a level under swap; and the rho of the parts is at most that of the whole.
    """
    qs, cut = tuple(F(k, 8) for k in range(1, 8)), [0, *sorted(cuts), 15]
    for relation in RELATIONS if other is None else ["swap"]:
        made = plan(qs, relation, zcdp=zcdp)
        setting = fixed(made, size, F(1))
        x = Joint(made, (*data, record), setting)
        y = Joint(made, tuple(data) if other is None else (*data, other), setting)
        up = down = 0.0
        moments = [np.zeros(len(ORDERS))] * 2
        for node, (low, high) in zip(sorted(tree(qs)[3:], key=lambda n: n.which), pairwise(cut), strict=True):
            if low < high:
                p, q = (each.law(node, Slice(low, high, PLACES))[1] for each in (x, y))
                up, down = up + (p - q).max(), down + (q - p).max()
                for way, (a, b) in enumerate(((p, q), (q, p))):
                    terms = np.outer(ORDERS, a) + np.outer(1 - ORDERS, b)
                    moments[way] = moments[way] + np.logaddexp.reduce(terms, axis=1)
        assert max(up, down) <= (0.5 if relation == "swap" and other is None else 1) + 1e-9
        rho = float(levels_cost(made, F(1)).rho) / 3
        assert max(float((m / (ORDERS - 1) / ORDERS).max()) for m in moments) <= rho * (1 + 1e-9)


def level_ratios(plan, setting, x, y, cut):
    """The largest and the smallest log-ratio of the second level, if the first answer cut here."""
    x, y = Joint(plan, x, setting), Joint(plan, y, setting)
    root, whole = x.nodes[x.root], x.whole
    found = [0.0, 0.0]
    low, high = Slice(whole.low, cut, whole.places), Slice(cut, whole.high, whole.places)
    for key, piece in (((-1, root.which), low), ((root.which, x.root[1]), high)):
        if key in x.nodes:
            ratios = x.law(x.nodes[key], piece)[1] - y.law(x.nodes[key], piece)[1]
            found = [found[0] + ratios.max(), found[1] + ratios.min()]
    return found


WALKING = {"near_end": 1, "prior_nats": F(0), "tight_nats": F(0)}
WALKS = [
    # quantiles; records: of x, and of x' instead of the first one
    ("add-remove", (HALF, F(9, 10)), (298,), None),
    ("add-remove", (HALF, F(1)), (298,), None),
    ("add-remove", (F(1, 10), HALF), (1,), None),
    ("swap", (F(1, 3), HALF, F(9, 10)), (298, 149), 1),
    ("swap", (F(1, 10), HALF, F(2, 3)), (1, 298), 298),
]


@pytest.mark.medium
@pytest.mark.parametrize(("relation", "qs", "data", "other"), WALKS, ids=str)
def test_a_walk_outward_reaches_the_cost_of_a_level(relation, qs, data, other):
    """A record at the end of hundreds of empty rungs tells a level, or, when it crosses to a choice, nearly so."""
    ladder = line(300)
    found = []
    for zcdp in (False, True):
        made, best = plan(qs, relation, zcdp=zcdp, ladder=ladder, tuned=WALKING), 0.0
        for crowd in ((), (148, 148, 152, 152)):
            for size in (2, 3):
                setting = framed(made, size, exact=relation == "swap")
                rest = (*data[1:], *crowd) if other is None else (other, *data[1:], *crowd)
                up, down = level_ratios(made, setting, (*data, *crowd), rest, 152 * PLACES)
                best = max(best, up, -down)
                assert not zcdp or relation == "swap" or up - down <= 1 + 1e-9  # the range as well
        found.append(best)
    assert max(found) <= 1 + 1e-9
    assert found[0] > (0.999 if relation == "add-remove" else 0.99)


def test_a_walk_priced_without_crossing_is_caught(monkeypatch):
    """Under swap a record that leaves the slice of a walk for another tells of both."""
    monkeypatch.setattr(Halving, "split", split_without_crossing)
    ladder = line(300)
    made = plan((F(1, 3), HALF, F(9, 10)), "swap", ladder=ladder, tuned=WALKING)
    assert max(np.abs(level_ratios(made, framed(made, 3), (298, 149), (1, 149), 152 * PLACES))) > 1.1


@given(st.fractions(0, 1, max_denominator=50), st.booleans(), st.sampled_from(RELATIONS), st.booleans())
def test_a_walk_has_what_a_level_allows(slope, up, relation, zcdp):
    """Moving costs at most a level, crossing at most a half of it; under zCDP so do the ranges, but for two thirds."""
    made, each = plan(THIRDS, relation, zcdp=zcdp), F(7, 5)
    eps1, eps2 = made.split(slope, up, each)
    added = halving.moving_threshold(slope if up else 1 - slope, eps1, eps2)
    moved = halving.monotonic(eps1, eps2)
    if relation == "add-remove":
        assert (added.eta if zcdp else added.epsilon) == each
        return
    assert moved.epsilon <= each and added.epsilon <= each / 2
    limits = [moved.epsilon / each, 2 * added.epsilon / each]
    if zcdp:
        limits += [moved.eta / each, F(3, 2) * added.eta / each]
    assert max(limits) == 1


@pytest.mark.medium
@given(st.fractions(F(1, 10), 20, max_denominator=100), st.fractions(0, 1, max_denominator=100))
def test_a_record_in_parts_costs_no_more_than_a_whole_one(size, part):
    """The rho of a pure loss and of a range is at most in proportion to it; and that of a range is convex."""
    for rho in (rho_from_pure, rho_from_range):
        assert rho(part * size) <= float(part) * rho(size) * (1 + 1e-12)
    middle, end = rho_from_range(size * (1 + part) / 2), rho_from_range(size)
    assert 2 * middle <= (rho_from_range(size * part) + end) * (1 + 1e-12)


# --- what is drawn ------------------------------------------------------------------------------------------------

DRAWN = [
    ("pure", FIVE, THIRDS, (0, 1, 1, 1, 3, 3)),
    ("zcdp", FIVE, QUARTERS, (0, 1, 1, 1, 3, 3)),
    ("pure", LINE, TAILS, (0, 1, 1, 2, 3, 3)),
    ("pure", FEW, THIRDS, (-5, 1, 3, 3, 4, 4, 30)),
]


@pytest.mark.medium
@pytest.mark.parametrize(("kind", "ladder", "qs", "data"), DRAWN, ids=["flip", "exponential", "walks", "deviations"])
@pytest.mark.sampled
def test_answers_follow_the_law_that_is_audited(monkeypatch, kind, ladder, qs, data):
    """Chi-square of 2000 answers against the joint law, and against that of noise that is 30% smaller."""
    tuned = {"near_end": 2} | ({"many_bits": 0, "prior_floor": -4, "end_nats": 0} if ladder is FEW else {})
    made = plan(qs, "add-remove", F(3, 2), zcdp=kind == "zcdp", ladder=ladder, tuned=tuned)
    made = replace(made, problem=replace(made.problem, grows=ladder is FEW))

    def setting(each):
        if ladder is FEW:
            return replace(made.setting(len(data), None, None), each=each)
        return framed(made, len(data), each) if ladder is LINE else fixed(made, len(data), each)

    def settled(self, view, size):
        return setting(F(3, 2))
        yield

    monkeypatch.setattr(Halving, "settled", settled)
    counts, bits = Counts.of(lambda: [np.array(data, dtype=float)], ladder), random.Random(seed_of(5)).getrandbits
    released = Counter(drawn(made, counts, bits) for _ in range(2000))

    def p_value(each):
        law = answers(Joint(made, data, setting(each)))
        assert sum(law.values()) == pytest.approx(1, abs=0.02)
        likely = [key for key, chance in law.items() if 2000 * chance > 5]
        expected = np.array([2000 * law[key] for key in likely] + [2000 * (1 - sum(law[key] for key in likely))])
        seen = np.array([released[key] for key in likely] + [2000 - sum(released[key] for key in likely)])
        keep = expected > 0.5
        return stats.chisquare(seen[keep], expected[keep] * seen[keep].sum() / expected[keep].sum()).pvalue

    assert len(released) > 10
    assert p_value(F(3, 2)) > 1e-9
    assert p_value(F(3, 2) * F(13, 10)) < 1e-9


def answers(joint):
    """The law of the values, from that of the places, but for what is next to impossible."""
    found = Counter()

    def go_on(waiting, values, chance):
        if not waiting:
            found[tuple(sorted(values))] += chance
            return
        (law, key, piece), *others = waiting
        node = law.nodes[key]
        for place, log_chance in zip(*law.law(node, piece), strict=True):
            if chance * math.exp(log_chance) < 1e-6:
                continue
            value = value_of(law.plan.ladder, law.setting.ladder, int(place) // piece.places)
            after = [(law.then(int(place)), *at) for at in law.after(node, piece, int(place))]
            go_on([*others, *after], [*values, value], chance * math.exp(log_chance))

    go_on([(joint, joint.root, joint.whole)], [], 1.0)
    return found


# --- the plan -----------------------------------------------------------------------------------------------------

ranks = st.fractions(0, 1, max_denominator=100)


@pytest.mark.medium
@given(st.lists(ranks, min_size=1, max_size=40, unique=True).map(sorted).map(tuple))
@settings(deadline=None)
def test_a_tree_has_as_few_levels_as_possible(qs):
    """Each quantile is one node, between those found before it, on one of ceil(log2(m + 1)) levels."""
    nodes, found = tree(qs), {-1, len(qs)}
    assert sorted(node.which for node in nodes) == list(range(len(qs)))
    assert max(node.level for node in nodes) + 1 == levels(qs) == math.ceil(math.log2(len(qs) + 1))
    for node in nodes:
        assert {node.left, node.right} <= found and node.left < node.which < node.right
        assert not set(range(node.left + 1, node.right)) & found
        assert node.leaf == (node.right - node.left == 2)
        found.add(node.which)


def test_the_middle_comes_first():
    """Evenly spaced quantiles are halved; others near the middle of their ranks, if that takes no more levels."""
    assert [tree(tuple(F(k, m + 1) for k in range(1, m + 1)))[0].which for m in (3, 9, 99)] == [1, 4, 49]
    assert tree((F(1, 100), F(2, 100), F(3, 100), F(1, 2), F(9, 10)))[0].which == 3


@pytest.mark.parametrize("stated", [False, True], ids=["", "stated"])
@pytest.mark.parametrize("missing", [False, True], ids=["", "missing"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_pure_plan_costs_epsilon(relation, missing, stated):
    """Exactly what was asked for, however many quantiles; and a record that turns missing costs no more."""
    rows = 1000 if stated or relation == "swap" else None
    for m in (2, 3, 4, 7, 8, 40, 99):
        for epsilon in (F(1, 100), F(1), F(22, 7)):
            for grows in (False, True):
                qs = tuple(F(k, m + 1) for k in range(1, m + 1))
                made = Halving.of(
                    Problem(qs, Ladder.grid(1), relation, nullable=missing, rows=rows, stated=stated, grows=grows),
                    epsilon,
                )
                assert made.cost().epsilon == epsilon
                assert max(made.cost().kinds[0]) == epsilon
                assert made.left > 0 and (made.size.epsilon > 0) == (not stated and (relation != "swap" or missing))


@pytest.mark.parametrize("missing", [False, True], ids=["", "missing"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_plan_for_rho_costs_nearly_rho(relation, missing):
    """At most what was asked for, and within a thousandth of it."""
    for m in (2, 9, 99):
        qs = tuple(F(k, m + 1) for k in range(1, m + 1))
        for rho in (F(1, 10**6), F(1, 8), F(3)):
            made = Spending(rho, True).plan(
                lambda epsilon, zcdp, qs=qs: Halving.of(
                    Problem(qs, Ladder.grid(1), relation, nullable=missing, rows=100, grows=True), epsilon, zcdp
                )
            )
            assert rho * (1 - F(1, 1000)) < made.cost().rho <= rho
            assert made.zcdp


class Paid(Draw):
    """Draws, and adds up what the decisions cost."""

    def __init__(self, seed):
        super().__init__(random.Random(seed).getrandbits)
        self.cost = pure(F(0))

    def decide(self, decision):
        self.cost += decision.cost()
        return super().decide(decision)


@pytest.mark.medium
@pytest.mark.parametrize("n", [0, 300, 8000])
@pytest.mark.parametrize("zcdp", [False, True], ids=["pure", "zcdp"])
@pytest.mark.parametrize("missing", [False, True], ids=["", "missing"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_all_decisions_together_cost_no_more_than_is_charged(relation, missing, zcdp, n):
    """The size, the frame and the levels, of few records and of many; and hardly less."""
    data = np.random.default_rng(n).normal(50, 5, n)
    for ladder in (Ladder.grid(1), Ladder.float_bits(8), Ladder.grid(1).limited(F(0), F(100))):
        for qs, least in ((THIRDS, 0.9), ((F(0), *QUARTERS, F(1)), 0.9), ((F(1, 99), HALF, F(1)), 0.25)):
            made = Halving.of(Problem(qs, ladder, relation, nullable=missing, rows=n, grows=True), F(1), zcdp)
            paid = Paid(1)
            paid.run(made.program(View(Counts.of(lambda: [data], ladder))))
            spent, charged = ((c.rho if zcdp else c.epsilon) for c in (paid.cost, made.cost()))
            assert least * float(charged) < spent <= charged
            assert len(qs) != 3 or paid.cost.rho <= made.cost().rho  # one by one: no kind of record costs less


@pytest.mark.medium
@pytest.mark.parametrize("n", [30, 300, 8000])
@pytest.mark.parametrize("zcdp", [False, True], ids=["pure", "zcdp"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_levels_with_shares_cost_what_is_left(relation, zcdp, n):
    """Of one quantile and of many; each level has its share of what the frame leaves, and of rho under zCDP."""
    data = np.random.default_rng(n).normal(50, 5, n)
    for qs, shares in (
        ((HALF,), (F(1),)),
        (QUARTERS, (F(1, 5), F(4, 5))),
        ((F(1, 9), *QUARTERS), (F(1, 2), F(1, 3), F(1, 6))),
    ):
        problem = Problem(qs, Ladder.float_bits(8), relation, rows=n, stated=True, grows=True)
        made = Halving.of(problem, F(1), zcdp, shares)
        setting = made.setting(n, None, None)
        parts = [setting.at(level).each for level in range(len(shares))]
        assert [float(part**2 if zcdp else part) for part in parts] == pytest.approx([float(part) for part in shares])
        paid = Paid(1)
        paid.run(made.program(View(Counts.of(lambda: [data], problem.ladder))))
        spent, charged = ((c.rho if zcdp else c.epsilon) for c in (paid.cost, made.cost()))
        assert 0.9 * float(charged) < spent <= charged
    with pytest.raises(AssertionError, match="size is known"):
        Halving.of(Problem(QUARTERS, Ladder.float_bits(8), "add-remove", grows=True), F(1), zcdp, (HALF, HALF))


# --- the setting --------------------------------------------------------------------------------------------------


def test_walks_are_taken_near_an_end():
    """In a frame, up for large quantiles and down for small ones; not between others, nor with many records."""
    qs = (F(1, 1000), F(1, 4), HALF, F(99, 100), F(999, 1000))
    made = plan(qs, "swap", ladder=Ladder.grid(1), tuned={"near_end": 8})
    nodes = sorted(tree(qs), key=lambda node: node.which)
    assert [made.outward(node, framed(made, 100)) for node in nodes] in (
        [False, None, None, None, True],
        [False, None, None, True, True],
    )
    assert all(
        made.outward(node, setting) is None
        for node in nodes
        for setting in (framed(made, 10**6), fixed(made, 100, F(1)))
    )


def test_rungs_are_lowered_more_near_an_end():
    """Up to twice as far from an end as walks are taken; without a frame none is lowered."""
    qs = (F(1, 100), HALF, F(99, 100))
    middle, low, high = tree(qs)
    made = plan(qs, "swap", ladder=Ladder.grid(1), tuned={"near_end": 8})
    for size, near in ((1000, True), (1599, True), (1600, False)):
        setting = framed(made, size)
        assert made.outward(high, setting) is None
        plain, tight = made.lowered(middle, setting), made.lowered(high, setting)
        assert made.lowered(low, setting) == tight and (tight != plain) == near
        assert tight.octave <= plain.octave and tight.nats >= plain.nats > 0
        assert made.lowered(high, fixed(made, size, F(1))) == Lowered(0, F(0))


# --- without a frame ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ladder", [Ladder.grid(F(1, 4)), Ladder.float_bits(8)], ids=["grid", "floats"])
def test_others_are_chosen_by_their_deviations_from_the_first(ladder):
    """The first answer has the deviation 0; the distances of answers are the scale from then on, if they differ."""
    made = Halving.of(Problem(QUARTERS, ladder, "add-remove", grows=True), F(1))
    first = made.setting(100, None, None)
    setting = around(first, int(first.ladder.rungs(np.array([1000.25]))[0]))
    assert isinstance(setting.ladder.map, Framed) and not setting.tight
    rungs = setting.ladder.rungs(np.array([-1e9, 1000.0, 1000.25, 1000.5, 1e9]))
    assert rungs[2] == 0 and np.all(np.diff(rungs) > 0)
    assert [value_of(made.ladder, setting.ladder, int(rung)) for rung in rungs[1:4]] == [1000, 1000.25, 1000.5]
    assert made.prior(first) != made.prior(setting) != made.prior(made.scaled(setting, {0: 1000.0, 1: 1032.0}))
    assert made.scaled(setting, {0: 1000.0, 1: 1032.0}).octave == (7 if ladder.is_grid else 5)
    assert made.scaled(setting, {0: 1000.0, 1: 1000.0}) == setting


@pytest.mark.parametrize("value", [1000.25, -1000.25, 3.141592653589793, 4.0, 12345678.9, -1234567891.0, 2.0**60, 0.0])
@pytest.mark.parametrize("ladder", [Ladder.grid(1), Ladder.grid(F(1, 4)), Ladder.float_bits(8)], ids=str)
def test_the_rung_of_the_first_answer_is_one_rung_of_the_deviations(ladder, value):
    """Whatever number on it the records have: both ends of it deviate by 0, and numbers beyond it do not."""
    made = Halving.of(Problem(QUARTERS, ladder, "add-remove", grows=True, tuning=replace(TUNING, many_bits=10)), F(1))
    first = made.setting(100, None, None)
    rung = int(first.ladder.rungs(np.array([value]))[0])
    low, high = first.ladder.span(rung, rung)
    inner, outer = (low, high) if value > 0 else (high, low)
    outer = np.nextafter(np.nextafter(outer, inner), inner)  # the last float but two may be left out
    beyond = np.array([2 * low - high, inner, value, outer, 2 * high - low])
    rungs = around(first, rung).ladder.rungs(np.sort(beyond))
    assert rungs[0] < 0 < rungs[4] and not rungs[1:4].any()


@pytest.mark.parametrize("value", [7, 3.141592653589793, 12345678.9, 1234567891])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.unmarked
def test_quartiles_of_one_number_are_that_number(value, relation):
    """Also where it is not round, so that no answer is exactly it."""
    for seed in range(8):
        quartiles = np.array(released(np.full(2000, value), [0.25, 0.5, 0.75], F(3, 10), relation, seed), dtype=float)
        assert np.abs(quartiles / value - 1).max() < 1e-6


@pytest.mark.medium
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    "n",
    [
        pytest.param(
            300,
            marks=pytest.mark.xfail(strict=True, reason="far out, quantiles of 300 records lie anywhere in some runs"),
        ),
        1000,
    ],
)
@pytest.mark.unmarked
@pytest.mark.sampled
def test_deciles_err_alike_at_any_offset(n, relation):
    """In standard deviations, and no more than noise of a few ranks explains."""
    aims, errors = [k / 10 for k in range(1, 10)], []
    for offset in (0, 17.3, 1000):
        away = []
        for number in range(24):
            data = np.random.default_rng(seed_of(number)).normal(offset, 1, n)
            found = released(data, aims, 1, relation, seed_of(number))
            away.append(np.abs(found - np.quantile(data, aims)).mean())
        errors.append(np.mean(away))
    assert max(errors) < min(3 * min(errors), 75 / n)


def released(data, qs, epsilon, relation, seed, **options):
    """The quantiles for an epsilon, twice as much under swap, where a rank costs that."""
    spent = epsilon * (2 if relation == "swap" else 1)
    return nb.quantiles(data, qs, epsilon=spent, neighbors=relation, rng=random.Random(seed), **options).value


@pytest.mark.medium
@pytest.mark.parametrize("n", [1000, 2000, 5000])
@pytest.mark.parametrize("qs", [(0.5, 0.99), (0.25, 0.5, 0.75, 0.99), (0.01, 0.5)])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.unmarked
def test_few_records_reach_a_tail_beside_a_median(relation, qs, n):
    """The ranks of all answers are right within about three percent of the records, and no tail is left at 95%."""
    errors = []
    for seed in range(6):
        data = np.sort(np.random.default_rng(seed).lognormal(3, 1, n))
        answers = released(data, list(qs), 1, relation, seed)
        errors.append(np.abs(np.searchsorted(data, answers) / n - np.array(qs)))
    assert np.mean(errors, axis=0).max() < 0.03


@pytest.mark.medium
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.unmarked
@WILD
def test_zeros_and_heaps_are_hit(relation):
    """Of 300 records, many of them 0 or all on three numbers: quantiles inside of a heap are its number."""
    zeros = np.append(np.zeros(180), np.random.default_rng(3).lognormal(3, 1, 120))
    heaps = np.repeat([20.0, 25.5, 1e5], 100)
    for seed in range(8):
        *low, high = released(zeros, [0.1, 0.25, 0.4, 0.75], 1, relation, seed)
        assert low == [0, 0, 0] and 210 - 40 < (zeros < high).sum() < 240 + 40
        for data in (heaps, heaps.astype(int)):
            assert released(data, [F(1, 6), HALF, F(5, 6)], 2, relation, seed) == tuple(data[[0, 100, 200]])


@pytest.mark.medium
@given(
    st.integers(0, 10**6),
    st.sampled_from([(None, None), (-3, None), (None, 2.5), (995, 1003)]),
    st.sampled_from(RELATIONS),
)
@settings(deadline=None, max_examples=30)
@pytest.mark.unmarked
def test_answers_lie_on_the_grid_and_within_the_bounds(seed, bounds, relation):
    """In order, wherever the data are."""
    rng, (lower, upper) = np.random.default_rng(seed), bounds
    data = rng.normal(rng.choice([0, 1000]), 5, 300)
    found = released(data, [0, 0.1, 0.5, 0.75, 1], 1, relation, seed, resolution=0.5, lower=lower, upper=upper)
    assert list(found) == sorted(found) and all(2 * value == round(2 * value) for value in found)
    assert (lower is None or min(found) >= lower) and (upper is None or max(found) <= upper)
