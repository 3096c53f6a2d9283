"""Where data come from: a file below the start folder, an uploaded file, or a table of a database.

Only names are listed, never contents or sizes. A file is chosen by its place in the list, so no path from a form is
opened. What is uploaded goes into a folder that only this user can read, and that is removed when the studio ends.
"""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

import nobounds as nb
from nobounds.engines.files.formats import KNOWN, Format, format_of
from nobounds.engines.sql.connect import POSTGRES, connect, server_of, table_names, whole_table
from nobounds.values import dataclass

LARGEST = 2 << 30  # bytes of an upload
DATABASES = (".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3")
ENVIRONMENT = "DATABASE_URL"  # where a connection string is looked for
_DEEPEST, _MOST = 4, 500  # folders below the start, and files in the list
_PASSED_OVER = ("node_modules", "__pycache__", "site-packages")
_UNSAFE = re.compile(r"[^\w. ()+,=@-]")


@dataclass(frozen=True, slots=True)
class Source:
    """A file, or a table of a database; `url` may hold a password, and is shown nowhere.

    server: the kind of server, where the database is no file.
    """

    kind: Literal["file", "upload", "database"]
    path: Path | None = None
    table: str = ""
    url: str = field(default="", repr=False)
    server: str = POSTGRES

    @property
    def name(self) -> str:
        """The name on the pages."""
        file = self.server if self.path is None else self.path.name
        return f"{self.table} ({file})" if self.kind == "database" else file

    @property
    def stem(self) -> str:
        """The name without what a file name ends in, as the start of the names of other files."""
        if self.kind == "database":
            return safe_name(self.table) or "table"
        return safe_name(self.path.name.partition(".")[0] if self.path else "") or "data"

    @property
    def format(self) -> "Format | Literal['database']":
        """The format of the file."""
        return "database" if self.kind == "database" or self.path is None else format_of(self.path)

    @contextmanager
    def opened(self, **options: Any) -> Iterator[nb.Table]:
        """The table with these keywords; its columns are known, and no row is read before a statistic asks for it."""
        if self.kind != "database":
            yield nb.Table(str(self.path), **options)
            return
        with ExitStack() as stack:
            connection, _ = connect(self.url or str(self.path), stack)
            options = {name: given for name, given in options.items() if name not in ("csv", "schema")}
            yield nb.Table.sql(connection, whole_table(self.table), label=self.name, **options)


class Folder:
    """The start folder: its data files, databases and budgets by name."""

    def __init__(self, start: Path) -> None:
        self.start = start.resolve()

    def files(self) -> list[str]:
        """The files that can be read as tables, by their paths below the start folder."""
        return [name for name in self._names() if _is_table(name)]

    def databases(self) -> list[str]:
        """The files whose names say that they are databases."""
        return [name for name in self._names() if name.lower().endswith(DATABASES)]

    def budgets(self) -> list[str]:
        """The budget files."""
        return [name for name in self._names() if name.endswith(".budget")]

    def path(self, name: str, among: list[str]) -> Path:
        """The path of a listed file; ValueError for any other name."""
        if name not in among:
            raise ValueError("choose one of the files in the list")
        return self.start / name

    def _names(self) -> list[str]:
        names: list[str] = []
        for folder, inner, files in os.walk(self.start):
            depth = len(Path(folder).relative_to(self.start).parts)
            inner[:] = sorted(each for each in inner if _is_shown(each)) if depth < _DEEPEST else []
            for each in sorted(files):
                path = Path(folder, each)
                # A link out of the folder would show what lies elsewhere.
                if _is_shown(each) and path.resolve().is_relative_to(self.start) and path.is_file():
                    names.append(path.relative_to(self.start).as_posix())
            if len(names) > _MOST:
                break
        return names[:_MOST]


class Uploads:
    """A folder of uploaded files, each in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def new(self, name: str) -> Path:
        """The path of a new, empty file with the last part of this name, made safe."""
        kept = safe_name(re.split(r"[/\\]", name)[-1])
        if not _is_table(kept):
            raise ValueError(f"the file's name must end in {KNOWN}")
        place = self._folder / secrets.token_hex(8)
        place.mkdir(mode=0o700)
        path = place / kept
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return path


def tables_of(database: str) -> list[str]:
    """The names of the tables of a database, by its URL or its path."""
    with ExitStack() as stack:
        connection, _ = connect(database, stack)
        return table_names(connection)


def database_source(database: str, table: str) -> Source:
    """A table of a database."""
    server = server_of(database)
    if server is not None:
        return Source("database", None, table, database, server)
    return Source("database", Path(database), table)


def safe_name(name: str) -> str:
    """A name without what could be a path, a hidden file or a control character."""
    return _UNSAFE.sub("_", name).lstrip(". ")[-120:]


def _is_shown(name: str) -> bool:
    return not name.startswith(".") and name not in _PASSED_OVER


def _is_table(name: str) -> bool:
    try:
        format_of(Path("/nowhere") / name)
    except ValueError:
        return False
    return True
