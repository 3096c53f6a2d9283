"""Rounds of eight processes that charge one ledger and are killed at random moments; `test_ledger.py` runs this file.

The ledger is a file, or in PostgreSQL at an address.

The processes are forked from this one, which has one thread and has loaded all it needs, so they start in no time.
"""

import json
import mmap
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nobounds.accounting.budget import Budget, BudgetExceeded
from nobounds.accounting.loss import PrivacyLoss
from nobounds.accounting.postgres.ledger import is_address

PROCESSES = 8
AMOUNT = PrivacyLoss(0.1, 0.005, 0.2, "swap")
CHARGING, BETWEEN = 1, 0


class Unfinished(Exception):
    """All who charged under a name were killed, the last one in mid-charge."""


def names(folder: Path) -> list[Path]:
    """The path of the ledger, a symbolic link to it, and a hard link."""
    return [folder / "people.budget", folder / "link.budget", folder / "other.budget"]


def patiently(use: Callable[[], Any]) -> Any:
    """Wait for those of another name to undo the charge of one of them that was killed."""
    for _ in range(100):
        try:
            return use()
        except ValueError as error:
            if "made under another name" not in str(error):
                raise
        time.sleep(0.002)
    raise Unfinished


def charge_on(path: Any, released: Path, doing: mmap.mmap, number: int, early: bool) -> None:
    """Charge until nothing is left, and write one byte, the release, after every charge; or, wrongly, before it."""
    out = os.open(released, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    budget = patiently(lambda: Budget(path=path))
    while True:
        doing[number] = CHARGING
        if early:
            os.write(out, b"x")
        try:
            patiently(lambda: budget.charge(AMOUNT, f"process {number}"))
        except (BudgetExceeded, Unfinished):
            doing[number] = BETWEEN
            return
        if not early:
            os.write(out, b"x")
        doing[number] = BETWEEN


def forked(*work: Any) -> int:
    """The id of a new process that charges, and fails if anything but a full budget or the end of a name stops it."""
    pid = os.fork()
    if pid:
        return pid
    try:
        charge_on(*work)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def killing_round(folder: Path, capacity: int, moments: list[float], early: bool, by: str) -> dict[str, int]:
    """One round on a new ledger: what was released and charged, and in which state the processes were killed."""
    released, doing = folder / "released", mmap.mmap(-1, PROCESSES)
    paths: list[Any] = [f"{by}#{os.urandom(8).hex()}"] if is_address(by) else names(folder)
    Budget(epsilon=capacity / 10, path=paths[0])
    if not is_address(by):
        paths[1].symlink_to(paths[0])
    if by == "names":
        paths[2].hardlink_to(paths[0])
    else:
        paths = paths[:1]
    pids = [forked(paths[number % len(paths)], released, doing, number, early) for number in range(PROCESSES)]
    start = time.monotonic()
    killed = in_charge = failed = 0
    for number, moment in enumerate(moments):
        time.sleep(max(0.0, start + moment - time.monotonic()))
        os.kill(pids[number], signal.SIGKILL)
    for number, pid in enumerate(pids):
        _, status = os.waitpid(pid, 0)
        killed += os.WIFSIGNALED(status)
        in_charge += os.WIFSIGNALED(status) and doing[number] == CHARGING
        failed += os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0
    journals = sum(Path(f"{path}-journal").exists() for path in paths)
    refused = 0
    for path in paths:
        try:
            charged = len(Budget(path=path).history)
        except ValueError:  # the unfinished charge of another name
            refused += 1
    count = released.stat().st_size if released.exists() else 0
    for leftover in folder.iterdir():
        leftover.unlink()
    return {
        "capacity": capacity,
        "charged": charged,
        "released": count,
        "killed": killed,
        "in_charge": in_charge,
        "failed": failed,
        "journals": journals,
        "refused": refused,
    }


def main(folder: str, rounds: str, when: str, by: str) -> None:
    """Print what happened in each round. In every third all processes are killed at once, in the others one by one."""
    rng = random.Random(1)
    found = []
    for number in range(int(rounds)):
        capacity = (3, 100_000, 30, 100_000)[number % 4]
        last = rng.uniform(0.05, 0.5)
        moments = sorted(last if number % 3 == 0 else rng.uniform(0.05, 0.5) for _ in range(PROCESSES))
        found.append(killing_round(Path(folder), capacity, moments, when == "early", by))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
