"""What each of several statistics that are requested together will get, and how many rows it needs: `plan_together`.

It uses public facts alone: the statistics, and a number of rows and of groups that the user states.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

from nobounds.accounting.loss import Neighbors, Unit
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.ask import Ask
from nobounds.clipping.needed import COMMON
from nobounds.exact import Number
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.noise.additive import reach
from nobounds.planning.answerable import ROOM, rows_of_common_clip
from nobounds.planning.groups import PlannedGroups
from nobounds.planning.plan import MOST_RECORDS
from nobounds.statistics.split import CAREFUL, AggPlan, Name, column_of
from nobounds.tables.by_group.agg import COUNTS, GroupSplit, counts_of
from nobounds.tables.by_group.key_choice import beside
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class PlannedAsk:
    """One of several statistics: what it gets of the total, and the rows that a group (or the table) needs for it.

    amount: an epsilon or a rho, for all rows of a unit; 0 if the statistic gets nothing.
    """

    ask: Ask
    amount: Fraction
    rows: int
    size: int

    @property
    def answered(self) -> bool:
        """Whether it is answered 95% of the time, in a group of the stated size."""
        return self.amount > 0 and self.size >= self.rows


def plan_together(
    asks: tuple[Ask, ...],
    *,
    rows: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
    neighbors: Neighbors = "add-remove",
    groups: int | None = None,
    delta: Number | None = None,
    rows_per_unit: int | None = None,
) -> list[PlannedAsk]:
    """How `Table.agg` would split an epsilon or a rho, and what it could answer; nothing is read or spent.

    rows: the number of rows, as far as you know it, in `groups` groups of the same size.

    >>> [(each.ask.name, each.answered) for each in plan_together(
    ...     (Ask.parse("count()"), Ask.parse("median(age)"), Ask.parse("std(age)")), rows=900, epsilon=1)]
    [('count()', True), ('median(age)', True), ('std(age)', False)]
    """
    terms = Terms.of(epsilon, rho, neighbors)
    grouping = PlannedGroups.of(groups, delta, rows_per_unit, None, terms.neighbors)
    size, unit = grouping.size(rows), Unit() if rows_per_unit is None else Unit("unit", rows_per_unit)
    known = Facts(False, True, rows=rows if terms.neighbors == "swap" else None, unit=unit)
    facts: dict[Name, Facts] = dict.fromkeys([None, *(name for ask in asks for name in ask.columns)], known)
    planned = _whole if groups is None else _by_group
    return [
        PlannedAsk(ask, *each, size)
        for ask, each in zip(asks, planned(asks, facts, terms, grouping, size), strict=True)
    ]


def _whole(
    asks: tuple[Ask, ...], facts: dict[Name, Facts], terms: Terms, grouping: PlannedGroups, size: int
) -> Iterator[tuple[Fraction, int]]:
    """What each statistic of a whole table gets, and the rows that it needs for it."""
    plan = AggPlan.of(asks, {name: facts[name] for name in _sized(asks)}, terms)
    scales = {name: _scale(plan.counted[name], terms.spending, plan.unit) for name in plan.facts}
    careful = {name: max(size - math.ceil(CAREFUL * scale), 0) for name, scale in scales.items()}
    seen = {name: math.ceil(reach(scale, terms.spending.zcdp) + ROOM * scale) for name, scale in scales.items()}
    for ask, part in zip(asks, plan.split_at(careful), strict=True):
        if ask.statistic == "count":
            yield plan.counted[column_of(ask)], 1
        else:
            yield part, max(_rows(plan, ask, part), *(seen[name] for name in ask.columns or (None,)))


def _by_group(
    asks: tuple[Ask, ...], facts: dict[Name, Facts], terms: Terms, grouping: PlannedGroups, size: int
) -> Iterator[tuple[Fraction, int]]:
    """What each statistic of the groups gets after the choice of keys, and the rows that a group needs for it."""
    spent = terms.spending
    left = Spending(spent.amount - beside(grouping.choice(spent)), spent.zcdp)
    split = GroupSplit.of(asks, facts, left)
    plan, unstated = AggPlan(asks, facts, Terms(left), {}, split.left), Stated()
    for ask, part in zip(asks, split.parts_at(dict.fromkeys(split.counted, size)), strict=True):
        if ask.statistic == "count":
            yield split.counted[column_of(ask)], 1
        elif ask.statistic in COMMON:
            own = Terms(Spending(part, left.zcdp))
            yield part, rows_of_common_clip(ask.statistic, facts[column_of(ask)], own, unstated, grouping.groups)
        else:
            bought = split.counted.get(counts_of(ask, facts), COUNTS * part)  # an interval buys a count of its own
            scale = _scale(bought, left, plan.unit)
            least = max(_rows(plan, ask, part), math.ceil(reach(scale, left.zcdp)))
            yield part, least + ROOM * math.ceil(scale)


def _rows(plan: AggPlan, ask: Ask, part: Fraction) -> int:
    """How many rows a statistic needs for what it gets."""
    need = plan.need(ask, dict.fromkeys(ask.columns, 1))
    if not part or need is None:
        return MOST_RECORDS
    return math.ceil(math.sqrt(need / part) if plan.terms.spending.zcdp else need / part)


def _sized(asks: tuple[Ask, ...]) -> list[Name]:
    """The columns whose sizes are bought: those that are asked about, and the rows if these are counted."""
    return list(dict.fromkeys(name for ask in asks for name in (ask.columns or (None,))))


def _scale(amount: Fraction, terms: Spending, unit: Unit) -> float:
    """The scale of the noise of a count that gets this amount."""
    each = float(Spending(amount, terms.zcdp).each(unit.rows).amount)
    return 1 / math.sqrt(2 * each) if terms.zcdp else 1 / each
