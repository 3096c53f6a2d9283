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
from nobounds.clipping.average import AverageRule
from nobounds.clipping.clip import Search
from nobounds.clipping.plan import SumPlan
from nobounds.clipping.vectors import VectorPlan
from nobounds.engines.streams import local
from nobounds.groups import driver as group_driver
from nobounds.groups.key_selection import KeySelection, _best_chances
from nobounds.mechanisms import above_threshold
from nobounds.mechanisms.decisions import Noisy, NoisyMany
from nobounds.mechanisms.hits import Reached
from nobounds.mechanisms.sparse_vector import Rates
from nobounds.noise.additive import Additive
from nobounds.programs.streams import Waiting
from nobounds.ranks import auto, view
from nobounds.ranks.halving import Halving
from nobounds.ranks.question import Question
from nobounds.ranks.route import Outward, Scaled
from nobounds.statistics import describe, sums
from nobounds.tables import grouping
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


def half_noise(plan, data, real=sums._count):
    """Laplace noise of half its scale."""
    return changed(real(plan, data), partial(noisier, factor=Fraction(1, 2)))


def nearly_all_noise(plan, data, real=sums._count):
    """Noise that is 5 % too small."""
    return changed(real(plan, data), partial(noisier, factor=Fraction(20, 21)))


def own_sampler(plan, data, real=sums._count):
    """Noise by a sampler of its own, and no decision."""
    answer = yield from real(replace(plan, public=True), data)
    return replace(answer, value=answer.value + random.randrange(-3, 4))


def bare_if_empty(plan, data, real=sums._count):
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


def raw_parameter(plan, data, real=sums._sum):
    """A sum that tells how many records it read."""
    answer = yield from real(plan, data)
    return replace(answer, parameters={**answer.parameters, "records": sums.totals(data.chunks())[0]})


def no_missing(plan, data, real=sums._count):
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


def noise_of_the_upper_bound(plan, data, real=sums._sum):
    """A sum whose noise is for its upper bound, where the lower one is larger."""
    _, high = plan.search.ladder.lower, plan.search.ladder.upper
    largest = max(int(high or 1), 1)

    def change(decision):
        return (
            replace(decision, sensitivity=min(decision.sensitivity, largest))
            if isinstance(decision, Noisy)
            else decision
        )

    return (yield from changed(real(plan, data), change))


def counts_for_free(data, plan, real=describe._count):
    """A summary whose counts get twice the epsilon that they are charged."""
    return changed(real(data, plan), partial(noisier, factor=Fraction(1, 4)))


# --- clips -----------------------------------------------------------------------------------------------------------


def one_walk_for_two(self, sides, eps1, eps2):
    """Two walks outward at the price of one."""
    return pure(monotonic(eps1, eps2).epsilon)


def never_is_wide(self, candidates, position, real=Search.width):
    """A walk inward that never halted gets the widest clip, and so tells that it saw the last candidate."""
    return real(self, candidates, 0 if position is None else position)


def free_scale(self, view, size, real=Search.start):
    """A scale that nothing is taken from epsilon for."""
    start = yield from real(self, view, size)
    return replace(start, left=self.epsilon)


def raw_center(self, view, size, real=Search.start):
    """A clip around the true median."""
    start = yield from real(self, view, size)
    around = self.deviations(view, start.center)
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


def raw_level(self, view, routes):
    """The route by the number of records itself."""
    yield from ()
    return self.size.known if self.size.known is not None else view.total


def free_level(self):
    """A size that costs nothing."""
    return pure(Fraction(0))


def raw_sign(self, q, problem, view):
    """The side by the counts themselves."""
    yield from ()
    decision = view.negative(q, self.eps_sign, problem.neighbors, lambda: pure(self.eps_sign))
    return self.negative if decision.number > 0 else self.positive


def raw_scale(self, q, problem, view):
    """The scale by the records themselves: the largest of them."""
    yield from ()
    highest = np.abs(view.coarse.ladder.map.floats(view.coarse.rungs)).max(initial=0.5)
    return self.at(min(max(int(np.log2(highest)), -10), 100))


