"""The command line as people meet it: help with examples that run, completion, exit statuses, pipes and terminals."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from support.shell import with_header
from typer.testing import CliRunner

import nobounds as nb
from nobounds.accounting.spending import Purse
from nobounds.cli.app import app
from nobounds.cli.commands import each as each_command
from nobounds.cli.help import STATUS
from nobounds.cli.options.common import Data
from nobounds.cli.options.text import Text
from nobounds.cli.output import show, show_description
from nobounds.cli.printing.printer import printer
from nobounds.cli.printing.tables import Table
from nobounds.cli.sources import stream_of
from nobounds.explaining.protection import guess

SLOW = {"audit", "paper", "studio"}  # their examples are parsed, and run elsewhere
WITH_A_SERVER = {"budget install", "budget share"}  # as are those of budgets in PostgreSQL


def commands(group=None, path=()):
    """Every command with its words, subcommands too."""
    group = typer.main.get_command(app) if group is None else group
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


ALL = {" ".join(path): command for path, command in commands()}


def run(*words, **how):
    return CliRunner().invoke(app, with_header(*words), **how)


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder with the files that examples name."""
    rng = np.random.default_rng(1)
    who, age, income = rng.integers(0, 300, 900), rng.integers(18, 90, 900), rng.lognormal(10, 1, 900)
    rows = "".join(f"u{a},{b},{c:.2f}\n" for a, b, c in zip(who, age, income, strict=True))
    (tmp_path / "people.csv").write_text("user_id,age,income\n" + rows)
    people = pa.table({"user_id": who, "age": age, "income": income})
    pq.write_table(people, tmp_path / "people.parquet")
    with pa.ipc.new_file(tmp_path / "data.arrow", people.schema) as file:
        file.write_table(people)
    (tmp_path / "release.json").write_text(nb.count(income, epsilon=1).to_json())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def example(*path):
    """The command in the help of a command."""
    lines = [line.strip() for line in run(*path, "--help").stdout.splitlines()]
    return shlex.split(lines[lines.index("Example:") + 1])


@pytest.mark.medium
@pytest.mark.parametrize("name", ALL)
def test_every_command_has_an_example_that_runs(here, name):
    """Each help has a line to copy, for this very command; with the files that it names it gives an answer."""
    start, *words = example(*name.split())
    assert start == "nobounds" and " ".join(words).startswith(name)
    if name.startswith("budget ") and name != "budget create":
        assert run(*example("budget", "create")[1:]).exit_code == 0
    if name in SLOW | WITH_A_SERVER:
        given = words[len(name.split()) :]
        ALL[name].make_context(name, given)  # or it raises: all of its options are there
        return
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert result.stdout and not result.stderr and "\x1b" not in result.stdout


@pytest.mark.medium
@pytest.mark.parametrize("name", ["", *ALL])
def test_help_fits_into_80_columns(name, monkeypatch):
    """All of its lines do, examples too, and no type of Python is in it."""
    monkeypatch.setenv("COLUMNS", "80")
    text = run(*name.split(), "--help").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "list[" not in text and "<str>" not in text and "..." not in text.split("Arguments:")[0].partition("\n")[2]


def test_without_a_command_the_help_is_shown():
    """With its headings, every command and the exit statuses, on the standard output; so it is for a group."""
    result = run()
    assert result.exit_code == 0 and not result.stderr
    assert result.stdout == run("--help").stdout
    heads = [line for line in result.stdout.splitlines() if line and not line.startswith(" ")]
    assert heads[1:3] == ["Start here:", "Statistics of a column:"] and heads[-3:] == [
        "Explain and check:",
        "Options:",
        "Exit status:",
    ]
    assert all(f"\n  {name.split()[0]} " in result.stdout for name in ALL)
    assert all(f"  {status} " in result.stdout for status, _ in STATUS)
    assert run("budget").stdout == run("budget", "--help").stdout


