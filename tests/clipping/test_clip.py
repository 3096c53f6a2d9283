"""The search for a clip: its walks, by exact laws, and all its parts cost what they say; and what it finds."""

import math
import random
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.paid import Paid

from nobounds.accounting.terms import Terms
from nobounds.auditing.claims.clips import CROWDS, LINE, MISSING, floats, searching, viewed, walks_of, widths_seen
from nobounds.clipping.clip import ClipStart
from nobounds.clipping.law import clip_law
from nobounds.clipping.plan import SumPlan
from nobounds.clipping.tuning import CLIP_TUNING
from nobounds.clipping.widths import DEVIATIONS, _octaves_beyond
from nobounds.counting.histogram import Histogram
from nobounds.engines.memory.arrays import column
from nobounds.exact import finite_float
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.stated import Stated
from nobounds.mechanisms.halting import Law
from nobounds.programs.program import Draw

RELATIONS = ["add-remove", "swap"]


def worst_loss(*args, **options):
    """The most that the widths of a clip tell."""
    return max(one.value for one in widths_seen(*args, **options))


def found_by(search, data, size, slack, source):
    """The clip that a search finds."""
    return Draw(source).run(search.program(viewed(data), size, slack))


# Small data walk inward under swap as well, as large data do.
ALWAYS_INWARD = replace(CLIP_TUNING, many=0)


@pytest.mark.medium
@pytest.mark.parametrize("epsilon", [F(1, 2), F(5)], ids=str)
@pytest.mark.parametrize("two_sided", [True, False], ids=["two-sided", "one-sided"])
@pytest.mark.parametrize("octave", [None, 0])
def test_walks_outward_cost_what_they_say(octave, two_sided, epsilon):
    """All widths together tell at most epsilon of a record that is moved, or missing; and some tell 98%."""
    search = searching("swap", epsilon, two_sided)
    assert all(walk.candidates[0] == 0 for walk in walks_of(search, (), octave))  # outward
    found = max(worst_loss(search, octave, center, most=2 if octave is None else 1) for center in (0.0, 1000.0))
    assert 0.98 * float(epsilon) < found <= float(epsilon) + 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("epsilon", [F(1, 2), F(5)], ids=str)
