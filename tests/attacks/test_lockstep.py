"""Every public statistic in lockstep on neighbouring data: with the same outcome of each draw, all else is the same.

What the outcomes tell of a record adds up to no more than was charged (see `lockstep`); and mistakes that are planted
in the library are found.
"""

import math
import random
import re
import sys
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from support.decisions import Choice, Halt, Stream, halting, laplace_divergence
from support.lockstep import explore
from support.lockstep_cases import CASES
from support.sampler_hooks import HERE, HOOKS, holders

import nobounds as nb
from nobounds.accounting.cost import general, monotonic, pure
from nobounds.accounting.loss import PrivacyLoss, Unit
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.auditing.divergences import renyi
from nobounds.clipping import plan as clip_plans
from nobounds.clipping.average import AverageRule
from nobounds.clipping.clip import Search
from nobounds.counting.histogram import Histogram
from nobounds.engines.streams import local
from nobounds.groups.key_selection import KeySelection, _best_chances
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.exponential_mechanism import weighted_law
from nobounds.mechanisms.flip import flip_law
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.runs import Runs
from nobounds.mechanisms.sparse_law import SparseLaw
from nobounds.mechanisms.sparse_vector import Rates
from nobounds.mechanisms.walk import Walk
from nobounds.noise import additive
from nobounds.ranks import auto, question
from nobounds.statistics import sums as clipped
from nobounds.statistics import vectors
from nobounds.tables import grouping
from nobounds.tables.grouped import GroupedTable
from nobounds.tables.table import Table

# What the worst transcript has to reach, where that is not 0.9 of epsilon. In a summary no record is the worst one for
# all parts at once; vectors have a rho alone, of which a search for the clip does not use all.
BITES = {
    "describe": ("epsilon", 0.8),
    "Table.describe": ("epsilon", 0.75),
    "vector_sum": ("rho", 0.8),
    "vector_mean": ("rho", 0.8),
}
WITHOUT_RUNS = {
    "Budget",
    "BudgetExceeded",
    "Csv",
    "Description",
    "Forecast",
    "GroupedRelease",
    "Histogram",
    "Ladder",
    "Law",
}
WITHOUT_RUNS |= {"PrivacyLoss", "Release", "Table", "explain", "plan"}
KEYS = ("public", "private")

findings = cache(lambda statistic: explore(CASES[statistic]))


def each(statistics):
    """One test for each; those of one statistic share what was found, in one process."""
    return [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in statistics]


@pytest.mark.medium
@pytest.mark.parametrize("statistic", each(CASES))
def test_the_loss_of_every_transcript_is_within_what_was_charged(statistic):
    """Both runs draw, release and are charged the same; log-ratios, ranges and divergences are within the loss."""
    assert not findings(statistic).wrong


@pytest.mark.medium
@pytest.mark.parametrize("statistic", each(CASES))
def test_the_bound_bites(statistic):
    """Some transcript tells nearly as much as was charged."""
    measure, least = BITES.get(statistic, ("epsilon", 0.9))
    assert findings(statistic).ratios[measure] >= least


def test_there_are_two_thousand_transcripts():
    """Four on each pair of data sets: drawn and worst outcomes, both ways."""
    assert sum(4 * len(case.pairs) for cases in CASES.values() for case in cases) >= 2000


def test_every_public_statistic_is_run():
    """Each public name that reads data, and each statistic of a table and of its groups, is among the cases."""
    run = {name.partition(",")[0] for name in CASES}
    assert set(nb.__all__) - WITHOUT_RUNS <= run
    assert {f"Table.{name}" for name in _public(Table) - {"columns", "group_by", "sql"}} <= run
    assert {f"group_by, {keys} keys, {name}" for name in _public(GroupedTable) for keys in KEYS} <= set(CASES)


def _public(kind):
    return {name for name in vars(kind) if not name.startswith("_")}


@pytest.mark.medium
@pytest.mark.parametrize("statistic", each(["quantile, auto", "sum", "Table.sum", "group_by, private keys, mean"]))
def test_all_draws_are_known(statistic):
    """No bits are drawn outside the hooked samplers but the 62 that choose the rows of a unit."""
    assert findings(statistic).bits == ({62} if "." in statistic or "group" in statistic else set())


@pytest.mark.medium
@pytest.mark.parametrize(("owner", "name"), [hook[:2] for hook in HOOKS])
def test_hooks_find_their_samplers(owner, name):
    """Each sampler is where the hooks look for it, and in each module that imports it."""
    assert isinstance(owner, type) or owner in holders(name, getattr(owner, name))


# --- planted mistakes ------------------------------------------------------------------------------------------------


def half_noise(self, sensitivity, bits):
    """Laplace noise of half its scale."""
    return additive.discrete_laplace(2 * self.epsilon / sensitivity, bits)


def own_sampler(rate, bits):
    """Noise by a sampler that nobody knows."""
    return bits(8) % 7 - 3


