"""One measurement in a process of its own: how long a peer takes, what it answers, and how much memory it adds.

    python benchmarks/speed/one.py median nobounds /tmp/values.bin

The file holds float64 values. The result is printed as JSON. numpy.sum and numpy.max, which read memory once, are timed
between the repetitions, so that ratios to them hold on a machine that others use too.
"""

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Action: TypeAlias = Callable[[], Any]
Peer: TypeAlias = Callable[[Any], Action]

SECONDS, MOST = 4.0, 60  # repetitions go on for so long, and are at most so many; of the pass, three times that
BOUNDS = (0.0, 1e6)  # what the private peers are told; nobounds is told nothing
CANDIDATES = np.geomspace(0.01, BOUNDS[1], 2001)  # and OpenDP this


def nobounds(statistic: str, compiled: bool) -> Peer:
    """A release, without numba or with it."""
    nb = load_nobounds(compiled)
    if statistic == "median":
        return lambda data: lambda: nb.quantile(data, 0.5, epsilon=1).value
    function = nb.sum if statistic == "sum" else nb.mean
    return lambda data: lambda: function(data, epsilon=1).value


def counting(ladder: str, compiled: bool) -> Peer:
    """The pass alone: counts on a ladder, nothing private."""
    nb = load_nobounds(compiled)
    rungs = nb.Ladder.float_bits() if ladder == "float-bits" else nb.Ladder.grid(0.01)
    return lambda data: lambda: nb.Histogram.of([data], rungs).total


def load_nobounds(compiled: bool) -> Any:
    """The library; `compiled` decides whether it uses numba, whatever is installed."""
    import nobounds
    import nobounds.counting.compiled

    if compiled:
        import numba  # noqa: F401
    nobounds.counting.compiled.loaded = lambda values: compiled
    return nobounds


def from_polars(data: Any) -> Action:
    """Polars, from a Series made before."""
    import polars

    series = polars.Series(data)
    return lambda: series.quantile(0.5)


def from_duckdb(data: Any) -> Action:
    """DuckDB, from an Arrow table made before."""
    import duckdb
    import pyarrow

    connection = duckdb.connect()
    connection.register("records", pyarrow.table({"x": data}))
    return lambda: connection.execute("select quantile_cont(x, 0.5) from records").fetchone()[0]


def from_diffprivlib(statistic: str) -> Peer:
    """IBM's library, told BOUNDS."""
    from diffprivlib import tools

    function = getattr(tools, statistic)
    return lambda data: lambda: function(data, epsilon=1, bounds=BOUNDS)


def from_opendp(statistic: str) -> Peer:
    """OpenDP, told CANDIDATES for a median, BOUNDS and the number of records for a sum."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()

    def median(scale: float) -> Any:
        return space >> dp.m.then_private_quantile(dp.max_divergence(), CANDIDATES.tolist(), 0.5, scale)

    def peer(data: Any) -> Action:
        def total(scale: float) -> Any:
            clamped = space >> dp.t.then_clamp(BOUNDS)
            return clamped >> dp.t.make_bounded_float_checked_sum(len(data), BOUNDS) >> dp.m.then_laplace(scale)

        release = dp.binary_search_chain(median if statistic == "median" else total, d_in=1, d_out=1.0)
        return lambda: release(data)

    return peer


def from_pydp(statistic: str) -> Peer:
    """PyDP, which wraps Google's library, told BOUNDS."""
    from pydp.algorithms import laplacian

    kind = {"median": laplacian.Median, "sum": laplacian.BoundedSum, "mean": laplacian.BoundedMean}[statistic]
    ends = {"lower_bound": BOUNDS[0], "upper_bound": BOUNDS[1]}
    return lambda data: lambda: kind(epsilon=1, dtype="float", **ends).quick_result(data)


