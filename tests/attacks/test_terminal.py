"""Names and keys with escape codes in them: a terminal gets them as text, and JSON stays JSON."""

import json
import os
import pty
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from support.shell import run

import nobounds as nb
from nobounds.cli.commands.groups import show_groups

EVIL = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202e"
ODD = {"escape": EVIL, "new line": "a\nb", "not UTF-8": os.fsdecode(b"\xff\xfe")}
SAFE = {"\n", "\t"}


def obeyed(text):
    """The characters in a text that a terminal would obey, and new lines that no line of ours ends with."""
    return {c for c in text if not c.isprintable() and c not in SAFE}


@pytest.fixture(params=ODD)
def folder(request, tmp_path, monkeypatch):
    """A file whose name, columns and keys are odd, and a budget for an odd unit."""
    monkeypatch.chdir(tmp_path)
    odd = ODD[request.param]
    name = odd.replace("/", "") + ".csv"
    quoted = '"' + odd + '"'
    rows = "".join(f"{i},{quoted if i % 2 else 'plain'},{i % 50}\n" for i in range(2000))
    with open(name, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(f"{quoted},key,user\n{rows}")
    return name, odd.strip().encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def commands(name, odd):
    """All kinds of commands, with the odd name wherever one can be."""
    spend = ["--epsilon", "1"]
    unit = ["--unit", odd, "--rows-per-unit", "1"]
    yield "describe", name, *spend, "--header", "yes"
    yield "describe", name, *spend, "--header", "yes", "--unit", "user", "--rows-per-unit", "3"
    yield "mean", name, "--column", odd, *spend
    yield "mean", name, "--column", "user", *spend, *unit
    yield "sum", name, "--column", odd, *spend, "--by", "key", "--delta", "0.01"
    yield "count", name, *spend, "--by", odd, "--delta", "0.01", *unit
    yield "rows-per-unit", name, "--unit", odd, *spend
    yield "quantile", name, "--column", odd, "--q", "0.5", "--q", "0.9", *spend


@pytest.mark.medium
def test_no_command_obeys_a_name_or_a_key(folder):
    """Whatever names the files, columns, units and keys have, what is printed is printable."""
    name, odd = folder
    for words in commands(name, odd):
        done = run(*words)
        assert done.exit_code == 0, (words, done.stderr)
        assert not obeyed(done.stdout) and not done.stderr


@pytest.mark.medium
def test_json_stays_json(folder):
    """With --json the same commands print one valid object, in which names and keys are as they were."""
    name, odd = folder
    for words in commands(name, odd):
        done = run(*words, "--json")
        assert done.exit_code == 0 and not obeyed(done.stdout)
        found = json.loads(done.stdout, parse_constant=pytest.fail)
        assert isinstance(found, dict)
        if words[0] == "describe":
            assert odd in {**found["columns"], **found["skipped"]}
        if words[0] == "sum":
            missing = "\ufffd" in odd  # records that are no UTF-8 are in no group
            assert sorted(found["keys"]["key"]) == sorted(["plain", *([] if missing else [odd])])


@pytest.mark.medium
def test_no_error_obeys_a_name(folder):
    """Errors that name a file, a column or a budget are printable lines too."""
    name, odd = folder
    evil = f"no{EVIL}"
    for words in (
        ("mean", f"{evil}.csv", "--column", "x", "--epsilon", "1"),
        ("mean", name, "--column", evil, "--epsilon", "1"),
        ("mean", name, "--column", odd, "--epsilon", evil),
        ("mean", name, "--column", odd, "--epsilon", "1", "--budget", evil),
        ("mean", name, "--column", odd, "--epsilon", "1", "--unit", evil, "--rows-per-unit", "1"),
        ("sum", name, "--column", odd, "--epsilon", "1", "--by", evil, "--keys", "a"),
        ("budget", "show", evil),
        ("mean", "--sql", f"select {evil}", "--column", "x", "--epsilon", "1"),
        ("mean", "--sql", "select 1 as x", "--column", evil, "--epsilon", "1"),
        ("mean", "--sql", "select 1", "--database", evil, "--column", "x", "--epsilon", "1"),
        ("describe", name, "--epsilon", "1", "--plot", evil),
        ("plan", "quantile", "--q", "0.5", "--sample", f"{evil}.csv", "--column", evil, "--epsilon", "1"),
    ):
        done = run(*words)
        assert done.exit_code == 2 and done.stderr.startswith("Error: ") and not done.stdout
        assert not obeyed(done.stderr) and done.stderr.count("\n") == 1, words


@pytest.mark.medium
def test_no_budget_obeys_a_name(folder):
    """A budget in a file of an odd name, for an odd unit, shows its charges in printable lines and in JSON."""
    name, odd = folder
    budget = f"{odd}.budget"
    done = run("budget", "create", budget, "--epsilon", "3", "--unit", odd)
    assert done.exit_code == 0 and not obeyed(done.stdout) and done.stdout.count("\n") == 1
    charge = ("mean", name, "--column", "user", "--epsilon", "1", "--unit", odd, "--rows-per-unit", "1")
    assert run(*charge, "--budget", budget).exit_code == 0
    done = run("budget", "show", budget)
    assert done.exit_code == 0 and not obeyed(done.stdout)
    found = json.loads(run("budget", "show", budget, "--json").stdout)
    assert found["unit"] == odd and len(found["charges"]) == 1


def test_csv_for_a_terminal_is_printable_and_for_a_pipe_as_it_is(capsys, monkeypatch):
    """Machines get the keys themselves; a person who prints them on a terminal gets them in escapes."""
    release = nb.Table({"k": np.array([EVIL, "b"]), "x": np.ones(2)}).group_by("k", keys=[EVIL, "b"]).count(epsilon=1)
    show_groups(release, as_json=False, as_csv=True)
    assert EVIL in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    show_groups(release, as_json=False, as_csv=True)
    assert not obeyed(capsys.readouterr().out)


def test_releases_are_printable():
    """So is the text of a release, a summary, answers by group, a loss and a budget, in Python."""
    data = {EVIL: np.arange(50.0), "k": np.array([EVIL] * 50), "text": np.array(["x"] * 50)}
    table = nb.Table(data | {EVIL + "text": data["text"]}, unit=EVIL, rows_per_unit=1)
    found = [
        table.count(epsilon=1),
        table.describe([EVIL], epsilon=1),
        nb.describe(data, epsilon=1),
        table.group_by("k", keys=[EVIL]).count(epsilon=1),
        nb.Table(data).group_by(EVIL, delta=0.1).count(epsilon=1),
        table.count(rho=1).loss,
    ]
    for each in found:
        assert not obeyed(str(each))
    assert not obeyed(repr(table)) and not obeyed(repr(nb.Budget(epsilon=1, unit=EVIL)))


@pytest.mark.medium
def test_a_real_terminal_gets_no_escape_of_a_name(tmp_path):
    """On a terminal, where the tables have colours of their own, the title of the window stays what it was."""
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f'"{EVIL}",key\n' + "".join(f'{i},"{EVIL}"\n' for i in range(500)))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "nobounds.cli", "describe", str(path), "--header", "yes", "--epsilon", "1"]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:
                break
            if not more:
                break
            seen += more
        assert process.wait(60) == 0
    os.close(ours)
    text = seen.decode()
    assert "owned" in text and "\x1b]0;" not in text and "\x1b[2J" not in text and "\x07" not in text


def test_the_check_of_this_file_sees_escapes():
    """A name that is printed as it is would be seen."""
    assert obeyed(f"Private summary of {EVIL}") >= {"\x1b", "\x07", "\r", "\x9b", "\u202e"}
    assert not obeyed("± 3 é 名前\n") and obeyed(str(pa.scalar(EVIL)))
