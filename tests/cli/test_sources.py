"""Tables in the shell: files, globs, the standard input and queries; units, groups and keys; progress; plain errors."""

import csv
import gzip
import io
import json
import os
import pty
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from support.csv_files import headed
from support.shell import SURE, answer, run, value
from typer.testing import CliRunner

import nobounds as nb
from nobounds.cli import sources
from nobounds.cli.app import app
from nobounds.cli.commands.groups import show_groups
from nobounds.cli.sources import stream_of
from nobounds.engines.open import open_stream

REGIONS = ["north", "south", "east"]
COMMAND = [sys.executable, "-m", "nobounds.cli"]
BY = ["--by", "region", "--keys", "north,south,east"]
AMOUNT = ["--column", "amount"]
UNIT = ["--unit", "user", "--rows-per-unit", "3"]
N = 3000


@pytest.fixture(scope="module")
def sales() -> pa.Table:
    """Sales of 1000 users, three each; amounts of a region lie around 100, 200 or 300, and one region has 7 sales."""
    at = np.arange(N)
    region = at % 2 + np.where(at % 400 == 1, 1, 0)
    return pa.table(
        {
            "user": at // 3,
            "region": np.array(REGIONS)[region],
            "store": at % 5,
            "online": at % 2 == 0,
            "amount": 100.0 * (region + 1) + (at % 7) - 3,
        }
    )


