"""Forecasts for statistics of two columns of one shape.

The second column is the sum of the first and of an independent one, so that their correlation is about 0.7; weights are
the magnitudes of an independent one.
"""

from collections.abc import Callable

import numpy as np

from nobounds.accounting.terms import Terms
from nobounds.arrays import Floats
from nobounds.clipping.averaged import averaged
from nobounds.clipping.moments.pairs import PairPlan, products, weighted_mean
from nobounds.counting.scan import Joined, first_of, second_of
from nobounds.exact import finite_float
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.planning.samples import Sample
from nobounds.planning.simulated.columns import Answered, Simulation
from nobounds.programs.program import Program
from nobounds.statistics.moments.pairs import RatioPlan

_MOST = 1 << 17  # records: all of them are made


def _columns(sample: Sample, weights: bool = False) -> tuple[Floats, Floats]:
    """Two columns of records, in an order that has nothing to do with their values."""
    if sample.total > _MOST:
        raise ValueError(f"forecasts for two columns are for up to {_MOST:,} records; give a smaller n")
    rng, values = np.random.default_rng(sample.total), np.repeat(sample.values, sample.counts)
    x, other = rng.permutation(values), rng.permutation(values)
    return x, np.abs(other) if weights else x + other


def _rows(weights: bool = False) -> Callable[[Sample], Joined]:
    def rows(sample: Sample) -> Joined:
        x, y = _columns(sample, weights)
        return lambda join: lambda: [join(x, y)]

    return rows


def _ratio(facts: Facts, terms: Terms, stated: Stated) -> Answered:
    plan = RatioPlan.of(facts, facts, terms, (Stated(), Stated()))  # the columns of a sample have other bounds

    def program(joined: Joined) -> Program[float | None]:
        over = yield from averaged(plan.x, joined(first_of))
        under = yield from averaged(plan.y, joined(second_of))
        trusted = over.settled.clip.trusted and under.settled.clip.trusted and abs(under.value) > 2 * under.bar
        return finite_float(over.value / under.value) if trusted else None

    return program


def _weighted(facts: Facts, terms: Terms, stated: Stated) -> Answered:
    plan = PairPlan.weighted(facts, facts, terms)

    def program(joined: Joined) -> Program[float | None]:
        noisy = yield from weighted_mean(plan, joined)
        return None if noisy.interval is None else noisy.value

    return program


def _products(squares: bool) -> Callable[[Facts, Terms, Stated], Answered]:
    def answer(facts: Facts, terms: Terms, stated: Stated) -> Answered:
        plan = PairPlan.products(facts, facts, terms)

        def program(joined: Joined) -> Program[float | None]:
            noisy = yield from products(plan, joined, squares)
            if not noisy.clips.trusted:
                return None
            return noisy.correlation()[0] if squares else noisy.covariance()[0]

        return program

    return answer


def _covariance(sample: Sample) -> float:
    x, y = _columns(sample)
    return float(np.mean((x - x.mean()) * (y - y.mean())))


def _correlation(sample: Sample) -> float:
    x, y = _columns(sample)
    spread = float(x.std() * y.std())
    return _covariance(sample) / spread if spread else 0.0


def _quotient(sample: Sample) -> float:
    x, y = _columns(sample)
    return float(x.sum() / y.sum()) if y.sum() else 0.0


def _average(sample: Sample) -> float:
    x, weights = _columns(sample, weights=True)
    return float(np.average(x, weights=weights)) if weights.sum() else 0.0


PAIRED: dict[str, Simulation] = {
    "ratio": Simulation(_quotient, _ratio, _rows()),
    "weighted_mean": Simulation(_average, _weighted, _rows(weights=True)),
    "covariance": Simulation(_covariance, _products(squares=False), _rows()),
    "correlation": Simulation(_correlation, _products(squares=True), _rows()),
}