def exact_when_few(self, view, real=Question.program):
    """Records are looked at between two decisions, where there are few of them."""
    values = yield from real(self, view)
    coarse = view.coarse
    return tuple(float(coarse.ladder.value(int(coarse.rungs[0]))) for _ in values) if coarse.total == 1 else values


def levels_for_one(self, pieces, histogram, setting, cost, real=Halving._chosen):
    """All levels of a recursion with the epsilon of all of them."""
    return real(replace(self, each=2 * self.each), pieces, histogram, setting, cost)


def halves_both_ways(self, slope):
    """Slices under swap at the rate of add-remove."""
    return self.each / (2 * max(slope, 1 - slope))


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


def whole_for_each(self, rows):
    """The noise of a unit as if it had one row."""
    return self


def all_rows(batches, keys, values, bounding, real=local.bounded):
    """All rows of each unit."""
    return real(batches, keys, values, replace(bounding, rows=1 << 30, groups=1 << 30))


def one_group_each(self):
    """Keys as if a unit had one group."""
    return _best_chances(self.epsilon, self.delta, 1)


def double_delta(self):
    """Keys at twice their delta."""
    return _best_chances(self.epsilon, 2 * self.delta, self.groups_per_unit)


class FreeKeys(PrivacyLoss):
    """A loss without that of the keys."""

    @classmethod
    def approximate(cls, both, delta, unit):
        return PrivacyLoss.approximate(both / (1 + grouping.KEY_SHARE), delta, unit=unit)


def everything(self, spending):
    """All of epsilon for the statistic, and keys besides."""
    return Terms(spending)


def group_sizes_raw(program, view, decide, past=(), real=group_driver.ways):
    """Groups go on by their number of records, not by a noisy one."""
    if program.func is not None and getattr(program.func, "__name__", "") == "learned" and not past:
        totals = view.groups.take(view.who).totals
        for total in np.unique(totals).tolist():
            yield int(total), view.only(np.flatnonzero(totals == total))
        return
    yield from real(program, view, decide, past)


COST, RHO = "times the epsilon|tells .* of epsilon", "times the rho|tells .* of rho"
PRICE = f"{COST}|the decisions cost"
DECIDES, RELEASES, FAILS = "Apart: one run (decides|ends)", "Apart: release", "Apart: .*data contain NaN"
KEYED_SUM = "group_by, private keys, sum"
PRIVATE, PUBLIC = "group_by, private keys, count", "group_by, public keys, quantile at a level"

