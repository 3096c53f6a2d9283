"""The layout of --help: commands and options under headings, and examples on one line to copy."""

import inspect
from collections.abc import Callable
from itertools import groupby
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from nobounds.cli.texts import keep_text

STATUS = [
    ("0", "success; for audit: all claims held"),
    ("1", "audit refuted a claim, or nobounds itself failed"),
    (
        "2",
        "the command or its input is wrong, and nothing was released; "
        "a charge made before the error stays, and the message says so",
    ),
    ("3", "the budget does not cover it; nothing was released or charged"),
    ("130", "stopped by Ctrl-C"),
]
_EXAMPLE = "Example: "
_DAILY = (  # headings of options in the order of daily use; others come before the last two
    "Options",
    "Privacy loss",
    "Who is protected",
    "Answers by group",
    "Which values are counted",
    "What is public about the column",
    "How it is computed",
    "The table",
    "Types of columns",
    "CSV files",
)


class Command(TyperCommand):
    """A command whose help has its options under headings."""

    def get_help_option(self, ctx: Any) -> Any:
        """The option --help."""
        return keep_text(super().get_help_option(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments; an option of one value is refused if it is given twice, so that none silently wins."""
        if not ctx.resilient_parsing:
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            for param in given:
                if (
                    not (_is_argument(param) or param.multiple or getattr(param, "is_flag", False))
                    and given.count(param) > 1
                ):
                    raise typer.BadParameter(f"{param.opts[0]} can be given only once here")
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """The paragraphs of the help; examples stay on their line."""
        _write_text(self.help or "", formatter)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """OPTIONS, and the arguments in capitals, optional ones in brackets."""
        return ["[OPTIONS]", *(_usage(param) for param in self.get_params(ctx) if _is_argument(param))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments, and the options by heading."""
        params: list[Any] = self.get_params(ctx)
        arguments = [(_name(param), param.help or "") for param in params if _is_argument(param)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        options = [param for param in params if not _is_argument(param)]
        panels = _by_panel(options, "Options")
        for panel, members in sorted(panels.items(), key=lambda one: _place(one[0])):
            with formatter.section(panel):
                formatter.write_dl([record for param in members if (record := param.get_help_record(ctx))])


class Group(TyperGroup):
    """Commands under headings; without a command the help is shown."""

    def get_help_option(self, ctx: Any) -> Any:
        """The option --help."""
        return keep_text(super().get_help_option(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The command, or the help."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """The paragraphs of the help; examples stay on their line."""
        _write_text(self.help or "", formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The commands, then the options."""
        self.format_commands(ctx, formatter)
        with formatter.section("Options"):
            formatter.write_dl([record for param in self.get_params(ctx) if (record := param.get_help_record(ctx))])

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands by heading, with their short help in full."""
        panels = self.lines()
        width = max(len(name) for members in panels.values() for name, _ in members)
        for panel, members in panels.items():
            with formatter.section(panel):
                formatter.write_dl([(name.ljust(width), short) for name, short in members])

    def lines(self) -> dict[str, list[tuple[str, str]]]:
        """The commands and their short help, by heading."""
        shown = [each for each in self.commands.values() if not each.hidden]
        return {"Commands": [(str(each.name), each.short_help or _first(each.help)) for each in shown]}


def write_status(formatter: Any) -> None:
    """The exit statuses, under a heading."""
    with formatter.section("Exit status"):
        formatter.write_dl(STATUS)


def _write_text(text: str, formatter: Any) -> None:
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        words = " ".join(paragraph.split())
        formatter.write_paragraph()
        with formatter.indentation():
            if words.startswith(_EXAMPLE):
                indent = " " * formatter.current_indent
                formatter.write(f"{indent}Example:\n{indent}  {words.removeprefix(_EXAMPLE)}\n")
            else:
                formatter.write_text(words)


def _by_panel(members: list[Any], otherwise: str) -> dict[str, list[Any]]:
    """Commands or options by heading; headings in order of first appearance."""
    panels: dict[str, list[Any]] = {}
    for panel, each in groupby(members, key=lambda one: _panel(one) or otherwise):
        panels.setdefault(panel, []).extend(each)
    return panels


def _place(panel: str) -> int:
    """The place of a heading; one that is not listed stands beside the table."""
    return _DAILY.index(panel if panel in _DAILY else "The table")


def _panel(one: Any) -> str | None:
    panel = getattr(one, "rich_help_panel", None)
    return panel if isinstance(panel, str) else None


def _is_argument(param: Any) -> bool:
    return bool(param.param_type_name == "argument")


def _name(param: Any) -> str:
    return str(param.metavar or param.name).upper()


def _usage(param: Any) -> str:
    name = _name(param) if param.required else f"[{_name(param)}]"
    return name if param.nargs == 1 else f"{name}..."


def _first(text: str | None) -> str:
    """The first sentence."""
    return " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())


def words(*known: str) -> Callable[[str], list[str]]:
    """A completion function for these words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in known if word.startswith(incomplete)]

    return complete
