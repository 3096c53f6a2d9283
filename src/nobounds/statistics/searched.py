"""Quantiles and extremes by the expert settings: walks with their own noise and ladders, and guaranteed intervals."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from nobounds.accounting.terms import Terms
from nobounds.counting.second_look import Counts
from nobounds.engines.column import Column
from nobounds.engines.memory.arrays import column
from nobounds.ladders.facts import Facts
from nobounds.programs.program import Program
from nobounds.ranks.answerable import answers, needed
from nobounds.ranks.intervals.extremes import ExtremesPlan
from nobounds.ranks.intervals.interval import IntervalPlan, Wanted
from nobounds.ranks.intervals.rung import rung
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.options import Options
from nobounds.ranks.plan import QuantilePlan, plan_extremes, plan_quantile, plan_separately
from nobounds.ranks.question import Question
from nobounds.ranks.view import View
from nobounds.release.answer import later
from nobounds.release.release import Release
from nobounds.release.words import TOO_FEW
from nobounds.statistics.door import Answer, Answering, release_column
from nobounds.statistics.keywords import (
    DEFAULTS,
    LEVEL,
    flag,
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


def searched_quantile(statistic: str, rank: Fraction, data: object, options: Any) -> Release:
    """A quantile by expert settings."""
    """A quantile by expert settings."""
    terms, searched = terms_of(options), Options.of(options)
    named = statistic != "quantile"  # then its name says which it is
    if flag(options, "guarantee"):  # is one of the interval, which is the default
        options = {"interval": LEVEL, **options}
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


def planned(data: object, qs: tuple[Fraction, ...], **options: Any) -> Question:
    """The plan that these keywords of `quantile` lead to for some data, for laws and experiments."""
    terms = terms_of(options)
    return plan_separately(column(data).public(terms.neighbors == "swap"), terms, Options.of(options), qs)


def searched_extremes(statistic: str, purpose: str, qs: tuple[Fraction, ...], data: object, options: Any) -> Release:
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
