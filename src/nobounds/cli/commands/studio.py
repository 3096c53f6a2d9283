"""The studio command: a local web page to plan and make releases."""

import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from nobounds.cli.flat import flat
from nobounds.cli.options import NUMBER, Whom
from nobounds.cli.text import Text
from nobounds.engines.files.paths import expand
from nobounds.exact import printable


@flat
def studio(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES",
            help="CSV, TSV, JSON lines, Parquet, Arrow, Feather or Excel files, or globs.",
            show_default=False,
        ),
    ],
    budget: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="The budget file to charge; the page makes it if there is none.", show_default=False
        ),
    ],
    whom: Whom,
    text: Text,
    port: Annotated[
        int,
        typer.Option(
            metavar=NUMBER, min=0, max=65535, help="The port on 127.0.0.1. Default: any free one.", show_default=False
        ),
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """A local web page: plan the error, spend the budget, take the release home.

    Example: nobounds studio people.csv --header yes --budget people.budget
    """
    from nobounds.studio.asks import Origin
    from nobounds.studio.server import serve

    with tempfile.TemporaryDirectory() as folder:
        if budget.is_dir():
            raise ValueError(f"--budget must be a file, and {printable(str(budget))} is a folder")
        paths = tuple(str(path) for path in expand(files))
        origin = Origin(paths, budget, whom.unit, whom.rows_per_unit, whom.checked_neighbors, **text.options)
        origin.table().columns  # noqa: B018 - reports tables that cannot be opened or shown

        def ready(address: str) -> None:
            typer.echo(f"The studio for {printable(origin.name)} is at {address}")
            typer.echo("Keep this address to yourself; Ctrl-C ends the studio.", err=True)
            if browser:
                webbrowser.open(_way_in(address, Path(folder)))

        serve(origin, port, ready)


def _way_in(address: str, folder: Path) -> str:
    """A page readable by this user only that redirects to the address: other users can see a browser's command line."""
    page = folder / "studio.html"
    page.touch(mode=0o600)
    page.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Studio</a>'
    )
    return page.as_uri()
