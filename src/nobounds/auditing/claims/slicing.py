"""The cases of recursive halving: the joint law of all chosen places, level by level.

Given a place, the slices on its two sides are independent: the extremes of their log-ratios add up, and their moments
multiply. A rung has few places here, and all of them can be enumerated.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TypeAlias

import numpy as np

from nobounds.accounting.cost import Cost
from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats, Ints
from nobounds.auditing.cases import Case, Measure, Worst, neighbouring
from nobounds.auditing.claims.answers import FEW, SHORT
from nobounds.auditing.divergences import ORDERS
from nobounds.counting.second_look import Counts
from nobounds.ladders.frame import Frame, Framed
from nobounds.ladders.ladder import Ladder
from nobounds.ranks.auto import SizeRule
from nobounds.ranks.framing import FrameRule
from nobounds.ranks.many.halving import HALF, Halving, Node, Setting, around, levels, tree
from nobounds.ranks.many.look import Look
from nobounds.ranks.many.slices import Slice
from nobounds.ranks.problem import Problem
from nobounds.ranks.tuning import TUNING

At: TypeAlias = tuple[tuple[int, int], Slice]
Some: TypeAlias = Callable[[Floats], Sequence[int]]

MISSING = math.nan
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
    """A plan on a fixed ladder that spends `each` on a level: the size and the frame are audited separately."""
    problem = Problem(tuple(qs), ladder, neighbors, nullable, tuning=replace(TUNING, places=places))
    return Halving(problem, zcdp, SizeRule(Fraction(0), 0), each * levels(problem.qs))


def fixed(plan: Halving, size: int, each: Fraction) -> Setting:
    """The setting on a fixed ladder for this many records."""
    return Setting(plan.ladder, size, True, False, each, plan.tuning.places)


def levels_cost(plan: Halving, each: Fraction) -> Cost:
    """What all levels cost."""
    costs = [plan._level_cost(level, each) for level in range(levels(plan.qs))]
    return sum(costs[1:], costs[0])


class Joint:
    """The exact joint law of all places that a plan chooses, for one data set, given a size and a frame.

    Without a frame, of two levels: later ones depend on all answers of the second.
    """

    def __init__(self, plan: Halving, data: Sequence[float], setting: Setting) -> None:
        self.plan, self.data, self.setting = plan, data, setting
        present = [record for record in data if record == record]
        self.look = Look(Counts.of(lambda: [np.array(present, dtype=float)], setting.ladder), setting.ladder)
        self.nodes = {(node.left, node.right): node for node in tree(plan.qs)}
        self.whole, self.root = Slice.whole(setting.ladder, setting.places), (-1, len(plan.qs))
        self._laws: dict[tuple[Node, Slice], tuple[Ints, Floats]] = {}
        self._around: dict[int, Joint] = {}

    def law(self, node: Node, piece: Slice) -> tuple[Ints, Floats]:
        """The places that may be chosen in a slice, and their log-probabilities."""
        if (node, piece) not in self._laws:
            self._laws[node, piece] = self._law(node, piece, self.setting)
        return self._laws[node, piece]

    def _law(self, node: Node, piece: Slice, setting: Setting) -> tuple[Ints, Floats]:
        if piece.high - piece.low <= 1:
            return np.array([piece.low]), np.zeros(1)
        decision = self.plan.decision(node, piece, self.look, setting, self.plan.cost)
        outcomes, logs = decision.log_pmf()
        chances: dict[int, float] = {}  # a walk that never halts ends at its last rung
        for outcome, log in zip(outcomes, logs.tolist(), strict=True):
            place = self.plan.place(node, piece, setting, outcome)
            chances[place] = float(np.logaddexp(chances[place], log)) if place in chances else log
        return np.array(list(chances)), np.array(list(chances.values()))

    def then(self, place: int) -> "Joint":
        """The law of what follows a place: without a frame, by deviations from the first answer."""
        if not self.setting.absolute or isinstance(self.setting.ladder.map, Framed):
            return self
        if place not in self._around:
            self._around[place] = Joint(self.plan, self.data, around(self.setting, place // self.setting.places))
        return self._around[place]

    def after(self, node: Node, piece: Slice, place: int) -> list[At]:
        """The nodes that follow a place, and their slices in the law that follows it."""
        then, cut = self.then(place), piece.cut(place)
        if then is not self:
            piece, cut = then.whole, place % piece.places
        return [
            (key, part)
            for key, part in (
                ((node.left, node.which), Slice(piece.low, cut, piece.places)),
                ((node.which, node.right), Slice(cut, piece.high, piece.places)),
            )
            if key in self.nodes
        ]


def log_ratios(x: Joint, y: Joint, some: Some | None = None, at: At | None = None) -> tuple[float, float]:
    """The largest and the smallest log-ratio of the joint laws; `some` restricts the first places."""
    key, piece = at or (x.root, x.whole)
    node = x.nodes[key]
    places, log_p = x.law(node, piece)
    ratios = log_p - y.law(node, piece)[1]
    if node.leaf:
        return float(ratios.max()), float(ratios.min())
    extremes = []
    for i in range(len(places)) if some is None else some(ratios):
        place = int(places[i])
        rest = [log_ratios(x.then(place), y.then(place), None, at) for at in x.after(node, piece, place)]
        extremes.append([float(ratios[i]) + sum(r[side] for r in rest) for side in (0, 1)])
    return max(e[0] for e in extremes), min(e[1] for e in extremes)


def loss(x: Joint, y: Joint, some: Some | None = None) -> float:
    """The pure loss of a pair."""
    return max(map(abs, log_ratios(x, y, some)))


def log_moments(x: Joint, y: Joint, at: At | None = None) -> Floats:
    """ln of the sum of P**order Q**(1 - order), for each order; independent parts multiply."""
    key, piece = at or (x.root, x.whole)
    node = x.nodes[key]
    places, log_p = x.law(node, piece)
    terms = np.outer(_ORDERS, log_p) + np.outer(1 - _ORDERS, y.law(node, piece)[1])
    if not node.leaf:
        for i, place in enumerate(places.tolist()):
            for following in x.after(node, piece, place):
                terms[:, i] += log_moments(x.then(place), y.then(place), following)
    return np.asarray(np.logaddexp.reduce(terms, axis=1))


def rho_of(x: Joint, y: Joint) -> float:
    """The largest Renyi divergence divided by its order, both ways."""
    return max(float((log_moments(*pair) / (_ORDERS - 1) / _ORDERS).max()) for pair in ((x, y), (y, x)))


def ends(ratios: Floats) -> list[int]:
    """The first places with the most extreme log-ratios."""
    order: list[int] = np.argsort(ratios).tolist()
    return order[:3] + order[-3:]


def cases() -> Iterator[Case]:
    """Two levels on many rungs, which reach their cost; a record that becomes missing; frames, and priors."""
    for qs, data, rest in ((THIRDS, (1, 198), (1,)), (QUARTERS, (1, 198), (198,))):
        for zcdp in (False, True):
            yield _pure("add-remove", qs, data, rest, 200, zcdp)
    yield _pure("swap", QUARTERS, (1, 2, 2, 398), (2, 2, 398, 399), 400, False)
    yield _pure("swap", QUARTERS, (1, 398), (398, MISSING), 400, False)
    both: tuple[Neighbors, ...] = ("add-remove", "swap")
    for neighbors in both:
        yield _settled(neighbors, framed=True)
        yield _settled(neighbors, framed=False)
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
    places, ladder = 2 if neighbors == "add-remove" else 1, numbers(rungs)

    def made() -> Halving:
        return plan(qs, neighbors, HALF, zcdp=zcdp, ladder=ladder, places=places)

    def look() -> list[Worst]:
        setting = fixed(made(), 0 if neighbors == "add-remove" else 2, HALF)
        one, other = (Joint(made(), data, setting) for data in (x, y))
        return [Worst("epsilon", loss(one, other, ends), (x, y), f"{rungs} rungs")]

    def claims() -> dict[Measure, float]:
        kinds = levels_cost(made(), HALF).kinds
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


def settled(neighbors: Neighbors, framed: bool) -> tuple[Halving, Setting]:
    """A plan that costs 1, in a frame with walks near the ends of the data, or under the prior."""
    problem = Problem(QUARTERS, FEW, neighbors, grows=True, tuning=replace(SHORT, many_bits=0, places=2))
    made = Halving(problem, False, SizeRule(Fraction(0), 40), Fraction(1))
    if not framed:
        return made, made.setting(40, None, None)
    setting = made.setting(40, Frame(3.0, 0), FrameRule.of(problem, Fraction(0), Fraction(0)))
    return made, replace(setting, ladder=replace(setting.ladder, first=-40, last=40))


def _settled(neighbors: Neighbors, framed: bool) -> Case:
    """All neighbouring data sets of two records."""
    spots = (-60.0, -3.0, 3.0, 4.0, 60.0, *((MISSING,) if neighbors == "swap" else ()))

    def look(spots: Sequence[float] = spots) -> Iterator[Worst]:
        made, setting = settled(neighbors, framed)
        joint = cache(lambda data: Joint(made, data, setting))
        for x, y in neighbouring(spots, 2, neighbors):
            yield Worst("epsilon", loss(joint(x), joint(y), ends), (x, y), f"{setting.ladder.size} rungs")

    return Case(
        "quantiles by halving",
        f"q {', '.join(map(str, QUARTERS))}, {'in a frame' if framed else 'under the prior'}",
        "exponential" if framed else "Gumbel",
        neighbors,
        "row",
        lambda: {"epsilon": float(settled(neighbors, framed)[0].cost().epsilon)},
        look,
        tight=(),
        quick=neighbors == "add-remove",
        brief=lambda: look(spots[:3] if framed else spots[1:4]),
    )


def _zcdp(each: Fraction) -> Case:
    """The rho of two levels: half of the places move away from the target and half towards it."""
    qs = (HALF, Fraction(5, 8), Fraction(7, 8))

    def made() -> Halving:
        return plan(qs, "add-remove", each, zcdp=True, ladder=numbers(50), places=3)

    def look() -> list[Worst]:
        how, setting = made(), fixed(made(), 8, each)
        return [Worst("rho", rho_of(Joint(how, (), setting), Joint(how, (25,), setting)), ((25,), ()), "50 rungs")]

    return Case(
        "quantiles by halving",
        f"q {', '.join(map(str, qs))}, range {each} a level",
        "Gumbel",
        "add-remove",
        "row",
        lambda: {"rho": float(levels_cost(made(), each).rho)},
        look,
        tight=(),
    )
