"""The number of distinct units of a table, or of distinct values in a column.

A unit is distinct from all others, so one more unit changes the number of units by 1, however many rows it has. A unit
that has at most m values in a column changes the number of distinct values by at most m. Where it may have more, m of
them are chosen, as groups of a unit are (see `engines.source`), and the number is that of the values that are left.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from nobounds.accounting.loss import Unit
from nobounds.accounting.terms import Terms
from nobounds.arrays import Floats
from nobounds.engines.column import Column, windows
from nobounds.engines.source import Bounding, Keyed
from nobounds.engines.streams.spool import once
from nobounds.ladders.facts import Facts
from nobounds.mechanisms.decisions import Bits
from nobounds.noise.additive import Additive
from nobounds.programs.program import driver_of
from nobounds.release.release import Release
from nobounds.statistics.door import release_column
from nobounds.statistics.sums import CountPlan, counted
from nobounds.tables.opened import MOST_ROWS, OpenedTable, whole_number


def distinct_units(table: OpenedTable, options: Any) -> Release:
    """The number of units."""
    if table.unit is None:
        raise ValueError(
            "count_distinct needs a table with a unit, the column that says whose row it is; "
            "or the column whose distinct values are to be counted"
        )
    return _released(table, table.named(table.source.rows_of_units(table.unit), table.unit), options)


def distinct_values(table: OpenedTable, column: str, options: Any) -> Release:
    """The number of distinct values in a column, of which at most `values_per_unit` of a unit are used."""
    values_per_unit = options.get("values_per_unit")
    table.require(column)
    table.source.check_keys((column,))
    if values_per_unit is not None and table.unit is None:
        raise ValueError("values_per_unit needs a table with a unit: without one, each row has one value")
    unit, bounding = Unit(), None
    if table.unit is not None:
        most = table.privacy_unit.rows if values_per_unit is None else whole_number(values_per_unit, "values_per_unit")
        unit = Unit(table.unit, most)
        # As many rows as there are: only the number of values matters.
        bounding = Bounding(unit.name, MOST_ROWS, most, driver_of(options.get("rng")).decide(Bits(62)))

    def values() -> int:
        return len(table.source.rows(None, Keyed((column,)), bounding).units)

    number = once(values)

    def marks() -> Iterator[Floats]:
        return (np.zeros(len(range(number())[window])) for window in windows(number()))

    facts = Facts(integral=True, nullable=False, unit=unit)
    return _released(table, table.named(Column(facts, marks, number), column), options)


def _released(table: OpenedTable, data: Column, options: Any) -> Release:
    """The number of records, each of which stands for a unit or a value."""
    terms = Terms.of(options.get("epsilon"), options.get("rho"), table.neighbors)

    def plan(facts: Facts) -> CountPlan:
        # Under swap, too, one row changes the number by 1: it is public under neither relation.
        return CountPlan(terms.spending.each(facts.unit.rows).plan(Additive), swap=False, public=False)

    release = release_column(
        "count_distinct",
        "distinct values",
        terms,
        plan,
        counted,
        data,
        {"budget": table.budget, "rng": options.get("rng")},
        sized=False,
    )
    bound = release.parameters.get("rows_per_unit")
    kept = {name: each for name, each in release.parameters.items() if name != "rows_per_unit"}
    return replace(
        release,
        parameters=kept if bound is None or data.facts.name == table.unit else kept | {"values_per_unit": bound},
    )
