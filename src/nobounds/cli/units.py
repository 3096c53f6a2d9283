"""The rows-per-unit command: how many rows of a unit to use."""

from typing import Annotated

import typer

from nobounds.cli.flat import flat
from nobounds.cli.options import NUMBER, CommonOptions, Data, Spend, Whom
from nobounds.cli.output import show
from nobounds.cli.sources import opened
from nobounds.exact import printable


@flat
def rows_per_unit(
    data: Data,
    unit: Annotated[str, typer.Option(metavar="NAME", help="The column that says whose row it is.")],
    spend: Spend,
    q: Annotated[str, typer.Option("--q", metavar=NUMBER, help="The share of units with no more rows.")] = "0.95",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress on long reads.")] = False,
) -> None:
    """How many rows most units have: a number to begin with for --rows-per-unit.

    Example: nobounds rows-per-unit people.csv --unit user_id --epsilon 0.5
    """
    # Each unit is counted once, so no bound on its rows is needed.
    common = CommonOptions(data, spend, Whom(unit=unit, rows_per_unit=1), as_json, quiet)
    with opened(common) as handle:
        release = handle.table.suggest_rows_per_unit(**spend.amount, q=q)
    with handle.paid():
        show(release, as_json=as_json)
        if not as_json:
            name = printable(unit)
            print(f"Of each {name} that many rows may be used: --unit {name} --rows-per-unit {release.value}")
