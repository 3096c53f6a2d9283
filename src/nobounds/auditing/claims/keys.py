"""The cases of keys: the law of the set of shown keys, or of their counts, by its divergence at the stated epsilon."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from nobounds.auditing.cases import Case, Worst
from nobounds.exact import ball, working_precision
from nobounds.groups.key_counts import KeyCounts
from nobounds.groups.key_selection import Chances, KeySelection

if TYPE_CHECKING:
    from flint import arb

PARTS = (
    (Fraction(1), Fraction(1, 10)),
    (Fraction(3), Fraction(1, 100)),
    (Fraction(2), Fraction(1, 3)),
)


def hockey_stick(p: "Sequence[arb]", q: "Sequence[arb]", epsilon: Fraction) -> "arb":
    """The least delta for which p <= e^epsilon q + delta for every event."""
    from flint import arb

    x = ball(epsilon).exp()
    return sum((over for a, b in zip(p, q, strict=True) if (over := a - x * b) > 0), arb(0))


def least_delta(p: "Sequence[arb]", q: "Sequence[arb]", epsilon: Fraction) -> "arb":
    """The larger hockey-stick divergence of both directions."""
    return max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon), key=lambda delta: delta.mid())


def set_law(chances: "Sequence[arb]") -> "list[arb]":
    """The law of which keys are kept: one outcome for each subset."""
    from flint import arb

    return [
        math.prod((p if keep else 1 - p for p, keep in zip(chances, outcome, strict=True)), start=arb(1))
        for outcome in product([False, True], repeat=len(chances))
    ]


def keys_seen(p: "Sequence[arb]", groups: int, epsilon: Fraction) -> Iterator[Worst]:
    """The least delta at epsilon for the selection among `groups` keys, all of which one unit joins or leaves."""
    for units in product(range(len(p) - 1), repeat=groups):
        if list(units) == sorted(units):
            more = tuple(k + 1 for k in units)
            one, other = (set_law([p[k] for k in counts]) for counts in (units, more))
            yield Worst("delta", float(least_delta(one, other, epsilon)), (_units(units), _units(more)))


def chances_of(chances: Chances) -> "list[arb]":
    """p_0, p_1, ... up to two after the first p_n = 1."""
    return [chances.ball(n) for n in range(chances.certain + 3)]


def selection_seen(chances: Chances, groups: int, epsilon: Fraction) -> Iterator[Worst]:
    """The least delta from the probabilities of one key, at sufficient precision."""
    with working_precision(256):
        yield from keys_seen(chances_of(chances), groups, epsilon)


def counted_seen(counted: KeyCounts, joined: tuple[int, ...]) -> Iterator[Worst]:
    """The least delta at epsilon of noisy counts of keys, which one unit joins with `joined` rows in each."""
    enough = range(2 * counted.most + 2)  # from there on a key is always shown
    for rows in product(enough if len(joined) == 1 else (0, 1, counted.most, counted.most + 2), repeat=len(joined)):
        more = tuple(k + each for k, each in zip(rows, joined, strict=True))
        p, q = [ball(1)], [ball(1)]
        for a, b in zip(rows, more, strict=True):
            laws = (count_law(counted, each, b) for each in (a, b))
            p, q = ([x * y for x, y in product(side, law)] for side, law in zip((p, q), laws, strict=True))
        yield Worst("delta", float(least_delta(p, q, counted.epsilon)), (_rows(rows), _rows(more)))


def count_law(counted: KeyCounts, rows: int, most: int) -> "list[arb]":
    """The law of one key: not shown, or shown with each count up to that of `most` rows and the largest noise."""
    law, share = [ball(0)] * (most + 2), ball(Fraction(counted.smaller, 2**32))
    for limit, part in ((counted.most, 1 - share), (counted.most - 1, share)):
        weights = {j: (-ball(counted.rate) * abs(j)).exp() for j in range(-limit, limit + 1)}
        total = sum(weights.values(), ball(0))
        for j, weight in weights.items():
            law[rows + j - counted.most + 1 if rows + j > limit else 0] += part * weight / total
    return law


def cases() -> Iterator[Case]:
    """Units in one, two or three groups, chosen by their units or by their noisy counts."""
    for (epsilon, delta), groups in product(PARTS, (1, 2, 3)):
        yield _case(KeySelection(epsilon, delta, groups))
    for (epsilon, delta), joined in product(PARTS, ((1,), (2,), (1, 1))):
        yield _counted_case(KeyCounts(epsilon, delta, sum(joined)), joined)


def _counted_case(counted: KeyCounts, joined: tuple[int, ...]) -> Case:
    def seen() -> Iterator[Worst]:
        with working_precision(256):
            yield from counted_seen(counted, joined)

    return Case(
        "counts of keys",
        f"at epsilon {counted.epsilon}",
        "uniform",
        "add-remove",
        "row" if joined == (1,) else f"user of {sum(joined)} rows in {len(joined)} groups",
        lambda: {"delta": float(counted.delta)},
        seen,
        quick=counted.epsilon == 1,
    )


def _case(choice: KeySelection) -> Case:
    groups = choice.groups_per_unit
    return Case(
        "key selection",
        f"at epsilon {choice.epsilon}",
        "uniform",
        "add-remove",
        "row" if groups == 1 else f"user in {groups} groups",
        lambda: {"delta": float(choice.delta)},
        lambda: selection_seen(choice._chances(), groups, choice.epsilon),
        tight=("delta",) if groups == 1 else (),
        quick=choice.epsilon == 1,
    )


def _rows(counts: tuple[int, ...]) -> str:
    return "keys of " + ", ".join(map(str, counts)) + " rows"


def _units(counts: tuple[int, ...]) -> str:
    return "keys of " + ", ".join(map(str, counts)) + " units"
