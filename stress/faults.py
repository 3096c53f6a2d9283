"""The faults of the stress test: what happens to the files of a table, to the disk, to the clock and to the ledger.

Those of the files follow from the call alone, so that the same thing can be done again; the others must not change an
answer, only keep it from being given.
"""

import os
import random
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import nobounds.accounting.ledger
import nobounds.accounting.store
from stress.calls import Call

STATEMENTS = ("BEGIN", "SELECT * FROM terms", "SELECT * FROM charges", "INSERT", "COMMIT")


def strike_files(call: Call, paths: list[Path]) -> None:
    """The fault of one of the files of a table."""
    rng = random.Random(call.seed + 1)
    path = rng.choice(paths)
    if call.fault == "file vanishes":
        path.unlink()
    elif call.fault == "file is unreadable":
        _make_unreadable(path)
    elif call.fault == "file is cut":
        os.truncate(path, rng.randrange(path.stat().st_size))
    elif path.suffix == ".csv":
        path.write_bytes(b"\n".join(garbled(call, path.read_bytes().split(b"\n"), spoilt=True)))
    else:
        _flip(path, rng)


def garbled(call: Call, lines: list[bytes], *, spoilt: bool) -> list[bytes]:
    """The lines of a CSV file with some rows spoilt; or with what these must count as: missing fields or rows."""
    rng = random.Random(call.seed + 2)
    changed = list(lines)
    for k in range(1, len(lines) - 1):
        if rng.random() > 0.1:
            continue
        fields = lines[k].split(b",")
        kind = rng.choice(("text", "bytes", "more fields", "fewer fields"))
        if kind == "text":
            changed[k] = b",".join([*fields[:3], *[b"12 apples" if spoilt else b""] * 2])
        elif kind == "bytes":
            changed[k] = b",".join([*fields[:3], b"\xff\xfe\x00" if spoilt else b"", b"1"])
        elif not spoilt:
            changed[k] = b"," * (len(fields) - 1)
        else:
            changed[k] = lines[k] + b",1" if kind == "more fields" else b",".join(fields[:-1])
    return changed


def _make_unreadable(path: Path) -> None:
    """No permission; or, since the superuser needs none, a folder in its place."""
    if os.geteuid():
        path.chmod(0)
    else:
        path.unlink()
        path.mkdir()


def _flip(path: Path, rng: random.Random) -> None:
    """Some bytes of a file are others."""
    content = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 20)):
        content[rng.randrange(len(content))] ^= rng.randint(1, 255)
    path.write_bytes(content)


@contextmanager
def full_disk(call: Call, ledger: Path) -> Iterator[None]:
    """No file may grow beyond a size: none at all, not by a page, or not beyond a little more than the ledger."""
    import resource

    sizes = (0, 4096, ledger.stat().st_size if ledger.exists() else 0, 1 << 16)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[call.seed % len(sizes)], hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def jumping_clock(call: Call) -> Iterator[None]:
    """The clock of the ledger runs back and ahead, by up to a thousand years at each look."""
    rng = random.Random(call.seed + 3)

    class Jumping(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Jumping":
            moment = datetime.now(tz) + timedelta(days=rng.uniform(-365_000, 365_000))
            return cls.fromisoformat(moment.isoformat())

    with _replaced(nobounds.accounting.ledger, "datetime", Jumping):
        yield


@contextmanager
def other_writer(call: Call, ledger: Path) -> Iterator[None]:
    """Another connection holds the ledger: for longer than a call waits, or for a moment."""
    stubborn, held, over = bool(call.seed % 2), threading.Event(), threading.Event()

    def hold() -> None:
        with closing(sqlite3.connect(ledger, isolation_level=None, timeout=20)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:  # others hold it already
                held.set()
                return
            held.set()
            over.wait(5 if stubborn else 0.1)
            connection.execute("ROLLBACK")

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        with _replaced(nobounds.accounting.store, "PATIENCE", 0.05 if stubborn else nobounds.accounting.store.PATIENCE):
            yield
    finally:
        over.set()
        thread.join()


@contextmanager
def killed_at_a_statement(call: Call) -> Iterator[None]:
    """This process is killed as soon as SQLite is about to run a statement of a charge."""
    wanted = STATEMENTS[call.seed % len(STATEMENTS)]
    connect = nobounds.accounting.store._connect

    def traced(*given: Any) -> sqlite3.Connection:
        connection = connect(*given)
        connection.set_trace_callback(lambda text: kill() if text.startswith(wanted) else None)
        return connection

    with _replaced(nobounds.accounting.store, "_connect", traced):
        yield


def kill() -> None:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def killed_while_creating(call: Call) -> Iterator[None]:
    """This process is killed before or after a new ledger gets its name."""
    link = os.link

    def deadly(*names: Any) -> None:
        if call.seed % 2:
            link(*names)
        kill()

    with _replaced(os, "link", deadly):
        yield


def strike_ledger(call: Call, ledger: Path) -> None:
    """A ledger is gone, or is cut."""
    if call.fault == "ledger vanishes":
        ledger.unlink()
    else:
        os.truncate(ledger, call.seed % ledger.stat().st_size)


@contextmanager
def _replaced(module: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)
