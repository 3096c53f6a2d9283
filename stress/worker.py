"""A process of the stress test: it makes its calls one after the other, and writes each down before and after.

What it wrote is all that is known of it once it is killed, so an answer is in its diary as soon as it is given.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nobounds as nb
from nobounds.accounting.loss import PrivacyLoss, check_neighbors
from nobounds.accounting.spending import Chargeable
from stress.calls import Call, ask, draw, table_of
from stress.faults import (
    full_disk,
    jumping_clock,
    kill,
    killed_at_a_statement,
    killed_while_creating,
    other_writer,
    strike_files,
    strike_ledger,
)
from stress.tables import columns_of, opened, written

CALLS = 60  # of a process that is not killed
TERMS: dict[str, dict[str, str]] = {
    "epsilon": {"epsilon": "8"},
    "rho": {"rho": "2"},
    "both": {"epsilon": "8", "delta": "1e-6"},
    "sure": {"epsilon": "1000000"},
}
LOST = ("ledger vanishes", "ledger is cut")
OWN = (*LOST, "killed while creating")  # with a ledger of its own, which nobody else needs


def _nothing() -> None:
    pass


def unchanged(given: Any) -> Any:
    """What is done to budgets and answers: nothing, unless a test plants an error."""
    return given


@dataclass(frozen=True, slots=True)
class Orders:
    """The parameters of a process: where to work, until when, and which errors are planted."""

    folder: Path
    seed: int
    life: int
    until: float  # of time.monotonic
    budget: Callable[[Any], Any] = unchanged
    answer: Callable[[Any], Any] = unchanged

    @property
    def diary(self) -> Path:
        """Where it writes down its calls."""
        return self.folder / "diaries" / f"{self.life}.jsonl"

    @property
    def scratch(self) -> Path:
        """Where its temporary files go."""
        return self.folder / "temporary" / str(self.life)

    @property
    def tables(self) -> Path:
        """Where the files of its tables are."""
        return self.folder / "tables" / str(self.life)


class Marked:
    """A budget whose charges carry the name of the call, and where something may happen after each."""

    def __init__(self, budget: Chargeable | None, name: str, then: Callable[[], None]) -> None:
        self._budget, self._name, self._then = budget, name, then

    def charge(self, loss: PrivacyLoss, what: str) -> None:
        """Charge it."""
        if self._budget is not None:
            self._budget.charge(loss, f"{what} #{self._name}")
        self._then()


def work(orders: Orders) -> None:
    """The life of a process."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    tempfile.tempdir = str(orders.scratch)
    for folder in (orders.scratch, orders.tables):
        folder.mkdir(parents=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one says when to stop
    diary = os.open(orders.diary, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(**entry: Any) -> None:
        os.write(diary, json.dumps(entry).encode() + b"\n")

    sys.unraisablehook = lambda what: write(unraisable=f"{type(what.exc_value).__name__}: {what.exc_value}")
    kept: dict[Path, Any] = {}
    for number in range(CALLS):
        while (orders.folder / "pause").exists() and time.monotonic() < orders.until:
            time.sleep(0.05)
        if time.monotonic() >= orders.until:
            break
        call = draw(orders.seed, orders.life, number)
        ledger = _ledger_of(call, orders.folder)
        write(started=call.name, fault=call.fault, ledger=ledger.name)
        try:
            release = _faulty(call, orders, ledger, kept)
        except Exception as error:
            write(name=call.name, error=type(error).__name__, text=str(error), ledger=ledger.name)
        else:
            loss = release.loss.to_dict()
            write(name=call.name, answer=release.to_json(), loss=loss, ledger=ledger.name)
        shutil.rmtree(orders.tables)
        orders.tables.mkdir()
    write(ended=True)


def _ledger_of(call: Call, folder: Path) -> Path:
    """The shared ledger that pays, the last of its kind; or one of its own for a call that will lose it."""
    ledgers = folder / "ledgers"
    if call.fault in OWN:
        return ledgers / f"own-{call.purse}-{call.whom}-{call.name}.budget"
    kind = f"{call.purse}-{call.whom}"
    latest = max((int(path.stem.rpartition("-")[2]) for path in ledgers.glob(f"{kind}-*.budget")), default=0)
    return ledgers / f"{kind}-{latest}.budget"


def shared_budget(call: Call, ledger: Path) -> nb.Budget:
    """The budget in a file, made if it is not there; another process may make it at the same moment."""
    try:
        return nb.Budget(path=ledger)
    except FileNotFoundError:
        try:
            return nb.Budget(**TERMS[call.purse], path=ledger)  # type: ignore[arg-type]
        except FileExistsError:
            return nb.Budget(path=ledger)


def _faulty(call: Call, orders: Orders, ledger: Path, kept: dict[Path, Any]) -> Any:
    """The answer to a call, with its fault; if its budget is used up, another is made for those that follow."""
    with ExitStack() as stack:
        if call.fault == "killed while creating":
            stack.enter_context(killed_while_creating(call))
        # Every second call goes on with the budget that the process has opened before.
        budget = kept.get(ledger) if call.seed % 2 else None
        budget = kept[ledger] = budget or orders.budget(shared_budget(call, ledger))
    if call.fault in LOST:
        unit = "user" if call.rows_per_unit else "row"
        budget.charge(PrivacyLoss(0.001, 1e-6, 0.001, check_neighbors(call.neighbors), unit), "the first")
        strike_ledger(call, ledger)
        budget = orders.budget(nb.Budget(path=ledger)) if call.moment == "before" else budget
    then = kill if call.fault == "killed in a charge" and call.moment == "charged" else _nothing
    try:
        return orders.answer(made(call, orders.tables, budget, then, _around(call, ledger)))
    except nb.BudgetExceeded:
        # The next ledger has the next number; a second process that makes it finds it there.
        kind, _, number = ledger.stem.rpartition("-")
        if call.fault not in OWN:
            shared_budget(call, ledger.with_name(f"{kind}-{int(number) + 1}.budget"))
        raise


def _around(call: Call, ledger: Path) -> AbstractContextManager[None]:
    """The fault that is there while a call is answered."""
    if call.fault == "full disk":
        return full_disk(call, ledger)
    if call.fault == "clock jumps":
        return jumping_clock(call)
    if call.fault == "ledger in use":
        return other_writer(call, ledger)
    if call.fault == "killed in a charge" and call.moment != "charged":
        return killed_at_a_statement(call)
    return nullcontext()


def made(
    call: Call,
    folder: Path,
    budget: Chargeable | None,
    then: Callable[[], None] = _nothing,
    around: AbstractContextManager[None] | None = None,
) -> Any:
    """The answer to a call on a new table in a folder, with the faults of its files, and `around` it another."""
    with ExitStack() as stack:
        columns = columns_of(call.seed, call.rows)
        paths = written(call.form, columns, folder)

        def strike(moment: str) -> None:
            if call.file_fault and call.moment == moment:
                strike_files(call, paths)

        def charged() -> None:
            strike("charged")
            then()

        strike("before")
        table = table_of(call, opened(call.form, columns, paths, stack), Marked(budget, call.name, charged))
        strike("opened")
        with around or nullcontext():
            return ask(call, table)
