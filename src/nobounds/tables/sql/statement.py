"""Private statistics by one SQL statement: the public function."""

from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from typing import Any

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Chargeable
from nobounds.ask import Ask
from nobounds.engines.csv.dialect import Csv
from nobounds.engines.source import Progress
from nobounds.exact import Number
from nobounds.expressions.statements.request import Request, request_of
from nobounds.noise.source import Rng
from nobounds.release.answers import Answers
from nobounds.statistics.keywords import Keys
from nobounds.tables.by_group.agg import numbers_of
from nobounds.tables.sql import SOURCE
from nobounds.tables.sql.shelf import Shelf, is_declared
from nobounds.tables.table import Table


def sql(
    statement: str,
    data: Any,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    unit: str | None = None,
    rows_per_unit: int | None = None,
    keys: Keys | None = None,
    delta: Number | None = None,
    groups_per_unit: int | None = None,
    public_tables: Iterable[str] = (),
    rows_of: str = SOURCE,
    folder: str | PathLike[str] | None = None,
    csv: Csv | None = None,
    neighbors: Neighbors = "add-remove",
    budget: Chargeable | None = None,
    label: str | None = None,
    marks: bool = True,
    progress: Progress | None = None,
    rng: Rng = None,
) -> Answers:
    """Private statistics by one SQL statement, for one epsilon that is charged once and split by need.

    statement: a select of private statistics, `private_mean(fare)`, `private_quantile(fare, 0.95)`, `private_count()`
    and so on, from one table, with where and group by. Whatever could make one row of the table more than one row of
    the result is refused with the reason, before anything is charged.
    data: a dict of tables by name, each of them anything that `Table` takes, a connection to DuckDB, PostgreSQL or
    SQLite, or an engine or connection of SQLAlchemy. A database gives the columns of its table, nobounds computes the
    rest, and no part of the statement runs there.
    keys, delta, groups_per_unit: of the groups, as in `Table.group_by`.
    public_tables: tables that hold nothing to be protected; the statement may join them on a key that is unique there.
    rows_of: "result" if one row of a view is what is to be protected, however the view was made; releases then say so.
    folder: where the files are that the statement may name in quotes, `from 'taxis.parquet'`; by default it names none.
    csv: how the text of the CSV files among the tables is to be read, a `Csv`.

    >>> import random
    >>> taxis = {"fare": [5 + i % 30 for i in range(9000)], "borough": ["Bronx", "Queens", "Bronx"] * 3000}
    >>> answers = sql("select borough, private_median(fare) from taxis where fare > 9 group by borough",
    ...               {"taxis": taxis}, epsilon=1, keys=["Bronx", "Queens"], rng=random.Random(1))
    >>> round(answers["median(fare)"]["Bronx"])
    22
    """
    shelf = Shelf(data, public_tables, declared=is_declared(rows_of), folder=folder, csv=csv)
    request = request_of(statement, shelf)
    table = opened(request, shelf, unit, rows_per_unit, neighbors, budget, label, progress)
    options: dict[str, Any] = {"epsilon": epsilon, "rho": rho, "marks": marks, "rng": rng}
    return answered(table, request, keys, delta, groups_per_unit, options)


def answered(
    table: Table,
    request: Request,
    keys: Keys | None,
    delta: Number | None,
    groups_per_unit: int | None,
    options: dict[str, Any],
) -> Answers:
    """The answers of a request about the table that `opened` gives."""
    if not request.by and (keys, delta, groups_per_unit) != (None, None, None):
        raise ValueError("keys, delta and groups_per_unit are for a statement with group by")
    if not request.by:
        return named(table.agg(*request.asks, **options), request)
    groups = table.group_by(*request.by, keys=keys, delta=delta, groups_per_unit=groups_per_unit)
    return named(groups.agg(*request.asks, **options), request)


def opened(
    request: Request,
    shelf: Shelf,
    unit: str | None,
    rows_per_unit: int | None,
    neighbors: Neighbors,
    budget: Chargeable | None,
    label: str | None,
    progress: Progress | None,
) -> Table:
    """The table of a request, with the rows that it is about and the columns that it names."""
    relation = request.relation
    if unit is not None:
        request.check_unit(unit)
    data, own = shelf.open(relation)
    table = Table(
        data,
        unit=unit,
        rows_per_unit=rows_per_unit,
        neighbors=neighbors,
        budget=budget,
        label=label or own,
        progress=progress,
    )
    if relation.condition is not None:
        table = table.where(relation.condition)
    return table.with_columns(**request.formulas) if request.formulas else table


def named(answers: Answers, request: Request) -> Answers:
    """The answers under the names of the statement."""
    names: dict[str, str] = {}
    for ask, written, alias in zip(request.asks, request.written, request.aliases, strict=True):
        names[ask.name] = alias or written.name
        if request.by:
            old, new = numbers_of(ask), numbers_of(written)
            names |= {each.name: _called(other, alias, len(new)) for each, other in zip(old, new, strict=True)}
    own: dict[str, Any] = {"by": request.by_names} if request.by else {}
    releases: dict[str, Any] = {names[name]: replace(release, **own) for name, release in answers.releases.items()}
    split = {names.get(name, name): part for name, part in answers.parameters.get("split", {}).items()}
    return replace(answers, releases=releases, parameters=answers.parameters | ({"split": split} if split else {}))


def _called(number: Ask, alias: str, many: int) -> str:
    """The name of one of the numbers of a statistic."""
    return number.name if not alias else alias if many == 1 else f"{alias} {number.name}"
