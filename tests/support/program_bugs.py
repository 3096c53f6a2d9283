"""Bugs planted in the programs of the library: what is wrong, a statistic that shows it, how, and what is replaced.

Each replacement is a wrong version of code that releases. The audit runs that code on neighbouring data; nothing of the
audit is replaced.
"""

import random
import re
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import partial
from unittest.mock import patch

import numpy as np

from nobounds.accounting.cost import general, monotonic, pure
from nobounds.accounting.loss import PrivacyLoss, Unit
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.auditing.lockstep import explore
from nobounds.clipping import tail
from nobounds.clipping.average import AverageRule
from nobounds.clipping.clip import Search
from nobounds.clipping.plan import SumPlan
from nobounds.clipping.tail import TailRule
from nobounds.clipping.vectors import VectorPlan
from nobounds.counting.lattice import totals
from nobounds.engines.source import Bounding
from nobounds.engines.streams import local
from nobounds.groups import driver as group_driver
from nobounds.groups import key_counts
from nobounds.groups.key_selection import KeySelection, _best_chances
from nobounds.groups.view import GroupsView
from nobounds.ladders.frame import roundest
from nobounds.mechanisms import above_threshold
from nobounds.mechanisms.decisions import Noisy, NoisyMany
from nobounds.mechanisms.hits import Reached
from nobounds.mechanisms.joint import stretches
from nobounds.mechanisms.sparse_vector import Rates
from nobounds.noise.additive import Additive
from nobounds.programs.streams import Waiting
from nobounds.ranks import auto, view
from nobounds.ranks.framing import Around, FrameRule, prior_choice
from nobounds.ranks.intervals.extremes import ExtremesPlan
from nobounds.ranks.intervals.interval import IntervalPlan
from nobounds.ranks.intervals.percentiles import Percentiles
from nobounds.ranks.many import halving
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.many.joint import JointRule
from nobounds.ranks.question import Question
from nobounds.ranks.view import HistogramView
from nobounds.statistics import agg, describe, quantiles, split, sums
from nobounds.statistics.bins.plan import BinPlan, Counting
from nobounds.statistics.describe import DescribePlan
from nobounds.tables import distinct
from nobounds.tables.by_group import agg as group_agg
from nobounds.tables.by_group import grouping, key_choice, one_by_one
from nobounds.tables.by_group import sums as group_sums
from support.lockstep_cases import CASES


def noisier(decision, factor):
    """A noisy number with this part of its noise, at the same price."""
    return replace(decision, noise=replace(decision.noise, epsilon=decision.noise.epsilon / factor))


def changed(program, change):
    """A program whose decisions are changed before they are settled."""
    outcome = None
    while True:
        try:
            decision = program.send(outcome)
        except StopIteration as end:
            return end.value
        outcome = yield change(decision)


# --- counts, sums and means ------------------------------------------------------------------------------------------


def half_noise(plan, data, real=sums.counted):
    """Laplace noise of half its scale."""
    return changed(real(plan, data), partial(noisier, factor=Fraction(1, 2)))


def nearly_all_noise(plan, data, real=sums.counted):
    """Noise that is 5% too small."""
    return changed(real(plan, data), partial(noisier, factor=Fraction(20, 21)))


def own_sampler(plan, data, real=sums.counted):
    """Noise by a sampler of its own, and no decision."""
    answer = yield from real(replace(plan, public=True), data)
    return replace(answer, value=answer.value + random.randrange(-3, 4))


def bare_if_empty(plan, data, real=sums.counted):
    """A count that is exact where it is 0."""
    if not len(np.concatenate([*data.chunks(), np.zeros(0)])):
        plan = replace(plan, public=True)
    return (yield from real(plan, data))


def raw_size(self, view):
    """The number of records itself, where it only decides what is done next."""
    decision = view.number(Additive(self.eps_size or Fraction(1)), self._size_cost)
    yield from ()
    return decision.number


def raw_divisor(self, count, total, width, real=AverageRule.release):
    """A mean whose error bar is over the raw number of records."""
    average = yield from real(self, count, total, width)
    return replace(average, count=Fraction(count))


