"""Options that are texts are left as they are, and others are converted by typer."""

from pathlib import Path
from typing import Annotated

import pytest
import typer

from nobounds.cli.help import Command
from nobounds.cli.texts import keep_texts


def show(
    first: Annotated[str, typer.Argument()],
    each: Annotated[list[str] | None, typer.Option()] = None,
    path: Annotated[Path | None, typer.Option()] = None,
    name: Annotated[str, typer.Option()] = "a",
    number: Annotated[int | None, typer.Option()] = None,
    part: Annotated[float, typer.Option()] = 0.5,
    flag: Annotated[bool, typer.Option("--flag")] = False,
) -> None:
    """Print what the command is called with."""
    typer.echo(repr((first, each, path, name, number, part, flag)))


def command(kept: bool):
    """The command of `show`, with texts left as they are or converted by typer."""
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None, add_completion=False)
    app.command(cls=Command)(show)
    made = typer.main.get_command(app)
    return keep_texts(made, show) if kept else made


def printed(words: list[str], capsys, kept: bool) -> tuple[str, str, object]:
    """What a run prints, and its exit status."""
    with pytest.raises(SystemExit) as ended:
        command(kept)(words, prog_name="show")
    return *capsys.readouterr(), ended.value.code


@pytest.mark.parametrize(
    "words",
    [
        ["x"],
        ["x", "--each", "1", "--each", "2", "--path", "a/b", "--name", "b"],
        ["x", "--number", "3", "--part", "0.25", "--flag"],
        ["x", "--number", "three"],
        [],
    ],
)
def test_a_command_is_called_with_the_same_values(words, capsys):
    """Texts, lists, paths, numbers, flags and defaults arrive as typer converts them, and errors are the same."""
    assert printed(words, capsys, kept=True) == printed(words, capsys, kept=False)


def test_a_path_is_a_path(capsys):
    """A path is no text."""
    out, _, status = printed(["x", "--path", "a"], capsys, kept=True)
    assert out == f"('x', None, {Path('a')!r}, 'a', None, 0.5, False)\n" and status == 0
