"""Every code block of the README and of the documentation runs, and shows what the pages say."""

import os
import random
import re
import shutil
import subprocess
import tomllib

import numpy as np
import pytest
from support.documents import PAGES, ROOT, blocks, check_printed, check_value, marked, run

import nobounds.noise.source

MARKED = marked()
MARKS = {
    "peer": "the code of another library, which has an environment of its own",
    "needs=spark": "needs a Spark session; docs/examples/spark.ipynb runs one",
    "needs=mariadb": "needs a server of MariaDB; tests/engines/sql/alchemy start one",
    "needs=postgres": "",  # run where there is a server
    "run=protocol": "the signature of a function that the reader writes",
}


def name(page):
    return str(page.relative_to(ROOT))


def plain(page):
    return [block for block in blocks(page) if not block.marks]


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    """The files that docs/recipes/index.md makes."""
    folder = tmp_path_factory.mktemp("samples")
    before = os.getcwd()
    os.chdir(folder)
    try:
        run(blocks(ROOT / "docs" / "recipes" / "index.md")[0], {}, folder)
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def folder(samples, tmp_path, monkeypatch):
    """A folder with the sample files, the code and its data, and the same noise each time."""
    shutil.copytree(samples, tmp_path, dirs_exist_ok=True)
    (tmp_path / "src").symlink_to(ROOT / "src")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(nobounds.noise.source, "_system_bits", random.Random(1).getrandbits)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if plain(page)], ids=name)
def test_the_code_of_a_page_runs(page, folder):
    """One block after the other, in one namespace and one folder."""
    namespace = {"__name__": "page"}
    for block in plain(page):
        run(block, namespace, folder)


@pytest.mark.medium
@pytest.mark.parametrize(("page", "mark"), MARKED, ids=lambda value: value if isinstance(value, str) else name(value))
def test_what_is_marked_says_why(page, mark, request):
    """A block that does not run with its page has a reason that we know, and is Python if it says so."""
    known = mark if mark in MARKS else mark.split("=")[0]
    assert known in MARKS, f"{name(page)}: {mark} is not one of {', '.join(MARKS)}"
    found = MARKED[page, mark]
    for block in found:
        if block.language == "python":
            compile(block.code, block.where, "exec")
    if mark != "needs=postgres":
        pytest.skip(f"{len(found)} blocks of {name(page)}: {MARKS[known]}")
    folder, where = request.getfixturevalue("folder"), request.getfixturevalue("postgres")
    monkeypatch = request.getfixturevalue("monkeypatch")
    for variable, key in (("PGHOST", "host"), ("PGUSER", "user"), ("PGDATABASE", "dbname")):
        monkeypatch.setenv(variable, dict(part.split("=") for part in where.split())[key])
    fill_postgres()
    for block in found:
        run(block, {}, folder)


def fill_postgres():
    import psycopg

    rng = np.random.default_rng(1)
    with psycopg.connect("") as connection, connection.cursor() as cursor:
        cursor.execute("create table if not exists people (user_id integer, income float8)")
        cursor.execute("delete from people")
        rows = zip(rng.integers(0, 900, 2000).tolist(), rng.lognormal(10, 1, 2000).tolist(), strict=True)
        with cursor.copy("copy people from stdin") as copy:
            for row in rows:
                copy.write_row(row)


def test_the_readme_installs_first_and_then_answers():
    """Its first block installs and opens the studio, the second is Python with an answer, and it fits two screens."""
    first, second, *_ = blocks(ROOT / "README.md")
    assert first.language == "sh" and first.code.startswith("pip install ") and "nobounds studio" in first.code
    assert second.language == "python" and "nb.quantile(" in second.code and "interval" in second.code
    assert len((ROOT / "README.md").read_text().splitlines()) <= 100
    commands = [
        line for block in blocks(ROOT / "README.md") if block.language != "python" for line in block.code.split("\n")
    ]
    assert sum(line.lstrip("$ ").startswith("nobounds ") for line in commands) >= 2


def test_the_readme_states_what_the_package_does():
    """Status, version, licence and maintainers are those of the metadata."""
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    status = next(each for each in metadata["classifiers"] if each.startswith("Development Status")).split(" - ")[1]
    last = " ".join((ROOT / "README.md").read_text().rpartition("**Status:**")[2].split())
    assert last.startswith(f"{status.lower()}, version {nobounds.__version__}.") and metadata["license"] in last
    people = [*metadata.get("maintainers", ()), *metadata.get("authors", ())]
    assert all(person["name"] in last for person in people)


def test_the_tests_run_as_the_readme_says():
    """`make help` lists what the README tells to run, and CI runs the README's test command."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    told = re.findall(
        r"\bmake (\w+)", " ".join(re.findall(r"```sh\n.*?```|`make \w+`", (ROOT / "README.md").read_text(), re.S))
    )
    assert "test" in told
    assert all(f"make {target}" in listed for target in told)
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_the_table_of_rows_is_that_of_the_library():
    """Every number of rows on docs/rows.md."""
    lines = [line.strip("|").split("|") for line in (ROOT / "docs" / "rows.md").read_text().splitlines() if "|" in line]
    epsilons = [head.split()[1] for head in lines[0][1:]]
    for statistic, *rows in lines[2:]:
        needed = [nobounds.rows_needed(statistic.strip(" `"), epsilon=epsilon) for epsilon in epsilons]
        assert [int(number.replace(",", "")) for number in rows] == needed, statistic


def test_a_page_that_is_wrong_is_caught():
    """Another value, another word or a number far off."""
    check_value(2.5, "2.5; what is left", "here")
    check_value(224_000.0, "about 225,000; no bounds were given", "here")
    check_value(7, "95% of all users have no more rows than this", "here")
    check_printed("22,010 for epsilon 1 (per row)", "21,956 for epsilon 1 (per row)", "here")
    with pytest.raises(AssertionError):
        check_value(2.5, "2.4; what is left", "here")
    with pytest.raises(AssertionError):
        check_value((1.0, 9.0), "about (1.0, 5.0)", "here")
    with pytest.raises(AssertionError):
        check_printed("epsilon 1 (per row)", "epsilon 1 (per user)", "here")
    with pytest.raises(AssertionError):
        check_printed("22,010 for epsilon 1 (rho 0.4214)", "21,956 for epsilon 1 (rho 0.4158)", "here")
    with pytest.raises(AssertionError):
        check_printed("32,010 for epsilon 1", "21,956 for epsilon 1", "here")
