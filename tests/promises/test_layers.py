"""A module imports only from lower levels, and importing nobounds loads nothing but what its core needs."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nobounds

ROOT = Path(nobounds.__file__).parent

LEVELS = [  # lowest first
    ["exact", "file_lock", "unique"],
    ["store"],
    ["conversions", "queries", "rungs"],
    ["ladder", "loss", "noise", "scan"],
    ["bands", "spending", "sums"],
    ["tally"],
    ["above_threshold", "gaussian", "walk"],  # so the plain loop of Algorithm 1 cannot use the law that it checks
    ["additive", "compiled", "composition", "key_selection", "ledger", "skip_ahead", "sparse_vector"],
    ["budget", "histogram", "law", "release"],
    ["counts", "runs", "scale", "sparse_law"],
    ["exponential_mechanism", "flip", "slices"],
    ["engines"],
    ["route"],
    ["auto"],
    ["question"],
    ["groups"],
    ["halving", "quantile"],
    ["answer_law", "clip", "quantiles", "reference"],
    ["average", "clip_law", "rows"],
    ["clipped", "vectors"],
    ["describe", "grouped_release"],
    ["grouped"],
    ["table"],
    ["plots"],
    ["planning"],
    ["explaining"],
    ["__init__"],
    ["audit", "sklearn"],
    ["trust"],
    ["baselines"],
    ["paper"],
    ["studio"],
    ["cli"],
]
LEVEL = {part: level for level, parts in enumerate(LEVELS) for part in parts}

MODULES = sorted(ROOT.rglob("*.py"))


def part_of(name: str) -> str:
    """The first name below nobounds in a dotted module name; `__init__` for nobounds itself and the names in it."""
    first = name.split(".")[1] if "." in name else "__init__"
    return first if (ROOT / first).is_dir() or (ROOT / f"{first}.py").exists() else "__init__"


def imported_parts(tree: ast.AST, package: list[str]) -> Iterator[str]:
    """The parts of nobounds that a syntax tree imports, anywhere in it, by absolute or relative imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (part_of(name) for name in names if name.split(".")[0] == "nobounds")


def too_high(source: str, path: Path) -> set[str]:
    """The parts that the module at `path` imports although they are not below it."""
    relative = path.relative_to(ROOT)
    own = relative.parts[0].removesuffix(".py")
    package = ["nobounds", *relative.parts[:-1]]
    return {part for part in imported_parts(ast.parse(source), package) if part != own and LEVEL[part] >= LEVEL[own]}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_lower_levels(path: Path):
    """Every module has a level, and all it imports from nobounds has a lower one."""
    assert path.relative_to(ROOT).parts[0].removesuffix(".py") in LEVEL, "add the new module to LEVELS"
    assert too_high(path.read_text(), path) == set()


@pytest.mark.parametrize(
    "source",
    [
        "import nobounds",
        "import nobounds.cli.app",
        "from nobounds import quantile",
        "from nobounds.laws.halting import Law",
        "from . import quantile",
        "from .law import Law",
        "def f():\n    from nobounds.engines.memory.arrays import column",
    ],
)
def test_an_upward_import_is_caught(source: str):
    """The check finds an import from the same or a higher level, however it is written."""
    assert too_high(source, ROOT / "above_threshold.py")


def test_a_relative_import_is_resolved_from_its_package():
    """In engines/, `..ladder` is nobounds.ladders.ladder, which is below, and `..cli` is above."""
    assert not too_high("from ..ladder import Ladder\nfrom .column import Column", ROOT / "engines" / "files.py")
    assert too_high("from ..cli import main", ROOT / "engines" / "files.py") == {"cli"}


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
        "sqlite3",
        "typer",
    }
    code = "import sys, nobounds, nobounds.engines.files.columns; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "numpy" in loaded
    assert optional.isdisjoint(loaded)
