"""Processor time of releases beside named peers, for 10^3 to 10^7 records, and of the start: docs/speed.md.

Run with `make bench`, which installs the peers. All take turns in one process, so what else the machine does hits each
of them; the time is that of the processors in all threads, and the least of several turns counts. A ratio is one of
two such times.
"""

import argparse
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from verdicts import verdicts

Action: TypeAlias = Callable[[Any], Any]
Times: TypeAlias = dict[tuple[str, str, int], float]

SIZES = (10**3, 10**5, 10**7)
TURNS = {10**3: 40, 10**5: 8, 10**7: 8}
PATIENCE = 2.0  # seconds that a peer may be expected to take for one answer
BOUNDS = (0.0, 1e6)  # what the private peers are told; nobounds is told nothing
CANDIDATES = np.geomspace(0.01, BOUNDS[1], 2001).tolist()  # and OpenDP this, for a median
DECILES = [k / 10 for k in range(1, 10)]
PACKAGES = ("numpy", "llvmlite", "polars", "duckdb", "diffprivlib", "opendp", "python-dp")
OURS = ("nobounds", "nobounds, compiled")

INTRODUCTION = """# Speed

Made by `make bench`, which installs the peers in a folder of their own. The data are lognormal(3, 0.8) in memory, as
float64. All take turns in one process; times are those of the processors in all threads, the least of several turns.
The machine has {cores} cores and others used it too: the ratios say more than the times. Python {python};
{versions}.

nobounds gets no bounds. The other private libraries need bounds: diffprivlib and PyDP get [0, 10^6], a guess that
fits unknown data; OpenDP chooses a median among 2,001 candidates in geometric steps from 0.01 to 10^6,
and its sums get [0, 10^6] and the number of records. All at epsilon 1; the sums and means of nobounds come with an
interval. numpy and polars are exact, and not private.

## Answers

Milliseconds, and how many times as long as numpy.sum that is. "Slow" was not measured: it would take more than
{patience:.0f} s.

"""
LAST = """
{bars}
Why bars are missed without compiled loops: passes of numpy alone take this many times as long as numpy.sum (`python
benchmarks/speed/numpy_passes.py`): a count by leading bits 6.3 with `np.add.at`, 6.1 with `np.bincount`, and 6.2 by
16-bit words, which have too few bits for the ladder; a copy of the records around a rank 3.4; a count of deviations
7.4; a clipped sum 3.6. A quantile needs a count and a copy (9.7), a mean two counts and a sum (17.3). A copy in the
same pass as the count, of 5% of the records by a guess where the rank will be, takes 10.1 together and saves nothing.
The number of passes is random, so times of single calls differ by a pass.

The peak of memory beside the data, at 10^7 records without compiled loops: {memory}.

From 10^5 to 10^7 records the time of nine deciles grows like n^{deciles:.2f}, and that of a summary of the column like
n^{describe:.2f}.

Not private, beside them: {exact}.

## The pass

What answers start with: counts of the records on a ladder, in numpy alone and in compiled loops, which the extra
`nobounds[fast]` brings. They are used for arrays of more than a million records, once a process has read some 10^7.

| ladder | {powers} |
|---|---|---|---|
{passes}
## The start

Processor time of a new process, and how many times as long as `import numpy` that is. Modules are compiled to bytecode
beforehand, as an installation does.

| | milliseconds | ratio |
|---|---|---|
"""
LIBRARIES = "import of the libraries that the next row uses"
STARTED = """
{bars}
The libraries that the last row imports take {libraries:.1f} by themselves; the rest is some 200 modules of nobounds and
the first plan.
"""
# Bars: times `import numpy`.
STARTS = {"import nobounds": 1.5, "nobounds --help": 2.0, "nobounds quantile of a small CSV file": 3.0}


def nobounds_calls() -> dict[str, Action]:
    """The statistics."""
    import nobounds as nb

    return {
        "median": lambda data: nb.quantile(data, 0.5, epsilon=1),
        "quantile 0.99": lambda data: nb.quantile(data, 0.99, epsilon=1),
        "maximum": lambda data: nb.maximum(data, epsilon=1),
        "sum": lambda data: nb.sum(data, epsilon=1),
        "mean": lambda data: nb.mean(data, epsilon=1),
        "nine deciles": lambda data: nb.quantiles(data, DECILES, epsilon=1),
        "describe": lambda data: nb.describe(data, epsilon=1),
    }


def with_loops(action: Action, compiled: bool) -> Action:
    """A call that uses compiled loops, or does not, whatever is loaded."""
    from nobounds.counting import kernels

    def called(data: Any) -> Any:
        kernels.WORTH = 0 if compiled else 1 << 60
        return action(data)

    return called


