"""Run the tests on each mutant, one after the other, and write which were killed: python tests/mutants/run.py.

Each mutant is made in a temporary copy of src, which is the first place that Python imports from; the checkout is not
touched.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutants.listed import MUTANTS, Mutant
from mutants.operators import mutated

ROOT = Path(__file__).parents[2]
PATIENCE = 120  # seconds; a mutant that hangs is killed


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a mutant, the test that caught it, and how long that took."""

    mutant: Mutant
    verdict: str
    caught_by: str
    seconds: float


def change(mutant: Mutant) -> tuple[str, str, str]:
    """The source of the mutant's file with the change made, and the statement that it changes, before and after."""
    source = (ROOT / "src" / "nobounds" / mutant.file).read_text()
    return mutated(source, mutant.function, mutant.operator)


@contextmanager
def copied(mutant: Mutant | None) -> Iterator[dict[str, str]]:
    """The environment in which a copy of src is imported, with the mutant in it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant is not None:
            (source / "nobounds" / mutant.file).write_text(change(mutant)[0])
        yield os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}


def imported_from(env: dict[str, str]) -> Path:
    """Where nobounds is imported from in that environment."""
    command = [sys.executable, "-c", "import nobounds; print(nobounds.__file__)"]
    return Path(subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip())


def tested(tests: Iterable[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The fast ones of some tests, up to the first that fails."""
    places = [f"tests/{test}" for test in tests]
    options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "--tb=line", "-rfE"]
    command = [sys.executable, "-m", "pytest", *options, *places]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)


def tried(mutant: Mutant) -> Result:
    """Whether the tests kill a mutant: pytest says 1 if a test failed, and anything else is not that."""
    start = time.monotonic()
    with copied(mutant) as env:
        if not imported_from(env).is_relative_to(env["PYTHONPATH"]):
            raise RuntimeError("the mutant is not what is imported")
        try:
            done = tested(mutant.tests.split(), env)
        except subprocess.TimeoutExpired:
            return Result(mutant, "killed", "it hangs", time.monotonic() - start)
    if done.returncode == 5:
        return Result(mutant, "SURVIVED", "none of its tests is a fast one", time.monotonic() - start)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"pytest ended with {done.returncode} on {mutant.file}: {done.stdout[-2000:]}{done.stderr}")
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED ")]
    caught = failed[0].removeprefix("FAILED tests/").partition(" - ")[0].partition("[")[0] if failed else ""
    verdict = "killed" if done.returncode else "equivalent" if mutant.equivalent else "SURVIVED"
    return Result(mutant, verdict, caught or mutant.equivalent, time.monotonic() - start)


def page(results: list[Result]) -> str:
    """The results as Markdown."""
    count = {name: sum(result.verdict == name for result in results) for name in ("killed", "equivalent", "SURVIVED")}
    lines = [
        "# Mutants",
        "",
        "Made by `make mutants`: small wrong changes, made by hand (`tests/mutants/listed.py`), each in a copy of the",
        "source on which the fast tests named with it are run.",
        "",
        f"{len(results)} mutants: {count['killed']} killed, {count['equivalent']} equivalent, "
        f"**{count['SURVIVED']} survived**.",
        "",
        "| function | change | why it matters | verdict | by |",
        "| --- | --- | --- | --- | --- |",
    ]
    for result in results:
        mutant = result.mutant
        place, (_, old, new) = f"{mutant.file} {_code(mutant.function)}", change(mutant)
        made = f"{_code(old)} → {_code(new)}"
        lines.append(f"| {place} | {made} | {mutant.why} | {result.verdict} | {result.caught_by} |")
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    plain = " ".join(text.split()).replace("|", "\\|")
    return f"`{plain}`" if plain else "nothing"


def main() -> None:
    """Try all mutants, or those of some files, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="only the mutants of these files, and no page")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "mutants.md")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if not options.files or mutant.file in options.files]
    results = []
    for mutant in chosen:
        results.append(tried(mutant))
        last, place = results[-1], f"{mutant.file} {mutant.function}"
        print(
            f"{last.verdict:10} {last.seconds:5.1f} s  {place}: {change(mutant)[2][:80]}  {last.caught_by}", flush=True
        )
    if not options.files:
        options.out.write_text(page(results))
    survived = [result for result in results if result.verdict == "SURVIVED"]
    print(f"{len(results)} mutants, {len(survived)} survived")
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
