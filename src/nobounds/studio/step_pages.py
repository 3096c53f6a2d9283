"""The pages of the first four steps: data, budget, question and estimate. None of them reads a record."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

import nobounds as nb
from nobounds.accounting.budget import read
from nobounds.studio import layouts
from nobounds.studio.estimates import SHAPES, Estimate, Guess, estimate, heights
from nobounds.studio.fields import PLAIN, Checks, Fields, Mistakes, saying, sentence, text
from nobounds.studio.layouts import Layout, is_ready, needs_names, numeric, type_in_words
from nobounds.studio.questions import DELTA, INTERVALS, LEVELS, STATISTICS, Question, odds
from nobounds.studio.results.charts import curve, outline
from nobounds.studio.sources import safe_name
from nobounds.studio.steps import Study
from nobounds.studio.views import Studio, fields_of, tried, value_of

TOTALS = {
    "1": ("Strict", "for data that could hurt people, such as diagnoses"),
    "3": ("Usual", "for most data about people"),
    "10": ("Generous", "for data that are hardly sensitive"),
}
Keep: TypeAlias = Callable[[Study, Fields], str]
"""Keeps the fields of a form and returns the page to go to; Mistakes says what is wrong with them."""
NEW = {"count": ["yes"], "level": ["1"], "percentiles": ["25, 75"], "names": ["known"], "interval": ["0.95"]}


class StepPages:
    """The forms of the steps, and what becomes of them."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._estimating = Lock()  # one estimate at a time: each keeps a processor busy

    def data(self, request: Request) -> Response:
        """How the data are written, their columns, and whom a row belongs to."""
        study = self._studio.study(request)
        return self._data(request, study, study.data)

    async def set_data(self, request: Request) -> Response:
        """Keep what is stated about the data."""
        return await self._sent(request, self._keep_data, self._data)

    def _keep_data(self, study: Study, fields: Fields) -> str:
        layout = Layout.of(study.source, fields)
        columns = layout.columns(study.source) if is_ready(study.source, fields) else {}
        _check_unit(layout, columns)
        settled = bool(columns) and text(fields, "go") == "on"
        self._studio.studies.change(study, data=fields, settled=settled or study.settled)
        return "budget" if settled else "data#columns"

    async def _sent(self, request: Request, keep: Keep, form: Callable[..., Response]) -> Response:
        """The page that `keep` names, or the form again with what is wrong in its fields."""
        study, fields = self._studio.study(request), await fields_of(request)
        try:
            following = await run_in_threadpool(keep, study, fields)
        except Mistakes as error:
            return await run_in_threadpool(form, request, study, fields, errors=error.fields)
        except PLAIN as error:
            return await run_in_threadpool(form, request, study, fields, error=sentence(error), status=400)
        return RedirectResponse(f"/work/{study.name}/{following}", 303)

    def _data(self, request: Request, study: Study, fields: Fields, **more: Any) -> Response:
        columns: dict[str, str] = {}
        if is_ready(study.source, fields) and not more.get("error"):
            written = {name: each for name, each in fields.items() if name not in ("belongs", "unit", "rows_per_unit")}
            listed, error = tried(lambda: Layout.of(study.source, written).columns(study.source))
            columns = listed or {}
            if error and not more.get("errors"):
                more |= {"error": error, "status": 400}
        types = dict(zip(fields.get("column", ()), fields.get("type", ()), strict=False))
        return self._studio.page(
            request,
            "data.html",
            study,
            step="data",
            value=value_of(fields),
            choices=layouts,
            format=study.source.format,
            needs_names=needs_names(study.source, fields),
            columns={name: type_in_words(kind) for name, kind in columns.items()},
            types=types | ({} if fields.get("column") else dict(_listed(study, fields))),
            typed=study.source.format in ("csv", "json", "excel"),
            **more,
        )

    def budget(self, request: Request) -> Response:
        """The budget to charge: one that is there, or a new one."""
        study = self._studio.study(request)
        return self._budget(request, study, {})

    async def set_budget(self, request: Request) -> Response:
        """Open a budget, or create it."""
        return await self._sent(request, self._keep_budget, self._budget)

    def _keep_budget(self, study: Study, fields: Fields) -> str:
        folder = self._studio.folder
        if text(fields, "budget") == "new":
            path = _created(folder.start, fields, study)
        else:
            with saying("budget"):
                path = folder.path(text(fields, "budget"), folder.budgets())
                nb.Budget(path=path)
        self._studio.studies.change(study, budget=path)
        return "question"

    def _budget(self, request: Request, study: Study, fields: Fields, **more: Any) -> Response:
        folder, suggested = self._studio.folder, f"{study.source.stem}.budget"
        listed = {name: tried(lambda name=name: _left(folder.start / name))[0] for name in folder.budgets()}  # type: ignore[misc]
        chosen = None if study.budget is None else _below(study.budget, folder.start)
        return self._studio.page(
            request,
            "budget.html",
            study,
            step="budget",
            value=value_of(fields),
            budgets=listed,
            chosen=chosen or (suggested if suggested in listed else "new"),
            suggested=_free(suggested, listed),
            totals=TOTALS,
            odds=odds,
            **more,
        )

    def question(self, request: Request) -> Response:
        """Which rows, groups and statistics, and at what level of privacy."""
        study = self._studio.study(request)
        return self._question(request, study, study.question or NEW)

    async def set_question(self, request: Request) -> Response:
        """Keep the question, if it can be asked."""
        return await self._sent(request, self._keep_question, self._question)

    def _keep_question(self, study: Study, fields: Fields) -> str:
        layout = study.layout
        question = Question.of(fields, study.columns(), layout.unit)
        with study.source.opened(**layout.options, neighbors=question.neighbors) as table:
            question.of_table(table)
        _check_delta(study, question)
        self._studio.studies.change(study, question=fields)
        return "estimate"

    def _question(self, request: Request, study: Study, fields: Fields, **more: Any) -> Response:
        columns, error = tried(study.columns)
        columns = columns or {}
        unit = None if error else study.layout.unit
        return self._studio.page(
            request,
            "question.html",
            study,
            step="question",
            value=value_of(fields),
            ticked={name: set(fields.get(name, ())) for name in ("ask", "every", "positive", "whole", "count")},
            statistics=STATISTICS,
            columns={name: type_in_words(kind) for name, kind in columns.items()},
            numeric=numeric(columns, unit),
            keyed=[name for name in columns if name != unit],
            levels=LEVELS,
            odds=odds,
            intervals=INTERVALS,
            delta=DELTA,
            unit=unit,
            **({"error": error} if error else {}) | more,
        )

    def estimate(self, request: Request) -> Response:
        """What to expect of the question, and the button that spends."""
        study = self._studio.study(request)
        return self.estimated(request, study, study.guess)

    async def set_estimate(self, request: Request) -> Response:
        """Estimate from what is stated; keeps nothing but these fields."""
        fields = await fields_of(request)
        study = self._studio.studies.change(self._studio.study(request), guess=fields)
        return await run_in_threadpool(self.estimated, request, study, fields)

    async def keep(self, request: Request) -> Response:
        """Keep an estimate to compare with, forget it, or go back to its question."""
        return await self._sent(request, self._keep_estimate, self.estimated)

    def _keep_estimate(self, study: Study, fields: Fields) -> str:
        studies, do = self._studio.studies, text(fields, "do")
        if do == "keep":
            expected, _ = tried(lambda: self._estimate(study, study.guess))
            studies.change(study, kept=expected)
            return "question"
        back = study.kept if do == "use" else None
        studies.change(study, kept=None, **({} if back is None else {"question": back.question}))
        return "estimate"

    def _estimate(self, study: Study, fields: Fields) -> Estimate:
        question = _question_of(study)
        with self._estimating:
            guess = Guess.of(fields, question)
            return estimate(question, guess, study.layout.rows_per_unit, study.question)

    def estimated(self, request: Request, study: Study, fields: Fields, **more: Any) -> Response:
        """The page of the estimate, after a refusal too."""
        if not study.question:
            return RedirectResponse(f"/work/{study.name}/question", 303)
        expected: Estimate | None = None
        question, error = tried(lambda: _question_of(study))
        if question is None:
            return self._question(request, study, study.question, error=error, status=400)
        if fields:
            try:
                expected = self._estimate(study, fields)
            except Mistakes as mistakes:
                more |= {"errors": mistakes.fields}
            except PLAIN as failure:
                more |= {"error": sentence(failure)}
        picture = None
        if expected is not None and len(expected.curve) > 1:
            names = [LEVELS[level] for level, _ in expected.curve]
            picture = curve(expected.curve, names, question.amount if question.spending == "epsilon" else "")
        return self._studio.page(
            request,
            "estimate.html",
            study,
            step="estimate",
            value=value_of(fields),
            question=question,
            estimate=expected,
            kept=study.kept,
            levels=LEVELS,
            shapes={name: (*words, outline(heights(name))) for name, words in SHAPES.items()},
            picture=picture,
            key=self._studio.desk.key(),
            **more,
        )


