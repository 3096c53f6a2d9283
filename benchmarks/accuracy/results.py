"""Outcomes kept as JSON lines, and the error of nobounds in one cell over that in another."""

import json
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

from nobounds.research.bench.cells import Cell
from nobounds.research.bench.results import OURS, Outcome, ratio

BEFORE = "before"  # nobounds of another checkout


def as_json(outcome: Outcome, code: str) -> str:
    """One line."""
    rounded = {name: [float(f"{e:.5g}") for e in values] for name, values in outcome.errors.items()}
    return json.dumps({"code": code, "cell": outcome.cell.as_dict(), "errors": rounded})


def drift(outcome: Outcome, other: Outcome) -> tuple[float, float]:
    """The error of nobounds in one cell over that in another, and its standard error.

    An error of 1 / (2 n epsilon) spreads is no error: data with ties are often answered exactly.
    """
    return ratio(outcome.errors[OURS], other.errors[OURS], 0.5 / other.cell.budget)


def kept(
    path: Path | None, code: str, methods: Iterable[str], repetitions: Callable[[Cell], int]
) -> dict[Cell, Outcome]:
    """The outcomes in a file that this code made, with these methods and enough repetitions."""
    outcomes = {}
    for line in path.read_text().splitlines() if path is not None and path.exists() else ():
        fields = json.loads(line)
        cell, errors = Cell(**fields["cell"]), fields["errors"]
        if fields["code"] == code and set(methods) <= set(errors) and len(errors[OURS]) >= repetitions(cell):
            outcomes[cell] = Outcome(cell, errors)
    return outcomes


def code_of(*folders: Path) -> str:
    """A fingerprint of all Python files in these folders: errors of other code are not its errors."""
    digest = sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
