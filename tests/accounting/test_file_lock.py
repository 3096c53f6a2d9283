"""The lock on a file: one for all its names, dropped by nothing but its holder, on every system."""

import fcntl
import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from support import crowd

from nobounds.accounting import file_lock
from nobounds.accounting.file_lock import KINDS, LockKind, locked, platform_kind, sqlite_vfs

OTHER = """if True:
    import json, pathlib, sys
    sys.path.insert(0, sys.argv[1])
    from support import crowd
    from nobounds.accounting.file_lock import locked
    for line in sys.stdin:
        kind, path, to_write, hold = json.loads(line)
        crowd.use(kind)
        try:
            with locked(pathlib.Path(path), to_write=to_write, patience=0):
                print("free", flush=True)
                if hold:
                    sys.stdin.readline()
        except TimeoutError:
            print("taken", flush=True)
"""


class Other(subprocess.Popen):
    """Another process, which tries locks and does not wait for them."""

    def __init__(self):
        here, pipe = str(Path(__file__).parents[1]), subprocess.PIPE
        super().__init__([sys.executable, "-c", OTHER, here], stdin=pipe, stdout=pipe, text=True, bufsize=1)

    def finds(self, kind: str, path: Path, *, to_write: bool = True, hold: bool = False) -> str:
        """Whether a lock is free or taken; if it is free, hold it until `let_go`."""
        self.stdin.write(json.dumps([kind, str(path), to_write, hold]) + "\n")
        return self.stdout.readline().strip()

    def let_go(self) -> None:
        """Release what is held."""
        self.stdin.write("\n")


@pytest.fixture(scope="module")
def other():
    """Another process."""
    with Other() as process:
        yield process
        process.kill()


