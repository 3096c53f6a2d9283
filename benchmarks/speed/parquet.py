"""Processor time and memory of a summary of Parquet files beside polars: a section of docs/speed.md.

`python benchmarks/speed/parquet.py --folder /tmp` makes 20 columns of 10^7 rows (1.5 GB) and 4 columns of 10^8 rows
(2.5 GB), measures each call in a process of its own, and deletes the files. `--millions 1 2` makes fewer, to try it.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from verdicts import verdicts

SECTION = "## Parquet files"
ROWS = 10**6  # written at a time
MEMORY, TIMES = 300.0, 4.0  # bars for 20 columns: megabytes, and times polars' describe
CALLS = {
    "nobounds": "import nobounds as nb; call = lambda: nb.Table(path).describe(epsilon=10)",
    "polars, scan_parquet(...).describe()": "import polars; call = lambda: polars.scan_parquet(path).describe()",
    "polars, read_parquet(...).describe()": "import polars; call = lambda: polars.read_parquet(path).describe()",
}
MEASURED = """
import sys, time
from pathlib import Path
path = sys.argv[1]
{call}
start = time.process_time()
call()
# Not ru_maxrss: that of a new process begins with the memory of the process that has started it.
(peak,) = (line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(time.process_time() - start, int(peak) / 1024)
"""


def wide(rng: np.random.Generator) -> dict[str, object]:
    """Rows of 20 columns."""
    return {f"x{k:02d}": rng.lognormal(k % 5, 0.5 + 0.05 * k, ROWS) for k in range(20)}


def tall(rng: np.random.Generator) -> dict[str, object]:
    """Rows of 4 columns, one of whole numbers."""
    age = np.clip(rng.normal(45, 18, ROWS), 0, 110)
    return {
        "income": rng.lognormal(10, 1, ROWS),
        "age": age,
        "visits": rng.poisson(4, ROWS),
        "delay": rng.exponential(30, ROWS),
    }


def written(path: Path, rows: object, parts: int) -> Path:
    """A file of this many parts."""
    rng, writer = np.random.default_rng(1), None
    for _ in range(parts):
        table = pa.table(rows(rng))  # type: ignore[operator]
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()
    return path


def measured(path: Path, call: str) -> tuple[float, float]:
    """Seconds and megabytes of a call in a new process."""
    code = MEASURED.format(call=call)
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    seconds, peak = map(float, done.stdout.split())
    return seconds, peak


def _power(rows: int) -> str:
    """A number of rows, as a power of ten if it is one."""
    text = str(rows)
    return f"10^{len(text) - 1}" if text.strip("0") == "1" else f"{rows:,}"


def section(rows: list[str], wide: dict[str, tuple[float, float]]) -> str:
    """The section of the page; `wide` has what each call took on the file of many columns."""
    ours, peer = wide["nobounds"], min(seconds for name, (seconds, _) in wide.items() if name != "nobounds")
    bars = [
        ("peak of the process, MB", MEMORY, ours[1]),
        ("times the faster describe of polars", TIMES, ours[0] / peer),
    ]
    return (
        f"{SECTION}\n\n"
        "A summary of all columns, each call in a process of its own. polars is exact, and not private. Measured by\n"
        "`python benchmarks/speed/parquet.py --folder /tmp`.\n\n"
        "| | | processor time | peak of the process |\n|---|---|---|---|\n"
        + "".join(rows)
        + f"\n{verdicts('20 columns', bars)}"
    )


def main() -> None:
    """Make the files, measure, print, and write the section."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--millions", type=int, nargs=2, default=(10, 100), help="of rows, in both files")
    parser.add_argument("--page", type=Path, help="the page whose last section this is")
    options = parser.parse_args()
    rows_shown, of_wide = list[str](), dict[str, tuple[float, float]]()
    for columns, rows, parts in ((20, wide, options.millions[0]), (4, tall, options.millions[1])):
        name = f"{columns} columns, {_power(parts * ROWS)} rows"
        path = written(options.folder / "measured.parquet", rows, parts)
        try:
            for who, call in CALLS.items() if rows is wide else [("nobounds", CALLS["nobounds"])]:
                seconds, peak = measured(path, call)
                of_wide |= {who: (seconds, peak)} if rows is wide else {}
                rows_shown.append(f"| {name} | {who} | {seconds:.1f} s | {peak:,.0f} MB |\n")
                print(rows_shown[-1], end="", flush=True)
        finally:
            path.unlink()
    text = section(rows_shown, of_wide)
    print(text)
    if options.page is not None:
        before = options.page.read_text().partition(f"\n{SECTION}\n")[0]
        options.page.write_text(f"{before}\n{text}")


if __name__ == "__main__":
    main()