@pytest.fixture(scope="module")
def folder(sales, tmp_path_factory) -> Path:
    """The sales in one file of each format, in two parts, and in databases."""
    folder = tmp_path_factory.mktemp("sales")
    pq.write_table(sales, folder / "sales.parquet")
    pyarrow.csv.write_csv(sales, folder / "sales.csv")
    (folder / "parts").mkdir()
    for name, part in (("a", sales[:1000]), ("b", sales[1000:])):
        pq.write_table(part, folder / "parts" / f"{name}.parquet")
        pyarrow.csv.write_csv(part, folder / "parts" / f"{name}.csv")
    with duckdb.connect(str(folder / "sales.duckdb")) as connection:
        connection.execute(f"create table sales as select * from '{folder / 'sales.parquet'}'")
    connection = sqlite3.connect(folder / "sales.db")
    connection.execute('create table sales ("user" integer, region text, store integer, amount real)')
    rows = zip(*(sales[name].to_pylist() for name in ("user", "region", "store", "amount")), strict=True)
    connection.executemany("insert into sales values (?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return folder


def truth(sales: pa.Table) -> dict[str, tuple[int, float]]:
    """How many sales each region has, and their sum."""
    found = sales.group_by("region").aggregate([("amount", "count"), ("amount", "sum")]).to_pylist()
    return {row["region"]: (row["amount_count"], row["amount_sum"]) for row in found}


def groups(*words: object) -> dict:
    """The JSON object of a run with groups, its keys and values paired."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    return found | {"pairs": dict(zip(zip(*found["keys"].values(), strict=True), found["values"], strict=True))}


# Where tables come from


@pytest.mark.medium
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_several_files_and_globs_are_one_table(folder, kind):
    """Two parts, by name, by a glob that the shell left alone, or by both, have as many rows as the whole."""
    parts = [folder / "parts" / f"{name}.{kind}" for name in "ab"]
    for files in (
        [folder / f"sales.{kind}"],
        parts,
        [folder / "parts" / f"*.{kind}"],
        [*parts, f"{folder}/*/*.{kind}"],
    ):
        assert value("count", *files, *SURE) == N
    described = run("describe", *parts, *SURE, "--column", "amount").stdout
    assert described.startswith(f"Private summary of a.{kind} and 1 more\n")


def test_every_named_file_must_be_there(folder):
    """A misspelt file among others is refused, rather than left out."""
    result = run("count", folder / "sales.csv", folder / "none*.csv", *SURE)
    assert result.exit_code == 2 and "no file matches" in result.stderr and "none*.csv" in result.stderr


@pytest.mark.medium
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_standard_input_is_a_table(folder, kind):
    """A pipe is told apart by its first bytes, and leaves nothing in the folder for temporary files."""
    temporary = folder / f"temporary-{kind}"
    temporary.mkdir()
    done = subprocess.run(
        [*COMMAND, "sum", "-", *AMOUNT, *BY, *SURE, "--json", *(["--header", "yes"] if kind == "csv" else [])],
        input=(folder / f"sales.{kind}").read_bytes(),
        capture_output=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    assert done.returncode == 0 and done.stderr == b""
    assert json.loads(done.stdout)["keys"] == {"region": REGIONS}
    assert list(temporary.iterdir()) == []


@pytest.mark.medium
def test_the_standard_input_may_be_zipped_or_of_a_stated_format(folder):
    """gzip is known by its first bytes; tabs need --format."""
    text = (folder / "sales.csv").read_bytes()
    for given, more in (
        (gzip.compress(text), []),
        (text.replace(b",", b"\t"), ["--format", "tsv"]),
        (gzip.compress(text.replace(b",", b"\t")), ["--format", "tsv"]),
        ((folder / "sales.parquet").read_bytes(), ["--format", "parquet"]),
    ):
        words = ["mean", "-", *AMOUNT, *SURE, "--json", *more]
        words += [] if "parquet" in more else ["--header", "yes"]
        result = CliRunner().invoke(app, words, input=given)
        assert result.exit_code == 0, result.stderr
        assert json.loads(result.stdout)["releases"][0]["value"] == pytest.approx(150, rel=0.01)


def test_a_query_may_name_files(folder, sales):
    """Its rows are those of the files, and its columns those of the query."""
    query = [
        "--sql",
        "select amount * 2 as double, region from 'sales.parquet' where region <> 'east'",
        "--folder",
        folder,
    ]
    assert value("count", *query, "--column", "double", *SURE) == N - truth(sales)["east"][0]
    found = groups("count", *query, "--by", "region", "--keys", "north,east", *SURE)
    assert found["pairs"] == {("north",): truth(sales)["north"][0], ("east",): 0}


@pytest.mark.medium
@pytest.mark.parametrize("name", ["sales.duckdb", "sales.db"])
def test_queries_run_on_databases_that_are_only_read(folder, sales, name):
    """DuckDB and SQLite files give rows, units and groups, and stay as they are."""
    before = (folder / name).read_bytes()
    where = ["--database", folder / name, "--sql", "select * from sales"]
    assert value("count", *where, *SURE) == N
    found = groups("sum", *where, *AMOUNT, *BY, *UNIT, "--epsilon", "1e7")
    expected = [total for _, total in map(truth(sales).get, REGIONS)]
    assert found["values"] == pytest.approx(expected, rel=0.01)
    assert (folder / name).read_bytes() == before
    assert list(folder.glob(f"{name}?*")) == []


@pytest.mark.medium
def test_queries_run_on_postgresql(postgres, tmp_path):
    """A postgresql:// URL is a database; its name is in the budget, and a wrong server is one plain line."""
    host = postgres.split()[0].removeprefix("host=")
    url = f"postgresql:///postgres?user=nobounds&host={host}"
    ledger = tmp_path / "a.budget"
    run("budget", "create", ledger, "--epsilon", "1e7")
    query = "select i % 2 as side, i % 10 = 0 as tenth, i::float8 as x from generate_series(1, 1000) as s(i)"
    with psycopg.connect(postgres):
        found = groups(
            "count",
            "--database",
            url,
            "--sql",
            query,
            "--rows-of",
            "result",
            "--by",
            "tenth",
            "--keys",
            "true,false",
            *SURE,
            "--budget",
            ledger,
        )
    assert found["pairs"] == {(True,): 100, (False,): 900}
    charges = json.loads(run("budget", "show", ledger, "--json").stdout)["charges"]
    assert (charges[0]["what"], charges[0]["label"]) == ("count of rows by tenth", "postgres")
    wrong = run("count", "--database", f"postgresql:///none?user=nobounds&host={host}", "--sql", query, *SURE)
    assert wrong.exit_code == 2 and wrong.stderr.startswith("Error: --database: ") and wrong.stderr.count("\n") == 1
    for rows_of, why in (("result", "the query failed"), ("source", "one select")):
        words = ["--sql", "create table t (i int)", "--rows-of", rows_of]
        written = run("count", "--database", url, *words, *SURE)
        assert written.exit_code == 2 and why in written.stderr


# Units


@pytest.mark.medium
def test_a_unit_is_whom_the_loss_is_for(folder):
    """The loss names the unit in the JSON, in the sentence and in the budget's file."""
    ledger = folder / "unit.budget"
    run("budget", "create", ledger, "--epsilon", "3", "--unit", "user")
    words = [folder / "sales.parquet", *AMOUNT, *UNIT, "--epsilon", "1", "--budget", ledger]
    assert answer("mean", *words)["loss"]["unit"] == "user"
    assert "differ by one user with all its rows added or removed" in run("sum", *words).stdout
    grouped = groups("quantile", *words, "--q", "0.5", *BY)
    assert (grouped["loss"]["unit"], grouped["loss"]["epsilon"]) == ("user", 1)
    shown = json.loads(run("budget", "show", ledger, "--json").stdout)
    assert (shown["unit"], shown["remaining"]) == ("user", 0)
    assert [charge["what"] for charge in shown["charges"]] == [
        "mean of amount",
        "sum of amount",
        "quantile 1/2 of amount by region",
    ]
    assert shown["labels"] == ["sales.parquet"]
    refused = run("mean", folder / "sales.parquet", *AMOUNT, "--epsilon", "1", "--budget", ledger)
    assert refused.exit_code == 2 and "unit" in refused.stderr


@pytest.mark.medium
def test_at_most_so_many_rows_of_a_unit_count(folder):
    """Of three rows of each user two are used, and in one group one of them."""
    words = [folder / "sales.parquet", "--unit", "user", "--epsilon", "1e7"]
    assert value("count", *words, "--rows-per-unit", "2") == 2000
    found = groups("count", *words, "--rows-per-unit", "2", "--groups-per-unit", "1", *BY)
    assert 1000 <= sum(found["values"]) < 2000


def test_describe_takes_a_unit(folder):
    """The unit is not described, and every number is for it."""
    found = json.loads(run("describe", folder / "sales.parquet", *UNIT, "--epsilon", "1e7", "--json").stdout)
    assert list(found["columns"]) == ["store", "online", "amount"]
    assert found["loss"]["unit"] == "user"
    assert found["columns"]["amount"]["values"]["count"] == N


@pytest.mark.medium
def test_rows_per_unit_are_suggested(folder):
    """Each user has three rows; the sentence is an option to copy."""
    words = ["rows-per-unit", folder / "sales.csv", "--unit", "user", *SURE]
    assert value(*words) == 3 and answer(*words)["loss"]["unit"] == "user"
    assert "--unit user --rows-per-unit 3\n" in run(*words).stdout
    assert "nobounds rows-per-unit people.parquet --unit user_id" in run("rows-per-unit", "--help").stdout


# Groups and keys


@pytest.mark.medium
@pytest.mark.parametrize("name", ["sales.parquet", "sales.csv"])
def test_each_group_has_its_answer(folder, sales, name):
    """Quantiles, extremes, sums, means and counts of each region, in the order of the public keys."""
    count, total = zip(*map(truth(sales).get, REGIONS), strict=True)
    expected = {
        "maximum": [103, 203, 303],
        "minimum": [97, 197, 297],
        "sum": total,
        "mean": [t / c for t, c in zip(total, count, strict=True)],
        "count": count,
    }
    for command, values in expected.items():
        found = groups(command, folder / name, *AMOUNT, *BY, "--epsilon", "1e7")
        assert (found["statistic"], found["keys"]) == (command, {"region": REGIONS})
        assert found["values"] == pytest.approx(values, rel=0.01)
    found = groups("quantile", folder / name, *AMOUNT, *BY, "--q", "0.5", "--epsilon", "1e7")
    assert found["values"] == pytest.approx([100, 200, 300], rel=0.01)
    assert value("count", folder / name, *SURE) == N


@pytest.mark.medium
@pytest.mark.parametrize("name", ["sales.parquet", "sales.csv"])
def test_keys_are_texts_of_any_type(folder, name):
    """Whole numbers and truth values are keys as they are written, each --keys adds some, and a comma may be quoted."""
    stores = groups("count", folder / name, "--by", "store", "--keys", '1,"3"', "--keys", "7", *SURE)
    assert stores["values"] == [600, 600, 0]
    assert list(stores["pairs"]) == [(1,), (3,), (7,)] if name.endswith("parquet") else [("1",), ("3",), ("7",)]
    truths = groups("count", folder / name, "--by", "online", "--keys", "false,true", *SURE)
    assert truths["values"] == [1500, 1500]


def test_several_columns_have_all_combinations_of_keys_or_those_of_a_file(folder, tmp_path):
    """One --keys for each --by, in order; or a file with a row a key."""
    words = ["count", folder / "sales.parquet", "--by", "region", "--by", "store", *SURE]
    found = groups(*words, "--keys", "north,south", "--keys", "0,1,9")
    assert list(found["pairs"]) == [(region, store) for region in ("north", "south") for store in (0, 1, 9)]
    assert found["pairs"][("north", 0)] == 300 and found["pairs"][("south", 9)] == 0
    keys = tmp_path / "keys.csv"
    keys.write_text("south,1\n\n north , 0\n")
    assert list(groups(*words, "--keys-file", keys)["pairs"]) == [("south", 1), ("north", 0)]
    lines = tmp_path / "keys.txt"
    lines.write_text("south\nWashington, DC\n")
    one = groups("count", folder / "sales.csv", "--by", "region", "--keys-file", lines, *SURE)
    assert one["keys"] == {"region": ["south", "Washington, DC"]} and one["values"][1] == 0


@pytest.mark.medium
def test_keys_may_be_chosen_privately(folder):
    """With a delta the common regions are shown and the rare one is not; the loss has the delta."""
    found = groups("count", folder / "sales.parquet", "--by", "region", "--delta", "1e-9", "--epsilon", "1", *UNIT)
    assert found["keys"] == {"region": ["north", "south"]}
    assert (found["loss"]["epsilon"], found["loss"]["delta"]) == (1, 1e-9)
    text = run("count", folder / "sales.parquet", "--by", "region", "--delta", "1e-9", "--epsilon", "1").stdout
    assert "Total privacy loss: epsilon 1 at delta 1e-09, for" in text and "inf" not in text


def test_the_table_of_groups_has_keys_left_and_numbers_right(folder):
    """A row for each group with its interval, the clip, and the loss in words, without colour codes in a pipe."""
    result = run("sum", folder / "sales.parquet", *AMOUNT, *BY, "--epsilon", "1e6")
    head, _, first, *_, clip, loss = result.stdout.splitlines()
    assert head.split() == ["region", "sum", "95%", "interval"] and first.startswith("north ")
    assert " to " in first and len(first) == len(head) and clip.startswith("Clip: ")
    assert loss.startswith("Total privacy loss: epsilon 1e+06 (zCDP: rho ") and "\x1b" not in result.stdout


def test_groups_without_any_number_have_next_to_nothing(folder):
    """A column of text has no mean, and says so."""
    result = run("mean", folder / "sales.csv", "--column", "region", "--by", "store", "--keys", "1,2", "--epsilon", "1")
    assert "Clip" not in result.stdout
    assert all("too few numbers" in line for line in result.stdout.splitlines()[2:4])


def test_csv_is_the_keys_and_the_answers(folder):
    """A header and a row for each group, which read back are the keys and numbers."""
    result = run("count", folder / "sales.parquet", "--by", "region", "--by", "online", "--csv", *SURE, "--keys",
                 "north,south", "--keys", "true,false")  # fmt: skip
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert rows[0] == ["region", "online", "count", "low", "high"] and len(rows) == 5
    assert rows[1][:3] == ["north", "true", "1500"]


def test_a_terminal_gets_the_first_groups_and_how_many_more(capsys, monkeypatch):
    """All rows go to a pipe; a terminal gets 40 of them, and obeys no key."""
    keys = [f"k{i}" for i in range(99)] + ["\x1b[2J"]
    release = nb.Table({"k": np.array(keys), "x": np.ones(100)}).group_by("k", keys=keys[::-1]).count(epsilon=1)
    show_groups(release, as_json=False, as_csv=False)
    whole = capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    show_groups(release, as_json=False, as_csv=False)
    first = capsys.readouterr().out
    assert "k0 " in whole and " more of " not in whole
    assert "k0 " not in first and "and 60 more of 100 groups" in first
    assert r"'\x1b[2J'" in whole and "\x1b" not in whole


# Privacy: charges, errors, progress


@pytest.mark.medium
def test_a_charge_is_made_before_records_are_read(tmp_path, sales):
    """A file whose second row group is corrupt cannot be read, and leaves the charge, with its unit, behind."""
    path, ledger = tmp_path / "sales.parquet", tmp_path / "a.budget"
    pq.write_table(sales, path, row_group_size=1500, compression="zstd", use_dictionary=False)
    start = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    raw = bytearray(path.read_bytes())
    raw[start : len(raw) - 4000] = bytes(len(raw) - 4000 - start)
    path.write_bytes(raw)
    run("budget", "create", ledger, "--epsilon", "4", "--unit", "user")
    for words in (
        ["mean", *AMOUNT, *UNIT],
        ["sum", *AMOUNT, *UNIT, *BY],
        ["describe", *UNIT],
        ["rows-per-unit", "--unit", "user"],
    ):
        command, *more = words
        result = run(command, path, *more, "--epsilon", "1", "--budget", ledger)
        assert result.exit_code != 0 and result.stdout == "" and result.stderr.count("\n") == 1
    shown = json.loads(run("budget", "show", ledger, "--json").stdout)
    assert (shown["remaining"], shown["unit"], len(shown["charges"])) == (0, "user", 4)


@pytest.mark.medium
@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["--keys", "a"], "--keys needs --by"),
        (["--keys-file", "keys.txt"], "--keys-file needs --by"),
        (["--delta", "1e-6"], "--delta needs --by"),
        (["--csv"], "--csv needs --by"),
        (["--by", "region"], "--by needs the groups"),
        (["--by", "region", "--keys", "a", "--delta", "1e-6"], "got --keys and --delta"),
        ([*BY, "--beta", "1.1"], "cannot be combined with --beta, --noise, --method or --rows"),
        ([*BY, "--rows", "100"], "cannot be combined with --beta, --noise, --method or --rows"),
        ([*BY, "--beta", "2"], "--by cannot be combined with --beta"),
        ([*BY, "--neighbors", "swap"], "--by needs --neighbors add-remove"),
        ([*BY, "--groups-per-unit", "1"], "--groups-per-unit needs --unit"),
        ([*BY, "--csv", "--json"], "give --json or --csv"),
        (["--by", "region", "--delta", "2"], "delta must be"),
        (["--by", "region", "--by", "store", "--keys", "a"], "one --keys each"),
        (["--by", "store", "--keys", "one"], "the column 'store', which is int64"),
        (["--by", "nothing", "--keys", "one"], "column 'nothing' is not in the table"),
        (["--rows-per-unit", "2"], "--rows-per-unit needs --unit"),
        (["--unit", "user"], "--unit needs --rows-per-unit"),
        (["--unit", "nobody", "--rows-per-unit", "1"], "column 'nobody' is not in the table"),
        ([*UNIT, "--neighbors", "swap"], "--unit needs --neighbors add-remove"),
        (["--sql", "select 1"], "give files or --sql, got both"),
        (["--database", "sales.db"], "--database needs --sql"),
        (["--format", "csv"], "--format is for standard input"),
        (["-"], "cannot be combined with other files"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together_are_one_line_with_the_fix(folder, words, fix):
    """Nothing is printed and nothing is charged."""
    ledger = folder / "errors.budget"
    if not ledger.exists():
        run("budget", "create", ledger, "--epsilon", "1")
    spend = ["--epsilon", "1", "--budget", ledger]
    result = run("quantile", folder / "sales.parquet", *AMOUNT, "--q", "0.5", *spend, *words)
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith("Error: ") and fix in result.stderr and result.stderr.count("\n") == 1
    assert json.loads(run("budget", "show", ledger, "--json").stdout)["charges"] == []


@pytest.mark.medium
@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ([], "give files or --sql, got neither"),
        (["--sql", "selec 1"], "--sql: 'selec 1' is not an SQL statement"),
        (["--sql", "select 1 as amount; select 2"], "--sql: a statement must be one select"),
        (["--sql", "create table t as select 1"], "--sql: a statement must be one select"),
        (["--sql", "select * from keys"], "the query names 'keys': give its --database, or --folder"),
        (["--sql", "select * from keys", "--folder", "."], "no file is named keys"),
        (["--sql", "select sum(a) as amount from 'a.csv'", "--folder", "."], "no file is named a.csv"),
        (["a.csv", "--folder", "."], "--folder needs --sql"),
        (
            ["--sql", "select * from a", "--database", "a.db", "--folder", "."],
            "options for files go without --database",
        ),
        (["--sql", "selec 1", "--rows-of", "result"], "--sql: Parser Error"),
        (["--sql", "select 1 as amount; select 2", "--rows-of", "result"], "--sql must be one select"),
        (["--sql", "create table t as select 1", "--rows-of", "result"], "--sql must be one select"),
        (["--sql", "select * from keys", "--rows-of", "result"], "the query failed"),
        (["--sql", "select 1", "--rows-of", "people"], "rows_of must be 'source' or 'result'"),
        (["--sql", "select 1", "--database", "nowhere.db"], "nowhere.db is no file"),
        (["--sql", "select 1", "--database", __file__], "is neither"),
        (["-", "--format", "docx"], "--format must be one of csv, tsv, jsonl"),
    ],
    ids=str,
)
def test_a_wrong_query_or_source_is_one_plain_line(words, fix):
    """A mistake in a query is shown as far as it does not depend on data."""
    result = run("mean", *words, *AMOUNT, "--epsilon", "1")
    assert result.exit_code == 2 and result.stdout == ""
    assert fix in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.medium
