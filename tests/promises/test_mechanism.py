"""docs/mechanism.md lists the chosen numbers as the code has them, and shows two pictures that can be remade."""

import ast
import re
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "mechanism.md"
DERIVED = {"TOP", "SIDES", "HALF_OCTAVES"}  # follow from others, or from the format of numbers


def chosen(path: str) -> dict[str, object]:
    """The public numbers at the top of a module."""
    tree = ast.parse((ROOT / "src" / "nobounds" / path).read_text())
    targets = [t for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign) for t in ast.walk(node)]
    names = {t.id for t in targets if isinstance(t, ast.Name) and isinstance(t.ctx, ast.Store) and t.id.isupper()}
    module = import_module("nobounds." + path.removesuffix(".py").replace("/", "."))
    return {name: getattr(module, name) for name in names if not name.startswith("_") and name not in DERIVED}


def listed() -> dict[str, dict[str, object]]:
    """The table of the page, by module."""
    found: dict[str, dict[str, object]] = {}
    for line in PAGE.read_text().partition("## Chosen numbers")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if module := re.search(r"\*\*.*\*\*, `(.+\.py)`", cells[0]):
            found[module[1]] = {}
        elif names := re.findall(r"`(\w+)`", cells[0]) if line.startswith("|") else []:
            values = map(Fraction, cells[1].split(","))
            [*found.values()][-1].update(zip(names, values, strict=True))
            assert len(cells[2].split()) > 2
    return found


def test_the_page_lists_every_chosen_number():
    """Each name with its value, module by module, and forty at most."""
    table = listed()
    assert "answers/totals.py" in table
    for path, numbers in table.items():
        assert numbers == {name: Fraction(str(value)) for name, value in chosen(path).items()}, path
    assert 25 < sum(map(len, table.values())) <= 40


@pytest.mark.medium
def test_the_pictures_are_those_of_the_program(tmp_path, monkeypatch):
    """Drawn again they are the same bytes, and the page shows both with a description of a sentence."""
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(ROOT / "benchmarks" / "pages")
    import mechanism

    mechanism.main(["--out", str(tmp_path)])
    shown = {name: words for words, name in re.findall(r"!\[([^\]]*)\]\(mechanism/(\w+\.svg)\)", PAGE.read_text())}
    assert {path.name for path in tmp_path.iterdir()} == set(shown)
    for name, words in shown.items():
        assert (tmp_path / name).read_bytes() == (ROOT / "docs" / "mechanism" / name).read_bytes()
        assert len(words.split()) > 10
