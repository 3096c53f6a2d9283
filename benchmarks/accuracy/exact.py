"""One quantile by its law: nobounds beside the mapped rival, without a run (docs/accuracy/offsets.md).

    python benchmarks/accuracy/exact.py --q 0.25 0.5 0.75 --n 100 1000 --relation add-remove
    python benchmarks/accuracy/exact.py --q 0.9 --n 100 --families normal --offsets 0,17.3,1000 --samples 20

The law of an answer is summed over the noisy sizes, the centres and the scales that lead to it. Sizes and scales that
are rarer than one in 1,000 are left out. Of the centres some stand for all: equally likely ones among the middle 96% of
the records, and others below and above, so that a centre that missed the records counts with its own probability.
"""

import argparse
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np
from grid import RELATIONS

from nobounds.arrays import Floats
from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.ladders.frame import Frame
from nobounds.ranks.auto import Plan
from nobounds.ranks.framing import DEEPEST, HALF, Around, FrameRule, expected
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.question import Question
from nobounds.ranks.view import View
from nobounds.research.bench.cells import Cell
from nobounds.research.bench.results import geometric
from nobounds.research.bench.rivals import QUANTILE
from nobounds.statistics.searched import planned

RARE = 1e-3  # sizes and scales with a lower probability are left out
INSIDE, OUTSIDE = 4, 3  # centres among the records, and on either side of them


def main() -> None:
    """Print each cell, and the geometric means."""
    options = parsed()
    ratios: dict[str, list[float]] = {}
    print("| quantile | family | offset | n | epsilon | relation | nobounds | mapped | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for cell in cells(options):
        samples = [cell.data(k) for k in range(options.samples)]
        ours = float(np.mean([expected_error(cell, data) for data in samples]))
        rival = float(np.mean(QUANTILE["mapped"](cell, options.samples)))
        place = f"{cell.statistic} | {cell.family} | {cell.offset:g} | {cell.n:,} | {cell.epsilon:g} | {cell.relation}"
        print(f"| {place} | {ours:.3g} | {rival:.3g} | {ours / rival:.3g} |", flush=True)
        ratios.setdefault(f"n epsilon {cell.budget:g}, {cell.relation}", []).append(ours / rival)
    for name, some in ratios.items():
        print(f"{name}: {geometric(some):.3g} in the geometric mean, {max(some):.3g} at most")


def cells(options: argparse.Namespace) -> Iterator[Cell]:
    """The cells that were asked for."""
    for relation in (options.relation,) if options.relation else RELATIONS:
        for n in options.n:
            for q in options.q:
                for family in options.families.split(","):
                    for offset in map(float, options.offsets.split(",")):
                        yield Cell("inner", f"q={q:g}", family, offset, n, options.epsilon, relation)


def expected_error(cell: Cell, data: Floats) -> float:
    """The mean error of nobounds on one sample, in units of the family's spread."""
    records, q = column(data), Fraction(str(cell.qs[0]))
    question = planned(records, (q,), epsilon=str(cell.epsilon), neighbors=cell.relation, marks=False)
    assert isinstance(question, Question)
    view = View(Counts.of(records.chunks, question.ladder))
    truth, error = float(cell.truth(data)[0]), 0.0
    plans: dict[Plan, float] = {}
    for size, chance in sizes(question, view):
        plan = question.plan(size)
        plans[plan] = plans.get(plan, 0.0) + chance
    for plan, chance in plans.items():
        parts = []
        for part, frame in frames(question, plan.frame, view, data):
            route = plan.routes[0].within(frame)
            parts.append((part, route, route.last(q, question.problem, view)))
        values, masses = AnswerLaw(question, tuple(parts)).points()
        error += chance * float(masses @ cell.losses(values, truth, data) / masses.sum())
    return error / sum(plans.values())


def sizes(question: Question, view: View) -> Iterator[tuple[int, float]]:
    """The sizes that may be learned, and how likely each is."""
    rule = question.size
    if rule.known is not None:
        yield rule.known, 1.0
        return
    level = view.level(rule.epsilon, rule.at_most, rule.levels, partial(question.parts().__getitem__, "size"))
    yield from ((size, chance) for size, chance in level.outcomes() if chance > RARE)


def frames(
    question: Question, rule: FrameRule | None, view: View, data: Floats
) -> Iterator[tuple[float, Frame | None]]:
    """The frames that may be drawn, and how likely each is; None if none is bought."""
    if rule is None:
        yield 1.0, None
        return
    for center, chance in centers(question, rule, view, data):
        if not rule.eps_scale:
            yield chance, Frame(center, int(expected(center)), rule.unit, rule.clock)
            continue
        rate = rule.eps_scale / 2 if rule.neighbors == "swap" else rule.eps_scale
        rungs, logs = view.spread(Around(center, rule.unit, *rule.bounds), rate, rule.scale_cost).log_pmf()
        masses = np.exp(logs)
        kept = [k for k in range(len(masses)) if masses[k] > RARE or masses[k] == masses.max()]
        for k in kept:
            octave = int(expected(center)) + int(rungs[k] or 0) - 1 + DEEPEST
            yield chance * masses[k] / masses[kept].sum(), Frame(center, octave, rule.unit, rule.clock)


def centers(question: Question, rule: FrameRule, view: View, data: Floats) -> Iterator[tuple[float, float]]:
    """Centres that stand for all, and how likely those are that each stands for."""
    problem = question.problem
    cost = partial(rule.center.cost, HALF, problem.neighbors, problem.nullable)
    first, last, masses = view.center(rule.center, cost).blocks()
    values = np.asarray(rule.centers(int(rule.center.ladder.first) + first + (last - first) // 2))
    order = np.argsort(values, kind="stable")
    values, masses = values[order], masses[order] / masses.sum()
    low, high = np.quantile(data, [0.02, 0.98])
    inside = (low <= values) & (values <= high)
    for where, many in ((inside, INSIDE), (values < low, OUTSIDE), (values > high, OUTSIDE)):
        whole = float(masses[where].sum())
        if whole > 1e-8:
            passed = np.cumsum(masses[where]) / whole
            at = np.minimum(np.searchsorted(passed, (np.arange(many) + 0.5) / many), len(passed) - 1)
            yield from ((float(center), whole / many) for center in values[where][at])


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="one quantile by its law, beside the mapped rival")
    parser.add_argument("--q", nargs="+", type=float, default=[0.25, 0.5, 0.75])
    parser.add_argument("--n", nargs="+", type=int, default=[100])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--families", default="normal,uniform,lognormal,pareto", help="separated by commas")
    parser.add_argument("--offsets", default="0,17.3,1000", help="in spreads, by commas")
    parser.add_argument("--relation", choices=RELATIONS)
    parser.add_argument("--samples", type=int, default=3, help="data sets")
    return parser.parse_args()


if __name__ == "__main__":
    main()
