"""Errors of one library and of nobounds on the same five tasks, told a bound that is 10 or a million times too large.

A setting is a way to tell the library what it must know. An answer is to a task about one sample of `why_peers`; its
error is relative to the true statistic of that sample.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from why_peers import CANDIDATES, sample, spark_session

RUNS, EPSILON = 100, 1.0
TASKS = {"median": 0.5, "99% quantile": 0.99, "maximum": 1.0, "sum": None, "mean": None}
LOOSE = {"bound 10 times the maximum": 1e1, "bound 10^6 times the maximum": 1e6}

Ask: TypeAlias = Callable[[str, Any, float], float]  # task, data and bound to an answer
Found: TypeAlias = dict[str, dict[str, float]]  # setting and task to the median error; without what is not offered


def truth(task: str, data: Any) -> float:
    """What is asked for."""
    q = TASKS[task]
    return float(np.quantile(data, q) if q is not None else data.sum() if task == "sum" else data.mean())


def errors(ask: Ask, loose: float, tasks: tuple[str, ...] = tuple(TASKS)) -> dict[str, float]:
    """The median error in each task."""
    found: dict[str, list[float]] = {task: [] for task in tasks}
    for run in range(RUNS):
        data = sample(run)
        for task in tasks:
            true = truth(task, data)
            found[task].append(abs(ask(task, data, loose * data.max()) / true - 1))
    return {task: float(np.median(each)) for task, each in found.items()}


def nobounds(neighbors: str, tasks: tuple[str, ...] = tuple(TASKS)) -> Found:
    """nobounds, which gets no bound."""
    import nobounds as nb

    def ask(task: str, data: Any, bound: float) -> float:
        options: Any = {"epsilon": EPSILON, "neighbors": neighbors}
        if task in ("sum", "mean"):
            return float((nb.sum if task == "sum" else nb.mean)(data, **options).value)
        q = TASKS[task]
        return float(
            (nb.maximum(data, marks=False, **options) if q == 1 else nb.quantile(data, q, marks=False, **options)).value
        )

    return {"nobounds, no bound": errors(ask, 1.0, tasks)}


def diffprivlib() -> Found:
    """IBM's library."""
    from diffprivlib import tools

    def ask(task: str, data: Any, bound: float) -> float:
        q, options = TASKS[task], {"epsilon": EPSILON, "bounds": (0.0, bound)}
        if q is not None:
            return float(tools.quantile(data, q, **options))
        return float((tools.sum if task == "sum" else tools.mean)(data, **options))

    return {setting: errors(ask, loose) for setting, loose in LOOSE.items()} | nobounds("swap")


def google() -> Found:
    """Google's library by python-dp, with bounds and without."""
    from pydp.algorithms import laplacian

    def ask(task: str, data: Any, bound: float) -> float:
        options: Any = {"epsilon": EPSILON, "dtype": "float"}
        if np.isfinite(bound):
            options |= {"lower_bound": 0.0, "upper_bound": bound}
        if task == "99% quantile":
            return float(laplacian.Percentile(percentile=TASKS[task], **options).quick_result(data.tolist()))
        return float(kinds[task](**options).quick_result(data.tolist()))

    kinds = {
        "median": laplacian.Median,
        "maximum": laplacian.Max,
        "sum": laplacian.BoundedSum,
        "mean": laplacian.BoundedMean,
    }
    found = {setting: errors(ask, loose) for setting, loose in LOOSE.items()}
    found["no bound"] = errors(ask, float("inf"), tuple(kinds))  # `Percentile` needs bounds
    return found | nobounds("add-remove")