def other_generator(rate, bits):
    """Noise from a generator that the run was not given."""
    return random.randrange(-3, 4)


def raw_number(rate, bits):
    """No noise where a number only decides what is done next."""
    return 0


def raw_divisor(self, count, total, width, bits, real=AverageRule.release):
    """A mean whose error bar is over the raw number of records."""
    return replace(real(self, count, total, width, bits), count=Fraction(count))


def raw_totals(*args, real=clipped.totals):
    """The raw totals; the run remembers them for `raw_parameter`."""
    HERE.totals = real(*args)
    return HERE.totals


def raw_parameter(*args, real=clipped._answer, **options):
    """A sum that tells how many records it read."""
    found = real(*args, **options)
    return replace(found, parameters={**found.parameters, "records": HERE.totals[0]})


def no_missing(*args, real=clipped.totals):
    """An error that tells of a missing record."""
    chunks = list(args[0])
    if any(np.isnan(chunk).any() for chunk in chunks):
        raise ValueError("data contain NaN")
    return real(chunks, *args[1:])


def one_row(self, cost, neighbors):
    """The loss of a unit as if it had one row."""
    return PrivacyLoss.of(cost, neighbors, self.name)


def whole_for_each(self, rows):
    """The noise of a unit as if it had one row."""
    return self


def all_rows(batches, keys, values, bounding, real=local.bounded):
    """All rows of each unit."""
    return real(batches, keys, values, replace(bounding, rows=1 << 30, groups=1 << 30))


def one_hit(self):
    """The cost of one hit, however many there are."""
    return [(monotonic if self.is_monotonic else general)(self.eps1, self.eps2)]


def half_query_noise(*args, real=question.walk_of):
    """Walks with half the noise on their queries."""
    walk = real(*args)
    return replace(walk, eps2=2 * walk.eps2) if walk.noise == "exponential" else walk


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


def added_sensitivity(q, neighbors):
    """How far a record that is added moves a rank, where one may be swapped."""
    return max(q, 1 - q)


def one_walk_for_two(self, sides, eps1, eps2):
    """Two walks outward at the price of one."""
    return pure(monotonic(eps1, eps2).epsilon)


def one_radius(self, ball, variance, real=vectors.VectorPlan.law):
    """Vectors that move by one radius, where two may be swapped."""
    return real(replace(self, neighbors="add-remove"), ball, variance)


def never_is_wide(self, candidates, position, real=Search.width):
    """A walk inward that never halted gets the widest clip, and so tells that it saw the last candidate."""
    return real(self, candidates, 0 if position is None else position)


COST, PRICE_OF_NOISE = "times the epsilon", "times the rho"
DECIDES, RELEASES, FAILS = "Apart: one run decides", "Apart: release", "Apart: .*data contain NaN"
PRIVATE = "group_by, private keys, count"

# What is wrong, the statistic that shows it, how, and what is replaced in the library.
PLANTED = {
    "noise at half its scale": ("count", COST, [(additive.Additive, "draw", half_noise)]),
    "a sampler of its own": ("count", RELEASES, [(additive, "discrete_laplace", own_sampler)]),
    "a generator of its own": ("mean", RELEASES, [(additive, "discrete_laplace", other_generator)]),
    "a branch on the raw size": ("sum", DECIDES, [(clip_plans, "discrete_laplace", raw_number)]),
    "a branch on the raw sign": ("quantile, auto", RELEASES, [(question, "discrete_laplace", raw_number)]),
    "an error bar over the raw count": ("mean", RELEASES, [(AverageRule, "release", raw_divisor)]),
    "a raw parameter": ("sum", RELEASES, [(clipped, "totals", raw_totals), (clipped, "_answer", raw_parameter)]),
    "an error about a record": ("count", FAILS, [(clipped, "totals", no_missing)]),
    "rows per unit forgotten": ("Table.count", COST, [(Unit, "loss", one_row), (Spending, "each", whole_for_each)]),
    "rows of a unit not bounded": ("Table.sum", COST, [(local, "bounded", all_rows)]),
    "many hits for the price of one": ("SparseVector, classical", COST, [(Rates, "costs", one_hit)]),
    "half the noise on queries": ("maximum", COST, [(question, "walk_of", half_query_noise)]),
    "too little noise for swap": ("quantile, flip", COST, [(auto, "rank_sensitivity", added_sensitivity)]),
    "groups per unit forgotten": (PRIVATE, COST, [(KeySelection, "_chances", one_group_each)]),
    "twice delta for keys": (PRIVATE, COST, [(KeySelection, "_chances", double_delta)]),
    "keys for free": (PRIVATE, COST, [(grouping.Grouping, "_terms", everything), (grouping, "PrivacyLoss", FreeKeys)]),
    "two walks for the price of one": ("sum", COST, [(Search, "outward_cost", one_walk_for_two)]),
    "one radius under swap": ("vector_sum", PRICE_OF_NOISE, [(vectors.VectorPlan, "law", one_radius)]),
    "never halting told from halting last": ("mean", DECIDES, [(Search, "width", never_is_wide)]),
}


