"""Statistics of each group of a table, for one epsilon: a row is in one group, so all groups cost as much as one.

Keys that are chosen privately cost a part of epsilon, and a delta. What is computed is in `group_answers`.
"""

from collections.abc import Callable
from dataclasses import field, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

from nobounds.accounting.cost import Cost
from nobounds.accounting.loss import PrivacyLoss, Unit
from nobounds.accounting.spending import Chargeable, Spending
from nobounds.accounting.terms import Terms
from nobounds.ask import Ask
from nobounds.clipping.plan import SumPlan
from nobounds.counting.tally import BITS
from nobounds.engines.source import Keyed, TableSource
from nobounds.exact import Number, rational, round_up
from nobounds.expressions.view import View
from nobounds.groups.key_counts import KeyCounts
from nobounds.groups.key_selection import KeySelection
from nobounds.ladders.facts import Facts, where_in_words
from nobounds.ladders.stated import Stated
from nobounds.noise.source import Rng
from nobounds.programs.program import Program
from nobounds.ranks.intervals.extremes import ExtremesPlan
from nobounds.ranks.intervals.interval import IntervalPlan, Wanted
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_for_groups
from nobounds.ranks.question import Question
from nobounds.release.answer import later
from nobounds.release.answers import Answers
from nobounds.release.grouped import GroupedRelease
from nobounds.release.words import TOO_FEW_NUMBERS
from nobounds.statistics.agg import check_asks
from nobounds.statistics.door import INSIDE, ColumnPlan, Request, admit
from nobounds.statistics.sums import CountPlan
from nobounds.statistics.typed import require_type, type_of, typed_array
from nobounds.tables.by_group.agg import GroupSplit, Part, agg_program, numbers_of
from nobounds.tables.by_group.answers import (
    GroupAnswers,
    GroupedColumn,
    Learned,
    intervals_by_group,
    quantiles_by_group,
)
from nobounds.tables.by_group.counts import counts_by_group, top_by_group
from nobounds.tables.by_group.distinct import GroupedDistinct
from nobounds.tables.by_group.key_choice import KeyChoice, beside, chosen_before, chosen_by_counts, described
from nobounds.tables.by_group.one_by_one import Columns, GroupedColumns, Shown, cost_of, without_records
from nobounds.tables.by_group.sums import sums_by_group
from nobounds.values import dataclass

MOMENT_BITS = 31  # of datetimes in groups: seconds since 1970 have as many
MOST_INTERVALS = 10_000  # public keys with intervals: these are chosen group by group, some dozens a second
MOST_ONE_BY_ONE = 10_000  # public keys whose programs run one after the other
R = TypeVar("R")
D = TypeVar("D", GroupedColumn, GroupedDistinct)


