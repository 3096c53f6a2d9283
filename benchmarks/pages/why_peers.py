"""Private maxima by one library at every looseness of the bound: relative errors as JSON, in a process of its own.

    python benchmarks/pages/why_peers.py diffprivlib

Run k of a library asks about sample k, at each looseness anew; the samples are the same for all libraries. The bound is
the looseness times the true maximum of the sample, so at 1 the bound gives the answer away.
"""

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

N, RUNS, EPSILON = 10_000, 200, 1.0
SLOW_RUNS = 100  # of Tumult, which takes two seconds for a maximum
LOOSENESS = tuple(10.0**k for k in range(7))
CANDIDATES = 1000  # for OpenDP
NEAR = 0.999  # the other question that a library with quantiles may be asked

Answer: TypeAlias = Callable[[Any, float], float]  # data and bound to maximum
Errors: TypeAlias = dict[str, dict[str, list[float]]]  # question, looseness, runs


def sample(run: int) -> Any:
    """Incomes, lognormal(10, 1)."""
    return np.random.default_rng([2026, run]).lognormal(10, 1, N)


def nobounds() -> dict[str, Answer]:
    """nobounds, which is not told the bound; and for comparison, told."""
    import nobounds as nb

    return {
        "maximum, add-remove": lambda data, bound: nb.maximum(data, marks=False, epsilon=EPSILON).value,
        "maximum, swap": lambda data, bound: nb.maximum(data, marks=False, epsilon=EPSILON, neighbors="swap").value,
        "maximum, told the bound": lambda data, bound: (
            nb.maximum(data, marks=False, epsilon=EPSILON, lower=0, upper=bound).value
        ),
    }


def diffprivlib() -> dict[str, Answer]:
    """IBM's library: quantiles between bounds."""
    from diffprivlib import tools

    def asked(q: float) -> Answer:
        return lambda data, bound: tools.quantile(data, q, epsilon=EPSILON, bounds=(0.0, bound))

    return {"quantile 1": asked(1.0), f"quantile {NEAR}": asked(NEAR)}


def opendp() -> dict[str, Answer]:
    """OpenDP: quantiles among candidates, evenly spaced from 0 or in geometric steps from 1."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()

    def asked(q: float, candidates: Callable[[float], Any]) -> Answer:
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
        "even": lambda bound: np.linspace(bound / CANDIDATES, bound, CANDIDATES),
        "geometric": lambda bound: np.geomspace(1.0, bound, CANDIDATES),
    }
    return {f"quantile {q:g}, {name}": asked(q, spacings[name]) for name in spacings for q in (1.0, NEAR)}


def google() -> dict[str, Answer]:
    """Google's library by python-dp: a maximum, and quantiles."""
    from pydp.algorithms import laplacian

    def ends(bound: float) -> dict[str, Any]:
        return {"epsilon": EPSILON, "lower_bound": 0.0, "upper_bound": bound, "dtype": "float"}

    return {
        "Max": lambda data, bound: laplacian.Max(**ends(bound)).quick_result(data.tolist()),
        f"Percentile {NEAR}": lambda data, bound: laplacian.Percentile(percentile=NEAR, **ends(bound)).quick_result(
            data.tolist()
        ),
    }


def spark_session(folder: str) -> Any:
    """A Spark of one process, whose tables are in a folder."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.sql.warehouse.dir", f"{folder}/warehouse")
    spark = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def tumult() -> Errors:
    """Tumult Analytics: a maximum, and quantiles. One query has all runs, as groups with public keys.

    One bound has to do for all groups, so each sample is in units of its maximum; the mechanism does not mind units.
    """
    import pyarrow
    import pyarrow.parquet
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session(folder)
        for run in range(SLOW_RUNS):
            data = sample(run)
            table = pyarrow.table({"run": np.full(N, run), "income": data / data.max()})
            pyarrow.parquet.write_table(table, Path(folder, f"{run:04}.parquet"))
        frame = spark.read.parquet(f"{folder}/*.parquet")
        everything = PureDPBudget(float("inf"))
        session = Session.from_dataframe(everything, "people", frame, protected_change=AddOneRow())
        people = QueryBuilder("people").groupby(KeySet.from_dict({"run": list(range(SLOW_RUNS))}))
        errors: Errors = {"max": {}, f"quantile {NEAR}": {}}
        for loose in sorted(LOOSENESS, key=lambda loose: loose not in (1.0, 1e3, 1e6)):  # the ends and the middle first
            queries = {"max": people.max("income", 0.0, loose, name="x")}
            if loose == 10:  # where it is the better question; elsewhere max is as good
                queries[f"quantile {NEAR}"] = people.quantile("income", NEAR, 0.0, loose, name="x")
            for question, query in queries.items():
                answers = session.evaluate(query, PureDPBudget(EPSILON)).select("x").collect()
                errors[question][f"{loose:g}"] = [abs(row.x - 1) for row in answers]
                print(json.dumps(errors), flush=True)  # the last line counts: what is stopped has not run for nothing
        spark.stop()
    return errors


LIBRARIES = {"nobounds": nobounds, "diffprivlib": diffprivlib, "opendp": opendp, "google": google}


def errors(name: str) -> Errors:
    """The relative errors of a library."""
    if name == "tumult":
        return tumult()
    return {
        question: {f"{loose:g}": list(one(answer, loose)) for loose in LOOSENESS}
        for question, answer in LIBRARIES[name]().items()
    }


def one(answer: Answer, loose: float) -> Iterator[float]:
    """The relative error of each run."""
    for run in range(RUNS):
        data = sample(run)
        yield abs(float(answer(data, loose * data.max())) / data.max() - 1)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(errors(sys.argv[1])))
