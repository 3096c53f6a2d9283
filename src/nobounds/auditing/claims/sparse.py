"""The cases of SparseVector: both methods, for a pure epsilon, a rho, and an epsilon at a delta.

A record moves some queries up and, if they are not monotonic, others down. The worst moves are these: all queries but
the last of each part (the hits), all queries, the hits alone, or the hits in the other direction.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from typing import Any, get_args

import numpy as np

from nobounds.accounting.cost import Cost
from nobounds.arrays import Floats
from nobounds.auditing.audit import Data
from nobounds.auditing.cases import Case, Measure, Worst, audited, pure_claims
from nobounds.auditing.divergences import delta_between, rho_between
from nobounds.mechanisms.sparse_law import SparseLaw
from nobounds.mechanisms.sparse_vector import Method, Promise, Rates
from nobounds.noise.discrete import Noise

PARTS = 2  # of a stream, each with one hit
ONE_WAY = ("quiet up", "all up", "hits up")
EITHER_WAY = (*ONE_WAY, "quiet up, hits down")

# Streams of few queries and many hits, and the queries that move.
HITS, SHORT = 4, 16
BRIEF = 40  # queries, in the quick table
MOVES = {
    "quiet": [int(k % 4 != 3) for k in range(SHORT)],
    "all": [1] * SHORT,
    "hits": [int(k % 4 == 3) for k in range(SHORT)],
    "some": [k % 2 for k in range(SHORT)],
    "across": [1 if k % 4 != 3 else -1 for k in range(SHORT)],
}


def moved(move: str, length: int) -> list[int]:
    """The amount by which each query of a stream moves."""
    hits = {length // PARTS * (k + 1) - 1 for k in range(PARTS)}
    quiet, hit = {"quiet up": (1, 0), "all up": (1, 1), "hits up": (0, 1), "quiet up, hits down": (1, -1)}[move]
    return [hit if k in hits else quiet for k in range(length)]


def law(rates: Rates, queries: Iterable[int], threshold: int = 0, **options: Any) -> Floats:
    """The log-probabilities of the patterns of a sparse vector with these rates."""
    of_rates: dict[str, Any] = {"hits": rates.hits, "eps1": rates.eps1, "eps2": rates.eps2, "method": rates.method}
    given = of_rates | options
    return SparseLaw(tuple(queries), Fraction(threshold), **given).log_pmf()


def rates_for(
    promise: Promise, method: Method, is_monotonic: bool, hits: int = PARTS, share: Fraction = Fraction(1, 2)
) -> Rates:
    """The rates with the least noise that satisfy a promise."""
    return promise.largest(Rates(method, hits, is_monotonic, share, 1 - share))


def pure_seen(rates: Rates, moves: Sequence[str], length: int = 120, **options: Any) -> Iterator[Worst]:
    """The worst losses over data sets of at most one record, with queries just below the threshold or far below."""

    def log_law(threshold: int, data: Data) -> Floats:
        stream = np.sum([[0] * length, *(moved(str(move), length) for move in data)], axis=0)
        return law(rates, stream.tolist(), threshold, **options)

    for threshold in (1, 4):
        yield from audited(partial(log_law, threshold), moves, 1, "add-remove", f"threshold {threshold}")


def short_laws(rates: Rates, **options: Any) -> Iterator[tuple[str, Floats, Floats]]:
    """The laws of two neighbours for all moves that a record may make on a short stream."""
    unmoved = {threshold: law(rates, [0] * SHORT, threshold, **options) for threshold in (0, 2, 5)}
    for name, threshold in product(MOVES, unmoved):
        if name != "across" or not rates.is_monotonic:
            yield f"{name}, threshold {threshold}", unmoved[threshold], law(rates, MOVES[name], threshold, **options)


def rho_seen(rates: Rates, **options: Any) -> Iterator[Worst]:
    """The largest Renyi divergence divided by its order."""
    for name, p, q in short_laws(rates, **options):
        yield Worst("rho", rho_between(p, q), ("{}", f"{{{name.split(',')[0]}}}"), name.split(", ")[1])


def delta_seen(rates: Rates, epsilon: float, **options: Any) -> Iterator[Worst]:
    """The largest hockey-stick divergence."""
    for name, p, q in short_laws(rates, **options):
        yield Worst("delta", delta_between(p, q, epsilon), ("{}", f"{{{name.split(',')[0]}}}"), name.split(", ")[1])


PURE = Promise(Fraction(1), None, None)
RHO = Fraction(1, 10)
AT_DELTA = Fraction(2), Fraction(1, 100)


def cases() -> Iterator[Case]:
    """Pure promises for all noises, and promises of rho and of an epsilon at a delta."""
    for method, is_monotonic in product(get_args(Method), (True, False)):
        yield from _pure(method, is_monotonic)
        yield _other(method, is_monotonic, Promise(None, None, RHO))
        yield _other(method, is_monotonic, Promise(*AT_DELTA, None))


def _pure(method: Method, is_monotonic: bool) -> Iterator[Case]:
    noises: tuple[Noise, ...] = ("exponential", "laplace") if method == "classical" else get_args(Noise)
    moves = ONE_WAY if is_monotonic else EITHER_WAY
    for noise in noises:
        length = 240 if noise == "gumbel" else 120
        shares = (Fraction(1, 3), Fraction(2, 3)) if noise == "exponential" else (Fraction(1, 2),)
        for share in shares:
            rates = lru_cache(partial(rates_for, PURE, method, is_monotonic, PARTS, share))
            yield Case(
                f"SparseVector, {method}, {'monotonic' if is_monotonic else 'general'}",
                f"2 hits, share {share}",
                noise,
                "add-remove",
                "row",
                lambda rates=rates: pure_claims(_total(rates())),  # type: ignore[misc]
                lambda rates=rates, noise=noise, length=length: pure_seen(rates(), moves, length, noise=noise),  # type: ignore[misc]
                tight=("epsilon", "range") if is_monotonic and noise == "exponential" else ("epsilon",),
                quick=share != Fraction(2, 3) and is_monotonic and noise == "exponential",
                brief=lambda rates=rates, noise=noise: pure_seen(rates(), moves, BRIEF, noise=noise),  # type: ignore[misc]
            )


def _other(method: Method, is_monotonic: bool, promise: Promise) -> Case:
    rates = lru_cache(partial(rates_for, promise, method, is_monotonic, HITS))

    def stated(measure: Measure) -> dict[Measure, float]:
        return {measure: float(getattr(promise.loss(rates().costs(), "add-remove"), measure))}

    if promise.rho is not None:
        setting = f"4 hits, rho {promise.rho}"
        return _case(method, is_monotonic, setting, lambda: stated("rho"), lambda: rho_seen(rates()))
    assert promise.epsilon is not None
    epsilon, setting = float(promise.epsilon), f"4 hits, at epsilon {promise.epsilon}"
    return _case(method, is_monotonic, setting, lambda: stated("delta"), lambda: delta_seen(rates(), epsilon))


def _case(method: Method, is_monotonic: bool, setting: str, claims: Any, look: Any) -> Case:
    name = f"SparseVector, {method}, {'monotonic' if is_monotonic else 'general'}"
    return Case(name, setting, "exponential", "add-remove", "row", claims, look, tight=(), quick=is_monotonic)


def _total(rates: Rates) -> Cost:
    costs = rates.costs()
    return sum(costs[1:], costs[0])
