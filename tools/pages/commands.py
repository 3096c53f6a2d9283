"""The reference of the command line, made from the help of the commands themselves."""

import re
from typing import Any

import typer

from nobounds.cli.app import app


def reference() -> str:
    """What `nobounds --help` prints, and a section for each command."""
    command = typer.main.get_command(app)
    with command.make_context("nobounds", [], resilient_parsing=True, max_content_width=100) as context:
        printed = command.get_help(context)
    return "\n\n".join([f"```text\n{printed}\n```", *_sections("nobounds", command)])


def _sections(path: str, command: Any) -> list[str]:
    found = [] if path == "nobounds" else [_section(path, command)]
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            found += _sections(f"{path} {name}", inner)
    return found


def _section(path: str, command: Any) -> str:
    words, examples = _help(command.help or "")
    with command.make_context(path, [], resilient_parsing=True) as context:
        usage = " ".join([path, *command.collect_usage_pieces(context)])
    parts = [f"## {path}", words, f"```text\n{usage}\n```"]
    if examples:
        parts.append("```sh\n" + "\n".join(examples) + "\n```")
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    panels: dict[str, list[Any]] = {"": arguments, "Options": []}
    for parameter in command.params:
        if parameter not in arguments and not getattr(parameter, "hidden", False):
            panels.setdefault(_panel(parameter), []).append(parameter)
    rows = []
    for panel, found in panels.items():
        rows += [f"| **{panel}** | |"] if panel not in ("", "Options") else []
        rows += map(_row, found)
    if rows:
        parts.append("\n".join(["| option | meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _panel(parameter: Any) -> str:
    """The heading that an option has in the help."""
    panel = getattr(parameter, "rich_help_panel", None)
    return panel if isinstance(panel, str) else "Options"


def _help(text: str) -> tuple[str, list[str]]:
    """The words of a help text, and the lines of its examples."""
    text = text.replace("\b\n", "").replace("\f", "")
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    shown = [part for part in paragraphs if not part.startswith("Example")]
    examples = [
        re.sub(r"^Examples?:\s*", "", " ".join(line.split()))
        for part in text.split("\n\n")
        if part.strip().startswith("Example")
        for line in re.split(r"\n\s*(?=nobounds )", part.strip())
    ]
    return "\n\n".join(map(_cell, shown)), [line for line in examples if line]


def _row(parameter: Any) -> str:
    said = getattr(parameter, "help", None) or ""
    extra = " Required." if parameter.required and parameter.param_type_name == "option" else ""
    default = parameter.default
    shown = getattr(parameter, "show_default", True) is not False
    if shown and isinstance(default, str | int | float) and not isinstance(default, bool):
        extra += f" Default: `{default}`."
    return f"| `{_name(parameter)}` | {_cell(said)}{extra} |"


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return parameter.metavar or parameter.name.upper()
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return names if parameter.is_flag else f"{names} {parameter.metavar or parameter.type.name.upper()}"


def _cell(text: str) -> str:
    """Help as Markdown: options and file names as code, and no stray markup."""
    text = re.sub(r"([|*_<>\[\]])", r"\\\1", text)
    return re.sub(r"(?<![\w`])(--[a-z][\w-]*)", r"`\1`", text)