def test_errors_have_no_records_in_them(tmp_path):
    """Failing casts, missing headers and broken lines never show what they stumbled over."""
    path = tmp_path / "secret.csv"
    path.write_text("86421,97531\n" + "1,2\n" * 50 + "86421,97531,5\n")
    text = tmp_path / "text.parquet"
    pq.write_table(pa.table({"x": ["1", "86421!"], "u": ["97531", "2"]}), text)
    result_in = ["--rows-of", "result", "--folder", tmp_path]
    plain, other = tmp_path / "plain.csv.gz", tmp_path / "other.parquet"
    for wrong in (plain, other):
        wrong.write_bytes(path.read_bytes())
    for words in (
        ["mean", plain, "--column", "income"],
        ["mean", other, "--column", "income"],
        ["mean", path, "--column", "income"],
        ["mean", path, "--column", "1", *UNIT],
        ["count", path, "--by", "region", "--keys", "a"],
        ["mean", "--sql", f"select cast(x as int) as y from '{text}'", "--column", "y", *result_in],
        ["count", "--sql", f"select cast(x as int) as y from '{text}'", "--by", "y", "--keys=1", *result_in],
        ["mean", "--sql", f"select nothing from '{path}'", "--column", "y", "--folder", tmp_path],
        ["mean", text, "--column", "x"],
    ):
        result = CliRunner().invoke(app, [*map(str, words), "--epsilon", "1"])
        assert result.exit_code == 2 and result.stdout == "" and result.stderr.count("\n") == 1
        assert not any(secret in result.stderr for secret in ("86421", "97531", "b'86"))


