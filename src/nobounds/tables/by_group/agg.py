"""Several statistics of each group for one epsilon: one choice of keys, noisy counts that are bought once, one split.

The keys come first, where they are chosen privately: from then on they are as good as public. Noisy counts of the
groups follow. What is left is split by what each statistic needs at the median of these counts, and each is answered
for all groups by its own program. The cost is proven in docs/proofs/agg.md.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from nobounds.accounting.loss import PrivacyLoss
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.ask import Ask
from nobounds.clipping.needed import COMMON
from nobounds.exact import round_up
from nobounds.ladders.facts import Facts
from nobounds.programs.program import Program
from nobounds.release.answers import Answers
from nobounds.release.grouped import GroupedRelease
from nobounds.release.shares import shared
from nobounds.statistics.door import INSIDE
from nobounds.statistics.split import NATS, RANKS, AggPlan, Name, column_of
from nobounds.tables.by_group.answers import GroupedColumn, Learned
from nobounds.values import dataclass

COUNTS = Fraction(1, 20)  # of what is split, for counts of groups that are not requested
LEARNING = ("median", "quantile", "minimum", "maximum")  # they go by the noisy count of each group

Part = Callable[[tuple[Any, ...] | None, Ask, dict[str, Any], Learned | None], Program[Any]]
"""The program of a statistic of the groups with some keys, from its spending and from counts that are learned."""


@dataclass(frozen=True, slots=True)
class GroupSplit:
    """What the counts of groups get, and what is left for the statistics; all of it public."""

    asks: tuple[Ask, ...]
    facts: dict[Name, Facts]
    spending: Spending  # after the choice of keys
    counted: dict[Name, Fraction]
    left: Fraction

    @classmethod
    def of(cls, asks: tuple[Ask, ...], facts: dict[Name, Facts], spending: Spending) -> "GroupSplit":
        """A count that is requested gets as much as any other statistic, and other counts little."""
        requested = {column_of(ask) for ask in asks if ask.statistic == "count"}
        others = {counts_of(ask, facts) for ask in asks if learns(ask)} - requested
        counted = {name: spending.amount / len(asks) for name in facts if name in requested}
        left = spending.amount - sum(counted.values(), Fraction(0))
        counted |= {name: COUNTS * left / len(others) for name in facts if name in others}
        return cls(asks, facts, spending, counted, left - (COUNTS * left if others else 0))

    def parts(self, counts: dict[Name, GroupedRelease]) -> list[Fraction]:
        """What each statistic gets for noisy counts; 0 for counts, which are bought already."""
        return self.parts_at({name: _middling(release) for name, release in counts.items()})

    def parts_at(self, sizes: dict[Name, int]) -> list[Fraction]:
        """The same for the size of a middling group.

        Where a middling group cannot carry all statistics, a larger one may: then each gets the same.
        """
        needs = [self._need(ask, sizes) for ask in self.asks]
        if sum((need for need in needs if need is not None), Fraction(0)) > self.left:
            needs = [None if need is None else Fraction(0) for need in needs]
        return shared(self.left, needs)

    def _need(self, ask: Ask, sizes: dict[Name, int]) -> Fraction | None:
        size = sizes.get(counts_of(ask, self.facts), max(sizes.values(), default=0))
        if ask.statistic == "count":
            return None
        if ask.statistic in COMMON:
            epsilon = Fraction(self.facts[column_of(ask)].unit.rows * COMMON[ask.statistic], max(size, 1))
            return epsilon**2 / 2 if self.spending.zcdp else epsilon
        if ask.statistic not in RANKS and ask.statistic not in NATS:
            return Fraction(0)
        plan = AggPlan(self.asks, self.facts, Terms(self.spending), {}, self.left)
        return plan.need(ask, dict.fromkeys(ask.columns, max(size, 1)))

    def described(self, parts: list[Fraction], keys: Fraction | None) -> dict[str, float]:
        """What each statistic, the choice of keys and other counts got."""
        requested = {ask.name: self.counted[column_of(ask)] for ask in self.asks if ask.statistic == "count"}
        others = sum(self.counted.values(), Fraction(0)) - sum(requested.values(), Fraction(0))
        named = {ask.name: requested.get(ask.name, part) for ask, part in zip(self.asks, parts, strict=True)}
        amounts = {"keys": keys or Fraction(0), "counts": others} | named
        return {name: round_up(amount) for name, amount in amounts.items() if amount}


def learns(ask: Ask) -> bool:
    """Whether a statistic goes by counts that were bought before it; one with an interval buys its own."""
    return ask.statistic in LEARNING and "interval" not in dict(ask.options)


def numbers_of(ask: Ask) -> list[Ask]:
    """The numbers that a statistic of groups gives, each by its name: two bounds, or several quantiles."""
    if ask.statistic == "bounds":
        return [Ask(name, ask.columns) for name in ("minimum", "maximum")]
    return [Ask("quantile", ask.columns, (q,)) for q in ask.q] if ask.statistic == "quantiles" else [ask]


def counts_of(ask: Ask, facts: dict[Name, Facts]) -> Name:
    """Whose counts a statistic goes by: those of its column, or of the rows where no record can be missing."""
    column = column_of(ask)
    return None if column is not None and not facts[column].nullable and None in facts else column


def agg_program(
    data: GroupedColumn, split: GroupSplit, loss: PrivacyLoss, part: Part, described: dict[str, Any]
) -> Program[Answers]:
    """All answers; `data` are the rows by group, whose keys may have to be chosen."""
    chosen, keys, spent = data.selection, data.keyed.known, list[PrivacyLoss]()
    if chosen is not None:
        keys = (yield from data.rows()).keys
        spent.append(PrivacyLoss.approximate(chosen.epsilon, chosen.delta, unit=loss.unit))
    assert keys is not None
    counts: dict[Name, GroupedRelease] = {}
    for name, amount in split.counted.items():
        of_rows = Ask("count", () if name is None else (name,))
        counts[name] = yield from part(keys, of_rows, _amount(split, amount), None)
        spent.append(counts[name].loss)
    parts = split.parts(counts)
    releases: dict[str, GroupedRelease] = {}
    for ask, amount in zip(split.asks, parts, strict=True):
        if ask.statistic == "count":
            releases[ask.name] = _also(counts[column_of(ask)], reduce(add, spent), described)
            continue
        learned = _learned(counts[counts_of(ask, split.facts)]) if learns(ask) else None
        given = yield from part(keys, ask, _amount(split, amount), learned)
        each: dict[str, Any] = dict(given.releases) if isinstance(given, Answers) else {ask.name: given}
        releases |= {
            name: _also(release, reduce(add, [*spent, release.loss]), described) for name, release in each.items()
        }
    parameters = described | {"split": split.described(parts, None if chosen is None else chosen.epsilon)}
    return Answers(releases, loss, parameters)


def _amount(split: GroupSplit, amount: Fraction) -> dict[str, Any]:
    return {"rho" if split.spending.zcdp else "epsilon": amount, "rng": INSIDE}


def _learned(counts: GroupedRelease) -> Learned:
    gaussian = counts.parameters["noise"] == "gaussian"
    return Learned(np.asarray(counts.values), float(counts.parameters["noise_scale"]), gaussian)


def _middling(counts: GroupedRelease) -> int:
    """The median noisy count of the groups in which rows are seen."""
    seen = counts.values[_learned(counts).seen]
    return int(np.median(seen.astype(np.float64))) if len(seen) else 0


def _also(release: GroupedRelease, loss: PrivacyLoss, described: dict[str, Any]) -> GroupedRelease:
    """A release with what it costs alone, and how its keys were chosen."""
    keys = {name: described[name] for name in ("keys", "units_to_show") if name in described}
    return replace(release, loss=loss, parameters=release.parameters | keys)