def test_options_stand_under_headings():
    """Those of one kind are together."""
    text = run("quantile", "--help").stdout
    order = ["--column NAME", "Privacy loss:", "--epsilon NUMBER", "Who is protected:", "--unit NAME"]
    order += ["Answers by group:", "The table:", "--sql", "Types of columns:", "CSV files:", "--delimiter"]
    places = [text.index(word) for word in order]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("words", "near"),
    [(["quantil"], "'quantile'"), (["budget", "sho"], "'show'"), (["mean", "--colum", "x"], "--column")],
)
def test_a_typo_suggests_what_was_meant(words, near):
    """A command or an option that is nearly right is named, with exit status 2."""
    result = run(*words)
    assert result.exit_code == 2 and near in result.stderr and not result.stdout


@pytest.mark.medium
def test_a_budget_that_has_not_enough_left_has_a_status_of_its_own(here):
    """Scripts can tell it from a command that was not understood; nothing is printed or charged."""
    missing = run("budget", "show", "people.budget")
    assert missing.exit_code == 2 and "nobounds budget create people.budget --epsilon 3" in missing.stderr
    run("budget", "create", "people.budget", "--epsilon", "1")
    words = ["mean", "people.csv", "--column", "income", "--budget", "people.budget"]
    assert run(*words, "--epsilon", "2").exit_code == 3
    assert run(*words, "--epsilon", "no").exit_code == 2
    assert json.loads(run("budget", "show", "people.budget", "--json").stdout)["charges"] == []
    assert run(*words, "--epsilon", "1").exit_code == 0


@pytest.mark.medium
def test_a_team_shares_a_budget_from_the_shell(here):
    """A command keeps who asked and why, says what is left, and speaks of options where it refuses."""
    run("budget", "create", "people.budget", "--epsilon", "2")
    words = ["count", "people.csv", "--budget", "people.budget"]
    done = run(*words, "--epsilon", "1.5", "--note", "report", "--author", "Ada", "--json")
    assert done.stderr == "people.budget: epsilon 0.5 of 2 is left.\n" and json.loads(done.stdout)
    charge = nb.Budget(path="people.budget").history[0]
    assert (charge.what, charge.label, charge.note, charge.author) == ("count of rows", "people.csv", "report", "Ada")
    refused = run(*words, "--epsilon", "0.7")
    advice = "you asked for epsilon 0.7, but 0.5 of 2 is left. Use --epsilon 0.5 or less."
    assert refused.exit_code == 3 and refused.stderr == f"Error: Budget exceeded: {advice}\n"
    other = run("count", "people.parquet", "--budget", "people.budget", "--epsilon", "0.1")
    assert other.exit_code == 2 and "with: nobounds budget allow FILE people.parquet" in other.stderr
    assert not other.stdout and len(nb.Budget(path="people.budget").history) == 1
    same = run("count", "people.parquet", "--budget", "people.budget", "--epsilon", "0.1", "--label", "people.csv")
    assert same.exit_code == 0 and "epsilon 0.4 of 2 is left" in same.stderr
    assert "--note needs --budget" in run("count", "people.csv", "--epsilon", "1", "--note", "report").stderr


