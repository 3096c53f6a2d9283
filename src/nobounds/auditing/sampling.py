"""The sampling auditor: a lower bound on the epsilon of a mechanism without a law, from runs on two neighbours.

Half of the runs choose events: sets of outcomes that are more frequent on one input than on the other. The other half
tests them: Clopper-Pearson bounds on the two probabilities, at a confidence shared among all events (Bonferroni). The
bound is right with that confidence for every mechanism; more runs make it sharper (docs/audit.md).
"""

import math
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

from nobounds.values import dataclass

EVENTS = 4  # tested
CONFIDENCE = 0.99
BANDS = 100

Outcomes = frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class Sampled:
    """A lower bound on epsilon, the event behind it, and how often that occurred on each input in the tested runs."""

    epsilon: float
    event: Outcomes
    hits: tuple[int, int]
    runs: tuple[int, int]
    confidence: float

    @property
    def estimate(self) -> float:
        """The observed log-ratio."""
        (a, b), (n, m) = self.hits, self.runs
        return abs(math.log((a + 0.5) / (n + 1)) - math.log((b + 0.5) / (m + 1)))


def sampled_loss(
    run_x: Callable[[], Hashable],
    run_y: Callable[[], Hashable],
    runs: int,
    confidence: float = CONFIDENCE,
    delta: float = 0.0,
) -> Sampled:
    """The lower bound from `runs` runs on each of two neighbouring inputs."""
    return loss_of([run_x() for _ in range(runs)], [run_y() for _ in range(runs)], confidence, delta)


def loss_of(
    xs: Sequence[Hashable], ys: Sequence[Hashable], confidence: float = CONFIDENCE, delta: float = 0.0
) -> Sampled:
    """The lower bound from outcomes on two neighbouring inputs, each in the order of its runs."""
    first, second = (xs[: len(xs) // 2], ys[: len(ys) // 2]), (xs[len(xs) // 2 :], ys[len(ys) // 2 :])
    banded = bands([*first[0], *first[1]])
    (a, b), (c, d) = ([Counter(map(banded, outcomes)) for outcomes in half] for half in (first, second))
    return loss_of_events(choose_events(a, b, confidence), c, d, confidence, delta)


def bands(outcomes: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
    """A function that leaves outcomes unchanged, or replaces numbers by their band if there are many."""
    if len(set(outcomes)) <= BANDS or not all(isinstance(outcome, int | float) for outcome in outcomes):
        return lambda outcome: outcome
    values = sorted(map(float, outcomes))  # type: ignore[arg-type]
    cuts = [values[len(values) * k // BANDS] for k in range(1, BANDS)]
    return lambda outcome: bisect(cuts, float(outcome))  # type: ignore[arg-type]


def loss_of_events(
    events: Iterable[Outcomes],
    xs: Counter[Hashable],
    ys: Counter[Hashable],
    confidence: float = CONFIDENCE,
    delta: float = 0.0,
) -> Sampled:
    """The best lower bound over events that were chosen without seeing these outcomes, in both directions."""
    tested = list(events) or [frozenset[Hashable]()]
    each = (1 - confidence) / (4 * len(tested))  # two probabilities in two directions
    n, m = xs.total(), ys.total()
    best = Sampled(0.0, tested[0], (0, 0), (n, m), confidence)
    for event in tested:
        a, b = (sum(counts[outcome] for outcome in event) for counts in (xs, ys))
        for p, q in (((a, n), (b, m)), ((b, m), (a, n))):
            least = lower_chance(*p, each) - delta
            bound = math.log(least / upper_chance(*q, each)) if least > 0 else 0.0
            if bound > best.epsilon:
                best = Sampled(bound, event, (a, b), (n, m), confidence)
    return best


def choose_events(xs: Counter[Hashable], ys: Counter[Hashable], confidence: float = CONFIDENCE) -> list[Outcomes]:
    """The events with the best bounds: all outcomes up to some log-ratio, and tails if outcomes are numbers."""
    best = _scored(xs, ys, max(xs.total(), 1), confidence, 0.0)[:EVENTS]
    return [frozenset(order[:k]) for _, order, k in best]


def best_score(xs: Counter[Hashable], ys: Counter[Hashable], runs: int, confidence: float = CONFIDENCE) -> float:
    """The approximate bound that `runs` tested runs would give, less the error of these few."""
    return _scored(xs, ys, runs, confidence, 1.0)[0][0]


def _scored(
    xs: Counter[Hashable], ys: Counter[Hashable], runs: int, confidence: float, cautious: float
) -> list[tuple[float, list[Hashable], int]]:
    """The approximate bound from `runs` tested runs, an order of outcomes and the number of them; best first."""
    n, m = max(xs.total(), 1), max(ys.total(), 1)
    outcomes = sorted(xs.keys() | ys.keys(), key=repr)  # in an order that is the same in every run
    by_ratio = sorted(outcomes, key=lambda o: math.log((xs[o] + 0.5) / n) - math.log((ys[o] + 0.5) / m))
    orders = [by_ratio]
    if all(isinstance(outcome, int | float) for outcome in outcomes):
        orders.append(sorted(outcomes, key=float))  # type: ignore[arg-type]
    deviations = math.sqrt(-2 * math.log((1 - confidence) / (4 * EVENTS)))
    deviations += cautious * math.sqrt(runs / min(n, m))
    scored: dict[tuple[int, int], tuple[float, list[Hashable], int]] = {}
    for order in orders:
        for direction in (order, order[::-1]):
            a = b = 0
            for k, outcome in enumerate(direction):
                a, b = a + xs[outcome], b + ys[outcome]
                p, q = _about(a / n, runs, deviations), _about(b / m, runs, deviations)
                score = math.log(max(p[0] / q[1], q[0] / p[1]))
                if (a, b) not in scored or score > scored[a, b][0]:
                    scored[a, b] = score, direction, k + 1
    return sorted(scored.values(), key=lambda one: -one[0])


def _about(p: float, runs: int, deviations: float) -> tuple[float, float]:
    """Approximate bounds on a probability observed as p, `deviations` standard deviations apart (Wilson 1927)."""
    z = deviations**2 / runs
    half = math.sqrt(z * p * (1 - p) + z * z / 4)
    return max((p + z / 2 - half) / (1 + z), 1e-12), (p + z / 2 + half) / (1 + z)


def lower_chance(hits: int, runs: int, alpha: float) -> float:
    """A lower bound on a probability that is wrong with probability at most alpha (Clopper and Pearson 1934)."""
    return 0.0 if hits == 0 else _beta_quantile(alpha, hits, runs - hits + 1)


def upper_chance(hits: int, runs: int, alpha: float) -> float:
    """An upper bound on a probability that is wrong with probability at most alpha."""
    return 1.0 - lower_chance(runs - hits, runs, alpha)


def _beta_quantile(chance: float, a: int, b: int) -> float:
    """The x with I_x(a, b) = chance, by bisection, rounded down."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if incomplete_beta(middle, a, b) < chance else (low, middle)
    return low * (1 - 1e-9)


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x > 0)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    log_front = a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for k in range(1, 10_000):
        for term in (
            k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)),
            -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1)),
        ):
            d, c = 1 / (1 + term * d), 1 + term / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return min(math.exp(log_front) * fraction / a, 1.0)
