"""The second look: what it says between its exact rungs, and that answers from it are those of the full histogram."""

import math
import random
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from nobounds.counting import kept, second_look
from nobounds.counting.histogram import Histogram
from nobounds.counting.second_look import Counts
from nobounds.ladders.frame import Frame
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import smallest_float
from nobounds.ladders.steps import walk_ladder
from nobounds.mechanisms.exponential_mechanism import weighted_rung
from nobounds.mechanisms.flip import flip_rung
from nobounds.mechanisms.runs import Runs
from nobounds.mechanisms.skip_ahead import halt_position
from nobounds.noise.source import random_source
from nobounds.ranks.route import ChoiceRoute, Route, placed
from nobounds.ranks.view import View, walk_of

MAX = float(np.finfo(float).max)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 37.0, 0.5, 1e-300, -5e-324, 1e300, -MAX, MAX, math.inf, -math.inf, math.nan]

record = st.one_of(
    st.sampled_from(SPECIAL), st.floats(-100, 100), st.integers(-50, 50).map(float), st.floats(), st.floats(-1e-9, 1e-9)
)
records = st.lists(record, max_size=40).map(lambda values: np.array(values, dtype=float))
bounds = st.sampled_from([(None, None), (F(0), None), (None, F(20)), (F(-7, 2), F(30)), (F(5), F(1000))])
units = st.sampled_from([F(1), F(1, 100), F(1, 3), F(10), F(2) ** -30, F(2) ** 60])


EVEN, ABOVE = Ladder.grid(F(1, 64), 6), walk_ladder(5, False)


@st.composite
def ladder_pairs(draw):
    """A coarse ladder, and one with more bits or another unit between the same bounds, or in a frame."""
    limits = draw(bounds)
    bits, more = draw(st.integers(0, 10)), draw(st.integers(0, 30))
    if draw(st.booleans()):
        coarse = Ladder.float_bits(bits)
        fine = draw(st.sampled_from([Ladder.float_bits(bits + more), Ladder.float_bits(more), coarse]))
    else:
        coarse = Ladder.grid(draw(units), bits)
        fine = coarse.finest(bits + more, -100)
    if draw(st.booleans()):
        frame = Frame(draw(st.floats(-100, 100)), draw(st.integers(-40, 300)), getattr(coarse.map, "unit", None))
        return coarse.limited(*limits), placed(draw(st.sampled_from([EVEN, ABOVE])), frame)
    return coarse.limited(*limits), fine.limited(*limits)


def counts_of(values, ladder, chunk=7):
    return Counts.of(lambda: (values[i : i + chunk] for i in range(0, len(values), chunk)), ladder)


def within(histogram, first, last):
    """The occupied rungs from `first` to `last`, their counts, and the records below and above."""
    inside = (histogram.rungs >= first) & (histogram.rungs <= last)
    before = histogram.below(first)
    kept = histogram.counts[inside]
    return histogram.rungs[inside].tolist(), kept.tolist(), before, histogram.total - before - int(kept.sum())


@pytest.mark.medium
@given(ladder_pairs(), records, st.floats(-60, 60), st.floats(0, 60))
@example((Ladder.float_bits(3), Ladder.float_bits(20)), np.array([]), 0.0, 1.0)
@example((Ladder.float_bits(3), Ladder.float_bits(20)), np.array([1.0, math.inf, math.inf, -math.inf]), 3.0, 0.0)
@settings(deadline=None, max_examples=500)
def test_a_second_look_agrees_with_the_full_histogram(ladders, values, low, width):
    """Between the exact rungs all counts are the true ones, and every rung whose ranks touch the window is exact."""
    coarse, fine = ladders
    counts = counts_of(values, coarse)
    near, full = counts.around(fine, low, low + width), counts.full(fine)
    first, last = near.exact
    assert near.total == full.total == int(np.count_nonzero(~np.isnan(values)))
    assert fine.first <= first and last <= fine.last
    assert within(near, first, last) == within(full, first, last)
    below, up_to = full.up_to - full.counts, full.up_to
    touched = full.rungs[(below <= low + width) & (up_to >= low)]
    assert np.all((touched >= first) & (touched <= last))
    # Empty rungs touch the window where the number of records below them lies in it.
    edges = np.concatenate([[fine.first - 1], full.rungs, [fine.last + 1]])
    for left, right, rank in zip(edges[:-1], edges[1:], np.concatenate([[0], up_to]), strict=True):
        if right - left > 1 and low <= rank <= low + width:
            assert first <= left + 1 and right - 1 <= last


