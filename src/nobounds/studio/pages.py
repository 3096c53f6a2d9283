"""The pages of the studio: the plan, the release form, the history, and a page for each release.

Every page works without scripts; `studio.js` only updates the forecast while the form changes. Errors appear as
sentences on the page that they concern; of an unexpected error only its name is shown.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

import nobounds as nb
from nobounds.exact import printable
from nobounds.planning.families import FAMILIES
from nobounds.studio.asks import STATISTICS, Ask, Guess, forecast, parts
from nobounds.studio.desk import Charged, Desk
from nobounds.studio.shelf import KeptRelease
from nobounds.studio.shown import answers, budget_of, line, picture, words

HERE = Path(__file__).parent
PLAIN = (ValueError, TypeError, OSError, EOFError, ImportError, nb.BudgetExceeded)
DEFAULTS = {
    "statistic": "describe",
    "q": "0.5",
    "amount": "1",
    "spending": "epsilon",
    "lower": "",
    "upper": "",
    "resolution": "",
    "n": "10000",
    "family": "lognormal",
    "scale": "",
}
AMOUNTS = ("0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10")  # points of the curve


def app(desk: Desk) -> Starlette:
    """The web application of a desk."""
    pages = Pages(desk)
    routes = [
        Route("/", pages.home),
        Route("/plan", pages.plan),
        Route("/forecast", pages.forecast),
        Route("/release", pages.release),
        Route("/release", pages.make, methods=["POST"]),
        Route("/releases/{name}", pages.kept),
        Route("/releases/{name}/{part}", pages.download),
        Route("/history", pages.history),
        Route("/budget", pages.create, methods=["POST"]),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    handlers: dict[Any, Any] = {HTTPException: pages.missing, Exception: pages.broken}
    return Starlette(routes=routes, exception_handlers=handlers)


class Pages:
    """The pages of a desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._planning = Lock()  # one forecast at a time: each keeps a processor busy
        self._forecasts: dict[Any, Any] = {}
        self._templates = Jinja2Templates(directory=HERE / "templates")
        self._templates.env.filters["plain"] = printable

    def home(self, request: Request) -> Response:
        """The plan, or the form for a budget if there is no budget yet."""
        return RedirectResponse("/plan", 303) if self._desk.origin.budget.exists() else self._budget_form(request)

    def plan(self, request: Request) -> Response:
        """What to release, and what error to expect; no data are read."""
        fields = _fields(request.query_params)
        expected = error = None
        if request.query_params:
            expected, error = _tried(lambda: self._expected(request.query_params))
        return self._page(request, "plan.html", 200 if error is None else 400, fields, expected=expected, error=error)

    def forecast(self, request: Request) -> Response:
        """The same forecast as JSON, for the script of the page."""
        try:
            quick = "quick" in request.query_params
            expected, error = _tried(lambda: self._expected(request.query_params, quick=quick))
        except Exception as failure:
            return JSONResponse({"error": f"The forecast failed with {type(failure).__name__}."}, 500)
        return JSONResponse({"error": error} if error else expected, 400 if error else 200)

    def release(self, request: Request) -> Response:
        """The form that spends."""
        return self._release_form(request, _fields(request.query_params))

    async def make(self, request: Request) -> Response:
        """Charge the budget, make the release and go to its page."""
        form = await request.form(max_files=0, max_fields=1000)
        return await run_in_threadpool(self._make, request, form)

    def _make(self, request: Request, form: FormData) -> Response:
        fields = _fields(form)
        try:
            kept = self._desk.release(str(form.get("key", "")), self._ask(form))
        except nb.BudgetExceeded as error:
            return self._release_form(request, fields, f"Refused: {printable(str(error))}. Nothing was charged.", 409)
        except Charged as error:
            return self._release_form(request, fields, _charged(error), 500)
        except PLAIN as error:
            return self._release_form(request, fields, _sentence(error), 400)
        return RedirectResponse(f"/releases/{kept.name}", 303)

    def kept(self, request: Request) -> Response:
        """A finished release in words, with its downloads."""
        kept = self._kept(request)
        # A paid answer is shown even if its explanation fails.
        said, _ = _tried(lambda: words(kept.release.to_json()))
        return self._page(
            request,
            "kept.html",
            kept=kept,
            title=kept.ask.title(),
            answers=answers(kept),
            words=said or [],
            python=kept.ask.python(self._desk.origin),
            shell=kept.ask.shell(self._desk.origin),
            written=self._desk.shelf.written(kept),
            folder=self._desk.shelf.folder.name,
        )

    def download(self, request: Request) -> Response:
        """The release, a picture of it, or the code that reproduces it."""
        kept, part = self._kept(request), request.path_params["part"]
        makers: dict[str, tuple[str, Callable[[], str | bytes]]] = {
            "release.json": ("application/json", lambda: kept.release.to_json() + "\n"),
            "picture.png": ("image/png", lambda: picture(kept)),
            "again.py": ("text/x-python", lambda: kept.ask.python(self._desk.origin)),
            "again.sh": ("text/x-shellscript", lambda: kept.ask.shell(self._desk.origin)),
        }
        if part not in makers:
            raise HTTPException(404)
        kind, make = makers[part]
        name = f"{kept.ask.statistic}-{kept.name}.{part.rpartition('.')[2]}"
        shown = "inline" if "show" in request.query_params else "attachment"
        return Response(make(), media_type=kind, headers={"Content-Disposition": f'{shown}; filename="{name}"'})

    def history(self, request: Request) -> Response:
        """Every charge in the ledger, and every release on the shelf."""
        return self._page(request, "history.html", kept=self._desk.shelf.all(), folder=self._desk.shelf.folder.name)

    async def create(self, request: Request) -> Response:
        """Create the budget."""
        form = await request.form(max_files=0)
        given = {name: str(form.get(name, "")).strip() or None for name in ("epsilon", "delta", "rho")}
        return await run_in_threadpool(self._create, request, given)

    def _create(self, request: Request, given: dict[str, str | None]) -> Response:
        origin = self._desk.origin
        try:
            if origin.budget.exists():
                raise ValueError(f"the budget {origin.budget.name} was made in the meantime; nothing was changed")
            nb.Budget(
                epsilon=given["epsilon"],
                delta=given["delta"],
                rho=given["rho"],
                path=origin.budget,
                neighbors=origin.neighbors,
                unit=origin.unit or "row",
            )
        except PLAIN as error:
            return self._budget_form(request, _sentence(error), given)
        return RedirectResponse("/plan", 303)

    def missing(self, request: Request, error: Exception) -> Response:
        """The answer to an unknown address or a malformed request."""
        status = error.status_code if isinstance(error, HTTPException) else 404
        said = "There is no such page here." if status == 404 else "The studio cannot read that request."
        return self._page(request, "error.html", status, error=said)

    def broken(self, request: Request, error: Exception) -> Response:
        """An unexpected error: only its name is shown, since its message may contain sensitive values."""
        said = _sentence(error) if isinstance(error, PLAIN) else f"The studio failed with {type(error).__name__}."
        return self._page(request, "error.html", 500, error=said)

    def _page(
        self, request: Request, template: str, status: int = 200, fields: dict[str, Any] | None = None, **more: Any
    ) -> Response:
        """A page with the table, the budget and the form around it; errors in reading these appear on it."""
        statement, budget_error = _tried(self._desk.statement)
        columns, table_error = _tried(self._desk.numeric)
        context = {
            "origin": self._desk.origin,
            "budget": None if statement is None else budget_of(statement),
            "budget_error": budget_error,
            "table_error": table_error,
            "columns": columns or [],
            "fields": fields or _fields(QueryParams()),
            "statistics": STATISTICS,
            "families": list(FAMILIES),
            "amounts": AMOUNTS,
            **more,
        }
        return self._templates.TemplateResponse(request, template, context, status)

    def _release_form(
        self, request: Request, fields: dict[str, Any], error: str | None = None, status: int = 200
    ) -> Response:
        if not self._desk.origin.budget.exists():
            return self._budget_form(request)
        return self._page(request, "release.html", status, fields, key=self._desk.key(), error=error)

    def _budget_form(
        self, request: Request, error: str | None = None, given: dict[str, str | None] | None = None
    ) -> Response:
        return self._page(request, "budget.html", 400 if error else 200, error=error, given=given or {})

    def _kept(self, request: Request) -> KeptRelease:
        kept = self._desk.shelf.get(request.path_params["name"])
        if kept is None:
            raise HTTPException(404)
        return kept

    def _ask(self, given: QueryParams | FormData) -> Ask:
        known, columns = self._desk.numeric(), _columns(given)
        for name in columns:
            if name not in known:
                raise ValueError(f"column {name!r} is not a numeric column of the table")
        return Ask.of({name: str(value) for name, value in given.items()}, columns)

    def _expected(self, given: QueryParams, quick: bool = False) -> dict[str, Any]:
        """The forecast for a form, cached."""
        ask, guess = self._ask(given), Guess.of(given)
        every = len(ask.columns) or len(self._desk.numeric()) or 1
        key = (ask, guess, every, quick)
        if key not in self._forecasts:
            with self._planning:
                if len(self._forecasts) > 1000:
                    self._forecasts.clear()
                self._forecasts[key] = self._forecast(ask, guess, every, quick)
        expected: dict[str, Any] = self._forecasts[key]
        return expected

    def _forecast(self, ask: Ask, guess: Guess, columns: int, quick: bool) -> dict[str, Any]:
        origin = self._desk.origin
        if ask.statistic != "describe":
            return line(ask.statistic, forecast(ask, guess, origin, quick=quick))
        requests = parts(ask, columns, guess, origin)
        each = {name: forecast(part, guess, origin, quick=True) for name, part in requests.items()}
        return {"parts": [line(name, expected) for name, expected in each.items()]}


def _fields(given: QueryParams | FormData) -> dict[str, Any]:
    """The contents of the form's fields."""
    return {name: str(given.get(name, text)) for name, text in DEFAULTS.items()} | {"column": _columns(given)}


def _columns(given: QueryParams | FormData) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(name) for name in given.getlist("column") if name))


def _tried(make: Callable[[], Any]) -> tuple[Any, str | None]:
    """The result of `make` and None, or None and the error as a sentence."""
    try:
        return make(), None
    except PLAIN as error:
        return None, _sentence(error)


def _sentence(error: BaseException) -> str:
    said = printable(str(error)) or type(error).__name__
    first = said.partition(" ")[0]
    start = first.capitalize() if first.isalpha() and first.islower() and first not in ("n", "q") else first
    return start + said[len(first) :] + ("" if said.endswith((".", "?", "!")) else ".")


def _charged(error: Charged) -> str:
    why = error.__cause__
    return f"{_sentence(error)} {_sentence(why) if isinstance(why, PLAIN) else f'It failed with {type(why).__name__}.'}"
