"""One stress test: processes that share budgets make mixed calls with faults for some seconds, and then the verdict.

Nothing may be lost: each answer has its charge in the ledger and no budget is overspent. No answer may be wrong, no
error other than the documented ones, and nothing may be left behind by a process that was not killed.
"""

import json
import random
import resource
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty
from typing import Any

from stress.books import Book, documented, entries, leftovers
from stress.truth import judge
from stress.worker import Orders, unchanged, work

_BACKLOG = 150  # answers that wait to be made again before new calls wait, too
_PATIENCE = 120.0  # seconds for processes to end


@dataclass(slots=True)
class Outcome:
    """What happened in a stress test."""

    seconds: float
    seed: int
    processes: int
    calls: int = 0
    answers: int = 0
    judged: int = 0
    charges: int = 0
    ledgers: int = 0
    lives: int = 0
    memory: int = 0  # the largest process, in megabytes
    statistics: Counter[str] = field(default_factory=Counter)
    injected: Counter[str] = field(default_factory=Counter)
    survived: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)  # calls that ended in a documented error
    killed_left: Counter[str] = field(default_factory=Counter)  # by processes that were killed
    lost: list[str] = field(default_factory=list)
    overspent: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    undocumented: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def failures(self) -> dict[str, list[str]]:
        """Everything that must not happen, by kind."""
        return {
            "charges lost": self.lost,
            "budgets overspent": self.overspent,
            "answers wrong": self.wrong,
            "undocumented errors": self.undocumented,
            "files left behind": self.left,
        }

    @property
    def passed(self) -> bool:
        """Whether there was no failure and at least one answer."""
        return bool(self.answers) and not any(self.failures.values())


@dataclass(slots=True)
class _Life:
    """A process, and when it will be killed."""

    orders: Orders
    process: BaseProcess
    kill_at: float
    killed: bool = False
    read: int = 0  # entries of the diary that were seen


def run(
    seconds: float,
    *,
    seed: int = 0,
    processes: int = 3,
    budget: Callable[[Any], Any] = unchanged,
    answer: Callable[[Any], Any] = unchanged,
    progress: Callable[[int, int], None] = lambda answers, faults: None,
) -> Outcome:
    """Run a stress test; `progress` gets the numbers of answers and faults.

    Tests plant errors with `budget` and `answer`, which change every budget and every answer.
    """
    outcome = Outcome(seconds, seed, processes)
    folder = Path(tempfile.mkdtemp(prefix="nobounds-stress-"))
    try:
        for name in ("diaries", "temporary", "tables", "ledgers"):
            (folder / name).mkdir()
        lives = _Run(outcome, folder, budget, answer, progress).all_lives()
        _close_books(outcome, folder, lives)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    outcome.memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    return outcome


class _Run:
    """Processes that come and go until the time is over, and one that judges their answers."""

    def __init__(
        self, outcome: Outcome, folder: Path, budget: Any, answer: Any, progress: Callable[[int, int], None]
    ) -> None:
        self.outcome, self.folder, self.progress = outcome, folder, progress
        self.budget, self.answer = budget, answer
        self.context = get_context("spawn")
        self.rng = random.Random(outcome.seed)
        self.until = time.monotonic() + outcome.seconds
        self.waiting, self.judged = self.context.Queue(), self.context.Queue()
        self.sent = 0

    def all_lives(self) -> list[_Life]:
        """Run until the time is over and all answers are judged."""
        judging = self.context.Process(target=_judge_all, args=(self.outcome.seed, self.waiting, self.judged))
        judging.start()
        lives: list[_Life] = []
        try:
            while time.monotonic() < self.until:
                running = [life for life in lives if self._watch(life)]
                if len(running) < self.outcome.processes:
                    lives.append(self._born(len(lives)))
                self._hear(0.02)
            end = time.monotonic() + _PATIENCE
            while any(map(self._watch, lives)) and time.monotonic() < end:
                self._hear(0.05)
            for life in lives:
                if life.process.is_alive():
                    self.outcome.undocumented.append(f"process {life.orders.life} did not end")
                    life.process.kill()
                life.process.join()
                self._read(life)
            while self.outcome.judged < self.sent and judging.is_alive():
                self._hear(0.2)
        finally:
            for process in [judging, *(life.process for life in lives)]:
                if process.is_alive():
                    process.kill()
                process.join()
        if self.outcome.judged < self.sent:
            self.outcome.undocumented.append("the process that judges answers ended early")
        self.outcome.lives = len(lives)
        return lives

    def _born(self, number: int) -> _Life:
        orders = Orders(self.folder, self.outcome.seed, number, self.until, self.budget, self.answer)
        process = self.context.Process(target=work, args=(orders,))
        process.start()
        doomed = self.rng.random() < 0.6
        return _Life(orders, process, time.monotonic() + self.rng.uniform(1, 15) if doomed else float("inf"))

    def _watch(self, life: _Life) -> bool:
        """Whether a process runs; killed if its time has come."""
        if life.process.is_alive() and time.monotonic() >= life.kill_at and not life.killed:
            life.process.kill()
            life.killed = True
            self.outcome.injected["killed at any moment"] += 1
        self._read(life)
        return life.process.is_alive()

    def _read(self, life: _Life) -> None:
        """Hand on the answers that were given since."""
        if not life.orders.diary.exists():
            return
        new = list(entries(life.orders.diary))[life.read :]
        for entry in new:
            if "answer" in entry:
                number = int(entry["name"].partition("-")[2])
                self.waiting.put((life.orders.life, number, entry["answer"]))
                self.sent += 1
        life.read += len(new)

    def _hear(self, patience: float) -> None:
        """Take the verdicts that are there; let new calls wait while too many answers do."""
        try:
            while True:
                verdict = self.judged.get(timeout=patience)
                self.outcome.judged += 1
                if verdict is not None:
                    self.outcome.wrong.append(verdict)
                patience = 0.001
        except Empty:
            pass
        pause = self.folder / "pause"
        if self.sent - self.outcome.judged > _BACKLOG:
            pause.touch()
        else:
            pause.unlink(missing_ok=True)
        self.progress(self.sent, sum(self.outcome.injected.values()))