def _question_of(study: Study) -> Question:
    return Question.of(study.question, study.columns(), study.layout.unit)


def _listed(study: Study, fields: Fields) -> tuple[tuple[str, str], ...]:
    layout, _ = tried(lambda: Layout.of(study.source, fields))
    return () if layout is None else layout.types


def _check_unit(layout: Layout, columns: dict[str, str]) -> None:
    if columns and layout.unit is not None and layout.unit not in columns:
        raise Mistakes({"unit": "Choose a column of the table."})


def _check_delta(study: Study, question: Question) -> None:
    """Refuse groups without listed names for a budget that has no room for them."""
    statement = study.statement()
    if question.by and question.delta and statement and statement.terms.delta is None:
        said = "This budget does not allow groups whose names are not listed. List the names, or open another budget."
        raise Mistakes({"names": said})


def _created(start: Path, fields: Fields, study: Study) -> Path:
    """A new budget file in the start folder."""
    checks, name = Checks(), text(fields, "name")
    total = text(fields, "total", "3")
    own = {kind: text(fields, kind) or None for kind in ("epsilon", "delta", "rho")}
    if total != "other":
        if total not in TOTALS:
            raise Mistakes({"total": "Choose one of the totals."})
        own = {"epsilon": total, "delta": "1e-6" if fields.get("unlisted") else None, "rho": None}
    elif not own["epsilon"] and not own["rho"]:
        checks.fields["epsilon"] = "Give a total: an epsilon, or a rho."
    if not name or safe_name(name) != name or "/" in name:
        checks.fields["name"] = "Give the file a plain name, without folders, such as survey.budget."
    elif not name.endswith(".budget"):
        name += ".budget"
    if not checks.fields and (start / name).exists():
        checks.fields["name"] = f"There is a file {name} already: open it above, or choose another name."
    checks.done()
    layout = study.layout
    with saying("epsilon" if total == "other" else "name"):
        nb.Budget(
            epsilon=own["epsilon"],
            delta=own["delta"],
            rho=own["rho"],
            path=start / name,
            unit=layout.unit or "row",
        )
    return start / name


def _left(path: Path) -> str:
    return read(path).left


def _below(path: Path, start: Path) -> str | None:
    return path.relative_to(start).as_posix() if path.is_relative_to(start) else None


def _free(name: str, taken: dict[str, Any]) -> str:
    stem, number = name.removesuffix(".budget"), 2
    while name in taken:
        name, number = f"{stem}-{number}.budget", number + 1
    return name
