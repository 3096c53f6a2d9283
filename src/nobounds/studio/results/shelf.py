"""The shelf: a folder that stores answers of the studio as JSON files, so that no paid answer is lost.

Answers are safe to keep. A file has the answers and the fields that they were asked with; it is written whole or not at
all, and what the studio could not have written is not shown.
"""

import json
import os
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nobounds as nb
from nobounds.engines.sql.connect import MARIADB, POSTGRES
from nobounds.exact import rational, round_up
from nobounds.explaining.explain import paragraphs
from nobounds.studio.fields import Fields
from nobounds.studio.layouts import Layout
from nobounds.studio.questions import Question
from nobounds.studio.results.recipes import Recipe
from nobounds.studio.sources import Source
from nobounds.values import dataclass

_LARGEST = 1 << 26  # bytes of a file
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9a-f]{8}")
_BROKEN = (OSError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError, StopIteration)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What answers were asked with: the source, the columns, and the fields of two steps."""

    source: Source
    columns: dict[str, str]
    data: Fields
    question: Fields

    def recipe(self, budget: Path) -> Recipe:
        """How to ask the same again."""
        layout = Layout.of(self.source, self.data)
        return Recipe(self.source, layout, Question.of(self.question, self.columns, layout.unit), budget)


@dataclass(frozen=True, slots=True)
class KeptAnswers:
    """Answers on the shelf: their name, the time they were made, the request, and how to repeat it."""

    name: str
    made: datetime
    inquiry: Inquiry
    recipe: Recipe
    answers: nb.Answers

    @property
    def title(self) -> str:
        """The question in a line."""
        return self.recipe.question.title()


class Shelf:
    """Answers by name, newest first; in a folder that the first of them creates, else in memory."""

    def __init__(self, budget: Path) -> None:
        self._budget = budget
        self.folder = budget.with_name(f"{budget.name}.releases")
        self._unwritten: dict[str, KeptAnswers] = {}  # shown while the studio runs

    def put(self, inquiry: Inquiry, answers: nb.Answers) -> KeptAnswers:
        """Keep answers; in memory if they cannot be read back from the folder."""
        now = datetime.now(UTC).replace(microsecond=0)
        name = f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
        kept = KeptAnswers(name, now, inquiry, inquiry.recipe(self._budget), answers)
        try:
            self._write(kept)
            lost = self.get(name) is None
        except OSError:
            lost = True
        if lost:
            self._unwritten[name] = kept
        return kept

    def written(self, kept: KeptAnswers) -> bool:
        """Whether answers are in the folder."""
        return kept.name not in self._unwritten

    def get(self, name: str) -> KeptAnswers | None:
        """The answers with this name, or None."""
        if not _NAME.fullmatch(name):
            return None
        path = self.folder / f"{name}.json"
        return self._unwritten.get(name) or (_read(path, self._budget) if self._is_ours() else None)

    def all(self) -> list[KeptAnswers]:
        """Everything that is kept, newest first; other files are ignored."""
        names = {path.stem for path in self.folder.glob("*.json")} | self._unwritten.keys()
        kept = (self.get(name) for name in sorted(names, reverse=True))
        return [each for each in kept if each is not None]

    def _is_ours(self) -> bool:
        """Whether the folder belongs to this user; files in the folder of another user are not shown."""
        try:
            return not hasattr(os, "geteuid") or self.folder.stat().st_uid == os.geteuid()
        except OSError:
            return False

    def _write(self, kept: KeptAnswers) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if not self._is_ours():
            raise PermissionError("the folder is that of another user")
        draft = self.folder / f".{kept.name}.draft"
        plain = {"made": kept.made.isoformat(), "inquiry": _plain(kept.inquiry), "answers": kept.answers.to_json()}
        try:
            with draft.open("x", encoding="utf-8") as file:
                json.dump(plain, file, allow_nan=False)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.folder / f"{kept.name}.json")
        finally:
            draft.unlink(missing_ok=True)


def _plain(inquiry: Inquiry) -> dict[str, Any]:
    """A request for JSON; a connection string stays out of it."""
    source = inquiry.source
    return {
        "source": {
            "kind": source.kind,
            "path": None if source.path is None else str(source.path),
            "table": source.table,
            "server": source.server,
        },
        "columns": inquiry.columns,
        "data": {name: list(values) for name, values in inquiry.data.items()},
        "question": {name: list(values) for name, values in inquiry.question.items()},
    }


def _read(path: Path, budget: Path) -> KeptAnswers | None:
    """The answers in a file, or None if the studio cannot have written it."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        loaded = json.loads(path.read_text(encoding="utf-8"))
        given = loaded["inquiry"]
        kind, place, table = (given["source"][name] for name in ("kind", "path", "table"))
        if kind not in ("file", "upload", "database"):
            return None
        server = given["source"].get("server", POSTGRES)
        if server not in (POSTGRES, MARIADB):
            return None
        source = Source(kind, None if place is None else Path(_text(place)), _text(table), server=server)
        columns = {_text(name): _text(type_) for name, type_ in given["columns"].items()}
        data, question = (
            {_text(name): [_text(each) for each in values] for name, values in given[part].items()}
            for part in ("data", "question")
        )
        inquiry = Inquiry(source, columns, data, question)
        recipe, answers = inquiry.recipe(budget), nb.Answers.from_json(_text(loaded["answers"]))
        for release in answers.releases.values():
            paragraphs(release.to_dict(), sizes=())  # raises if this is no release
        if not _agree(recipe.question, answers) or answers.to_json() != loaded["answers"]:
            return None
        return KeptAnswers(path.stem, datetime.fromisoformat(loaded["made"]), inquiry, recipe, answers)
    except _BROKEN:
        return None


def _agree(question: Question, answers: nb.Answers) -> bool:
    """Whether answers are those to a question, for what it may cost."""
    names = [(ask.name, ask.statistic) for ask in question.asks]
    spent = answers.loss.rho if question.spending == "rho" else answers.loss.epsilon
    same = names == [(name, answers[name].statistic) for name in answers]
    return same and answers.by == question.by and spent == round_up(rational(question.amount, "amount"))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a field of a request is a text")
    return value
