"""The proofs name their tests and their code, and all of it exists."""

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "proofs").glob("*.md"))
page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)


@cache
def functions_of(name: str) -> frozenset[str]:
    """The names of the test functions of a file, in classes too."""
    tree = ast.parse((ROOT / name).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def resolve(name: str) -> object:
    """A module, or what a dotted name has in it."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def named(text: str, pattern: str) -> list[str]:
    return re.findall(rf"`({pattern})`", text)


@page
def test_a_proof_names_tests_that_exist(path):
    """Every `tests/file.py::test_name` is a test of that file, every `tests/file.py` a file; each page has some."""
    text = path.read_text().replace(".py`<br>`test_", ".py::test_")  # as cells of a table have them
    found = named(text, r"tests/[\w/]+\.py::\w+")
    assert found
    for name in found:
        file, test = name.split("::")
        assert test.startswith("test_") and test in functions_of(file), name
    for name in named(text, r"tests/[\w/]+\.py"):
        assert (ROOT / name).is_file(), name


@page
def test_a_proof_names_code_that_exists(path):
    """Every `nobounds.module.name` can be imported; each page has one or more, in a paragraph that says so."""
    text = path.read_text()
    found = named(text, r"nobounds(?:\.\w+)+")
    assert found and (path.stem == "index" or "In the code: `nobounds." in text)
    for name in found:
        resolve(name)


@page
def test_a_proof_ends_with_its_tests_and_is_listed(path):
    """Each page but the list has a section of tests, and the list links to it."""
    if path.stem != "index":
        assert "\n## Checked by\n" in path.read_text()
        assert f"]({path.name})" in (ROOT / "docs" / "proofs" / "index.md").read_text()


@page
def test_every_formula_can_be_shown(path):
    """All of the LaTeX of a page turns into MathML, with balanced dollars."""
    convert = pytest.importorskip("latex2mathml.converter").convert
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    blocks = re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)
    inline = re.findall(r"\$([^$]+)\$", re.sub(r"\$\$.+?\$\$", "", text, flags=re.DOTALL))
    assert text.count("$") == 4 * len(blocks) + 2 * len(inline)
    for formula in blocks + inline:
        shown = convert(formula)
        assert "<math" in shown and "\\" not in shown, formula  # a command that is not known stays as it is
        assert "\n\n" not in formula and len(formula) < 1000, formula


def test_names_that_do_not_exist_are_noticed():
    """The checks above can fail: a wrong name of a module, of what is in it, or of a test."""
    with pytest.raises(ModuleNotFoundError):
        resolve("nosuchmodule.at_all")
    with pytest.raises(AttributeError):
        resolve("nobounds.accounting.loss.no_such_name")
    assert "test_no_such_test" not in functions_of("tests/promises/test_proofs.py")
