"""The cases of key selection: the law of the set of kept keys, by its hockey-stick divergence at the stated epsilon."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from nobounds.auditing.cases import Case, Worst
from nobounds.exact import ball, working_precision
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


def cases() -> Iterator[Case]:
    """Units in one, two or three groups."""
    for (epsilon, delta), groups in product(PARTS, (1, 2, 3)):
        yield _case(KeySelection(epsilon, delta, groups))


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


def _units(counts: tuple[int, ...]) -> str:
    return "keys of " + ", ".join(map(str, counts)) + " units"