@pytest.mark.medium
def test_several_columns_share_one_epsilon(here):
    """Both are answered for the one total, which the budget is charged; what does not fit is not begun."""
    run("budget", "create", "people.budget", "--epsilon", "1")
    words = ["mean", "people.csv", "--column", "age", "--column", "income", "--column", "user_id"]
    answer = json.loads(run(*words, "--epsilon", "1", "--budget", "people.budget", "--json").stdout)
    assert [each["parameters"]["column"] for each in answer["releases"]] == ["age", "income", "user_id"]
    assert 0.999 < answer["loss"]["epsilon"] <= 1 and nb.Budget(path="people.budget").remaining < 1e-9
    run("budget", "create", "small.budget", "--epsilon", "1")
    refused = run(*words, "--epsilon", "1.2", "--budget", "small.budget")
    assert refused.exit_code == 3 and "you asked for epsilon 1.2, but 1 of 1 is left" in refused.stderr
    assert not nb.Budget(path="small.budget").history
    shown = run("quantile", *words[1:4], "--column", "income", "--q", "0.5", "--rho", "0.5").stdout
    assert shown.index("age\n") < shown.index("income\n") and shown.count("income\n") == 1
    assert shown.count("Total privacy loss: ") == 1
    grouped = run(*words, "--epsilon", "1", "--by", "user_id", "--keys", "u1")
    assert grouped.exit_code == 2 and "--by takes a single --column" in grouped.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["mean", "--column", "age", "--epsilon", "1", "--epsilon", "2"],
        ["histogram", "--column", "age", "--edges", "1,2", "--edges", "3", "--epsilon", "1"],
        ["weighted-mean", "--column", "age", "--weights", "age", "--weights", "income", "--epsilon", "1"],
        ["budget", "create", "--epsilon", "1", "--epsilon", "2"],
    ],
    ids=" ".join,
)
def test_no_option_silently_wins_over_another(here, words):
    """An option that takes one value is refused if it is given twice; nothing is released, made or charged."""
    option = next(word for word in words if word.startswith("--") and words.count(word) > 1)
    file = "new.budget" if words[0] == "budget" else "people.csv"
    result = run(*words, file)
    assert result.exit_code == 2 and f"{option} can be given only once here" in result.stderr
    assert not result.stdout and not (here / "new.budget").exists()


def test_a_folder_or_a_glob_without_match_is_explained(here):
    """The message names what was given and what to write instead."""
    (here / "visits").mkdir()
    folder = run("count", "visits", "--epsilon", "1")
    assert folder.exit_code == 2 and "visits is a folder; name its files, for example visits/*.csv" in folder.stderr
    none = run("count", "visits/*.csv", "--epsilon", "1")
    assert "no file matches visits/*.csv" in none.stderr


@pytest.fixture
def damaged(here) -> Path:
    """A Parquet file whose schema can be read and whose data cannot, and a budget."""
    found = bytearray((here / "people.parquet").read_bytes())
    pages = slice(4, len(found) - 8 - int.from_bytes(found[-8:-4], "little"))
    found[pages] = b"\xff" * len(found[pages])
    (here / "damaged.parquet").write_bytes(found)
    run("budget", "create", "people.budget", "--epsilon", "9")
    return here


CHARGED = "; the budget was charged (epsilon 1) before the data were read\n"


@pytest.mark.medium
@pytest.mark.parametrize(
    "words",
    [
        ["mean", "--column", "income"],
        ["describe"],
        ["count", "--column", "income", "--by", "user_id", "--keys", "1"],
        ["rows-per-unit", "--unit", "user_id"],
    ],
    ids=lambda words: words[0],
)
def test_an_error_after_a_charge_says_what_was_charged(damaged, words):
    """The charge stays, in the budget and in the line of the error; without a budget there is none to tell of."""
    name, *options = words
    given = [name, "damaged.parquet", *options, "--epsilon", "1"]
    alone = run(*given)
    assert alone.exit_code == 2 and "charged" not in alone.stderr
    paid = run(*given, "--budget", "people.budget")
    assert paid.exit_code == 2 and not paid.stdout and paid.stderr == alone.stderr.removesuffix("\n") + CHARGED
    assert len(nb.Budget(path="people.budget").history) == 1


def test_an_error_before_a_charge_tells_of_none(damaged):
    """What is refused before the budget is charged says nothing of it, and leaves the budget as it was."""
    words = ["damaged.parquet", "--budget", "people.budget"]
    for given in (["--column", "no", "--epsilon", "1"], ["--column", "income", "--epsilon", "10"]):
        result = run("mean", *words, *given)
        assert result.exit_code in (2, 3) and "charged" not in result.stderr
    assert not nb.Budget(path="people.budget").history


@pytest.mark.parametrize("raised", [RuntimeError("1234"), OSError("full"), KeyboardInterrupt()], ids=repr)
def test_what_fails_after_the_answer_says_what_was_charged(damaged, monkeypatch, raised):
    """Where the answer cannot be drawn or printed, or Ctrl-C comes in between, the charge is told as well."""

    def fails(*given, **how):
        raise raised

    monkeypatch.setattr(each_command, "show", fails)
    result = run("count", "people.csv", "--epsilon", "1", "--budget", "people.budget")
    assert result.stderr.endswith(CHARGED) and result.stderr.count("\n") == 1 and "1234" not in result.stderr
    assert result.exit_code == {RuntimeError: 1, OSError: 2, KeyboardInterrupt: 130}[type(raised)]