@pytest.fixture(params=["record", "flock", "byte"])
def kind(request, monkeypatch) -> str:
    """Each kind of lock; that of Windows with a stand-in for its module."""
    monkeypatch.setitem(sys.modules, "msvcrt", crowd.windows_module())
    monkeypatch.setattr(file_lock, "platform_kind", lambda: request.param)
    return request.param


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file."""
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    return path


class TestExclusion:
    @pytest.mark.medium
    @pytest.mark.parametrize("to_write", [True, False])
    def test_every_name_has_the_same_lock(self, kind, path, other, to_write):
        """While one holds the path, others have neither the path nor a link to it in another folder; then they do."""
        folder = path.parent / "elsewhere"
        folder.mkdir()
        (folder / "symbolic").symlink_to(path)
        (folder / "hard").hardlink_to(path)
        names = [path, folder / "symbolic", folder / "hard"]
        for name in names:
            with locked(name, to_write=True, patience=0):
                assert [other.finds(kind, each, to_write=to_write) for each in names] == ["taken"] * 3
        assert [other.finds(kind, each, to_write=to_write) for each in names] == ["free"] * 3

    def test_closing_the_file_elsewhere_does_not_drop_it(self, kind, path, other):
        """Reading, copying or writing the file by another descriptor leaves the lock where it is."""
        with locked(path, to_write=True, patience=0):
            path.read_bytes()
            os.close(os.open(path, os.O_RDWR))
            assert other.finds(kind, path) == "taken"

    def test_a_record_lock_is_dropped_that_way(self, path, other):
        """The danger is real: a POSIX record lock is gone once the file is closed by another descriptor."""
        with path.open("r+b") as holder:
            fcntl.lockf(holder, fcntl.LOCK_EX | fcntl.LOCK_NB, 512, 0x40000000)
            assert other.finds("record", path) == "taken"
            path.read_bytes()
            assert other.finds("record", path) == "free"

    def test_readers_share_it(self, kind, path, other):
        """Readers do not exclude each other, except on Windows, and exclude those that write."""
        with locked(path, to_write=False, patience=0):
            assert other.finds(kind, path, to_write=False) == ("taken" if kind == "byte" else "free")
            assert other.finds(kind, path) == "taken"

    def test_a_read_only_file_can_be_held(self, kind, path):
        """A reader needs no right to write."""
        path.chmod(0o444)
        with locked(path, to_write=False, patience=0) as file:
            assert file.read(3, 4) == b"3456"

    def test_other_sqlite_tools_wait_for_it(self, tmp_path):
        """On Linux they neither read nor write while it is held, whoever closes the file, and it waits for them."""
        path = tmp_path / "database"
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as tool:
            tool.execute("CREATE TABLE t (x)")
            with locked(path, to_write=True, patience=0):
                path.read_bytes()
                for statement in ("SELECT * FROM t", "INSERT INTO t VALUES (1)"):
                    with pytest.raises(sqlite3.OperationalError, match="locked"):
                        tool.execute(statement)
            for begin in ("BEGIN IMMEDIATE", "BEGIN; SELECT * FROM t"):
                tool.executescript(begin)
                with pytest.raises(TimeoutError), locked(path, to_write=True, patience=0):
                    pass
                tool.execute("ROLLBACK")

    @pytest.mark.medium
    def test_a_killed_holder_leaves_it_free(self, kind, path, other):
        """The system drops the lock of a process that is gone."""
        with Other() as holder:
            assert holder.finds(kind, path, hold=True) == "free"
            assert other.finds(kind, path) == "taken"
            holder.kill()
            holder.wait()
            assert other.finds(kind, path) == "free"


class TestWaiting:
    @pytest.mark.medium
    def test_it_is_taken_as_soon_as_it_is_free(self, kind, path, other):
        """Who waits gives up in time, or gets the lock when it is released."""
        assert other.finds(kind, path, hold=True) == "free"
        start = time.monotonic()
        with pytest.raises(TimeoutError, match=r"was in use for 0\.05 seconds: try again"):
            locked(path, to_write=True, patience=0.05).__enter__()
        assert 0.05 <= time.monotonic() - start < 5
        other.let_go()
        with locked(path, to_write=True, patience=30):
            pass

    @pytest.mark.medium
    def test_a_file_that_took_its_place_is_the_one_that_is_held(self, kind, path, other, monkeypatch):
        """If the file is replaced while we wait, the lock is that of the new file."""
        new, held = path.with_name("new"), KINDS[kind]
        new.write_bytes(b"new")

        def replacing(descriptor: int, alone: bool) -> None:
            if new.exists():
                new.replace(path)
            held.take(descriptor, alone)

        monkeypatch.setitem(KINDS, kind, LockKind(replacing, held.release, held.sqlite_vfs))
        with locked(path, to_write=True, patience=0) as file:
            assert file.read(0, 10) == b"new" and file.has_its_name()
            assert other.finds(kind, path) == "taken"
            path.unlink()
            assert not file.has_its_name()

    @pytest.mark.medium
    def test_what_is_gone_or_cannot_be_locked_is_refused(self, kind, path, monkeypatch):
        """A missing file says so; a file system without such locks is an error, and never goes without a lock."""
        with (
            pytest.raises(FileNotFoundError, match="is gone"),
            locked(path.with_name("absent"), to_write=True, patience=0),
        ):
            pass

        def unable(descriptor: int, alone: bool) -> None:
            raise OSError(95, "Operation not supported")

        monkeypatch.setitem(KINDS, kind, LockKind(unable, KINDS[kind].release, None))
        with pytest.raises(OSError, match=r"cannot be locked, and without a lock nothing is released .*not supported"):
            locked(path, to_write=True, patience=0).__enter__()

    @pytest.mark.medium
    def test_a_child_neither_drops_nor_keeps_it(self, kind, path):
        """The lock ends when the parent leaves its block, although a child forked meanwhile shares the open file."""
        code = """if True:
            import os, pathlib, sys
            sys.path.insert(0, sys.argv[1])
            from support import crowd
            from nobounds.accounting.file_lock import locked
            path = pathlib.Path(sys.argv[3])
            crowd.use(sys.argv[2])

            def say():
                try:
                    with locked(path, to_write=True, patience=0):
                        print("free", flush=True)
                except TimeoutError:
                    print("taken", flush=True)

            (left, leave), (ended, end) = os.pipe(), os.pipe()
            with locked(path, to_write=True, patience=0):
                child = os.fork() == 0
                if not child:
                    os.read(left, 1)
                    say()
            if child:
                os.write(leave, b"x")
                os.read(ended, 1)
            else:
                say()
                os.write(end, b"x")
                os.wait()
        """
        words = [sys.executable, "-c", code, str(Path(__file__).parents[1]), kind, str(path)]
        result = subprocess.run(words, capture_output=True, text=True, timeout=60)
        assert result.stdout.split() == ["taken", "free"], result.stderr


class TestSystems:
    @pytest.mark.medium
    @pytest.mark.parametrize(
        ("system", "found", "vfs"),
        [
            ("linux", "record", "unix-none"),
            ("darwin", "flock", "unix-none"),
            ("freebsd14", "flock", "unix-none"),
            ("win32", "byte", None),
        ],
    )
    def test_each_system_has_its_kind(self, system, found, vfs, monkeypatch):
        """Linux locks records, macOS and BSD whole files, and Windows a byte beside SQLite's own locks."""
        monkeypatch.setattr(sys, "platform", system)
        assert (platform_kind(), sqlite_vfs()) == (found, vfs)

    @pytest.mark.medium
    def test_a_python_that_does_not_name_the_lock_of_linux_has_it_all_the_same(self, path, other, monkeypatch):
        """The number of the command is the same on every Linux."""
        assert fcntl.F_OFD_SETLK == 37
        monkeypatch.delattr(fcntl, "F_OFD_SETLK")
        with locked(path, to_write=True, patience=0):
            assert other.finds("record", path) == "taken"
