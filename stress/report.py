"""The report of a stress test: plain values for machines, Markdown for people."""

import platform
from collections import Counter
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from stress.run import Outcome
from stress.tables import forms

_LIBRARIES = ("numpy", "pyarrow", "duckdb", "pandas", "polars")
_LISTED = 20  # failures of a kind
_RULES = """A charge is lost if a call was answered and the ledger, read by SQLite alone once all processes are gone,
has no charge of its name and its loss. An answer is wrong if a clean process gives another for the same seed, on plain
numpy columns wherever that is the same table; or if it is outside of where it must be: counts within 60 scales of their
noise, and at epsilon 1000 counts are exact and the other statistics near the truth. Which errors are documented after
which fault is in `stress/books.py`."""
_SURVIVED = """A fault is survived if its call was answered, or ended in a documented error. A process killed at any
moment can say neither: these count as survived by construction, and what they did to charges and ledgers is in the
numbers that must be none."""
_KILLED = """A file with anything in it but the terms of a ledger would be a failure above. A journal that one of them
left was undone and removed by the next charge."""


def plain(outcome: Outcome) -> dict[str, Any]:
    """The numbers and all failures."""
    values = {part.name: getattr(outcome, part.name) for part in fields(outcome)}
    return {"passed": outcome.passed} | values


def markdown(outcome: Outcome, command: str) -> str:
    """A page with what was done, what was injected, and what must be none."""
    refused = ", ".join(f"{count} {name}" for name, count in sorted(outcome.refused.items())) or "none"
    parts = [
        "# Stress test",
        f"Made by `{command}` (seed {outcome.seed}): processes that share budgets in files make mixed calls on random "
        f"tables, while faults are injected. **{'Nothing was lost.' if outcome.passed else 'It FAILED.'}**",
        _table(("", "number"), _numbers(outcome)),
        "## What must be none",
        _table(("", "number"), [(name, len(texts)) for name, texts in outcome.failures.items()]),
        *(f"{name.capitalize()}:\n\n{_list(texts)}" for name, texts in outcome.failures.items() if texts),
        _RULES,
        "## Faults",
        _table(
            ("fault", "injected", "survived"),
            [(name, count, outcome.survived[name]) for name, count in sorted(outcome.injected.items())],
        ),
        _SURVIVED,
        f"Calls that ended in a documented error: {refused}.",
        f"Processes that were killed cannot tidy up. They left: {_counted(outcome.killed_left)}. {_KILLED}",
        "## Answers",
        _table(("statistic", "answers"), sorted(outcome.statistics.items())),
        f"Forms of tables: {', '.join(forms())}. {_versions()}.",
    ]
    return "\n\n".join(parts) + "\n"


def _numbers(outcome: Outcome) -> list[tuple[str, Any]]:
    return [
        ("seconds", f"{outcome.seconds:g}"),
        ("processes at a time", outcome.processes),
        ("processes in all", outcome.lives),
        ("calls", outcome.calls),
        ("answers given", outcome.answers),
        ("answers made again and compared", outcome.judged),
        ("faults injected", sum(outcome.injected.values())),
        ("faults survived", sum(outcome.survived.values())),
        ("ledgers", outcome.ledgers),
        ("charges in them", outcome.charges),
        ("memory of the largest process, MB", outcome.memory),
    ]


def _table(heads: tuple[str, ...], rows: list[Any]) -> str:
    lines = [heads, ("---", *["---:"] * (len(heads) - 1)), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _list(texts: list[str]) -> str:
    more = [f"- and {len(texts) - _LISTED} more"] if len(texts) > _LISTED else []
    return "\n".join([*(f"- {text}" for text in texts[:_LISTED]), *more])


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} x {name}" for name, count in sorted(counts.items())) or "nothing"


def _versions() -> str:
    named = [f"Python {platform.python_version()}"]
    for name in _LIBRARIES:
        try:
            named.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            named.append(f"no {name}")
    return ", ".join(named)
