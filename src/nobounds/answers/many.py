"""Several quantiles: the middle one by a cut, and then each half of the records by itself (docs/proofs/halving.md).

A record lies in one slice of a level, so the cuts of a level cost together what one of them does. Under swap a record
may leave one slice and enter another: then two cuts of a level change.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from nobounds.accounting.cost import Cost
from nobounds.answers.spent import Known, Part, bought_size, short_rank
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
    """The quantiles of these ranks, which rise; a later one is never smaller."""
    size, spent, left = yield from bought_size(order, whole, known)
    parts = {"size": spent.cost} if spent.amount else {}
    if size is None:
        return Several((None,) * len(qs), size, parts | {"quantiles": left.cost})
    levels = depth(len(qs))
    values = yield from halved(order, qs, [left.of(Fraction(1, levels))] * levels)
    return Several(tuple(values), size, parts | {"quantiles": left.cost})


class Node(NamedTuple):
    """The places `low` to before `high` of the list of ranks, for the slice from part `start` to part `stop`."""

    piece: Slice
    low: int
    high: int
    start: Fraction
    stop: Fraction


def halved(order: Order, qs: tuple[Fraction, ...], levels: Sequence[Part]) -> Program[list[int]]:
    """The quantiles, level by level: the slices of a level are disjoint, and cost together what one of them does."""
    values = [0] * len(qs)
    nodes = [Node(Slice(0, order.total, *order.line.ends), 0, len(qs), Fraction(0), Fraction(1))]
    for each in levels:
        middles = [_middle(node, qs) for node in nodes]
        cost = partial(_cost, each)
        inside = [
            short_rank((qs[k] - node.start) / (node.stop - node.start)) for node, k in zip(nodes, middles, strict=True)
        ]
        cuts = tuple(Cut(order, node.piece, q, cut_rate(each, q), cost) for node, q in zip(nodes, inside, strict=True))
        drawn = yield Together(cuts, cost)
        halves = []
        for node, middle, (key, cut) in zip(nodes, middles, drawn, strict=True):
            values[middle] = key
            below = Node(node.piece.below(key, cut), node.low, middle, node.start, qs[middle])
            above = Node(node.piece.above(key, cut), middle + 1, node.high, qs[middle], node.stop)
            halves += [half for half in (below, above) if half.low < half.high]
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
    """The levels of a tree of so many quantiles."""
    return math.ceil(math.log2(many + 1))


def _middle(node: Node, qs: tuple[Fraction, ...]) -> int:
    """The quantile nearest to the middle of the slice among those that leave both halves a level less."""
    many, half = node.high - node.low, (node.start + node.stop) / 2
    levels = depth(many)
    balanced = (k for k in range(many) if max(depth(k), depth(many - 1 - k)) < levels)
    return min((node.low + k for k in balanced), key=lambda k: abs(qs[k] - half))
