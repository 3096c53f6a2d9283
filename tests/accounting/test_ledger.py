"""The ledger: one transaction for each charge, whole after any kill, and a refusal of every file that is not whole."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from support import killing

import nobounds.accounting.store
from nobounds.accounting.ledger import Entries, Ledger, Limits
from nobounds.accounting.loss import PrivacyLoss
from nobounds.accounting.postgres.ledger import install

TERMS = Limits(Fraction(3), Fraction(1, 10**6), None, "swap", "person")
LOSS = PrivacyLoss(0.1, 0.005, 0.2, "swap", "person")


def anything(entries: Entries) -> None:
    """A check that allows every charge."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with three charges."""
    path = tmp_path / "people.budget"
    ledger = Ledger.create(path, TERMS, ("people", "visits"))
    for number in range(3):
        ledger.append(f"charge {number}", LOSS, anything)
    return path


def run(code: str, *words: object) -> subprocess.CompletedProcess:
    """Another process, which runs the code."""
    return subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, timeout=120)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, with its bytes."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def edited(path: Path, *statements: str) -> None:
    """Change a database behind the ledger's back."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


class TestWhatIsWritten:
    def test_reads_back_what_was_written(self, path: Path):
        """Another object reads the same terms and charges, with times in UTC that do not run ahead."""
        entries = Ledger.open(path).read()
        assert entries.terms == TERMS
        assert [charge.what for charge in entries.charges] == ["charge 0", "charge 1", "charge 2"]
        assert {charge.loss for charge in entries.charges} == {LOSS}
        assert all(charge.when.utcoffset().total_seconds() == 0 for charge in entries.charges)

    @pytest.mark.parametrize("what", ["", "naïve 中 \U0001f600", "a\x00b\n'; DROP TABLE charges", "x" * 500])
    def test_any_text_and_every_number_survive(self, tmp_path: Path, what: str):
        """Texts come back letter for letter, and numbers to their last digit, infinity too."""
        loss = PrivacyLoss(5e-324, float("inf"), 0.1 + 0.2, "swap", "人", 1e-300)
        terms = Limits(rho=Fraction(1, 3))
        ledger = Ledger.create(tmp_path / "a", terms)
        ledger.append(what, loss, anything)
        entries = Ledger.open(tmp_path / "a").read()
        assert entries.terms == terms
        assert (entries.charges[0].what, entries.charges[0].loss) == (what, loss)

    def test_it_is_a_plain_database_with_a_rollback_journal(self, path: Path):
        """The file says whose it is, and any SQLite tool reads its exact numbers."""
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA application_id").fetchone() == (0x6E6F626F,)
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.execute("SELECT epsilon, delta FROM terms").fetchone() == ("3", "1/1000000")
        assert connection.execute("SELECT epsilon, delta FROM charges").fetchone() == ("0.1", "0.0")
        connection.close()

    def test_nothing_else_is_left_in_the_folder(self, path: Path):
        """Neither the draft nor a journal stays behind."""
        assert os.listdir(path.parent) == ["people.budget"]

    def test_a_check_that_raises_writes_nothing(self, path: Path):
        """A refused charge leaves the bytes of the file as they were."""

        def refuse(entries: Entries) -> None:
            assert len(entries.charges) == 3
            raise RuntimeError("no")

        before = snapshot(path.parent)
        with pytest.raises(RuntimeError, match="no"):
            Ledger.open(path).append("more", LOSS, refuse)
        assert snapshot(path.parent) == before

    def test_a_text_that_is_no_unicode_is_not_charged(self, path: Path):
        """Half a surrogate pair cannot be stored, so the charge is refused and the ledger goes on."""
        ledger = Ledger.open(path)
        with pytest.raises(ValueError, match="surrogates"):
            ledger.append("\ud800", LOSS, anything)
        ledger.append("more", LOSS, anything)
        assert len(ledger.read().charges) == 4

    def test_two_objects_see_each_other(self, path: Path):
        """Charges by one are read by the other, in one order."""
        one, other = Ledger.open(path), Ledger.open(path)
        for ledger, what in ((one, "a"), (other, "b"), (one, "c")):
            ledger.append(what, LOSS, anything)
        assert one.read() == other.read()
        assert [charge.what for charge in one.read().charges][3:] == ["a", "b", "c"]

    def test_the_commit_is_synced_with_its_folder(self, path: Path):
        """Every connection asks for the one setting under which a commit survives a loss of power."""
        connection = nobounds.accounting.store._connect(path, "rw")
        nobounds.accounting.store._configure(connection)
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        connection.close()

    def test_a_symbolic_link_leads_to_the_ledger(self, path: Path):
        """A charge through a link is in the file that it points to, and so is its journal."""
        folder = path.parent / "elsewhere"
        folder.mkdir()
        (folder / "link").symlink_to(path)
        Ledger.open(folder / "link").append("more", LOSS, anything)
        assert len(Ledger.open(path).read().charges) == 4

    @pytest.mark.parametrize("name", ["a b?mode=memory#c%41", ":memory:", "ü.budget"])
    def test_any_name_will_do(self, tmp_path: Path, name: str):
        """A name with letters that mean something in an address is a name like any other."""
        Ledger.create(tmp_path / name, TERMS)
        assert os.listdir(tmp_path) == [name]
        assert Ledger.open(tmp_path / name).read().terms == TERMS


class TestCreation:
    def test_an_existing_file_is_left_alone(self, path: Path):
        """What exists is not replaced, whatever it is, and the text says how to open it."""
        before = snapshot(path.parent)
        with pytest.raises(FileExistsError, match=r"open it with Budget\(path="):
            Ledger.create(path, TERMS)
        assert snapshot(path.parent) == before

    def test_a_name_that_is_taken_meanwhile_is_left_alone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """If another process makes the file first, its file stays, and the draft is removed."""
        monkeypatch.setattr(os.path, "lexists", lambda path: False)
        (tmp_path / "a").write_text("first")
        with pytest.raises(FileExistsError, match="exists already"):
            Ledger.create(tmp_path / "a", TERMS)
        assert snapshot(tmp_path) == {"a": b"first"}

    @pytest.mark.medium
    def test_a_killed_creation_leaves_nothing_under_the_name(self, tmp_path: Path):
        """A process that dies before the last step has made no ledger, and the next one can."""
        code = """if True:
            import os, signal, sys, pathlib
            from fractions import Fraction
            from nobounds.accounting.ledger import Ledger, Limits
            os.link = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
            Ledger.create(pathlib.Path(sys.argv[1]), Limits(Fraction(3)))
        """
        path = tmp_path / "people.budget"
        assert run(code, path).returncode == -9
        assert not path.exists()
        Ledger.create(path, TERMS)

    def test_the_journal_of_a_lost_ledger_is_not_played_into_a_new_one(self, path: Path):
        """A journal without its ledger is refused, since SQLite would write its pages into the new file."""
        leave_a_hot_journal(path)
        path.unlink()
        with pytest.raises(FileExistsError, match="-journal is left over"):
            Ledger.create(path, TERMS)

    def test_a_folder_must_be_there(self, tmp_path: Path):
        """A path in a folder that does not exist is refused in plain words."""
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            Ledger.create(tmp_path / "no" / "people.budget", TERMS)


def first_bytes(count: int) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(path.read_bytes()[:count])


def another_database(path: Path) -> None:
    path.unlink()
    edited(path, "CREATE TABLE terms (epsilon TEXT)", "INSERT INTO terms VALUES ('3')")


def another_database_in_wal_mode(path: Path) -> None:
    another_database(path)
    edited(path, "PRAGMA journal_mode=WAL", "INSERT INTO terms VALUES ('4')")


def edit(*statements: str) -> Callable[[Path], None]:
    return lambda path: edited(path, *statements)


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (first_bytes(0), "is not a ledger of nobounds"),
    "text": (lambda path: path.write_text("epsilon 3\n" * 1000), "is not a ledger of nobounds"),
    "another database": (another_database, "is not a ledger of nobounds"),
    "another database in WAL mode": (another_database_in_wal_mode, "is not a ledger of nobounds"),
    "a ledger in WAL mode": (edit("PRAGMA journal_mode=WAL"), "is damaged"),
    "newer": (edit("PRAGMA user_version=3"), "newer nobounds: update nobounds"),
    "older": (edit("PRAGMA user_version=1"), "older nobounds: create a new budget"),
    "another label": (edit("UPDATE labels SET label = 'orders'"), "is damaged"),
    "no label": (edit("DELETE FROM labels WHERE number = 1"), "is damaged"),
    "no version": (edit("PRAGMA user_version=0"), "is damaged"),
    "cut in the header": (first_bytes(90), "is damaged"),
    "cut after the header": (first_bytes(100), "is damaged"),
    "cut in a page": (first_bytes(6000), "is damaged"),
    "cut between pages": (first_bytes(8192), "is damaged"),
    "a larger budget": (edit("UPDATE terms SET epsilon = '4'"), "is damaged"),
    "no terms": (edit("DELETE FROM terms"), "is damaged"),
    "terms twice": (edit("INSERT INTO terms SELECT * FROM terms"), "is damaged"),
    "a cheaper charge": (edit("UPDATE charges SET epsilon = '0.01' WHERE number = 2"), "is damaged"),
    "a number instead of a text": (edit("UPDATE charges SET what = x'00ff' WHERE number = 2"), "is damaged"),
    "no first charge": (edit("DELETE FROM charges WHERE number = 1"), "is damaged"),
    "no second charge": (edit("DELETE FROM charges WHERE number = 2"), "is damaged"),
    "other numbers": (edit("UPDATE charges SET number = number + 1 WHERE number = 3"), "is damaged"),
    "a trigger": (
        edit("CREATE TRIGGER t AFTER INSERT ON charges BEGIN DELETE FROM charges; END"),
        "is damaged",
    ),
}


class TestRefusals:
    @pytest.mark.medium
    @pytest.mark.parametrize(("spoil", "text"), REFUSED.values(), ids=REFUSED)
    @pytest.mark.parametrize("to_write", [True, False])
    def test_a_file_that_is_not_a_whole_ledger_is_refused_and_not_touched(
        self, path: Path, spoil: Callable[[Path], object], text: str, to_write: bool
    ):
        """The text says what is wrong; no byte of the file changes, and no other file appears."""
        spoil(path)
        before = snapshot(path.parent)
        with pytest.raises(ValueError, match=text):
            Ledger.open(path, to_write=to_write)
        assert snapshot(path.parent) == before

    @pytest.mark.medium
    def test_every_flipped_bit_in_a_row_is_noticed(self, path: Path):
        """A flip of any bit in the texts of the rows is refused: terms, what, numbers and seals."""
        clean = path.read_bytes()
        texts = [b"1/1000000", b"charge 1", b"0.005", b"person", Ledger.open(path).read().seal.encode()]
        for text in texts:
            at = clean.index(text)
            for bit in range(8 * len(text)):
                path.write_bytes(flipped(clean, 8 * at + bit))
                with pytest.raises(ValueError, match="is damaged"):
                    Ledger.open(path)

    @pytest.mark.medium
    def test_a_flipped_bit_anywhere_is_refused_or_makes_no_difference(self, path: Path):
        """With any one bit of the file flipped, it is refused and not touched, or says what it said before."""
        clean, said = path.read_bytes(), Ledger.open(path).read()
        places = random.Random(1).sample(range(8 * len(clean)), 1500) + list(range(800))
        refused = 0
        for place in places:
            spoilt = flipped(clean, place)
            path.write_bytes(spoilt)
            try:
                assert Ledger.open(path).read() == said
            except ValueError:
                refused += 1
            assert snapshot(path.parent) == {path.name: spoilt}
        assert 100 < refused < len(places)

    def test_a_read_only_file_is_refused_even_to_the_superuser(self, path: Path):
        """Without a write bit for anyone nothing can be charged, but it can be read."""
        path.chmod(0o444)
        before = snapshot(path.parent)
        with pytest.raises(PermissionError, match="read-only"):
            Ledger.open(path)
        assert len(Ledger.open(path, to_write=False).read().charges) == 3
        assert snapshot(path.parent) == before

    @pytest.mark.parametrize("which", ["the file", "its folder"])
    def test_what_the_system_will_not_let_us_write_is_refused(
        self, path: Path, which: str, monkeypatch: pytest.MonkeyPatch
    ):
        """SQLite needs to write in the file and its journal in the folder, so both are asked for beforehand."""
        closed = path if which == "the file" else path.parent
        monkeypatch.setattr(os, "access", lambda asked, mode: Path(asked) != closed)
        with pytest.raises(PermissionError, match="read-only"):
            Ledger.open(path)
        assert len(Ledger.open(path, to_write=False).read().charges) == 3
        if closed != path:
            with pytest.raises(PermissionError, match="read-only"):
                Ledger.create(path.with_name("other"), TERMS)

    def test_a_folder_a_pipe_and_nothing_are_refused(self, tmp_path: Path):
        """What is not a file is refused without waiting for it, and what is absent with the way to create it."""
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(IsADirectoryError, match="is a folder"):
            Ledger.open(tmp_path)
        with pytest.raises(ValueError, match="is not a ledger"):
            Ledger.open(tmp_path / "pipe")
        with pytest.raises(FileNotFoundError, match=r"create it with Budget\(epsilon="):
            Ledger.open(tmp_path / "absent")

    def test_a_ledger_that_changed_its_past_is_refused_later_too(self, path: Path, tmp_path: Path):
        """An object that has read three charges does not go on with a copy that has two, or with another ledger."""
        copy = tmp_path / "copy"
        fresh = tmp_path / "fresh"
        Ledger.create(fresh, TERMS)
        shutil.copy(path, copy)
        ledger, new = Ledger.open(path), Ledger.open(fresh)
        ledger.append("more", LOSS, anything)
        ledger.read()
        shutil.copy(copy, path)
        for call in (ledger.read, lambda: ledger.append("more", LOSS, anything)):
            with pytest.raises(ValueError, match="no longer the ledger that it was"):
                call()
        fresh.unlink()
        Ledger.create(fresh, TERMS)
        with pytest.raises(ValueError, match="no longer the ledger that it was"):
            new.append("more", LOSS, anything)

    def test_a_file_that_is_gone_is_not_made_again(self, path: Path):
        """A charge to a ledger that was deleted fails, and makes no new file."""
        ledger = Ledger.open(path)
        path.unlink()
        with pytest.raises(FileNotFoundError, match="is gone"):
            ledger.append("more", LOSS, anything)
        assert os.listdir(path.parent) == []


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << (bit % 8)
    return bytes(changed)


def leave_a_hot_journal(path: Path) -> None:
    """Let a process overwrite pages of the file, with the old ones in the journal, and be killed before it commits."""
    code = """if True:
        import os, signal, sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None)
        connection.execute("PRAGMA cache_size=1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE charges SET epsilon = ?", ("0" * 100_000,))
        os.kill(os.getpid(), signal.SIGKILL)
    """
    before = path.read_bytes()
    assert run(code, path).returncode == -9
    assert path.read_bytes() != before
    assert path.with_name(f"{path.name}-journal").read_bytes()[:8] == bytes.fromhex("d9d505f920a163d7")


def kill_in_the_middle_of_a_charge(path: Path) -> None:
    """Let a process write some pages of a charge into the file, and be killed before it commits."""
    code = """if True:
        import os, pathlib, signal, sys
        from nobounds.accounting import store
        from nobounds.accounting.ledger import Ledger
        from nobounds.accounting.loss import PrivacyLoss
        ledger = Ledger.open(pathlib.Path(sys.argv[1]))
        connect = store._connect

        class Killing:
            def __init__(self, connection):
                self._connection = connection

            def __getattr__(self, name):
                return getattr(self._connection, name)

            def execute(self, statement, *given):
                if statement == "COMMIT":
                    self._connection.execute("PRAGMA cache_size=1")
                    self._connection.execute("UPDATE charges SET epsilon = ?", ("0" * 100_000,))
                    os.kill(os.getpid(), signal.SIGKILL)
                return self._connection.execute(statement, *given)

        store._connect = lambda path, mode: Killing(connect(path, mode))
        ledger.append("killed", PrivacyLoss(0.1, 0.005, 0.2, "swap", "person"), lambda entries: None)
    """
    before = path.read_bytes()
    assert run(code, path).returncode == -9
    assert path.read_bytes() != before
    assert path.with_name(f"{path.name}-journal").exists()


class TestNames:
    """SQLite finds a journal by the name of its file. Under other names the mark in the header stands in for it."""

    @pytest.fixture
    def other(self, path: Path) -> Path:
        """A hard link to the ledger in another folder."""
        (path.parent / "elsewhere").mkdir()
        (path.parent / "elsewhere" / path.name).hardlink_to(path)
        return path.parent / "elsewhere" / path.name

    def test_a_charge_under_one_name_is_seen_under_all(self, path: Path, other: Path):
        """Objects for several names of a file go on with each other's charges."""
        link = path.with_name("link")
        link.symlink_to(other)
        ledgers = [Ledger.open(name) for name in (path, other, link)]
        for number, ledger in enumerate(ledgers):
            ledger.append(f"by name {number}", LOSS, anything)
        assert [len(ledger.read().charges) for ledger in ledgers] == [6, 6, 6]

    @pytest.mark.medium
    def test_an_unfinished_charge_under_another_name_is_refused_until_it_is_undone(self, path: Path, other: Path):
        """Nothing is charged under a name that lacks the journal, so undoing the charge later takes nothing with it."""
        said, opened = Ledger.open(path).read(), Ledger.open(other)
        kill_in_the_middle_of_a_charge(path)
        before = snapshot(path.parent), snapshot(other.parent)
        for use in (lambda: Ledger.open(other), opened.read, lambda: opened.append("more", LOSS, anything)):
            with pytest.raises(ValueError, match="unfinished charge that was made under another name"):
                use()
        with pytest.raises(ValueError, match="unfinished charge that was made under another name"):
            Ledger.open(other, to_write=False)
        assert (snapshot(path.parent), snapshot(other.parent)) == before
        assert Ledger.open(path).read() == said
        opened.append("more", LOSS, anything)
        assert len(Ledger.open(path).read().charges) == len(Ledger.open(other).read().charges) == 4

    @pytest.mark.medium
    def test_a_symbolic_link_leads_to_the_journal(self, path: Path):
        """By a symbolic link the unfinished charge is undone as by the path."""
        said, link = Ledger.open(path).read(), path.parent / "link"
        kill_in_the_middle_of_a_charge(path)
        link.symlink_to(path)
        assert Ledger.open(link).read() == said

    @pytest.mark.medium
    @pytest.mark.parametrize("how", ["with its journal", "without its journal"])
    def test_a_ledger_that_was_moved(self, path: Path, how: str):
        """With its journal an unfinished charge is undone in the new place; without it the ledger is refused."""
        said, new = Ledger.open(path).read(), path.with_name("new.budget")
        kill_in_the_middle_of_a_charge(path)
        path.rename(new)
        if how == "with its journal":
            path.with_name(f"{path.name}-journal").rename(path.with_name(f"{new.name}-journal"))
            assert Ledger.open(new).read() == said
        else:
            with pytest.raises(ValueError, match="open it there first, with its journal"):
                Ledger.open(new)
            new.rename(path)
            assert Ledger.open(path).read() == said

    def test_a_copy_of_an_unfinished_charge_is_refused(self, path: Path):
        """A file that was copied while it was charged may be half written, and says so."""
        copy = path.with_name("copy.budget")
        Ledger.open(path).append("more", LOSS, lambda entries: shutil.copy(path, copy))
        with pytest.raises(ValueError, match="has an unfinished charge"):
            Ledger.open(copy)

    def test_a_mark_that_stayed_is_cleared_under_its_name(self, path: Path, other: Path):
        """A process killed between its commit and the clearing leaves its charge, and a mark until the next use."""
        found = []
        Ledger.open(path).append("more", LOSS, lambda entries: found.append(path.read_bytes()[72:92]))
        assert path.read_bytes()[72:92] == bytes(20) != found[0]
        with path.open("r+b") as file:
            file.seek(72)
            file.write(found[0])
        with pytest.raises(ValueError, match="under another name"):
            Ledger.open(other)
        assert len(Ledger.open(path).read().charges) == 4
        assert path.read_bytes()[72:92] == bytes(20)
        Ledger.open(other).append("more", LOSS, anything)

    def test_the_mark_is_on_the_disk_before_a_journal_if_there_are_names(self, path: Path, monkeypatch):
        """With hard links the mark is synced, so a loss of power cannot leave a journal without it."""
        synced = []
        monkeypatch.setattr(os, "fdatasync", lambda descriptor: synced.append(path.read_bytes()[72:92]))
        Ledger.open(path).append("more", LOSS, anything)
        assert synced == []
        path.with_name("other").hardlink_to(path)
        Ledger.open(path).append("more", LOSS, anything)
        assert len(synced) == 1 and synced[0] != bytes(20)

    @pytest.mark.parametrize("spoil", [first_bytes(0), first_bytes(80), lambda path: path.write_text("notes" * 99)])
    def test_what_took_the_place_of_the_ledger_is_not_touched(self, path: Path, spoil: Callable[[Path], object]):
        """An open ledger whose file turned into something else refuses it, and writes no mark into it."""
        ledger = Ledger.open(path)
        spoil(path)
        before = snapshot(path.parent)
        for use in (ledger.read, lambda: ledger.append("more", LOSS, anything)):
            with pytest.raises(ValueError, match=r"is damaged|is not a ledger"):
                use()
        assert snapshot(path.parent) == before

    def test_a_file_that_is_replaced_during_a_charge_is_noticed(self, path: Path):
        """A charge that went into a file which is no longer at the path counts as not made."""
        copy = path.with_name("copy")
        shutil.copy(path, copy)
        with pytest.raises(OSError, match="moved or replaced just now, so nothing is released"):
            Ledger.open(path).append("more", LOSS, lambda entries: copy.replace(path))
        assert len(Ledger.open(path).read().charges) == 3

    def test_a_file_that_is_replaced_before_sqlite_opens_it_is_not_read(self, path: Path, monkeypatch):
        """SQLite gets no statement for a file that is not the one whose lock is held."""
        ledger, copy, connect = Ledger.open(path), path.with_name("copy"), nobounds.accounting.store._connect
        shutil.copy(path, copy)
        statements = []

        def replacing(*given):
            copy.replace(path)
            connection = connect(*given)
            connection.set_trace_callback(statements.append)
            return connection

        monkeypatch.setattr(nobounds.accounting.store, "_connect", replacing)
        with pytest.raises(OSError, match="moved or replaced just now"):
            ledger.append("more", LOSS, anything)
        assert statements == []


