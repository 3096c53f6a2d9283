"""The file of a ledger: an SQLite database, created atomically, opened only if it is ours, and never half written.

Each transaction holds the lock of the file (`file_lock`). Readers hold it too: a reader that sees the journal of a
charge in progress would roll it back. SQLite looks for a journal beside the name by which it opens the file, so a mark
in the file warns users of its other names that there may be one.
"""

import os
import stat
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from nobounds.accounting.file_lock import LockedFile, locked, sqlite_vfs

if TYPE_CHECKING:
    from sqlite3 import Connection  # loaded when a store is made

APPLICATION_ID = int.from_bytes(b"nobo", "big")
VERSION = 2  # 1 had no labels, notes and authors
PATIENCE = 60  # seconds to wait for the lock

Fill: TypeAlias = "Callable[[Connection], None]"

_HEADER, _MARK, _NO_MARK = 100, slice(72, 92), bytes(20)  # the mark is in the unused part of SQLite's header


class _Turn:
    """A lock for one thread at a time, which the thread that holds it cannot take again."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._taken = False

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for the lock; refuse a signal handler or a finalizer that interrupts the thread that holds it."""
        with self.lock:
            if self._taken:
                raise RuntimeError("a budget cannot be used while the same thread is using one: try again later")
            self._taken = True
            try:
                yield
            finally:
                self._taken = False


# Threads take turns with files, and a fork waits for its turn: a child forked during a transaction would share its lock
# and its connection.
_files = _Turn()
_inherited: list["Connection"] = []  # by a fork during a transaction of the same thread: closing one would roll it back


def _renew() -> None:
    global _files
    _files = _Turn()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _files.lock.acquire(), after_in_parent=lambda: _files.lock.release(), after_in_child=_renew
    )


class Store:
    """An SQLite database, in the file at `path`, or in the memory of this process if `path` is None."""

    def __init__(self, path: Path | None, mode: str = "rw", connection: "Connection | None" = None) -> None:
        self.path = path
        self._mode = mode
        self._connection = connection  # for a database in memory; a file gets a new one for each transaction
        self._pid = os.getpid()
        self._own = _Turn()
        if connection is not None:
            weakref.finalize(self, connection.close)  # from Python 3.13 on an open one warns when it is collected

    @classmethod
    def in_memory(cls, fill: Fill) -> "Store":
        """A database that ends with the process."""
        connection = _connect(None, "memory")
        _fill(connection, fill)
        return cls(None, connection=connection)

    @classmethod
    def create(cls, path: Path, fill: Fill) -> None:
        """Create a new file, which is complete before it appears under its name."""
        if os.path.lexists(path):
            raise _taken(path)
        if os.path.lexists(journal := _journal(path)):
            # SQLite would write the pages of this journal, which belong to a deleted ledger, into the new one.
            raise FileExistsError(f"{journal} is left over from another ledger: remove it, or choose another path")
        if not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent}")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise PermissionError(f"the folder {path.parent} is read-only, and a budget has to write in it")
        draft = path.absolute().with_name(f".{os.urandom(8).hex()}.budget")
        try:
            with _files.take(), _reporting(draft, "rwc"), closing(_connect(draft, "rwc")) as connection:
                _configure(connection)
                _fill(connection, fill)
            try:
                _place(draft, path)
            except FileExistsError:
                raise _taken(path) from None
        finally:
            draft.unlink(missing_ok=True)
        _sync(draft.parent)

    @classmethod
    def open(cls, path: Path, *, to_write: bool = True) -> "Store":
        """The database in a file with our application id. A file that is refused is not modified."""
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no {path}: create it with Budget(epsilon=..., path=...)") from None
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(f"{path} is a folder, not a ledger of nobounds")
        if not stat.S_ISREG(mode):
            raise ValueError(f"{path} is not a ledger of nobounds")
        real = path.resolve()
        # The superuser can write to read-only files, but is not meant to.
        may_write = bool(mode & 0o222) and os.access(real, os.W_OK) and os.access(real.parent, os.W_OK | os.X_OK)
        if to_write and not may_write:
            raise PermissionError(f"{path} or its folder is read-only, and a budget has to write down its charges")
        with _files.take(), path.open("rb") as file:
            _check_header(path, file.read(_HEADER))
        return cls(real, "rw" if may_write else "ro")

    @contextmanager
    def transaction(self, *, to_write: bool) -> Iterator["Connection"]:
        """A transaction that is committed at the end, or rolled back if anything is raised."""
        if self.path is not None:
            with _files.take(), _reporting(self.path, self._mode), self._opened(self.path, to_write) as connection:
                yield connection
            return
        if os.getpid() != self._pid or self._connection is None:
            raise RuntimeError("a budget in memory stays in its process: a copy would spend it again; give it a path")
        with self._own.take(), _reporting(None, self._mode), _committing(self._connection, to_write):
            yield self._connection

    @contextmanager
    def _opened(self, path: Path, to_write: bool) -> Iterator["Connection"]:
        """A transaction on the file, locked from before SQLite opens it until after SQLite has closed it."""
        with locked(path, to_write=self._mode == "rw", patience=PATIENCE) as file:
            with _marking(file, self._mode, to_write), _closing(_connect(path, self._mode)) as connection:
                _check_name(file)  # before the first statement, which may roll back an unfinished charge
                _configure(connection)
                with _committing(connection, to_write):
                    yield connection
            if to_write:
                _check_name(file)


def damaged(path: Path | None) -> ValueError:
    """The error for a file that is ours but damaged."""
    return ValueError(f"{path} is damaged: bring back a copy that holds every charge, or count its budget as spent")


