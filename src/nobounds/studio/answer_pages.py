"""The pages of the last step: asking, which charges the budget, and the answers with all that can be taken along."""

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

import nobounds as nb
from nobounds.exact import printable
from nobounds.studio.desk import Charged
from nobounds.studio.fields import PLAIN, Fields, Mistakes, sentence, text
from nobounds.studio.results.downloads import AGAIN, CHARTS, TABLES, download
from nobounds.studio.results.shelf import Inquiry, KeptAnswers
from nobounds.studio.results.shown import charts, explained, overview, protected, sections, summary
from nobounds.studio.step_pages import StepPages
from nobounds.studio.steps import Study
from nobounds.studio.views import HERE, Studio, fields_of


class AnswerPages:
    """Asking, the answers, and their files."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._steps = StepPages(studio)

    async def ask(self, request: Request) -> Response:
        """Charge the budget, answer the question and go to the answers."""
        fields = await fields_of(request)
        return await run_in_threadpool(self._ask, request, self._studio.study(request), fields)

    def _ask(self, request: Request, study: Study, fields: Fields) -> Response:
        if study.budget is None or not study.question:
            return RedirectResponse(f"/work/{study.name}/{study.next}", 303)
        try:
            inquiry = Inquiry(study.source, study.columns(), study.data, study.question)
            kept = self._studio.desk.answer(text(fields, "key"), inquiry, study.budget)
        except nb.BudgetExceeded as error:
            said = f"Not enough is left of the budget, and nothing was charged. {printable(str(error))}"
            return self._refused(request, study, said, 409)
        except Charged as error:
            return self._refused(request, study, sentence(error), 500)
        except Mistakes as error:
            return self._refused(request, study, sentence(error), 400)
        except PLAIN as error:
            return self._refused(request, study, f"{sentence(error)} Nothing was charged.", 400)
        return RedirectResponse(f"/work/{study.name}/answers/{kept.name}", 303)

    def _refused(self, request: Request, study: Study, said: str, status: int) -> Response:
        return self._steps.estimated(request, study, study.guess, refusal=said, status=status)

    def all(self, request: Request) -> Response:
        """Everything that was charged to the budget, and the answers that are kept."""
        study = self._studio.study(request)
        if study.budget is None:
            return RedirectResponse(f"/work/{study.name}/{study.next}", 303)
        shelf = self._studio.desk.shelf(study.budget)
        return self._studio.page(
            request, "answers.html", study, step="answers", kept=shelf.all(), folder=shelf.folder.name
        )

    def one(self, request: Request) -> Response:
        """Answers with their charts, in words, and their downloads."""
        study, kept = self._named_answers(request)
        assert study.budget is not None
        shelf = self._studio.desk.shelf(study.budget)
        return self._studio.page(
            request,
            "answer.html",
            study,
            step="answers",
            kept=kept,
            sections=sections(kept),
            summary=summary(kept),
            explained=explained(kept),
            tables=TABLES,
            charts=CHARTS if charts(kept) else {},
            again=AGAIN,
            written=shelf.written(kept),
            folder=shelf.folder.name,
        )

    def report(self, request: Request) -> Response:
        """A page to print and sign; as a download it carries its style with it."""
        study, kept = self._named_answers(request)
        style = (HERE / "static" / "report.css").read_text(encoding="utf-8") if "file" in request.query_params else None
        answer = self._studio.page(
            request,
            "report.html",
            study,
            kept=kept,
            sections=sections(kept),
            summary=summary(kept),
            protected=protected(kept),
            overview=overview(kept) if kept.answers.by else None,
            style=style,
        )
        if style is not None:
            answer.headers["Content-Disposition"] = f'attachment; filename="{_file(kept)}.html"'
        return answer

    def download(self, request: Request) -> Response:
        """The answers as a file."""
        _, kept = self._named_answers(request)
        made = download(kept, request.path_params["kind"])
        if made is None:
            raise HTTPException(404)
        media, content = made
        disposition = f'attachment; filename="{_file(kept)}.{request.path_params["kind"]}"'
        return Response(content, media_type=media, headers={"Content-Disposition": disposition})

    def _named_answers(self, request: Request) -> tuple[Study, KeptAnswers]:
        study = self._studio.study(request)
        kept = None if study.budget is None else self._studio.desk.shelf(study.budget).get(request.path_params["name"])
        if kept is None:
            raise HTTPException(404)
        return study, kept


def _file(kept: KeptAnswers) -> str:
    """The name of a file of answers, without what it ends in."""
    stem = "".join(each if each.isascii() and each.isalnum() else "-" for each in kept.recipe.source.stem)
    return f"{stem}-{kept.name[:15]}"
