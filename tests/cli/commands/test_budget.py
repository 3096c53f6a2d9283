"""The budget command: a file made, a file shown, and plain errors."""

import csv
import json
import os
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from support.shell import run as shell
from typer.testing import CliRunner, Result

from nobounds.accounting.budget import Budget
from nobounds.accounting.cost import gaussian, pure
from nobounds.accounting.loss import PrivacyLoss
from nobounds.cli.commands.budget import budget as app

TENTH = PrivacyLoss.of(pure(Fraction(1, 10)), "add-remove", "person")
GAUSSIAN = PrivacyLoss.of(gaussian(Fraction(1, 100)), "add-remove", "person")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A place for a budget."""
    return tmp_path / "people.budget"


def run(*words: object) -> Result:
    """The result of one run of the command."""
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        (["--epsilon", "3"], "epsilon 3 to spend."),
        (["--rho", "0.5"], "rho 0.5 to spend."),
        (["--epsilon", "3", "--delta", "1e-6"], "epsilon 3 at delta 1e-06 to spend."),
        (["--epsilon", "0.1", "--neighbors", "swap", "--unit", "person"], "epsilon 0.1 to spend (swap, per person)."),
    ],
    ids=str,
)
def test_create_makes_a_budget_and_says_so_in_a_line(path: Path, options: list[str], limit: str):
    """The file is a budget with nothing spent."""
    result = run("create", path, *options)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"Created {path}: {limit}\n"
    assert Budget(path=path).history == ()


def test_numbers_mean_what_they_say(path: Path):
    """0.3 on the command line is three tenths exactly."""
    run("create", path, "--epsilon", "0.3")
    budget = Budget(path=path)
    for _ in range(3):
        budget.charge(TENTH, "a third of it")
    assert budget.remaining == 0


def test_show_lists_every_charge_and_what_is_left(path: Path):
    """A row for each charge, and a line with the limit, what is spent and what remains."""
    budget = Budget(epsilon=3, path=path)
    budget.charge(TENTH, "quantile 1/2 of [bold]age")
    budget.charge(TENTH, "mean of age")
    result = run("show", path)
    assert result.exit_code == 0, result.stderr
    head, _, first, second, _, last = result.stdout.splitlines()
    assert head.split() == ["when", "(UTC)", "what", "cost"]
    assert first.startswith(f"{budget.history[0].when:%Y-%m-%d %H:%M:%S}")
    assert "quantile 1/2 of [bold]age" in first and first.rstrip().endswith("epsilon 0.1")
    assert "mean of age" in second
    assert last == "Budget: epsilon 3, spent 0.2, remaining 2.8 (add-remove, per person)."


def test_show_of_a_new_budget_is_a_line(path: Path):
    """Before the first charge there is no table."""
    run("create", path, "--rho", "1")
    assert run("show", path).stdout == "Budget: rho 1, spent 0, remaining 1.\n"


def test_show_gives_every_kind_of_charge_its_cost(path: Path):
    """A pure loss costs an epsilon, Gaussian noise a rho, and a loss at a delta both numbers."""
    budget = Budget(epsilon=3, delta=1e-6, path=path)
    budget.charge(TENTH, "pure")
    budget.charge(GAUSSIAN, "noise")
    budget.charge(PrivacyLoss(0.5, 0.01, float("inf"), "add-remove", "person", 1e-7), "at a delta")
    rows = [line.rstrip() for line in run("show", path).stdout.splitlines()[2:5]]
    costs = ["epsilon 0.1", "rho 0.01", "epsilon 0.5 at delta 1e-07"]
    assert all(row.endswith(f"  {cost}") for row, cost in zip(rows, costs, strict=True))


def test_show_prints_no_control_characters(path: Path):
    """A terminal does not obey the name of a column."""
    Budget(epsilon=3, path=path).charge(TENTH, "mean of \x1b[2J\n")
    shown = run("show", path).stdout
    assert "\x1b" not in shown and r"'mean of \x1b[2J\n'" in shown


def test_show_as_json_is_everything(path: Path):
    """One object with the limit, for whom it is, every charge and what is left."""
    budget = Budget(epsilon=3, delta=1e-6, path=path)
    empty = json.loads(run("show", path, "--json").stdout)
    budget.charge(TENTH, "first")
    found = json.loads(run("show", path, "--json").stdout)
    assert empty == {
        "epsilon": 3.0,
        "delta": 1e-6,
        "neighbors": None,
        "unit": None,
        "labels": [],
        "spent": None,
        "remaining": 3.0,
        "charges": [],
    }
    assert (found["neighbors"], found["unit"], found["remaining"]) == ("add-remove", "person", 2.9)
    assert found["spent"] == TENTH.to_dict()
    (charge,) = found["charges"]
    assert (charge["what"], charge["loss"]) == ("first", TENTH.to_dict())
    assert charge["when"] == budget.history[0].when.isoformat()


def test_show_reads_a_read_only_file(path: Path):
    """To show a budget nothing is written."""
    Budget(epsilon=3, path=path).charge(TENTH, "first")
    path.chmod(0o444)
    before = path.read_bytes()
    assert "remaining 2.9" in run("show", path).stdout
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["create", "PATH"], "needs --epsilon, --rho, or --epsilon and --delta"),
        (["create", "PATH", "--epsilon", "0"], "epsilon must be greater than 0"),
        (["create", "PATH", "--epsilon", "much"], "epsilon must be a finite number"),
        (["create", "PATH", "--epsilon", "1", "--rho", "1"], "either --epsilon or --rho"),
        (["create", "PATH", "--epsilon", "1", "--delta", "1"], "delta must be"),
        (["create", "PATH", "--epsilon", "1", "--neighbors", "both"], "neighbors must be one of"),
        (["create", "TAKEN", "--epsilon", "1"], "exists already"),
        (["show", "PATH"], "there is no"),
        (["show", "TAKEN"], "is not a ledger of nobounds"),
        (["show", "."], "is a folder"),
    ],
    ids=str,
)
def test_errors_are_one_line(path: Path, words: list[str], text: str):
    """A user's error is one line on stderr and exit code 2, and leaves no file behind."""
    taken = path.with_name("taken")
    taken.write_text("something else")
    names = {"PATH": str(path), "TAKEN": str(taken)}
    result = run(*(names.get(word, word) for word in words))
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith("Error: ") and text in result.stderr and result.stderr.count("\n") == 1
    assert list(path.parent.iterdir()) == [taken] and taken.read_text() == "something else"


