"""nobounds by its public functions, with no bounds given but those that a cell states."""

import random
from typing import Any

from nobounds.research.bench.cells import Cell
from nobounds.research.bench.families import FAMILIES
from nobounds.research.bench.methods import answer


def statement(cell: Cell, data: Any) -> dict[str, Any]:
    """A true statement: a bound 20 spreads from the offset or where the data end, the resolution, or the rows."""
    family = FAMILIES[cell.family]
    middle, reach = cell.offset * family.spread, 20 * family.spread
    return {
        "": {},
        "lower": {"lower": min(float(data.min()), middle - reach)},
        "upper": {"upper": max(float(data.max()), middle + reach)},
        "resolution": {"resolution": str(family.resolution)},
        "rows": {"rows": cell.n},
    }[cell.stated]


def errors(cell: Cell, repetitions: int) -> list[float]:
    """One error for each repetition."""
    return [
        cell.error(answer(cell, data, random.Random(f"{cell}/{repetition}"), **statement(cell, data)), data)
        for repetition, data in enumerate(cell.samples(repetitions))
    ]