@dataclass(frozen=True, slots=True)
class Grouping:
    """The requested groups of a table, and whom privacy is for; all public."""

    source: TableSource
    keyed: Keyed
    delta: Fraction | None
    unit: Unit
    groups_per_unit: int
    budget: Chargeable | None
    view: View = field(default_factory=View)
    counting: bool = False  # whether counts of rows or units are all that is wanted
    bound: str = "rows_per_unit"  # what bounds the influence of a unit

    def quantile(
        self,
        statistic: str,
        column: str,
        q: Fraction,
        spending: Spending,
        stated: Stated,
        rng: Rng,
        marks: bool = True,
        wanted: Wanted | None = None,
        learned: Learned | None = None,
    ) -> GroupedRelease:
        """A quantile of each group, with its noisy count; with `marks`, of those with rows enough for it."""
        options, known = Options(stated), self.keyed.known
        if wanted is not None and known is not None and len(known[0]) > MOST_INTERVALS:
            raise ValueError(
                f"interval needs at most {MOST_INTERVALS:,} keys, got {len(known[0]):,}: "
                "give fewer keys, or leave interval out"
            )

        def answer(plan: Question | IntervalPlan | ExtremesPlan, data: GroupedColumn) -> Program[GroupAnswers]:
            fine = stated.ladder(data.facts, MOMENT_BITS if data.facts.kind.name == "datetime" else BITS)
            if isinstance(plan, Question):
                noisy = yield from quantiles_by_group(plan, fine, data, marks, learned)
            else:
                noisy = yield from intervals_by_group(plan, fine, data, marks)
            return replace(noisy, parameters={"q": str(q)} | noisy.parameters) if statistic == "quantile" else noisy

        def plan(facts: Facts, terms: Terms) -> Question | IntervalPlan | ExtremesPlan:
            return plan_for_groups(facts, terms, options, q, wanted, learned is not None)

        purpose = f"quantile {q}" if statistic == "quantile" else statistic
        return self._release(statistic, purpose, column, spending, plan, answer, rng)

    def count(self, column: str | None, spending: Spending, rng: Rng) -> GroupedRelease:
        """How many records each group has."""
        of_rows = replace(self, counting=column is None)
        return of_rows._release("count", "count", column, spending, CountPlan.of, counts_by_group, rng)

    def value_counts(self, spending: Spending, rng: Rng) -> GroupedRelease:
        """How many rows have each key."""
        of_values = replace(self, counting=True)
        return of_values._release("value_counts", "value counts", None, spending, CountPlan.of, counts_by_group, rng)

    def top_k(self, k: int, spending: Spending, rng: Rng) -> GroupedRelease:
        """The k values with the largest noisy counts, or of each group; the last column of the keys has the values."""
        of_values = replace(self, counting=True)
        return of_values._release("top_k", f"top {k}", None, spending, CountPlan.of, partial(top_by_group, k), rng)

    def count_distinct(self, column: str | None, spending: Spending, rng: Rng) -> GroupedRelease:
        """How many units each group has, or values of a column; a unit changes at most `unit.rows` of these by 1."""
        of_units = column is None
        bound = "groups_per_unit" if of_units else "values_per_unit"
        distinct = replace(self, counting=of_units, bound=bound)
        facts = replace(distinct._facts(None), counted=False, name=self.unit.name if of_units else column)
        selection = distinct._selection(spending)
        data = GroupedDistinct(self.source, self.keyed, column, facts, self.groups_per_unit, selection)
        return distinct._released(
            "count_distinct", "distinct values", data, spending, CountPlan.of, counts_by_group, rng
        )

    def sum(self, column: str, spending: Spending, stated: Stated, rng: Rng, marks: bool = True) -> GroupedRelease:
        """The sum of each group."""
        return self._summed("sum", column, spending, stated, rng, marks)

    def mean(self, column: str, spending: Spending, stated: Stated, rng: Rng, marks: bool = True) -> GroupedRelease:
        """The mean of each group."""
        return self._summed("mean", column, spending, stated, rng, marks)

    def _summed(
        self, statistic: str, column: str, spending: Spending, stated: Stated, rng: Rng, marks: bool
    ) -> GroupedRelease:
        known = 1 if self.keyed.known is None else max(len(self.keyed.known[0]), 1)

        def plan(facts: Facts, terms: Terms, groups: int = known) -> SumPlan:
            return SumPlan.for_groups(facts, terms, stated, statistic == "mean", groups)

        def answer(first: SumPlan, data: GroupedColumn) -> Program[GroupAnswers]:
            return sums_by_group(first.search.ladder, partial(plan, data.facts, self._terms(spending)), marks, data)

        return self._release(statistic, statistic, column, spending, plan, answer, rng)

    def _release(
        self,
        statistic: str,
        purpose: str,
        column: str | None,
        spending: Spending,
        plan: Callable[[Facts, Terms], Any],
        answer: Callable[[Any, GroupedColumn], Program[GroupAnswers]],
        rng: Rng,
    ) -> GroupedRelease:
        """The release of a statistic of a column, or of the rows, by group."""
        selection = self._selection(spending)
        data = GroupedColumn(self.source, self.keyed, column, self._facts(column), self.groups_per_unit, selection)
        return self._released(statistic, purpose, data, spending, plan, answer, rng)

    def _released(
        self,
        statistic: str,
        purpose: str,
        data: D,
        spending: Spending,
        plan: Callable[[Facts, Terms], Any],
        answer: Callable[[Any, D], Program[GroupAnswers]],
        rng: Rng,
    ) -> GroupedRelease:
        """The release of a statistic of all groups, through the door."""
        terms, selection = self._terms(spending), data.selection

        def loss(plan: ColumnPlan, facts: Facts) -> PrivacyLoss:
            return self._loss(selection)(plan.cost(), facts)

        def released(plan: ColumnPlan, facts: Facts, data: D, loss: PrivacyLoss) -> Program[GroupedRelease]:
            noisy = yield from answer(plan, data)
            parts = plan.parts() if noisy.parts is None else noisy.parts
            kind = facts.kind.of_answer(statistic)
            parameters = (
                type_of(statistic, facts.kind) | noisy.parameters | self._described(facts, spending, parts, selection)
            )
            return GroupedRelease(
                statistic,
                self.keyed.names,
                noisy.keys,
                typed_array(noisy.values, kind),
                loss,
                parameters,
                later(lambda: None if noisy.intervals is None else typed_array(noisy.intervals, kind)),
                noisy.counts,
                _reasons(noisy, facts),
            )

        by = f"{purpose} of {data.facts.name} by {', '.join(self.keyed.names)}"
        of = f"{by}{where_in_words(self.view.text)}"

        def checked(facts: Facts) -> Any:
            require_type(statistic, facts)
            return plan(facts, terms)

        request = Request(terms.neighbors, checked, loss, lambda facts: of, released)
        return admit(request, data, self.budget, rng)

    def one_by_one(
        self,
        names: list[str],
        purpose: str,
        spending: Spending,
        program: Callable[[Columns, dict[str, Any]], Program[Any]],
        released: Callable[[Shown, list[Any], dict[str, Facts]], R],
        rng: Rng,
    ) -> R:
        """The release of what a program says of each group, through the door; it gets the columns of a group.

        Its keywords are those of a statistic that is a part of this one.
        """
        terms, selection, known = self._terms(spending), self._before(spending), self.keyed.known
        if known is not None and len(known[0]) > MOST_ONE_BY_ONE:
            raise ValueError(f"this needs at most {MOST_ONE_BY_ONE:,} keys, got {len(known[0]):,}: give fewer keys")
        keywords = {"rho" if spending.zcdp else "epsilon": terms.spending.amount, "rng": INSIDE}
        cost = cost_of(terms.spending, self.unit)

        def planned(facts: dict[str, Facts]) -> Cost:
            program(without_records(facts), keywords)
            return cost

        def answer(plan: Cost, facts: dict[str, Facts], data: GroupedColumns, loss: PrivacyLoss) -> Program[R]:
            keys, results = yield from data.each(lambda columns: program(columns, keywords), lambda: cost)
            described = self._described(
                replace(next(iter(facts.values())), name=None), spending, {"answer": cost}, selection
            )
            return released(Shown(self.keyed.names, keys, loss, described), results, facts)

        of = f"{purpose} by {', '.join(self.keyed.names)}{where_in_words(self.view.text)}"
        request = Request(terms.neighbors, planned, self._loss(selection), lambda facts: of, answer, sized=False)
        facts = {name: self._facts(name) for name in names}
        data = GroupedColumns(self.source, self.keyed, facts, self.unit, self.groups_per_unit, selection)
        return admit(request, data, self.budget, rng)

    def agg(self, asks: tuple[Ask, ...], spending: Spending, part: Part, rng: Rng) -> Answers:
        """Several statistics of each group, through the door; `part` is the program of one of them."""
        check_asks(asks)
        check_asks(tuple(number for each in asks for number in numbers_of(each)))
        terms, selection = self._terms(spending), self._selection(spending)
        names = dict.fromkeys([None, *(name for each in asks for name in each.columns)])
        facts = {name: self._facts(name) for name in names}
        rows = facts[None]

        def planned(known: Facts) -> GroupSplit:
            key = "rho" if spending.zcdp else "epsilon"
            for each in asks:  # whatever is wrong with a request is said before the charge
                part(self.keyed.known, each, {key: spending.amount, "rng": INSIDE}, None)
            return GroupSplit.of(asks, facts, terms.spending)

        def answer(split: GroupSplit, known: Facts, data: GroupedColumn, loss: PrivacyLoss) -> Program[Answers]:
            return agg_program(data, split, loss, part, self._described(rows, spending, {}, selection))

        cost = cost_of(terms.spending, self.unit)
        listed = ", ".join(each.name for each in asks)
        of = f"agg {listed} by {', '.join(self.keyed.names)}{where_in_words(self.view.text)}"
        request = Request(
            terms.neighbors, planned, lambda plan, known: self._loss(selection)(cost, known), lambda known: of, answer
        )
        data = GroupedColumn(self.source, self.keyed, None, rows, self.groups_per_unit, selection)
        return admit(request, data, self.budget, rng)

    def _loss(self, selection: KeyChoice | None) -> Callable[[Any, Any], PrivacyLoss]:
        """From a cost for one row to the loss of a unit, with that of the choice of keys."""

        def loss(cost: Cost, facts: object) -> PrivacyLoss:
            if selection is None:
                return self.unit.loss(cost, "add-remove")
            # Added up before it is rounded: then the charge is what the user gave.
            both = cost.times(self.unit.rows).epsilon + beside(selection)
            return PrivacyLoss.approximate(both, selection.delta, unit=self.unit.name)

        return loss

    def _facts(self, column: str | None) -> Facts:
        """The public facts of a column, or of the rows themselves."""
        known = Facts(True, False, counted=True) if column is None else self.source.facts[column]
        return replace(
            known,
            unit=self.unit,
            name="rows" if column is None else column,
            query=self.source.query,
            where=self.view.text,
            formulas=self.view.used((column, *self.keyed.names)),
        )

    def _terms(self, spending: Spending) -> Terms:
        """What is left for the statistic after the choice of keys."""
        return Terms(replace(spending, amount=spending.amount - beside(self._selection(spending))))

    def _selection(self, spending: Spending) -> KeyChoice | None:
        """How keys are chosen, if they are not public."""
        if self.delta is None or not self.counting:
            return self._before(spending)
        if self.bound == "groups_per_unit":  # numbers of units, of which no choice before could know more
            return KeyCounts(spending.amount, self.delta, self.unit.rows)
        return chosen_by_counts(spending.amount, self.delta, self.unit.rows, self.groups_per_unit)

    def _before(self, spending: Spending) -> KeySelection | None:
        """How keys are chosen before a statistic, if they are not public."""
        return None if self.delta is None else chosen_before(spending.amount, self.delta, self.groups_per_unit)

    def _described(
        self, facts: Facts, spending: Spending, parts: dict[str, Cost], selection: KeyChoice | None
    ) -> dict[str, Any]:
        """For the parameters of a release: the column, the keys, and how the spending was split."""
        breakdown = spending.breakdown(parts, self.unit)
        if spent := beside(selection):
            breakdown["split"] = {"keys": round_up(spent), **breakdown["split"]}
        most = {} if self.unit == Unit() else {"groups_per_unit": self.groups_per_unit, self.bound: self.unit.rows}
        breakdown.pop("rows_per_unit", None)
        return facts.origin() | described(selection) | breakdown | most


def _reasons(noisy: GroupAnswers, facts: Facts) -> tuple[str | None, ...] | None:
    """Why groups are not answered; of texts because too few are numbers."""
    if noisy.reasons is None or not facts.texts:
        return noisy.reasons
    return tuple(None if why is None else TOO_FEW_NUMBERS for why in noisy.reasons)


def check_delta(delta: Number) -> Fraction:
    """A delta between 0 and 1, both excluded."""
    exact = rational(delta, "delta")
    if not 0 < exact < 1:
        raise ValueError(f"delta must be greater than 0 and less than 1, got delta={delta!r}")
    return exact
