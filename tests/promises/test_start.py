"""What a command loads before it answers: libraries that take long to import are loaded by those who use them."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"duckdb", "matplotlib", "numba", "pandas", "polars", "pydantic", "pyspark", "scipy", "sklearn", "sqlglot"}
LATER = ("nobounds.auditing", "nobounds.explaining.explain", "nobounds.planning", "nobounds.plots", "nobounds.research")
# Parts that no answer about one column of a file needs, and how many modules of nobounds it loads at most.
UNUSED = {
    "sqlite3",
    "rich.progress",
    "nobounds.clipping.plan",
    "nobounds.engines.spark.table",
}
UNUSED |= {"nobounds.groups", "nobounds.statistics.agg", "nobounds.tables.by_group.table", "nobounds.tables.sql.shelf"}
MOST = 210


def loaded(*words: str) -> set[str]:
    """The modules that a run of the command has loaded at its end."""
    code = (
        "import atexit, sys; atexit.register(lambda: print('\\n#', *sys.modules)); "
        f"sys.argv = {['nobounds', *words]!r}; from nobounds.cli.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("#")[2].split())


@pytest.mark.medium
def test_the_help_loads_neither_numpy_nor_a_command():
    """`nobounds --help` needs the list of commands alone."""
    modules = loaded("--help")
    assert "typer" in modules
    assert (HEAVY | {"numpy", "rich", "pyarrow", "nobounds.cli.options.common"}).isdisjoint(modules)
    assert not [name for name in modules if name.startswith("nobounds.cli.commands")]


@pytest.mark.medium
def test_a_quantile_of_a_csv_file_loads_no_library_that_it_does_not_use(tmp_path: Path):
    """pyarrow reads the file, and rich prints the answer; no frame, no database, no audit and no plan is loaded."""
    path = tmp_path / "small.csv"
    path.write_text("x\n" + "".join(f"{k * 1.5}\n" for k in range(1000)))
    modules = loaded("quantile", str(path), "--header", "yes", "--column", "x", "--q", "0.5", "--epsilon", "1")
    assert {"pyarrow", "rich", "nobounds.statistics.quantiles"} <= modules
    assert (HEAVY | {"pyarrow.dataset", "pyarrow.parquet"}).isdisjoint(modules)
    assert not [name for name in modules if name.startswith(LATER)]
    assert UNUSED.isdisjoint(modules)
    assert len([name for name in modules if name.startswith("nobounds.")]) <= MOST
