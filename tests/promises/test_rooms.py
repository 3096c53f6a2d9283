"""The tests stand in the rooms of what they test: a file of tests for a module, beside those of its neighbours."""

import ast
from pathlib import Path

import pytest

import nobounds

SOURCE = Path(nobounds.__file__).parent
TESTS = Path(__file__).parents[1]
OTHERS = {"promises", "attacks", "outside", "support", "mutants"}  # what is about more than one room
UNTESTED = {  # modules that the tests of their room reach through others alone; this list may only shrink
    "accounting": "terms",
    "": "arrays",
    "auditing/evidence": "chosen pairs",
    "auditing/claims": "answers choices clips slicing sparse",
    "cli/commands": "audit describe explain studio",
    "cli/commands/research": "paper",
    "cli/commands/sql": "queries",
    "cli": "complete errors flat keys progress",
    "clipping": "averaged interval vectors",
    "counting": "ball",
    "engines/csv": "dialect reading",
    "engines/files": "formats",
    "engines": "loaded",
    "engines/memory": "features sequences vectors",
    "engines/spark": "jobs rows",
    "engines/sql": "text",
    "engines/streams": "share spool",
    "explaining": "accuracy budgets descriptions forecasts limits spent statements words",
    "expressions/statements": "joins",
    "ladders": "facts stated",
    "noise": "additive unique",
    "planning": "errors",
    "ranks/many": "look",
    "research": "answers",
    "research/baselines": "doubling records steps",
    "research/paper": "claims figures",
    "research/paper/experiments": "densities rivals scales sizes",
    "statistics": "searched unanswered",
    "studio": "answer_pages server step_pages views",
    "tables/by_group": "table",
}


def module_of(file: Path, source: Path = SOURCE) -> str:
    """The module that a file of tests names: the one with the longest name that its own begins with."""
    room = source / file.parent
    names = {path.stem for path in room.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    words = file.stem.removeprefix("test_").split("_")
    for cut in range(len(words), 0, -1):
        if (name := "_".join(words[:cut])) in names:
            return (file.parent / name).as_posix()
    raise ValueError(f"tests/{file.as_posix()} names no module of src/nobounds/{file.parent.as_posix()}")


def imports(source: str) -> set[str]:
    """The modules of nobounds that a file imports, as paths below it."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name.removeprefix("nobounds.").replace(".", "/") for name in names if name.startswith("nobounds.")}


FILES = sorted(
    file.relative_to(TESTS) for file in TESTS.rglob("test_*.py") if file.relative_to(TESTS).parts[0] not in OTHERS
)
MODULES = {
    path.relative_to(SOURCE).with_suffix("").as_posix()
    for path in SOURCE.rglob("*.py")
    if not path.stem.startswith("_")
}


def test_every_folder_is_a_room():
    """Each folder of tests has the name and the place of a folder of the source, but for those about several rooms."""
    folders = {path.relative_to(TESTS) for path in TESTS.rglob("*") if path.is_dir() and any(path.glob("*.py"))}
    assert {folder.as_posix() for folder in folders if folder.parts[:1] and folder.parts[0] not in OTHERS} <= {
        path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*") if path.is_dir()
    }
    assert {folder.parts[0] for folder in folders if folder.parts} >= OTHERS


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.as_posix())
def test_a_file_of_tests_names_its_module(file: Path):
    """Its name is that of a module of the same room, with or without an aspect behind it."""
    module_of(file)


@pytest.mark.medium
def test_every_module_has_tests_in_its_room():
    """A file of tests in its room has its name or imports it, but for the modules on the list, and no others."""
    imported = {(file.parts[0], name) for file in FILES for name in imports((TESTS / file).read_text())}
    tested = {module_of(file) for file in FILES} | {name for room, name in imported if name.split("/")[0] == room}
    listed = {f"{room}/{name}".lstrip("/") for room, names in UNTESTED.items() for name in names.split()}
    assert MODULES - tested == listed


def test_a_name_of_no_module_is_noticed(tmp_path):
    """A module is not named by a part of a word, and the longest name counts."""
    for name in ("walk", "walk_up"):
        (tmp_path / f"{name}.py").touch()
    assert module_of(Path("test_walk_up_slowly.py"), tmp_path) == "walk_up"
    assert module_of(Path("test_walk_down.py"), tmp_path) == "walk"
    with pytest.raises(ValueError, match="names no module"):
        module_of(Path("test_walker.py"), tmp_path)
