"""Bars about nobounds alone: few rows, wild answers, errors that must not rise with n, a unit, a shift or a fact."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bar import Bar, place
from results import drift

from nobounds.research.bench.cells import Cell
from nobounds.research.bench.results import OURS, Outcome

FEW = {20: 0.30, 50: 0.08, 100: 0.04}


def promises(outcomes: Sequence[Outcome]) -> Iterator[Bar]:
    """All of them."""
    yield from few(outcomes)
    yield from wild(outcomes)
    yield from growth(outcomes)
    yield from units(outcomes)
    yield from shifts(outcomes)
    yield from stated(outcomes)


def few(outcomes: Sequence[Outcome]) -> Iterator[Bar]:
    """Medians of few rows that are off by half of the median or of the interquartile range, in the worst family."""
    for n, limit in FEW.items():
        here = [o for o in outcomes if o.cell.part == "few" and (o.cell.n, o.cell.relation) == (n, "add-remove")]
        if here:
            shares = [o.mean(OURS) for o in here]
            worst = max(here, key=lambda o: o.mean(OURS))
            where = f"{place(worst.cell)}: {worst.mean(OURS):.2g}"
            yield Bar(
                f"median of {n} rows: share far off, mean over columns", limit, math.fsum(shares) / len(here), where
            )


def wild(outcomes: Sequence[Outcome]) -> Iterator[Bar]:
    """Answers off by more than the range of the data."""
    here = [o for o in outcomes if o.cell.part == "wild"]
    if here:
        worst = max(here, key=lambda o: o.mean(OURS))
        where = f"{place(worst.cell)}, {len(worst.errors[OURS]):,} runs"
        yield Bar("q=0.01 and 0.99 of positive data: share off by more than the range", 1e-3, worst.mean(OURS), where)


def growth(outcomes: Sequence[Outcome]) -> Iterator[Bar]:
    """The error at n over the least error at a smaller n."""
    lines: dict[Cell, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.cell.part == "growth":
            lines[replace(outcome.cell, n=0)].append(outcome)
    pairs = []
    for line in lines.values():
        line.sort(key=lambda o: o.cell.n)
        for k in range(1, len(line)):
            least = min(line[:k], key=lambda o: o.mean(OURS))
            pairs.append((least, line[k]))
    yield _worst("error does not rise with n, less two standard errors", 1.1, pairs)


def units(outcomes: Sequence[Outcome]) -> Iterator[Bar]:
    """Data times 1e-9 or 1e9 beside the data."""
    usual = {o.cell: o for o in outcomes if o.cell.part == "units" and o.cell.scale == 1}
    others = [o for o in outcomes if o.cell.part == "units" and o.cell.scale != 1]
    pairs = [(usual[replace(o.cell, scale=1.0)], o) for o in others if replace(o.cell, scale=1.0) in usual]
    yield _worst("change of unit by 1e-9 or 1e9, less two standard errors", 1.25, pairs)


def shifts(outcomes: Sequence[Outcome]) -> Iterator[Bar]:
    """Data far from 0 beside the same data at 0: medians from n epsilon 50 on, the others from 1000 on."""
    here = [o for o in outcomes if o.cell.part in ("inner", "tails", "extremes", "deciles", "mean")]
    here = [o for o in here if o.cell.budget >= 1000 or (o.cell.statistic == "q=0.5" and o.cell.budget >= 50)]
    near = {o.cell: o for o in here if o.cell.offset == 0}
    pairs = [
        (near[replace(o.cell, offset=0.0)], o) for o in here if o.cell.offset and replace(o.cell, offset=0.0) in near
    ]
    yield _worst("shift of up to 1000 spreads, less two standard errors", 1.25, pairs)


def stated(outcomes: Sequence[Outcome]) -> Iterator[Bar]:
    """A true statement beside none."""
    here = [o for o in outcomes if o.cell.part == "stated"]
    without = {o.cell: o for o in here if not o.cell.stated}
    pairs = [(without[replace(o.cell, stated="")], o) for o in here if o.cell.stated]
    for fact in ("lower", "upper", "resolution", "rows"):
        these = [pair for pair in pairs if pair[1].cell.stated == fact]
        yield _worst(f"stating a true {fact}, less two standard errors", 1.05, these)


def _worst(name: str, limit: float, pairs: Sequence[tuple[Outcome, Outcome]]) -> Bar:
    """The largest ratio of the second of a pair to the first."""
    ratios = []
    for first, second in pairs:
        value, deviation = drift(second, first)
        ratios.append((value - 2 * deviation, f"{place(second.cell)}: {value:.3g} ({deviation:.2g})"))
    return Bar(name, limit, *max(ratios)) if ratios else Bar(name, limit, math.nan)
