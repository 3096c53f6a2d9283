"""docs/speed.md and docs/speed.png: the measurements of `peers`, as tables and a picture."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from one import PEERS
from peers import PATIENCE, SIZES, Found

from nobounds.plots import COLORS

PACKAGES = ("numpy", "numba", "polars", "duckdb", "diffprivlib", "opendp", "python-dp")
EXACT = {"numpy.quantile", "polars", "DuckDB"}

INTRODUCTION = """# Speed

Made by `make bench`, which installs the peers in a folder of their own. The data are lognormal(3, 0.8) in memory, as
float64. Each number is the best of up to 60 repetitions in 4 seconds, in a process of its own; the machine has {cores}
cores and others used it too, so ratios are to numpy.sum in the same process: it reads the data once, as fast as the
memory allows. Python {python};
{versions}.

![time of a private median against the number of records, for nobounds and peers](speed.png)

nobounds is told nothing. The other private libraries need bounds: diffprivlib and PyDP are told [0, 10^6], as
somebody might who does not know the data; OpenDP chooses among 2,001 candidates in geometric steps from 0.01 to 10^6,
and its sums are told [0, 10^6] and that there are no more records than there are. All at epsilon 1. numpy, polars and
DuckDB, dashed and grey in the picture, are exact, and not private.
"""
NOTES = {
    "median": """## Median

The time, and how many times that of numpy.sum it is. The last columns are the error, in records, and the memory that is
needed beside the data. "Over 30 s" was not measured: ten times the time before it is more than that.
""",
    "sum": """## Sum

The error is relative; with loose bounds it is mostly noise. nobounds reads the data three times: to count them, to find
where to clip, and to add them up.
""",
    "mean": """## Mean

OpenDP's mean needs a public number of records, and is left out.
""",
    "pass": """## The pass

What nobounds' answers start with: counts of the records on a ladder, in numpy alone and with numba, which is used for
arrays of more than a million records when it is loaded already, or when a process has counted 10^8. The second ratio is
of processor time, in all threads together: what else the machine did changes it less. Best of up to 180 repetitions.
""",
}
FILE = """## A file that is read as a stream

A median of {size} rows of a Parquet file with row groups of 2^20, as
`nobounds.quantile(read_column("values.parquet", "x"), 0.5, epsilon=1)`. The file is read twice.

| | time | memory added |
|---|---|---|
"""


def write_page(found: Found, files: dict[str, dict[str, Any]], out: Path) -> None:
    """The page and its picture."""
    text = INTRODUCTION.format(cores=os.cpu_count(), python=platform.python_version(), versions=_versions())
    for statistic, note in NOTES.items():
        text += f"\n{note}\n{_table(found, statistic)}"
    text += "\n" + FILE.format(size=_power(SIZES[-1]))
    for name, row in files.items():
        text += f"| {name} | {row['seconds']:.1f} s | {row['memory'] / 1e6:.0f} MB |\n"
    (out / "speed.md").write_text(text)
    picture(found).savefig(out / "speed.png", metadata={"Software": None})


def _versions() -> str:
    return ", ".join(f"{name} {_version(name)}" for name in PACKAGES)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(does not install here)"


def _power(size: int) -> str:
    return f"10^{len(str(size)) - 1}"


def _table(found: Found, statistic: str) -> str:
    last = SIZES[-2]
    ends = [f"error, {_power(last)}", f"memory, {_power(last)}"] if statistic != "pass" else [f"memory, {_power(last)}"]
    head = ["", *(_power(size) for size in SIZES), *ends]
    rows = [head, ["---"] * len(head)]
    for name in PEERS[statistic]:
        cells = [_cell(found[statistic, name, size], statistic == "pass") for size in SIZES]
        one = found[statistic, name, last]
        if "seconds" not in one:
            tail = ["" for _ in ends]
        else:
            tail = [f"{one['memory'] / 1e6:.0f} MB"]
            tail = tail if statistic == "pass" else [_error(statistic, name, one["error"]), *tail]
        rows.append([name, *cells, *tail])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(one: dict[str, Any], with_work: bool) -> str:
    if "missing" in one:
        return "does not run here"
    if "slow" in one:
        return f"over {PATIENCE:.0f} s"
    seconds = one["seconds"]
    shown = f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
    ratios = [seconds / one["sum"], *([one["worked"]] if with_work else [])]
    return f"{shown} ({', '.join(f'{x:.1f} x' if x < 10 else f'{x:,.0f} x' for x in ratios)})"


def _error(statistic: str, name: str, error: float) -> str:
    if statistic != "median":
        return f"{100 * error:.2g} %"
    return "exact" if name in EXACT else f"{error:,.0f}"


def picture(found: Found) -> Figure:
    """Seconds for a median against the number of records, both in powers of ten, a line a peer."""
    figure = Figure(figsize=(10, 6.4), dpi=100, layout="constrained")
    axes = figure.subplots()
    lines = {}
    for name in PEERS["median"]:
        points = [(size, found["median", name, size]) for size in SIZES]
        lines[name] = [(size, one["seconds"]) for size, one in points if "seconds" in one]
    lines["numpy.sum"] = [(size, found["pass", "float-bits", size]["sum"]) for size in SIZES]
    colors = {name: COLORS[k % len(COLORS)] for k, name in enumerate(name for name in lines if _private(name))}
    for name, line in lines.items():
        if line:
            style: dict[str, Any] = {"linewidth": 1.8, "color": "#777777", "linestyle": "--"}
            if _private(name):
                style = {"linewidth": 3 if "nobounds" in name else 1.8, "color": colors[name], "marker": "o"}
            axes.plot(*zip(*line, strict=True), **style)
    _label_ends(axes, lines, colors)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(SIZES)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(SIZES[0] / 1.3, SIZES[-1] * 7)
    axes.set_xlabel("records", fontsize=13)
    axes.set_ylabel("seconds for a median", fontsize=13)
    axes.tick_params(labelsize=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#dddddd", linewidth=0.8)
    return figure


def _private(name: str) -> bool:
    return name not in EXACT and name != "numpy.sum"


def _label_ends(axes: Any, lines: dict[str, list[tuple[int, float]]], colors: dict[str, str]) -> None:
    """A name at the right of every line, moved up where two would overlap."""
    ends = sorted((line[-1][1], line[-1][0], name) for name, line in lines.items() if line)
    least = 0.0
    for seconds, size, name in ends:
        at = seconds
        if size == SIZES[-1]:  # those at the right edge make room for each other
            at, least = max(seconds, least), max(seconds, least) * 1.6
        options = {"va": "center", "fontsize": 12, "color": colors.get(name, "#555555")}
        axes.annotate(name, (size, at), xytext=(9, 0), textcoords="offset points", **options)
