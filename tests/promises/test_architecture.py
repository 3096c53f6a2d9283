"""The architecture page says what the code does: its picture, its table of rooms, and the walk of one call."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from nobounds.ranks.tuning import RankTuning

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"

# Print the files of nobounds in the order in which a call first enters them. A frame belongs to the module of its
# globals, because the functions that dataclasses write have no file. A fresh process has nothing in its caches.
TRACE = """
import sys
{block}
modules = dict()

def enter(frame, event, _):
    name = frame.f_globals.get("__name__", "")
    inside = name.partition(".")[0] == "nobounds" and name != "nobounds.values"  # which writes methods of all others
    if event == "call" and inside and frame.f_code.co_name != "<module>":
        modules[name] = None

sys.setprofile(enter)
{call}
sys.setprofile(None)
print(*(sys.modules[name].__file__ for name in modules), sep="\\n")
"""


@pytest.fixture
def architecture(monkeypatch):
    """The maker of the picture."""
    monkeypatch.syspath_prepend(ROOT / "tools" / "pages")
    import architecture

    return architecture


def section(title):
    """A section of the page."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)[1]


def entered():
    """The files that the call on the page enters."""
    *lines, call = re.search(r"```python\n(.*?)```", section("A walk"), re.S)[1].strip().splitlines()
    assert "nb.quantile" in call
    seeded = call.removesuffix(")") + ", rng=random.Random(1))"  # the order of files can depend on what is drawn
    code = TRACE.format(block="\n".join([*lines, "import random", "nb.quantile  # loads it"]), call=seeded)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    package = ROOT / "src" / "nobounds"
    return [str(Path(line).relative_to(package)) for line in done.stdout.splitlines()]


@pytest.mark.medium
def test_the_picture_is_what_the_imports_give(architecture):
    """If this fails, run `make architecture` and look at the picture."""
    assert architecture.picture() == architecture.PICTURE.read_text()


@pytest.mark.medium
def test_every_room_has_a_row_and_every_row_a_room(architecture):
    """The table has the boxes of the picture."""
    rows = re.findall(r"^\| `([\w.]+)` \| .+ \|$", section("The rooms"), re.M)
    rooms = set(architecture.imports())
    assert {row.removesuffix(".py") for row in rows} == rooms and len(rows) == len(rooms)
    assert set(architecture.CAPTIONS) <= rooms, "a caption of a room that is gone"


@pytest.mark.medium
def test_the_walk_is_the_one_that_a_call_takes():
    """The numbered list has the files that the call enters, each once, in the order of the first entry."""
    steps = re.findall(r"^\d\. .*?(?=^\d\. |^$)", section("A walk"), re.M | re.S)
    listed = [file for step in steps for file in re.findall(r"`([\w/]+\.py)`", step)]
    traced = entered()
    assert listed == traced, "the call enters:\n" + "\n".join(traced)


def test_arrows_that_follow_from_others_are_left_out(architecture):
    """Of a -> b -> c and a -> c the last is not drawn; a room stands above all that it imports."""
    graph = {"a": {"b": 1, "c": 1}, "b": {"c": 1}, "c": {}}
    edges = architecture.reduced(graph)
    assert edges == [("a", "b"), ("b", "c")]
    assert architecture.levels(edges, list(graph)) == {"a": 2, "b": 1, "c": 0}


def test_the_lightest_arrow_of_a_cycle_goes_against_the_levels(architecture):
    """One import from below is drawn as an exception, and the others keep their direction."""
    graph = {"low": {"high": 1}, "high": {"low": 5, "lowest": 2}, "lowest": {}}
    assert architecture.without_cycles(graph)[1] == [("low", "high")]


def test_imports_of_every_kind_are_seen(architecture, tmp_path):
    """Absolute, relative, inside of functions, and of public names; other libraries are not rooms."""
    package = tmp_path / "nobounds"
    for room in ("low", "mid"):
        (package / room).mkdir(parents=True)
        (package / room / "__init__.py").touch()
    (package / "__init__.py").write_text("from nobounds.mid.one import f\n")
    (package / "mid" / "one.py").write_text(
        "from ..low import two\nimport numpy\ndef f():\n    import nobounds.low.two\n"
    )
    (package / "top.py").write_text("from nobounds import f\nimport nobounds\n")
    assert architecture.imports(package) == {
        "__init__": {"mid": 1},
        "low": {},
        "mid": {"low": 2},
        "top": {"__init__": 2},
    }


RECORDS = sorted(path for path in (ROOT / "docs" / "decisions").glob("*.md") if path.stem != "index")


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_decision_is_short_and_names_files_that_exist(path):
    """Context, decision, consequences in 10 to 25 lines, in the index, with no file that is gone."""
    text = path.read_text()
    title = re.match(r"# (.+)\n", text)[1]
    assert re.findall(r"^## (.+)$", text, re.M) == ["Context", "Decision", "Consequences"]
    assert 10 <= len(text.splitlines()) <= 25
    assert f"[{title}]({path.name})" in (path.parent / "index.md").read_text()
    for file in re.findall(r"`(?:python )?([\w/]+\.py)(?: [\w ]+)?`", text):
        places = [ROOT, ROOT / "src" / "nobounds"]
        assert any((place / file).is_file() for place in places) or list((ROOT / "tests").rglob(file)), file


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_the_measurements_of_a_decision_can_be_made_again(path):
    """Each target of make, and each constant that benchmarks/tuning/choices.py is to vary, is there."""
    text = path.read_text()
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`make (\w+)`", text):
        assert re.search(rf"^{target}:", makefile, re.M), target
    for name in re.findall(r"`python benchmarks/tuning/choices\.py (\w+)", text):
        assert name in {field.name for field in fields(RankTuning)}
