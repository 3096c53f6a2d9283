"""What a command loads before it answers: libraries that take long to import are loaded by those who use them."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"duckdb", "matplotlib", "numba", "pandas", "polars", "pydantic", "pyspark", "scipy", "sklearn", "sqlglot"}
LATER = ("nobounds.auditing", "nobounds.explaining.explain", "nobounds.planning", "nobounds.plots", "nobounds.research")
# Parts that no answer about one column of a file needs.
UNUSED = {
    "flint",
    "rich",
    "sqlite3",
    "nobounds.clipping.plan",
    "nobounds.engines.spark.table",
}
UNUSED |= {"nobounds.groups", "nobounds.statistics.agg", "nobounds.tables.by_group.table", "nobounds.tables.sql.shelf"}
# How many modules a program loads at most: those of nobounds, and all that the interpreter has not loaded by itself.
MOST = {"import nobounds": (1, 45), "nobounds --help": (7, 160), "a quantile of a CSV file": (210, 600)}


def loaded(*words: str) -> set[str]:
    """The modules that a run of the command has loaded at its end."""
    return loaded_by(f"sys.argv = {['nobounds', *words]!r}; from nobounds.cli.__main__ import main; main()")


def loaded_by(program: str) -> set[str]:
    """The modules that a program has loaded at its end, without those that the interpreter starts with."""
    code = "import atexit, sys; old = {*sys.modules}; atexit.register(lambda: print('\\n#', *{*sys.modules} - old)); "
    code += program
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("#")[2].split())


def require_few(modules: set[str], program: str) -> None:
    """No more modules than are listed: each takes about half a millisecond."""
    own, most = MOST[program]
    assert len([name for name in modules if name.partition(".")[0] == "nobounds"]) <= own and len(modules) <= most


@pytest.mark.medium
def test_an_import_loads_a_handful_of_modules():
    """`import nobounds` loads a list of names, and no other module before one of them is used."""
    require_few(loaded_by("import nobounds"), "import nobounds")


@pytest.mark.medium
def test_the_help_loads_neither_numpy_nor_a_command():
    """`nobounds --help` needs the list of commands alone."""
    modules = loaded("--help")
    assert "typer" in modules
    assert (HEAVY | {"numpy", "rich", "pyarrow", "nobounds.cli.options.common"}).isdisjoint(modules)
    assert not [name for name in modules if name.startswith("nobounds.cli.commands")]
    require_few(modules, "nobounds --help")


@pytest.mark.medium
def test_a_quantile_of_a_csv_file_loads_no_library_that_it_does_not_use(tmp_path: Path):
    """pyarrow reads the file; nothing that prints in color, no frame, no database, no audit and no plan is loaded."""
    path = tmp_path / "small.csv"
    path.write_text("x\n" + "".join(f"{k * 1.5}\n" for k in range(1000)))
    modules = loaded("quantile", str(path), "--header", "yes", "--column", "x", "--q", "0.5", "--epsilon", "1")
    assert {"pyarrow", "nobounds.statistics.quantiles"} <= modules
    assert (HEAVY | {"pyarrow.dataset", "pyarrow.parquet"}).isdisjoint(modules)
    assert not [name for name in modules if name.startswith(LATER)]
    assert UNUSED.isdisjoint(modules)
    require_few(modules, "a quantile of a CSV file")


@pytest.mark.medium
def test_few_methods_of_values_are_compiled_before_an_answer():
    """A frozen class compiles a method when it is first used: no more than these are in the modules of a quantile."""
    code = """
import dataclasses, builtins
compiled, made = [0], [0]
run = builtins.exec
def counted(*given):
    compiled[0] += isinstance(given[0], str)  # not the code of a module
    return run(*given)
builtins.exec = counted
kept = dataclasses._process_class
dataclasses._process_class = lambda *given: made.__setitem__(0, made[0] + 1) or kept(*given)
import nobounds.cli.commands.columns
print("|", made[0], compiled[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    classes, methods = map(int, done.stdout.split()[1:])
    assert classes >= 100 and methods <= 2 * classes // 3
