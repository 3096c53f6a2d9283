"""How many rows and groups of each unit to use: the choice with the smallest error to expect of a later count.

Units are counted by their number of rows, and by their number of groups, in octaves. A unit lies in one cell of each
table, so one more unit changes one count in each by 1. From the noisy counts follows, for each power of two, the share
of rows that it leaves out (`excess`); its noise is public. All of this is computed from noisy counts.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nobounds.accounting.cost import Cost
from nobounds.accounting.spending import Spending
from nobounds.counting.scan import gathered
from nobounds.engines.column import Column
from nobounds.exact import Number, positive
from nobounds.mechanisms.decisions import NoisyMany
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.release.words import TOO_FEW
from nobounds.statistics.door import Answer
from nobounds.tables.excess import ASSUMES, Cells, share_beyond
from nobounds.tables.left_out import NATS
from nobounds.values import dataclass

_EDGES = tuple(1 << k for k in range(19))
_CANDIDATES = _EDGES[:11]
_WORSE = 1.1  # by how much the error may grow for the sake of fewer groups per unit


@dataclass(frozen=True, slots=True)
class ContributionsPlan:
    """The noise on the numbers of units by rows, and, where there are groups, by groups; and the later epsilon."""

    spending: Spending
    noise: Additive
    later: float
    grouped: bool

    @classmethod
    def of(cls, spending: Spending, later: Number, grouped: bool) -> "ContributionsPlan":
        """The plan; with groups each of the two tables gets half of the spending."""
        part = replace(spending, amount=spending.amount / 2) if grouped else spending
        return cls(spending, part.plan(Additive), float(positive(later, "later")), grouped)

    def cost(self) -> Cost:
        """The cost of both tables together."""
        return self.noise.cost() + self.noise.cost() if self.grouped else self.noise.cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        return {"rows": self.noise.cost()} | ({"groups": self.noise.cost()} if self.grouped else {})


def answer(plan: ContributionsPlan, rows: Column, groups: Column | None) -> Program[Answer]:
    """The numbers to use; `rows` and `groups` have a record for each unit, its number of rows and of groups."""
    by_rows = yield NoisyMany(_counts(rows), plan.noise, plan.noise.cost)
    by_groups = None
    if groups is not None:
        by_groups = yield NoisyMany(_counts(groups), plan.noise, plan.noise.cost)
    scale = plan.noise.scale(1)
    parameters: dict[str, Any] = {"later": plan.later, "noise": plan.noise.name, "noise_scale": scale}
    if sum(by_rows) - 2 * scale * len(by_rows) ** 0.5 < NATS * scale:
        epsilon = NATS * (2 if plan.grouped else 1) / max(float(sum(by_rows)), 1.0)
        needed = {"rho": epsilon**2 / 2} if plan.spending.zcdp else {"epsilon": epsilon}
        return Answer(None, parameters | {"needed": needed}, reason=TOO_FEW)
    candidates = _candidates(by_rows, plan)
    best = min(candidates, key=lambda each: each.error)
    shown: dict[str, Any] = {"candidates": [each.plain() for each in candidates], "assumes": ASSUMES}
    if by_groups is None:
        return Answer(best.rows, parameters | shown)
    shares = {most: _share(most, by_groups, plan) for most in _CANDIDATES if most <= best.rows}
    errors = {most: math.hypot(best.noise, best.left_out + share * best.kept) for most, share in shares.items()}
    chosen = next(most for most, error in errors.items() if error <= _WORSE * min(errors.values()))
    shown["group_candidates"] = [
        {"groups_per_unit": most, "share_left_out": share, "error": errors[most]} for most, share in shares.items()
    ]
    return Answer((best.rows, chosen), parameters | shown)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A number of rows per unit: the rows that it keeps and leaves out, and the noise of a later count."""

    rows: int
    share: float
    kept: float
    noise: float

    @classmethod
    def of(cls, most: int, noisy: Sequence[int], plan: ContributionsPlan) -> "_Candidate":
        cells = Cells(most, _EDGES)
        sizes = np.array([float(cells.sizes(place, np.zeros(1))[0]) for place in range(len(noisy))])
        kept = float(np.minimum(sizes, most) @ np.maximum(np.array(noisy, dtype=np.float64), 0))
        return cls(most, _share(most, noisy, plan), kept, math.sqrt(2) * most / plan.later)

    @property
    def left_out(self) -> float:
        return self.kept * self.share / max(1 - self.share, 1e-9)

    @property
    def error(self) -> float:
        return math.hypot(self.noise, self.left_out)

    def plain(self) -> dict[str, Any]:
        """For the parameters of a release."""
        return {
            "rows_per_unit": self.rows,
            "share_left_out": self.share,
            "rows_left_out": self.left_out,
            "noise": self.noise,
            "error": self.error,
        }


def _candidates(noisy: Sequence[int], plan: ContributionsPlan) -> list[_Candidate]:
    """The candidates, up to the first whose noise alone is larger than the smallest error before it."""
    candidates: list[_Candidate] = []
    for most in _CANDIDATES:
        candidates.append(_Candidate.of(most, noisy, plan))
        if candidates[-1].noise > min(each.error for each in candidates):
            break
    return candidates


def _counts(column: Column) -> list[int]:
    counts: list[int] = Cells(1, _EDGES).counts(gathered(column.chunks())).tolist()
    return counts


def _share(most: int, noisy: Sequence[int], plan: ContributionsPlan) -> float:
    return share_beyond(noisy, Cells(most, _EDGES), plan.noise.scale(1), plan.noise.is_gaussian)[0]
