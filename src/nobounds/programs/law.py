"""The law driver: all ways through a program, with their exact probabilities.

A generator cannot be copied, so the program is run again for each way, with the outcomes so far. Keep what is expensive
in the data (see `ranks.view`), and let decisions compute it when they are drawn or when their law is needed.
"""

from collections.abc import Callable, Iterable, Iterator
from operator import methodcaller
from typing import Any, TypeAlias, TypeVar

from nobounds.programs.program import Decision, Program, sent

R = TypeVar("R")
Outcomes: TypeAlias = Callable[[Decision[Any]], Iterable[tuple[Any, float]]]


def paths(
    program: Callable[[], Program[R]],
    least: float = 0.0,
    outcomes: Outcomes = methodcaller("outcomes"),  # exactly
    past: tuple[Any, ...] = (),
    chance: float = 1.0,
) -> Iterator[tuple[float, R]]:
    """The results of a program with their probabilities, those above `least`; equal ones are not merged."""
    try:
        decision = sent(program(), past)
    except StopIteration as end:
        yield chance, end.value
        return
    for outcome, share in outcomes(decision):
        if share * chance > least:
            yield from paths(program, least, outcomes, (*past, outcome), share * chance)