def opendp() -> Found:
    """OpenDP. Its quantiles are measured without a data frame: that is the same mechanism, and quicker."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    scales: dict[float, float] = {}
    measurements: dict[tuple[str, int], Any] = {}

    def quantile(q: float, data: Any, candidates: Any) -> float:
        def private(among: Any, scale: float) -> Any:
            return space >> dp.m.then_private_quantile(dp.max_divergence(), among, q, scale)

        if q not in scales:  # it does not depend on the candidates
            ends = [0.0, 1.0]
            scales[q] = dp.binary_search(lambda scale: private(ends, scale).map(1) <= EPSILON, bounds=(1e-3, 1e3))
        return float(private(candidates.tolist(), scales[q])(data))

    def additive(task: str, data: Any, bound: float) -> float:
        unit = float(data.max())  # in units of the maximum all samples have one bound, and one measurement does
        key = task, round(bound / unit)
        if key not in measurements:
            context = dp.Context.compositor(
                data=pl.LazyFrame({"x": data / unit}),
                privacy_unit=dp.unit_of(contributions=1),
                privacy_loss=dp.loss_of(epsilon=EPSILON),
                split_evenly_over=1,
                margins=[dp.polars.Margin(max_length=10**6)],
            )
            x, ends = pl.col("x").fill_nan(0.0).dp, (0.0, float(key[1]))
            measurements[key] = context.query().select(x.sum(ends) if task == "sum" else x.mean(ends)).resolve()
            assert measurements[key].map(1) <= EPSILON
        return float(measurements[key](pl.LazyFrame({"x": data / unit})).collect().item()) * unit

    def even(task: str, data: Any, bound: float) -> float:
        q = TASKS[task]
        return additive(task, data, bound) if q is None else quantile(q, data, np.linspace(0, bound, CANDIDATES))

    def geometric(task: str, data: Any, bound: float) -> float:
        return quantile(TASKS[task] or 0.0, data, np.geomspace(1.0, bound, CANDIDATES))

    found = {setting: errors(even, loose) for setting, loose in LOOSE.items()}
    inner = tuple(task for task, q in TASKS.items() if q is not None)
    found["the same, candidates in geometric steps"] = errors(geometric, 1e6, inner)
    return found | nobounds("add-remove")


def tumult() -> Found:
    """Tumult Analytics: one query has all runs, as groups with public keys, and all samples in units of their maxima.

    Bounds of its own (`get_bounds`) are found for half of epsilon, on the incomes themselves.
    """
    import pyarrow
    import pyarrow.parquet
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

    samples = [sample(run) for run in range(RUNS)]
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session(folder)
        for run, data in enumerate(samples):
            table = pyarrow.table({"run": np.full(len(data), run), "x": data, "share": data / data.max()})
            pyarrow.parquet.write_table(table, Path(folder, f"{run:04}.parquet"))
        frame = spark.read.parquet(f"{folder}/*.parquet")
        session = Session.from_dataframe(PureDPBudget(float("inf")), "people", frame, protected_change=AddOneRow())

        def answers(ask: Callable[[Any], Any], runs: list[int], epsilon: float) -> dict[int, Any]:
            groups = QueryBuilder("people").groupby(KeySet.from_dict({"run": runs}))
            return {row.run: row for row in session.evaluate(ask(groups), PureDPBudget(epsilon)).collect()}

        def asked(task: str, column: str, bound: float) -> Callable[[Any], Any]:
            if task == "sum":
                return lambda groups: groups.sum(column, 0.0, bound, "y")
            return lambda groups: groups.average(column, 0.0, bound, "y")

        everyone, tasks = list(range(RUNS)), ("sum", "mean")  # `why_peers` has its maximum; quantiles take long
        result: Found = {}
        for setting, loose in LOOSE.items():
            result[setting] = {}
            for task in tasks:
                found = answers(asked(task, "share", loose), everyone, EPSILON)
                off = [abs(found[k].y * data.max() / truth(task, data) - 1) for k, data in enumerate(samples)]
                result[setting][task] = float(np.median(off))
        own: dict[str, float] = {}
        for task in tasks:
            first = answers(lambda groups: groups.get_bounds("x"), everyone, EPSILON / 2)
            bounds = {run: float(row.x_upper_bound) for run, row in first.items()}
            off = []
            for bound in sorted(set(bounds.values())):
                runs = [run for run in everyone if bounds[run] == bound]
                found = answers(asked(task, "x", bound), runs, EPSILON / 2)
                off += [abs(found[run].y / truth(task, samples[run]) - 1) for run in runs]
            own[task] = float(np.median(off))
        spark.stop()
    return result | {"bounds by `get_bounds`, half of epsilon": own} | nobounds("add-remove", tasks)


MEASURED = {"diffprivlib": diffprivlib, "google": google, "opendp": opendp, "tumult": tumult}
