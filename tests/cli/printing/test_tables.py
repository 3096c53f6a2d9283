"""Tables in a pipe are those that rich would print, without rich."""

import io
import random
import sys

import pytest
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable

from nobounds.cli.printing.printer import printer
from nobounds.cli.printing.tables import Lines, Table
from nobounds.cli.printing.terminal import Terminal

WORDS = ["", "x", "12.5", "a longer cell", "-3 to 7", "naïve", "数", "数据 and more", "[bold]", ":warning:"]


def both(seed: int) -> tuple[Table, RichTable]:
    """One random table, as ours and as rich's."""
    rng = random.Random(seed)
    ours, theirs = Table(), RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    columns = rng.randint(1, 5)
    for _ in range(columns):
        head, justify = rng.choice(WORDS), rng.choice(("left", "right"))
        ours.add_column(head, justify=justify)
        theirs.add_column(head, justify=justify, no_wrap=True)
    for _ in range(rng.randint(1, 6)):
        cells, ends = [rng.choice(WORDS) for _ in range(columns)], rng.random() < 0.3
        ours.add_row(*cells, end_section=ends)
        theirs.add_row(*cells, end_section=ends)
    return ours, theirs


@pytest.mark.parametrize("seed", range(30))
def test_a_table_in_a_pipe_is_the_one_that_rich_prints(seed: int):
    """Widths of wide characters, gaps, the rule below the head and sections agree."""
    ours, theirs = both(seed)
    file = io.StringIO()
    Console(file=file, width=10_000, markup=False, highlight=False, emoji=False).print(theirs)
    assert ours.text() + "\n" == file.getvalue()


def test_a_terminal_gets_rich_and_a_pipe_plain_lines(monkeypatch: pytest.MonkeyPatch):
    """So does an output that cannot encode the characters of tables."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert isinstance(printer(), Lines)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert isinstance(printer(), Terminal)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert isinstance(printer(), Terminal)


def test_the_width_behind_a_pipe_may_be_stated(monkeypatch: pytest.MonkeyPatch):
    """COLUMNS, as rich reads it."""
    monkeypatch.setenv("COLUMNS", "57")
    assert Lines().width == Console(file=io.StringIO()).width == 57
