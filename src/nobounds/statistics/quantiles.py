"""Quantiles, maximum, minimum and bounds of data whose bounds nobody knows: the public functions."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Unpack

from nobounds.accounting.terms import Terms
from nobounds.counting.second_look import Counts
from nobounds.engines.column import Column
from nobounds.engines.memory.arrays import column
from nobounds.exact import Number
from nobounds.ladders.facts import Facts
from nobounds.programs.program import Program
from nobounds.ranks.answerable import answers, needed
from nobounds.ranks.intervals.extremes import ExtremesPlan
from nobounds.ranks.intervals.interval import IntervalPlan, Wanted
from nobounds.ranks.intervals.rung import rung
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.options import Options
from nobounds.ranks.plan import QuantilePlan, plan_extremes, plan_quantile, plan_separately, plan_together
from nobounds.ranks.problem import check_rank, check_ranks
from nobounds.ranks.question import Question
from nobounds.ranks.view import View
from nobounds.release.answer import later
from nobounds.release.release import Release, Several, Single
from nobounds.release.words import TOO_FEW
from nobounds.statistics.door import Answer, Answering, release_column
from nobounds.statistics.keywords import (
    DEFAULTS,
    ExtremeKeywords,
    QuantileKeywords,
    QuantilesKeywords,
    flag,
    spelled_out,
    terms_of,
)

_DRAWN = "the rows are independent draws from the population"
_HELD = "nothing else: it holds for every data set"
_SEEN = "data like the families that its ends are calibrated on"
ASSUMED = {
    ("population", True): _DRAWN,
    ("population", False): f"{_DRAWN}; {_SEEN}",
    ("sample", True): _HELD,
    ("sample", False): _SEEN,
}


@spelled_out
def quantile(data: object, q: Number, **options: Unpack[QuantileKeywords]) -> Single:
    """A private q-quantile of data whose bounds nobody knows.

    With too few rows for the epsilon (fewer than about 250 / epsilon for a median, more for a tail) it is not answered:
    the value is None, and `reason` and `parameters["needed"]` say why and what would do.

    `interval=0.95` gives an interval as well, in `.interval`, for the same epsilon: for the population that the rows
    are a sample of, or with `of="sample"` for the rows themselves. Its ends are calibrated on synthetic data, with and
    without ties; with `guarantee=True` they hold for every data set, and are wider. An end with too few rows beyond it
    is infinite. Of an extreme (q = 0 or 1) only the inner end is chosen; it always holds.

    >>> import random
    >>> ages = [18 + i % 60 for i in range(6000)]
    >>> quantile(ages, 0.5, epsilon=1, resolution=1, rng=random.Random(1)).value
    47
    """
    return _quantile("quantile", check_rank(q), data, options)


@spelled_out
def median(data: object, **options: Unpack[QuantileKeywords]) -> Single:
    """A private median: `quantile` at 1/2, with the same keywords.

    >>> import random
    >>> median([18 + i % 60 for i in range(6000)], epsilon=1, resolution=1, rng=random.Random(1)).value
    47
    """
    return _quantile("median", Fraction(1, 2), data, options)


def _quantile(statistic: str, rank: Fraction, data: object, options: Any) -> Release:
    terms, searched = terms_of(options), Options.of(options)
    named = statistic != "quantile"  # then its name says which it is
    wanted, ranks, marks = wanted_of(searched, options), flag(options, "ranks"), flag(options, "marks")

    def answer(plan: QuantilePlan, data: Column) -> Answering:
        view = View(Counts.of(data.chunks, plan.ladder))
        parameters: dict[str, Any] = {} if named else {"q": str(rank)}
        parameters |= {"method": searched.method, "noise": searched.noise}
        parameters |= stated_rows(searched) | plan.ladder.describe()
        if isinstance(plan.answer, Question):
            # Noise in a size that is known says less about the rung.
            noisy = yield from _on_a_rung(plan.answer, view, terms, marks, says_rung=data.facts.size is None)
        elif isinstance(plan.answer, ExtremesPlan):
            noisy = yield from _with_ends(plan.answer, view, terms, marks)
        else:
            noisy = yield from with_interval(plan.answer, view, terms, marks)
        if plan.percentiles is not None and isinstance(noisy.value, int | float):
            parameters["percentiles"] = yield from plan.percentiles.program(view, noisy.value)
        return noisy.with_first(parameters)

    return release_column(
        statistic,
        statistic if named else f"quantile {rank}",
        terms,
        lambda facts: plan_quantile(facts, terms, searched, rank, wanted, ranks),
        answer,
        data,
        options,
        sized=searched.rows is None,
    )


@spelled_out
def quantiles(data: object, q: Iterable[Number], **options: Unpack[QuantilesKeywords]) -> Several:
    """Private quantiles for one total epsilon or rho, in the order given.

    A larger q never has a smaller answer. One q is answered as `quantile` does; m of them cost as much as
    ceil(log2(m + 1)) would, each for its own epsilon. `rows`, if it is stated, must be accurate to about 1%: some
    of the ranks are counted from it.

    >>> import random
    >>> ages = [18 + i % 60 for i in range(6000)]
    >>> quantiles(ages, [0.25, 0.5, 0.75], epsilon=1, resolution=1, rng=random.Random(1)).value
    (33, 47, 62)
    """
    ranks = check_ranks(q)
    terms, searched, qs = terms_of(options), Options.of(options), tuple(sorted(set(ranks)))
    marks = flag(options, "marks")

    def answer(plan: Question | Halving, data: Column) -> Answering:
        noisy = yield from marked(plan, View(Counts.of(data.chunks, plan.ladder)), terms, marks)
        each = noisy.value if isinstance(noisy.value, tuple) else (noisy.value,)
        values = dict(zip(qs, each, strict=True))
        parameters = {"q": [str(rank) for rank in ranks], **plan.ladder.describe(), **stated_rows(searched)}
        return replace(noisy, value=tuple(values[rank] for rank in ranks), parameters=parameters | noisy.parameters)

    return release_column(
        "quantiles",
        f"quantiles {', '.join(map(str, qs))}",
        terms,
        lambda facts: plan_together(facts, terms, searched, qs),
        answer,
        data,
        options,
        sized=searched.rows is None,
    )


@spelled_out
def maximum(data: object, **options: Unpack[ExtremeKeywords]) -> Single:
    """A private maximum, by a walk up.

    `interval=0.95` gives the value that it is at least, in `.interval`, for the same epsilon: that holds for every data
    set. The upper end is infinite, or `upper`: no private method can say how far the largest record lies above all
    others. The answer then lies near that value, a few records below the largest.

    With 1,000 rows over epsilon it is above ten times the true one with probability below 1e-4
    (tests/promises/test_runaway.py); with 100 that was seen once in a thousand runs.
    """
    return _separate("maximum", "maximum", (Fraction(1),), data, options)


@spelled_out
def minimum(data: object, **options: Unpack[ExtremeKeywords]) -> Single:
    """A private minimum: it has the distribution of minus the maximum of the negated data.

    `interval=0.95` gives the value that it is at most.
    """
    return _separate("minimum", "minimum", (Fraction(0),), data, options)


@spelled_out
def bounds(data: object, **options: Unpack[ExtremeKeywords]) -> Several:
    """A private (minimum, maximum) for one total epsilon.

    `interval=0.95` gives what the minimum is at most, and the maximum at least; both hold together.
    """
    return _separate("bounds", "bounds", (Fraction(0), Fraction(1)), data, options)


def planned(data: object, qs: tuple[Fraction, ...], **options: Any) -> Question:
    """The plan that these keywords of `quantile` lead to for some data, for laws and experiments."""
    terms = terms_of(options)
    return plan_separately(column(data).public(terms.neighbors == "swap"), terms, Options.of(options), qs)


def _separate(statistic: str, purpose: str, qs: tuple[Fraction, ...], data: object, options: Any) -> Release:
    """Extremes in equal parts of epsilon, each by the best route; or with intervals."""
    terms, searched, marks = terms_of(options), Options.of(options), flag(options, "marks")
    level = options.get("interval")
    wanted = None if level is None else chosen(Wanted.checked(level, "sample", True), searched)

    def answer(plan: Question | ExtremesPlan, data: Column) -> Answering:
        view = View(Counts.of(data.chunks, plan.ladder))
        if isinstance(plan, Question):
            noisy = yield from marked(plan, view, terms, marks)
        else:
            noisy = yield from _with_ends(plan, view, terms, marks)
        return noisy.with_first({"method": searched.method, "noise": searched.noise} | plan.ladder.describe())

    plan: Callable[[Facts], Question | ExtremesPlan] = partial(plan_separately, terms=terms, options=searched, qs=qs)
    if wanted is not None:
        plan = partial(plan_extremes, terms=terms, options=searched, qs=qs, wanted=wanted)
    return release_column(statistic, purpose, terms, plan, answer, data, options, sized=searched.rows is None)


def marked(plan: Question | Halving, view: View, terms: Terms, marks: bool) -> Program[Answer]:
    """The quantiles of a plan; those that the noisy size cannot carry are None, and if all are, no more is read."""
    size = yield from plan.learned(view)
    shown = answers(plan, size) if marks else (True,) * len(plan.qs)
    values: tuple[int | float | None, ...] = (None,) * len(shown)
    if any(shown):
        noisy = yield from plan.program(view, size)
        pairs = zip(sorted(noisy), shown, strict=True)
        values = tuple(value if kept else None for value, kept in pairs)
    few = {} if all(shown) else {"needed": needed(plan, size, terms.spending)}
    value = values[0] if len(values) == 1 else values
    return Answer(value, few, reason=TOO_FEW if few else None, size=None if plan.size.known is not None else size)


def _on_a_rung(plan: Question, view: View, terms: Terms, marks: bool, says_rung: bool) -> Program[Answer]:
    """A quantile, and with `says_rung` what is known for free of the rung that it lies on."""
    size = yield from plan.learned(view)
    if marks and not all(answers(plan, size)):
        few = {"needed": needed(plan, size, terms.spending)}
        return Answer(None, few, reason=TOO_FEW, size=None if plan.size.known is not None else size)
    ((route, position),) = yield from plan.ends(view, size)
    value = plan.value_at(route, position)
    learned = None if plan.size.known is not None else size

    def parameters() -> dict[str, Any]:
        known = rung(plan, route, position, size, value) if says_rung else None
        return {} if known is None else {"rung": known}

    return Answer(value, later(parameters), size=learned)


def with_interval(plan: IntervalPlan, view: View, terms: Terms, marks: bool) -> Program[Answer]:
    """A quantile and its interval."""
    bracket = yield from plan.program(view, marks)
    wanted = plan.wanted
    parameters = described(wanted)
    size = None if plan.size.known is not None else bracket.size
    if bracket.value is None:
        parameters["needed"] = plan.needed(bracket.size, terms.spending)
        return Answer(None, parameters, (bracket.ends,), reason=TOO_FEW, size=size)
    return Answer(bracket.value, parameters, (bracket.ends,), size=size)


def _with_ends(plan: ExtremesPlan, view: View, terms: Terms, marks: bool) -> Program[Answer]:
    """Extremes, and what they are at most or at least."""
    extremes = yield from plan.program(view, marks)
    parameters = described(replace(plan.wanted, guarantee=True))
    values = extremes.values[0] if len(extremes.values) == 1 else extremes.values
    size = None if plan.question.size.known is not None else extremes.size
    if None not in extremes.values:
        return Answer(values, parameters, extremes.ends, size=size)
    parameters["needed"] = plan.needed(extremes.size, terms.spending)
    return Answer(values, parameters, extremes.ends, reason=TOO_FEW, size=size)


def described(wanted: Wanted) -> dict[str, Any]:
    """What a release says about its interval."""
    assumes = ASSUMED[wanted.of, wanted.guarantee]
    return {
        "interval": {
            "level": float(wanted.level),
            "of": wanted.of,
            "assumes": assumes,
            "guarantee": wanted.guarantee,
        }
    }


def wanted_of(searched: Options, options: Any) -> Wanted | None:
    """The interval that these keywords ask for."""
    level, of, guarantee = (options.get(name, DEFAULTS.get(name)) for name in ("interval", "of", "guarantee"))
    if level is None:
        if of != DEFAULTS["of"] or guarantee:
            raise ValueError("of and guarantee need interval, the level of the interval: interval=0.95")
        return None
    return chosen(Wanted.checked(level, of, guarantee), searched)


def chosen(wanted: Wanted, searched: Options) -> Wanted:
    """The interval, if the options of the search leave it a choice."""
    if not searched.grows or searched.method != "auto" or searched.noise != DEFAULTS["noise"]:
        raise ValueError("interval cannot be combined with beta, ladder, method or noise: its ends are chosen")
    return wanted


def stated_rows(options: Options) -> dict[str, int]:
    """For the parameters of a release: the number of rows that the user states, if they do."""
    return {} if options.rows is None else {"stated_rows": options.rows}
