"""The threat model names a test for each promise: each of the files is there, and has tests."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODEL = (ROOT / "docs" / "threat_model.md").read_text()
ROWS = re.findall(r"^\| (?!promise|---)(.+?) \| (.+?) \|$", MODEL, flags=re.MULTILINE)
FILES = sorted({name for _, tests in ROWS for name in re.findall(r"`(tests/[^`]+)`", tests)})


@pytest.mark.parametrize("name", FILES)
def test_every_file_that_is_named_has_tests(name):
    """A file in the table of promises is in the repository, and has a function or a method that is a test."""
    tree = ast.parse((ROOT / name).read_text())
    assert any(isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in ast.walk(tree))


def test_every_promise_has_a_test_and_every_attack_a_promise():
    """No row of the table is without a test, and no file of attacks stands behind no promise."""
    assert len(ROWS) >= 14
    assert all("`tests/" in tests for _, tests in ROWS)
    attacks = {f"tests/attacks/{path.name}" for path in Path(__file__).parent.glob("test_*.py")}
    assert attacks - {f"tests/attacks/{Path(__file__).name}"} <= set(FILES)


def test_the_way_to_report_is_told():
    """SECURITY.md says how to report a hole, and leads to the threat model."""
    text = (ROOT / "SECURITY.md").read_text()
    assert "Report a vulnerability" in text and "docs/threat_model.md" in text
