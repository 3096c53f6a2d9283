"""The work that is under way: for each, the data, the fields of every step, the budget and the estimates to compare.

It holds what the user typed, and no record. It lives as long as the studio; answers stay on the shelf beside the
budget.
"""

import secrets
from collections import OrderedDict
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nobounds.accounting.budget import Statement, read
from nobounds.studio.estimates import Estimate
from nobounds.studio.fields import Fields
from nobounds.studio.layouts import Layout, is_ready
from nobounds.studio.sources import Source
from nobounds.values import dataclass

STEPS = {"data": "Data", "budget": "Budget", "question": "Question", "estimate": "Estimate", "answers": "Answers"}
_MOST = 200  # pieces of work


@dataclass(frozen=True, slots=True)
class Study:
    """One piece of work: a source, and what was stated about it so far."""

    name: str
    source: Source
    started: datetime
    data: Fields = field(default_factory=dict)
    settled: bool = False  # whether the first step is complete
    budget: Path | None = None
    question: Fields = field(default_factory=dict)
    guess: Fields = field(default_factory=dict)
    kept: Estimate | None = None  # to compare another one with

    @property
    def layout(self) -> Layout:
        """What is stated about the data."""
        return Layout.of(self.source, self.data)

    def columns(self) -> dict[str, str]:
        """The columns and their types; empty as long as these may not be shown."""
        return self.layout.columns(self.source) if is_ready(self.source, self.data) else {}

    def statement(self) -> Statement | None:
        """The state of the budget, if one is chosen."""
        return None if self.budget is None else read(self.budget)

    def reached(self) -> list[str]:
        """The steps that can be opened."""
        names = list(STEPS)
        many = 1 if not self.settled else 2 if self.budget is None else 3 if not self.question else 5
        return names[:many] + (["answers"] if many == 3 else [])

    @property
    def next(self) -> str:
        """The step to go on with."""
        steps = [step for step in self.reached() if step != "answers"]
        return steps[-1]


class Studies:
    """Pieces of work by name, newest first."""

    def __init__(self) -> None:
        self._studies: OrderedDict[str, Study] = OrderedDict()

    def begin(self, source: Source, **known: Any) -> Study:
        """A new piece of work; the same source again takes up what was stated before."""
        for study in self._studies.values():
            if study.source == source:
                return study
        study = Study(secrets.token_hex(6), source, datetime.now(UTC), **known)
        self._studies[study.name] = study
        while len(self._studies) > _MOST:
            self._studies.popitem(last=False)
        return study

    def get(self, name: str) -> Study | None:
        """The work with this name."""
        return self._studies.get(name)

    def change(self, study: Study, **changes: Any) -> Study:
        """The work with some parts replaced."""
        changed = replace(self._studies.get(study.name, study), **changes)
        self._studies[study.name] = changed
        return changed

    def all(self) -> list[Study]:
        """Every piece of work, newest first."""
        return list(reversed(self._studies.values()))