def raw_parameter(plan, data, spending, real=sums._sum):
    """A sum that tells how many records it read."""
    answer = yield from real(plan, data, spending)
    return replace(answer, parameters={**answer.parameters, "records": sums.totals(data.chunks())[0]})


def no_missing(plan, data, real=sums.counted):
    """An error that tells of a missing record."""
    if any(np.isnan(chunk).any() for chunk in data.chunks()):
        raise ValueError("data contain NaN")
    return (yield from real(plan, data))


def one_sum_bare(self, count, total, width, real=AverageRule.release):
    """A mean whose second sum gets no noise."""
    program = real(self, count, total, width)
    if not isinstance(decision := next(program), NoisyMany):
        return (yield from real(self, count, total, width))
    above = yield decision.parts[0]
    try:
        program.send((above, decision.numbers[1]))
    except StopIteration as end:
        return end.value


def noise_of_the_upper_bound(plan, data, spending, real=sums._sum):
    """A sum whose noise is for its upper bound, where the lower one is larger."""
    _, high = plan.search.ladder.lower, plan.search.ladder.upper
    largest = max(int(high or 1), 1)

    def change(decision):
        return (
            replace(decision, sensitivity=min(decision.sensitivity, largest))
            if isinstance(decision, Noisy)
            else decision
        )

    return (yield from changed(real(plan, data, spending), change))


def counts_for_free(data, view, plan, real=describe._count):
    """A summary whose counts get twice the epsilon that they are charged."""
    return changed(real(data, view, plan), partial(noisier, factor=Fraction(1, 4)))


class Counted(int):
    """A noisy count that remembers the number of records itself."""

    raw = 0


def remembered_count(data, view, plan, real=describe._count):
    """A count of a summary as it should be, that remembers the number of records."""
    count = Counted((yield from real(data, view, plan)))
    count.raw = totals(data.chunks())[0]
    return count


def occupied_alone(program, records, k, facts):
    """A program that looks whether a group has rows."""

    def one():
        if records.starts[k] == records.starts[k + 1]:
            return None
        return (yield from program(records.group(k, facts)))

    return one


def whole_for_each_statistic(amount, needs):
    """All of what is left for each statistic of a request."""
    return [Fraction(0) if need is None or need > amount else amount for need in needs]


def remembered_size(data, real=sums.count, **options):
    """The size of a column as it should be, that remembers the number of records."""
    release = yield from real(data, **options)
    size = Counted(release.value)
    size.raw = totals(data.chunks())[0]
    return replace(release, value=size)


def raw_careful(sizes):
    """Sizes that are the numbers of records themselves."""
    return {name: release.value.raw for name, release in sizes.items()}


def raw_sizes(self, facts, counts, rows):
    """A summary whose shares go by the numbers of records themselves."""
    return {name: count.raw for name, count in counts.items()}


def whole_for_each_column(self, facts, sizes, real=DescribePlan.shares):
    """A summary in which each column gets what is left for all of them."""
    return real(replace(self, spending=replace(self.spending, amount=self.spending.amount * len(sizes))), facts, sizes)


# --- clips -----------------------------------------------------------------------------------------------------------


def one_walk_for_two(self, sides, eps1, eps2):
    """Two walks outward at the price of one."""
    return pure(monotonic(eps1, eps2).epsilon)


def never_is_wide(self, candidates, position, real=Search.rung):
    """A walk inward that never halted gets the widest clip, and so tells that it saw the last candidate."""
    return real(self, candidates, 0 if position is None else position)


def one_cell(self):
    """Octaves as if a record that moves changed one of them."""
    return 1


def near_twice(center, side, real=group_sums._beyond_half):
    """Records of a group near its clip that count twice."""
    counted = real(center, side)
    return lambda values: 2 * counted(values)


def octaves_twice(around, sign, anchor, real=tail.cells):
    """Octaves that count each record twice."""
    return real(around, sign, anchor) * 2


def free_frame(self, view, size, real=Search.start):
    """A frame that nothing is taken from epsilon for."""
    start = yield from real(self, view, size)
    return replace(start, left=self.epsilon)