def from_opendp(statistic: str) -> Action:
    """OpenDP, told CANDIDATES or BOUNDS and the number of records."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    made: dict[int, Any] = {}

    def release(size: int) -> Any:
        def median(scale: float) -> Any:
            return space >> dp.m.then_private_quantile(dp.max_divergence(), CANDIDATES, 0.5, scale)

        def total(scale: float) -> Any:
            clamped = space >> dp.t.then_clamp(BOUNDS)
            return clamped >> dp.t.make_bounded_float_checked_sum(size, BOUNDS) >> dp.m.then_laplace(scale)

        return dp.binary_search_chain(median if statistic == "median" else total, d_in=1, d_out=1.0)

    def called(data: Any) -> Any:
        if len(data) not in made:
            made[len(data)] = release(len(data))
        return made[len(data)](data)

    return called


def from_pydp(statistic: str) -> Action:
    """PyDP, which wraps Google's library, told BOUNDS."""
    from pydp.algorithms import laplacian

    kind = {"median": laplacian.Median, "sum": laplacian.BoundedSum, "mean": laplacian.BoundedMean}[statistic]
    ends = {"lower_bound": BOUNDS[0], "upper_bound": BOUNDS[1]}
    return lambda data: kind(epsilon=1, dtype="float", **ends).quick_result(data)


def from_diffprivlib(statistic: str) -> Action:
    """IBM's library, told BOUNDS."""
    from diffprivlib import tools

    return lambda data: getattr(tools, statistic)(data, epsilon=1, bounds=BOUNDS)


def from_polars(statistic: str) -> Action:
    """polars, which is exact and not private."""
    import polars

    return lambda data: getattr(polars.Series(data), statistic)()


def from_duckdb(statistic: str) -> Action:
    """DuckDB on an array, likewise."""
    import duckdb

    query = f"select {'avg' if statistic == 'mean' else statistic}(x) from t"

    def called(data: Any) -> Any:
        with duckdb.connect() as connection:
            connection.register("t", {"x": data})
            return connection.execute(query).fetchall()

    return called


def competitors() -> dict[tuple[str, str], Action]:
    """Every call, by statistic and name."""
    import polars

    import nobounds as nb

    found: dict[tuple[str, str], Action] = {("pass", "numpy.sum"): np.sum}
    for statistic, action in nobounds_calls().items():
        for name, compiled in zip(OURS, (False, True), strict=True):
            found[statistic, name] = with_loops(action, compiled)
    for ladder, rungs in {"float-bits": nb.Ladder.float_bits(), "grid of cents": nb.Ladder.grid(0.01)}.items():
        for more, compiled in {"": False, ", compiled": True}.items():
            found["pass", ladder + more] = with_loops(lambda data, on=rungs: nb.Histogram.of([data], on), compiled)
    for statistic in ("median", "sum", "mean"):
        found[statistic, "PyDP"] = from_pydp(statistic)
        found[statistic, "diffprivlib"] = from_diffprivlib(statistic)
        if statistic != "mean":  # OpenDP's mean needs a public number of records
            found[statistic, "OpenDP"] = from_opendp(statistic)
    found["median", "numpy.median"] = np.median
    for statistic in ("median", "sum", "mean"):
        found[statistic, "polars"] = from_polars(statistic)
        found[statistic, "duckdb"] = from_duckdb(statistic)
    found["describe", "polars.describe"] = lambda data: polars.Series(data).describe()
    return found


def measured(calls: dict[tuple[str, str], Action], sizes: tuple[int, ...]) -> Times:
    """The least processor time of each call on each size, in turns."""
    times: Times = {}
    for size in sizes:
        data = np.random.default_rng(0).lognormal(3, 0.8, size)
        there = {key: call for key, call in calls.items() if not _is_slow(times, key, size)}
        for call in there.values():
            call(data)
        for _ in range(TURNS[size]):
            for key, call in there.items():
                start = time.process_time()
                call(data)
                times[*key, size] = min(times.get((*key, size), math.inf), time.process_time() - start)
        print(f"{size:,} records: done", flush=True)
    return times


def _is_slow(times: Times, key: tuple[str, str], size: int) -> bool:
    earlier = [each for each in SIZES if each < size]
    if key[1] in OURS or not earlier:
        return False
    return times.get((*key, earlier[-1]), math.inf) * size / earlier[-1] > PATIENCE


def peaks(size: int) -> dict[str, float]:
    """The peak of memory of each statistic, in megabytes beside the data."""
    data, found = np.random.default_rng(0).lognormal(3, 0.8, size), {}
    for statistic, action in nobounds_calls().items():
        call = with_loops(action, False)
        call(data)
        tracemalloc.start()
        call(data)
        found[statistic] = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    return found


