"""The cases of whole releases: each public statistic by the program that releases it, in lockstep on neighbouring data.

An outcome is chosen for each decision, a likely one or the one that tells the most, and what all of them told is
compared with the charge. This is a lower bound of the loss, for every statistic in the form in which users call it.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import nobounds as nb
from nobounds.accounting.loss import Neighbors
from nobounds.auditing.cases import Case, Measure, Worst
from nobounds.auditing.lockstep import Call, Purse, Transcript, lockstep
from nobounds.programs.program import Draw, Driver

SWAP = {"neighbors": "swap"}
MANY = {"rows": 5000}  # stated, so that few records take the routes of many
NUMBERS = np.array([-3.0, 0.0, 0.5, 0.5, 2.0, 7.0, 7.0, 900.0, math.nan])
ADDED = [(NUMBERS, np.delete(NUMBERS, place)) for place in (0, 3, 7, 8)]
MOVED = [
    (NUMBERS, np.where(np.arange(9) == place, to, NUMBERS)) for place, to in ((0, 1e6), (3, math.nan), (7, -900.0))
]
ROWS = np.array([[3.0, 4.0], [-300.0, 400.0], [0.0, 0.0], [math.nan, 1.0], [1.0, -2.0]])
ROWS_ADDED = [(ROWS, np.delete(ROWS, place, axis=0)) for place in (0, 1, 3)]
ROWS_MOVED = [(ROWS, np.concatenate([ROWS[:k], to, ROWS[k + 1 :]])) for k, to in ((0, -ROWS[:1]), (1, ROWS[3:4]))]
PEOPLE = {
    "user": np.array(["a", "a", "a", "b", "b", "c", "d", "e"]),
    "city": np.array(["x", "x", "y", "x", "z", "y", "x", "x"]),
    "value": np.array([1.0, 1e300, -5.0, 3.0, math.nan, 2.0, 2.0, 9.0]),
}
USERS: dict[str, Any] = {"unit": "user", "rows_per_unit": 2}
MEASURES: tuple[Measure, ...] = ("epsilon", "rho")
BY_GROUP = ("quantile", "maximum", "sum", "mean", "count")
PUBLIC, PRIVATE = {"keys": ["x", "y", "nobody"]}, {"delta": 0.01}


def without(user: str) -> tuple[Any, Any]:
    """The table, and the table without one user."""
    return PEOPLE, {name: column[PEOPLE["user"] != user] for name, column in PEOPLE.items()}


def of_column(statistic: Callable[..., Any], *args: Any, **options: Any) -> Call:
    """A call of a function on one column, or on one matrix."""

    def call(data: Any, driver: Driver, budget: Purse) -> Any:
        return statistic(data, *args, rng=driver, budget=budget, **options)

    return call


def of_two(statistic: Callable[..., Any], **options: Any) -> Call:
    """A call of a function on the two columns of a matrix."""

    def call(data: Any, driver: Driver, budget: Purse) -> Any:
        return statistic(data[:, 0], data[:, 1], rng=driver, budget=budget, **options)

    return call


def of_table(name: str, *args: Any, by: dict[str, Any] | None = None, **options: Any) -> Call:
    """A call of a table of users, by groups if there are any."""

    def call(data: Any, driver: Driver, budget: Purse) -> Any:
        table = nb.Table(data, budget=budget, **USERS)
        return getattr(table if by is None else table.group_by("city", **by), name)(*args, rng=driver, **options)

    return call


def of_stream(make: Callable[..., Any], **options: Any) -> Call:
    """The answers to equal queries that a record moves, and to one that it moves the other way."""

    def call(data: Any, driver: Driver, budget: Purse) -> Any:
        mechanism = make(-10, rng=driver, budget=budget, **options)
        positive = int((data >= 0).sum())
        queries = [*[positive] * 12, -positive if not options.get("monotonic") else 0]
        answers = []
        for query in queries * options.get("hits", 1):
            answers.append(mechanism.query(query))
            if not mechanism._open:
                break
        return answers, mechanism.answered, mechanism.loss

    return call


def transcripts(
    call: Call, pair: tuple[Any, Any], rows: int, kinds: Sequence[bool] = (False, True)
) -> Iterator[tuple[bool, Transcript]]:
    """Drawn (False) and worst outcomes, forth and back."""
    for worst, back in product(kinds, (False, True)):
        yield back, lockstep(call, *pair[:: -1 if back else 1], rows=rows, worst=worst)


def seen(
    call: Call, pairs: Sequence[tuple[Any, Any]], rows: int = 1, kinds: Sequence[bool] = (False, True)
) -> Iterator[Worst]:
    """What the transcripts told; runs that differ in anything else have no bounded loss."""
    for pair in pairs:
        oriented, shown = [], (_readable(pair[0]), _readable(pair[1]))
        try:
            for back, transcript in transcripts(call, pair, rows, kinds):
                oriented.append(-transcript.log_ratio if back else transcript.log_ratio)
                values = transcript.seen()
                yield from (Worst(measure, values[measure], shown) for measure in MEASURES if measure in values)
        except Exception as error:  # runs that cannot be compared have no bounded loss
            yield from (Worst(measure, math.inf, shown, str(error)) for measure in (*MEASURES, "range"))
        else:
            yield Worst("range", max(oriented) - min(oriented), shown)


def _readable(data: Any) -> Any:
    """A data set as the table of the audit shows it."""
    if isinstance(data, dict):
        return f"{len(data['user'])} rows of {len(set(data['user']))} users"
    return tuple(row if isinstance(row, float) else tuple(row) for row in data.tolist())


def claims(call: Call, pair: tuple[Any, Any]) -> dict[Measure, float]:
    """What the release charges."""
    purse = Purse()
    try:
        call(pair[0], Draw(random.Random(0).getrandbits), purse)
        (loss, _), *more = purse.charged
    except Exception:  # `seen` says what is wrong
        return {"epsilon": 0.0}
    loss = sum((other for other, _ in more), loss)
    stated: dict[Measure, float] = {"rho": loss.rho} if loss.rho < math.inf else {}
    if not loss.delta and loss.epsilon < math.inf:
        stated |= {"epsilon": loss.epsilon, "range": loss.eta}
    return stated or {"epsilon": loss.epsilon}


def cases() -> Iterator[Case]:
    """Every public statistic."""
    yield from _columns("quantile", nb.quantile, 0.5, marks=False)
    yield from _columns("quantile", nb.quantile, 0.9, **MANY)
    yield from _columns("quantiles", nb.quantiles, [0.25, 0.5, 0.75], **MANY)
    for extreme in (nb.maximum, nb.minimum, nb.bounds):
        yield from _columns(extreme.__name__, extreme, marks=False)
    yield from _columns("median", nb.median, marks=False)
    for statistic in (nb.count, nb.sum, nb.mean, nb.std, nb.variance, nb.describe):
        yield from _columns(statistic.__name__, statistic)
    yield from _columns("iqr", nb.iqr, marks=False)
    yield from _columns("proportion", _above_one)
    for paired in (nb.ratio, nb.weighted_mean, nb.covariance, nb.correlation):
        name = paired.__name__.replace("_", " ")
        yield _case(name, "epsilon 1", "add-remove", of_two(paired, epsilon=1), ROWS_ADDED, quick=True)
        yield _case(name, "epsilon 20", "swap", of_two(paired, epsilon=20, **SWAP), ROWS_MOVED)
    for vectors in (nb.vector_sum, nb.vector_mean):
        name = vectors.__name__.replace("_", " ")
        yield _case(name, "rho 1/2", "add-remove", of_column(vectors, rho=0.5), ROWS_ADDED, quick=True)
        yield _case(name, "rho 1/2", "swap", of_column(vectors, rho=0.5, **SWAP), ROWS_MOVED)
    yield from _bins()
    yield from _values()
    yield from _statements()
    yield from _tables()
    yield from _streams()


def _above_one(data: Any, **options: Any) -> Any:
    """The share of numbers above 1."""
    return nb.proportion(np.ma.masked_array(np.nan_to_num(data) > 1, np.isnan(data)), **options)


def _columns(name: str, statistic: Callable[..., Any], *args: Any, **options: Any) -> Iterator[Case]:
    more = "".join(f", {key} {value}" for key, value in options.items())
    of = f"q {args[0]}, " if args else ""
    for spent in ({"epsilon": 1}, {"epsilon": 20}, {"rho": 0.2}):
        ((amount, number),) = spent.items()
        for neighbors, pairs in (("add-remove", ADDED), ("swap", MOVED)):
            call = of_column(statistic, *args, **spent, **options, neighbors=neighbors)
            quick = number == 1 and neighbors == "add-remove"
            yield _case(name, f"{of}{amount} {number}{more}", neighbors, call, pairs, quick=quick)  # type: ignore[arg-type]


def _bins() -> Iterator[Case]:
    yield from _columns("histogram", nb.histogram, edges=[0, 2, 800])
    yield from _columns("cdf", nb.cdf, points=[0, 2, 800])


def _values() -> Iterator[Case]:
    pairs = [without(user) for user in "ad"]
    for name, args in (("value_counts", ("city",)), ("top_k", ("city", 1)), ("count_distinct", ("city",))):
        options: dict[str, Any] = {} if name == "count_distinct" else PUBLIC
        call = of_table(name, *args, epsilon=1, **options)
        yield _case(f"Table.{name}", "epsilon 1", "add-remove", call, pairs, "user of 2 rows", quick=True)


def of_statement(text: str, **options: Any) -> Call:
    """A call of one SQL statement about a table of users."""

    def call(data: Any, driver: Driver, budget: Purse) -> Any:
        given: dict[str, Any] = {"rng": driver, "budget": budget, **USERS, **options}
        return nb.sql(text, {"people": data}, **given)

    return call


def _statements() -> Iterator[Case]:
    pairs = [without(user) for user in "ad"]
    call = of_statement("select private_count() from people where value > 0", epsilon=1)
    yield _case("sql", "epsilon 1", "add-remove", call, pairs, "user of 2 rows", quick=True)


def _tables() -> Iterator[Case]:
    pairs = [without(user) for user in "ad"]
    arguments: dict[str, tuple[Any, ...]] = {
        "quantile": ("value", 0.5),
        "maximum": ("value",),
        "sum": ("value",),
        "mean": ("value",),
        "median": ("value",),
        "std": ("value",),
        "variance": ("value",),
        "iqr": ("value",),
        "ratio": ("value", "value"),
        "weighted_mean": ("value", "value"),
        "covariance": ("value", "value"),
        "correlation": ("value", "value"),
        "proportion": ("value > 1",),
        "count": ("value",),
    }
    unit = "user of 2 rows"
    for name, args in arguments.items():
        yield _case(
            f"Table.{name}", "epsilon 1", "add-remove", of_table(name, *args, epsilon=1), pairs, unit, quick=True
        )
        for keys, by in (("public", PUBLIC), ("private", PRIVATE)) if name in BY_GROUP else ():
            call = of_table(name, *args, by=by, epsilon=1)
            yield _case(f"{name} by group", f"epsilon 1, {keys} keys", "add-remove", call, pairs, unit, quick=True)


def _streams() -> Iterator[Case]:
    for make, options in (
        (nb.AboveThreshold, {"epsilon": 1}),
        (nb.IterativeExponential, {"epsilon": 1}),
        (nb.SparseVector, {"epsilon": 2, "hits": 2, "method": "iterated"}),
        (nb.SparseVector, {"epsilon": 2, "hits": 2, "method": "classical"}),
    ):
        for monotonic in (True, False):
            setting = ", ".join(f"{key} {value}" for key, value in options.items() if key != "monotonic")
            queries = "monotonic" if monotonic else "general"
            call = of_stream(make, monotonic=monotonic, **options)
            yield _case(make.__name__, f"{setting}, {queries}", "add-remove", call, ADDED[1:2], quick=monotonic)


def _case(
    name: str,
    setting: str,
    neighbors: Neighbors,
    call: Call,
    pairs: Sequence[tuple[Any, Any]],
    unit: str = "row",
    quick: bool = False,
) -> Case:
    differ = 1 if unit == "row" else 2  # rows
    return Case(
        f"{name}, as released",
        setting,
        "all",
        neighbors,
        unit,
        partial(claims, call, pairs[0]),
        partial(seen, call, pairs, differ),
        tight=(),
        quick=quick,
        brief=partial(seen, call, pairs[: max(len(pairs) - 1, 1)], differ, kinds=(True,)),  # worst outcomes alone
    )