def raw_center(self, view, size, real=Search.start):
    """A clip around the true median."""
    start = yield from real(self, view, size)
    around = self.deviations(view, replace(start, octave=None))
    middle = int(np.searchsorted(around.up_to, around.total // 2 + 1)) if around.total else 0
    off = float(around.ladder.map.floats(around.rungs[middle : middle + 1])[0]) if around.total else 0.0
    return replace(start, center=self.within(start.center + Fraction(off)))


def clip_not_charged(self, real=SumPlan.cost):
    """A plan that forgets what its clip costs."""
    return self._size_cost() + self._noise_cost()


def size_not_charged(self, real=SumPlan.cost):
    """A plan that forgets what its size costs."""
    return self.search.cost() + self._noise_cost()


def one_radius(self, ball):
    """Vectors that move by one radius, where two may be swapped."""
    return ball.radius


def quarter_variance(self, numbers, ball, noise, real=VectorPlan.total):
    """A quarter of the variance on a sum of vectors."""
    decision = real(self, numbers, ball, noise)
    return replace(decision, sensitivity=max(decision.sensitivity // 2, 1))


# --- quantiles -------------------------------------------------------------------------------------------------------


def half_query_noise(*args, real=view.walk_of):
    """Walks with half the noise on their queries."""
    walk = real(*args)
    return replace(walk, eps2=2 * walk.eps2) if walk.noise == "exponential" else walk


def double_eps1(*args, real=view.walk_of):
    """Walks with half the noise on their threshold."""
    walk = real(*args)
    return replace(walk, eps1=2 * walk.eps1) if walk.noise == "exponential" else walk


def added_sensitivity(q, neighbors):
    """How far a record that is added moves a rank, where one may be swapped."""
    return max(q, 1 - q)


def raw_level(self, view):
    """The plan by the number of records itself."""
    yield from ()
    return self.size.known if self.size.known is not None else view.total


def free_level(self):
    """A size that costs nothing."""
    return pure(Fraction(0))


def whole_epsilon(problem, q, epsilon, weighted, zcdp):
    """Permute-and-flip under zCDP at the price of the exponential mechanism."""
    return epsilon, epsilon / (2 * auto.rank_sensitivity(q, problem.neighbors))


def exact_when_few(self, view, size=None, real=Question.program):
    """Records are looked at between two decisions, where there are few of them."""
    values = yield from real(self, view, size)
    coarse = view.coarse
    return tuple(float(coarse.ladder.value(int(coarse.rungs[0]))) for _ in values) if coarse.total == 1 else values


def levels_for_one(self, pieces, histogram, setting, cost, real=Halving._chosen):
    """All levels of a recursion with the epsilon of all of them."""
    return real(self, pieces, histogram, replace(setting, each=2 * setting.each), cost)


def halves_both_ways(self, slope, each):
    """Slices under swap at the rate of add-remove."""
    return each / (2 * max(slope, 1 - slope))


def rate_for_one(self):
    """All quantiles at once at the sensitivity of one of them."""
    return self.epsilon / 2


def added_rate(self):
    """All quantiles at once under swap at the rate of add-remove, where the smallest gap is large."""
    return self.epsilon / (2 * self.added)


def half_joint_noise(self, view, real=JointRule.stretches):
    """All quantiles at once with half their noise."""
    made = real(self, view)
    return replace(made, rate=2 * made.rate)


def gaps_by_records(self, view, real=JointRule.stretches):
    """Targets that follow from the records: the first gap is that of the first rung with records."""
    made = real(self, view)
    part = Fraction(int(made.ranks[1]), made.total) if made.total else Fraction(0)
    return replace(made, gaps=(made.gaps[0] - part / 8, made.gaps[1] + part / 8, *made.gaps[2:]))


def untied(rungs, counts, places, real=stretches.spread):
    """Ties that are spread anew with each record more."""
    spots, held = real(rungs, np.ones_like(counts), places)
    even = (rungs[:, None] * places + np.arange(1, 4) * places // 4).ravel()
    return (even, np.repeat(-(-counts // 3), 3)) if len(rungs) else (spots, held)


def tilt_by_records(starts, levels, route, real=view._tilted):
    """A tilt that is raised once more at the last record."""
    return real(starts, levels, replace(route, cuts=tuple(sorted((*route.cuts, *starts[-1:].tolist() * 4)))))


# --- the prior and the frame -----------------------------------------------------------------------------------------


def prior_by_records(self, q, route, cost, real=HistogramView.choose):
    """A prior that weighs the octaves more that hold a record."""
    decision = real(self, q, route, cost)

    def heavier(runs):
        if runs.prior is None:
            return runs
        records = runs.starts[runs.above + runs.below == -2]
        held = np.searchsorted(runs.prior.starts, records, side="right") - 1
        units = runs.prior.units.copy()
        units[np.unique(held)] *= 64
        return replace(runs, prior=replace(runs.prior, units=units))

    makers = {name: made for name in ("make", "full") if (made := getattr(decision, name)) is not None}
    return replace(decision, **{name: lambda made=made: heavier(made()) for name, made in makers.items()})


def rate_of_the_median(problem, q, epsilon, bits):
    """The prior choice of any rank with the noise that the median needs."""
    return replace(prior_choice(problem, q, epsilon, bits), rate=epsilon)


def double_rate(histogram, rate, heaped=False, real=view.octave_runs):
    """A scale by a choice with half its noise."""
    return real(histogram, 2 * rate, heaped)


def all_of_it(total, spent, zcdp):
    """What is left after a frame that nothing is taken for."""
    return total


def free_center(self, problem, view, real=FrameRule.program):
    """A centre at no price."""
    free = replace(self, center=replace(self.center, epsilon=Fraction(0)))

    def change(decision):
        is_center = getattr(decision, "runs", None) is not None and decision.runs.rate == self.center.rate
        return (
            replace(decision, cost=lambda: free.center.cost(Fraction(1, 2), problem.neighbors, True))
            if is_center
            else decision
        )

    return changed(real(self, problem, view), change)


def raw_frame(self, problem, view, real=FrameRule.program):
    """A frame at the first record, without noise."""
    frame = yield from real(self, problem, view)
    coarse = view.coarse
    first = float(coarse.ladder.map.floats(coarse.rungs[:1])[0]) if coarse.total else 0.0
    return replace(frame, center=first)


def raw_octave(self, problem, view, real=FrameRule.program):
    """A scale by the largest deviation, without noise."""
    frame = yield from real(self, problem, view)
    octaves = view.octaves(Around(frame.center, frame.unit)).rungs
    return replace(frame, octave=int(octaves.max(initial=0)) - 300)


def two_frames(self, plan, view, real=Question.framed):
    """A frame that is thrown away, and a second one."""
    yield from real(self, plan, view)
    return (yield from real(self, plan, view))


def round_in_the_gap(plan, view, terms, marks, says_rung, real=quantiles._on_a_rung):
    """The roundest number between the two records that an answer lies between."""
    answer = yield from real(plan, view, terms, marks, says_rung)
    records = np.concatenate([[-1e300], view.coarse.ladder.map.floats(view.coarse.rungs), [1e300]])
    place = np.clip(np.searchsorted(records, answer.value), 1, len(records) - 1)
    (value,) = roundest(records[place - 1 : place], records[place : place + 1]).tolist()
    return replace(answer, value=value)


# --- streams ---------------------------------------------------------------------------------------------------------


def one_hit(self):
    """The cost of one hit, however many there are."""
    return [(monotonic if self.is_monotonic else general)(self.eps1, self.eps2)]


def half_threshold_noise(fresh, *args, real=above_threshold.hits_of):
    """A threshold with half its noise."""
    return real(replace(fresh, eps1=2 * fresh.eps1), *args)


def half_stream_noise(fresh, *args, real=above_threshold.hits_of):
    """Queries with half their noise."""
    return real(replace(fresh, eps2=2 * fresh.eps2), *args)


def never_ends(fresh, hits=1, renewed=True):
    """Hits without an end."""
    found, position = (), 0
    noisy = yield fresh
    while True:
        query = yield Waiting(found)
        if (yield Reached(noisy, query)):
            found = (*found, position)
        position += 1


def bare_queries(fresh, hits=1, renewed=True):
    """Queries without noise, compared with a threshold without noise."""
    found, position = (), 0
    yield fresh
    while len(found) < hits:
        query = yield Waiting(found)
        if query >= fresh.threshold:
            found = (*found, position)
        position += 1
    return found


# --- units, groups and keys ------------------------------------------------------------------------------------------


def one_row(self, cost, neighbors):
    """The loss of a unit as if it had one row."""
    return PrivacyLoss.of(cost, neighbors, self.name)


def one_bin(self):
    """The cost of one count, where a record that moves changes two."""
    return self.noise.cost()


def free_edges(self):
    """The cost of the counts alone."""
    return self.counting.cost()


def edges_at_records(self, view, real=BinPlan.settled):
    """Edges as they should be, and where they are not public one more at the number of records."""
    edges, needed = yield from real(self, view)
    if self.outer is None:
        return edges, needed
    size = int(view(self.outer).coarse.total)
    return tuple(sorted({*edges, Fraction(size)})), needed


def unbounded(unit, rows, groups, salt):
    """As many values of a unit as it has."""
    return Bounding(unit, rows, rows, salt)


def whole_for_each(self, rows):
    """The noise of a unit as if it had one row."""
    return self


def all_rows(rows, keys, bounding, firsts, real=local.bounded):
    """All rows of each unit."""
    return real(rows, keys, replace(bounding, rows=1 << 30, groups=1 << 30), firsts)


def one_group_each(self):
    """Keys as if a unit had one group."""
    return _best_chances(self.epsilon, self.delta, 1)


def double_delta(self):
    """Keys at twice their delta."""
    return _best_chances(self.epsilon, 2 * self.delta, self.groups_per_unit)


def limit_for_a_row(rate, delta, rows, real=key_counts._limits):
    """Noise of counts that ends where it may for units of one row."""
    return real(rate, delta, 1)


def limit_of_double_delta(rate, delta, rows, real=key_counts._limits):
    """Noise of counts that ends too early, at twice its delta."""
    return real(rate, 2 * delta, rows)


@property
def rate_of_half_the_noise(self):
    """Counts of keys with half of their noise."""
    return 2 * self.epsilon / self.rows_per_unit


class FreeKeys(PrivacyLoss):
    """A loss without that of the keys."""

    @classmethod
    def approximate(cls, both, delta, unit):
        return PrivacyLoss.approximate(both / (1 + key_choice.KEY_SHARE), delta, unit=unit)


def everything(self, spending):
    """All of epsilon for the statistic, and keys besides."""
    return Terms(spending)


def group_sizes_raw(question, everyone, decide, sizes, real=group_driver.sized):
    """Groups go on by their number of records, not by a noisy one."""
    return real(question, everyone, decide, everyone.groups.totals)


def group_scales(self, around, rate, cost, real=GroupsView.spread):
    """Scales of groups by choices with a quarter of their noise; half of it tells hardly more than it costs."""
    return real(self, around, 4 * rate, cost)


def group_frames_raw(self, codes, real=GroupsView.table):
    """Frames of groups by their number of records as well."""
    return real(self, codes + self.groups.take(self.who).totals % 2)


# --- intervals -------------------------------------------------------------------------------------------------------


def half_end_noise(self, epsilon, real=IntervalPlan.rate):
    """Both ends of an interval with half their noise."""
    return 2 * real(self, epsilon)


def half_walk_noise(self, q, epsilon, real=ExtremesPlan._route):
    """A walk to an extreme with half its noise."""
    return real(self, q, 2 * epsilon)


def ends_by_the_raw_size(self, view):
    """Ends that aim by the number of records itself."""
    yield from ()
    return view.total


def counts_of_one_record(self):
    """Percentiles as if a record that moves changed one count."""
    return 1


COST, RHO = "times the epsilon|tells .* of epsilon", "times the rho|tells .* of rho"
SUM = "the decisions cost"
PRICE = f"{COST}|{SUM}"
DECIDES, RELEASES, FAILS = "Apart: one run (decides|ends)", "Apart: release", "Apart: .*data contain NaN"
KEYED_SUM, GROUPED = "group_by, private keys, sum", "group_by, public keys, quantile"
COUNTED = "Table.value_counts"  # keys that their noisy counts choose
PRIVATE, PUBLIC = "group_by, private keys, count", "group_by, public keys, quantile at a level"

PLANTED = {
    "noise at half its scale": ("count", COST, [(sums, "counted", half_noise)]),
    "noise 5% too small": ("count", COST, [(sums, "counted", nearly_all_noise)]),
    "a sampler of its own": ("count", RELEASES, [(sums, "counted", own_sampler)]),
    "no noise if there are no data": ("count", DECIDES, [(sums, "counted", bare_if_empty)]),
    "a branch on the raw size": ("sum", DECIDES, [(SumPlan, "size", raw_size)]),
    "an error bar over the raw count": ("mean", RELEASES, [(AverageRule, "release", raw_divisor)]),
    "a raw parameter": ("sum", RELEASES, [(sums, "_sum", raw_parameter)]),
    "an error about a record": ("count", FAILS, [(sums, "counted", no_missing)]),
    "a bare sum in a mean": ("mean", RELEASES, [(AverageRule, "release", one_sum_bare)]),
    "noise for one of two bounds": ("sum", COST, [(sums, "_sum", noise_of_the_upper_bound)]),
    "counts of a summary at twice the price": ("describe", COST, [(describe, "_count", counts_for_free)]),
    "shares by the raw size": (
        "describe",
        DECIDES,
        [(describe, "_count", remembered_count), (DescribePlan, "sizes", raw_sizes)],
    ),
    "the whole for each of several statistics": ("Table.agg", SUM, [(split, "shared", whole_for_each_statistic)]),
    "several statistics by raw sizes": (
        "Table.agg",
        f"{RELEASES}|{DECIDES}",
        [(agg, "count", remembered_size), (split, "_careful", raw_careful)],
    ),
    "what is left for all columns in each": ("describe", SUM, [(DescribePlan, "shares", whole_for_each_column)]),
    "two walks for the price of one": ("sum", COST, [(Search, "outward_cost", one_walk_for_two)]),
    "never halting told from halting last": ("mean", DECIDES, [(Search, "rung", never_is_wide)]),
    "a frame for free": ("sum", PRICE, [(Search, "start", free_frame)]),
    "a clip around the true median": ("mean", f"{RELEASES}|{DECIDES}", [(Search, "start", raw_center)]),
    "a clip that is not charged, for users": ("Table.sum", PRICE, [(SumPlan, "cost", clip_not_charged)]),
    "a size that is not charged, with keys": (KEYED_SUM, PRICE, [(SumPlan, "cost", size_not_charged)]),
    "octaves under swap at half their noise": ("sum", COST, [(TailRule, "sensitivity", property(one_cell))]),
    "octaves that count records twice": ("mean", COST, [(tail, "cells", octaves_twice)]),
    "records of groups near a clip that count twice": (
        "group_by, public keys, sum",
        COST,
        [(group_sums, "_beyond_half", near_twice)],
    ),
    "one radius under swap": ("vector_sum", RHO, [(VectorPlan, "sensitivity", one_radius)]),
    "a quarter of the variance of vectors": ("vector_mean", RHO, [(VectorPlan, "total", quarter_variance)]),
    "half the noise on queries": ("maximum", COST, [(view, "walk_of", half_query_noise)]),
    "half the noise on thresholds": ("quantile, walk", COST, [(view, "walk_of", double_eps1)]),
    "too little noise for swap": ("quantile, flip", COST, [(auto, "rank_sensitivity", added_sensitivity)]),
    "a route by the raw size": ("quantile, at a level", f"{RELEASES}|{DECIDES}", [(Question, "learned", raw_level)]),
    "a size for free": ("maximum", PRICE, [(Question, "_size_cost", free_level)]),
    "the price of the exponential mechanism": ("quantile, flip", SUM, [(auto, "choice_split", whole_epsilon)]),
    "a tilt by the records": ("maximum", COST, [(view, "_tilted", tilt_by_records)]),
    "a prior by the records": ("quantile, auto", COST, [(HistogramView, "choose", prior_by_records)]),
    "all ranks at the noise of the median": ("quantile, auto", COST, [(auto, "prior_choice", rate_of_the_median)]),
    "half the noise on a scale": ("quantile, auto", COST, [(view, "octave_runs", double_rate)]),
    "half the noise on the scale of a sum": ("sum", COST, [(view, "octave_runs", double_rate)]),
    "a frame for free, of a quantile": ("quantile, auto", SUM, [(auto, "rest", all_of_it)]),
    "a frame for free, of quantiles": ("quantiles", SUM, [(halving, "rest", all_of_it)]),
    "a centre at no price": ("quantile, auto", COST, [(FrameRule, "program", free_center)]),
    "a frame at a record": ("quantile, walk", f"{RELEASES}|{DECIDES}", [(FrameRule, "program", raw_frame)]),
    "a scale without noise": ("quantile, auto", f"{RELEASES}|{DECIDES}", [(FrameRule, "program", raw_octave)]),
    "a frame that is bought twice": ("quantile, auto", SUM, [(Question, "framed", two_frames)]),
    "rounded in the gap between records": ("quantile, auto", RELEASES, [(quantiles, "_on_a_rung", round_in_the_gap)]),
    "the record itself where there is one": ("minimum", RELEASES, [(Question, "program", exact_when_few)]),
    "twice the epsilon for each level": ("quantiles", COST, [(Halving, "_chosen", levels_for_one)]),
    "all quantiles at the sensitivity of one": ("quantiles", SUM, [(JointRule, "rate", property(rate_for_one))]),
    "all quantiles under swap at the rate of add-remove": (
        "quantiles",
        SUM,
        [(JointRule, "rate", property(added_rate))],
    ),
    "all quantiles at half their noise": ("quantiles", COST, [(JointRule, "stretches", half_joint_noise)]),
    "targets of gaps by the records": ("quantiles", f"{DECIDES}|{COST}", [(JointRule, "stretches", gaps_by_records)]),
    "ties spread anew with each record": ("quantiles", COST, [(stretches, "spread", untied)]),
    "slices under swap at half their noise": ("quantiles", COST, [(Halving, "rate", halves_both_ways)]),
    "ends at half their noise": ("quantile, interval", COST, [(IntervalPlan, "rate", half_end_noise)]),
    "walks to an end at half their noise": ("maximum, interval", SUM, [(ExtremesPlan, "_route", half_walk_noise)]),
    "ends by the raw size": (
        "quantile, interval",
        f"{RELEASES}|{DECIDES}",
        [(IntervalPlan, "learned", ends_by_the_raw_size)],
    ),
    "percentiles under swap at the noise of add-remove": (
        "quantile, percentiles",
        COST,
        [(Percentiles, "sensitivity", property(counts_of_one_record))],
    ),
    "marks by the raw size": ("quantile, marks", f"{RELEASES}|{DECIDES}", [(Question, "learned", raw_level)]),
    "many hits for the price of one": ("SparseVector, classical", COST, [(Rates, "costs", one_hit)]),
    "a stream's threshold at half its noise": (
        "AboveThreshold",
        COST,
        [(above_threshold, "hits_of", half_threshold_noise)],
    ),
    "a stream's queries at half their noise": (
        "AboveThreshold",
        COST,
        [(above_threshold, "hits_of", half_stream_noise)],
    ),
    "a stream that never ends": ("AboveThreshold", f"{COST}|{RELEASES}", [(above_threshold, "hits_of", never_ends)]),
    "a stream without noise": ("AboveThreshold", f"{RELEASES}|{DECIDES}", [(above_threshold, "hits_of", bare_queries)]),
    "a record in one bin alone, under swap": ("histogram", COST, [(Counting, "cost", one_bin)]),
    "edges for free": ("histogram", f"{SUM}|{PRICE}", [(BinPlan, "cost", free_edges)]),
    "edges at the records": ("histogram", f"{RELEASES}|{DECIDES}", [(BinPlan, "settled", edges_at_records)]),
    "values per unit forgotten": (
        "Table.count_distinct",
        PRICE,
        [(Unit, "loss", one_row), (Spending, "each", whole_for_each)],
    ),
    "values of a unit not bounded": ("Table.count_distinct", COST, [(distinct, "Bounding", unbounded)]),
    "rows per unit forgotten": ("Table.count", PRICE, [(Unit, "loss", one_row), (Spending, "each", whole_for_each)]),
    "rows of a unit not bounded": ("Table.sum", COST, [(local, "bounded", all_rows)]),
    "groups by their raw sizes": (PUBLIC, f"{RELEASES}|{DECIDES}", [(group_driver, "sized", group_sizes_raw)]),
    "a quarter of the noise on the scales of groups": (PUBLIC, COST, [(GroupsView, "spread", group_scales)]),
    "frames of groups by their raw sizes": (
        GROUPED,
        f"{RELEASES}|{DECIDES}",
        [(GroupsView, "table", group_frames_raw)],
    ),
    "the whole for each statistic of groups": (
        "group_by, public keys, agg",
        PRICE,
        [(group_agg, "shared", whole_for_each_statistic)],
    ),
    "programs for occupied groups alone": (
        "group_by, public keys, describe",
        f"{RELEASES}|{DECIDES}|{FAILS}|Apart",
        [(one_by_one, "_on_group", occupied_alone)],
    ),
    "rows per unit forgotten one by one": (
        "group_by, public keys, quantiles",
        PRICE,
        [(Spending, "each", whole_for_each), (Unit, "loss", one_row)],
    ),
    "groups per unit forgotten": (PRIVATE, COST, [(KeySelection, "_chances", one_group_each)]),
    "twice delta for keys": (PRIVATE, COST, [(KeySelection, "_chances", double_delta)]),
    "noise of counts for units of one row": (COUNTED, COST, [(key_counts, "_limits", limit_for_a_row)]),
    "twice delta for counts of keys": (COUNTED, COST, [(key_counts, "_limits", limit_of_double_delta)]),
    "half the noise on counts of keys": (COUNTED, COST, [(key_counts.KeyCounts, "rate", rate_of_half_the_noise)]),
    "keys for free": (PRIVATE, PRICE, [(grouping.Grouping, "_terms", everything), (grouping, "PrivacyLoss", FreeKeys)]),
}


KEEPING = ("nobounds.ranks.", "nobounds.clipping.", "nobounds.statistics.", "nobounds.groups.")


@contextmanager
def planted(patches):
    """With these mistakes in the library, and plans made anew."""
    with ExitStack() as stack:
        for owner, name, wrong in [*planned_anew(), *patches]:
            stack.enter_context(patch.object(owner, name, wrong))
        yield


def planned_anew():
    """What makes every plan anew: the functions behind those that keep plans, in the rooms of `KEEPING`.

    Plans that are kept have no mistake in them, and none that has one is kept.
    """
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "nobounds"]
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    for owner in [*modules, *(kind for kind in kinds if kind.__module__.startswith("nobounds."))]:
        for name, held in list(vars(owner).items()):
            kept = getattr(held, "__func__", held)
            if hasattr(kept, "cache_info") and kept.__module__.startswith(KEEPING):
                plain = kept.__wrapped__
                yield owner, name, classmethod(plain) if isinstance(held, classmethod) else plain


def is_found(bug):
    """Whether two runs in lockstep show a bug, in the way that it is to show."""
    statistic, how, patches = PLANTED[bug]
    with planted(patches):
        pairs = (replace(case, pairs=[pair]) for case in CASES[statistic] for pair in case.pairs)
        return any(re.search(how, complaint) for one in pairs for complaint in explore([one]).wrong)
