"""The application: which address has which page, the start page, and the pages of errors.

Every page works without scripts; `studio.js` adds a search in long lists and a drop zone. Errors appear as sentences
beside the field that they concern; of an unexpected error only its name is shown.
"""

import os
import secrets
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from nobounds.engines.sql.connect import server_of
from nobounds.studio.answer_pages import AnswerPages
from nobounds.studio.fields import PLAIN, Fields, Mistakes, sentence, text
from nobounds.studio.sources import DATABASES, ENVIRONMENT, LARGEST, Source, database_source, tables_of
from nobounds.studio.step_pages import StepPages
from nobounds.studio.views import HERE, Studio, fields_of, value_of

_CHUNK = 1 << 20
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)  # missing on Windows, where making a link takes a right of its own


def app(start: Path, uploads: Path, first: Path | None = None) -> Starlette:
    """The web application for a start folder; `first` is a file to begin with."""
    studio = Studio(start, uploads)
    if first is not None:
        studio.studies.begin(Source("file", first))
    home, steps, answers = HomePages(studio, first), StepPages(studio), AnswerPages(studio)
    work = "/work/{study}"
    routes = [
        Route("/", home.start),
        Route("/file", home.file, methods=["POST"]),
        Route("/upload", home.upload, methods=["POST"]),
        Route("/database", home.database, methods=["POST"]),
        Route(f"{work}/data", steps.data),
        Route(f"{work}/data", steps.set_data, methods=["POST"]),
        Route(f"{work}/budget", steps.budget),
        Route(f"{work}/budget", steps.set_budget, methods=["POST"]),
        Route(f"{work}/question", steps.question),
        Route(f"{work}/question", steps.set_question, methods=["POST"]),
        Route(f"{work}/estimate", steps.estimate),
        Route(f"{work}/estimate", steps.set_estimate, methods=["POST"]),
        Route(f"{work}/keep", steps.keep, methods=["POST"]),
        Route(f"{work}/answers", answers.all),
        Route(f"{work}/answers", answers.ask, methods=["POST"]),
        Route(f"{work}/answers/{{name}}", answers.one),
        Route(f"{work}/answers/{{name}}/report", answers.report),
        Route(f"{work}/answers/{{name}}/{{kind}}", answers.download),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    handlers: dict[Any, Any] = {HTTPException: home.missing, Exception: home.broken}
    return Starlette(routes=routes, exception_handlers=handlers)


class HomePages:
    """Where data are chosen, and where work is taken up again."""

    def __init__(self, studio: Studio, first: Path | None) -> None:
        self._studio, self._first = studio, first
        self._typed: dict[str, str] = {}  # connection strings and paths of databases, by a word for the form

    def start(self, request: Request) -> Response:
        """The data to choose from, and the work under way."""
        if self._first is not None:
            self._first = None
            return RedirectResponse(f"/work/{self._studio.studies.all()[0].name}/data", 303)
        return self._start(request, {})

    async def file(self, request: Request) -> Response:
        """Begin with a file of the start folder."""
        fields = await fields_of(request)
        return await run_in_threadpool(self._file, request, fields)

    def _file(self, request: Request, fields: Fields) -> Response:
        folder = self._studio.folder
        try:
            path = folder.path(text(fields, "file"), folder.files())
        except ValueError as error:
            return self._start(request, fields, errors={"file": sentence(error)})
        return self._begin(Source("file", path))

    async def upload(self, request: Request) -> Response:
        """Begin with an uploaded file, which is kept until the studio ends."""
        size = request.headers.get("content-length", "")
        if not size.isdecimal() or int(size) > LARGEST:
            said = f"The file is too large: at most {LARGEST >> 30} GB can be uploaded. Put it into the start folder."
            return self._start(request, {}, status=413, errors={"upload": said})
        form = await request.form(max_files=1, max_fields=4)
        given = form.get("upload")
        if not isinstance(given, UploadFile) or not given.filename:
            return self._start(request, {}, errors={"upload": "Choose a file first."})
        try:
            path = self._studio.uploads.new(given.filename)
            with open(os.open(path, os.O_WRONLY | _NO_LINKS), "wb") as file:
                while chunk := await given.read(_CHUNK):
                    await run_in_threadpool(file.write, chunk)
        except PLAIN as error:
            return self._start(request, {}, errors={"upload": sentence(error)})
        return self._begin(Source("upload", path))

    async def database(self, request: Request) -> Response:
        """Begin with a table of a database: its tables are listed first."""
        fields = await fields_of(request)
        return await run_in_threadpool(self._database, request, fields)

    def _database(self, request: Request, fields: Fields) -> Response:
        try:
            database = self._named(fields)
            tables = tables_of(database)
        except Mistakes as error:
            return self._start(request, fields, errors=error.fields)
        except PLAIN as error:
            return self._start(request, fields, errors={"database": sentence(error)})
        except Exception as error:  # of a driver, whose message may hold the connection string
            failed = f"The database cannot be read ({type(error).__name__})."
            return self._start(request, fields, errors={"database": failed})
        table = text(fields, "table")
        said: str | None = None if tables else "The database has no tables."
        if table in tables:
            return self._begin(database_source(database, table))
        errors = {"table": "Choose a table of the database."} if table else {}
        return self._start(request, fields, tables=tables, database=self._kept(database), errors=errors, error=said)

    def _named(self, fields: Fields) -> str:
        """The database that a form names: a listed file, a connection string, or the one of the environment."""
        given, listed = text(fields, "database"), self._studio.folder.databases()
        if given in self._typed:
            return self._typed[given]
        if given == "environment":
            return os.environ.get(ENVIRONMENT, "")
        if given == "url":
            url = text(fields, "url")
            if server_of(url) is None:
                raise Mistakes({"url": "A connection string starts with postgresql://, mariadb:// or mysql://."})
            return url
        if given not in listed:
            raise Mistakes({"database": f"Choose a database, whose name ends in {', '.join(DATABASES)}."})
        return str(self._studio.folder.path(given, listed))

    def _kept(self, database: str) -> str:
        """A word for a database that was named, for the next form: connection strings stay here."""
        token = next((token for token, each in self._typed.items() if each == database), secrets.token_hex(8))
        self._typed[token] = database
        return token

    def _begin(self, source: Source) -> Response:
        study = self._studio.studies.begin(source)
        return RedirectResponse(f"/work/{study.name}/data", 303)

    def _start(self, request: Request, fields: Fields, **more: Any) -> Response:
        folder = self._studio.folder
        return self._studio.page(
            request,
            "start.html",
            None,
            folder=str(folder.start),
            files=folder.files(),
            databases=folder.databases(),
            environment=ENVIRONMENT if os.environ.get(ENVIRONMENT) else None,
            largest=f"{LARGEST >> 30} GB",
            studies=self._studio.studies.all(),
            tables=more.pop("tables", None),
            value=value_of(fields),
            **more,
        )

    def missing(self, request: Request, error: Exception) -> Response:
        """The answer to an unknown address or a malformed request."""
        status = error.status_code if isinstance(error, HTTPException) else 404
        said = "There is no such page here." if status == 404 else "The studio cannot read that request."
        return self._studio.page(request, "error.html", None, status=status, error=said)

    def broken(self, request: Request, error: Exception) -> Response:
        """An unexpected error: only its name is shown, since its message may contain sensitive values."""
        said = sentence(error) if isinstance(error, PLAIN) else f"The studio failed with {type(error).__name__}."
        return self._studio.page(request, "error.html", None, status=500, error=said)
