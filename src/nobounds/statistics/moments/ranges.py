"""The interquartile range of data whose bounds nobody knows: the public function."""

from dataclasses import replace
from fractions import Fraction
from typing import Any, Unpack

from nobounds.accounting.cost import Cost
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.counting.second_look import Counts
from nobounds.engines.column import Column
from nobounds.exact import finite_float
from nobounds.kinds.kind import Kind
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.programs.program import Program
from nobounds.ranks.intervals.interval import IntervalPlan, Wanted
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_quantile, plan_together
from nobounds.ranks.question import Question
from nobounds.ranks.view import View
from nobounds.release.release import Single
from nobounds.statistics.door import Answer, release_column
from nobounds.statistics.keywords import RangeKeywords, flag, spelled_out, terms_of
from nobounds.statistics.searched import described, marked, stated_rows, wanted_of, with_interval
from nobounds.values import dataclass

QUARTILES = (Fraction(1, 4), Fraction(3, 4))


@spelled_out
def iqr(data: object, **options: Unpack[RangeKeywords]) -> Single:
    """A private interquartile range: the distance between the quartiles, which `parameters["quartiles"]` has.

    Both quartiles are chosen together, as `quantiles` does. With `interval=0.95` each gets half of epsilon and an
    interval, and the two give one for the range. Of dates and times it is a duration.

    >>> import random
    >>> iqr([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(3)).value
    30
    """
    terms, searched, marks = terms_of(options), Options.of(options), flag(options, "marks")
    wanted = wanted_of(searched, options)

    def plan(facts: Facts) -> "Question | Halving | QuartilePlans":
        if wanted is None:
            return plan_together(facts, terms, searched, QUARTILES)
        return QuartilePlans.of(facts, terms, searched, wanted)

    def answer(plan: "Question | Halving | QuartilePlans", data: Column) -> Program[Answer]:
        view = View(Counts.of(data.chunks, plan.ladder))
        parameters: dict[str, Any] = {**plan.ladder.describe(), **stated_rows(searched)}
        if isinstance(plan, QuartilePlans):
            noisy = yield from plan.program(view, marks)
        else:
            noisy = yield from marked(plan, view, terms, marks)
        return _ranged(replace(noisy, parameters=parameters | noisy.parameters), data.facts.kind)

    return release_column("iqr", "iqr", terms, plan, answer, data, options, sized=searched.rows is None)


@dataclass(frozen=True, slots=True)
class QuartilePlans:
    """Two quartiles with intervals, each for half of the spending; together they fail as often as one may."""

    low: IntervalPlan
    high: IntervalPlan
    wanted: Wanted
    terms: Terms

    @classmethod
    def of(cls, facts: Facts, terms: Terms, options: Options, wanted: Wanted) -> "QuartilePlans":
        """The plans of both quartiles."""
        half = replace(terms, spending=Spending(terms.spending.amount / 2, terms.spending.zcdp))
        each = replace(wanted, level=(1 + wanted.level) / 2)
        low, high = (plan_quantile(facts, half, options, q, each).answer for q in QUARTILES)
        assert isinstance(low, IntervalPlan) and isinstance(high, IntervalPlan)
        return cls(low, high, wanted, terms)

    @property
    def ladder(self) -> Ladder:
        """The ladder of both."""
        return self.low.ladder

    def cost(self) -> Cost:
        """The cost of both."""
        return self.low.cost() + self.high.cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        low, high = self.low.parts(), self.high.parts()
        return {name: low[name] + high[name] for name in low}

    def program(self, view: View, marks: bool) -> Program[Answer]:
        """The two quartiles, and the interval of their distance."""
        low = yield from with_interval(self.low, view, self.terms, marks)
        high = yield from with_interval(self.high, view, self.terms, marks)
        ((a, b),), ((c, d),) = low.intervals, high.intervals
        noisy = low if low.reason is not None else high
        parameters = noisy.parameters | described(self.wanted)
        first, last = low.value, high.value
        assert not isinstance(first, tuple) and not isinstance(last, tuple)
        ends = (max(c - b, 0.0), d - a)
        return replace(noisy, value=(first, last), intervals=(ends,), parameters=parameters)


def _ranged(noisy: Answer, kind: Kind) -> Answer:
    """The distance between two quartiles; None if one of them is not answered."""
    assert isinstance(noisy.value, tuple)
    low, high = noisy.value
    if low is None or high is None:
        return replace(noisy, value=None, parameters=noisy.parameters | {"quartiles": [None, None]})
    first, last = min(low, high), max(low, high)
    quartiles = [kind.to_json(kind.value(end)) for end in (first, last)]
    apart = Fraction(last) - Fraction(first)
    value = int(apart) if isinstance(first, int) and isinstance(last, int) else finite_float(apart)
    # The value is in its interval, also where the intervals of the quartiles lie in the wrong order.
    bars = tuple((min(start, value), max(end, value)) for start, end in noisy.intervals)
    return replace(noisy, value=value, intervals=bars, parameters=noisy.parameters | {"quartiles": quartiles})
