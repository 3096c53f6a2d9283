"""The cases of the AboveThreshold and SparseVector objects, and of the sampler of walks, by the running code.

The noise of the threshold is scripted. The noise of a query is only compared with a number, so there are two answers to
try. The sampler compares one exponential variable, and bisection locates the values at which its answer changes.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from nobounds import AboveThreshold, SparseVector
from nobounds.accounting.cost import monotonic
from nobounds.accounting.loss import PrivacyLoss
from nobounds.auditing.cases import Case, Measure, Worst, pure_claims
from nobounds.auditing.mine import Pair, pairs
from nobounds.auditing.replacing import replaced
from nobounds.auditing.scripted import Drawn, Script, Seen, gathered, loss_between
from nobounds.exact import ball
from nobounds.mechanisms.skip_ahead import halt_position
from nobounds.mechanisms.sparse_vector import Method
from nobounds.mechanisms.walk import Walk
from nobounds.noise.discrete import Noise

Halves = Literal["threshold", "queries", ""]

REACH = 30.0  # scales of the threshold's noise
LONGEST = 40.0  # the largest value tried for the exponential variable
HALVINGS = 34


class Fresh:
    """The noise of a query, which supports only a comparison."""

    def __init__(self, script: Script, at_least: Callable[[Fraction, int], float], rate: Fraction) -> None:
        self.script, self.at_least, self.rate = script, at_least, rate

    def __ge__(self, gap: Fraction) -> bool:
        chance = self.at_least(self.rate, math.ceil(gap))
        chances = {value: p for value, p in ((1, chance), (0, 1 - chance)) if p > 0}
        logs = tuple(math.log(p) for p in chances.values())
        return bool(self.script.choose(Drawn(tuple(chances), logs, -math.inf)))


def geometric_at_least(rate: Fraction, gap: int) -> float:
    """P(J >= gap) for exponential noise on whole numbers."""
    return math.exp(-float(rate) * max(gap, 0))


def laplace_at_least(rate: Fraction, gap: int) -> float:
    """P(J >= gap) for discrete Laplace noise."""
    r = float(rate)
    return math.exp(-r * gap) / (1 + math.exp(-r)) if gap > 0 else 1 - math.exp(-r * (1 - gap)) / (1 + math.exp(-r))


def called_law(make: Callable[[], Any], queries: Sequence[int], halved: Halves = "") -> Seen:
    """The law of the hits of a mechanism on a stream; queries and noise are whole numbers here.

    `halved` plants a bug: the noise of the threshold, or of the queries, is half of what it should be.
    """
    factor, times = Fraction(2 if halved == "threshold" else 1), 2 if halved == "queries" else 1
    making, answering = Script(REACH, factor), Script(REACH, factor)  # one for the constructor, and one for the answers
    by_outcome: dict[Hashable, list[float]] = {}
    active = making

    def answers(mechanism: Any, beginning: dict[str, Any]) -> Hashable:
        vars(mechanism).update(beginning)  # a mechanism cannot be copied, so the same one is reset
        hits = []
        for k, query in enumerate(queries):
            if mechanism.query(query):
                hits.append(k)
            if not mechanism._open:
                break
        return tuple(hits)

    with replaced(
        above_threshold__threshold_noise=lambda noise, rate, source: active.threshold(noise, rate, source),
        above_threshold__geometric=lambda rate, source: Fresh(answering, geometric_at_least, times * rate),
        above_threshold__discrete_laplace=lambda rate, source: Fresh(answering, laplace_at_least, times * rate),
    ):
        for mechanism, before in making.runs(make):
            if mechanism is None:
                by_outcome.setdefault(None, []).append(before)
                continue
            active = answering
            for outcome, log_chance in answering.runs(partial(answers, mechanism, dict(vars(mechanism)))):
                by_outcome.setdefault(outcome, []).append(before + log_chance)
            active = making
    return gathered(by_outcome)


class CoarseAboveThreshold(AboveThreshold):
    """AboveThreshold on whole numbers."""

    _lattice = 1


class CoarseSparseVector(SparseVector):
    """SparseVector on whole numbers."""

    _lattice = 1


class Fixed:
    """An exponential variable with a fixed value."""

    def __init__(self, value: float) -> None:
        self.value = value

    def bounds(self) -> tuple[float, float]:
        """Lower and upper bounds as doubles."""
        return self.value, self.value

    def ball(self, precision: int) -> Any:
        """The value as a ball."""
        return ball(Fraction(self.value))


def sampler_law(walk: Walk, factor: Fraction = Fraction(1)) -> Seen:
    """The law of the sampler's position: for each noise of the threshold, the variables that lead to it."""
    script, by_outcome = Script(REACH, factor), dict[Hashable, list[float]]()

    def halted(value: float) -> int:
        script.used = 0
        with replaced(skip_ahead__Exponential=lambda source: Fixed(value)):
            position = halt_position(walk, source=None)  # type: ignore[arg-type]
        return walk.length if position is None else position

    def places() -> Hashable:
        """For each position, the range of variables that certainly lead to it."""
        least, first, ends = 0.0, halted(2.0**-HALVINGS), []
        while first < walk.length and least < LONGEST:
            low, high = least, LONGEST
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                low, high = (middle, high) if halted(middle) <= first else (low, middle)
            ends.append((first, least, low))
            least, first = high, halted(high)
        return (*ends, (first, least, math.inf))

    with replaced(skip_ahead__threshold_noise=script.threshold):
        for outcome, log_chance in script.runs(places):
            if outcome is None:
                by_outcome.setdefault(None, []).append(log_chance)
                continue
            sure = 0.0
            for place, low, high in outcome:  # type: ignore[attr-defined]
                chance = math.exp(-low) - math.exp(-high)
                sure += chance
                if chance > 0:
                    by_outcome.setdefault(place, []).append(log_chance + math.log(chance))
            by_outcome.setdefault(None, []).append(log_chance + math.log(max(1 - sure, 0) + 1e-15))
    return gathered(by_outcome)


