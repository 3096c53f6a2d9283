"""The command for one SQL statement with private statistics."""

from contextlib import ExitStack
from dataclasses import field
from pathlib import Path
from typing import Annotated, ClassVar

import typer

import nobounds as nb
from nobounds.accounting.spending import Purse, Spending
from nobounds.cli.commands.agg import show_answers
from nobounds.cli.commands.sql.queries import QUERY_TO, tables_of
from nobounds.cli.errors import require_budget
from nobounds.cli.flat import flat
from nobounds.cli.keys import public_keys
from nobounds.cli.options.answers import Delta, GroupOptions, GroupsPerUnit
from nobounds.cli.options.common import Database, Folder, Out, RowsOf, Spend, Whom
from nobounds.cli.options.text import Text
from nobounds.cli.output import written
from nobounds.cli.progress import watched
from nobounds.cli.sources import Opened
from nobounds.engines.files.paths import name_of
from nobounds.expressions.statements.reading import table_names
from nobounds.expressions.statements.request import request_of
from nobounds.release.files import check_out
from nobounds.tables.sql.shelf import Shelf, is_declared
from nobounds.tables.sql.statement import answered, opened
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Tables:
    """Where the tables of a statement are."""

    panel: ClassVar = "The tables"

    database: Database = None
    folder: Folder = None
    public_table: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A table to join that holds nothing sensitive. Repeatable."),
    ] = None
    rows_of: RowsOf = "source"
    text: Text = field(default_factory=Text)


@dataclass(frozen=True, slots=True)
class KeysOfGroups:
    """Which groups are answered."""

    panel: ClassVar = "Answers by groups"

    keys: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY,...", help="The public keys. With several columns, one --keys for each, in order."),
    ] = None
    keys_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file of public keys, one per line; with several columns, CSV rows."),
    ] = None
    delta: Delta = None
    groups_per_unit: GroupsPerUnit = None
    csv: Annotated[bool, typer.Option("--csv", help="Print the keys and answers of groups as CSV.")] = False

    def check(self, grouped: bool) -> None:
        """Refuse a statement with group by and without keys, and keys without group by."""
        given = [self.keys, self.keys_file, self.delta]
        if grouped and given.count(None) != 2:
            raise ValueError("group by needs --keys, --keys-file (public) or --delta (keys are chosen privately)")
        if not grouped and (given.count(None) != 3 or self.groups_per_unit is not None or self.csv):
            raise ValueError(
                "--keys, --keys-file, --delta, --groups-per-unit and --csv are for a statement with group by"
            )


@flat
def sql(
    statement: Annotated[
        str,
        typer.Argument(
            metavar="STATEMENT",
            help="A select of private statistics, such as private_mean(income), from a table, or a file in quotes.",
            show_default=False,
        ),
    ],
    tables: Tables,
    spend: Spend,
    whom: Whom,
    keys: KeysOfGroups,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Hide the progress of long reads.")] = False,
    out: Out = None,
) -> None:
    """The private statistics of one SQL statement. One epsilon is charged once and split among them.

    Example: nobounds sql "select private_count() from data.arrow" --folder . --epsilon 1
    """
    if out is not None:
        check_out(out)
    whom.require_rows()
    Spending.of(spend.epsilon, spend.rho)
    budget = None if spend.budget is None else nb.Budget(path=require_budget(spend.budget))
    with watched(quiet) as watch, ExitStack() as stack:
        public = tables.public_table or []
        sensitive = [name for name in table_names(statement) if name not in public]
        data, name = tables_of(tables.database, tables.folder, tables.text, [*sensitive, *public], stack)
        shelf = Shelf(data, map(_quoted, public), declared=is_declared(tables.rows_of))
        request = request_of(statement, shelf)
        keys.check(bool(request.by))
        groups = GroupOptions(list(request.by), keys.keys, keys.keys_file, keys.delta, keys.groups_per_unit, keys.csv)
        label = spend.label or (name_of(sensitive) if tables.database is None else name.removeprefix(QUERY_TO))
        purse = Purse(None if budget is None else budget.noted(spend.note, author=spend.author, label=label))
        table = opened(request, shelf, whom.unit, whom.rows_per_unit, whom.checked_neighbors, purse, None, watch)
        handle = Opened(table, name, shelf.kinds(request), purse, spend.budget)
        with handle.paid():
            known = public_keys(handle, groups) if request.by else None
            answers = answered(table, request, known, keys.delta, keys.groups_per_unit, {**spend.amount})
    with handle.shown(), written(answers, out=out):
        show_answers(answers, as_json=as_json, as_csv=keys.csv)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