PEERS: dict[str, dict[str, Callable[[], Peer]]] = {
    "median": {
        "numpy.quantile": lambda: lambda data: lambda: np.quantile(data, 0.5),
        "polars": lambda: from_polars,
        "DuckDB": lambda: from_duckdb,
        "nobounds": lambda: nobounds("median", False),
        "nobounds, numba": lambda: nobounds("median", True),
        "diffprivlib": lambda: from_diffprivlib("median"),
        "OpenDP": lambda: from_opendp("median"),
        "PyDP": lambda: from_pydp("median"),
    },
    "sum": {
        "nobounds": lambda: nobounds("sum", False),
        "nobounds, numba": lambda: nobounds("sum", True),
        "diffprivlib": lambda: from_diffprivlib("sum"),
        "OpenDP": lambda: from_opendp("sum"),
        "PyDP": lambda: from_pydp("sum"),
    },
    "mean": {
        "nobounds": lambda: nobounds("mean", False),
        "nobounds, numba": lambda: nobounds("mean", True),
        "diffprivlib": lambda: from_diffprivlib("mean"),
        "PyDP": lambda: from_pydp("mean"),
    },
    "pass": {
        "float-bits": lambda: counting("float-bits", False),
        "float-bits, numba": lambda: counting("float-bits", True),
        "grid of cents": lambda: counting("grid", False),
        "grid of cents, numba": lambda: counting("grid", True),
    },
}


def timed(action: Action) -> tuple[float, float, Any]:
    """Seconds, seconds of the processors, and the answer."""
    start, worked = time.perf_counter(), time.process_time()
    answer = action()
    return time.perf_counter() - start, time.process_time() - worked, answer


def peak() -> int:
    """The most memory that this process has had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def error(statistic: str, data: Any, answer: float) -> float:
    """How far an answer is off: in records for a median, relative for the others."""
    if statistic == "median":
        return abs(int(np.count_nonzero(data < answer)) - len(data) / 2)
    true = data.mean() if statistic == "mean" else data.sum() if statistic == "sum" else len(data)
    return float(abs(answer - true) / true)


def measure(statistic: str, name: str, path: Path) -> dict[str, Any]:
    """All there is to know about one peer on one file."""
    try:
        peer = PEERS[statistic][name]()
    except ImportError as missing:
        return {"missing": f"{type(missing).__name__}: {missing}"}
    data = np.fromfile(path)
    small = data[: 1 << 20] if name.endswith("numba") else data[:1000]
    peer(small)()  # libraries are loaded, kernels compiled
    before = peak()
    action = peer(data)
    own, sums, highest = [], [], []
    start, times = time.perf_counter(), 3 if statistic == "pass" else 1
    while not own or (len(own) < times * MOST and time.perf_counter() - start < times * SECONDS):
        sums.append(timed(data.sum))
        highest.append(timed(data.max))
        own.append(timed(action))
    added = peak() - before
    sums.extend(timed(data.sum) for _ in range(3))
    highest.extend(timed(data.max) for _ in range(3))
    (seconds, worked), (by_sum, sum_worked), (by_max, _) = (
        (min(run[0] for run in runs), min(run[1] for run in runs)) for runs in (own, sums, highest)
    )
    errors = [error(statistic, data, float(answer)) for _, _, answer in own[:15]]
    return {
        "seconds": seconds,
        "sum": by_sum,
        "max": by_max,
        "worked": worked / sum_worked,
        "error": float(np.median(errors)),
        "runs": len(own),
        "memory": added,
    }


def measure_file(path: Path, compiled: bool) -> dict[str, Any]:
    """A median of the column x of a Parquet file, which is read as a stream."""
    nb = load_nobounds(compiled)
    from nobounds.engines.files.columns import read_column

    nb.quantile(np.zeros(1 << 20), 0.5, epsilon=1)
    column = read_column(path, "x")
    next(iter(column.chunks()))  # the reader is loaded
    before = peak()
    seconds, _, release = timed(lambda: nb.quantile(column, 0.5, epsilon=1))
    return {"seconds": seconds, "memory": peak() - before, "value": release.value}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    what, who, where = sys.argv[1:]
    file = Path(where)
    print(json.dumps(measure_file(file, who.endswith("numba")) if what == "file" else measure(what, who, file)))
