"""The expected errors behind docs/accuracy.md: data sets, nobounds, methods that are given bounds, and who runs what.

Errors are sums over the law of the last decision of an answer; the frames before it are drawn. They are averaged over
samples of data.
"""

import csv
import gzip
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.noise.source import random_source
from nobounds.ranks.law import AnswerLaw
from nobounds.statistics.searched import planned

Floats = np.ndarray[Any, np.dtype[np.float64]]
Relation = Literal["swap", "add-remove"]
Key = tuple[Any, ...]
Found = list[tuple[Key, "Errors"]]

WORKERS, ROWS = 2, 1000
CAP = 10  # an error counts for no more than this many times the range of the data
FRAMES = 16  # that are drawn on each sample
TINY = 1e-9  # where both errors are below this there is nothing to compare

GIVEN_QS = (0.05, 0.25, 0.5, 0.75, 0.95)
ALL_QS = (0.05, 0.15, 0.25, 0.35, 0.45, 0.5, 0.55, 0.65, 0.75, 0.85, 0.95)
SIZES = tuple(10**k for k in range(2, 8))
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
UPPERS = tuple(10.0**k for k in range(3, 13))
UPPER = 1e4  # what the exponential mechanism gets in claims 3 and 4
CANDIDATES = 1000

DEFAULT, FIXED, BOUNDED, GRID = (
    "nobounds, default",
    "nobounds, beta=1.001",
    "exponential mechanism, bounded",
    f"{CANDIDATES} candidates, bounded",
)


@dataclass(frozen=True, slots=True)
class Errors:
    """The mean and the median of an absolute error."""

    mean: float
    median: float

    @classmethod
    def average(cls, many: list["Errors"]) -> "Errors":
        """Over samples."""
        return cls(float(np.mean([e.mean for e in many])), float(np.mean([e.median for e in many])))


@dataclass(frozen=True, slots=True)
class DataSet:
    """Where a sample comes from, and what the bounded rival gets and is given."""

    draw: Callable[[np.random.Generator], Floats]
    low: float
    high: float
    resolution: float | None = None
    jitter: float = 0.0


def bundled(file: str, name: str) -> Callable[[np.random.Generator], Floats]:
    """Samples of a bundled column without replacement."""

    def draw(rng: np.random.Generator) -> Floats:
        with gzip.open(str(files("nobounds") / "data" / file), "rt") as text:
            values = [float(row[name]) for row in csv.DictReader(text)]
        return rng.choice(np.array(values), ROWS, replace=False)

    return draw


SETS = {
    "uniform on [-5, 5]": DataSet(lambda rng: rng.uniform(-5, 5, ROWS), -5, 5),
    "normal(0, 5)": DataSet(lambda rng: rng.normal(0, 5, ROWS), -25, 25),
    "ratings": DataSet(bundled("books.csv.gz", "average_rating"), 0, 10, 0.01, 0.001),
    "pages": DataSet(bundled("books.csv.gz", "num_pages"), 0, 10_000, 1, 0.1),
    "ages": DataSet(bundled("adult.csv.gz", "age"), 0, 100, 1, 0.1),
    "hours": DataSet(bundled("adult.csv.gz", "hours_per_week"), 0, 100, 1, 0.1),
}


def lognormal(rows: int, sample: int) -> Floats:
    """A sorted sample for claims 3 to 5."""
    return np.sort(np.random.default_rng([rows, sample]).lognormal(3, 0.8, rows))


# nobounds


def median_of(errors: Floats, chances: Floats) -> float:
    """The error that half of the answers stay within."""
    order = np.argsort(errors)
    passed = np.cumsum(chances[order])
    return float(errors[order][np.searchsorted(passed, passed[-1] / 2)])


def nobounds_errors(data: Floats, q: float, sample: int, epsilon: float = 1.0, **options: Any) -> Errors:
    """The errors of nobounds.quantile with no bounds given: of the law after each of some frames that are drawn."""
    records, truth = column(data), float(np.quantile(data, q))
    asked = planned(records, (Fraction(str(q)),), epsilon=Fraction(str(epsilon)), **options)
    source = random_source(np.random.default_rng([sample, len(data)]))
    answers, chances = AnswerLaw.sampled(asked, Counts.of(records.chunks, asked.ladder), source, FRAMES).points()
    errors = np.minimum(np.abs(answers - truth), CAP * float(np.ptp(data)))
    return Errors(float(errors @ chances / chances.sum()), median_of(errors, chances))


