"""A lock on a file that all names of the file share, and that no other use of the file can drop.

SQLite locks with POSIX record locks, except on Windows. A process loses all its record locks on a file as soon as any
of its code closes any descriptor of that file: a backup, a download, `open(path).read()`. The lock here belongs to one
open file instead, and to the file rather than to a name, so hard links, symbolic links and bind mounts share it.

- Linux: an open file description lock on the bytes that SQLite locks.
- macOS and BSD: `flock`, which excludes record locks there.
- Windows: a lock on one byte, beside SQLite's own locks, which belong to an open file on that system.

On all but Windows the lock excludes SQLite's record locks, even those of the same process. So other SQLite tools wait
for it, and its holder has to open SQLite without locks (`sqlite_vfs`).
"""

import errno
import importlib
import os
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nobounds.values import dataclass

_SQLITE_BYTES = (0x40000000, 512)  # the bytes that SQLite locks, start and length: far beyond the end of a ledger
_OWN_BYTE = 0x40000000 + 512
_TAKEN = {errno.EAGAIN, errno.EACCES}  # error codes for a lock that others hold
_LONGEST_PAUSE = 0.01  # seconds between two attempts


@dataclass(frozen=True, slots=True)
class LockKind:
    """How a system locks an open file: `take` does not wait, but raises an OSError if others hold the lock."""

    take: Callable[[int, bool], object]  # a descriptor, and whether the lock excludes readers as well
    release: Callable[[int], object]
    sqlite_vfs: str | None  # the VFS with which SQLite works under the lock, or None for the default


@dataclass(frozen=True, slots=True)
class LockedFile:
    """A file whose lock is held."""

    path: Path
    descriptor: int

    def read(self, start: int, count: int) -> bytes:
        """Some bytes of the file."""
        os.lseek(self.descriptor, start, os.SEEK_SET)
        return os.read(self.descriptor, count)

    def write(self, start: int, content: bytes) -> None:
        """Overwrite some bytes of the file."""
        os.lseek(self.descriptor, start, os.SEEK_SET)
        if os.write(self.descriptor, content) != len(content):
            raise OSError(f"{self.path} could not be written")

    def sync(self) -> None:
        """Flush writes to the disk, so that they survive a power failure."""
        getattr(os, "fdatasync", os.fsync)(self.descriptor)

    def links(self) -> int:
        """The number of hard links to the file."""
        return os.fstat(self.descriptor).st_nlink

    def has_its_name(self) -> bool:
        """Whether the path still names this file."""
        if sys.platform == "win32":
            return True  # Windows does not rename or replace open files
        try:
            return os.path.samestat(os.fstat(self.descriptor), os.stat(self.path))
        except FileNotFoundError:
            return False


@contextmanager
def locked(path: Path, *, to_write: bool, patience: float) -> Iterator[LockedFile]:
    """Hold the lock of the file at `path`: exclusively with `to_write`, otherwise shared with other readers.

    Raises TimeoutError if others hold it for longer than `patience` seconds.
    """
    kind = KINDS[platform_kind()]
    deadline = time.monotonic() + patience
    flags = (os.O_RDWR if to_write else os.O_RDONLY) | getattr(os, "O_BINARY", 0)
    process = os.getpid()
    while True:
        try:
            file, held = LockedFile(path, os.open(path, flags)), False
        except FileNotFoundError:
            raise FileNotFoundError(f"{path} is gone") from None
        try:
            held = _wait(kind, file, to_write, deadline)
            if not held:
                raise TimeoutError(f"{path} was in use for {patience} seconds: try again")
            if not file.has_its_name():  # another file took its place while we waited
                continue
            yield file
            return
        finally:
            # A child forked in between shares the open file, so without an explicit release the lock would last as long
            # as the child; and the child itself must not release the lock of its parent.
            if held and os.getpid() == process:
                kind.release(file.descriptor)
            os.close(file.descriptor)


def platform_kind() -> str:
    """The kind of lock for this system. All processes that share a file have to use the same one."""
    return "byte" if sys.platform == "win32" else "record" if sys.platform in ("linux", "android") else "flock"


def sqlite_vfs() -> str | None:
    """The VFS with which SQLite works on a file whose lock is held, or None for the default."""
    return KINDS[platform_kind()].sqlite_vfs


def _wait(kind: LockKind, file: LockedFile, alone: bool, deadline: float) -> bool:
    """Take the lock as soon as it is free; False if that takes longer than the deadline."""
    pause = 0.0005
    while True:
        try:
            kind.take(file.descriptor, alone)
            return True
        except OSError as error:
            if error.errno not in _TAKEN:
                raise OSError(
                    f"{file.path} cannot be locked, and without a lock nothing is released ({error})"
                ) from error
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(2 * pause, _LONGEST_PAUSE)


def _take_record(descriptor: int, alone: bool) -> None:
    import fcntl

    _set_record(descriptor, fcntl.F_WRLCK if alone else fcntl.F_RDLCK)


def _release_record(descriptor: int) -> None:
    import fcntl

    _set_record(descriptor, fcntl.F_UNLCK)


def _set_record(descriptor: int, kind: int) -> None:
    import fcntl

    command = getattr(fcntl, "F_OFD_SETLK", 37)  # missing in Pythons built on an old Linux
    fcntl.fcntl(descriptor, command, struct.pack("hhqqi4x", kind, os.SEEK_SET, *_SQLITE_BYTES, 0))


def _take_flock(descriptor: int, alone: bool) -> None:
    import fcntl

    fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)


def _release_flock(descriptor: int) -> None:
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _take_byte(descriptor: int, alone: bool) -> None:
    """Windows has no shared locks in its C library, so readers exclude each other too."""
    _set_byte(descriptor, "LK_NBLCK")


def _release_byte(descriptor: int) -> None:
    _set_byte(descriptor, "LK_UNLCK")


def _set_byte(descriptor: int, mode: str) -> None:
    msvcrt: Any = importlib.import_module("msvcrt")  # exists on Windows only, so elsewhere mypy has no types for it
    os.lseek(descriptor, _OWN_BYTE, os.SEEK_SET)
    msvcrt.locking(descriptor, getattr(msvcrt, mode), 1)


KINDS = {
    "record": LockKind(_take_record, _release_record, "unix-none"),
    "flock": LockKind(_take_flock, _release_flock, "unix-none"),
    "byte": LockKind(_take_byte, _release_byte, None),
}
