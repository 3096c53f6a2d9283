"""The studio command: a local web page from a file to private answers."""

import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from nobounds.cli.flat import flat
from nobounds.cli.options.common import NUMBER
from nobounds.engines.files.formats import format_of
from nobounds.exact import printable


@flat
def studio(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="A folder of files to choose from, or a file to start with.", show_default=False
        ),
    ] = Path("."),
    port: Annotated[
        int,
        typer.Option(
            metavar=NUMBER, min=0, max=65535, help="The port on 127.0.0.1. Default: any free one.", show_default=False
        ),
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Open a local web page: choose data, ask, estimate the error, and download private answers.

    Example: nobounds studio
    """
    from nobounds.studio.server import serve

    if not path.exists():
        raise ValueError(f"there is no file or folder {printable(str(path))}")
    start, first = (path, None) if path.is_dir() else (path.parent, path.resolve())
    if first is not None:
        format_of(first)  # refuses what is no table
    with tempfile.TemporaryDirectory() as folder:

        def ready(address: str) -> None:
            typer.echo(f"The studio for {printable(path.resolve().name)} is at {address}")
            typer.echo("Keep this address to yourself; Ctrl-C ends the studio.", err=True)
            if browser:
                webbrowser.open(_way_in(address, Path(folder)))

        serve(start, first, port, ready)


def _way_in(address: str, folder: Path) -> str:
    """A page readable by this user only that redirects to the address: other users can see a browser's command line."""
    page = folder / "studio.html"
    page.touch(mode=0o600)
    page.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Studio</a>'
    )
    return page.as_uri()
