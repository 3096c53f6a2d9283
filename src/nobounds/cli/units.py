"""The commands about units: how many rows of each to use, and how many rows of the table that leaves out."""

from typing import Annotated

import typer

from nobounds.cli.flat import flat
from nobounds.cli.options import NUMBER, CommonOptions, Data, Out, Spend, Whom
from nobounds.cli.output import show, written
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
    out: Out = None,
) -> None:
    """How many rows most units have: a number to begin with for --rows-per-unit.

    Example: nobounds rows-per-unit people.csv --unit user_id --epsilon 0.5
    """
    # Each unit is counted once, so no bound on its rows is needed.
    common = CommonOptions(data, spend, Whom(unit=unit, rows_per_unit=1), as_json, quiet, out)
    with opened(common) as handle:
        release = handle.table.suggest_rows_per_unit(**spend.amount, q=q)
    with handle.shown(), written(release, out=out):
        show(release, as_json=as_json)
        if not as_json:
            name = printable(unit)
            print(f"Of each {name} that many rows may be used: --unit {name} --rows-per-unit {release.value}")


@flat
def left_out(
    data: Data,
    unit: Annotated[str, typer.Option(metavar="NAME", help="The column that says whose row it is.")],
    rows_per_unit: Annotated[int, typer.Option(metavar=NUMBER, help="How many rows of a unit are used at most.")],
    spend: Spend,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress on long reads.")] = False,
    out: Out = None,
) -> None:
    """The share of the rows of a table that --rows-per-unit leaves out, with an interval.

    Example: nobounds left-out people.csv --unit user_id --rows-per-unit 4 --epsilon 0.05
    """
    common = CommonOptions(data, spend, Whom(unit=unit, rows_per_unit=rows_per_unit), as_json, quiet, out)
    with opened(common) as handle:
        release = handle.table.rows_left_out(**spend.amount)
    with handle.shown(), written(release, out=out):
        show(release, as_json=as_json)
