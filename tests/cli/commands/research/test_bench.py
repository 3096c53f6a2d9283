"""`nobounds bench accuracy`: a method of others in the table, files, and errors that name what is wrong."""

import json

import pytest
from typer.testing import CliRunner

from nobounds.cli.app import app

FEW = ["bench", "accuracy", "--statistic", "q=0.9", "--family", "normal", "--offset", "0", "--n", "100"]
FEW += ["--repetitions", "3", "--processes", "1"]


@pytest.mark.medium
def test_a_method_joins_the_table(tmp_path):
    """Beside nobounds and its rivals, in the table, the files and the picture."""
    path = tmp_path / "mine.py"
    path.write_text("def guess(data, q, epsilon):\n    return 0.0\n")
    result = CliRunner().invoke(app, [*FEW, "--method", f"{path}:guess", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.stderr
    assert all(name in result.stdout for name in ("nobounds", "mapped", "piecewise Laplace", "guess", "better"))
    assert "| guess |" in (tmp_path / "out" / "accuracy.md").read_text()
    assert (tmp_path / "out" / "accuracy.png").read_bytes()[:4] == b"\x89PNG"
    (line,) = (tmp_path / "out" / "accuracy.jsonl").read_text().splitlines()
    assert len(json.loads(line)["errors"]["guess"]) == 3


@pytest.mark.medium
def test_json_has_one_object_for_each_cell():
    """With the errors of each repetition."""
    result = CliRunner().invoke(app, [*FEW, "--rival", "none", "--json"])
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert list(found["errors"]) == ["nobounds"] and found["cell"]["statistic"] == "q=0.9"


@pytest.mark.medium
@pytest.mark.parametrize(
    ("given", "error"),
    [
        (["--family", "incomes"], "family must be one of"),
        (["--method", "nowhere:f"], "cannot be imported"),
        (["--rival", "EMQ"], "rivals must be of"),
        (["--neighbors", "both"], "neighbors must be one of"),
    ],
)
def test_what_is_wrong_is_named(given, error):
    """With exit status 2, and nothing runs."""
    result = CliRunner().invoke(app, [*FEW, *given])
    assert result.exit_code == 2 and error in result.stderr
