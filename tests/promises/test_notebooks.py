"""The example notebooks run from top to bottom, and are stored with what a run has shown.

`python tests/promises/test_notebooks.py` runs them all and stores what they show; with names, only those.
"""

import os
import re
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
NAMES = ("pandas", "polars", "duckdb", "sql", "postgres", "sqlalchemy", "spark", "paper")
MOST = {"paper": 60}  # cells; others are short
WITHOUT = [
    reason
    for missing, reason in (
        (find_spec("pyspark") is None, "pyspark is not installed: pip install 'nobounds[spark]'"),
        (shutil.which("java") is None, "Spark needs Java, and there is no java"),
    )
    if missing
]


def stored(name):
    import nbformat

    return nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)


def executed(name, folder):
    """The notebook after a run in a folder; CellExecutionError if a cell raises."""
    from nbclient import NotebookClient

    book = stored(name)
    environment = {
        "IPYTHONDIR": str(folder / ".ipython"),
        "PYSPARK_PYTHON": sys.executable,
        # Java spends most of so short a session on compiling; the quick compiler halves the time.
        "PYSPARK_SUBMIT_ARGS": "--driver-java-options '-XX:+UseSerialGC -XX:TieredStopAtLevel=1' pyspark-shell",
        "PYTHONWARNINGS": "ignore:PySpark does not yet fully support pandas:FutureWarning",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    client = NotebookClient(
        book,
        kernel_name="python3",
        timeout=300,
        coalesce_streams=True,
        extra_arguments=["--IPKernelApp.capture_fd_output=False"],  # the log of Spark is not part of the story
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(env=os.environ | environment)
    return book


def code(book):
    return [cell for cell in book.cells if cell.cell_type == "code"]


def texts(cell):
    """The outputs of a cell that can be read."""
    for output in cell.outputs:
        yield output.get("text", "")
        yield from (text for kind, text in output.get("data", {}).items() if kind.startswith("text/"))


@pytest.fixture
def jupyter(tmp_path_factory, monkeypatch):
    """Jupyter with folders of its own, so that it finds the kernel of this environment and no other."""
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    folder = tmp_path_factory.mktemp("jupyter")
    for kind in ("CONFIG", "DATA", "RUNTIME"):
        monkeypatch.setenv(f"JUPYTER_{kind}_DIR", str(folder / kind.lower()))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(name, tmp_path, jupyter, request, monkeypatch):
    """In an empty folder, with no cell that raises and none that shows nothing."""
    if name == "postgres":
        for part in request.getfixturevalue("postgres").split():
            key, _, value = part.partition("=")
            monkeypatch.setenv({"host": "PGHOST", "user": "PGUSER", "dbname": "PGDATABASE"}[key], value)
    if name == "sqlalchemy":
        pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: pip install sqlalchemy")
    if name == "spark" and WITHOUT:
        pytest.skip(WITHOUT[0])
    assert all(cell.outputs for cell in code(executed(name, tmp_path)))


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_stored_with_its_outputs(name, jupyter):
    """Each code cell shows something: no error, no warning and no path of the machine that ran it."""
    book = stored(name)
    assert book.metadata.kernelspec.name == "python3"
    assert 8 <= len(book.cells) <= MOST.get(name, 12)
    assert [cell.execution_count for cell in code(book)] == list(range(1, len(code(book)) + 1))
    for cell in code(book):
        assert cell.outputs
        assert all(output.output_type != "error" and output.get("name") != "stderr" for output in cell.outputs)
        assert not any(re.search(r"(?:^|[\s'\"(=:])/\w+/|[A-Z]:\\|Warning", text) for text in texts(cell))


def store(name):
    """Run a notebook in a folder that is left behind nowhere, and store it with what it shows."""
    import nbformat

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        book = executed(name, Path(folder))
    book.metadata.language_info = {"name": "python"}  # its version is no part of the story
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    nbformat.write(book, EXAMPLES / f"{name}.ipynb")


if __name__ == "__main__":
    os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
    for asked in sys.argv[1:] or NAMES:
        store(asked)


@pytest.mark.slow
def test_each_kind_of_answer_is_shown_as_html_or_vector_graphics(tmp_path, jupyter):
    """The notebook of docs/answers.md, in which a number, groups, their plot and a summary stand."""
    from benchmarks.pages.notebook import CELLS, READ, SAMPLES, as_page

    shutil.copy(SAMPLES / "adult.csv.gz", tmp_path / "people.csv.gz")
    page = as_page([READ.format(file="people.csv.gz"), *CELLS], str(tmp_path))
    assert page.count('<div class="out">') == len(CELLS) and "<script" not in page
    assert page.count("<table") == 2 and page.count("<svg ") == 1 and "95% interval" in page