@pytest.mark.medium
@pytest.mark.parametrize("quiet", [False, True])
def test_a_long_read_shows_progress_on_a_terminal_unless_quiet(folder, quiet):
    """A pipe that takes its time brings a bar to the terminal, and with --quiet nothing at all; no number of rows."""
    terminal, end = pty.openpty()
    command = [*COMMAND, "count", "-", "--header", "yes", "--epsilon", "1e6", "--json", *(["--quiet"] if quiet else [])]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=end, env=environment, cwd=folder
    )
    os.close(end)
    process.stdin.write((folder / "sales.csv").read_bytes())
    process.stdin.flush()
    shown, start = b"", time.monotonic()
    os.set_blocking(terminal, False)
    while time.monotonic() < start + (3 if quiet else 20) and b"0:00:0" not in shown:
        time.sleep(0.1)
        shown += _waiting(terminal)
    out, _ = process.communicate()
    shown += _waiting(terminal)
    os.close(terminal)
    assert json.loads(out)["releases"][0]["value"] == N
    if quiet:
        assert shown == b""
    else:
        assert "Working" in shown.decode() and str(N).encode() not in shown


def _waiting(terminal: int) -> bytes:
    """What a terminal has been told."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # nothing, or the other end is closed
        return b""


@pytest.mark.parametrize("name", ["sales.parquet", "sales.csv", "parts/*.csv", "parts/*.parquet"])
def test_the_share_of_files_read_grows_to_the_whole(folder, name):
    """Progress is told for columns that are read in place, for groups and units, and each pass ends with all of it."""
    stream = headed(folder / name) if name.endswith("csv") else open_stream(str(folder / name))
    told: list[float] = []
    rows: list[int] = []

    def progress(number: int) -> None:
        rows.append(number)
        told.append(stream.share())

    table = nb.Table(stream, unit="user", rows_per_unit=3, progress=progress)
    passes = (
        lambda: nb.Table(stream, progress=progress).maximum("amount", epsilon=1),
        lambda: table.mean("amount", epsilon=1),
        lambda: table.group_by("region", keys=REGIONS).count(epsilon=1),
    )
    for ask in passes:
        told.clear()
        rows.clear()
        ask()
        ends = np.flatnonzero(np.cumsum(rows) % N == 0) + 1
        assert ends[-1] == len(rows)
        for shares in np.split(told, ends[:-1]):
            assert np.all(np.diff(shares) >= 0) and shares[-1] == 1


@pytest.mark.medium
def test_help_lists_where_tables_come_from():
    """Each command has the options for sources and units, and those that answer by group those for keys."""
    for command in ("describe", "quantile", "maximum", "minimum", "bounds", "sum", "mean", "count"):
        text = run(command, "--help").stdout
        options = ["--sql", "--database", "--format", "--unit", "--rows-per-unit", "--budget", "--quiet", "--json"]
        if command not in ("describe", "bounds"):
            options += ["--by", "--keys", "--keys-file", "--delta", "--groups-per-unit", "--csv"]
        assert all(option in text for option in options)


@pytest.mark.medium
def test_where_and_with_filter_and_compute(tmp_path):
    """On columns of no declared type, in the order of the command line."""
    path = tmp_path / "people.csv"
    rows = [f"{k % 90},{'NY' if k % 3 else 'CA'},{k % 5},{k % 4}" for k in range(6000)]
    path.write_text("\n".join(["age,state,late,trips", *rows]) + "\n")
    common = [str(path), "--header", "yes", "--epsilon", "5", "--quiet"]
    told = CliRunner().invoke(app, ["count", *common, "--where", "age >= 45", "--where", "state = 'NY'", "--json"])
    (release,) = json.loads(told.stdout)["releases"]
    assert abs(release["value"] - 2000) < 20 and release["parameters"]["where"] == "age >= 45 and state = 'NY'"
    with_rate = ["--with", "rate=late / trips", "--with", "many=rate >= 2", "--where", "rate < 5"]
    told = CliRunner().invoke(app, ["mean", *common, "--column", "rate", *with_rate, "--by", "many", "--keys", "true"])
    assert told.exit_code == 0 and "Rows where late / trips < 5, with rate = late / trips, many = " in told.stdout
    assert CliRunner().invoke(app, ["describe", *common, "--column", "rate", *with_rate]).exit_code == 0
    for wrong in (["--where", "sum(age) > 1"], ["--with", "rate"], ["--where", "age"], ["--where", "a ="]):
        assert CliRunner().invoke(app, ["count", *common, *wrong]).exit_code != 0


@pytest.mark.parametrize(
    ("command", "options", "truths"),
    [
        ("iqr", ["--column", "amount", "--interval", "0.9"], (4, 4)),
        ("proportion", ["--condition", "amount > 150"], (0, 1)),
        ("proportion", ["--condition", "online"], (1, 0)),
        ("ratio", ["--numerator", "amount", "--denominator", "store"], (50, 100)),
        ("weighted-mean", ["--column", "amount", "--weights", "store"], (100, 200)),
        ("covariance", ["--x", "amount", "--y", "amount"], (4, 4)),
        ("correlation", ["--x", "amount", "--y", "amount"], (1, 1)),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_every_statistic_of_numbers_goes_by_group(folder, command, options, truths):
    """The regions north and south, whose amounts lie within 3 of 100 and 200."""
    by = ["--by", "region", "--keys", "north,south"]
    result = run(command, folder / "sales.parquet", *options, *by, "--epsilon", "1000", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["values"] == pytest.approx(truths, rel=0.03, abs=0.01)
    assert run(command, folder / "sales.parquet", *options, *by, "--epsilon", "1", "--neighbors", "swap").exit_code == 2


NAMELESS = [
    ["info", "secret.csv"],
    ["describe", "secret.csv", "--epsilon", "1"],
    ["mean", "secret.csv", "--column", "nosuch", "--epsilon", "1"],
    ["histogram", "secret.csv", "--column", "nosuch", "--epsilon", "1"],
    ["mean", "secret.csv", "--column", "1867", "--by", "nosuch", "--keys", "x", "--epsilon", "1"],
    ["count", "secret.csv", "--where", "nosuch > 1", "--epsilon", "1"],
    ["count", "secret.csv", "--unit", "nosuch", "--rows-per-unit", "1", "--epsilon", "1"],
    ["agg", "secret.csv", "--ask", "mean(nosuch)", "--epsilon", "1"],
    ["sql", "select private_mean(nosuch) from 'secret.csv'", "--folder", ".", "--epsilon", "1"],
    ["count", "--sql", "select nosuch from 'secret.csv'", "--folder", ".", "--epsilon", "1"],
]


@pytest.mark.medium
@pytest.mark.parametrize("words", NAMELESS, ids=" ".join)
def test_one_rule_for_the_names_of_csv_columns(tmp_path, monkeypatch, words):
    """What is in the first line is shown by no command before --header yes, and each says that this is needed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").write_text("Curie,1867\nNoether,1882\n")
    hidden = CliRunner().invoke(app, words)
    assert hidden.exit_code == 2 and "--header yes" in hidden.stderr
    assert "Curie" not in hidden.stdout + hidden.stderr
    shown = run(*words, "--header", "yes")
    assert "Curie" in shown.stdout + shown.stderr or words[0] == "describe"


@pytest.mark.parametrize("neighbors, passes", [("swap", 1), ("add-remove", 0)])
def test_the_rows_of_a_file_are_counted_once_in_a_command(tmp_path, monkeypatch, neighbors, passes):
    """Under swap their number is public, and each column and its rehearsal needs it; under add-remove nobody may."""
    counted = []

    def watched(*given, **options):
        stream, name = stream_of(*given, **options)
        return replace(stream, rows=lambda: counted.append(1) or stream.rows()), name

    monkeypatch.setattr(sources, "stream_of", watched)
    path = tmp_path / "numbers.csv"
    path.write_text("a,b\n" + "\n".join(f"{k},{2 * k}" for k in range(500)))
    columns = ["--column", "a", "--column", "b", "--header", "yes"]
    assert CliRunner().invoke(app, ["median", str(path), *columns, *SURE, "--neighbors", neighbors]).exit_code == 0
    assert len(counted) == passes
