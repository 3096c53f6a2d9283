"""What every page has around it: the steps, the budget, the name of the data, and errors as sentences."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

from nobounds.exact import printable
from nobounds.studio.desk import Desk
from nobounds.studio.fields import PLAIN, Fields, sentence
from nobounds.studio.results.shown import budget_of
from nobounds.studio.sources import Folder, Uploads
from nobounds.studio.steps import STEPS, Studies, Study

HERE = Path(__file__).parent


class Studio:
    """What the pages share: the start folder, the uploads, the work under way and the desk."""

    def __init__(self, start: Path, uploads: Path) -> None:
        self.folder, self.uploads = Folder(start), Uploads(uploads)
        self.studies, self.desk = Studies(), Desk()
        self._templates = Jinja2Templates(directory=HERE / "templates")
        self._templates.env.filters["plain"] = printable

    def page(self, request: Request, template: str, study: Study | None, **more: Any) -> Response:
        """A page; `errors` are those of fields by name, and `error` is about the page as a whole."""
        status, step = more.pop("status", 200), more.get("step")
        statement, budget_error = (None, None) if study is None else tried(study.statement)
        errors = more.pop("errors", {})
        context = {
            "study": study,
            "steps": STEPS,
            "reached": [] if study is None else study.reached(),
            "budget": None if statement is None else budget_of(statement),
            "budget_error": budget_error,
            "errors": errors,
            "first": next(iter(errors), None),
            "step": step,
            **more,
        }
        return self._templates.TemplateResponse(request, template, context, 400 if errors and status == 200 else status)

    def study(self, request: Request) -> Study:
        """The work that an address names."""
        study = self.studies.get(request.path_params["study"])
        if study is None:
            raise HTTPException(404)
        return study


async def fields_of(request: Request) -> dict[str, list[str]]:
    """The fields of a form without files."""
    form = await request.form(max_files=0, max_fields=20_000)
    fields: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        fields.setdefault(name, []).append(str(value))
    return fields


def value_of(fields: Fields) -> Callable[..., str]:
    """A function for templates: the value of a field, or a default."""

    def value(name: str, default: str = "") -> str:
        values = fields.get(name)
        return values[0] if values else default

    return value


def tried(make: Callable[[], Any]) -> tuple[Any, str | None]:
    """The result of `make` and None, or None and the error as a sentence."""
    try:
        return make(), None
    except PLAIN as error:
        return None, sentence(error)