@pytest.mark.medium
@pytest.mark.parametrize(("most", "many"), [(1 << 20, 1 << 18), (0, 1 << 18), (0, 2)])
@given(ladder_pairs(), records, st.lists(st.tuples(st.floats(-5, 40), st.floats(0, 9)), min_size=1, max_size=4))
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_look_around_several_ranks_agrees_with_the_full_histogram(monkeypatch, most, many, ladders, values, windows):
    """Every rung whose ranks touch a window has its records, and those before it; none is lost in between."""
    monkeypatch.setattr(kept, "MOST", most)
    monkeypatch.setattr(second_look, "MANY", many)
    coarse, fine = ladders
    counts = counts_of(values, coarse)
    intervals = [(low, low + width) for low, width in sorted(windows)]
    (near, exact), full = counts.near(fine, intervals), counts.full(fine)
    assert near.total == full.total
    for (low, high), (first, last) in zip(intervals, exact, strict=True):
        touched = full.rungs[(full.up_to - full.counts <= high) & (full.up_to >= low)]
        assert np.all((touched >= first) & (touched <= last))
        assert within(near, first, last) == within(full, first, last)


DATA = {
    "lognormal": np.random.default_rng(1).lognormal(0, 1, 12_000),
    "both signs": np.random.default_rng(2).normal(0.1, 3, 12_000),
    "ties": np.random.default_rng(3).integers(-5, 20, 12_000).astype(float),
    "odd": np.concatenate([np.random.default_rng(4).normal(0, 1e9, 12_000), [math.nan, math.inf, -math.inf] * 50]),
}
COARSE = Ladder.float_bits(6)
FINE = [Ladder.float_bits(11), placed(Ladder.grid(F(1, 512), 9), Frame(0.5, 2)), Ladder.grid(F(1, 8), 10)]


def routes(ladder):
    yield ChoiceRoute(ladder, F(1), F(1, 2), again=True)
    yield ChoiceRoute(ladder, F(1), F(1, 2), True, again=True)
    yield Route(ladder, True, ladder.first, ladder.last, F(1, 2), F(1, 2), again=True)
    yield Route(ladder, False, ladder.last, ladder.first, F(1, 2), F(1, 2), -1, again=True)


def drawn(histogram, full, route, q, seed):
    """The position or rung that a route selects, from this histogram, with random bits from a seed."""
    source = random_source(random.Random(seed))
    if isinstance(route, ChoiceRoute):
        select = weighted_rung if route.exponential else flip_rung
        return select(Runs.of(histogram, q, route.rate), source, lambda: Runs.of(full(), q, route.rate))
    walk = walk_of(histogram, q, route, "exponential")
    return halt_position(walk, source, lambda: walk_of(full(), q, route, "exponential"))


def run_of(found, full, route, q):
    """The run of equal ranks that a rung lies in: balls read more bits, so the rung among its equals may be another."""
    if not isinstance(route, ChoiceRoute):
        return found
    return int(np.searchsorted(Runs.of(full, q, route.rate).starts, found, side="right"))


@pytest.mark.medium
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("q", [F(1, 10), F(1, 2), F(19, 20)], ids=str)
def test_an_answer_by_second_look_is_that_of_the_full_histogram(name, q):
    """From the same random bits both give the same rung, by flip, exponential, a walk up and a walk down."""
    counts = counts_of(DATA[name], COARSE, 1000)
    partial = 0
    for ladder in FINE:
        full = counts.full(ladder)
        for route in routes(ladder):
            near = View(counts).look(q, route)
            partial += near.exact != (ladder.first, ladder.last)
            for seed in range(4):
                assert drawn(near, lambda f=full: f, route, q, seed) == drawn(full, lambda f=full: f, route, q, seed)
    assert partial > 6  # the second look really left something out


@pytest.mark.medium
@pytest.mark.parametrize("q", [F(1, 10), F(1, 2)], ids=str)
def test_a_look_that_is_too_narrow_is_not_trusted(q):
    """Where the exact rungs are too few to decide, the full histogram is asked for, and the answer is its answer."""
    counts = counts_of(DATA["both signs"], COARSE, 1000)
    ladder, asked = Ladder.float_bits(10), []
    full = counts.full(ladder)

    def ask():
        asked.append(1)
        return full

    for route in routes(ladder):
        rank = float(q * full.total)
        narrow = counts.around(ladder, rank - 1, rank + 1)
        assert len(narrow.rungs) < len(full.rungs) / 10
        before = len(asked)
        for seed in range(12):
            found, wanted = drawn(narrow, ask, route, q, seed), drawn(full, lambda: full, route, q, seed)
            assert run_of(found, full, route, q) == run_of(wanted, full, route, q)
        assert len(asked) > before


