"""The commands about units: how many rows of each to use, and how many rows of the table that leaves out."""

from typing import Annotated

import typer

import nobounds as nb
from nobounds.cli.flat import flat
from nobounds.cli.options.common import NUMBER, CommonOptions, Data, Out, Spend, Whom
from nobounds.cli.output import show, total_in_words, written
from nobounds.cli.printing.printer import printer, say
from nobounds.cli.printing.tables import Table
from nobounds.cli.sources import opened
from nobounds.exact import printable
from nobounds.explaining.words import about


@flat
def rows_per_unit(
    data: Data,
    unit: Annotated[str, typer.Option(metavar="NAME", help="The column that identifies a person.")],
    spend: Spend,
    q: Annotated[str, typer.Option("--q", metavar=NUMBER, help="The share of units with no more rows.")] = "0.95",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Hide the progress of long reads.")] = False,
    out: Out = None,
) -> None:
    """How many rows most people or other units have, to choose --rows-per-unit.

    Example: nobounds rows-per-unit people.parquet --unit user_id --epsilon 0.5
    """
    # Each unit is counted once, so no bound on its rows is needed.
    common = CommonOptions(data, spend, Whom(unit=unit, rows_per_unit=1), as_json, quiet, out)
    with opened(common) as handle:
        release = handle.table.suggest_rows_per_unit(**spend.amount, q=q)
    with handle.shown(), written(release, out=out):
        show(release, as_json=as_json)
        if not as_json and release.answered:
            name = printable(unit)
            print(f"Of each {name} that many rows may be used: --unit {name} --rows-per-unit {release.value}")


@flat
def suggest(
    data: Data,
    unit: Annotated[str, typer.Option(metavar="NAME", help="The column that identifies a person.")],
    spend: Spend,
    by: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A column to group by later. Repeatable.")
    ] = None,
    later: Annotated[str, typer.Option(metavar=NUMBER, help="The epsilon of the later count.")] = "1",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Hide the progress of long reads.")] = False,
    out: Out = None,
) -> None:
    """The --rows-per-unit (and with --by, the --groups-per-unit) that gives a later count the smallest expected error.

    Example: nobounds suggest people.parquet --unit user_id --epsilon 0.5
    """
    common = CommonOptions(data, spend, Whom(unit=unit, rows_per_unit=1), as_json, quiet, out)
    with opened(common, *(by or [])) as handle:
        release = handle.table.suggest_contributions(*(by or []), later=later, **spend.amount)
    with handle.shown(), written(release, out=out):
        if as_json or release.value is None:
            show(release, as_json=as_json)
            return
        rows, *groups = release.value if isinstance(release.value, tuple) else (release.value,)
        console = printer()
        console.show(_candidates(release))
        console.print()
        more = f" --groups-per-unit {groups[0]}" if groups else ""
        say(console, f"Smallest error to expect of a count: --unit {printable(unit)} --rows-per-unit {rows}{more}")
        say(console, total_in_words(release))


def _candidates(release: nb.Release) -> Table:
    """The error to expect for some numbers of rows per unit."""
    table = Table()
    for name in ("rows per unit", "rows left out", "noise of a count", "error to expect"):
        table.add_column(name, justify="right")
    for each in release.parameters["candidates"]:
        share = f"{100 * each['share_left_out']:.2g}%"
        table.add_row(str(each["rows_per_unit"]), share, about(each["noise"]), about(each["error"]))
    return table


@flat
def left_out(
    data: Data,
    unit: Annotated[str, typer.Option(metavar="NAME", help="The column that identifies a person.")],
    rows_per_unit: Annotated[int, typer.Option(metavar=NUMBER, help="Use at most this number of rows of each unit.")],
    spend: Spend,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Hide the progress of long reads.")] = False,
    out: Out = None,
) -> None:
    """The private share of rows that --rows-per-unit leaves out, with an interval.

    Example: nobounds left-out data.arrow --unit user_id --rows-per-unit 4 --epsilon 1
    """
    common = CommonOptions(data, spend, Whom(unit=unit, rows_per_unit=rows_per_unit), as_json, quiet, out)
    with opened(common) as handle:
        release = handle.table.rows_left_out(**spend.amount)
    with handle.shown(), written(release, out=out):
        show(release, as_json=as_json)
