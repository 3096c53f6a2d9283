"""Shares: what each statistic of a column gets in a summary, by its number of records.

A statistic needs nats, that is records times epsilon, before its answer is worth anything; one that cannot have them
gets nothing. So there are stages: the more records, the more statistics are answered. In a stage each part gets what
it needs, and what is left is shared by weights. Shares depend on public facts and on a noisy number of records that
was paid for, and add up to the same for every number (docs/proofs/describe.md).
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from nobounds.accounting.loss import Neighbors

RANKS = {name: Fraction(name[:-1]) / 100 for name in ("5%", "25%", "50%", "75%", "95%")}

STATISTICS = ("count", "mean", "std", "min", *RANKS, "max")

COUNT_SHARE = Fraction(1, 10)  # of epsilon, over all columns

TOO_FEW = "too few rows"  # why a statistic is not answered

LEVELS = {"median": ("50%",), "quartiles": ("25%", "75%"), "tails": ("5%", "95%")}  # of the recursion, in this order
PARTS = {**LEVELS, "scale": (), "clip": (), "min and max": ("min", "max"), "mean": ("mean",), "std": ("std",)}


class Need(NamedTuple):
    """The least nats of a part, and its weight in the sharing of what is left."""

    nats: int
    weight: int


STAGES: tuple[dict[str, Need], ...] = (  # from the richest to the poorest
    {
        "median": Need(50, 3),
        "quartiles": Need(100, 3),
        "tails": Need(600, 3),
        "min and max": Need(100, 3),
        "mean": Need(60, 4),
        "std": Need(100, 4),
    },
    {
        "median": Need(50, 3),
        "quartiles": Need(100, 3),
        "min and max": Need(100, 3),
        "mean": Need(60, 4),
        "std": Need(100, 4),
    },
    {"median": Need(50, 3), "quartiles": Need(100, 3), "min and max": Need(100, 3), "mean": Need(60, 4)},
    {"median": Need(50, 3), "quartiles": Need(90, 3), "clip": Need(40, 3), "mean": Need(40, 4)},
    {"median": Need(50, 3), "clip": Need(30, 3), "mean": Need(40, 4)},
    {"median": Need(40, 1)},
)
_RANKED = frozenset({*LEVELS, "scale"})  # parts whose range counts under zCDP
_TWICE = _RANKED | {"clip", "min and max"}  # parts that cost twice as much under swap


def shares(amount: Fraction, size: int, neighbors: Neighbors, zcdp: bool) -> dict[str, Fraction]:
    """What the parts of a column with about `size` records get of an epsilon, or (`zcdp`) of a rho; none if too few."""
    for stage in STAGES:
        least = {part: _amount(part, need.nats, size, neighbors, zcdp) for part, need in stage.items()}
        left = amount - sum(least.values())
        if size > 0 and left >= 0:
            whole = sum(need.weight for need in stage.values())
            return {part: least[part] + left * need.weight / whole for part, need in stage.items()}
    return {}


def answered(parts: Mapping[str, Fraction]) -> frozenset[str]:
    """The statistics that are answered, with these shares."""
    return frozenset({"count"}.union(*(PARTS[part] for part in parts)))


def _amount(part: str, nats: int, size: int, neighbors: Neighbors, zcdp: bool) -> Fraction:
    """What this many nats cost; under zCDP half of the square of epsilon, and an eighth for a range."""
    times = 2 if neighbors == "swap" and part in _TWICE else 1
    epsilon = Fraction(nats * times, max(size, 1))
    return epsilon**2 / (8 if part in _RANKED else 2) if zcdp else epsilon