@pytest.mark.medium
def test_exact_rungs_that_miss_the_answer_are_not_trusted():
    """A histogram that claims less than it has is asked less: the answer stays that of the full one."""
    counts = counts_of(DATA["lognormal"], COARSE, 1000)
    ladder, q = Ladder.float_bits(9), F(1, 2)
    full = counts.full(ladder)
    middle = int(full.rungs[np.searchsorted(full.up_to, full.total // 2)])
    for route in routes(ladder):
        asked = []
        claimed = replace(full, exact=(middle, middle))
        for seed in range(12):
            found = drawn(claimed, lambda a=asked: a.append(1) or full, route, q, seed)
            assert run_of(found, full, route, q) == run_of(drawn(full, lambda: full, route, q, seed), full, route, q)
        assert asked


MAPS = [
    Ladder.float_bits(0),
    Ladder.float_bits(8, floor=-1022),
    Ladder.float_bits(30),
    Ladder.grid(1),
    Ladder.grid(F(1, 100), 12),
    Ladder.grid(F(1, 3), 0),
    Ladder.geometric(F(3, 2)),
    Ladder.uniform(-3, 7, 100),
]


@pytest.mark.medium
@pytest.mark.parametrize("ladder", MAPS, ids=lambda ladder: str(ladder.describe()))
@given(at=st.floats(0, 1), value=st.floats(allow_nan=False, allow_infinity=False))
@settings(deadline=None, max_examples=40)
def test_the_smallest_float_of_a_rung_begins_it(ladder, at, value):
    """The smallest float of a rung lies on it, its predecessor on a lower rung, and so for both ends of a span."""
    width = ladder.last - ladder.first
    for rung in {int(ladder.rungs(np.array([value]))[0]), ladder.first + int(at * width)}:
        if ladder.first < rung <= ladder.last:
            low = smallest_float(ladder.map, rung)
            reached, before = ladder.rungs(np.array([low, math.nextafter(low, -math.inf)]))
            assert reached >= rung > before  # a rung may hold no float at all, if its grid is finer than floats
            assert ladder.span(rung, ladder.last) == (low, math.inf)
            assert ladder.span(ladder.first, rung - 1) == (-math.inf, math.nextafter(low, -math.inf))
        assert (ladder.rungs(np.array([value]))[0] == rung) <= (ladder.span(rung, rung)[0] <= value)
    assume(ladder.first < ladder.last)
    assert ladder.span(ladder.first, ladder.last) == (-math.inf, math.inf)


def test_counts_on_the_same_ladder_are_the_coarse_ones():
    """Nothing is read again for the ladder that was counted on, and the records stay hidden."""
    counts = Counts(Histogram.of([np.array([1.0, 2.0])], COARSE), lambda: 1 / 0)
    assert counts.full(COARSE) is counts.around(COARSE, 0, 1) is counts.coarse
    assert "hidden" in repr(counts)


@pytest.mark.medium
def test_finer_counts_of_many_records_never_reach_beyond_the_coarse_ones(monkeypatch):
    """In a frame, a rung may be wider than coarse rungs: what is left out first must not be counted as a part later."""
    rng = np.random.default_rng(1)
    for _ in range(600):
        n = int(rng.integers(1, 400))
        sign = rng.choice([-1, 1])
        kinds = (rng.normal(size=n) * 10, sign * np.exp(3 * rng.normal(size=n)), sign * (100 + rng.random(n)))
        data = kinds[rng.integers(3)]
        monkeypatch.setattr(second_look, "MANY", int(rng.integers(1, 10)))
        counts = Counts.of(lambda data=data: [data], Ladder.float_bits(int(rng.integers(1, 9))))
        frame = Frame(float(rng.choice(data)), int(rng.integers(-20, 20)))
        inner = Ladder.grid(F(1, 64), 6) if rng.random() < 0.5 else walk_ladder(int(rng.integers(1, 6)), False)
        ladder = placed(inner, frame)
        low = rng.uniform(-3, n + 3, 2)
        ranks = list(zip(low, low + rng.choice([0, 0.5, 3, 20], 2), strict=True))
        full, (near, exact) = counts.full(ladder), counts._counted(ladder, ranks)
        assert near.total == n
        for first, last in exact:
            assert within(near, first, last) == within(full, first, last)
