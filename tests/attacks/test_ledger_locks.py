"""Code that opens and closes a ledger's file cannot make a process lose a charge, under any name of the file."""

import json
import subprocess
import sys

import pytest
from support import crowd


def trials(folder, count, by="path", looking="nobody", kind="default"):
    """What came of some trials, in a process of their own."""
    words = [sys.executable, crowd.__file__, folder, str(count), by, looking, kind]
    result = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0 and not result.stderr, result.stderr
    return json.loads(result.stdout)["trials"]


def check(found):
    """All that the ledger had was granted and is in it, and nothing else."""
    full = {"granted": crowd.CAPACITY, "charged": crowd.CAPACITY, "missing": 0, "errors": []}
    assert found == [full] * len(found)


@pytest.mark.slow
def test_opening_and_closing_the_file_loses_no_charge(tmp_path):
    """Eight processes charge a ledger, each with a thread that opens, reads and closes it by three names, 20 times."""
    check(trials(tmp_path, 20))


@pytest.mark.slow
@pytest.mark.parametrize("looking", ["nobounds", "sqlite"])
def test_all_names_of_a_ledger_are_one_budget(tmp_path, looking):
    """So do processes that charge it by its path, a symbolic link and a hard link, while others read it."""
    check(trials(tmp_path, 6, "names", looking))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["flock", "byte"])
def test_the_locks_of_other_systems_lose_no_charge(tmp_path, kind):
    """So do processes with the locks of macOS and BSD, and with those of Windows on a stand-in for its module."""
    check(trials(tmp_path, 6, "names", "nobounds", kind))


@pytest.mark.slow
def test_the_attack_breaks_the_locks_of_sqlite(tmp_path):
    """The attack is real: with SQLite's own locks alone, granted charges are missing or the budget is overspent."""
    found = trials(tmp_path, 6, kind="none")
    assert any(each["missing"] or each["granted"] > crowd.CAPACITY for each in found)
