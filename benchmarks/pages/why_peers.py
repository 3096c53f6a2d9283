"""Private sums, quantiles and maxima by one library, for guessed bounds: relative errors as JSON, in its own process.

    python benchmarks/pages/why_peers.py diffprivlib

Run k of a library asks about sample k, for each guess anew; the samples are the same for all libraries. A guess is a
multiple of the true maximum of the sample, so at 1 it is the best guess there is.
"""

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

N, RUNS, EPSILON, LEVEL = 10_000, 200, 1.0, 0.95
GUESSES = tuple(10.0**k for k in range(-2, 5))
CANDIDATES = 1000  # for OpenDP
HIGH = 0.99
NO_GUESS = "none"  # in place of a guess, for a method that takes none

Answer: TypeAlias = Callable[[Any, float], float]  # data and bound to an answer
Methods: TypeAlias = dict[str, dict[str, Answer]]  # by question and name
Errors: TypeAlias = dict[str, dict[str, dict[str, list[float]]]]  # question, method, guess, runs

TRUTH: dict[str, Callable[[Any], float]] = {
    "sum": lambda data: float(data.sum()),
    "99% quantile": lambda data: float(np.quantile(data, HIGH)),
    "maximum": lambda data: float(data.max()),
}


def sample(run: int) -> Any:
    """Incomes, lognormal(10, 1)."""
    return np.random.default_rng([2026, run]).lognormal(10, 1, N)


def diffprivlib() -> Methods:
    """IBM's library."""
    from diffprivlib import tools

    def quantile(q: float) -> Answer:
        def answer(data: Any, bound: float) -> float:
            try:
                return float(tools.quantile(data, q, epsilon=EPSILON, bounds=(0.0, bound)))
            except RuntimeError:  # where many records are beyond the bound
                return np.nan

        return answer

    return {
        "sum": {"sum": lambda data, bound: tools.sum(data, epsilon=EPSILON, bounds=(0.0, bound))},
        "99% quantile": {"quantile": quantile(HIGH)},
        "maximum": {"quantile 1": quantile(1.0)},
    }


def opendp() -> Methods:
    """OpenDP: clamped sums; quantiles among candidates, evenly spaced from 0 or in geometric steps from 1."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()

    def clamped(data: Any, bound: float) -> float:
        summed = space >> dp.t.then_clamp((0.0, bound)) >> dp.t.then_sum()
        scale = dp.binary_search_param(lambda scale: summed >> dp.m.then_laplace(scale), d_in=1, d_out=EPSILON)
        return float((summed >> dp.m.then_laplace(scale))(data.tolist()))

    def quantile(q: float, candidates: Callable[[float], Any]) -> Answer:
        def private(among: Any, scale: float) -> Any:
            return space >> dp.m.then_private_quantile(dp.max_divergence(), among.tolist(), q, scale)

        ends = np.array([0.0, 1.0])  # the scale of the noise does not depend on the candidates, and is looked for once
        scale = dp.binary_search(lambda scale: private(ends, scale).map(1) <= EPSILON, bounds=(1e-3, 1e3))

        def answer(data: Any, bound: float) -> float:
            release = private(candidates(bound), scale)
            assert release.map(1) <= EPSILON
            return float(release(data))

        return answer

    spacings: dict[str, Callable[[float], Any]] = {
        "even candidates": lambda bound: np.linspace(bound / CANDIDATES, bound, CANDIDATES),
        "geometric candidates": lambda bound: np.geomspace(1.0, bound, CANDIDATES),
    }
    return {
        "sum": {"clamped sum": clamped},
        "99% quantile": {name: quantile(HIGH, each) for name, each in spacings.items()},
        "maximum": {name: quantile(1.0, each) for name, each in spacings.items()},
    }


def google() -> Methods:
    """Google's library by python-dp; its sum can choose bounds by itself."""
    from pydp.algorithms import laplacian

    def asked(algorithm: Any, **more: Any) -> Answer:
        return lambda data, bound: algorithm(
            epsilon=EPSILON, lower_bound=0.0, upper_bound=bound, dtype="float", **more
        ).quick_result(data.tolist())

    def automatic(data: Any, bound: float) -> float:
        return float(laplacian.BoundedSum(epsilon=EPSILON, dtype="float").quick_result(data.tolist()))

    return {
        "sum": {"BoundedSum": asked(laplacian.BoundedSum), f"BoundedSum, {NO_GUESS}": automatic},
        "99% quantile": {"Percentile": asked(laplacian.Percentile, percentile=HIGH)},
        "maximum": {"Max": asked(laplacian.Max)},
    }


