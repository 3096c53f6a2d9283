"""Time, memory and error of medians, sums and means beside named peers, for 10^5 to 10^8 records: docs/speed.md.

Run with `make bench`, which installs the peers. Every number comes from a process of its own (see `one`), so this
one stays small: the peak of a process is never below that of its parent.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, TypeAlias

from one import PEERS

HERE = Path(__file__).parent
SIZES = [10**5, 10**6, 10**7, 10**8]
PATIENCE = 30.0  # seconds that a peer may take for one answer

Key: TypeAlias = tuple[str, str, int]
Found: TypeAlias = dict[Key, dict[str, Any]]


def run(*arguments: object) -> str:
    """What a program of this folder prints."""
    program, *rest = map(str, arguments)
    done = subprocess.run([sys.executable, str(HERE / program), *rest], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))} failed:\n{done.stderr}")
    return done.stdout


def measured(statistic: str, name: str, size: int, path: Path, before: dict[str, Any] | None) -> dict[str, Any]:
    """One measurement, unless the tenth of it says that it would take too long, or the peer is not there."""
    if before is not None:
        if "missing" in before or "slow" in before:
            return before
        if 10 * before["seconds"] > PATIENCE:
            return {"slow": 10 * before["seconds"]}
    try:
        found: dict[str, Any] = json.loads(run("one.py", statistic, name, path).splitlines()[-1])
    except RuntimeError as problem:
        return {"missing": str(problem).splitlines()[-1]}
    return found


def line(statistic: str, name: str, size: int, found: dict[str, Any]) -> str:
    """One row of the output."""
    start = f"{statistic:<8}{name:<24}{size:>12,}"
    if "missing" in found:
        return f"{start}  not measured: {found['missing']}"
    if "slow" in found:
        return f"{start}  not measured: it would take more than {PATIENCE:.0f} s"
    return (
        f"{start}{1e3 * found['seconds']:>12.2f} ms{found['seconds'] / found['sum']:>10.1f} x numpy.sum"
        f"{found['seconds'] / found['max']:>10.1f} x numpy.max"
        f"{found['worked']:>10.1f} x processor time{found['memory'] / 1e6:>9.0f} MB"
        f"{found['error']:>12.3g} ({found['runs']} runs)"
    )


def all_measured(sizes: list[int], folder: Path) -> Found:
    """Every peer on every size."""
    found: Found = {}
    for size in sizes:
        path = folder / "values.bin"
        run("data.py", size, path)
        for statistic, peers in PEERS.items():
            for name in peers:
                before = found.get((statistic, name, size // 10))
                found[statistic, name, size] = measured(statistic, name, size, path, before)
                print(line(statistic, name, size, found[statistic, name, size]), flush=True)
    return found


def files_measured(size: int, folder: Path) -> dict[str, dict[str, Any]]:
    """A median of a Parquet file, without numba and with it."""
    path = folder / "values.parquet"
    run("data.py", size, path)
    found = {}
    for name in ("nobounds", "nobounds, numba"):
        found[name] = json.loads(run("one.py", "file", name, path).splitlines()[-1])
        seconds, memory = found[name]["seconds"], found[name]["memory"] / 1e6
        print(f"parquet {name:<24}{size:>12,}{seconds:>12.2f} s{memory:>9.0f} MB", flush=True)
    return found


def main() -> None:
    """Measure, then write the page and the picture."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / "docs")
    parser.add_argument("--quick", action="store_true", help="10^5 and 10^6 records only, and no page")
    options = parser.parse_args()
    sizes = SIZES[:2] if options.quick else SIZES
    with tempfile.TemporaryDirectory() as folder:
        found = all_measured(sizes, Path(folder))
        files = files_measured(sizes[-1], Path(folder))
    if not options.quick:
        from page import write_page

        write_page(found, files, options.out)


if __name__ == "__main__":
    main()