PLANTED = {
    "noise at half its scale": ("count", COST, [(sums, "_count", half_noise)]),
    "noise 5 % too small": ("count", COST, [(sums, "_count", nearly_all_noise)]),
    "a sampler of its own": ("count", RELEASES, [(sums, "_count", own_sampler)]),
    "no noise if there are no data": ("count", DECIDES, [(sums, "_count", bare_if_empty)]),
    "a branch on the raw size": ("sum", DECIDES, [(SumPlan, "size", raw_size)]),
    "an error bar over the raw count": ("mean", RELEASES, [(AverageRule, "release", raw_divisor)]),
    "a raw parameter": ("sum", RELEASES, [(sums, "_sum", raw_parameter)]),
    "an error about a record": ("count", FAILS, [(sums, "_count", no_missing)]),
    "a bare sum in a mean": ("mean", RELEASES, [(AverageRule, "release", one_sum_bare)]),
    "noise for one of two bounds": ("sum", COST, [(sums, "_sum", noise_of_the_upper_bound)]),
    "counts of a summary at twice the price": ("describe", COST, [(describe, "_count", counts_for_free)]),
    "two walks for the price of one": ("sum", COST, [(Search, "outward_cost", one_walk_for_two)]),
    "never halting told from halting last": ("mean", DECIDES, [(Search, "width", never_is_wide)]),
    "a scale for free": ("sum", PRICE, [(Search, "start", free_scale)]),
    "a clip around the true median": ("mean", f"{RELEASES}|{DECIDES}", [(Search, "start", raw_center)]),
    "a clip that is not charged, for users": ("Table.sum", PRICE, [(SumPlan, "cost", clip_not_charged)]),
    "a size that is not charged, with keys": (KEYED_SUM, PRICE, [(SumPlan, "cost", size_not_charged)]),
    "one radius under swap": ("vector_sum", RHO, [(VectorPlan, "sensitivity", one_radius)]),
    "a quarter of the variance of vectors": ("vector_mean", RHO, [(VectorPlan, "total", quarter_variance)]),
    "half the noise on queries": ("maximum", COST, [(view, "walk_of", half_query_noise)]),
    "half the noise on thresholds": ("quantile, walk", COST, [(view, "walk_of", double_eps1)]),
    "too little noise for swap": ("quantile, flip", COST, [(auto, "rank_sensitivity", added_sensitivity)]),
    "a route by the raw size": ("quantile, at a level", f"{RELEASES}|{DECIDES}", [(Question, "learned", raw_level)]),
    "a size for free": ("maximum", PRICE, [(Question, "_size_cost", free_level)]),
    "a branch on the raw sign": ("quantile, auto", f"{RELEASES}|{DECIDES}", [(Outward, "settled", raw_sign)]),
    "a scale without noise": ("quantile, auto", f"{RELEASES}|{DECIDES}", [(Scaled, "settled", raw_scale)]),
    "the record itself where there is one": ("minimum", RELEASES, [(Question, "program", exact_when_few)]),
    "twice the epsilon for each level": ("quantiles", COST, [(Halving, "_chosen", levels_for_one)]),
    "slices under swap at half their noise": ("quantiles", COST, [(Halving, "rate", halves_both_ways)]),
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
    "rows per unit forgotten": ("Table.count", PRICE, [(Unit, "loss", one_row), (Spending, "each", whole_for_each)]),
    "rows of a unit not bounded": ("Table.sum", COST, [(local, "bounded", all_rows)]),
    "groups by their raw sizes": (PUBLIC, f"{RELEASES}|{DECIDES}", [(group_driver, "ways", group_sizes_raw)]),
    "groups per unit forgotten": (PRIVATE, COST, [(KeySelection, "_chances", one_group_each)]),
    "twice delta for keys": (PRIVATE, COST, [(KeySelection, "_chances", double_delta)]),
    "keys for free": (PRIVATE, PRICE, [(grouping.Grouping, "_terms", everything), (grouping, "PrivacyLoss", FreeKeys)]),
}


@contextmanager
def planted(patches):
    """With these mistakes in the library, and plans made anew."""
    with ExitStack() as stack:
        for owner, name, wrong in [*planned_anew(), *patches]:
            stack.enter_context(patch.object(owner, name, wrong))
        yield


def planned_anew():
    """What makes every plan anew: the functions behind those of `ranks` and `clipping` that keep plans.

    Plans that are kept have no mistake in them, and none that has one is kept.
    """
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "nobounds"]
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    for owner in [*modules, *(kind for kind in kinds if kind.__module__.startswith("nobounds."))]:
        for name, held in list(vars(owner).items()):
            kept = getattr(held, "__func__", held)
            if hasattr(kept, "cache_info") and kept.__module__.startswith(("nobounds.ranks.", "nobounds.clipping.")):
                plain = kept.__wrapped__
                yield owner, name, classmethod(plain) if isinstance(held, classmethod) else plain


def is_found(bug):
    """Whether two runs in lockstep show a bug, in the way that it is to show."""
    statistic, how, patches = PLANTED[bug]
    with planted(patches):
        pairs = (replace(case, pairs=[pair]) for case in CASES[statistic] for pair in case.pairs)
        return any(re.search(how, complaint) for one in pairs for complaint in explore([one]).wrong)
