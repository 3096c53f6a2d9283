"""The threat model names tests for each promise: each of them is there, in the file that is named."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODEL = (ROOT / "docs" / "threat_model.md").read_text()
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text() for name in ("audit", "nist_sp_800_226", "review", "release")}
ROWS = re.findall(r"^\| (?!promise|---)(.+?) \| (.+?) \|$", MODEL, flags=re.MULTILINE)
NAMED = sorted(set(re.findall(r"`(tests/[^`]+)`", MODEL + "".join(PAGES.values()))))


@pytest.mark.medium
@pytest.mark.parametrize("named", NAMED)
def test_every_test_that_is_named_is_there(named):
    """A name is that of a file and of a function or method that is a test; a file alone is not enough."""
    file, _, name = named.partition("::")
    found = [node.name for node in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(node, ast.FunctionDef)]
    assert name.startswith("test_") and name in found


def test_every_promise_has_a_test_and_every_attack_a_promise():
    """No row of the table is without a test, and no file of attacks stands behind no promise."""
    assert len(ROWS) >= 14
    assert all(re.fullmatch(r"(`tests/\S+\.py::test_\w+`(, |$))+", tests) for _, tests in ROWS)
    attacks = {f"tests/attacks/{path.name}" for path in Path(__file__).parent.glob("test_*.py")}
    assert attacks - {f"tests/attacks/{Path(__file__).name}"} <= {name.partition("::")[0] for name in NAMED}


def test_every_hazard_is_answered_by_tests_or_by_none():
    """Each row of the worksheet for NIST SP 800-226 names tests, or says that there is none and why it is open."""
    rows = re.findall(r"^\| (?!hazard|---)(.+?) \| (.+?) \| (.+?) \|$", PAGES["nist_sp_800_226"], flags=re.MULTILINE)
    assert len(rows) >= 25
    for hazard, answer, tests in rows:
        if tests == "none":
            assert "**Left to you" in answer or "**Not hidden" in answer, hazard
        else:
            assert re.fullmatch(r"(`tests/\S+\.py::test_\w+`(, |$))+", tests), hazard


def test_the_way_to_report_is_told():
    """SECURITY.md says how to report a hole, and leads to the threat model."""
    text = (ROOT / "SECURITY.md").read_text()
    assert "Report a vulnerability" in text and "docs/threat_model.md" in text
