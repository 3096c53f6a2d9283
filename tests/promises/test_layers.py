"""The way through the house: which rooms a room imports from; and importing nobounds loads no more than needed."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nobounds

ROOT = Path(nobounds.__file__).parent

# Each room and the rooms that it imports from, no more and no fewer; lowest first. `nobounds` is the public module.
ROOMS = {
    "values": "",
    "exact": "",
    "arrays": "",
    "kinds": "exact",
    "ask": "exact",
    "accounting": "arrays exact",
    "release": "accounting exact kinds",
    "noise": "accounting exact",
    "programs": "accounting noise",
    "ladders": "accounting arrays exact kinds",
    "core": "arrays exact",
    "counting": "arrays core exact ladders",
    "expressions": "ask exact",
    "engines": "accounting arrays counting exact expressions kinds ladders",
    "mechanisms": "accounting arrays core counting exact ladders noise programs",
    "answers": "accounting arrays core counting exact mechanisms noise programs",
    "ranks": "accounting arrays counting exact ladders mechanisms noise programs",
    "groups": "accounting arrays counting exact ladders mechanisms noise programs ranks",
    "clipping": "accounting arrays counting exact ladders mechanisms noise programs ranks",
    "statistics": "accounting answers arrays ask clipping counting engines exact kinds ladders mechanisms noise "
    "programs ranks release",
    "tables": "accounting arrays ask clipping counting engines exact expressions groups kinds ladders "
    "mechanisms noise programs ranks release statistics",
    "pandas": "tables",
    "polars": "tables",
    "plots": "exact kinds mechanisms ranks release",
    "sklearn": "accounting counting engines exact ladders programs ranks statistics",
    "planning": "accounting answers arrays ask clipping counting engines exact groups ladders noise plots ranks "
    "release statistics tables",
    "explaining": "accounting exact kinds planning release",
    "nobounds": "accounting counting engines explaining ladders mechanisms planning release statistics tables",
    "auditing": "nobounds accounting arrays clipping counting engines exact groups ladders "
    "mechanisms noise programs ranks release statistics",
    "research": "nobounds accounting arrays auditing counting engines exact ladders "
    "mechanisms noise plots ranks release statistics",
    "interop": "nobounds accounting arrays ask exact",
    "studio": "nobounds accounting ask engines exact explaining kinds planning plots release",
    "cli": "nobounds accounting ask auditing engines exact explaining expressions kinds planning plots "
    "release research statistics studio tables",
    "__main__": "cli",
}
EVERYWHERE = {"values"}  # how the classes of all rooms are made
ALLOWED = {room: set(names.split()) for room, names in ROOMS.items()}

MODULES = {
    ".".join(["nobounds", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}


def room_of(module: str) -> str:
    """The room of a module: the first name below nobounds, or nobounds itself."""
    return module.split(".")[1] if "." in module else module


def imported(source: str, module: str, *, package: bool = False) -> Iterator[str]:
    """The modules of nobounds that a source imports, anywhere in it, by absolute or relative imports."""
    inside = module.split(".") if package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            while name and name not in MODULES:
                name = name.rpartition(".")[0]
            if name and name != module:
                yield name


IMPORTS = {
    module: set(imported(path.read_text(), module, package=path.name == "__init__.py"))
    for module, path in MODULES.items()
}


def reached(start: str, graph: dict[str, set[str]]) -> set[str]:
    """All that can be reached."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_from_the_rooms_that_are_listed(room: str):
    """The list says what is, so that a new edge is seen by a reader; and what is no longer needed leaves it."""
    there = {room_of(name) for module, names in IMPORTS.items() if room_of(module) == room for name in names}
    assert there - {room} - EVERYWHERE == ALLOWED[room]


def test_every_room_is_listed():
    """A new room gets a row."""
    assert {room_of(module) for module in MODULES} == set(ALLOWED)


def test_data_flow_one_way():
    """No room reaches itself through others, and no module does."""
    assert not [room for room in ALLOWED if room in reached(room, ALLOWED)]
    assert not [module for module in IMPORTS if module in reached(module, IMPORTS)]


def test_engines_draw_no_noise():
    """Whatever reads records cannot reach the random source."""
    assert reached("engines", ALLOWED).isdisjoint({"noise", "mechanisms", "ranks", "clipping", "statistics"})


@pytest.mark.parametrize("room", ["ladders", "programs", "ranks", "clipping", "groups"])
def test_planners_read_no_record(room: str):
    """Plans are made in rooms that cannot reach an engine: what they cost follows from public facts."""
    assert "engines" not in reached(room, ALLOWED)


def test_forecasts_read_public_samples_alone():
    """In planning, only what takes a public sample, and what makes columns of its shape, know an engine."""
    know = {module for module in IMPORTS if any(room_of(name) == "engines" for name in IMPORTS[module])}
    assert {module for module in know if room_of(module) == "planning"} == {
        "nobounds.planning.families",
        "nobounds.planning.forecasters",
    }


@pytest.mark.parametrize("room", ["cli", "studio"])
def test_the_command_line_and_the_studio_call_statistics_only(room: str):
    """They add no noise of their own and plan nothing themselves."""
    below = {"noise", "mechanisms", "ladders", "counting", "ranks", "clipping", "groups", "programs"}
    assert ALLOWED[room].isdisjoint(below)


@pytest.mark.parametrize(
    "source",
    [
        "import nobounds.cli.app",
        "from nobounds.clipping.law import clip_law",
        "from ..clipping.law import clip_law",
        "def f():\n    from nobounds.engines.memory.arrays import column",
    ],
)
def test_an_import_is_seen_however_it_is_written(source: str):
    """At the top or in a function, absolute or relative."""
    rooms = {room_of(name) for name in imported(source, "nobounds.mechanisms.above_threshold")}
    assert rooms & {"cli", "clipping", "engines"}


@pytest.mark.medium
def test_importing_nobounds_loads_no_optional_library():
    """After `import nobounds`, no library that only some users need is loaded."""
    optional = {
        "duckdb",
        "numba",
        "pandas",
        "polars",
        "pyarrow",
        "pyspark",
        "rich",
        "scipy",
        "sklearn",
        "sqlglot",
        "sqlite3",
        "typer",
    }
    code = "import sys, nobounds, nobounds.engines.files.columns; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "numpy" in loaded
    assert optional.isdisjoint(loaded)
