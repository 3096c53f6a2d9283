"""The cases of the AboveThreshold object, and of the sampler of walks, by the running code.

A driver tries every noise of the threshold within a reach, and both answers to each query. The sampler compares one
exponential variable: it is given the bits of a threshold's noise and of such a variable, and bisection locates the
values at which its answer changes.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, partial
from typing import Any

from nobounds import AboveThreshold
from nobounds.accounting.cost import monotonic
from nobounds.accounting.loss import PrivacyLoss
from nobounds.auditing.cases import Case, Measure, Worst, pure_claims
from nobounds.auditing.enumerated import Seen, enumerated_law, gathered, loss_between, threshold_within
from nobounds.auditing.mine import Pair, pairs
from nobounds.mechanisms.skip_ahead import halt_position
from nobounds.mechanisms.walk import Walk
from nobounds.noise.discrete import FIRST_BITS, Noise
from nobounds.noise.source import RandomSource
from nobounds.programs.program import Driver

REACH, BRIEF = 30.0, 10.0  # scales of the threshold's noise, and those in the quick table
LONGEST = 40.0  # the largest value tried for the exponential variable
HALVINGS = 34
_DIGITS = Context(prec=100)
_WORDS = 4  # of 64 bits, of an exponential variable; zeros follow


def called_law(make: Callable[..., Any], queries: Sequence[int], reach: float = REACH) -> Seen:
    """The law of the hits of a mechanism on a stream; queries and noise are whole numbers here."""

    def hits(driver: Driver) -> Hashable:
        halted_at: int | None = make(rng=driver).first_above(queries)
        return "never" if halted_at is None else halted_at

    return enumerated_law(hits, reach)


class CoarseAboveThreshold(AboveThreshold):
    """AboveThreshold on whole numbers."""

    _lattice = 1


def scripted_bits(words: Iterable[int]) -> RandomSource:
    """A random source that returns these numbers, whatever their width, and then zeros."""
    waiting = iter(words)
    return lambda k, /: next(waiting, 0)


def bits_of(value: float | Fraction) -> list[int]:
    """The first words of a uniform variable whose exponential variable has this value."""
    exact = Decimal(value.numerator) / Decimal(value.denominator) if isinstance(value, Fraction) else Decimal(value)
    whole = int(_DIGITS.multiply(_DIGITS.exp(-exact), Decimal(2) ** (FIRST_BITS * _WORDS)))
    whole = min(whole, 2 ** (FIRST_BITS * _WORDS) - 1)
    return [whole >> (FIRST_BITS * k) & (2**FIRST_BITS - 1) for k in reversed(range(_WORDS))]


def threshold_bits(walk: Walk, noise: int) -> list[int]:
    """The words from which the sampler draws this noise of the threshold."""
    if walk.noise == "gumbel":
        return []
    word = bits_of((abs(noise) + Fraction(1, 2)) * walk.eps1 * walk.step)[:1]
    return word if walk.noise == "exponential" else [int(noise < 0), *word]


def sampler_law(walk: Walk, reach: float = REACH) -> Seen:
    """The law of the sampler's position: for each noise of the threshold, the variables that lead to it."""
    by_outcome: dict[Hashable, list[float]] = {}
    drawn = threshold_within(walk.noise, walk.eps1 * walk.step, reach)
    for noise, log_chance in zip(drawn.values, drawn.logs, strict=True):
        first = threshold_bits(walk, noise)

        def halted(value: float, first: list[int] = first) -> int:
            position = halt_position(walk, scripted_bits([*first, *bits_of(value)]))
            return walk.length if position is None else position

        sure = 0.0
        for place, low, high in _places(halted, walk.length):
            chance = math.exp(-low) - math.exp(-high)
            sure += chance
            if chance > 0:
                by_outcome.setdefault(place, []).append(log_chance + math.log(chance))
        by_outcome.setdefault(None, []).append(log_chance + math.log(max(1 - sure, 0) + 1e-15))
    by_outcome.setdefault(None, []).append(drawn.beyond)
    return gathered(by_outcome)


def _places(halted: Callable[[float], int], length: int) -> Iterator[tuple[int, float, float]]:
    """For each position, the range of variables that certainly lead to it."""
    least, first = 0.0, halted(2.0**-HALVINGS)
    while first < length and least < LONGEST:
        low, high = least, LONGEST
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if halted(middle) <= first else (low, middle)
        yield first, least, low
        least, first = high, halted(high)
    yield first, least, math.inf


def seen(law: Callable[[Sequence[int]], Seen], streams: Iterable[Pair]) -> Iterator[Worst]:
    """The worst losses over pairs of streams."""
    of = cache(law)
    for pair in streams:
        epsilon, eta = loss_between(*(of(tuple(queries)) for queries in (pair.x, pair.y)))
        yield Worst("epsilon", epsilon, (pair.x, pair.y))
        yield Worst("range", eta, (pair.x, pair.y))


def walk_law(noise: Noise, eps1: Fraction, eps2: Fraction, queries: Sequence[int], reach: float = REACH) -> Seen:
    """The law of the sampler on these queries."""
    return sampler_law(Walk.of(list(queries), Fraction(0), eps1=eps1, eps2=eps2, noise=noise), reach)


def above(noise: Noise, is_monotonic: bool, rng: Any = None) -> AboveThreshold:
    """AboveThreshold as a user constructs it, on a lattice that is short enough to enumerate."""
    return CoarseAboveThreshold(0, epsilon=1, monotonic=is_monotonic, noise=noise, rng=rng)


def cases() -> Iterator[Case]:
    """The mechanism through its object, and walks through their sampler."""
    for is_monotonic in (True, False):
        for noise, length in (("exponential", 1), ("laplace", 12)):
            streams = [pair for pair in pairs((length,), is_monotonic) if length == 1 or pair.x[0] == 0]
            make = partial(above, noise, is_monotonic)  # type: ignore[arg-type]
            yield _called("AboveThreshold", make, noise, is_monotonic, streams, quick=length == 1)
    for noise, length in (("exponential", 1), ("laplace", 3), ("gumbel", 300)):
        yield _sampled(noise, length)  # type: ignore[arg-type]


def _called(
    name: str, make: Callable[..., Any], noise: str, is_monotonic: bool, streams: Sequence[Pair], quick: bool
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
        brief=lambda: seen(partial(called_law, make, reach=BRIEF), streams),
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
        lambda: seen(partial(walk_law, noise, half, half), streams[:2]),
        tight=() if noise == "laplace" else ("epsilon",),
        quick=noise == "exponential",
        brief=lambda: seen(partial(walk_law, noise, half, half, reach=BRIEF), streams[:1]),
    )