def _connect(path: Path | None, mode: str) -> "Connection":
    import sqlite3

    if path is None:
        return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    vfs = f"&vfs={name}" if (name := sqlite_vfs()) else ""
    return sqlite3.connect(f"{path.as_uri()}?mode={mode}{vfs}", uri=True, timeout=PATIENCE, isolation_level=None)


def _configure(connection: "Connection") -> None:
    # A killed process leaves its journal, with which the next one rolls back the unfinished charge. After a power
    # failure the same happens with whatever reached the disk, so a charge is final once its journal is deleted from the
    # disk: EXTRA is the only setting under which COMMIT waits for that.
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.execute("PRAGMA synchronous=EXTRA")


@contextmanager
def _closing(connection: "Connection") -> Iterator["Connection"]:
    """Close the connection at the end, except in a process forked in between."""
    process = os.getpid()
    try:
        yield connection
    finally:
        if os.getpid() == process:
            connection.close()
        else:
            _inherited.append(connection)


@contextmanager
def _committing(connection: "Connection", to_write: bool) -> Iterator[None]:
    """Commit at the end, or roll back if anything is raised."""
    import sqlite3

    process = os.getpid()
    try:
        connection.execute("BEGIN IMMEDIATE" if to_write else "BEGIN")
        yield
        if os.getpid() != process:
            raise RuntimeError("a process that was forked during a charge cannot finish it, and its parent will")
        connection.execute("COMMIT")
    finally:
        if os.getpid() == process and connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")


@contextmanager
def _marking(file: LockedFile, mode: str, to_write: bool) -> Iterator[None]:
    """Keep a mark in the header while the file may have a journal, and refuse a file with the mark of another name.

    The mark identifies the folder and the name, and so the path of the journal. Under another name SQLite would not see
    the journal, and the next user of the first name would roll back all charges made in between.
    """
    process, path, journal = os.getpid(), file.path, _journal(file.path)
    header = file.read(0, _HEADER)
    _check_header(path, header)
    mark = header[_MARK]
    own = _mark_of(path) if to_write or mark != _NO_MARK else _NO_MARK
    if mark not in (_NO_MARK, own) and not (
        file.links() == 1 and os.path.lexists(journal)
    ):  # otherwise both were moved
        raise ValueError(
            f"{path} has an unfinished charge that was made under another name or in another folder:"
            " open it there first, with its journal beside it"
        )
    if to_write and mark != own:
        try:
            file.write(_MARK.start, own)
            if file.links() > 1:
                file.sync()  # a power failure must not leave a journal without its mark
        except OSError as error:
            raise OSError(f"{path} cannot be used, and without it nothing is released ({error})") from error
    try:
        yield
    finally:
        marked = mode == "rw" and (to_write or mark != _NO_MARK)
        if marked and os.getpid() == process and not os.path.lexists(journal):
            with suppress(OSError):  # the next transaction under this name clears a mark that stays
                file.write(_MARK.start, _NO_MARK)


def _mark_of(path: Path) -> bytes:
    import hashlib

    return hashlib.sha256(b"%d/%b" % (path.parent.stat().st_ino, os.fsencode(path.name))).digest()[: len(_NO_MARK)]


def _check_name(file: LockedFile) -> None:
    if not file.has_its_name():
        raise OSError(f"{file.path} was moved or replaced just now, so nothing is released: try again")


@contextmanager
def _reporting(path: Path | None, mode: str) -> Iterator[None]:
    """Turn SQLite's exceptions into built-in ones."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        kind = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT")  # the error has no name if a text is not UTF-8
        if kind.startswith("SQLITE_BUSY"):
            raise TimeoutError(f"{path} was in use for {PATIENCE} seconds: try again") from error
        if kind.startswith("SQLITE_CANTOPEN") and mode != "rwc" and not os.path.lexists(path or ""):
            raise FileNotFoundError(f"{path} is gone") from error
        if mode == "ro" and path is not None and os.path.lexists(_journal(path)):
            text = f"{path} has an unfinished charge, which cannot be undone while the file or its folder is read-only"
            raise OSError(text) from error
        if kind in ("SQLITE_ERROR", "SQLITE_NOTADB") or kind.startswith("SQLITE_CORRUPT"):
            raise damaged(path) from error
        raise OSError(f"{path} cannot be used, and without it nothing is released ({error})") from error


def _fill(connection: "Connection", fill: Fill) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={VERSION}")
    fill(connection)
    connection.execute("COMMIT")


def _check_header(path: Path, header: bytes) -> None:
    """Refuse a file that is not a ledger before SQLite opens it, because SQLite writes to some files on opening."""
    application, version = (int.from_bytes(header[at : at + 4], "big") for at in (68, 60))
    if header[:16] != b"SQLite format 3\0" or application != APPLICATION_ID:
        raise ValueError(f"{path} is not a ledger of nobounds")
    if version > VERSION:
        raise ValueError(f"{path} was written by a newer nobounds: update nobounds to use it")
    if version == 1:
        raise ValueError(f"{path} was written by an older nobounds: create a new budget of what is left in it")
    if len(header) < _HEADER or header[18:20] != b"\x01\x01" or version != VERSION:  # must use a rollback journal
        raise damaged(path)


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def _taken(path: Path) -> FileExistsError:
    return FileExistsError(f"{path} exists already: open it with Budget(path={str(path)!r})")


def _place(draft: Path, path: Path) -> None:
    """Give a finished file its name; FileExistsError if the name is taken, also if it was taken just before.

    A hard link refuses a name that is taken, and a rename replaces that file. On Windows a rename refuses it, and some
    of its file systems have no links.
    """
    (os.rename if sys.platform == "win32" else os.link)(draft, path)


def _sync(folder: Path) -> None:
    """Flush the folder to the disk, so that a new name in it survives a power failure."""
    if sys.platform != "win32":  # Windows does not open folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
