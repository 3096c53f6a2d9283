"""Shares: what each statistic of a column gets in a summary, by its number of records.

A statistic needs nats, that is records times epsilon, before its answer is worth anything. They are answered in one
order, each with what it needs, as far as the nats go; the next ones get nothing, and what is left is shared by weights.
Shares depend on public facts and on a noisy number of records that was paid for, and add up to the same for every
number (docs/proofs/describe.md).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from nobounds.accounting.loss import Neighbors

RANKS = {name: Fraction(name[:-1]) / 100 for name in ("5%", "25%", "50%", "75%", "95%")}

STATISTICS = ("count", "mean", "std", "min", *RANKS, "max")

COUNT_SHARE = Fraction(1, 10)  # of epsilon, over all columns
SIZE_SHARE = Fraction(1, 40)  # of what is split by need, for sizes that are not requested

LEVELS = {"median": ("50%",), "quartiles": ("25%", "75%"), "tails": ("5%", "95%")}  # of the recursion, in this order
PARTS = {**LEVELS, "mean": ("mean",), "min and max": ("min", "max"), "std": ("std",)}


class Need(NamedTuple):
    """The least nats of a part, and its weight in the sharing of what is left."""

    nats: int
    weight: int


# In the order of answers, chosen on synthetic families (docs/describe.md). A quantile needs 20 nats on its smaller
# side, and the median more, to hit heaps of equal records. The frame is the clip of a mean, which needs octaves that
# show what lies beyond it: with 60 nats its interval does not hold in 93% of columns of Pareto(2.5), as it must.
NEEDS = {
    "median": Need(60, 3),
    "quartiles": Need(80, 3),
    "mean": Need(76, 8),
    "min and max": Need(120, 3),
    "tails": Need(400, 3),
    "std": Need(200, 4),
}
_TWICE = frozenset({*LEVELS, "mean", "min and max"})  # parts that cost twice as much under swap


def shares(amount: Fraction, size: int, neighbors: Neighbors, zcdp: bool) -> dict[str, Fraction]:
    """What the parts of a column with about `size` records get of an epsilon, or (`zcdp`) of a rho; none if too few."""
    least: dict[str, Fraction] = {}
    left = amount
    for part in NEEDS:
        price = price_of(part, size, neighbors, zcdp)
        if price is None or price > left:
            break
        least[part], left = price, left - price
    whole = sum(NEEDS[part].weight for part in least)
    return {part: price + left * NEEDS[part].weight / whole for part, price in least.items()}


def answered(parts: Mapping[str, Fraction]) -> frozenset[str]:
    """The statistics that are answered, with these shares."""
    return frozenset({"count"}.union(*(PARTS[part] for part in parts)))


def price_of(part: str, size: int, neighbors: Neighbors, zcdp: bool) -> Fraction | None:
    """What the nats of a part cost; under zCDP half of the square of epsilon, and an eighth for a range."""
    if size <= 0:
        return None
    epsilon = Fraction(NEEDS[part].nats * (2 if neighbors == "swap" and part in _TWICE else 1), size)
    return epsilon**2 / (8 if part in LEVELS else 2) if zcdp else epsilon


def shared(amount: Fraction, needs: Sequence[Fraction | None]) -> list[Fraction]:
    """What each of several statistics gets, by its need; 0 for those that do not fit, or that nothing helps (None).

    All get the same, as long as that covers what each needs. One that needs more gets what it needs, and the others
    share the rest equally. What does not fit gets nothing, the most expensive first (docs/proofs/agg.md).

    >>> [str(part) for part in shared(Fraction(1), [Fraction(1, 10), Fraction(1, 2), Fraction(1, 5), None])]
    ['1/4', '1/2', '1/4', '0']
    """
    order = sorted((k for k, need in enumerate(needs) if need is not None), key=lambda k: (needs[k], k))
    kept: list[int] = []
    left = amount
    for k in order:
        if _of(needs, k) > left:
            break
        kept.append(k)
        left -= _of(needs, k)
    parts = [Fraction(0)] * len(needs)
    left = amount
    while kept:
        equal = left / len(kept)
        if _of(needs, kept[-1]) <= equal:
            break
        dearest = kept.pop()
        parts[dearest] = _of(needs, dearest)
        left -= parts[dearest]
    for k in kept:
        parts[k] = left / len(kept)
    return parts


def _of(needs: Sequence[Fraction | None], k: int) -> Fraction:
    need = needs[k]
    assert need is not None
    return need
