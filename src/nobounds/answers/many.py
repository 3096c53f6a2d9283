"""Several quantiles: the middle one by a cut, and then each half of the records by itself (docs/proofs/halving.md).

Extremes are walked to: a cut at the end of all records would fall among all numbers beyond them.

A record lies in one slice of a level, so the cuts of a level cost together what one of them does. Under swap a record
may leave one slice and enter another: then two cuts of a level change.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from nobounds.accounting.cost import Cost
from nobounds.answers.quantile import extremes
from nobounds.answers.spent import Known, Part, bought_size, short_rank
from nobounds.core.prior import float_of
from nobounds.counting.order import Order
from nobounds.mechanisms.cut import Cut, Slice
from nobounds.mechanisms.decisions import Together
from nobounds.programs.program import Program
from nobounds.values import dataclass


@dataclass(frozen=True)
class Several:
    """The keys of quantiles in the order of their ranks, a noisy number of records, and what each part cost."""

    values: tuple[int | None, ...]
    size: int | None
    parts: dict[str, Cost]


def quantiles(order: Order, qs: tuple[Fraction, ...], whole: Part, known: Known) -> Program[Several]:
    """The quantiles of these ranks, which rise; a later one is never smaller. Extremes are walked to, not cut off."""
    size, spent, left, _ = yield from bought_size(order, whole, known)
    parts = {"size": spent.cost} if spent.amount else {}
    if size is None:
        return Several((None,) * len(qs), size, parts | {"quantiles": left.cost})
    short = [short_rank(q) for q in qs]
    ends = tuple(sorted({rank for rank in short if rank in (0, 1)}))
    inner = tuple(q for q, rank in zip(qs, short, strict=True) if rank not in ends)
    levels = depth(len(inner))
    each = left.of(Fraction(1, levels + len(ends)))
    values = yield from halved(order, inner, [each] * levels)
    if ends:
        own = left.less(*[each] * levels)
        brackets = yield from extremes(order, ends, own, replace(known, size=size), None)
        outer = [bracket.value for bracket in brackets if bracket.value is not None]
        if 0 in ends:
            values = [min(outer[:1] + values)] * short.count(Fraction(0)) + values
        if 1 in ends:
            values = values + [max(values + outer[-1:])] * short.count(Fraction(1))
    return Several(tuple(values), size, parts | {"quantiles": left.cost})


class Node(NamedTuple):
    """The places `low` to before `high` of the list of ranks, for the slice from part `start` to part `stop`.

    opened: on which sides no number was released yet. `scale` is a distance between released
    numbers, or the size of one, if there is any: in a slice that is open on one side, half of the prior is around its
    other end, on that scale. The numbers far beyond the records would outweigh few of them else.
    """

    piece: Slice
    low: int
    high: int
    start: Fraction
    stop: Fraction
    opened: tuple[bool, bool]
    scale: float = 0.0

    def cut(self, order: Order, q: Fraction, each: Part, cost: Callable[[], Cost]) -> Cut:
        """The choice that cuts this slice."""
        scale = self.scale if self.opened[0] != self.opened[1] else 0.0
        return Cut(order, self.piece, q, cut_rate(each, q), cost, scale, self.opened[1])

    def halves(self, middle: int, q: Fraction, key: int, cut: int) -> "list[Node]":
        """Both parts of the slice, if they have ranks."""
        value = float_of(key)
        away = [
            0.0 if out else abs(float_of(end) - value) for out, end in zip(self.opened, self.piece[2:], strict=True)
        ]
        low, high = ((each if 0 < each < math.inf else self.scale or abs(value)) for each in away)
        below = Node(self.piece.below(key, cut), self.low, middle, self.start, q, (self.opened[0], False), high)
        above = Node(self.piece.above(key, cut), middle + 1, self.high, q, self.stop, (False, self.opened[1]), low)
        return [half for half in (below, above) if half.low < half.high]


def halved(order: Order, qs: tuple[Fraction, ...], levels: Sequence[Part]) -> Program[list[int]]:
    """The quantiles, level by level: the slices of a level are disjoint, and cost together what one of them does."""
    values, line = [0] * len(qs), order.line
    nodes = [Node(Slice(0, order.total, *line.ends), 0, len(qs), Fraction(0), Fraction(1), (True, True))] if qs else []
    for each in levels:
        middles = [_middle(node, qs) for node in nodes]
        cost = partial(_cost, each)
        cuts = tuple(
            node.cut(order, short_rank((qs[k] - node.start) / (node.stop - node.start)), each, cost)
            for node, k in zip(nodes, middles, strict=True)
        )
        drawn = yield Together(cuts, cost)
        halves = []
        for node, middle, (key, cut) in zip(nodes, middles, drawn, strict=True):
            values[middle] = key
            halves += node.halves(middle, qs[middle], key, cut)
        nodes = halves
    return values


def _cost(part: Part) -> Cost:
    return part.cost


def cut_rate(each: Part, q: Fraction) -> Fraction:
    """The rate of a cut, of which one record changes one under add-remove.

    Under swap it changes this one, or two after an earlier cut: the slice that it leaves, and the one that it enters.
    """
    if each.neighbors == "add-remove":
        return each.rate(q)
    return min(each.rate(q), Part(each.amount / 2, each.zcdp, "add-remove").rate(q))


def depth(many: int) -> int:
    """The levels of a tree of `many` quantiles."""
    return math.ceil(math.log2(many + 1))


def _middle(node: Node, qs: tuple[Fraction, ...]) -> int:
    """The quantile nearest to the middle of the slice among those that leave both halves a level less."""
    many, half = node.high - node.low, (node.start + node.stop) / 2
    levels = depth(many)
    balanced = (k for k in range(many) if max(depth(k), depth(many - 1 - k)) < levels)
    return min((node.low + k for k in balanced), key=lambda k: abs(qs[k] - half))