def spark_session(folder: str) -> Any:
    """A Spark of one process, whose tables are in a folder."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]").config("spark.sql.warehouse.dir", f"{folder}/warehouse")
    spark = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def tumult() -> Errors:
    """Tumult Analytics: sums. One query has all runs, as groups with public keys.

    One bound has to do for all groups, so each sample is in units of its maximum; the mechanism does not mind units.
    """
    import pyarrow
    import pyarrow.parquet
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session(folder)
        truth = []
        for run in range(RUNS):
            data = sample(run) / sample(run).max()
            truth.append(data.sum())
            table = pyarrow.table({"run": np.full(N, run), "income": data})
            pyarrow.parquet.write_table(table, Path(folder, f"{run:04}.parquet"))
        frame = spark.read.parquet(f"{folder}/*.parquet")
        everything = PureDPBudget(float("inf"))
        session = Session.from_dataframe(everything, "people", frame, protected_change=AddOneRow())
        people = QueryBuilder("people").groupby(KeySet.from_dict({"run": list(range(RUNS))}))
        errors: dict[str, list[float]] = {}
        for guess in GUESSES:
            answers = session.evaluate(people.sum("income", 0.0, guess, name="x"), PureDPBudget(EPSILON)).collect()
            errors[f"{guess:g}"] = [abs(row.x / truth[row.run] - 1) for row in answers]
        spark.stop()
    return {"sum": {"sum": errors}}


def nobounds() -> Errors:
    """nobounds, which gets no bound; of sums and quantiles also half the width of the intervals, and which hold."""
    import nobounds as nb

    statistics: dict[str, Callable[[Any], Any]] = {
        "sum": lambda data: nb.sum(data, epsilon=EPSILON),
        "99% quantile": lambda data: nb.quantile(data, HIGH, epsilon=EPSILON, interval=LEVEL, of="sample"),
        "maximum": lambda data: nb.maximum(data, epsilon=EPSILON),
    }
    errors: Errors = {}
    for question, statistic in statistics.items():
        rows: dict[str, list[float]] = {NO_GUESS: [], "half width": [], "holds": []}
        for run in range(RUNS):
            data = sample(run)
            truth, release = TRUTH[question](data), statistic(data)
            rows[NO_GUESS].append(abs(release.value / truth - 1))
            if question != "maximum":
                low, high = release.interval
                rows["half width"].append((high - low) / 2 / truth)
                rows["holds"].append(float(low <= truth <= high))
        errors[question] = {"nobounds": {name: each for name, each in rows.items() if each}}
    return errors


LIBRARIES = {"diffprivlib": diffprivlib, "opendp": opendp, "google": google}


def errors(library: str) -> Errors:
    """The relative errors of a library."""
    if library in ("nobounds", "tumult"):
        return nobounds() if library == "nobounds" else tumult()
    return {
        question: {
            name: {guess: one(question, answer, guess) for guess in guesses(name)} for name, answer in methods.items()
        }
        for question, methods in LIBRARIES[library]().items()
    }


def guesses(method: str) -> list[str]:
    """The guesses that a method is run with, as texts."""
    return [NO_GUESS] if method.endswith(NO_GUESS) else [f"{guess:g}" for guess in GUESSES]


def one(question: str, answer: Answer, guess: str) -> list[float]:
    """The relative error of each run."""
    errors = []
    for run in range(RUNS):
        data = sample(run)
        bound = np.nan if guess == NO_GUESS else float(guess) * data.max()
        errors.append(abs(float(answer(data, bound)) / TRUTH[question](data) - 1))
    return errors


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(errors(sys.argv[1])))