@pytest.mark.parametrize("two_sided", [True, False], ids=["two-sided", "one-sided"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_walks_inward_cost_what_they_say(relation, two_sided, epsilon):
    """All widths together tell at most epsilon; and some tell 98% of it.

    A move across the centre takes a record out of one walk for good and into the other: it costs eps1 + eps2.
    """
    search = searching(relation, epsilon, two_sided, tuning=ALWAYS_INWARD)
    octaves = (0, 32) if relation == "swap" else (0, 32, None)
    assert all(walks_of(search, (), octave)[0].inward for octave in octaves)
    looks = [worst_loss(search, octave, 0.0, 1, crowd) for octave in octaves for crowd in CROWDS]
    found = max(*looks, worst_loss(search, 0, 1000.0))
    assert 0.98 * float(epsilon) < found <= float(epsilon) + 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("octave", [0, 32, None])
def test_a_walk_inward_must_not_tell_never_from_last(octave):
    """Positions alone would tell more: the last counts records of both sides. Both are the width 0, and that is kept.

    This is also the negative control: the audit sees a cost of more than the claim.
    """
    search = searching("add-remove")
    crowd = CROWDS[2]
    assert worst_loss(search, octave, 0.0, 1, crowd, one_end=False) > 1.4
    assert worst_loss(search, octave, 0.0, 1, crowd) <= 1 + 1e-9
    walk = walks_of(search, crowd, octave)[0]
    last = walk.walk.length - 1
    assert search.width(walk.candidates, None, octave) == search.width(walk.candidates, last, octave) == 0
    assert all(halt.one_end for halt in search.halts([walk]).parts)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_public_bound_at_the_centre_leaves_one_side(relation):
    """With a lower bound of 0 there is one walk, records below count as 0, and it costs what it says."""
    search = searching(relation, ladder=LINE.limited(F(0), None))
    assert search.sides(F(0)) == (1,)
    assert search.sides(F(7)) == (1, -1)
    assert len(walks_of(search, (3.0, -4.0), None)) == 1
    assert 0.98 < worst_loss(search, None, most=2) <= 1 + 1e-9
    assert 0.4 < worst_loss(search, 0, crowd=CROWDS[1]) <= 1 + 1e-9
    minus, zero = (walks_of(search, (3.0, x), None)[0].walk for x in (-4.0, 0.0))
    assert minus.levels.tolist() == zero.levels.tolist()


@pytest.mark.medium
@given(
    st.fractions(F(1, 1000), 20, max_denominator=10**6),
    st.one_of(st.integers(0, 2000), st.integers(0, 10**7)),
    st.sampled_from(RELATIONS),
    st.booleans(),
    st.booleans(),
    st.sampled_from([LINE, LINE.limited(F(0), None), Ladder.grid(1), Ladder.grid(1).limited(F(-3), F(500))]),
    st.sampled_from([-300, -3, 0, 40]),
)
@settings(deadline=None, max_examples=150)
def test_the_parts_never_cost_more_than_epsilon(epsilon, size, relation, two_sided, nullable, ladder, octave):
    """Centre, scale and walks cost epsilon together, whatever the size, the centre and the scale turn out to be."""
    search = searching(relation, epsilon, two_sided, ladder, nullable)
    rule = search.frame(size)
    spent = F(0) if rule is None else rule.epsilon
    start = ClipStart(search.within(F(17)), None if rule is None else octave, epsilon - spent)
    around = Histogram(DEVIATIONS, np.array([0]), np.array([max(size, 1)]))
    walks = search.walks(around, start)
    eps1, eps2 = walks[0].walk.eps1, walks[0].walk.eps2
    assert {(walk.walk.eps1, walk.walk.eps2) for walk in walks} == {(eps1, eps2)}
    assert min(eps1, eps2) > 0
    halts = search.halts(walks)
    assert spent + halts.cost().epsilon == epsilon == search.cost().epsilon
    assert {halt.one_end for halt in halts.parts} == {walk.inward for walk in walks}
    assert start.octave is not None or relation == "add-remove" or not walks[0].inward


@pytest.mark.parametrize("two_sided", [True, False], ids=["two-sided", "one-sided"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_search_spends_what_it_has(relation, two_sided):
    """The decisions on the way of a search cost exactly epsilon together, and no more rho than it says."""
    data = viewed([3.0, -1.0, MISSING, 1e6])
    for size in (0, 1, 70, 300, 10**3, 10**4, 10**7):
        for epsilon in (F(1, 100), F(1, 3), F(7)):
            search, driver = searching(relation, epsilon, two_sided), Paid(1)
            driver.run(search.program(data, size, 0))
            assert sum(cost.epsilon for cost in driver.costs) == epsilon
            assert driver.total.epsilon <= epsilon and driver.total.rho <= search.cost().rho
            rule = search.frame(size)
            assert len(driver.costs) == 1 + (0 if rule is None else 1 + two_sided)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_frame_is_bought_only_where_it_is_cheap(relation):
    """It costs no more than its share of epsilon, less with more records; magnitudes need no centre."""
    for epsilon in (F(1, 10), F(1, 3), F(2)):
        for two_sided in (True, False):
            search = searching(relation, epsilon, two_sided)
            rules = [search.frame(size) for size in (0, 1, 50, 500, 5_000, 500_000)]
            bought = [rule for rule in rules if rule is not None]
            assert bought == rules[len(rules) - len(bought) :]
            costs = [rule.epsilon for rule in bought]
            assert (
                costs == sorted(costs, reverse=True)
                and costs[0] <= CLIP_TUNING.frame_part(search.neighbors, search.two_sided) * epsilon
            )
            assert all((rule.center.epsilon > 0) == two_sided and rule.eps_scale > 0 for rule in bought)


@pytest.mark.parametrize("unit", [F(1), F(1, 4), F(3)], ids=str)
def test_the_scale_of_a_search_is_in_the_unit_of_its_records(unit):
    """On a grid a frame counts in points; where the walks start is in the records themselves."""
    data = viewed(np.random.default_rng(1).normal(4000, 64, 5000))
    search = searching("swap", 8, ladder=Ladder.grid(unit))
    start = Draw(random.Random(1).getrandbits).run(search.start(data, 5000))
    assert 3950 < start.center < 4050 and start.octave in (4, 5, 6)  # the median deviation is 43


def test_missing_records_stand_at_the_centre_under_swap_alone():
    """Under swap every row is a deviation, so that their number is public; under add-remove missing ones are none."""
    data, start = viewed([MISSING, 12.0, math.inf, -math.inf, MISSING]), ClipStart(F(10), None, F(1))
    swap, added = (searching(relation).deviations(data, start) for relation in ("swap", "add-remove"))
    assert swap.total == 5 and added.total == 3
    assert swap.below(1) - swap.below(0) == 2
    assert swap.rungs[[0, -1]].tolist() == [DEVIATIONS.first, DEVIATIONS.last]


@pytest.mark.parametrize("unit", [F(1), F(1, 10), F(5), F(3, 1000)], ids=str)
def test_widths_on_a_grid_are_grid_points(unit):
    """Each is the last multiple of the unit at or before the upper edge of its rung, and none is lost."""
    search = searching("swap", ladder=Ladder.grid(unit))
    candidates = np.arange(DEVIATIONS.last + 1)
    for position in [0, 1, 100, 300, 333, 400, 1000, DEVIATIONS.last, None]:
        width = search.width(candidates, position, 0)
        top = F(DEVIATIONS.top(int(candidates[-1 if position is None else position]))) if position != 0 else F(0)
        assert (width / unit).denominator == 1
        assert 0 <= top - width < unit
        assert 0 <= 4 * top - search.width(candidates, position, 2) < unit
    records = np.array([float(unit * k) for k in (1, 2, 7, 8, 9, 1000)])
    for record, rung in zip(records, DEVIATIONS.rungs(records), strict=True):
        assert (
            float(search.width(candidates, int(rung), None)) >= record
        )  # a clip at a record's rung leaves it as it is


@pytest.mark.medium
@given(st.lists(st.floats(width=64), max_size=30), st.sampled_from(RELATIONS), st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_a_clip_stays_within_the_public_bounds(records, relation, seed):
    """Whatever the records are, infinite or missing too, the clip is an interval within them that holds its centre."""
    search = searching(relation, ladder=LINE.limited(F(-3), F(1000)))
    found = found_by(search, records, len(records), 0, random.Random(seed).getrandbits)
    assert -3 <= found.low <= found.center <= found.high <= 1000
    assert not found.trusted or len(records) >= CLIP_TUNING.nats


@pytest.mark.parametrize("n", [0, 1, 5, 20, 50, 200])
def test_without_a_scale_the_search_fails_small_under_swap(n):
    """A walk outward with too few records halts before them; above ten times the largest with less than 1e-4."""
    data = np.random.default_rng(n).lognormal(3, 0.8, n)
    largest = data.max() if n else 2.0**-40
    for epsilon in (F(1, 10), F(1, 3), F(1), F(3)):
        (walk,) = walks_of(searching("swap", epsilon, two_sided=False), data, None)
        assert chance_beyond(walk, 10 * largest) < 1e-4


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_without_a_scale_octaves_are_searched_under_add_remove(unit):
    """From 20 nats on the walk over octaves halts above ten times the largest record with less than 1e-3."""
    data = np.random.default_rng(1).lognormal(3, 0.8, 200) * unit
    for epsilon in (F(1, 10), F(1, 3), F(1), F(3)):
        (walk,) = walks_of(searching("add-remove", epsilon, two_sided=False), data, None)
        assert chance_beyond(walk, 10 * data.max()) < 1e-3


def test_a_clip_is_wider_than_where_a_walk_inward_halts():
    """By so many candidates more than where the walk halts; a width of 0 stays 0."""
    data, start = np.random.default_rng(2).normal(0, 1, 1000), ClipStart(F(0), 0, F(1, 2))
    search = searching("swap", F(1))
    plain = replace(search, tuning=replace(CLIP_TUNING, widened=0))
    for wide, narrow in zip(
        *(one.walks(one.deviations(viewed(data), start), start) for one in (search, plain)), strict=True
    ):
        assert wide.inward
        near = slice(60, -1)  # the first candidates are the ends of the ladder
        assert (wide.candidates[near] - narrow.candidates[near] == CLIP_TUNING.widened).all()
        assert wide.candidates[-1] == narrow.candidates[-1] == 0


@pytest.mark.parametrize("octave", [None, 0, 5])
def test_a_walk_inward_counts_the_records_beyond_the_next_candidate(octave):
    """Lowered by the same for all data; at the last candidate, 0, it counts all of them."""
    data, start = 1e3 * np.random.default_rng(3).standard_cauchy(500), ClipStart(F(0), octave, F(1, 2))
    search = searching("add-remove", F(1), two_sided=False)
    search = replace(search, tuning=replace(CLIP_TUNING, widened=0))
    (walk,), (none,) = (search.walks(search.deviations(viewed(some), start), start) for some in (data, data[:0]))
    tops = [finite_float(search.width_at(rung, octave)) for rung in walk.candidates.tolist()]
    beyond = [int(np.sum(np.abs(data) >= top)) for top in tops[1:]]  # a rung holds its lower edge, not its upper one
    assert (levels_of(walk) - levels_of(none)).tolist() == [*beyond[:-1], 500, 500]


def levels_of(walk):
    """The level at each position."""
    return walk.walk.levels[np.searchsorted(walk.walk.starts, np.arange(walk.walk.length), side="right") - 1]


def chance_beyond(walk, value):
    """P(the width is beyond the rung of a value)."""
    law, rung = Law(walk.walk), int(DEVIATIONS.rungs(np.array([value]))[0])
    first = int((walk.candidates > rung).sum()) if walk.inward else rung + 1
    tail = float(law.tail([first])[0])
    return 1 - tail if walk.inward else tail


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_clip_is_trusted_where_records_suffice(relation):
    """From about ten nats of the walk on a clip is trusted; slack is taken off first."""
    data, bits = np.arange(1000) % 50, random.Random(3).getrandbits
    search = searching(relation, F(1, 3))
    assert found_by(search, data, 1000, 0, bits).trusted
    assert not found_by(search, data, 1000, 990, bits).trusted
    assert not found_by(search, data, 20, 0, bits).trusted


# --- the law of a clip --------------------------------------------------------------------------------------------

CASES = {
    # name: search, records, whether a frame is bought
    "magnitudes": (searching("add-remove", F(1, 3), two_sided=False), lambda rng: rng.lognormal(3, 0.8, 1000), True),
    "octaves": (searching("add-remove", F(1, 3), two_sided=False), lambda rng: rng.lognormal(3, 0.8, 100), False),
    "few": (searching("swap", F(3)), lambda rng: rng.normal(0, 1, 60), False),
    "outward": (searching("swap", F(2)), lambda rng: rng.normal(-1, 3, 400), True),
    "centred": (searching("add-remove", F(1, 2)), lambda rng: rng.normal(1000, 1, 600), True),
}


@pytest.mark.medium
@pytest.mark.parametrize("case", CASES)
def test_the_law_of_a_clip_is_that_of_the_search(case):
    """Its probabilities add up to 1 but for what is left out, and 600 searches follow it (chi-square on each side)."""
    search, draw, framed = CASES[case]
    records = draw(np.random.default_rng(5))
    size = len(records)
    assert (search.frame(size) is not None) == framed
    parts = clip_law(search, floats(records), size, least_scale=1e-4)
    assert sum(part.chance for part in parts) == pytest.approx(1, abs=5e-3)
    bits = random.Random(11).getrandbits
    data = viewed(records)
    found = [Draw(bits).run(search.program(data, size, 0)) for _ in range(600)]
    for side in ("low", "high"):
        widths, masses = [], []
        for part in parts:
            chances = getattr(part, f"{side}_chances")
            assert chances.sum() == pytest.approx(1, abs=1e-4)
            widths.append(np.abs(getattr(part, f"{side}s") - part.center))
            masses.append(part.chance * chances)
        widths, masses = np.concatenate(widths), np.concatenate(masses)
        drawn = np.array([abs(float(getattr(one, side) - one.center)) for one in found])
        assert chi_square(drawn, widths, masses / masses.sum()) > 1e-9
        assert chi_square(drawn * 1.3, widths, masses / masses.sum()) < 1e-9  # it would see widths 30% off


def chi_square(drawn, values, masses):
    """The p-value of draws in about ten bands of a discrete law."""
    drawn, values = np.round(drawn, 9), np.round(values, 9)  # around a large centre floats tell no more
    order = np.argsort(values)
    values, up_to = values[order], np.cumsum(masses[order])
    cuts = np.unique(values[np.searchsorted(up_to, np.linspace(0, 1, 11)[1:-1])])
    expected = np.diff([0.0, *up_to[np.searchsorted(values, cuts, side="right") - 1], 1.0]) * len(drawn)
    counted = np.diff([0, *np.searchsorted(np.sort(drawn), cuts, side="right"), len(drawn)])
    keep = expected > 1
    return stats.chisquare(counted[keep], expected[keep] * counted[keep].sum() / expected[keep].sum()).pvalue


def test_octaves_begin_at_powers_of_two():
    """A candidate is tilted from the octave of the scale on."""
    for k in (-40, -3, 0, 7, 1000):
        rungs = DEVIATIONS.rungs(np.array([2.0**k, np.nextafter(2.0 ** (k + 1), 0), 2.0 ** (k + 1)]))
        assert _octaves_beyond(rungs, k).tolist() == [1, 1, 2]


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("epsilon", [0.1, 1, 1.9])
def test_no_noisy_size_costs_more_than_is_charged(centered, epsilon):
    """The rho of all parts is at most that of the plan, whatever part of epsilon a noisy size gives to the clip."""
    facts = column(np.arange(10.0)).public(False)
    plan = SumPlan.of(facts, Terms.of(epsilon, None, "add-remove"), Stated(), centered)
    spent = []
    for size in np.geomspace(1, 1e12, 200).astype(int).tolist():
        parts = plan.at(size).parts()
        assert sum(part.epsilon for part in parts.values()) == plan.cost().epsilon
        spent.append(sum(part.rho for part in parts.values()))
    assert 0.99 * plan.cost().rho <= max(spent) <= plan.cost().rho