class TestFailures:
    @pytest.mark.medium
    @pytest.mark.parametrize("statement", ["BEGIN", "SELECT * FROM charges", "INSERT", "COMMIT"])
    def test_a_kill_before_the_commit_leaves_the_ledger_as_before(self, path: Path, statement: str):
        """A process that dies at any statement of a charge has charged nothing, and the next one can charge."""
        code = """if True:
            import os, signal, sys, pathlib
            from nobounds.accounting import store
            from nobounds.accounting.ledger import Ledger
            from nobounds.accounting.loss import PrivacyLoss
            opened = Ledger.open(pathlib.Path(sys.argv[1]))
            connect = store._connect

            def traced(path, mode):
                connection = connect(path, mode)
                kill = lambda text: text.startswith(sys.argv[2]) and os.kill(os.getpid(), signal.SIGKILL)
                connection.set_trace_callback(kill)
                return connection

            store._connect = traced
            opened.append("more", PrivacyLoss(0.1, 0.005, 0.2, "swap", "person"), lambda entries: None)
        """
        before = Ledger.open(path).read()
        assert run(code, path, statement).returncode == -9
        assert Ledger.open(path).read() == before
        Ledger.open(path).append("more", LOSS, anything)
        assert os.listdir(path.parent) == ["people.budget"]

    def test_pages_of_an_unfinished_charge_are_undone(self, path: Path):
        """A process killed while it writes leaves a journal, and opening the ledger brings the old pages back."""
        before, said = path.read_bytes(), Ledger.open(path).read()
        leave_a_hot_journal(path)
        assert Ledger.open(path).read() == said
        assert snapshot(path.parent) == {path.name: before}

    def test_an_unfinished_charge_is_not_shown_from_a_read_only_file(self, path: Path):
        """Where the old pages cannot be brought back, the text says so, and nothing is touched."""
        leave_a_hot_journal(path)
        path.chmod(0o444)
        before = snapshot(path.parent)
        with pytest.raises(OSError, match="has an unfinished charge"):
            Ledger.open(path, to_write=False)
        assert snapshot(path.parent) == before

    @pytest.mark.medium
    def test_a_full_disk_charges_nothing(self, path: Path):
        """If the file may not grow, the charge fails with an OSError, and the ledger is as before."""
        code = """if True:
            import pathlib, resource, sys
            from nobounds.accounting.ledger import Ledger
            from nobounds.accounting.loss import PrivacyLoss
            ledger = Ledger.open(pathlib.Path(sys.argv[1]))
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
            try:
                ledger.append("more", PrivacyLoss(0.1, 0.005, 0.2, "swap", "person"), lambda entries: None)
            except OSError as error:
                print(error)
        """
        before = snapshot(path.parent)
        for size in (0, 5000):
            result = run(code, path, size)
            assert "nothing is released" in result.stdout, result.stderr
            assert Ledger.open(path).read().charges[2:] and snapshot(path.parent)[path.name] == before[path.name]

    @pytest.mark.parametrize("begin", ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE"])
    def test_a_ledger_that_stays_in_use_is_given_up(self, path: Path, begin: str, monkeypatch: pytest.MonkeyPatch):
        """When others hold the file for longer than we wait, nothing is charged."""
        ledger = Ledger.open(path)
        monkeypatch.setattr(nobounds.accounting.store, "PATIENCE", 0.01)
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute(begin)
        with pytest.raises(TimeoutError, match="in use"):
            ledger.append("more", LOSS, anything)
        holder.execute("ROLLBACK")
        holder.close()
        assert len(ledger.read().charges) == 3

    def test_a_reader_that_stays_keeps_a_charge_from_being_committed(self, path: Path, monkeypatch: pytest.MonkeyPatch):
        """A commit that cannot happen is an error, and the charge is undone."""
        ledger = Ledger.open(path)
        monkeypatch.setattr(nobounds.accounting.store, "PATIENCE", 0.01)
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM terms").fetchall()
        with pytest.raises(TimeoutError, match="in use"):
            ledger.append("more", LOSS, anything)
        holder.execute("COMMIT")
        holder.close()
        assert len(ledger.read().charges) == 3

    def test_a_thread_that_opens_the_file_does_not_drop_the_locks_of_another(self, path: Path):
        """While one thread charges and a second one opens the ledger, no other process can write to it."""
        code = """if True:
            import sqlite3, sys
            try:
                sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                print(error)
        """
        said = []

        def meanwhile(entries: Entries) -> None:
            opening.start()
            opening.join(0.1)
            said.append(run(code, path).stdout)

        opening = threading.Thread(target=Ledger.open, args=(path,))
        Ledger.open(path).append("more", LOSS, meanwhile)
        opening.join()
        assert said == ["database is locked\n"]

    @pytest.mark.medium
    def test_a_fork_waits_for_the_transaction_of_another_thread(self, path: Path):
        """A child that is forked while a thread charges can charge too, and both charges are there."""
        code = """if True:
            import os, pathlib, sys, threading
            from nobounds.accounting.ledger import Ledger
            from nobounds.accounting.loss import PrivacyLoss
            ledger = Ledger.open(pathlib.Path(sys.argv[1]))
            loss = PrivacyLoss(0.1, 0.005, 0.2, "swap", "person")
            inside = threading.Event()

            def slowly(entries):
                inside.set()
                threading.Event().wait(0.2)

            thread = threading.Thread(target=ledger.append, args=("thread", loss, slowly))
            thread.start()
            inside.wait()
            if os.fork() == 0:
                ledger.append("child", loss, lambda entries: None)
                os._exit(0)
            os.wait()
            thread.join()
        """
        result = run(code, path)
        assert result.returncode == 0, result.stderr
        assert [charge.what for charge in Ledger.open(path).read().charges][3:] == ["thread", "child"]

    @pytest.mark.medium
    def test_a_child_that_is_forked_inside_of_a_charge_leaves_it_to_its_parent(self, path: Path):
        """Such a child, of a signal handler say, can neither finish nor undo the charge, and can make others later."""
        code = """if True:
            import os, pathlib, sys
            from nobounds.accounting.ledger import Ledger
            from nobounds.accounting.loss import PrivacyLoss
            ledger = Ledger.open(pathlib.Path(sys.argv[1]))
            loss = PrivacyLoss(0.1, 0.005, 0.2, "swap", "person")
            (left, leave), (done, do) = os.pipe(), os.pipe()
            child = None

            def fork(entries):
                global child
                child = os.fork() == 0
                if not child:
                    os.read(left, 1)

            try:
                ledger.append("parent", loss, fork)
            except RuntimeError as error:
                print(error, flush=True)
                os.write(leave, b"x")
                os.read(done, 1)
                ledger.append("child", loss, lambda entries: None)
                os._exit(0)
            os.write(do, b"x")
            os.wait()
        """
        result = run(code, path)
        assert result.returncode == 0, result.stderr
        assert "forked during a charge" in result.stdout
        assert [charge.what for charge in Ledger.open(path).read().charges][3:] == ["parent", "child"]

    @pytest.mark.parametrize("place", ["file", "memory"])
    def test_a_use_inside_of_a_charge_is_refused(self, path: Path, place: str):
        """A signal handler that interrupts a charge cannot read or charge, and the charge is made."""
        ledger = Ledger.open(path) if place == "file" else Ledger.in_memory(TERMS)
        before = len(ledger.read().charges)

        def inside(entries: Entries) -> None:
            for use in (ledger.read, lambda: ledger.append("inside", LOSS, anything)):
                with pytest.raises(RuntimeError, match="while the same thread is using one"):
                    use()

        ledger.append("more", LOSS, inside)
        assert len(ledger.read().charges) == before + 1


def rounds(folder: Path, count: int, when: str, by: str = "path") -> list[dict[str, int]]:
    result = subprocess.run(
        [sys.executable, killing.__file__, folder, str(count), when, by], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


@pytest.fixture(params=["path", "postgres"])
def place(request: pytest.FixtureRequest) -> str:
    """Where the ledger is: in a file, or in PostgreSQL."""
    if request.param == "path":
        return "path"
    host = request.getfixturevalue("postgres").split()[0].removeprefix("host=")
    address = f"postgresql:///postgres?user=nobounds&host={host}"
    install(address)
    return address


@pytest.mark.slow
def test_no_kill_releases_what_is_not_charged(tmp_path: Path, place: str):
    """Eight processes charge one ledger and are killed at random moments, fifty times over.

    After each round the ledger opens, holds no more than the budget, and no less than was released.
    """
    found = rounds(tmp_path, 50, "late", place)
    for each in found:
        assert each["released"] <= each["charged"] <= each["capacity"]
        assert not each["failed"]
    # The kills fell where they hurt: inside of charges, with journals left; and budgets were used up, or not.
    assert sum(each["in_charge"] for each in found) > 50
    assert place != "path" or sum(each["journals"] for each in found) >= 2
    assert sum(each["charged"] == each["capacity"] for each in found) > 3
    assert sum(0 < each["charged"] < each["capacity"] for each in found) > 3


@pytest.mark.slow
def test_no_kill_releases_what_is_not_charged_under_any_name(tmp_path: Path):
    """The same by the path, a symbolic link and a hard link at once; a name may be refused, but not all of them."""
    found = rounds(tmp_path, 20, "late", "names")
    for each in found:
        assert each["released"] <= each["charged"] <= each["capacity"]
        assert not each["failed"] and each["refused"] < 3
    assert sum(each["in_charge"] for each in found) > 20
    assert sum(0 < each["charged"] < each["capacity"] for each in found) > 3


@pytest.mark.slow
def test_a_release_before_its_charge_would_be_caught(tmp_path: Path, place: str):
    """Processes that release first and charge second are found out by the same count."""
    large = [each for each in rounds(tmp_path, 12, "early", place) if each["charged"] < each["capacity"]]
    assert any(each["released"] > each["charged"] for each in large)
