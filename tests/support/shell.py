"""The command line as tests run it: in this process, with its answers read from JSON."""

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from nobounds.cli.app import app
from nobounds.cli.commands.audit import audit as audit_command

_CSV = re.compile(r"\.[ct]sv(\.\w+)?(\W|$)")
SURE = ["--epsilon", "1e6"]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A CSV file with the incomes 1001 to 3000, shuffled."""
    incomes = np.random.default_rng(1).permutation(np.arange(1001, 3001))
    path = tmp_path / "people.csv"
    path.write_text("name,income\n" + "".join(f"x,{income}\n" for income in incomes))
    return path


def run(*words: object, **how: object) -> Result:
    """The result of one run of the command."""
    return CliRunner().invoke(app, with_header(*words), **how)


def with_header(*words: object) -> list[str]:
    """The words of a command; if it reads CSV files and states nothing of their first line, that this is a header."""
    texts = [str(word) for word in words]
    given = [text for before, text in pairwise(texts) if before not in ("--out", "--label", "--keys-file")]
    reads = texts[:1] not in (["budget"], ["plan"]) and "--database" not in texts and any(map(_CSV.search, given))
    return [*texts, "--header", "yes"] if reads and "--header" not in texts else texts


def answer(*words: object) -> dict:
    """The JSON object that a run of the command prints."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def value(*words: object) -> float | list[float]:
    """The value of the first release that a run of the command prints."""
    return answer(*words)["releases"][0]["value"]


def audit(*words: object) -> Result:
    """The result of one run of `nobounds audit` alone."""
    alone = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command()(audit_command)
    return CliRunner().invoke(alone, [str(word) for word in words])
