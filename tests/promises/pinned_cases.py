"""One seeded release of each kind, by the public names alone.

A rework of the library must leave all of these as they are; `python tests/promises/pinned_cases.py` writes pinned.json
anew, and a change in it belongs in the CHANGELOG.
"""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import nobounds as nb

PINNED = Path(__file__).with_name("pinned.json")

_DRAWN = random.Random(20)  # rounded, so that another machine has the same numbers
AGES = [18 + i % 60 for i in range(6000)]
INCOMES = np.array([round(_DRAWN.lognormvariate(10, 1.2), 2) for _ in range(3000)])
TEMPERATURES = np.array([round(_DRAWN.normalvariate(-5, 12), 1) for _ in range(800)])
HOLED = [None if i % 7 == 0 else float(i % 301) / 4 for i in range(2500)]
FEW = [3.5, 1.25, -8.0, 2.0, 40.0]
COLUMNS: dict[str, Any] = {
    "ages": AGES,
    "incomes": INCOMES,
    "temperatures": TEMPERATURES,
    "holed": HOLED,
    "few": FEW,
    "flags": np.arange(999) % 3 == 0,
    "counts": (np.arange(5000) % 97).astype(np.uint16),
    "nulls": pa.array([None if i % 5 == 0 else i for i in range(1200)]),
}
PEOPLE = {
    "age": AGES,
    "income": np.resize(INCOMES, 6000),
    "name": [f"p{i % 3000}" for i in range(6000)],
    "region": [("north", "south", "east")[i % 3] for i in range(6000)],
}
VECTORS = np.array([[round(_DRAWN.normalvariate(2, 1), 3) for _ in range(4)] for _ in range(3000)])

Case = Callable[[], Any]


def cases() -> Iterator[tuple[str, Case]]:
    """Every case by its name."""
    for column, data in COLUMNS.items():
        yield from _columns(column, data)
    yield from _ranks()
    yield from _tables()
    yield from _streams()
    yield from _others()


def _columns(column: str, data: Any) -> Iterator[tuple[str, Case]]:
    for spent in ({"epsilon": 1}, {"rho": 0.1}):
        for neighbors in ("add-remove", "swap"):
            where = f"{column} {next(iter(spent))} {neighbors}"
            for name, call in _statistics(data):

                def released(call: Any = call, spent: Any = spent, neighbors: str = neighbors) -> Any:
                    return call(neighbors=neighbors, rng=random.Random(7), **spent).to_dict()

                yield f"{name} {where}", released


def _statistics(data: Any) -> Iterator[tuple[str, Any]]:
    yield "median", lambda **options: nb.quantile(data, 0.5, **options)
    yield "tail", lambda **options: nb.quantile(data, 0.95, **options)
    yield "quantiles", lambda **options: nb.quantiles(data, [0.9, 0.1, 0.5], **options)
    for statistic in (nb.maximum, nb.minimum, nb.bounds, nb.sum, nb.mean, nb.count):
        yield statistic.__name__, lambda statistic=statistic, **options: statistic(data, **options)
    yield "describe", lambda **options: nb.describe({"x": data}, **options)


def _ranks() -> Iterator[tuple[str, Case]]:
    """The expert keywords."""
    for method in ("auto", "walk", "flip", "exponential"):
        for noise in ("exponential", "laplace", "gumbel"):
            yield (
                f"quantile {method} {noise}",
                lambda method=method, noise=noise: nb.quantile(
                    INCOMES, 0.3, epsilon=0.5, method=method, noise=noise, rng=random.Random(3)
                ).to_dict(),
            )
    for name, options in {
        "bounded": {"lower": 0, "upper": 10**6},
        "cents": {"resolution": "0.01"},
        "beta": {"beta": 1.1},
        "ladder": {"ladder": nb.Ladder.geometric(2, lower=0)},
        "rows": {"rows": 3000},
    }.items():
        yield (
            f"quantile {name}",
            lambda options=options: nb.quantile(INCOMES, 0.6, epsilon=1, rng=random.Random(4), **options).to_dict(),
        )
    for name, options in {"bounded": {"lower": 0, "upper": 100}, "whole": {"resolution": 1}}.items():
        for statistic in (nb.maximum, nb.sum, nb.mean):
            yield (
                f"{statistic.__name__} {name}",
                lambda statistic=statistic, options=options: statistic(
                    AGES, epsilon=1, rng=random.Random(5), **options
                ).to_dict(),
            )
    for statistic in (nb.vector_sum, nb.vector_mean):
        for spent in ({"rho": 0.1}, {"epsilon": 1, "delta": 1e-6}):
            for neighbors in ("add-remove", "swap"):
                yield (
                    f"{statistic.__name__} {next(iter(spent))} {neighbors}",
                    lambda statistic=statistic, spent=spent, neighbors=neighbors: statistic(
                        VECTORS, neighbors=neighbors, rng=random.Random(6), **spent
                    ).to_dict(),
                )


