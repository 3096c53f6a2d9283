"""The measurements behind the constants of `nobounds.route`, by exact laws on synthetic data: run it to see them again.

    python benchmarks/choices.py

Errors are expected absolute errors over families of data, n = 1000, epsilon 1, in geometric mean; no sampling of noise.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

import nobounds as nb
from nobounds.answer_law import AnswerLaw
from nobounds.engines.arrays import column
from nobounds.loss import Cost, split
from nobounds.quantile import ask
from nobounds.question import walk_of
from nobounds.route import Route, walk_cost

SAMPLES, ROWS = 8, 1000
LADDER = nb.Ladder.float_bits(8)
RNG = np.random.default_rng(11)
FAMILIES: dict[str, Callable[[], np.ndarray]] = {
    "uniform": lambda: RNG.uniform(0, 1, ROWS),
    "normal": lambda: RNG.normal(10, 3, ROWS),
    "lognormal": lambda: RNG.lognormal(3, 0.8, ROWS),
    "pareto": lambda: RNG.pareto(1.5, ROWS) + 1,
}
DATA = {name: [draw() for _ in range(SAMPLES)] for name, draw in FAMILIES.items()}


def law_of(
    data: np.ndarray,
    q: Fraction,
    up: bool,
    share: Fraction,
    neighbors: str,
    drop: int = 0,
    ladder: nb.Ladder = LADDER,
) -> nb.Law:
    """The law of one walk over the whole line with all of epsilon 1."""
    cost: Callable[[Fraction, Fraction], Cost] = partial(walk_cost, q, up, neighbors)
    eps1, eps2 = split(cost, Fraction(1), share)
    ends = (ladder.first, ladder.last) if up else (ladder.last, ladder.first)
    route = Route(ladder, up, *ends, eps1, eps2, drop)
    return nb.Law(walk_of(nb.Histogram.of([data], ladder), q, route, "exponential"))


def error(law: nb.Law, up: bool, truth: float, cap: float = np.inf, ladder: nb.Ladder = LADDER) -> float:
    """The expected absolute error, each error capped; what lies beyond a factor 30 counts as the cap."""
    low, high = ladder.rungs(np.array([truth / 30, truth * 30]))
    rungs = np.arange(low, high + 1)
    positions = rungs - ladder.first if up else (ladder.last - rungs)[::-1]
    tails = law.tail(np.append(positions, positions[-1] + 1))
    masses = tails[:-1] - tails[1:] if up else (tails[:-1] - tails[1:])[::-1]
    errors = np.minimum(np.abs(ladder.map.floats(rungs) - truth), cap)
    outside = 0.0 if np.isinf(cap) else (1 - masses.sum()) * cap
    return float(masses @ errors + outside)


def mean_over_families(one: Callable[[np.ndarray], float]) -> float:
    """Geometric mean over the families of the mean over their samples."""
    return float(np.exp(np.mean([np.log(np.mean([one(data) for data in many])) for many in DATA.values()])))


def directions() -> None:
    """Under add-remove: the cheap direction (up for small q, down for large) against the other."""
    print("error of the cheap direction over that of the other, add-remove, share 0.4")
    for q in (Fraction(1, 20), Fraction(1, 4), Fraction(3, 4), Fraction(19, 20)):
        cheap, dear = (
            mean_over_families(
                lambda data, q=q, up=up: error(
                    law_of(data, q, up, Fraction(2, 5), "add-remove"), up, float(np.quantile(data, float(q)))
                )
            )
            for up in (2 * q < 1, 2 * q >= 1)
        )
        print(f"  q = {float(q):<5} {cheap / dear:.2f}")


def shares() -> None:
    """The share of eps1 for inner quantiles."""
    print("error by share of eps1, relative to the best share")
    options = [Fraction(k, 10) for k in (3, 4, 5, 6)]
    for neighbors in ("swap", "add-remove"):
        for q in (Fraction(1, 20), Fraction(1, 4), Fraction(1, 2)):
            up = 2 * q >= 1 if neighbors == "swap" else 2 * q <= 1
            errors = [
                mean_over_families(
                    lambda data, s=share, up=up, q=q, neighbors=neighbors: error(
                        law_of(data, q, up, s, neighbors), up, float(np.quantile(data, float(q)))
                    )
                )
                for share in options
            ]
            cells = "  ".join(f"{float(s)}: {e / min(errors):.2f}" for s, e in zip(options, errors, strict=True))
            print(f"  {neighbors:<11} q = {float(q):<5} {cells}")


def fineness() -> None:
    """Mantissa bits of the ladder: coarse ones round the value, fine ones halt early."""
    print("error by bits of the ladder, relative to 8 bits, swap, share 0.4")
    for q in (Fraction(1, 4), Fraction(1, 2), Fraction(19, 20)):
        up = 2 * q >= 1
        errors = {}
        for bits in (6, 8, 10):
            ladder = nb.Ladder.float_bits(bits)
            errors[bits] = mean_over_families(
                lambda data, q=q, up=up, ladder=ladder: error(
                    law_of(data, q, up, Fraction(2, 5), "swap", ladder=ladder),
                    up,
                    float(np.quantile(data, float(q))),
                    ladder=ladder,
                )
            )
        print(f"  q = {float(q):<5} " + "  ".join(f"{bits}: {e / errors[8]:.2f}" for bits, e in errors.items()))


def maximum() -> None:
    """The share and the drop for the maximum: capped relative error, and the chance to pass ten times the truth."""
    print("maximum: error (relative, capped at 9) and chance of more than ten times the truth")
    for share in (Fraction(1, 2), Fraction(3, 5), Fraction(13, 20), Fraction(7, 10)):
        for drop in (0, 1, 3):
            laws = {
                name: [(law_of(data, Fraction(1), True, share, "swap", drop), data.max()) for data in many]
                for name, many in DATA.items()
            }
            errors = [np.mean([error(law, True, top, 9 * top) / top for law, top in many]) for many in laws.values()]
            runaway = max(
                float(law.tail(LADDER.rungs(np.array([10 * top])) - LADDER.first)[0])
                for many in laws.values()
                for law, top in many
            )
            print(f"  share {float(share):<5} drop {drop}: {np.exp(np.mean(np.log(errors))):.4f}  {runaway:.1e}")


def answer_law(data: np.ndarray, **options: object) -> AnswerLaw:
    """The exact law of the private median."""
    records = column(data)
    question = ask(records, (Fraction(1, 2),), epsilon=1, **options)
    return AnswerLaw.of(question, nb.Histogram.of(records.chunks(), question.ladder))


def few_rows() -> None:
    """How often the median of few rows is within a factor 1.5, with no bounds given."""
    print("P(median within a factor 1.5), lognormal data")
    for rows in (60, 80, 100, 150, 300):
        cells = []
        for neighbors in ("add-remove", "swap"):
            chances = []
            for data in DATA["lognormal"]:
                few, truth = data[:rows], float(np.median(data[:rows]))
                law = answer_law(few, neighbors=neighbors)
                chances.append(1 - law.above(1.5 * truth) - law.below(truth / 1.5))
            cells.append(f"{neighbors} {np.mean(chances):.3f}")
        print(f"  {rows:>3} rows: " + "  ".join(cells))


def flip_against_walk() -> None:
    """The error of permute-and-flip over that of the walk at the median."""
    print("error of flip over that of walk, median")
    for neighbors in ("add-remove", "swap"):
        errors = []
        for method in ("walk", "flip"):

            def one(data: np.ndarray, method: str = method, neighbors: str = neighbors) -> float:
                truth = float(np.median(data))
                values, masses = answer_law(data, neighbors=neighbors, method=method).pmf(truth / 30, truth * 30)
                return float(masses @ np.abs(values - truth))

            errors.append(mean_over_families(one))
        print(f"  {neighbors:<11} {errors[1] / errors[0]:.2f}")


if __name__ == "__main__":
    directions()
    shares()
    fineness()
    maximum()
    few_rows()
    flip_against_walk()
