"""The info command: the names and types of a table's columns, from public facts alone, and a schema to edit."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

import nobounds as nb
from nobounds.cli.flat import flat
from nobounds.cli.options.common import Data
from nobounds.cli.printing.printer import printer, say
from nobounds.cli.printing.tables import Table
from nobounds.cli.sources import stream_of
from nobounds.engines.schemas.known import column_types
from nobounds.exact import printable

_NOT_DECLARED = "not declared"


@flat
def info(
    data: Data,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the schema as JSON, to edit and use with --schema.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the schema as one JSON object.")] = False,
) -> None:
    """List the columns of a file and their types. Reads no records.

    Example: nobounds info people.csv --header yes --save people.json
    """
    with ExitStack() as stack:
        stream, name = stream_of(data, None, stack)
        types = column_types(stream)
    text = data.text
    stated = text.stated or nb.Schema({})
    columns = {column: stated.columns.get(column, kind) for column, kind in types.items()}
    schema = nb.Schema(
        {column: kind for column, kind in columns.items() if column not in _others(types)},
        csv=stated.with_csv(text.csv),
        sheet=stated.sheet,
        header_row=stated.header_row,
    )
    if save is not None:
        schema.save(save)
    if as_json:
        print(json.dumps(schema.to_json(), indent=2, ensure_ascii=False))
        return
    console = printer()
    console.print(f"Columns of {name}", style="bold")
    console.print()
    table = Table()
    table.add_column("column")
    table.add_column("type")
    for column, kind in types.items():
        rule = stated.columns.get(column)
        shown = kind if rule is None or rule.type is None else rule.type
        written = "" if rule is None or rule.format is None else f", {rule.format}"
        table.add_row(printable(column), f"{shown or _NOT_DECLARED}{printable(written)}")
    console.show(table)
    console.print()
    if None in types.values():
        say(console, "A column that is not declared is text, and is read as numbers where a statistic names it.")
    say(console, "No record was read, and nothing was charged.")
    if save is not None:
        say(console, f"Saved: edit {printable(str(save))}, and state it by --schema {printable(str(save))}.")


def _others(types: dict[str, str | None]) -> set[str]:
    """The columns of types that a schema has no word for, such as lists."""
    from nobounds.engines.schemas.rules import ColumnRule

    others = set()
    for name, kind in types.items():
        try:
            ColumnRule.of(kind, name)
        except ValueError:
            others.add(name)
    return others
