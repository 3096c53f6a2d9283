"""The explain command: a release in plain words, for the person who approves it."""

import shutil
import sys
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from nobounds import __version__
from nobounds.cli.errors import plain_errors
from nobounds.exact import printable
from nobounds.explaining.explain import explain as explained
from nobounds.explaining.reading import KINDS, MOST_BYTES, parsed
from nobounds.explaining.registry.entry import registry_entry
from nobounds.explaining.registry.text import registry_yaml

_WIDEST = 100


def explain(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="The JSON of a release, or - for the standard input. Several with --registry.",
            show_default=False,
        ),
    ],
    n: Annotated[
        str | None,
        typer.Option(
            "--n", metavar="NUMBER", help="The number of records to state errors for. Default: three examples."
        ),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    registry: Annotated[
        bool,
        typer.Option(
            "--registry",
            help="Print a draft for the deployments registry, from releases and the JSON of their budget.",
        ),
    ] = False,
) -> None:
    """Explain a release in plain words: who is protected, what was spent, what error to expect, what is not promised.

    It takes what nobounds prints with --json and what to_json() writes: releases, descriptions, answers by groups,
    forecasts and the history of a budget. No private data are read.

    Example: nobounds explain release.json
    """
    with plain_errors():
        if registry:
            if markdown or n is not None:
                raise ValueError("--registry cannot be combined with --markdown or --n")
            print(registry_yaml(registry_entry([parsed(_read(file)) for file in files], __version__)), end="")
            return
        if len(files) > 1:
            raise ValueError("explain takes one FILE; several of them make one entry with --registry")
        explanation = explained(_read(files[0]), n=n)
        print(explanation.markdown() if markdown else explanation.text(_width()))


def _width() -> int:
    """The width of the text: the terminal's, or a readable one in a pipe."""
    return min(shutil.get_terminal_size().columns, _WIDEST) if sys.stdout.isatty() else _WIDEST


def _read(file: str) -> str:
    if file == "-":
        return _text(sys.stdin.buffer, "the standard input")
    path = Path(file)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {printable(file)}")
    if not path.is_file():
        raise ValueError(f"{printable(file)} is no file")
    with path.open("rb") as stream:
        return _text(stream, printable(path.name))


def _text(stream: BinaryIO, name: str) -> str:
    content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"{name} is no release: it has more than {MOST_BYTES >> 20} megabytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{name} is no text; explain takes {KINDS}") from None
