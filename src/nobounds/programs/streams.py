"""Programs over streams: besides decisions they yield `Waiting`, and are sent the next query of the stream.

The first query that reaches a noisy threshold:

    def first_reached(fresh: FreshThreshold) -> StreamProgram[int | None]:
        threshold = yield fresh
        for position in count():
            query = yield Waiting(None)
            if (yield Reached(threshold, query)):
                return position
"""

from collections.abc import Generator, Iterable
from inspect import GEN_CLOSED, getgeneratorstate
from typing import Any, Generic, TypeAlias, TypeVar

from nobounds.programs.program import Decision, Program
from nobounds.values import dataclass

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Waiting(Generic[R]):
    """A program waits for the next query; `so_far` is its result if there is none."""

    so_far: R


StreamProgram: TypeAlias = Generator[Decision[Any] | Waiting[R], Any, R]


def step(program: StreamProgram[R], query: Any = None) -> Program[tuple[R, bool]]:
    """The part of a program that answers one query, or None for its start: the result so far, and whether it waits."""
    if getgeneratorstate(program) == GEN_CLOSED:
        raise RuntimeError("this stream has ended")
    outcome = query
    while True:
        try:
            reached = program.send(outcome)
        except StopIteration as end:
            return end.value, False
        if isinstance(reached, Waiting):
            return reached.so_far, True
        outcome = yield reached


def over(program: StreamProgram[R], queries: Iterable[Any]) -> Program[R]:
    """The program over a list of queries, as a program of decisions alone."""
    so_far, waits = yield from step(program)
    for query in queries:
        if not waits:
            break
        so_far, waits = yield from step(program, query)
    return so_far