@pytest.mark.medium
@pytest.mark.parametrize("mistake", PLANTED)
def test_planted_mistakes_are_found(mistake):
    """Each mistake in the library tells two runs apart, or costs more than was charged."""
    statistic, how, patches = PLANTED[mistake]
    with ExitStack() as stack:
        for owner, name, wrong in [*planning_anew(), *patches]:
            stack.enter_context(patch.object(owner, name, wrong))
        wrong = (complaint for case in CASES[statistic] for complaint in explore([case]).wrong)
        assert any(re.search(how, complaint) for complaint in wrong)


def planning_anew():
    """What makes every plan anew: the functions behind those of `ranks` that keep plans, wherever they are held.

    Plans that are kept have no mistake in them, and none that has one is kept.
    """
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "nobounds"]
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    for owner in [*modules, *(kind for kind in kinds if kind.__module__.startswith("nobounds."))]:
        for name, held in list(vars(owner).items()):
            kept = getattr(held, "__func__", held)
            if hasattr(kept, "cache_info") and kept.__module__.startswith("nobounds.ranks."):
                plain = kept.__wrapped__
                yield owner, name, classmethod(plain) if isinstance(held, classmethod) else plain


def test_plans_are_made_anew_where_a_mistake_is_planted():
    """Both places that keep plans are among those that do not: the functions, and the class of questions."""
    places = {(getattr(owner, "__name__", None), name) for owner, name, _ in planning_anew()}
    assert {("nobounds.ranks.plan", "_separately"), ("nobounds.ranks.plan", "_together")} <= places
    assert {("Question", "of"), ("Question", "priced")} <= places


# --- the laws of decisions -------------------------------------------------------------------------------------------

RECORDS = np.array([-3.0, 0.0, 0.5, 0.5, 2.0, 7.0, 7.0, 9.0])
COUNTS = Histogram.of([RECORDS], Ladder.uniform(-5, 10, 60))


@pytest.mark.parametrize("noise", ["exponential", "laplace", "gumbel"])
def test_the_law_of_a_walk_is_that_of_the_library(noise):
    """Of each position, of stretches of them and of never halting."""
    queries = np.searchsorted(RECORDS, np.arange(-5, 10), side="right")
    walk = Walk.of(queries, Fraction(5, 2), eps1=Fraction(1), eps2=Fraction(1), step=Fraction(1, 2), noise=noise)
    known, k = Law(walk).log_pmf(), np.arange(walk.length)
    assert halting(walk, k, k + 1) == pytest.approx(known, abs=1e-9)
    assert [Halt(walk, None)._log_pmf(at) for at in (*k.tolist(), None)] == pytest.approx(known, abs=1e-9)
    assert np.logaddexp.reduce(known[-2:]) == pytest.approx(Halt(walk, None, one_end=True)._log_pmf(None), abs=1e-9)


@pytest.mark.parametrize(("exponential", "law"), [(False, flip_law), (True, weighted_law)])
def test_the_law_of_a_choice_is_that_of_the_library(exponential, law):
    """Permute-and-flip by another integral, and the exponential mechanism."""
    runs = Runs.of(COUNTS, Fraction(1, 3), Fraction(3, 4))
    rungs = np.arange(COUNTS.ladder.first, COUNTS.ladder.last + 1)
    assert Choice.of(runs, exponential, 0).log_pmf(rungs) == pytest.approx(law(runs).log_pmf(), abs=1e-9)


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_the_law_of_a_stream_is_that_of_the_library(noise):
    """Of the answers that were given, and of each that may be the first to differ."""
    law = SparseLaw((0, 3, 1, 2), Fraction(2), 2, Fraction(1), Fraction(1, 2), "classical", noise)
    known = dict(zip(law.patterns, np.exp(law.log_pmf()), strict=True))
    stream = Stream(law.threshold, law.eps1, law.eps2, noise, 1)
    stream.queries, stream.answers = [*map(Fraction, law.queries)], [False, True, False, True]
    *first, given = np.exp(stream.log_pmf())
    assert given == pytest.approx(known[1, 3])
    assert first[0] == pytest.approx(sum(chance for hits, chance in known.items() if hits and hits[0] == 0))
    assert math.fsum([*first, given]) == pytest.approx(1)


@pytest.mark.parametrize("order", [1.5, 2.0, 32.0])
def test_the_divergence_of_laplace_noise_is_its_sum(order):
    """By adding up all terms."""
    j = np.arange(-4000, 4000)
    log_p, log_q = (math.log(math.tanh(0.1)) - 0.2 * np.abs(j - shift) for shift in (0, 7))
    assert laplace_divergence(0.2, 7, order) == pytest.approx(renyi(log_p, log_q, order), rel=1e-9)
