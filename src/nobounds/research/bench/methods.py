"""Methods to compare: nobounds, the rivals that get no bounds either, and functions of others.

A method of others is a function `answer(data, q, epsilon)`. If it has parameters `neighbors`, `rng` or `statistic`, it
gets these too: "add-remove" or "swap", a numpy Generator, and the name of the statistic. One with a `statistic` is also
run for means, sums and deciles, with q None, None and nine numbers.
"""

import inspect
import random
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from typing import Any
from zlib import crc32

import numpy as np

import nobounds
from nobounds.arrays import Floats
from nobounds.auditing.mine import load, theirs
from nobounds.research.bench.cells import Cell
from nobounds.research.bench.results import OURS
from nobounds.research.bench.rivals import RIVALS, Rival

GROUP = "nobounds.bench"  # of entry points: a method of a package that is installed
Method = Callable[..., Any]


def answer(cell: Cell, data: Floats, rng: random.Random, **stated: Any) -> Any:
    """The number that nobounds releases, before any marking; `stated` is what the call states about the data."""
    options: dict[str, Any] = {"epsilon": str(cell.epsilon), "neighbors": cell.relation, "rng": rng, "marks": False}
    options |= stated
    if cell.statistic == "deciles":
        return nobounds.quantiles(data, list(cell.qs), **options).value
    if cell.statistic.startswith("q="):
        return nobounds.quantile(data, cell.qs[0], **options).value
    return getattr(nobounds, cell.statistic)(data, **options).value


def ours(cell: Cell, repetitions: int) -> list[float]:
    """The errors of nobounds, one for each repetition."""
    return [
        cell.error(answer(cell, data, random.Random(f"{cell}/{repetition}")), data)
        for repetition, data in enumerate(cell.samples(repetitions))
    ]


def joined(name: str, method: Method) -> Rival:
    """The errors of a method of others, one draw for each repetition."""
    wanted = inspect.signature(method).parameters

    def errors(cell: Cell, repetitions: int) -> list[float]:
        rng = np.random.default_rng(crc32(f"{name}/{cell}".encode()))
        given = {"neighbors": cell.relation, "rng": rng, "statistic": cell.statistic}
        options = {option: value for option, value in given.items() if option in wanted}
        q = cell.qs[0] if len(cell.qs) == 1 else cell.qs or None
        losses = []
        for data in cell.samples(repetitions):
            with theirs(f"method {name}", "failed"):
                answers = np.asarray(method(data.copy(), q, cell.epsilon, **options), dtype=float)
            losses.append(cell.error(answers, data))
        return losses

    return errors


def of_others(specs: Iterable[str] = ()) -> dict[str, Method]:
    """The functions that are named, as `module:function` or `file.py:function`, and those of installed packages."""
    methods: dict[str, Method] = {}
    for entry in entry_points(group=GROUP):
        with theirs(f"method {entry.name}", "cannot be imported"):
            methods[entry.name] = entry.load()
    for spec in specs:
        methods[spec.rpartition(":")[2]] = load(spec, "method")
    return methods


def methods_for(cell: Cell, others: dict[str, Method], rivals: Iterable[str] | None = None) -> dict[str, Rival]:
    """All methods that answer the statistic of a cell: nobounds, rivals (all, or those named) and those of others."""
    chosen = {name: rival for name, rival in RIVALS[cell.part].items() if rivals is None or name in rivals}
    one = len(cell.qs) == 1
    more = {
        name: joined(name, method)
        for name, method in others.items()
        if one or "statistic" in inspect.signature(method).parameters
    }
    return {OURS: ours} | chosen | more
