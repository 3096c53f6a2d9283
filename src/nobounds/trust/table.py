"""The table of the audit: all cases, run side by side, and the verdict on all of them."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context

from nobounds.trust import choices, keys, numbers, sparse, walks
from nobounds.trust.cases import Case, Row

PARTS = (walks, sparse, choices, numbers, keys)


@lru_cache(maxsize=2)
def all_cases(quick: bool = False) -> tuple[Case, ...]:
    """Every case, or those of the quick table."""
    return tuple(case for part in PARTS for case in part.cases() if case.quick or not quick)


def run(quick: bool = False, processes: int = 1) -> Iterator[tuple[int, list[Row]]]:
    """The rows of each case, with its place among the cases, as they are done."""
    places = range(len(all_cases(quick)))
    if processes <= 1:
        yield from ((place, _rows(quick, place)[1]) for place in places)
        return
    # A fresh interpreter for each process: one that was forked may inherit the locks of threads.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_rows, [quick] * len(places), places)


def exceeded(rows: Sequence[Row]) -> list[Row]:
    """The rows whose claim is false."""
    return [row for row in rows if row.verdict == "EXCEEDED"]


def _rows(quick: bool, place: int) -> tuple[int, list[Row]]:
    return place, all_cases(quick)[place].rows()