def seen(law: Callable[[Sequence[int]], Seen], streams: Iterable[Pair]) -> Iterator[Worst]:
    """The worst losses over pairs of streams."""
    for pair in streams:
        epsilon, eta = loss_between(law(pair.x), law(pair.y))
        yield Worst("epsilon", epsilon, (pair.x, pair.y))
        yield Worst("range", eta, (pair.x, pair.y))


def walk_law(noise: Noise, eps1: Fraction, eps2: Fraction, factor: Fraction, queries: Sequence[int]) -> Seen:
    """The law of the sampler on these queries."""
    return sampler_law(Walk.of(list(queries), Fraction(0), eps1=eps1, eps2=eps2, noise=noise), factor)


def above(noise: Noise, is_monotonic: bool) -> AboveThreshold:
    """AboveThreshold as a user constructs it, on a lattice that is short enough to enumerate."""
    return CoarseAboveThreshold(0, epsilon=1, monotonic=is_monotonic, noise=noise)


def sparse(noise: Noise, is_monotonic: bool, method: Method) -> SparseVector:
    """SparseVector likewise."""
    return CoarseSparseVector(0, hits=2, epsilon=6, monotonic=is_monotonic, noise=noise, method=method)


def cases() -> Iterator[Case]:
    """Both mechanisms through their objects, and walks through their sampler."""
    for is_monotonic in (True, False):
        for noise, length in (("exponential", 1), ("laplace", 12)):
            streams = [pair for pair in pairs((length,), is_monotonic) if length == 1 or pair.x[0] == 0]
            make = partial(above, noise, is_monotonic)  # type: ignore[arg-type]
            yield _called("AboveThreshold", make, noise, is_monotonic, streams, quick=length == 1)
        for method in ("iterated", "classical"):
            many: Any = partial(sparse, "exponential", is_monotonic, method)
            twice = [Pair(pair.x * 2, pair.y * 2, 0) for pair in pairs((1,), is_monotonic) if pair.x[0] == -1]
            yield _called(f"SparseVector, {method}", many, "exponential", is_monotonic, twice, quick=False)
    for noise, length in (("exponential", 1), ("laplace", 3), ("gumbel", 300)):
        yield _sampled(noise, length)  # type: ignore[arg-type]


def _called(
    name: str, make: Callable[[], Any], noise: str, is_monotonic: bool, streams: Sequence[Pair], quick: bool
) -> Case:
    def claims() -> dict[Measure, float]:
        loss: PrivacyLoss = make().loss
        return {"epsilon": loss.epsilon, "range": loss.eta}

    return Case(
        f"{name}, as it runs",
        "monotonic queries" if is_monotonic else "general queries",
        noise,
        "add-remove",
        "row",
        claims,
        lambda: seen(partial(called_law, make), streams),
        tight=("epsilon",),
        quick=quick,
    )


def _sampled(noise: Noise, length: int) -> Case:
    half = Fraction(1, 2)
    streams = [pair for pair in pairs((length,), monotonic=True) if length == 1 or pair.x[0] == 0]
    return Case(
        "AboveThreshold, its sampler as it runs",
        "monotonic queries",
        noise,
        "add-remove",
        "row",
        lambda: pure_claims(monotonic(half, half)),
        lambda: seen(partial(walk_law, noise, half, half, Fraction(1)), streams[:2]),
        tight=() if noise == "laplace" else ("epsilon",),
        quick=noise == "exponential",
    )
