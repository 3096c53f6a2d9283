"""The cases of recursive halving: the joint law of all chosen places, level by level.

Given a place, the slices on its two sides are independent: the extremes of their log-ratios add up, and their moments
multiply. A rung has few places here, and all of them can be enumerated.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats, Ints
from nobounds.auditing.cases import Case, Measure, Worst
from nobounds.auditing.divergences import ORDERS
from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder
from nobounds.ranks.auto import SizeRule
from nobounds.ranks.halving import HALF, Halving, Node, Setting, tree
from nobounds.ranks.problem import Problem
from nobounds.ranks.slices import Prior, Slice
from nobounds.ranks.tuning import TUNING

At: TypeAlias = tuple[tuple[int, int], Slice, Setting]
Some: TypeAlias = Callable[[Floats], Sequence[int]]

MISSING = math.nan
FLAT = Prior(0, Fraction(0))
THIRDS, QUARTERS = (Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 4), HALF, Fraction(3, 4))
_ORDERS = np.array(ORDERS)


def numbers(n: int) -> Ladder:
    """A ladder whose rung k holds the number k, from 0 to n - 1."""
    return Ladder.uniform(0.5, n - 0.5, n - 1)


FIVE = numbers(5)


def plan(
    qs: Sequence[Fraction],
    neighbors: Neighbors,
    each: Fraction = Fraction(1),
    *,
    zcdp: bool = False,
    ladder: Ladder = FIVE,
    nullable: bool = True,
    places: int = TUNING.places,
) -> Halving:
    """A plan that spends only on its levels: the size and the scale are audited separately."""
    size = SizeRule(Fraction(0), 0)
    problem = Problem(tuple(qs), ladder, neighbors, nullable, tuning=replace(TUNING, places=places))
    return Halving(problem, zcdp, size, Fraction(0), each)


class Joint:
    """The exact joint law of all places that a plan chooses, for one data set, given a size and a scale."""

    def __init__(self, plan: Halving, data: Sequence[float], setting: Setting) -> None:
        self.plan, self.setting = plan, setting
        present = [record for record in data if record == record]
        self.histogram = Histogram.of([np.array(present, dtype=float)], setting.ladder)
        self.nodes = {(node.left, node.right): node for node in tree(plan.qs)}
        self.whole, self.root = Slice.whole(setting.ladder, plan.tuning.places), (-1, len(plan.qs))
        self._laws: dict[tuple[Node, Slice, Prior], tuple[Ints, Floats]] = {}

    def law(self, node: Node, piece: Slice, setting: Setting) -> tuple[Ints, Floats]:
        """The places that may be chosen in a slice, and their log-probabilities."""
        key = node, piece, setting.prior
        if key not in self._laws:
            self._laws[key] = self._law(node, piece, setting)
        return self._laws[key]

    def _law(self, node: Node, piece: Slice, setting: Setting) -> tuple[Ints, Floats]:
        if piece.high - piece.low <= 1:
            return np.array([piece.low]), np.zeros(1)
        decision = self.plan.decision(node, piece, self.histogram, setting, self.plan.cost)
        outcomes, logs = decision.log_pmf()
        chances: dict[int, float] = {}  # a walk that never halts ends at its last rung
        for outcome, log in zip(outcomes, logs.tolist(), strict=True):
            place = self.plan.place(node, piece, setting, outcome)
            chances[place] = float(np.logaddexp(chances[place], log)) if place in chances else log
        return np.array(list(chances)), np.array(list(chances.values()))

    def after(self, node: Node, piece: Slice, setting: Setting, place: int) -> list[At]:
        """The nodes that follow a place, their slices, and what is known by then."""
        cut, known = piece.cut(place), self.plan.with_scale(setting, place // self.plan.tuning.places)
        return [
            (key, part, known)
            for key, part in (
                ((node.left, node.which), Slice(piece.low, cut, piece.places)),
                ((node.which, node.right), Slice(cut, piece.high, piece.places)),
            )
            if key in self.nodes
        ]


def log_ratios(x: Joint, y: Joint, some: Some | None = None, at: At | None = None) -> tuple[float, float]:
    """The largest and the smallest log-ratio of the joint laws; `some` restricts the first places."""
    key, piece, known = at or (x.root, x.whole, x.setting)
    node = x.nodes[key]
    places, log_p = x.law(node, piece, known)
    ratios = log_p - y.law(node, piece, known)[1]
    if node.leaf:
        return float(ratios.max()), float(ratios.min())
    extremes = []
    for i in range(len(places)) if some is None else some(ratios):
        rest = [log_ratios(x, y, None, at) for at in x.after(node, piece, known, int(places[i]))]
        extremes.append([float(ratios[i]) + sum(r[side] for r in rest) for side in (0, 1)])
    return max(e[0] for e in extremes), min(e[1] for e in extremes)


def loss(x: Joint, y: Joint, some: Some | None = None) -> float:
    """The pure loss of a pair."""
    return max(map(abs, log_ratios(x, y, some)))


def log_moments(x: Joint, y: Joint, at: At | None = None) -> Floats:
    """ln of the sum of P**order Q**(1 - order), for each order; independent parts multiply."""
    key, piece, known = at or (x.root, x.whole, x.setting)
    node = x.nodes[key]
    places, log_p = x.law(node, piece, known)
    terms = np.outer(_ORDERS, log_p) + np.outer(1 - _ORDERS, y.law(node, piece, known)[1])
    if not node.leaf:
        for i, place in enumerate(places.tolist()):
            for following in x.after(node, piece, known, place):
                terms[:, i] += log_moments(x, y, following)
    return np.asarray(np.logaddexp.reduce(terms, axis=1))


def rho_of(x: Joint, y: Joint) -> float:
    """The largest Renyi divergence divided by its order, both ways."""
    return max(float((log_moments(*pair) / (_ORDERS - 1) / _ORDERS).max()) for pair in ((x, y), (y, x)))


def ends(ratios: Floats) -> list[int]:
    """The first places with the most extreme log-ratios."""
    order: list[int] = np.argsort(ratios).tolist()
    return order[:3] + order[-3:]


def cases() -> Iterator[Case]:
    """Two levels on many rungs, which reach their cost; and a record that becomes missing."""
    for qs, data, rest in ((THIRDS, (1, 198), (1,)), (QUARTERS, (1, 198), (198,))):
        for zcdp in (False, True):
            yield _pure("add-remove", qs, data, rest, 200, zcdp)
    yield _pure("swap", QUARTERS, (1, 2, 2, 398), (2, 2, 398, 399), 400, False)
    yield _pure("swap", QUARTERS, (1, 398), (398, MISSING), 400, False)
    for each in (Fraction(1, 4), Fraction(1)):
        yield _zcdp(each)


def _pure(
    neighbors: Neighbors,
    qs: tuple[Fraction, ...],
    x: tuple[float, ...],
    y: tuple[float, ...],
    rungs: int,
    zcdp: bool,
) -> Case:
    """Two levels that cost 1 together; a record that becomes missing costs half of each, and all of the first."""
    gone = any(record != record for record in y)

    def look() -> list[Worst]:
        places, ladder = 2 if neighbors == "add-remove" else 1, numbers(rungs)
        made = plan(qs, neighbors, HALF, zcdp=zcdp, ladder=ladder, places=places)
        size = 0 if neighbors == "add-remove" else 2
        one, other = (Joint(made, data, Setting(ladder, size, True, True, FLAT)) for data in (x, y))
        return [Worst("epsilon", loss(one, other, ends), (x, y), f"{rungs} rungs")]

    def claims() -> dict[Measure, float]:
        kinds = plan(qs, neighbors, HALF, zcdp=zcdp).cost().kinds
        return {"epsilon": float(max(kinds[-1] if gone else kinds[0]))}

    return Case(
        "quantiles by halving",
        f"q {', '.join(map(str, qs))}{', a record turns missing' if gone else ''}",
        "exponential" if not zcdp else "Gumbel",
        neighbors,
        "row",
        claims,
        look,
        tight=() if gone else ("epsilon",),
        quick=neighbors == "add-remove" and qs == QUARTERS and not zcdp,
    )


def _zcdp(each: Fraction) -> Case:
    """The rho of two levels: half of the places move away from the target and half towards it."""
    qs = (HALF, Fraction(5, 8), Fraction(7, 8))

    def made() -> tuple[Halving, Any]:
        ladder = numbers(50)
        return plan(qs, "add-remove", each, zcdp=True, ladder=ladder, places=3), Setting(ladder, 8, True, True, FLAT)

    def look() -> list[Worst]:
        how, setting = made()
        return [Worst("rho", rho_of(Joint(how, (), setting), Joint(how, (25,), setting)), ((25,), ()), "50 rungs")]

    return Case(
        "quantiles by halving",
        f"q {', '.join(map(str, qs))}, range {each} a level",
        "Gumbel",
        "add-remove",
        "row",
        lambda: {"rho": float(made()[0].cost().rho)},
        look,
        tight=(),
    )
