"""The table of the audit: all cases, run in parallel, and the verdicts on them."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import lru_cache
from multiprocessing import get_context
from typing import Literal, TypeAlias

from nobounds.auditing.cases import Case, ClaimRow
from nobounds.auditing.claims import (
    answers,
    choices,
    clips,
    keys,
    numbers,
    releases,
    slicing,
    sparse,
    streams,
    vectored,
    walks,
)

Which: TypeAlias = Literal["full", "quick"]

PARTS = (walks, streams, sparse, choices, numbers, vectored, clips, answers, slicing, keys, releases)


@lru_cache(maxsize=2)
def all_cases(which: Which = "full") -> tuple[Case, ...]:
    """Every case, or those of the quick table: of each mechanism some, or its first one."""
    every = tuple(case for part in PARTS for case in part.cases())
    if which == "full":
        return every
    first = {case.mechanism: case for case in reversed(every)}
    for case in every:
        if case.quick:
            first.pop(case.mechanism, None)
    some = (case for case in every if case.quick or first.get(case.mechanism) is case)
    return tuple(replace(case, look=case.brief or case.look) for case in some)


def run(which: Which = "full", processes: int = 1) -> Iterator[tuple[int, list[ClaimRow]]]:
    """The rows of each case, with its index among the cases, in order."""
    places = range(len(all_cases(which)))
    if processes <= 1:
        yield from (_rows(which, place) for place in places)
        return
    # A fresh interpreter for each process: a forked one may inherit locked locks of other threads.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(_rows, [which] * len(places), places)
        finally:
            pool.shutdown(cancel_futures=True)


def exceeded(rows: Sequence[ClaimRow]) -> list[ClaimRow]:
    """The rows whose claim is false."""
    return [row for row in rows if row.verdict == "EXCEEDED"]


def loose(rows: Sequence[ClaimRow]) -> list[ClaimRow]:
    """The rows whose claim is true, but was not reached as it should be."""
    return [row for row in rows if row.verdict == "loose"]


def _rows(which: Which, place: int) -> tuple[int, list[ClaimRow]]:
    return place, all_cases(which)[place].rows()