# The methods that are given bounds


def rival_epsilon(epsilon: float, q: float, relation: Relation) -> float:
    """Under add-remove the rank moves by max(q, 1 - q) at most, so the rival may act as if its epsilon were larger."""
    return epsilon if relation == "swap" else epsilon / max(q, 1 - q)


def exponential_mechanism(
    ordered: Floats, q: float, truth: float, *, epsilon: float, low: float, high: float, cap: float
) -> Errors:
    """The exponential mechanism on [low, high] (Smith 2011).

    Interval j between sorted points is drawn with probability proportional to its width times
    exp(-epsilon |j - q n| / 2), and then a uniform point in it.
    """
    records = np.clip(ordered, low, high)
    cuts = np.clip([low, truth - cap, truth, truth + cap, high], low, high)  # between them errors are linear
    points = np.sort(np.concatenate([records, cuts]), kind="stable")
    masses = weights(np.searchsorted(records, points[:-1], side="right"), q, len(records), epsilon) * np.diff(points)
    kept = masses > masses.max() * 1e-18
    errors = np.minimum(np.abs((points[1:][kept] + points[:-1][kept]) / 2 - truth), cap)
    chances = masses[kept] / masses[kept].sum()
    return Errors(float(chances @ errors), median_of(errors, chances))


def rounded_mechanism(
    ordered: Floats, q: float, truth: float, *, epsilon: float, low: float, high: float, step: float
) -> Errors:
    """The same, its answer rounded to a grid."""
    points = np.concatenate([[low], np.clip(ordered, low, high), [high]])
    masses = weights(np.arange(len(ordered) + 1), q, len(ordered), epsilon) * np.diff(points)
    passed = np.concatenate([[0], np.cumsum(masses / masses.sum())])
    grid = np.arange(round(low / step), round(high / step) + 1) * step
    cuts = np.concatenate([[low], (grid[1:] + grid[:-1]) / 2, [high]])
    chances, errors = np.diff(np.interp(cuts, points, passed)), np.abs(grid - truth)
    return Errors(float(chances @ errors), median_of(errors, chances))


def candidate_mechanism(ordered: Floats, q: float, truth: float, *, epsilon: float, upper: float, cap: float) -> Errors:
    """The exponential mechanism over candidates evenly spaced from 0 to `upper`."""
    candidates = np.linspace(0, upper, CANDIDATES)
    masses = weights(np.searchsorted(ordered, candidates, side="right"), q, len(ordered), epsilon)
    errors, chances = np.minimum(np.abs(candidates - truth), cap), masses / masses.sum()
    return Errors(float(chances @ errors), median_of(errors, chances))


def weights(ranks: Any, q: float, rows: int, epsilon: float) -> Floats:
    """What the exponential mechanism multiplies widths or candidates by."""
    exponents = -epsilon * np.abs(ranks - q * rows) / 2
    return np.exp(exponents - exponents.max())


def bounded_errors(
    ordered: Floats, q: float, epsilon: float, upper: float, relation: Relation = "add-remove"
) -> Errors:
    """The errors of the exponential mechanism given [0, upper]."""
    told, cap = rival_epsilon(epsilon, q, relation), CAP * float(np.ptp(ordered))
    truth = float(np.quantile(ordered, q))
    return exponential_mechanism(ordered, q, truth, epsilon=told, low=0.0, high=upper, cap=cap)


# The tasks: one sample of data each


def compare(relation: Relation, name: str, qs: tuple[float, ...], sample: int) -> Found:
    """Claims 1 and 2: both methods at many q on one sample of a data set."""
    rng, given = np.random.default_rng([list(SETS).index(name), sample]), SETS[name]
    data, found = given.draw(rng), []
    ordered = np.sort(data + rng.normal(0, given.jitter, len(data)) if given.jitter else data)
    options = {} if given.resolution is None else {"resolution": Fraction(str(given.resolution))}
    for q in qs:
        truth, told = float(np.quantile(data, q)), rival_epsilon(1.0, q, relation)
        if given.resolution is None:
            cap = CAP * float(np.ptp(data))
            theirs = exponential_mechanism(ordered, q, truth, epsilon=told, low=given.low, high=given.high, cap=cap)
        else:
            theirs = rounded_mechanism(
                ordered, q, truth, epsilon=told, low=given.low, high=given.high, step=given.resolution
            )
        found.append(((relation, name, q, DEFAULT), nobounds_errors(data, q, sample, neighbors=relation, **options)))
        found.append(((relation, name, q, BOUNDED), theirs))
    return found


