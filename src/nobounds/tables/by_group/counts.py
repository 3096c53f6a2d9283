"""Noisy numbers of the groups of a table: of rows, of units or of distinct values, and the largest of them.

Keys that are not public are chosen by these numbers themselves, or before (see `key_choice`).
"""

import math
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nobounds.clipping.interval import CHANCE
from nobounds.groups.key_counts import KeyCounts
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.statistics.sums import CountPlan
from nobounds.tables.by_group.answers import GroupAnswers, around, fitting, listed, taken
from nobounds.tables.by_group.key_choice import KeyChoice


class CountedGroups(Protocol):
    """Groups that have a number each, not read yet."""

    @property
    def selection(self) -> KeyChoice | None:
        """How keys are chosen, if they are not public."""
        ...

    def counted(self, noise: Additive) -> Program[tuple[tuple[Any, ...], NDArray[Any]]]:
        """The keys of the groups to show, and their noisy numbers."""
        ...


def counts_by_group(plan: CountPlan, data: CountedGroups) -> Program[GroupAnswers]:
    """The number of each group."""
    keys, noisy = yield from data.counted(plan.noise)
    return _answers(plan, data.selection, keys, noisy, CHANCE)


def top_by_group(k: int, plan: CountPlan, data: CountedGroups) -> Program[GroupAnswers]:
    """The k values with the largest noisy counts, the largest first; of each group, where values have groups.

    The last column of the keys has the values. Those whose noise happens to be large are shown more often. So the
    intervals hold together for all values that were counted, or counted in a group, and with that for those shown.
    """
    keys, noisy = yield from data.counted(plan.noise)
    places: dict[tuple[Any, ...], int] = {}
    groups = listed(keys[:-1]) if len(keys) > 1 else [()] * len(noisy)
    group = np.array([places.setdefault(key, len(places)) for key in groups], dtype=np.int64)
    order = np.lexsort((-noisy, group)) if noisy.dtype != object else _ordered(noisy, group)
    sizes = np.bincount(group, minlength=1)
    first = order[np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes) < k]
    together = int(sizes.max(initial=0))
    each = -math.expm1(math.log1p(-CHANCE) / max(together, 1))
    shown = _answers(plan, data.selection, taken(keys, first), noisy[first], each)
    interval = shown.parameters["interval"] | {"together": together}
    return replace(shown, parameters=shown.parameters | {"k": k, "interval": interval})


def _ordered(noisy: NDArray[Any], group: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same order for numbers beyond 64 bits."""
    return np.array(sorted(range(len(noisy)), key=lambda place: (group[place], -noisy[place])), dtype=np.int64)


def _answers(
    plan: CountPlan, selection: KeyChoice | None, keys: tuple[Any, ...], noisy: NDArray[Any], chance: float
) -> GroupAnswers:
    """Noisy numbers as answers, none of them negative; each lies outside its interval with this chance."""
    scale = plan.noise.scale(1)
    if isinstance(selection, KeyCounts):
        bar, ends = float(selection.half_interval(chance)), selection.intervals(noisy, chance)
    else:
        bar = float(math.ceil(plan.noise.half_interval(scale, 0.0, chance)))  # the noise is a whole number
        ends = np.maximum(around(noisy, bar, bar), 0)
    parameters: dict[str, Any] = {"noise": plan.noise.name, "noise_scale": scale, "half_interval": bar}
    parameters["interval"] = {"level": 1 - CHANCE, "of": "sample"}
    return GroupAnswers(keys, fitting(np.maximum(noisy, 0)), parameters, ends)
