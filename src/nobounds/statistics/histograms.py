"""Histogram and cumulative distribution of data whose bounds nobody knows: the public functions.

A record is in one bin, so noise on the counts of all bins costs as much as noise on one of them. Edges are public, or
round ones around two noisy quartiles that a quarter of epsilon buys; the first and the last bin are open.
"""

import math
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.loss import PrivacyLoss
from nobounds.arrays import Floats
from nobounds.clipping.interval import CHANCE
from nobounds.counting.second_look import Counts
from nobounds.engines.column import Column
from nobounds.engines.memory.arrays import column
from nobounds.exact import finite_float, shown
from nobounds.kinds.kind import Kind
from nobounds.ladders.facts import Facts
from nobounds.programs.program import Program
from nobounds.ranks.view import View
from nobounds.release.frames import answer_array
from nobounds.release.grouped import GroupedRelease
from nobounds.release.words import TOO_FEW
from nobounds.statistics.bins.consistent import rising, with_total
from nobounds.statistics.bins.edges import LEAST, MOST, Edges, counts_between, stated_edges
from nobounds.statistics.bins.plan import BinPlan
from nobounds.statistics.bins.shares import share_intervals
from nobounds.statistics.door import Request, admit
from nobounds.statistics.keywords import CdfKeywords, HistogramKeywords, spelled_out, stated_of, terms_of

BINS = 20  # where edges are chosen privately
SURE = 4  # standard deviations of its noise that the total must have for shares of it

Answers = tuple[tuple[Any, ...], NDArray[Any], Floats, tuple[str | None, ...] | None]  # keys, values, ends, reasons


@spelled_out
def histogram(data: object, **options: Unpack[HistogramKeywords]) -> GroupedRelease:
    """A private histogram: the number of records in each bin, from an edge to just below the next, with 95% intervals.

    The first bin has all records below the first edge, and the last bin those from the last edge on. With `edges` they
    are public; without, round edges are chosen privately for a quarter of epsilon, from one interquartile range below
    the lower quartile to one above the upper. With too few records for that, all of them are in one bin. No count is
    below 0, and all of them add up to the noisy total. Missing records are in no bin.

    >>> import random
    >>> ages = [18 + i % 60 for i in range(6000)]
    >>> print(histogram(ages, edges=[20, 40, 60], epsilon=1, rng=random.Random(1)))
    bin         histogram  95% interval
    below 20          200  197 to 203
    20 to 40        1,998  1,995 to 2,001
    40 to 60        2,000  1,997 to 2,003
    60 or more      1,800  1,797 to 1,803
    For epsilon 1 (add-remove, per row; rho 0.4622)
    """
    return _binned("histogram", data, "edges", options, _counts)


@spelled_out
def cdf(data: object, **options: Unpack[CdfKeywords]) -> GroupedRelease:
    """A private cumulative distribution: the share of records up to each point, with 95% intervals for the sample.

    The points are public, or round ones are chosen privately as the edges of a `histogram`. Shares never fall, and lie
    between 0 and 1. Each is a sum of noisy counts between points over the noisy total. With an epsilon and up to 50
    points, its largest variance is below that of every tree of counts; with more points, or a rho, a tree would do
    better.

    >>> import random
    >>> ages = [18 + i % 60 for i in range(6000)]
    >>> print(cdf(ages, points=[30, 50, 65], epsilon=1, rng=random.Random(1)))
    up_to     cdf  95% interval
    30     0.2167  0.2162 to 0.2173
    50     0.5498  0.5493 to 0.5504
    65     0.7999  0.7994 to 0.8005
    For epsilon 1 (add-remove, per row; rho 0.4622)
    """
    return _binned("cdf", data, "points", options, _shares)