def _tables() -> Iterator[tuple[str, Case]]:
    units = {"rows": {}, "units": {"unit": "name", "rows_per_unit": 2}}
    for name, unit in units.items():
        table = nb.Table(PEOPLE, **unit)
        calls: dict[str, Any] = {
            "quantile": lambda table, **options: table.quantile("age", 0.5, **options),
            "quantiles": lambda table, **options: table.quantiles("income", [0.2, 0.8], **options),
            "maximum": lambda table, **options: table.maximum("age", **options),
            "minimum": lambda table, **options: table.minimum("income", **options),
            "bounds": lambda table, **options: table.bounds("income", **options),
            "sum": lambda table, **options: table.sum("income", **options),
            "mean": lambda table, **options: table.mean("age", **options),
            "count": lambda table, **options: table.count(**options),
            "count of a column": lambda table, **options: table.count("age", **options),
            "describe": lambda table, **options: table.describe(**options),
        }
        for spent in ({"epsilon": 2}, {"rho": 0.2}):
            for what, call in calls.items():
                yield (
                    f"table {what} {name} {next(iter(spent))}",
                    lambda call=call, table=table, spent=spent: call(table, rng=random.Random(8), **spent).to_dict(),
                )
        for grouped, options in {"public": {"keys": ["north", "west", "east"]}, "unknown": {"delta": 1e-6}}.items():
            groups = table.group_by("region", **options)
            for spent in ({"epsilon": 2}, {"rho": 0.2}):
                if "rho" in spent and grouped == "unknown":
                    continue
                for what, call in calls.items():
                    if what in ("quantiles", "bounds", "describe"):
                        continue
                    yield (
                        f"groups {what} {name} {grouped} {next(iter(spent))}",
                        lambda call=call, groups=groups, spent=spent: call(
                            groups, rng=random.Random(9), **spent
                        ).to_dict(),
                    )
    people = nb.Table(PEOPLE, unit="name", rows_per_unit=2)
    yield (
        "rows per unit",
        lambda: people.suggest_rows_per_unit(epsilon=1, rng=random.Random(10)).to_dict(),
    )
    yield "columns of a table", lambda: people.columns


def _streams() -> Iterator[tuple[str, Case]]:
    values = [float((37 * i) % 101) for i in range(400)]
    for noise in ("exponential", "laplace", "gumbel"):
        yield (
            f"above threshold {noise}",
            lambda noise=noise: nb.AboveThreshold(110, epsilon=0.5, noise=noise, rng=random.Random(11)).first_above(
                values
            ),
        )
    yield (
        "iterative exponential",
        lambda: nb.IterativeExponential(110, epsilon=0.5, rng=random.Random(12)).first_above(values),
    )
    for spent in ({"epsilon": 1}, {"rho": 0.1}, {"epsilon": 1, "delta": 1e-6}):

        def answered(spent: Any = spent) -> Any:
            mechanism = nb.SparseVector(95, hits=5, rng=random.Random(13), **spent)
            return {"answers": list(mechanism.answers(values)), "loss": mechanism.loss.to_dict()}

        yield f"sparse vector {' '.join(spent)}", answered


def _others() -> Iterator[tuple[str, Case]]:
    for statistic in ("quantile", "quantiles", "maximum", "minimum", "bounds", "sum", "mean", "count"):
        q = {"quantile": 0.5, "quantiles": [0.25, 0.75]}.get(statistic)
        yield (
            f"plan {statistic}",
            lambda statistic=statistic, q=q: nb.plan(
                statistic, q=q, n=500, data="lognormal", epsilon=1, quick=True
            ).to_dict(),
        )
    yield "explain a mean", lambda: str(nb.explain(nb.mean(AGES, epsilon=1, rng=random.Random(14))))
    yield "explain a description", lambda: str(nb.explain(nb.describe({"x": AGES}, epsilon=1, rng=random.Random(15))))
    yield "budget", _charged


def _charged() -> Any:
    budget = nb.Budget(epsilon=3)
    people = nb.Table(PEOPLE, unit="name", rows_per_unit=2, budget=budget)
    people.mean("age", epsilon=0.5)
    people.describe(["age", "income"], epsilon=0.5)
    people.count(epsilon=0.1)
    people.group_by("region", keys=["north"]).mean("income", epsilon=0.25)
    people.quantiles("age", [0.5, 0.25], epsilon=0.25)
    people.suggest_rows_per_unit(epsilon=0.125)
    return [[charge.what, charge.loss.to_dict()] for charge in budget.history]


def plain(answer: Any) -> Any:
    """An answer as it comes back from a file."""
    return json.loads(json.dumps(answer))


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}: {json.dumps(case())}" for name, case in cases())
    PINNED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
