"""The commands for statistics of columns, where several of them are given."""

import shlex

from support.shell import with_header
from typer.testing import CliRunner

from nobounds.cli.app import app


def run(*words):
    """The result of one command."""
    return CliRunner().invoke(app, with_header(*words))


def test_several_columns_by_group_are_a_task_for_agg(tmp_path, monkeypatch):
    """The message has the options to use instead, and they work."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("user,age,income\n" + "".join(f"u{i % 2},{i % 60},{i}\n" for i in range(900)))
    words = ["people.csv", "--epsilon", "9", "--by", "user", "--keys", "u1"]
    refused = run("mean", *words, "--column", "age", "--column", "income")
    asks = shlex.split(refused.stderr.partition("for example with ")[2])
    assert asks == ["--ask", "mean(age)", "--ask", "mean(income)"] and run("agg", *words, *asks).exit_code == 0
