"""The measurements behind the constants of `nobounds.ranks.tuning`, by exact laws on synthetic data.

    python benchmarks/tuning/choices.py [name of one measurement]

Errors are expected absolute errors over families of data, n = 1000, epsilon 1, in geometric mean; no sampling of noise.
Where a route would buy a private scale, the true one is taken.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

import nobounds as nb
from nobounds.accounting.cost import split
from nobounds.accounting.loss import Neighbors
from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.mechanisms.flip import flip_law
from nobounds.mechanisms.runs import RunLaw, Runs
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.route import TILT_OCTAVES, Route, walk_cost
from nobounds.ranks.tuning import TUNING
from nobounds.ranks.view import walk_of
from nobounds.statistics.quantiles import planned

SAMPLES, ROWS = 6, 1000
INNER, OUTER, RISE, TILT = TUNING.inner, TUNING.outer, TUNING.rise, TUNING.tilt
RNG = np.random.default_rng(11)
FAMILIES: dict[str, Callable[[], np.ndarray]] = {
    "uniform": lambda: RNG.uniform(0, 1, ROWS),
    "symmetric": lambda: RNG.normal(0, 5, ROWS),
    "normal": lambda: RNG.normal(10, 3, ROWS),
    "lognormal": lambda: RNG.lognormal(3, 0.8, ROWS),
    "exponential": lambda: RNG.exponential(1, ROWS),
    "pareto": lambda: RNG.pareto(1.5, ROWS) + 1,
}
DATA = {name: [draw() for _ in range(SAMPLES)] for name, draw in FAMILIES.items()}
RELATIONS: tuple[Neighbors, Neighbors] = ("swap", "add-remove")


def scale(data: np.ndarray) -> int:
    """The octave of the median magnitude."""
    return math.floor(math.log2(float(np.median(np.abs(data)))))


def scaled(data: np.ndarray, bits: int) -> nb.Ladder:
    """The ladder for these data with so many bits."""
    return nb.Ladder.float_bits(bits).at_scale(scale(data))


def walk_law(
    data: np.ndarray,
    q: Fraction,
    up: bool,
    share: Fraction,
    neighbors: Neighbors,
    drop: int,
    ladder: nb.Ladder,
    tilt: int = 0,
) -> tuple[nb.Law, Route]:
    """The law of one walk over the whole line with all of epsilon 1."""
    eps1, eps2 = split(partial(walk_cost, q, up, neighbors), Fraction(1), share)
    ends = (ladder.first, ladder.last) if up else (ladder.last, ladder.first)
    route = Route(ladder, up, *ends, eps1, eps2, Fraction(drop))
    if tilt:
        level = int(ladder.rungs(np.array([2.0 ** (scale(data) + TILT_OCTAVES)]))[0])
        route = replace(route, tilt=tilt, tilted_from=level)
    return nb.Law(walk_of(nb.Histogram.of([data], ladder), q, route, "exponential")), route


def error(law: nb.Law | RunLaw, ladder: nb.Ladder, up: bool, data: np.ndarray, q: float, cap: float = np.inf) -> float:
    """The expected absolute error, each error capped; what lies beyond ten times the data counts as the cap."""
    truth, reach = float(np.quantile(data, q)), 10 * float(np.abs(data).max())
    middle = 60 / len(data)
    low, high = np.quantile(data, [max(q - middle, 0), min(q + middle, 1)])
    low, high = (low if q > middle else -reach), (high if q < 1 - middle else reach)
    first, last = (int(rung) for rung in ladder.rungs(np.array([low, high])))
    rungs = np.arange(first, last + 1)
    positions = rungs - ladder.first if up else (ladder.last - rungs)[::-1]
    tails = law.tail(np.append(positions, positions[-1] + 1))
    masses = tails[:-1] - tails[1:] if up else (tails[:-1] - tails[1:])[::-1]
    errors = np.minimum(np.abs(ladder.map.floats(rungs) - truth), cap)
    outside = 0.0 if np.isinf(cap) else (1 - masses.sum()) * cap
    return float(masses @ errors + outside)


def walk_error(
    q: float, neighbors: Neighbors, share: Fraction, drop: int, bits: int, data: np.ndarray, up: bool | None = None
) -> float:
    """The error of a walk in the direction that `auto` prefers."""
    rank = Fraction(str(q))
    way = ((2 * q >= 1) if neighbors == "swap" else (2 * q <= 1)) if up is None else up
    ladder = scaled(data, bits)
    return error(walk_law(data, rank, way, share, neighbors, drop, ladder)[0], ladder, way, data, q)


def flip_error(q: float, neighbors: Neighbors, bits: int, data: np.ndarray) -> float:
    """The error of permute-and-flip."""
    rank, ladder = Fraction(str(q)), scaled(data, bits)
    sensitivity = Fraction(1) if neighbors == "swap" else max(rank, 1 - rank)
    runs = Runs.of(nb.Histogram.of([data], ladder), rank, 1 / (2 * sensitivity))
    return error(flip_law(runs), ladder, True, data, q)


def by_family(one: Callable[[np.ndarray], float]) -> np.ndarray:
    """The mean over the samples of each family."""
    return np.array([np.mean([one(data) for data in many]) for many in DATA.values()])


def ratio(one: Callable[[np.ndarray], float], other: Callable[[np.ndarray], float]) -> float:
    """The error of one over that of the other, in geometric mean over the families."""
    return float(np.exp(np.mean(np.log(by_family(one) / by_family(other)))))


def directions() -> None:
    """Under add-remove: the cheap direction (up for small q, down for large) against the other."""
    print("error of the cheap direction over that of the other, add-remove")
    for q in (0.05, 0.25, 0.75, 0.95):
        cheap, dear = (partial(walk_error, q, "add-remove", INNER, -RISE, 8, up=up) for up in (q < 0.5, q >= 0.5))
        print(f"  q = {q:<5} {ratio(cheap, dear):.2f}")


def shares() -> None:
    """The share of eps1 for inner quantiles, and the ranks that the threshold is raised by."""
    print("error of a walk by share of eps1 and rise of the threshold, over that of share 0.4 and no rise")
    for neighbors in RELATIONS:
        for q in (0.05, 0.25, 0.9):
            base = partial(walk_error, q, neighbors, Fraction(2, 5), 0, 8)
            cells = [
                f"{float(share)} {rise}: {ratio(partial(walk_error, q, neighbors, share, -rise, 8), base):.2f}"
                for share in (Fraction(2, 5), Fraction(1, 2), Fraction(3, 5))
                for rise in (0, 1, 2)
            ]
            print(f"  {neighbors:<11} q = {q:<5} " + "  ".join(cells))


def fineness() -> None:
    """Bits of the ladder: coarse ones round the value, fine ones halt a walk early and blunt a flip."""
    print("error by bits of the ladder, over that of 8 bits")
    for neighbors in RELATIONS:
        for name, q in (("flip", 0.5), ("flip", 0.25), ("walk", 0.25), ("walk", 0.05), ("walk", 0.95)):
            one = (
                partial(flip_error, q, neighbors) if name == "flip" else partial(walk_error, q, neighbors, INNER, -RISE)
            )
            cells = [f"{bits}: {ratio(partial(one, bits), partial(one, 8)):.2f}" for bits in (6, 7, 8, 9, 10)]
            print(f"  {neighbors:<11} {name} q = {q:<5} " + "  ".join(cells))


def flip_against_walk() -> None:
    """The error of permute-and-flip over that of the walk."""
    print("error of flip over that of the walk")
    for neighbors in RELATIONS:
        cells = []
        for q in (0.05, 0.25, 0.3, 0.35, 0.5, 0.75, 0.95):
            walk = partial(walk_error, q, neighbors, INNER, -RISE, 8)
            cells.append(f"{q}: {ratio(partial(flip_error, q, neighbors, 8), walk):.2f}")
        print(f"  {neighbors:<11} " + "  ".join(cells))


def tilt() -> None:
    """Ten ranks from the end, add-remove: a tilted walk from the end against a walk to it."""
    print(
        "q = 0.99, add-remove: error of the tilted walk down over that of the walk up, and chance of ten times too much"
    )
    q, runaway = 0.99, 0.0

    def down(data: np.ndarray) -> float:
        nonlocal runaway
        ladder = scaled(data, 6)
        law, route = walk_law(data, Fraction(99, 100), False, INNER, "add-remove", -RISE, ladder, TILT)
        top = int(ladder.rungs(np.array([10 * data.max()]))[0])
        runaway = max(runaway, 1 - float(law.tail([route.start - top])[0]))
        return error(law, ladder, False, data, q)

    ratios = by_family(down) / by_family(partial(walk_error, q, "add-remove", INNER, -RISE, 6, up=True))
    print("  " + "  ".join(f"{name}: {r:.2f}" for name, r in zip(DATA, ratios, strict=True)) + f"  {runaway:.0e}")


def maximum() -> None:
    """The share and the drop for the maximum: capped relative error, and the chance to pass ten times the truth."""
    print("maximum: error (relative, capped at 9) and chance of more than ten times the truth")
    ladder = nb.Ladder.float_bits(8)
    for share in (Fraction(1, 2), Fraction(3, 5), OUTER, Fraction(7, 10)):
        for drop in (-2, 0, 2):
            errors, runaway = [], 0.0
            for many in DATA.values():
                for data in many:
                    law, top = walk_law(data, Fraction(1), True, share, "swap", drop, ladder)[0], data.max()
                    errors.append(error(law, ladder, True, data, 1.0, 9 * top) / top)
                    runaway = max(runaway, float(law.tail(ladder.rungs(np.array([10 * top])) - ladder.first)[0]))
            print(f"  share {float(share):<5} drop {drop}: {np.exp(np.mean(np.log(errors))):.4f}  {runaway:.1e}")


def few_rows() -> None:
    """How often the median of few rows is within a factor 1.5, with no bounds given."""
    print("P(median within a factor 1.5), lognormal data")
    for rows in (60, 80, 100, 150, 200, 300):
        cells = []
        for neighbors in RELATIONS:
            chances = []
            for data in DATA["lognormal"]:
                few, truth = data[:rows], float(np.median(data[:rows]))
                records = column(few)
                question = planned(records, (Fraction(1, 2),), epsilon=1, neighbors=neighbors)
                law = AnswerLaw.of(question, Counts.of(records.chunks, question.ladder))
                chances.append(1 - law.above(1.5 * truth) - law.below(truth / 1.5))
            cells.append(f"{neighbors} {np.mean(chances):.3f}")
        print(f"  {rows:>3} rows: " + "  ".join(cells))


MEASUREMENTS = (directions, shares, fineness, flip_against_walk, tilt, maximum, few_rows)

if __name__ == "__main__":
    for measurement in MEASUREMENTS:
        if measurement.__name__ in sys.argv[1:] or not sys.argv[1:]:
            measurement()