def _judge_all(seed: int, waiting: Any, judged: Any) -> None:
    """The clean process: no faults, and no budgets."""
    while True:
        judged.put(judge(seed, *waiting.get()))


def _close_books(outcome: Outcome, folder: Path, lives: list[_Life]) -> None:
    """Look through diaries, ledgers and folders."""
    books: dict[str, Book | None] = {}
    for path in sorted((folder / "ledgers").glob("[!.]*.budget")):
        try:
            books[path.name] = Book.of(path)
        except (ValueError, OSError) as error:
            books[path.name] = None  # it was cut; then nothing may have been answered for it
            if not path.name.startswith("own-"):
                outcome.lost.append(f"{path.name}: {error}")
    kept = {name: book for name, book in books.items() if book is not None}
    outcome.ledgers, outcome.charges = len(kept), sum(len(book.charges) for book in kept.values())
    outcome.overspent += [name for name, book in kept.items() if book.overspent]
    for life in lives:
        _close_diary(outcome, life, kept)
    killed = {str(life.orders.life) for life in lives if life.process.exitcode == -9}
    for name, paths in leftovers(folder).items():
        for path in paths:
            if (name in killed and path.is_dir()) or (name == "ledgers" and path.name.startswith(".") and killed):
                kind = "empty folder" if path.is_dir() else "draft of a ledger that was not made"
                outcome.killed_left[kind] += 1
            else:
                outcome.left.append(f"{path.relative_to(folder)}")


def _close_diary(outcome: Outcome, life: _Life, books: dict[str, Book]) -> None:
    """What one process did: all its answers must have been paid, and all its errors be documented."""
    unfinished = ""
    killed = life.process.exitcode == -9
    for entry in entries(life.orders.diary) if life.orders.diary.exists() else ():
        if "unraisable" in entry:
            outcome.undocumented.append(f"process {life.orders.life}: {entry['unraisable']}")
        elif "started" in entry:
            unfinished = entry["fault"]
            outcome.calls += 1
            outcome.injected.update([unfinished] if unfinished else [])
        elif "answer" in entry:
            outcome.answers += 1
            outcome.statistics[_statistic(entry["answer"])] += 1
            outcome.survived.update([unfinished] if unfinished else [])
            book = books.get(entry["ledger"])
            if book is None or not book.pays(entry["name"], entry["loss"]):
                outcome.lost.append(f"call {entry['name']} was answered, and {entry['ledger']} has no charge for it")
        elif "error" in entry:
            if documented(unfinished, entry["error"], entry["text"]):
                outcome.refused[entry["error"]] += 1
                outcome.survived.update([unfinished] if unfinished else [])
            else:
                words = f"{entry['error']}: {entry['text']}"
                outcome.undocumented.append(f"call {entry['name']} ({unfinished or 'no fault'}): {words}")
        if "started" not in entry:
            unfinished = ""
    # Whoever was killed could not write more; that its ledger is whole and all it answered is paid was seen above.
    if life.killed:
        outcome.survived["killed at any moment"] += 1
    if killed and unfinished:
        outcome.survived[unfinished] += 1
    if killed and not life.killed and not unfinished.startswith("killed"):
        outcome.undocumented.append(f"process {life.orders.life} was killed, and not by a fault")
    if life.process.exitcode not in (0, -9):
        outcome.undocumented.append(f"process {life.orders.life} ended with status {life.process.exitcode}")


def _statistic(answer: str) -> str:
    plain = json.loads(answer)
    return f"{plain.get('statistic', 'describe')}{' by group' if 'by' in plain else ''}"
