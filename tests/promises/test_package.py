"""The installed package holds what users and researchers import, and none of what only developers run."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import nobounds

ROOT = Path(nobounds.__file__).parent
REPOSITORY = Path(__file__).parents[2]
MOST = 14  # modules in a folder, so that it can be taken in at a glance
# What developers run lives in these folders beside src, and has no module of such a name in the package.
BESIDE = ("benchmarks", "stress", "tests", "tools")
DEVELOPERS = ("benchmark", "broken", "mutant", "planted", "power", "soak", "stress", "test")


def misplaced(names: list[str]) -> list[str]:
    """The modules whose name says that they are for developers."""
    return [name for name in names if any(word in part for part in Path(name).parts for word in DEVELOPERS)]


def modules() -> list[str]:
    return [str(path.relative_to(ROOT)) for path in sorted(ROOT.rglob("*.py"))]


@pytest.mark.medium
def test_nothing_for_developers_is_installed():
    """No stress test, planted bug, measurement or test is among the modules of the package."""
    assert len(modules()) > 100
    assert misplaced(modules()) == []


@pytest.mark.parametrize(
    "name", ["auditing/soak_worker.py", "auditing/planted.py", "benchmarks/choices.py", "power.py"]
)
def test_a_module_for_developers_is_noticed(name):
    """The check sees each kind of them."""
    assert misplaced([name, "auditing/audit.py"]) == [name]


def test_the_wheel_is_the_package_alone():
    """It is built from src/nobounds, and no folder beside src is in it."""
    build = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"] == {"packages": ["src/nobounds"]}
    assert not [name for name in BESIDE if (ROOT / name).exists()]


def test_the_package_imports_nothing_beside_it():
    """No module imports from a folder of the repository."""
    beside = re.compile(rf"^\s*(?:import|from) (?:{'|'.join(BESIDE)})\b", re.M)
    assert beside.search("from benchmarks.pages import concepts") and beside.search("    import stress.run")
    assert [name for name in modules() if beside.search((ROOT / name).read_text())] == []


def test_the_audit_has_few_modules_in_a_folder():
    """The folders of the auditor have at most fourteen modules each."""
    folders = {path.parent for path in (ROOT / "auditing").rglob("*.py")}
    assert {folder.name for folder in folders} == {"auditing", "claims", "evidence"}
    assert all(len(list(folder.glob("*.py"))) <= MOST for folder in folders)


def test_the_commands_of_developers_are_targets_of_make():
    """`make soak` and `make planted` exist, and `nobounds` has neither of them."""
    typer = pytest.importorskip("typer")
    from nobounds.cli.app import app

    listed = subprocess.run(["make", "help"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    assert "make soak" in listed and "make planted" in listed
    commands = typer.main.get_command(app).commands
    assert "audit" in commands and "soak" not in commands
    assert "--planted" not in {name for parameter in commands["audit"].params for name in parameter.opts}