def _binned(
    statistic: str,
    data: object,
    name: str,
    options: Any,
    answer: Callable[[BinPlan, Edges, list[int], Kind, bool], Answers],
) -> GroupedRelease:
    terms, stated, given = terms_of(options), stated_of(options), options.get(name)
    bins, closed = bins_of(options.get("bins"), given, name), statistic == "cdf"
    if given is not None and (options.get("lower") is not None or options.get("upper") is not None):
        raise ValueError(f"lower and upper are for {name} that are not given: records beyond the {name} count anyway")

    def plan(facts: Facts) -> BinPlan:
        edges = None if given is None else stated_edges(given, facts.kind, name)
        return BinPlan.of(facts, terms, stated, edges, bins)

    def released(plan: BinPlan, facts: Facts, data: Column, loss: PrivacyLoss) -> Program[GroupedRelease]:
        edges, needed = yield from plan.settled(lambda outer: View(Counts.of(data.chunks, outer.ladder)))
        noisy = yield from plan.noisy(counts_between(data.chunks(), edges, closed))
        keys, values, ends, reasons = answer(plan, edges, noisy, facts.kind, facts.integral)
        noise = plan.counting.noise
        parameters: dict[str, Any] = {name: "public" if plan.outer is None else "private", "total": max(sum(noisy), 0)}
        parameters |= {"noise": noise.name, "noise_scale": noise.scale(1)}
        if not closed:
            parameters["half_interval"] = _half(plan)
        parameters["interval"] = {"level": 1 - CHANCE, "of": "sample"}
        parameters |= {"needed": needed} if needed else {}
        parameters |= facts.origin() | terms.spending.breakdown(plan.parts(), facts.unit)
        by = ("up_to",) if closed else ("from", "to")
        return GroupedRelease(statistic, by, keys, values, loss, parameters, ends, None, reasons)

    request = Request(
        terms.neighbors,
        plan,
        lambda plan, facts: facts.unit.loss(plan.cost(), terms.neighbors),
        lambda facts: facts.purpose(statistic),
        released,
        sized=given is None,
    )
    return admit(request, column(data), options.get("budget"), options.get("rng"))


def bins_of(bins: Any, given: Any, name: str) -> int:
    """The number of bins, checked."""
    if bins is None:
        return BINS
    if given is not None:
        raise ValueError(f"give {name} (public), or bins (the {name} are chosen privately), got both")
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or not LEAST <= bins <= MOST:
        raise ValueError(f"bins must be a whole number from {LEAST} to {MOST}, got bins={shown(bins)}")
    return int(bins)


def _counts(plan: BinPlan, edges: Edges, noisy: list[int], kind: Kind, integral: bool) -> Answers:
    """Bins and their counts; an open end has no value."""
    values = np.array(with_total(noisy), dtype=np.int64 if max(map(abs, noisy)) < 1 << 53 else object)
    bar = _half(plan)
    middle = np.array(noisy, dtype=np.float64)
    real = values.astype(np.float64)
    ends = np.column_stack([np.minimum(middle - bar, real), np.maximum(middle + bar, real)])
    marks = _values(edges, kind, integral)
    keys = answer_array([None, *marks], kind), answer_array([*marks, None], kind)
    return keys, values, np.maximum(ends, 0), None


def _half(plan: BinPlan) -> float:
    """Half an interval for the noise of one count."""
    noise = plan.counting.noise
    return float(math.ceil(noise.half_interval(noise.scale(1), 0.0, CHANCE)))  # the noise is a whole number


def _shares(plan: BinPlan, edges: Edges, noisy: list[int], kind: Kind, integral: bool) -> Answers:
    """Points and the shares of records up to them, masked where the total is too small for shares."""
    noise, total = plan.counting.noise, sum(noisy)
    scale = noise.scale(1)
    keys = (answer_array(_values(edges, kind, integral), kind),)
    spread = scale * (len(noisy) * (1 if noise.zcdp else 2)) ** 0.5
    if total <= SURE * spread or not edges:
        none = np.ma.array(np.zeros(len(edges)), mask=np.ones(len(edges), dtype=bool))
        return keys, none, np.tile([0.0, 1.0], (len(edges), 1)), (TOO_FEW,) * len(edges)
    ends = share_intervals(noisy, scale, noise.zcdp, CHANCE)
    values = rising(np.cumsum(noisy)[:-1] / total)
    ends = np.column_stack([np.minimum(ends[:, 0], values), np.maximum(ends[:, 1], values)])
    return keys, values, ends, None


def _values(edges: Edges, kind: Kind, integral: bool) -> list[Any]:
    """Edges as values of the column."""
    whole = integral and all(edge.denominator == 1 for edge in edges)
    return [kind.value(int(edge) if whole else finite_float(edge)) for edge in edges]
