"""The code blocks of the README and of docs/, and how they are run.

The blocks of a page run in order, in one namespace and one folder, which has the sample files of docs/recipes/index.md.
A block with a mark in its first line (```python peer=opendp) is not run with the others.
A ```text block right after another says what that prints: its words and privacy losses have to be the same, its other
numbers about the same. So has an answer whose line ends in a comment that is a value: `budget.remaining  # 2.5; left`.
`make outputs` writes the blocks of ```text that are no longer so anew.
"""

import ast
import contextlib
import io
import re
import shlex
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = ("python", "sh", "console")

# What these would do takes minutes, changes the environment or never ends: it is enough that there is such a command.
ONLY_NAMED = ("make ", "nobounds audit", "nobounds paper", "nobounds studio", "python benchmarks/")
FOR_THE_SITE = ("title=", "hl_lines=", "linenums=")
SET_UP = ("pip install ", "git clone ", "cd ", ". .venv-demo/bin/activate")

_FENCE = re.compile(r"^(?P<pad> *)(?P<ticks>`{3,})(?P<info>[^`\n]*)\n(?P<code>.*?)^(?P=pad)(?P=ticks) *$", re.M | re.S)
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
_LOSS = re.compile(r"\b(?:epsilon|rho|delta) (\d[\w.+-]*)")  # follows from the parameters alone
_CLOSE = 0.25  # numbers that a page shows, and those of a run: noise is drawn anew


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    marks: tuple[str, ...]
    code: str
    shown: str | None  # what it prints
    place: tuple[int, int] = (0, 0)  # of what it prints, in the text of the page
    pad: str = ""

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that are code."""
    text = page.read_text()
    fences = list(_FENCE.finditer(text))
    found = []
    for fence, after in zip(fences, [*fences[1:], None], strict=False):
        language, *marks = fence["info"].split() or [""]
        marks = [mark for mark in marks if not mark.startswith(FOR_THE_SITE)]
        if language not in RUN:
            continue
        follows = (
            after is not None and after["info"].strip() == "text" and not text[fence.end() : after.start()].strip()
        )
        shown = textwrap.dedent(after["code"]) if follows else None
        line = text.count("\n", 0, fence.start()) + 1
        place, pad = (after.span("code"), after["pad"]) if follows else ((0, 0), "")
        found.append(Block(page, line, language, tuple(marks), textwrap.dedent(fence["code"]), shown, place, pad))
    return found


def run(block: Block, namespace: dict[str, Any], folder: Path) -> None:
    """Run a block in a folder, and hold what it prints to what the page shows."""
    printed, expected = output(block, namespace, folder)
    if expected is not None:
        check_printed(printed, expected, block.where)


def output(block: Block, namespace: dict[str, Any], folder: Path) -> tuple[str, str | None]:
    """What a block prints in a folder, and what the page shows, if it shows anything."""
    if block.language == "python":
        return _python(block, namespace), block.shown
    commands, expected = _commands(block)
    return "".join(_command(command, folder) for command in commands), expected


def _python(block: Block, namespace: dict[str, Any]) -> str:
    """What the block prints, with the values of its answers checked on the way."""
    code, output = block.code, io.StringIO()
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        source = ast.get_source_segment(code, statement)
        where = f"{block.where}, line {statement.lineno}"
        with contextlib.redirect_stdout(output):
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), where, "exec"), namespace)
                continue
            value = eval(compile(ast.Expression(statement.value), where, "eval"), namespace)
        _, _, comment = lines[statement.end_lineno - 1][statement.end_col_offset :].partition("#")
        check_value(value, comment.strip(), f"{where}: {source}")
    return output.getvalue()


def check_value(value: Any, comment: str, where: str) -> None:
    """Hold an answer to its comment, if that is a value, or about one, up to a semicolon."""
    said, about = comment.split(";")[0].strip(), False
    if said.startswith("about "):
        said, about = said.removeprefix("about "), True
    if re.fullmatch(r"-?[\d,]+(\.\d+)?", said):
        said = said.replace(",", "")
    try:
        expected = ast.literal_eval(said)
    except (ValueError, SyntaxError):
        return
    found = getattr(value, "value", value)
    found = found.tolist() if hasattr(found, "tolist") else found
    if not about:
        assert found == expected, f"{where} is {found!r}, and the page says {said}"
        return
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple | list) else [(found, expected)]
    assert all(abs(one - other) <= _CLOSE * abs(other) for one, other in pairs), (
        f"{where} is {found!r}, not about {said}"
    )


def check_printed(printed: str, shown: str, where: str) -> None:
    """The words and the privacy losses are the same, and other numbers about the same."""
    assert _words(printed) == _words(shown), f"{where} prints\n{printed}\nand the page shows\n{shown}"
    assert _LOSS.findall(printed) == _LOSS.findall(shown), f"{where} prints\n{printed}\nand the page shows\n{shown}"
    for one, other in zip(_numbers(printed), _numbers(shown), strict=True):
        near = abs(one - other) <= _CLOSE * max(abs(one), abs(other))
        assert near, f"{where} prints {one}, and the page shows {other}, in\n{printed}"


def _words(text: str) -> list[str]:
    return _NUMBER.sub("#", re.sub("─+", "─", text)).split()


def _numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in _NUMBER.findall(text)]


def _commands(block: Block) -> tuple[list[str], str | None]:
    """The commands of a block of shell, and what it shows."""
    code = block.code.replace("\\\n", " ")
    if block.language == "sh":
        # A quoted text may go over several lines; then the block is one command.
        lines = [line for line in code.splitlines() if line.strip() and not line.startswith("#")]
        return (lines if all(map(_closed, lines)) else [code]), block.shown
    commands = [line[2:] for line in code.splitlines() if line.startswith("$ ")]
    return commands, "\n".join(line for line in code.splitlines() if not line.startswith("$ "))


def _closed(line: str) -> bool:
    try:
        shlex.split(line, comments=True)
    except ValueError:
        return False
    return "<<" not in line


def _command(command: str, folder: Path) -> str:
    """What a command prints; it has to succeed."""
    if command.startswith(SET_UP):
        return ""
    if command.startswith(ONLY_NAMED) and "--mine" not in command:
        check_named(command)
        return ""
    words = shlex.split(command, comments=True)
    if words[0] == "nobounds" and not re.search(r"[|<>$;&]", command):
        return _in_process(words[1:], command)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f'PATH="{Path(sys.executable).parent}:$PATH"\n{command}'],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _in_process(words: list[str], command: str) -> str:
    """A command of nobounds, without a second for a new process."""
    from nobounds.cli.__main__ import main

    output, errors = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["nobounds", *words]
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            main()
    except SystemExit as end:
        assert not end.code, f"{command}\n{output.getvalue()}\n{errors.getvalue()}"
    finally:
        sys.argv = before
    return output.getvalue()


def check_named(command: str) -> None:
    """There is a target, a command or a file of that name."""
    words = shlex.split(command, comments=True)
    if words[0] == "make":
        targets = [word for word in words[1:] if "=" not in word]
        listed = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.M)
        assert set(targets) <= set(listed), f"{command}: make has {listed}"
    elif words[0] == "nobounds":
        import typer

        from nobounds.cli.app import app

        known = typer.main.get_command(app).commands[words[1]]
        options = {name for parameter in known.params for name in parameter.opts}
        asked = {word.split("=")[0] for word in words[2:] if word.startswith("--")}
        assert asked <= options, f"{command}: there are {sorted(options)}"
    else:
        assert (ROOT / words[1]).is_file(), command


def marked() -> dict[tuple[Path, str], list[Block]]:
    """The blocks that do not run with their page, by page and mark."""
    found: dict[tuple[Path, str], list[Block]] = {}
    for page in PAGES:
        for block in blocks(page):
            for mark in block.marks:
                found.setdefault((page, mark), []).append(block)
    return found
