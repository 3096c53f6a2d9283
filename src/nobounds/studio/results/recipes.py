"""How to get such answers again, without the studio: a Python script, a shell command and a notebook.

Texts from users are written as quoted constants, so no name becomes code. A connection string is never written: the
script takes it from the environment.
"""

import json
import shlex
from pathlib import Path
from typing import Any

import nobounds as nb
from nobounds.ask import Ask
from nobounds.engines.sql.connect import MARIADB, POSTGRES, is_sqlite, whole_table
from nobounds.studio.layouts import Layout
from nobounds.studio.questions import Question
from nobounds.studio.sources import ENVIRONMENT, Source
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that answers were made from: the data, what is stated about them, the question and the budget."""

    source: Source
    layout: Layout
    question: Question
    budget: Path

    def python(self) -> str:
        """A script that asks the same again, with fresh noise and at the same price."""
        return "\n".join(["import nobounds as nb", *self._imports(), "", *self._lines(), "print(answers)", ""])

    def notebook(self) -> str:
        """The same as a notebook."""
        cells = [
            _cell("markdown", [f"# {self.question.title()}", "", "Running this draws new noise and is charged again."]),
            _cell("code", ["import nobounds as nb", *self._imports()]),
            _cell("code", self._lines()),
            _cell("code", ["answers"]),
            _cell("code", ["print(answers.explain())"]),
        ]
        kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
        return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"

    def shell(self) -> str:
        """The command that does the same."""
        question, layout = self.question, self.layout
        words = ["nobounds", "agg", *self._data_words()]
        words += [word for ask in question.asks for word in ("--ask", ask_text(ask))]
        words += ["--where", question.where] if question.where else []
        words += [word for name in question.by for word in ("--by", name)]
        for names in question.keys or ():
            words += ["--keys", ",".join(_csv_field(name) for name in names)]
        words += ["--delta", question.delta] if question.by and question.delta else []
        words += ["--groups-per-unit", str(question.groups_per_unit)] if question.groups_per_unit else []
        words += ["--unit", layout.unit, "--rows-per-unit", str(layout.rows_per_unit)] if layout.unit else []
        words += ["--neighbors", question.neighbors] if question.neighbors != "add-remove" else []
        words += [f"--{question.spending}", question.amount, "--budget", str(self.budget)]
        command = shlex.join(words)
        if self._formats and layout.schema is not None:
            lines = json.dumps(layout.schema.to_json())
            command = f"cat > {shlex.quote(self._schema_file)} <<'END'\n{lines}\nEND\n{command}"
        return (command.replace(_PLACEHOLDER, f'"${ENVIRONMENT}"') if self._is_url else command) + "\n"

    @property
    def _is_url(self) -> bool:
        return self.source.kind == "database" and self.source.path is None

    @property
    def _database(self) -> str:
        """The kind of database."""
        path = self.source.path
        if path is None:
            return self.source.server
        return "sqlite" if path.is_file() and is_sqlite(path) else "duckdb"

    def _imports(self) -> list[str]:
        """What a script imports, besides nobounds."""
        lines = []
        if self.source.kind == "database":
            lines += {
                POSTGRES: ["import os", "import psycopg"],
                MARIADB: ["import os", "import sqlalchemy"],
                "sqlite": ["import sqlite3"],
                "duckdb": ["import duckdb"],
            }[self._database]
        if any(_needs_date(key) for key in self._keys() or ()):
            lines += ["import datetime"]
        return lines

    def _lines(self) -> list[str]:
        question = self.question
        table = f"table{f'.where({question.where!r})' if question.where else ''}"
        if question.by:
            keys = f"delta={question.delta!r}" if question.keys is None else f"keys={self._keys()!r}"
            most = f", groups_per_unit={question.groups_per_unit}" if question.groups_per_unit else ""
            table += f".group_by({', '.join(map(repr, question.by))}, {keys}{most})"
        asks = "".join(f"    {ask_text(ask)!r},\n" for ask in question.asks)
        return [
            *self._table(),
            f"answers = {table}.agg(",
            *asks.splitlines(),
            f"    {question.spending}={question.amount!r},",
            ")",
        ]

    def _keys(self) -> list[Any] | None:
        if self.question.keys is None or not self.question.by:
            return None
        types = dict(self.layout.types)
        try:
            return self.question.key_list(self.layout.columns(self.source))
        except (ValueError, TypeError, OSError, ImportError):  # the file is gone
            return self.question.key_list(types)

    def _table(self) -> list[str]:
        source = self.source
        given = self.layout.options | ({"neighbors": "swap"} if self.question.neighbors == "swap" else {})
        options = "".join(f", {name}={_code(value)}" for name, value in given.items())
        budget = f"budget = nb.Budget(path={str(self.budget)!r})"
        if source.kind != "database":
            return [budget, f"table = nb.Table({self._file!r}{options}, budget=budget)"]
        url = f"os.environ[{ENVIRONMENT!r}]"
        opened = {
            POSTGRES: f"psycopg.connect({url})",
            MARIADB: f"sqlalchemy.create_engine(sqlalchemy.make_url({url}).set(drivername='mariadb+pymysql'))",
            "sqlite": f"sqlite3.connect({f'file:{source.path}?mode=ro'!r}, uri=True)",
            "duckdb": f"duckdb.connect({str(source.path)!r}, read_only=True)",
        }[self._database]
        query = f"{whole_table(source.table)!r}, label={source.name!r}"
        return [budget, f"connection = {opened}", f"table = nb.Table.sql(connection, {query}{options}, budget=budget)"]

    @property
    def _file(self) -> str:
        """The path of the file; of an uploaded one, which is gone with the studio, its name."""
        assert self.source.path is not None
        return self.source.path.name if self.source.kind == "upload" else str(self.source.path)

    def _data_words(self) -> list[str]:
        source = self.source
        if source.kind == "database":
            database = _PLACEHOLDER if self._is_url else str(source.path)
            return ["--database", database, "--sql", whole_table(source.table), "--label", source.name]
        words, schema = [self._file], self.layout.schema
        if schema is not None and self._formats:
            return [*words, "--schema", self._schema_file, *self._dialect()]
        words += self._dialect()
        if schema is not None:
            words += [f"--type={name}={rule.type}" for name, rule in schema.columns.items() if rule.type]
            words += [f"--sheet={schema.sheet}"] if schema.sheet else []
            words += [f"--header-row={schema.header_row}"] if schema.header_row is not None else []
        return words

    def _dialect(self) -> list[str]:
        stated = {} if self.layout.csv is None else self.layout.csv.stated
        return [word for name, value in stated.items() for word in _option(name, value)]

    @property
    def _formats(self) -> bool:
        """Whether the schema says how dates are written, which only a file of it can."""
        schema = self.layout.schema
        return schema is not None and any(rule.format for rule in schema.columns.values())

    @property
    def _schema_file(self) -> str:
        return f"{self.source.stem}.schema.json"


_PLACEHOLDER = "NOBOUNDS-DATABASE-URL"


def ask_text(ask: Ask) -> str:
    """A statistic as `Ask.parse` reads it."""
    options = "".join(f", {name}={value}" for name, value in ask.options)
    return f"{ask.name.removesuffix(')')}{options})"


def _code(value: object) -> str:
    """The value of a keyword in Python."""
    if isinstance(value, nb.Schema) and value == nb.Schema(value.columns):
        return repr(value.to_json()["columns"])
    return f"nb.{value!r}" if isinstance(value, nb.Csv | nb.Schema) else repr(value)


def _option(name: str, value: Any) -> list[str]:
    """The value of a keyword of `Csv` on the command line, where a list repeats its option."""
    option = {"missing": "--na"}.get(name, f"--{name.replace('_', '-')}")
    return [f"{option}={_shell(each)}" for each in (value if isinstance(value, tuple) else (value,))]


def _shell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "tab" if value == "\t" else str(value)


def _csv_field(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""')) if any(mark in name for mark in ',"') else name


def _needs_date(key: Any) -> bool:
    return any(type(part).__module__ == "datetime" for part in (key if isinstance(key, tuple) else (key,)))


def _cell(kind: str, lines: list[str]) -> dict[str, Any]:
    text = "\n".join(lines)
    more: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": f"{kind[0]}{len(text)}", "metadata": {}, "source": text, **more}
