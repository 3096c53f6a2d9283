"""Quantile, maximum, minimum and bounds of data whose bounds nobody knows: the public functions.

What is spent on what is fixed before the data are read; see `question` and `auto`.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from nobounds.accounting.loss import Neighbors, check_neighbors
from nobounds.accounting.spending import Chargeable, Spending, charged
from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import Column, column
from nobounds.exact import Number, rational
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import MOST_BITS
from nobounds.noise.discrete import Noise, check_noise
from nobounds.noise.source import Rng, random_source
from nobounds.ranks.auto import Method, check_method
from nobounds.ranks.question import Question
from nobounds.release.release import Release

# Steps of 0.2 to 0.4 %: 6 bits have 1.05 to 1.45 times the error and 10 bits 1.13 to 1.31 (benchmarks/choices.py).
DEFAULT_BITS = 8


def ask(
    data: Column,
    qs: tuple[Fraction, ...],
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    lower: Number | None = None,
    upper: Number | None = None,
    resolution: Number | None = None,
    neighbors: Neighbors = "add-remove",
    beta: Number | None = None,
    noise: Noise = "exponential",
    ladder: Ladder | None = None,
    method: Method = "auto",
    rows: Number | None = None,
) -> Question:
    """Check every parameter and plan the answer; of the data only public facts are used."""
    spending, relation = Spending.of(epsilon, rho).each(data.unit.rows), check_neighbors(neighbors)
    grows = beta is None and ladder is None
    if ladder is not None and not isinstance(ladder, Ladder):
        raise TypeError(f"ladder must be a nobounds.Ladder, got ladder of type {type(ladder).__name__}")
    if ladder is not None and (beta is not None or resolution is not None):
        raise ValueError("ladder cannot be combined with beta or resolution: it has its own steps")
    steps = ladder_for(data, lower, upper, resolution, DEFAULT_BITS if beta is None else _bits(beta), ladder)
    known = check_rows(rows) if rows is not None else data.rows() if relation == "swap" else None
    kind, way = check_noise(noise), check_method(method)
    return planned(spending, qs, steps, relation, kind, known, data.nullable, way, grows, rows is not None)


@lru_cache(maxsize=256)  # public arguments: the second call of a kind costs nothing
def planned(spending: Spending, qs: tuple[Fraction, ...], *facts: Any) -> Question:
    """The plan for what may be spent."""
    return spending.plan(lambda total, zcdp: Question.of(qs, total, *facts, zcdp))


def ladder_for(
    data: Column,
    lower: Number | None,
    upper: Number | None,
    resolution: Number | None,
    bits: int = DEFAULT_BITS,
    ladder: Ladder | None = None,
) -> Ladder:
    """The ladder that the public facts about a column ask for, unless one is given, between its public bounds."""
    if ladder is None:
        grid = 1 if resolution is None and data.integral else resolution
        ladder = Ladder.float_bits(bits) if grid is None else Ladder.grid(grid, bits)
    low, high = (None if b is None else rational(b, name) for b, name in ((lower, "lower"), (upper, "upper")))
    if low is None and data.lower is not None and (high is None or high > data.lower):
        low = Fraction(data.lower)
    if high is None and data.upper is not None and (low is None or low < data.upper):
        high = Fraction(data.upper)
    return ladder.limited(low, high)


def check_rank(q: Number) -> Fraction:
    """q as an exact rational between 0 and 1."""
    rank = rational(q, "q")
    if not 0 <= rank <= 1:
        raise ValueError(f"q must be between 0 and 1, got q={q!r}")
    return rank


def check_ranks(qs: Iterable[Number], name: str = "q") -> tuple[Fraction, ...]:
    """Ranks in the order given, at least one."""
    if isinstance(qs, str | bytes) or not isinstance(qs, Iterable):
        raise TypeError(f"{name} must be a list of numbers between 0 and 1, got {type(qs).__name__}; for one give [q]")
    ranks = tuple(check_rank(q) for q in qs)
    if not ranks:
        raise ValueError(f"{name} must have at least one number between 0 and 1, got none")
    return ranks


def check_rows(rows: Number) -> int:
    """The number of records that the user states."""
    stated = rational(rows, "rows")
    if stated < 0 or stated.denominator != 1:
        raise ValueError(f"rows must be a whole number of records, got rows={rows!r}")
    return int(stated)


def _bits(beta: Number) -> int:
    """The fewest mantissa bits whose steps are within beta."""
    ratio = rational(beta, "beta")
    if ratio <= 1:
        raise ValueError(f"beta must be greater than 1, got beta={beta!r}")
    return next((bits for bits in range(MOST_BITS) if Fraction(1, 2**bits) <= ratio - 1), MOST_BITS)


def _release(
    statistic: str, data: object, qs: tuple[Fraction, ...], budget: Chargeable | None, rng: Rng, **options: Any
) -> Release:
    records, source = column(data), random_source(rng)
    asked = ask(records, qs, **options)
    what = f"quantile {qs[0]}" if statistic == "quantile" else statistic
    cost, parts = asked.priced()
    loss = charged(records.unit.loss(cost, asked.neighbors), budget, what)
    values = asked.answer(Counts.of(records.chunks, asked.ladder), source)
    value = values[0] if len(values) == 1 else tuple(sorted(values))
    parameters: dict[str, Any] = {"q": str(qs[0])} if statistic == "quantile" else {}
    parameters |= {"method": options.get("method", "auto"), "noise": asked.noise}
    if options.get("rows") is not None:
        parameters["stated_rows"] = check_rows(options["rows"])
    spending = Spending.of(options["epsilon"], options["rho"])
    told = spending.told(parts, records.unit)
    return Release(statistic, value, loss, parameters | asked.ladder.describe() | told)


def quantile(
    data: object,
    q: Number,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    lower: Number | None = None,
    upper: Number | None = None,
    resolution: Number | None = None,
    neighbors: Neighbors = "add-remove",
    beta: Number | None = None,
    noise: Noise = "exponential",
    ladder: Ladder | None = None,
    method: Method = "auto",
    rows: Number | None = None,
    budget: Chargeable | None = None,
    rng: Rng = None,
) -> Release:
    """A private q-quantile of data whose bounds nobody knows.

    epsilon, rho: the total privacy loss, as pure differential privacy or as zCDP; give one of them.
    lower, upper: public bounds, if you have them; they shorten the ladder, and records outside are clamped.
    resolution: the grid the data live on (0.01 for cents); integer and boolean types imply 1.
    neighbors: "add-remove" (one row more or less) or "swap" (one row changed, the number of rows public).
    beta: the largest ratio of neighbouring candidates; by default they grow finer with the number of records.
    noise: "exponential", "laplace" or "gumbel", all exact.
    ladder: candidates of your own, instead of `beta` and `resolution`.
    method: "auto" takes the best by public facts and the private size (see `auto.auto`); "walk" is AboveThreshold,
    "flip" permute-and-flip, "exponential" the exponential mechanism over the same candidates, which costs less under
    zCDP. Where there are too few records for the last two the walk is taken.
    rows: the number of records, if you may state it (roughly will do): then none of epsilon is spent on learning it.
    budget: a `Budget` that is charged before the data are read.
    rng: a seeded generator for tests and experiments; a release for others must leave it None.

    With too few rows for the epsilon the answer is far too small in magnitude, hardly ever far too large.

    >>> import random
    >>> ages = [18 + i % 60 for i in range(6000)]
    >>> quantile(ages, 0.5, epsilon=1, resolution=1, rng=random.Random(1)).value
    47
    """
    return _release(
        "quantile",
        data,
        (check_rank(q),),
        budget,
        rng,
        epsilon=epsilon,
        rho=rho,
        lower=lower,
        upper=upper,
        resolution=resolution,
        neighbors=neighbors,
        beta=beta,
        noise=noise,
        ladder=ladder,
        method=method,
        rows=rows,
    )


def maximum(
    data: object,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    lower: Number | None = None,
    upper: Number | None = None,
    resolution: Number | None = None,
    neighbors: Neighbors = "add-remove",
    beta: Number | None = None,
    noise: Noise = "exponential",
    ladder: Ladder | None = None,
    budget: Chargeable | None = None,
    rng: Rng = None,
) -> Release:
    """A private maximum, by a walk up; the keywords are those of `quantile`.

    For 100 rows and more it is above ten times the true one with probability below 1e-4 (tests/test_runaway.py).
    """
    return _release(
        "maximum",
        data,
        (Fraction(1),),
        budget,
        rng,
        epsilon=epsilon,
        rho=rho,
        lower=lower,
        upper=upper,
        resolution=resolution,
        neighbors=neighbors,
        beta=beta,
        noise=noise,
        ladder=ladder,
    )


def minimum(
    data: object,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    lower: Number | None = None,
    upper: Number | None = None,
    resolution: Number | None = None,
    neighbors: Neighbors = "add-remove",
    beta: Number | None = None,
    noise: Noise = "exponential",
    ladder: Ladder | None = None,
    budget: Chargeable | None = None,
    rng: Rng = None,
) -> Release:
    """A private minimum: minus the maximum of the negated data, in law; the keywords are those of `quantile`."""
    return _release(
        "minimum",
        data,
        (Fraction(0),),
        budget,
        rng,
        epsilon=epsilon,
        rho=rho,
        lower=lower,
        upper=upper,
        resolution=resolution,
        neighbors=neighbors,
        beta=beta,
        noise=noise,
        ladder=ladder,
    )


def bounds(
    data: object,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    lower: Number | None = None,
    upper: Number | None = None,
    resolution: Number | None = None,
    neighbors: Neighbors = "add-remove",
    beta: Number | None = None,
    noise: Noise = "exponential",
    ladder: Ladder | None = None,
    budget: Chargeable | None = None,
    rng: Rng = None,
) -> Release:
    """A private (minimum, maximum) for one total epsilon; the keywords are those of `quantile`."""
    return _release(
        "bounds",
        data,
        (Fraction(0), Fraction(1)),
        budget,
        rng,
        epsilon=epsilon,
        rho=rho,
        lower=lower,
        upper=upper,
        resolution=resolution,
        neighbors=neighbors,
        beta=beta,
        noise=noise,
        ladder=ladder,
    )