def starts() -> dict[str, float]:
    """The least processor time of new processes, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.csv"
        path.write_text("x\n" + "".join(f"{k * 1.5}\n" for k in range(1000)))
        command = ["-m", "nobounds.cli"]
        asked = ["quantile", str(path), "--header", "yes", "--column", "x", "--q", "0.5", "--epsilon", "1"]
        programs = {
            "import numpy": ["-c", "import numpy"],
            "import nobounds": ["-c", "import nobounds"],
            "import nobounds, and a median": [
                "-c",
                "import nobounds as nb; nb.quantile([k / 7 for k in range(1000)], 0.5, epsilon=1)",
            ],
            "nobounds --help": [*command, "--help"],
            LIBRARIES: [
                "-c",
                "import numpy, pyarrow.compute, typer",
            ],
            "nobounds quantile of a small CSV file": [*command, *asked],
        }
        found = dict.fromkeys(programs, math.inf)
        compiled = os.environ | {"PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled")}  # as installed packages are
        compiled.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(6):
            for name, arguments in programs.items():
                before = _children()
                subprocess.run([sys.executable, *arguments], capture_output=True, check=True, env=compiled)
                found[name] = min(found[name], _children() - before)
    return found


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def page(times: Times, memory: dict[str, float], started: dict[str, float], cores: int) -> str:
    """docs/speed.md, but for its last section."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    text = INTRODUCTION.format(cores=cores, python=platform.python_version(), versions=versions, patience=PATIENCE)
    powers = " | ".join(f"10^{len(str(size)) - 1}" for size in SIZES)
    text += f"| statistic | | {powers} |\n|---|---|---|---|---|\n"
    for statistic, name in dict.fromkeys(key[:2] for key in times):
        if statistic != "pass" and not name.startswith(("numpy", "polars", "duckdb")):
            cells = (_cell(times, statistic, name, size) for size in SIZES)
            text += f"| {statistic} | {name} | {' | '.join(cells)} |\n"
    exact = ", ".join(
        f"{statistic} by {name.removesuffix('.' + statistic)} {_cell(times, statistic, name, 10**7)}"
        for statistic, name in dict.fromkeys(key[:2] for key in times)
        if statistic != "pass" and name.startswith(("numpy", "polars", "duckdb"))
    )
    text += LAST.format(
        bars=bars(times, memory),
        memory=", ".join(f"{name} {peak:.0f} MB" for name, peak in memory.items()),
        deciles=_slope(times, "nine deciles"),
        describe=_slope(times, "describe"),
        exact=f"at 10^7, {exact}",
        powers=powers,
        passes="".join(
            f"| {name} | {' | '.join(_cell(times, 'pass', name, size) for size in SIZES)} |\n"
            for statistic, name in dict.fromkeys(key[:2] for key in times)
            if statistic == "pass" and name != "numpy.sum"
        ),
    )
    base = started["import numpy"]
    text += "".join(f"| {name} | {1e3 * each:.0f} | {each / base:.1f} |\n" for name, each in started.items())
    limits = verdicts("start", ((name, most, started[name] / base) for name, most in STARTS.items()))
    return text + STARTED.format(libraries=started[LIBRARIES] / base, bars=limits)


BARS = {  # at 10^7 records, over numpy.sum: in numpy alone, and in compiled loops
    "median": (9, 6),
    "quantile 0.99": (9, 6),
    "mean": (15, 15),
    "nine deciles": (20, 20),
    "describe": (60, 60),
}
MEMORY, SLOPE = 50.0, 1.05  # megabytes beside the data, and the growth from 10^5 to 10^7


def bars(times: Times, memory: dict[str, float]) -> str:
    """What is aimed at, what was measured, and whether it is met."""
    rows = [
        (
            f"{statistic}, {name}: times numpy.sum",
            most,
            times[statistic, name, 10**7] / times["pass", "numpy.sum", 10**7],
        )
        for statistic, limits in BARS.items()
        for name, most in zip(OURS, limits, strict=True)
    ]
    rows += [("memory beside the data, MB", MEMORY, max(memory.values()))]
    rows += [
        (f"{name}: growth with n, as a power", SLOPE, _slope(times, name)) for name in ("nine deciles", "describe")
    ]
    text = "| at 10^7 records | at most | measured | |\n|---|---|---|---|\n"
    return text + "".join(
        f"| {name} | {most:g} | {measured:.3g} | {'met' if measured <= most else 'missed'} |\n"
        for name, most, measured in rows
    )


def _cell(times: Times, statistic: str, name: str, size: int) -> str:
    found = times.get((statistic, name, size))
    if found is None:
        return "slow"
    ratio = found / times["pass", "numpy.sum", size]
    return f"{f'{1e3 * found:.3g} ms' if found < 1 else f'{found:.3g} s'} ({ratio:,.0f} x)"


def _slope(times: Times, statistic: str) -> float:
    few, many = (times[statistic, OURS[0], size] for size in (10**5, 10**7))
    return math.log(many / few) / math.log(100)


def main() -> None:
    """Measure, then write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[2] / "docs" / "speed.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    started = starts()
    times, memory = measured(competitors(), SIZES), peaks(SIZES[-1])
    options.out.write_text(page(times, memory, started, os.cpu_count() or 1))
    print(options.out.read_text())


if __name__ == "__main__":
    main()
