"""Every code block of the README runs, and its answers are what it says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def test_the_python_of_the_readme_runs():
    """One block after the other in one namespace; the first answer is about what its comment says."""
    namespace = {}
    for block in blocks("python"):
        exec(block, namespace)
    assert namespace["release"].value == pytest.approx(225_000, rel=0.05)
    assert namespace["release"].loss.epsilon == 1
    assert "hardly ever far above" in TEXT and np.isfinite(namespace["release"].value)


def test_the_commands_of_the_readme_run(tmp_path):
    """The shell examples answer, on files with the names and columns they use."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow.csv import write_csv

    rng = np.random.default_rng(1)
    people = pa.table(
        {
            "income": rng.lognormal(10, 1, 3000),
            "age": rng.integers(18, 90, 3000),
            "user_id": rng.integers(0, 1500, 3000),
            "region": rng.choice(["north", "south"], 3000),
            "shop": rng.choice(["old", "new"], 3000),
        }
    )
    write_csv(people, tmp_path / "people.csv")
    pq.write_table(people, tmp_path / "people.parquet")
    folder = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("nobounds")]
    assert len(commands) == 12
    for command in commands:
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "epsilon" in done.stdout


def test_the_make_targets_of_the_readme_exist():
    """`make help` lists what the README tells to run, and CI runs the README's test command."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in re.findall(r"^make (\w+)", "\n".join(blocks("sh")), re.MULTILINE):
        assert f"make {target}" in listed
    assert "make test" in (ROOT / ".ci" / "run").read_text()
