"""The bars that nobounds is held to, each with the number measured."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bar import Bar, place
from promises import promises
from results import BEFORE, drift

from nobounds.research.bench.families import SMOOTH, TIED
from nobounds.research.bench.results import OURS, Outcome, geometric


def bars(outcomes: Sequence[Outcome]) -> str:
    """A table of all bars that these outcomes say something about."""
    rows = ["| bar | at most | measured | verdict | worst at |", "|---|---|---|---|---|"]
    groups = (inner, tails, deciles, means, sums, promises)
    for bar in (bar for group in groups for bar in group(outcomes)):
        if not math.isnan(bar.value):
            rows.append(f"| {bar.name} | {bar.limit:g} | {bar.value:.3g} | {bar.verdict} | {bar.where} |")
    return "\n".join(rows)


def inner(outcomes: Sequence[Outcome]) -> Iterator[Bar]:
    """q = .25, .5 and .75 beside the mapped rival and beside what was released before."""
    part = [outcome for outcome in outcomes if outcome.cell.part == "inner"]
    for relation in ("add-remove", "swap"):
        here = [outcome for outcome in part if outcome.cell.relation == relation]
        smooth = [outcome for outcome in here if outcome.cell.family in SMOOTH and outcome.cell.budget >= 50]
        tied = [outcome for outcome in here if outcome.cell.family in TIED and outcome.cell.budget >= 1000]
        yield _mean(f"inner, {relation}: over the mapped rival, geometric mean", 1.05, smooth, "mapped")
        yield _worst(
            f"inner, {relation}: over the mapped rival, any cell, less two standard errors", 1.25, smooth, "mapped"
        )
        near = [outcome for outcome in here if outcome.cell.offset == 0]
        yield _mean(f"inner, {relation}: over before at offset 0, geometric mean", 1.1, near, BEFORE)
        yield _worst(
            f"inner, {relation}: over before at offset 0, any cell, less two standard errors", 1.1, near, BEFORE
        )
        yield _mean(f"inner, {relation}: ties, n epsilon >= 1000, over the mapped rival", 0.7, tied, "mapped")


def tails(outcomes: Sequence[Outcome]) -> Iterator[Bar]:
    """Tails and extremes far from 0 beside those at 0, and at 0 beside what was released before."""
    part = [outcome for outcome in outcomes if outcome.cell.part in ("tails", "extremes")]
    upper = [outcome for outcome in part if outcome.cell.statistic != "q=0.01"]
    large = [outcome for outcome in upper if outcome.cell.budget >= 1000]
    for relation, limit in (("add-remove", 1.1), ("swap", 1.25)):
        here = [outcome for outcome in large if outcome.cell.relation == relation]
        yield _offsets(f"tails and extremes, {relation}: over offset 0, less two standard errors", 1.2, here)
        near = [outcome for outcome in here if outcome.cell.offset == 0]
        for statistic in dict.fromkeys(outcome.cell.statistic for outcome in near):
            these = [outcome for outcome in near if outcome.cell.statistic == statistic]
            yield _mean(f"{statistic}, {relation}: over before at offset 0, geometric mean", limit, these, BEFORE)
        edges = [
            outcome
            for outcome in part
            if outcome.cell.statistic == "q=0.01"
            and outcome.cell.family in ("lognormal", "pareto")
            and (outcome.cell.offset, outcome.cell.relation) == (0, relation)
            and outcome.cell.budget >= 1000
        ]
        yield _mean(f"q=0.01, {relation}: sharp lower edges, over before at offset 0", 2, edges, BEFORE)
        few = [
            outcome
            for outcome in upper
            if (outcome.cell.statistic, outcome.cell.family, outcome.cell.relation) == ("q=0.9", "normal", relation)
            and round(outcome.cell.budget) == 100
        ]
        if few:
            worst = max(few, key=lambda outcome: outcome.mean(OURS))
            name = f"q=0.9, {relation}: n epsilon 100, normal, error in sd at any offset"
            yield Bar(name, 0.25, worst.mean(OURS), place(worst.cell))


def deciles(outcomes: Sequence[Outcome]) -> Iterator[Bar]:
    """Nine deciles beside the better of the recursion and JointExp."""
    both = ("recursion", "JointExp")
    part = [o for o in outcomes if o.cell.part == "deciles" and all(name in o.errors for name in both)]
    for relation in ("add-remove", "swap"):
        for least, limit in ((300, 1.1), (1000, 1.05)):
            here = [o for o in part if o.cell.relation == relation and o.cell.budget >= least]
            ratios = [o.ratio(OURS, min(both, key=o.mean))[0] for o in here]
            name = f"deciles, {relation}: n epsilon >= {least}, over the better of recursion and JointExp"
            yield Bar(name, limit, geometric(ratios))


def means(outcomes: Sequence[Outcome]) -> Iterator[Bar]:
    """Means beside the best of the rivals and of what was released before."""
    part = [o for o in outcomes if o.cell.part == "mean" and o.cell.budget >= 200 and len(o.errors) > 1]
    for kind, limit in (("other families", 1.2), ("pareto", 1.3)):
        here = [o for o in part if (o.cell.family == "pareto") == (kind == "pareto")]
        name = f"mean, {kind}: n epsilon >= 200, over the best other, any cell, less two standard errors"
        yield _worst(name, limit, here, None)


def sums(outcomes: Sequence[Outcome]) -> Iterator[Bar]:
    """Sums beside the oracle clip and beside what was released before."""
    part = [o for o in outcomes if o.cell.part == "sum" and o.cell.family != "zeros"]
    for relation, limit in (("add-remove", 1.9), ("swap", 2.3)):
        here = [o for o in part if o.cell.relation == relation]
        for kind, offsets in (("near 0", True), ("off centre", False)):
            large = [o for o in here if o.cell.budget >= 1000 and (o.cell.offset == 0) == offsets]
            yield _mean(f"sum, {relation}, {kind}: n epsilon >= 1000, over the oracle clip", limit, large, "oracle")
            small = [o for o in here if round(o.cell.budget) == 100 and (o.cell.offset == 0) == offsets]
            if relation == "add-remove":
                yield _mean(f"sum, {relation}, {kind}: n epsilon 100, over the oracle clip", 3.5, small, "oracle")
        yield _worst(f"sum, {relation}: over before, any cell, less two standard errors", 1.1, here, BEFORE)


def _mean(name: str, limit: float, outcomes: Sequence[Outcome], to: str) -> Bar:
    pairs = [(outcome.ratio(OURS, to)[0], outcome) for outcome in outcomes if to in outcome.errors]
    if not pairs:
        return Bar(name, limit, math.nan)
    most, worst = max(pairs, key=lambda pair: pair[0])
    return Bar(name, limit, geometric(value for value, _ in pairs), f"{place(worst.cell)}: {most:.3g}")


def _worst(name: str, limit: float, outcomes: Sequence[Outcome], to: str | None) -> Bar:
    pairs = []
    for outcome in outcomes:
        method = to or outcome.best()
        if method in outcome.errors:
            value, deviation = outcome.ratio(OURS, method)
            pairs.append((value - 2 * deviation, f"{place(outcome.cell)}: {value:.3g} ({deviation:.2g}) over {method}"))
    return Bar(name, limit, *max(pairs)) if pairs else Bar(name, limit, math.nan)


def _offsets(name: str, limit: float, outcomes: Sequence[Outcome]) -> Bar:
    at_zero = {outcome.cell: outcome for outcome in outcomes if outcome.cell.offset == 0}
    pairs = []
    for outcome in outcomes:
        near = at_zero.get(replace(outcome.cell, offset=0.0))
        if near is None or outcome.cell.offset == 0:
            continue
        value, deviation = drift(outcome, near)
        pairs.append((value - 2 * deviation, f"{place(outcome.cell)}: {value:.3g} ({deviation:.2g})"))
    return Bar(name, limit, *max(pairs)) if pairs else Bar(name, limit, math.nan)
