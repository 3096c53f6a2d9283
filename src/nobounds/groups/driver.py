"""The groups driver: one program for many groups at once. Each answer has the law of `Question.program` on its group.

All groups start together. Each decision is drawn for all of them, and those with the same outcome go on together: the
program is run again on their view, with the outcomes so far.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Ints
from nobounds.groups.draws import Draws
from nobounds.groups.records import Groups
from nobounds.groups.view import GroupsView, Many
from nobounds.noise.source import RandomSource
from nobounds.programs.program import Draw, Program, sent
from nobounds.ranks.question import Question
from nobounds.ranks.route import OneRoute, has_spare_rungs
from nobounds.ranks.values import Values, values_at, zeros

R = TypeVar("R")
Decide: TypeAlias = Callable[[Many], Ints]  # the code of each group


def answers(
    question: Question, groups: Groups, source: RandomSource, sizes: NDArray[Any] | None = None
) -> list[Values]:
    """Private quantiles of each group, one array for each q of the question; `sizes` if they are learned already.

    Whole numbers if the ladder of the question is integral (as objects if one does not fit into 64 bits), else floats.
    """
    return answered(question, groups, Draws(source), sizes)


def answered(question: Question, groups: Groups, draws: Draws, sizes: NDArray[Any] | None = None) -> list[Values]:
    """Like `answers`, with random words from `draws`."""
    everyone = GroupsView(groups, np.arange(len(groups)), question.ladder)
    if question.noise == "exponential":
        return settled(question, everyone, lambda decision: decision.codes(draws), sizes)
    assert sizes is None, "sizes are learned first where groups are answered together"
    rows = [Draw(draws.after(g)).run(question.program(everyone.alone(g))) for g in range(len(groups))]
    columns = zip(*rows, strict=True) if rows else [() for _ in question.qs]
    return [array_of(list(column), question.ladder.integral) for column in columns]


def settled(
    question: Question, everyone: GroupsView, decide: Decide, sizes: NDArray[Any] | None = None
) -> list[Values]:
    """The answers of all groups, as a function settles the decisions about many of them."""
    own, problem = question.ladder, question.problem
    values = [zeros(len(everyone.who), own.integral) for _ in question.qs]
    started = ways(question.settled, everyone, decide) if sizes is None else sized(question, everyone, decide, sizes)
    for routes, view in started:
        for which, (q, shared) in enumerate(zip(question.qs, routes, strict=True)):
            for route, block in (pair for part in view.blocks() for pair in on_ladders(shared, part)):
                codes: Any = decide(route.last(q, problem, block))
                positions: Any = route.position(codes)
                frame = None if route.frame is None else route.frame.of_group(block.who)
                of_block = values_at(own, route, positions, frame)
                if of_block.dtype == object:
                    values[which] = values[which].astype(object)
                values[which][block.who] = of_block
    return values


def on_ladders(route: OneRoute, view: GroupsView) -> Iterator[tuple[OneRoute, GroupsView]]:
    """The route on the ladder of each group, with the groups that share it: on a grid the scale decides its rungs."""
    if route.frame is None or not has_spare_rungs(route, route.frame):
        yield route, view
        return
    octaves = route.frame.octave[view.who]
    for octave in np.unique(octaves).tolist():
        yield route.on_points(octave), view.only(np.flatnonzero(octaves == octave))


def sized(
    question: Question, everyone: GroupsView, decide: Decide, sizes: NDArray[Any]
) -> Iterator[tuple[tuple[OneRoute, ...], GroupsView]]:
    """The ways of groups whose noisy sizes are learned already: those of the same level go on together."""
    rising = np.array(question.size.levels[::-1])
    kept = np.asarray(np.clip(sizes, 0, rising[-1]), dtype=np.int64)
    levels = rising[np.searchsorted(rising, kept, side="right") - 1]
    for level in np.unique(levels).tolist():
        yield from ways(question.settled, everyone.only(np.flatnonzero(levels == level)), decide, (level,))


def ways(
    program: Callable[[GroupsView], Program[R]], view: GroupsView, decide: Decide, past: tuple[Any, ...] = ()
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
        codes = decide(decision)
        if decision.tabled:
            yield from ways(program, part, decide, (*past, part.table(codes)))
            continue
        for code in np.unique(codes).tolist():
            same = part.only(np.flatnonzero(codes == code))
            yield from ways(program, same, decide, (*past, decision.outcome(code)))


def array_of(values: list[int | float], integral: bool) -> Values:
    """Answers as an array: floats, or whole numbers, as objects if one does not fit into 64 bits."""
    if not integral:
        return np.array(values, dtype=np.float64)
    fits = all(-(1 << 63) <= value < 1 << 63 for value in values)
    return np.array(values, dtype=np.int64 if fits else object)
