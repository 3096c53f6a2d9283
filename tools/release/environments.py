"""Install a wheel into empty environments and let it answer: one row of a Markdown table for each.

    python tools/release/environments.py dist/nobounds-*.whl --python python3.11 --python python3.12 --extra all

Each interpreter gets an environment for the library alone and for each `--extra`. The size is that of what pip adds to
the environment, with the bytecode that it compiles; seconds are those of the processor.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

LINES = """
import nobounds as nb
release = nb.quantile(range(10_000), 0.9, epsilon=1)
print(release.value)
"""
VERSION = "import platform; print(platform.python_version())"


def main() -> None:
    """Print the table; an environment that does not answer ends it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", action="append", help="an interpreter; may be repeated (default: this one)")
    parser.add_argument("--extra", action="append", default=[], help="an extra of nobounds; may be repeated")
    given = parser.parse_args()
    print("| Python | installed | packages | MB | seconds | 0.9 quantile of 0 to 9,999 |\n|---|---|---|---|---|---|")
    for python in given.python or [sys.executable]:
        for extra in ["", *given.extra]:
            print(row(python, given.wheel.resolve(), extra), flush=True)


def row(python: str, wheel: Path, extra: str) -> str:
    """An environment of its own with the wheel in it, as a row of the table."""
    name = f"nobounds[{extra}]" if extra else "nobounds"
    with tempfile.TemporaryDirectory() as folder:
        before = _seconds()
        output(python, "-m", "venv", folder)
        inside = Path(folder) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        empty = _bytes(Path(folder))
        pip = ("-m", "pip", "--disable-pip-version-check", "--quiet")
        output(inside, *pip, "install", "--only-binary=:all:", f"{wheel}[{extra}]" if extra else str(wheel))
        seconds, added = _seconds() - before, _bytes(Path(folder)) - empty
        packages = len(output(inside, *pip, "freeze").splitlines())
        answer = float(output(inside, "-I", "-c", LINES))
        if not 8_500 < answer < 9_500:
            sys.exit(f"{name} on {python} answers {answer}")
    version = output(python, "-c", VERSION)
    return f"| {version} | `{name}` | {packages} | {added / 1e6:.0f} | {seconds:.0f} | {answer:g} |"


def output(*words: str | Path) -> str:
    """What a command prints; its errors go where ours go."""
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def _bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def _seconds() -> float:
    times = os.times()  # 0 on Windows, which does not count the time of children
    return times.children_user + times.children_system


if __name__ == "__main__":
    main()
