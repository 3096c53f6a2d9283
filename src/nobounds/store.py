"""The file under a ledger: an SQLite database that is made whole, opened only if it is ours, and never half written."""

import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sqlite3 import Connection  # loaded when a store is made

APPLICATION_ID = int.from_bytes(b"nobo", "big")
VERSION = 1
PATIENCE = 60  # seconds to wait while others write

Fill: TypeAlias = "Callable[[Connection], None]"

# Closing any descriptor of a file drops all locks that the process has on it, those of SQLite too; so threads take
# turns with files, and a fork takes its turn, because SQLite does not survive one in the middle of a transaction.
_files = threading.RLock()


def _renew() -> None:
    global _files
    _files = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _files.acquire(), after_in_parent=lambda: _files.release(), after_in_child=_renew
    )


class Store:
    """An SQLite database, in the file at `path` or, without one, in the memory of this process."""

    def __init__(self, path: Path | None, mode: str = "rw", connection: "Connection | None" = None) -> None:
        self.path = path
        self._mode = mode
        self._connection = connection  # kept for a database in memory; a file has a new one for each transaction
        self._pid = os.getpid()
        self._own = threading.RLock()

    @classmethod
    def in_memory(cls, fill: Fill) -> "Store":
        """A database that ends with the process."""
        connection = _connect(None, "memory")
        _fill(connection, fill)
        return cls(None, connection=connection)

    @classmethod
    def create(cls, path: Path, fill: Fill) -> None:
        """Make a new file, whole from the first moment that it has its name."""
        if os.path.lexists(path):
            raise _taken(path)
        if os.path.lexists(journal := path.with_name(f"{path.name}-journal")):
            # SQLite would write the pages in it, which belong to a ledger that is gone, into the new one.
            raise FileExistsError(f"{journal} is left over from another ledger: remove it, or choose another path")
        if not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent}")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise PermissionError(f"the folder {path.parent} is read-only, and a budget has to write in it")
        draft = path.absolute().with_name(f".{os.urandom(8).hex()}.budget")
        try:
            with _files, _reporting(draft, "rwc"), closing(_connect(draft, "rwc")) as connection:
                _fill(connection, fill)
            try:
                os.link(draft, path)
            except FileExistsError:
                raise _taken(path) from None
        finally:
            draft.unlink(missing_ok=True)
        _sync(draft.parent)

    @classmethod
    def open(cls, path: Path, *, to_write: bool = True) -> "Store":
        """The database in a file that says it is ours. A file that is refused is not touched."""
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no {path}: create it with Budget(epsilon=..., path=...)") from None
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(f"{path} is a folder, not a ledger of nobounds")
        if not stat.S_ISREG(mode):
            raise ValueError(f"{path} is not a ledger of nobounds")
        real = path.resolve()
        # The superuser may write to a file that nobody may write to, but was hardly meant to.
        may_write = bool(mode & 0o222) and os.access(real, os.W_OK) and os.access(real.parent, os.W_OK | os.X_OK)
        if to_write and not may_write:
            raise PermissionError(f"{path} or its folder is read-only, and a budget has to write down its charges")
        with _files:
            _check_header(path)
        return cls(real, "rw" if may_write else "ro")

    @contextmanager
    def transaction(self, begin: str) -> Iterator["Connection"]:
        """A transaction that is committed at the end, or undone if anything is raised."""
        import sqlite3

        if self.path is None and os.getpid() != self._pid:
            raise RuntimeError("a budget in memory stays in its process: a copy would spend it again; give it a path")
        with self._own if self.path is None else _files, _reporting(self.path, self._mode):
            connection = self._connection or _connect(self.path, self._mode)
            try:
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                if self.path is not None:
                    connection.close()


def damaged(path: Path | None) -> ValueError:
    """The error for a file that is ours but not whole."""
    return ValueError(f"{path} is damaged: bring back a copy that holds every charge, or count its budget as spent")


def _connect(path: Path | None, mode: str) -> "Connection":
    import sqlite3

    if path is None:
        return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection = sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, timeout=PATIENCE, isolation_level=None)
    # A killed process leaves its journal behind, with which the next one undoes the unfinished charge. After a loss of
    # power the same is done with what reached the disk, so a charge is final once its journal is gone from there: EXTRA
    # is the one setting under which COMMIT waits for that.
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.execute("PRAGMA synchronous=EXTRA")
    return connection


@contextmanager
def _reporting(path: Path | None, mode: str) -> Iterator[None]:
    """Turn what SQLite raises into built-in exceptions."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        kind = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT")  # without one, a text that is no UTF-8
        if kind.startswith("SQLITE_BUSY"):
            raise TimeoutError(f"{path} was in use for {PATIENCE} seconds: try again") from error
        if kind.startswith("SQLITE_CANTOPEN") and mode != "rwc" and not os.path.lexists(path or ""):
            raise FileNotFoundError(f"{path} is gone") from error
        if mode == "ro" and os.path.lexists(f"{path}-journal"):
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


def _check_header(path: Path) -> None:
    """Refuse what is not a ledger before SQLite sees it, which writes when it opens some kinds of files."""
    with path.open("rb") as file:
        header = file.read(100)
    application, version = (int.from_bytes(header[at : at + 4], "big") for at in (68, 60))
    if header[:16] != b"SQLite format 3\0" or application != APPLICATION_ID:
        raise ValueError(f"{path} is not a ledger of nobounds")
    if version > VERSION:
        raise ValueError(f"{path} was written by a newer nobounds: update nobounds to use it")
    if len(header) < 100 or header[18:20] != b"\x01\x01" or version != VERSION:  # a rollback journal, no other kind
        raise damaged(path)


def _taken(path: Path) -> FileExistsError:
    return FileExistsError(f"{path} exists already: open it with Budget(path={str(path)!r})")


def _sync(folder: Path) -> None:
    """Let a new name in the folder survive a loss of power."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
