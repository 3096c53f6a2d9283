"""The comparison of `make accuracy`: every cell is in the table, another checkout joins, ratios mean what they say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks" / "accuracy"


def run(*options):
    """The command, with no rows on the screen to look at."""
    command = [sys.executable, str(FOLDER / "run.py"), *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def grid(monkeypatch):
    """The module of the folder, as its programs import it."""
    monkeypatch.syspath_prepend(str(FOLDER))
    import grid

    return grid


@pytest.mark.medium
def test_every_cell_is_on_the_page_and_another_checkout_joins(tmp_path):
    """This checkout beside itself has equal errors; a second run reads what this code kept, and nothing else."""
    given = ["--only", "inner", "--n", 50, "--relation", "add-remove", "--families", "normal,ages"]
    given += ["--offsets", "0,-17.3", "--statistics", "q=0.5", "--reps", 4, "--against", ROOT]
    given += ["--results", tmp_path / "kept.jsonl", "--out", tmp_path / "offsets.md"]
    first = run(*given)
    rows = [line for line in (tmp_path / "every_cell.md").read_text().splitlines() if line.startswith("| q=0.5")]
    assert [row.split(" | ")[1:3] for row in rows] == [
        ["normal", "0"],
        ["normal", "-17.3"],
        ["ages", "0"],
        ["ages", "-17.3"],
    ]
    for row in rows:
        ours, before = row.replace("*", "").split(" | ")[6:8]
        assert ours == before
    assert "| before | 4 | 1 | 1 | 0 |" in (tmp_path / "offsets.md").read_text()
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 4
    assert run(*given) == first
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 4
    text = (tmp_path / "kept.jsonl").read_text()
    (tmp_path / "kept.jsonl").write_text(re.sub('"code": "[0-9a-f]+"', '"code": "other"', text))
    run(*given)
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 8


def test_the_grid_has_what_the_comparison_promises(grid):
    """Both relations, offsets of both signs, round and not, up to 1000 spreads, and n epsilon from 30 to 100,000."""
    cells = list(grid.grid(grid.STATISTICS))
    assert len(cells) == len(set(cells))
    for part in ("inner", "tails", "extremes", "mean"):
        here = [cell for cell in cells if cell.part == part]
        assert {cell.relation for cell in here} == {"add-remove", "swap"}
        assert {0.0, 5.0, 17.3, 100.0, 1000.0, -17.0} <= {cell.offset for cell in here}
        assert min(cell.budget for cell in here) <= 50 and max(cell.budget for cell in here) == 100_000
        assert {cell.epsilon for cell in here} == {1.0, 0.1}
    assert len(list(grid.grid(["inner"], quick=True))) < 200


def test_data_at_another_offset_are_the_same_draws(grid):
    """Shifted by the offset, and multiplied by the unit; data with ties stay on their grid."""
    near, far = grid.grid(
        ["inner"], families=["normal"], offsets=[0, 17], sizes=[50], relations=["swap"], statistics=["q=0.5"]
    )
    assert far.data(3) == pytest.approx(near.data(3) + 85, abs=1e-9)
    (tied,) = grid.grid(
        ["inner"], families=["ages"], offsets=[17.3], sizes=[50], relations=["swap"], statistics=["q=0.5"]
    )
    assert (tied.data(0) % 1 == 0).all()