def by_size(rows: int, sample: int) -> Found:
    """Claim 3: three methods on one sample of so many rows."""
    data = lognormal(rows, sample)
    return [((3, q, rows, name), errors) for q in (0.5, 0.99) for name, errors in three(data, q, sample, 1.0)]


def by_epsilon(epsilon: float, sample: int) -> Found:
    """Claim 4: three methods on one sample for one epsilon."""
    data = lognormal(ROWS, sample)
    return [((4, q, epsilon, name), errors) for q in (0.5, 0.9) for name, errors in three(data, q, sample, epsilon)]


def three(data: Floats, q: float, sample: int, epsilon: float) -> Iterator[tuple[str, Errors]]:
    """The errors of three methods."""
    yield DEFAULT, nobounds_errors(data, q, sample, epsilon)
    yield FIXED, nobounds_errors(data, q, sample, epsilon, beta=Fraction("1.001"))
    yield BOUNDED, bounded_errors(data, q, epsilon, UPPER)


def by_looseness(sample: int) -> Found:
    """Claim 5: nobounds, which gets no bound, and two methods with ever looser ones."""
    data, found = lognormal(ROWS, sample), []
    cap = CAP * float(np.ptp(data))
    for q in (0.5, 0.9, 0.99):
        ours, truth = nobounds_errors(data, q, sample), float(np.quantile(data, q))
        told = rival_epsilon(1.0, q, "add-remove")
        for upper in UPPERS:
            grid = candidate_mechanism(data, q, truth, epsilon=told, upper=upper, cap=cap)
            bounded = bounded_errors(data, q, 1.0, upper)
            found += [((5, q, upper, name), e) for name, e in ((DEFAULT, ours), (BOUNDED, bounded), (GRID, grid))]
    return found


Task = tuple[Callable[..., Found], tuple[Any, ...]]


def tasks(quick: bool) -> Iterator[Task]:
    """All tasks, long ones first."""
    samples, qs = range(1, 4) if quick else range(10), GIVEN_QS if quick else ALL_QS
    for rows in sorted((n for n in SIZES if not quick or n <= 10**5), reverse=True):
        yield from ((by_size, (rows, sample)) for sample in samples)
    yield from ((by_epsilon, (epsilon, sample)) for epsilon in EPSILONS for sample in samples)
    for relation in ("swap", "add-remove"):
        yield from ((compare, (relation, name, qs, sample)) for name in SETS for sample in samples)
    yield from ((by_looseness, (sample,)) for sample in samples)


def run(task: Task) -> tuple[Found, float]:
    """One task and the seconds it took."""
    start = time.perf_counter()
    return task[0](*task[1]), time.perf_counter() - start


def measure(quick: bool) -> dict[Key, Errors]:
    """The errors of every method at every point, averaged over the samples."""
    every, spent = defaultdict(list), defaultdict(float)
    planned = list(tasks(quick))
    with ProcessPoolExecutor(WORKERS) as pool:
        for (function, arguments), (found, seconds) in zip(planned, pool.map(run, planned), strict=True):
            spent[f"{function.__name__} {arguments[0] if function is not by_looseness else ''}"] += seconds
            for key, errors in found:
                every[key].append(errors)
    print("\n".join(f"{seconds:7.1f} s  {name}" for name, seconds in spent.items()))
    return {key: Errors.average(many) for key, many in every.items()}


def ratios(errors: dict[Key, Errors], relation: Relation, name: str) -> dict[float, float]:
    """The mean error of nobounds over that of the rival by q, where the rival has one."""
    found = {}
    for q in sorted(key[2] for key in errors if key[:2] == (relation, name) and key[3] == DEFAULT):
        ours, theirs = (errors[relation, name, q, method] for method in (DEFAULT, BOUNDED))
        if theirs.mean >= TINY:
            found[q] = max(ours.mean, TINY) / theirs.mean
    return found


def lines(errors: dict[Key, Errors], claim: int, q: float, name: str) -> tuple[list[float], list[Errors]]:
    """The points of one line."""
    found = sorted((key[2], e) for key, e in errors.items() if key[:2] == (claim, q) and key[3] == name)
    return [x for x, _ in found], [e for _, e in found]
