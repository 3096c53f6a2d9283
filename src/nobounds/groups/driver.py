"""The groups driver: one program for many groups at once. Each answer has the law of `Question.answer` on its group.

All groups start together. Each decision is drawn for all of them, and those with the same outcome go on together: the
program is run again on their view, with the outcomes so far.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from nobounds.counting.second_look import Counts
from nobounds.groups.draws import Draws
from nobounds.groups.records import Groups
from nobounds.groups.view import GroupsView
from nobounds.noise.source import RandomSource
from nobounds.programs.program import Draw, Program, sent
from nobounds.ranks.auto import first_allowed
from nobounds.ranks.question import Question
from nobounds.ranks.values import Values, values_at, zeros
from nobounds.ranks.view import View

R = TypeVar("R")


def answers(question: Question, groups: Groups, source: RandomSource) -> list[Values]:
    """Private quantiles of each group, one array for each q of the question.

    Whole numbers if the ladder of the question is integral (as objects if one does not fit into 64 bits), else floats.
    """
    return answered(question, groups, Draws(source))


def answered(question: Question, groups: Groups, draws: Draws) -> list[Values]:
    """Like `answers`, with random words from `draws`."""
    if question.noise != "exponential":
        rows = (Draw(draws.after(g)).run(program_of(question, groups, g)) for g in range(len(groups)))
        return by_quantile(question, list(rows))
    everyone = GroupsView(groups, np.arange(len(groups)), question.ladder)
    sizes = list(ways(partial(question.learned, routes=question.routes), everyone, draws))
    return [_values(question, which, everyone, sizes, draws) for which in range(len(question.qs))]


def ways(
    program: Callable[[GroupsView], Program[R]], view: GroupsView, draws: Draws, past: tuple[Any, ...] = ()
) -> Iterator[tuple[R, GroupsView]]:
    """The results of a program for the groups of a view, each with the groups that come to it; some come twice.

    Groups go on block by block, while their records are at hand; where outcomes are many, groups of all blocks that
    share one are gathered first.
    """
    try:
        gathers: bool = sent(program(view), past).gathers  # type: ignore[attr-defined]
    except StopIteration as end:
        yield end.value, view
        return
    for part in (view,) if gathers else view.blocks():
        decision: Any = sent(program(part), past)
        codes = decision.draw_many(draws)
        for code in np.unique(codes).tolist():
            same = part.only(np.flatnonzero(codes == code))
            yield from ways(program, same, draws, (*past, decision.outcome(code)))


def _values(
    question: Question, which: int, everyone: GroupsView, sizes: list[tuple[int, GroupsView]], draws: Draws
) -> Values:
    """The answers of all groups to one of the quantiles; sizes are in falling order."""
    q, routes, problem = question.qs[which], question.routes[which], question.problem
    values = zeros(len(everyone.who), question.ladder.integral)
    for planned, alike in groupby(sizes, lambda found: first_allowed(routes, found[0])):
        views = [view for _, view in alike]
        start = views[0] if len(views) == 1 else everyone.only(np.sort(np.concatenate([view.who for view in views])))
        for route, view in ways(partial(planned.settled, q, problem), start, draws):
            for block in view.blocks():
                positions: Any = route.position(route.last(q, problem, block).draw_many(draws))
                found = values_at(question, route, positions)
                if found.dtype == object:
                    values = values.astype(object)
                values[block.who] = found
    return values


def program_of(question: Question, groups: Groups, g: int) -> Program[tuple[int | float, ...]]:
    """The program of one group, alone."""
    one = groups.histogram(g)
    values = groups.ladder.map.floats(one.rungs)
    return question.program(View(Counts(one.on(question.ladder), lambda: [(values, one.counts)])))


def by_quantile(question: Question, rows: list[tuple[int | float, ...]]) -> list[Values]:
    """The answers of all groups, one array for each q as in `answers`, from those of each group."""
    columns = zip(*rows, strict=True) if rows else [() for _ in question.qs]
    return [_array(list(column), question.ladder.integral) for column in columns]


def _array(values: list[int | float], integral: bool) -> Values:
    if not integral:
        return np.array(values, dtype=np.float64)
    fits = all(-(1 << 63) <= value < 1 << 63 for value in values)
    return np.array(values, dtype=np.int64 if fits else object)
