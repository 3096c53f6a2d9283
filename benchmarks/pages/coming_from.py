"""Run every block of docs/coming_from, those of the other libraries too, and write what was measured.

    python benchmarks/pages/coming_from.py diffprivlib google     # the pages of the libraries that this Python has

The blocks of a page run from the top in one namespace, nobounds' and the other library's. Then both are measured
(`coming_from_errors`), and the table between the marks at the page's end is written anew.
"""

import argparse
import os
import re
import sys
import tempfile
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from coming_from_errors import EPSILON, MEASURED, RUNS, Found
from why_peers import N

PAGES = Path(__file__).parents[2] / "docs" / "coming_from"
PACKAGES = {
    "diffprivlib": ("diffprivlib",),
    "google": ("python-dp",),
    "opendp": ("opendp", "polars"),
    "tumult": ("tmlt.analytics", "pyspark"),
}
FENCE = re.compile(r"^```python(?: peer=(?P<peer>\w+))?\n(?P<code>.*?)^```$", re.M | re.S)
MARKS = "<!-- measured -->\n", "<!-- end measured -->"

FOUND = """All {blocks} blocks of this page ran, with {versions}. Median error over {runs}
of {n:,} lognormal(10, 1) incomes, epsilon {epsilon:g}, relative to the truth:

{table}"""


def run(text: str, peer: str, page: Path) -> tuple[int, int]:
    """Run the blocks of a page; how many are nobounds', and how many the other library's."""
    namespace: dict[str, Any] = {"__name__": "page"}
    ours = theirs = 0
    for fence in FENCE.finditer(text):
        line = text.count("\n", 0, fence.start("code"))
        if fence["peer"] not in (None, peer):
            raise ValueError(f"{page.name}:{line}: a block of {fence['peer']} on the page of {peer}")
        # Padded, so that a traceback has the line of the page.
        exec(compile("\n" * line + fence["code"], str(page), "exec"), namespace)
        ours, theirs = ours + (fence["peer"] is None), theirs + (fence["peer"] is not None)
    return ours, theirs


def table(found: Found) -> str:
    """Median errors, a row a task, a column a setting."""
    tasks = list(dict.fromkeys(task for row in found.values() for task in row))
    rows = [["", *found], ["---"] * (len(found) + 1)]
    rows += [[task, *(_shown(row.get(task)) for row in found.values())] for task in tasks]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _shown(error: float | None) -> str:
    if error is None:
        return ""
    if error >= 1e6:
        return f"{error:.0e} times the truth".replace("e+0", "e").replace("e+", "e")
    return (
        f"{error:,.0f} times the truth"
        if error >= 10
        else f"{100 * error:.2g}%"
        if error < 1
        else f"{100 * error:.0f}%"
    )


def main() -> None:
    """The pages of the libraries that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peer", nargs="+", choices=sorted(PACKAGES))
    parser.add_argument("--run", action="store_true", help="run the blocks only: measure and write nothing")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    for peer in options.peer:
        try:
            versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES[peer])
        except PackageNotFoundError as missing:
            print(f"{peer}: not run, {missing.name} is not installed")
            continue
        page, start, before = PAGES / f"{peer}.md", time.perf_counter(), Path.cwd()
        text = page.read_text()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            ours, theirs = run(text, peer, page)
            os.chdir(before)
        print(f"{peer}: {theirs} blocks of {versions} and {ours} of nobounds ran, {time.perf_counter() - start:.0f} s")
        if options.run:
            continue
        measured = FOUND.format(
            blocks=ours + theirs,
            versions=versions,
            runs=f"{RUNS} samples",
            n=N,
            epsilon=EPSILON,
            table=table(MEASURED[peer]()),
        )
        text = page.read_text()
        page.write_text(text.split(MARKS[0])[0] + MARKS[0] + measured + MARKS[1] + text.split(MARKS[1])[1])
        print(f"{peer}: measured, {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