def test_a_purse_knows_what_was_charged():
    """Charges add up; one that is refused is none."""
    budget = nb.Budget(epsilon=1)
    purse = Purse(budget)
    assert purse.loss is None
    with pytest.raises(nb.BudgetExceeded):
        purse.charge(nb.PrivacyLoss.pure(2), "a count")
    assert purse.loss is None
    for _ in range(2):
        purse.charge(nb.PrivacyLoss.pure(0.4), "a count")
    assert purse.loss.epsilon == 0.8 and [each.what for each in budget.history] == ["a count"] * 2


def test_an_interrupt_is_quiet(here, monkeypatch):
    """Ctrl-C in the middle of a command ends it with status 130, and no traceback."""

    def interrupted(*given, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr(each_command, "opened", interrupted)
    result = run("count", "people.csv", "--epsilon", "1")
    assert result.exit_code == 130 and not result.stdout and not result.stderr


ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/start.md", "docs/explain.md", "docs/recipes/budgets.md"]
MAKES = re.compile(r"Budget\([^)]*=[^)]*, path=\"([^\"]+)\"|budget create (\S+)")


def test_pages_make_budgets_of_different_names():
    """Whoever does one page after the other in a folder makes no budget twice."""
    made = [one or other for page in PAGES for one, other in MAKES.findall((ROOT / page).read_text())]
    assert len(made) >= len(PAGES) and len(set(made)) == len(made)


def test_the_shell_of_the_first_page_stands_alone():
    """Commands that charge a budget, in a tab of the quick start, make it before."""
    blocks = re.findall(r"^    ```sh\n(.*?)^    ```", (ROOT / "docs/start.md").read_text(), re.M | re.S)
    charging = [block for block in blocks if "--budget" in block]
    for block in charging:
        name = block.split("--budget ")[1].split()[0]
        assert f"budget create {name}" in block.split("--budget")[0]
    assert charging


def test_percentages_of_the_concepts_are_on_the_safe_side():
    """What an attacker may believe after an answer is rounded up, and holds under the condition that the page names."""
    text = " ".join((ROOT / "docs/concepts/epsilon.md").read_text().split())
    for epsilon, words in (
        (0.1, "at most {}% sure after an answer with epsilon 0.1"),
        (1, "at most {}% sure with epsilon 1,"),
    ):
        told = float(re.search(words.replace("{}", r"([\d.]+)"), text)[1])
        assert told - 0.1 < 100 * guess(nb.PrivacyLoss.pure(epsilon)) <= told
    assert "do not depend on Ann. An attacker who was 50% sure" in text and "whatever they know" not in text


CODE = "from nobounds.cli.__main__ import main; main()"


@pytest.mark.medium
def test_a_closed_pipe_is_quiet(here):
    """After `| head` nothing is said on stderr, whether the output was written at once or at the end."""
    words = [
        "sum",
        "people.parquet",
        "--column",
        "income",
        "--epsilon",
        "1",
        "--by",
        "user_id",
        "--delta",
        "0.5",
        "--csv",
    ]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-c", CODE, *words], stdout=writing, stderr=subprocess.PIPE, timeout=60)
    os.close(writing)
    assert done.returncode == 141 and not done.stderr


def complete(text: str) -> list[str]:
    """What bash is offered after a text."""
    shell = {"_NOBOUNDS_COMPLETE": "complete_bash", "COMP_WORDS": text, "COMP_CWORD": str(len(text.split(" ")) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=os.environ | shell, capture_output=True, text=True, timeout=60
    )
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.medium
def test_the_shell_completes_names_and_columns_of_parquet_files(here):
    """Commands, names that options take, and columns of a schema; nothing of the first line of a CSV file."""
    assert complete("nobounds qu") == ["quantile"]
    assert complete("nobounds mean people.parquet --column in") == ["income"]
    assert complete("nobounds mean people.csv --column ") == []
    assert complete("nobounds mean people.csv --header yes --column in") == ["income"]
    assert complete("nobounds mean people.csv --type income=integer --column ") == ["income"]


def test_options_that_take_a_name_complete_it():
    """Relations, noises, methods, formats, families and statistics are offered."""
    found = {}
    for name, command in ALL.items():
        for param in command.params:
            offered = [item.value for item in param.shell_complete(typer.Context(command), "")]
            if offered:
                found[f"{name} {param.name}"] = offered
    assert found["quantile noise"] == ["exponential", "laplace", "gumbel"]
    assert found["quantile method"] == ["auto", "walk", "flip", "exponential"]
    assert found["sum neighbors"] == found["budget create neighbors"] == ["add-remove", "swap"]
    assert found["plan statistic"][0] == "quantile" and "lognormal" in found["plan family"]
    assert (
        found["describe format"] == ["csv", "tsv", "jsonl", "parquet", "arrow", "xlsx"]
        and "table1" in found["paper part"]
    )


@pytest.fixture
def screen(monkeypatch):
    """A printer on a terminal of so many columns, or into a pipe, and what it printed."""

    def made(columns, terminal):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("FORCE_COLOR", "1" if terminal else "")
        file = io.StringIO()
        monkeypatch.setattr(sys, "stdout", file)
        return printer(), file

    return made


def test_a_table_that_does_not_fit_is_told_line_by_line(screen):
    """On a narrow terminal no number is cut; in a pipe the table is as wide as it has to be."""
    release = nb.Release("mean", 123456.789, nb.PrivacyLoss.pure(1), {"clip": [-1e5, 2e6]}, ((123_000.0, 124_000.0),))
    for columns, terminal in ((60, True), (40, False)):
        _, file = screen(columns, terminal)
        show(release, as_json=False)
        text = file.getvalue()
        assert "123,500" in text and "-100,000 to 2,000,000" in text and "…" not in text
        assert ("value: 123,500" in text) == terminal
    wide, file = screen(40, False)
    table = Table()
    table.add_column("name")
    table.add_row("x" * 300)
    wide.show(table)
    assert "x" * 300 in file.getvalue() and "\x1b" not in file.getvalue()


def test_a_count_has_no_clip(here):
    """The table has no empty column."""
    assert "clip" not in run("count", "people.csv", "--epsilon", "1").stdout


def test_reading_from_a_terminal_says_so(monkeypatch, capsys):
    """Who types `-` at a terminal is told what is waited for, on stderr; in a pipe nothing is said."""
    pipe = io.TextIOWrapper(io.BytesIO(b"a\n1\n"))
    for typed, said in ((Typed(b"a\n1\n"), "standard input; Ctrl-D ends it."), (pipe, "")):
        monkeypatch.setattr(sys, "stdin", typed)
        with ExitStack() as stack:
            stream_of(Data(files=["-"], text=Text(header="yes")), None, stack)
        printed = capsys.readouterr()
        assert said in printed.err and bool(said) == bool(printed.err) and not printed.out


class Typed(io.TextIOWrapper):
    """What is typed at a terminal."""

    def __init__(self, typed: bytes) -> None:
        super().__init__(io.BytesIO(typed))

    def isatty(self) -> bool:
        return True


@pytest.mark.medium
def test_columns_of_a_summary_that_do_not_fit_stand_below_each_other(screen):
    """On a narrow terminal no line is longer than it, every name and number is there, and nothing is cut."""
    data = {f"column_{k}": np.arange(4000) * 10.0**k for k in range(6)}
    described = nb.describe(data, epsilon=3)
    for columns in (50, 80, 400):
        _, file = screen(columns, True)
        show_description(described, "data", as_json=False)
        text = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
        table = text.partition("Epsilon 3")[0]
        assert max(map(len, table.splitlines())) <= columns and "…" not in text
        assert all(name in table and described.said(name, "50%") in table for name in data)
        assert (table.count("count ") > 1) == (columns < 400)