def test_export_writes_every_charge(path: Path):
    """CSV has a row for each charge and JSON what `show --json` prints; no cell is a formula."""
    budget = Budget(epsilon=3, delta=1e-6, path=path)
    budget.noted("=HYPERLINK(1)", author="@Ada", label="a,b.csv").charge(TENTH, "mean of -age")
    budget.charge(GAUSSIAN, "+noise")
    for name in ("charges.csv", "charges.json"):
        result = run("export", path, "--out", path.with_name(name))
        assert result.exit_code == 0 and "Wrote 2 charges" in result.stdout, result.stderr
    with path.with_name("charges.csv").open(newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["note"], first["author"], first["label"]) == ("'=HYPERLINK(1)", "'@Ada", "a,b.csv")
    assert (first["what"], first["epsilon"], first["unit"]) == ("mean of -age", "0.1", "person")
    assert (second["what"], second["epsilon"], second["rho"], second["note"]) == ("'+noise", "", "0.01", "")
    assert json.loads(path.with_name("charges.json").read_text()) == json.loads(run("show", path, "--json").stdout)
    assert "must end in .csv or .json" in run("export", path, "--out", path.with_name("charges.txt")).stderr


def test_labels_are_created_allowed_and_shown(path: Path):
    """Every place that shows the budget names the data that it covers."""
    assert "covers people.csv." in run("create", path, "--epsilon", "3", "--label", "people.csv").stdout
    assert run("allow", path, "orders.csv").stdout == "people.budget covers people.csv, orders.csv.\n"
    Budget(path=path).noted("why", author="Ada", label="orders.csv").charge(TENTH, "first")
    shown = run("show", path).stdout
    assert shown.splitlines()[0].split()[-3:] == ["label", "note", "author"] and "why" in shown and "Ada" in shown
    assert run("allow", path.with_name("none"), "orders.csv").exit_code == 2


@pytest.mark.medium
def test_a_budget_in_postgresql_is_installed_shared_and_charged(postgres, tmp_path, monkeypatch):
    """By its address, in every command; a role has its share and no more."""
    host, name = postgres.split()[0].removeprefix("host="), f"b{os.urandom(4).hex()}"
    url = f"postgresql:///postgres?user=nobounds&host={host}"
    address, own = f"{url}#{name}", f"postgresql:///postgres?user={name}&host={host}#{name}"
    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute(f"create role {name} login")
        try:
            assert "can hold budgets" in shell("budget", "install", url).stdout
            create, whom = (
                ("budget", "create", address, "--epsilon", "3"),
                ("--neighbors", "add-remove", "--unit", "row"),
            )
            assert f"#{name}: epsilon 3 to spend" in shell(*create, *whom, "--label", "a.csv").stdout
            assert shell("budget", "share", address, name, "--epsilon", "1").exit_code == 0
            monkeypatch.chdir(tmp_path)
            (tmp_path / "a.csv").write_text("x\n" + "5\n" * 500)
            done = shell("mean", "a.csv", "--column", "x", "--epsilon", "0.75", "--budget", own)
            assert done.exit_code == 0 and f"postgresql:///postgres#{name}: epsilon 2.25 of 3 is left." in done.stderr
            done = shell("mean", "a.csv", "--column", "x", "--epsilon", "0.75", "--budget", own)
            assert done.exit_code == 3 and "share of this role" in done.stderr and done.stdout == ""
            (charge,) = json.loads(shell("budget", "show", address, "--json").stdout)["charges"]
            assert charge["label"] == "a.csv" and shell("budget", "allow", address, "b.csv").exit_code == 0
            assert "a.csv, b.csv" in shell("budget", "show", own).stdout.replace("b.csv, a.csv", "a.csv, b.csv")
        finally:
            owner.execute(f"drop owned by {name}; drop role {name}")
