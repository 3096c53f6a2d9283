"""Trials of eight processes that charge one ledger while the file is opened and closed all around them.

In each process a thread opens, reads and closes the file, through the path, a symbolic link and a hard link in another
folder. `test_ledger_locks.py` runs this file. The processes are forked from one that has loaded all it needs.
"""

import errno
import fcntl
import itertools
import json
import os
import sqlite3
import sys
import threading
import time
import types
from contextlib import closing
from pathlib import Path

import nobounds
from nobounds.accounting.budget import Budget, BudgetExceeded, read
from nobounds.accounting.loss import PrivacyLoss

PROCESSES = 8
CAPACITY = 32  # charges
ATTEMPTS = 40  # of each process
TENTH = PrivacyLoss(0.1, 0.005, 0.2, "swap")


def use(kind: str) -> None:
    """Lock as on another system; `default` is the system as it is, and `none` leaves SQLite's own locks alone."""
    if kind != "default":
        from nobounds.accounting import file_lock

        sys.modules["msvcrt"] = windows_module()
        file_lock.KINDS["none"] = file_lock.LockKind(lambda descriptor, alone: None, lambda descriptor: None, None)
        file_lock.platform_kind = lambda: kind


def windows_module() -> types.ModuleType:
    """A stand-in for Python's msvcrt: an exclusive lock of an open file, on a byte where SQLite locks nothing."""
    module = types.ModuleType("msvcrt")

    def locking(descriptor: int, mode: int, count: int) -> None:
        assert os.lseek(descriptor, 0, os.SEEK_CUR) >= 0x40000000 + 512 and count == 1
        try:
            fcntl.flock(descriptor, fcntl.LOCK_UN if mode == module.LK_UNLCK else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    module.LK_UNLCK, module.LK_NBLCK, module.locking = 0, 2, locking
    return module


def names(folder: Path) -> list[Path]:
    """The path of the ledger, a symbolic link to it, and a hard link in another folder."""
    return [folder / "people.budget", folder / "link.budget", folder / "elsewhere" / "people.budget"]


def open_and_close(paths: list[Path], over: threading.Event) -> None:
    """What a backup, a download or a virus scanner does."""
    for path in itertools.cycle(paths):
        with open(path, "rb", buffering=0) as file:
            file.read(4096)
        if over.wait(0.0002):
            return


def charge(folder: Path, number: int, by: str) -> dict[str, list[str]]:
    """What was granted until nothing was left, and what was raised meanwhile."""
    paths, over = names(folder), threading.Event()
    granted, errors = [], []
    thread = threading.Thread(target=open_and_close, args=(paths, over))
    thread.start()
    budget = None
    for count in range(ATTEMPTS):
        what = f"{number} {count}"
        try:
            budget = budget or Budget(path=paths[number % 3 if by == "names" else 0])
            budget.charge(TENTH, what)
            granted.append(what)
        except BudgetExceeded:
            break
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")
    over.set()
    thread.join()
    return {"granted": granted, "errors": errors}


def look(folder: Path, by: str) -> dict[str, list[str]]:
    """Read the ledger again and again, with another SQLite tool or with nobounds; and what was raised."""
    errors = []
    for path in itertools.cycle(names(folder)):
        if (folder / "over").exists():
            return {"granted": [], "errors": errors}
        try:
            if by == "sqlite":
                with closing(sqlite3.connect(path, timeout=60)) as connection:
                    connection.execute("SELECT count(*) FROM charges").fetchall()
            else:
                read(path)
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")
        time.sleep(0.001)


def forked(work, *given) -> tuple[int, int]:
    """A new process, and the end of a pipe from which to read what its work returned."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    try:
        with open(writing, "w") as pipe:
            json.dump(work(*given), pipe)
    finally:
        os._exit(0)


def said(pid: int, reading: int) -> dict[str, list[str]]:
    """What the work of a process returned."""
    with open(reading) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(text or '{"granted": [], "errors": ["no word"]}')


def trial(folder: Path, by: str, looking: str) -> dict:
    """What was granted, what is in the ledger, and what went wrong, for one new ledger."""
    path, link, other = names(folder)
    other.parent.mkdir(parents=True)
    Budget(epsilon=CAPACITY / 10, path=path)
    link.symlink_to(path)
    other.hardlink_to(path)
    readers = [] if looking == "nobody" else [forked(look, folder, looking)]
    found = [said(*each) for each in [forked(charge, folder, number, by) for number in range(PROCESSES)]]
    (folder / "over").touch()
    found += [said(*each) for each in readers]
    granted, errors = ([line for each in found for line in each[key]] for key in ("granted", "errors"))
    try:
        there = [charge.what for charge in Budget(path=path).history]
    except (OSError, ValueError) as error:
        there, errors = [], [*errors, f"afterwards: {error}"]
    missing = len(set(granted) - set(there))
    return {"granted": len(granted), "charged": len(there), "missing": missing, "errors": errors}


def main(folder: str, trials: str, by: str, looking: str, kind: str) -> None:
    """Print what came of each trial, and which nobounds it was."""
    use(kind)
    found = [trial(Path(folder) / str(number), by, looking) for number in range(int(trials))]
    print(json.dumps({"nobounds": nobounds.__file__, "trials": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
