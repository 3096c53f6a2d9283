"""Forecasts of counts of bins, values and distinct units: their noise is known exactly, whatever the data.

A count is never below 0, and counts of bins fit together, so the errors of small counts are smaller than forecast.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.clipping.interval import CHANCE
from nobounds.groups.key_counts import KeyCounts
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.noise.additive import Additive
from nobounds.planning.answerable import ROOM
from nobounds.planning.counts.laws import mean_size, of_shares
from nobounds.planning.errors import Errors
from nobounds.planning.groups import PlannedGroups
from nobounds.statistics.bins.edges import MOST
from nobounds.statistics.bins.plan import BinPlan
from nobounds.statistics.histograms import SURE, bins_of
from nobounds.values import dataclass

VALUED = ("value_counts", "top_k")
BINNED = {"histogram": "edges", "cdf": "points"}  # and what their edges are called
COUNTED = (*BINNED, *VALUED, "count_distinct")
_ROWS = 1000  # that are public under swap, where n is not given; the noise on counts does not depend on it
_SPREADS = 2  # standard deviations of its noise that a total may be too low by


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts of bins or values, or of distinct units; all public.

    grouping: its groups are those of the table, or for `value_counts` and `top_k` the values.
    n: the number of records in each group, if it is given.
    bins: how many there are in each group; 1 for statistics without bins.
    chosen: whether edges are chosen privately.
    """

    statistic: str
    grouping: PlannedGroups
    neighbors: Neighbors
    n: int | None = None
    bins: int = 1
    chosen: bool = False

    @classmethod
    def of(
        cls, statistic: str, grouping: PlannedGroups, neighbors: Neighbors, n: int | None, options: dict[str, Any]
    ) -> "Counted":
        """The counts, checked; options has bins, edges and points, and what is not for counts."""
        if wrong := [name for name, given in options.items() if given is not None and name not in _own(statistic)]:
            raise ValueError(f"{wrong[0]} is not for a forecast of {statistic}: its noise is the same for all data")
        if statistic == "top_k" and grouping.groups == 1:
            raise ValueError("top_k needs groups, the number of values: its intervals hold for all of them together")
        if statistic in VALUED and neighbors == "swap":
            raise ValueError(f"{statistic} needs neighbors='add-remove', got neighbors='swap'")
        if statistic not in BINNED:  # of distinct units, each counts once in as many groups as it may have rows
            grouping = replace(grouping, counting=True)
        bins, chosen = 1, False
        if statistic in BINNED:
            name = BINNED[statistic]
            given = options.get(name)
            most, chosen = bins_of(options.get("bins"), given, name), given is None
            bins = most if chosen else _length(given, name) + 1
        return cls(statistic, grouping, neighbors, None if n is None else grouping.size(n), bins, chosen)

    def noise(self, spending: Spending) -> Additive:
        """The noise on each count."""
        own = self.grouping.spending(spending)
        return self._plan(own).counting.noise if self.statistic in BINNED else own.plan(Additive)

    def _plan(self, spending: Spending) -> BinPlan:
        facts = Facts(False, True, rows=(self.n or _ROWS) if self.neighbors == "swap" else None)
        edges = None if self.chosen else tuple(map(Fraction, range(self.bins - 1)))
        return BinPlan.of(facts, Terms(spending, self.neighbors), Stated.of(None, None, None), edges, self.bins)

    def errors(self, spending: Spending, draws: int = 0) -> Errors:
        """The expected errors of a count, or of a share, for an epsilon or a rho."""
        noise = self.noise(spending)
        scale = noise.scale(1)
        if self.statistic == "cdf":
            if self.n is None:
                raise ValueError("cdf needs n, the number of records: the error of a share depends on it")
            return Errors(None, *(min(error * scale / self.n, 1.0) for error in of_shares(self.bins, noise.zcdp)))
        together = self.grouping.groups if self.statistic == "top_k" else 1
        beyond = -math.expm1(math.log1p(-CHANCE) / together)
        median, most = (noise.half_steps(scale, 0.0, chance) for chance in (0.5, beyond))
        choice = self.grouping.choice(spending)
        if isinstance(choice, KeyCounts):  # a count that is shown has larger noise than others
            most = float(choice.half_interval(beyond))
        return Errors(None, mean_size(noise), median, most)

    def typical(self) -> tuple[float, ...]:
        """The count of one bin or value if all of them have as many records; nothing if that is not known."""
        return () if self.n is None or self.statistic == "cdf" else (self.n / self.bins,)

    def rows(self, spending: Spending, goal: str | None, most: float) -> int:
        """The number of rows with which it is answered, within an expected error if there is a goal."""
        noise, groups = self.noise(spending), self.grouping.groups
        least = self.grouping.needed(spending) or 1
        plan = self._plan(self.grouping.spending(spending))
        if self.chosen and plan.outer is not None:
            least = max(least, math.ceil(plan.needed_rows() + ROOM * plan.outer.size.noise))
        if self.statistic == "cdf":
            spread = noise.scale(1) * math.sqrt(self.bins * (1 if noise.zcdp else 2))
            least = max(least, math.ceil((SURE + _SPREADS) * spread))
        if goal is None:
            return groups * least
        if goal != ("value_error" if self.statistic == "cdf" else "relative_error"):
            wanted = "value_error, of a share" if self.statistic == "cdf" else "relative_error, of a count"
            raise ValueError(f"for {self.statistic} give {wanted}, got {goal}")
        share = self.statistic == "cdf"
        off = noise.scale(1) * of_shares(self.bins, noise.zcdp)[0] if share else self.bins * mean_size(noise)
        return groups * max(least, math.ceil(off / most))

    def stated(self) -> dict[str, Any]:
        """For the parameters of a forecast."""
        known = {"n": self.n, "bins": self.bins if self.statistic in BINNED else None}
        edges = {BINNED[self.statistic]: "private" if self.chosen else "public"} if self.statistic in BINNED else {}
        return {name: value for name, value in known.items() if value is not None} | edges

    def notes(self, spending: Spending) -> tuple[str, ...]:
        """What else a reader should know, at this spending."""
        if self.statistic == "top_k":
            return (
                "The 95% is for all counts together, however the first are chosen. Values with nearly equal counts are "
                "chosen by their noise, and err by more than the average.",
            )
        if self.statistic in BINNED and self.n is not None:
            least = self.rows(spending, None, math.inf) // self.grouping.groups
            what = "all are in one bin" if self.statistic == "histogram" else "shares are mostly not answered"
            return (f"With fewer than {least:,} records {what}.",) if self.n < least else ()
        return ()


def _own(statistic: str) -> tuple[str, ...]:
    """The options of a statistic."""
    return ("bins", BINNED[statistic]) if statistic in BINNED else ()


def _length(given: Any, name: str) -> int:
    """The number of public edges or points."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list of values, got {type(given).__name__}")
    many = len(list(given))
    if not 1 <= many <= MOST:
        raise ValueError(f"{name} must have from 1 to {MOST} values, got {many}")
    return many
