"""The pictures of docs/concepts: made by one command, the same bytes each time, all of them shown and described."""

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "concepts"


@pytest.fixture(scope="module")
def concepts():
    """benchmarks/pages/concepts.py as a module."""
    spec = importlib.util.spec_from_file_location("concepts", ROOT / "benchmarks" / "pages" / "concepts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.medium
def test_every_picture_is_made_and_shown(concepts):
    """The command draws exactly the files that are there, and each is on a page, with a description of a sentence."""
    shown = {}
    for page in [*FOLDER.glob("*.md"), ROOT / "docs" / "units.md"]:
        shown |= {
            name: words for words, name in re.findall(r"!\[([^\]]*)\]\((?:concepts/)?(\w+)\.svg\)", page.read_text())
        }
    assert set(shown) == set(concepts.PICTURES) == {path.stem for path in FOLDER.glob("*.svg")}
    assert all(len(words.split()) > 10 for words in shown.values())


@pytest.mark.medium
@pytest.mark.parametrize("name", ["neighbours", "budget"])
def test_a_second_run_changes_no_byte(concepts, name, tmp_path):
    """No date, no random name: two runs write the same file, on a white ground."""
    written = []
    for _ in range(2):
        concepts.main(["--out", str(tmp_path), name])
        written.append((tmp_path / f"{name}.svg").read_bytes())
    assert written[0] == written[1]
    assert b"fill: #ffffff" in written[0] and b"dc:date" not in written[0]
