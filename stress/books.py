"""The books of the stress test: ledgers, diaries and folders, read once all processes have ended."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import nobounds as nb
from nobounds.accounting.budget import read
from nobounds.accounting.conversions import epsilon_from_rho
from stress.calls import FILE_FAULTS
from stress.worker import LOST

CLOSING = "the books are closed"
_DAMAGED = r"is damaged|is not a ledger of nobounds|is gone|there is no"
# Which errors a fault may cause: the exception, and what it says.
DOCUMENTED: dict[str, tuple[tuple[str, str], ...]] = {
    "": (),
    "full disk": (("OSError", r"nothing is released|File too large"),),
    "ledger in use": (("TimeoutError", r"in use for"),),
    **{fault: (("ValueError", _DAMAGED), ("FileNotFoundError", _DAMAGED)) for fault in LOST},
    **{
        fault: (
            ("OSError", r"cannot be read"),
            ("IsADirectoryError", r"Is a directory"),
            ("PermissionError", r"Permission denied"),
            ("FileNotFoundError", r"No such file"),
            ("ValueError", r"no file is named|must be a regular file|appears more than once"),
            ("ValueError", r"is not in the table|must have the same"),
            ("TypeError", r"must be numeric|to be a unit or a key"),
        )
        for fault in FILE_FAULTS
    },
}


def documented(fault: str, error: str, text: str) -> bool:
    """Whether a call with this fault may end in this error. A budget may be used up at any time."""
    if error == "BudgetExceeded":
        return True
    return any(error == name and re.search(words, text) for name, words in DOCUMENTED.get(fault, ()))


@dataclass(frozen=True, slots=True)
class Book:
    """A ledger as it is on the disk: its terms, and its charges by the names of their calls."""

    terms: dict[str, Fraction]
    charges: tuple[tuple[str, dict[str, float]], ...]
    total: dict[str, Fraction]

    @classmethod
    def of(cls, path: Path) -> "Book":
        """Read it by SQLite alone, after nobounds has read it and charged it with a loss of 0.

        That charge also removes what a killed process may have left beside it.
        """
        said = read(path)
        nothing = nb.PrivacyLoss(0.0, 0.0, 0.0, said.neighbors or "add-remove", said.unit or "row")
        nb.Budget(path=path).charge(nothing, CLOSING)
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            terms = connection.execute("SELECT epsilon, delta, rho FROM terms").fetchone()
            columns = "what, epsilon, rho, eta, delta"
            rows = connection.execute(f"SELECT {columns} FROM charges WHERE what <> '{CLOSING}'").fetchall()
        names = ("epsilon", "rho", "eta", "delta")
        charges = tuple(
            (what.rpartition("#")[2], dict(zip(names, map(float, texts), strict=True))) for what, *texts in rows
        )
        finite = [{name: text for name, text in zip(names, row[1:], strict=True) if text != "inf"} for row in rows]
        total = {name: sum((Fraction(row.get(name, 10**9)) for row in finite), Fraction(0)) for name in names}
        given = zip(("epsilon", "delta", "rho"), terms, strict=True)
        return cls({name: Fraction(text) for name, text in given if text is not None}, charges, total)

    @property
    def overspent(self) -> bool:
        """Whether the charges come to more than the terms allow, by any rule of docs/proofs/budget.md."""
        terms, total = self.terms, self.total
        if "rho" in terms:
            return total["rho"] > terms["rho"]
        delta = terms.get("delta", Fraction(0))
        if total["epsilon"] <= terms["epsilon"] and total["delta"] <= delta / 10:
            return False
        return not delta or epsilon_from_rho(total["rho"], delta * 9 / 10) > terms["epsilon"]

    def pays(self, name: str, loss: dict[str, Any]) -> bool:
        """Whether a charge of a call is there, as large as the loss of its answer."""
        return any(
            called == name and all(charge[part] >= _number(loss.get(part, 0.0)) for part in ("epsilon", "rho", "delta"))
            for called, charge in self.charges
        )


def _number(value: Any) -> float:
    return float("inf") if value is None else float(value)


def entries(diary: Path) -> Iterator[dict[str, Any]]:
    """What a process wrote down; a line that it did not finish is left out."""
    for line in diary.read_bytes().split(b"\n")[:-1]:
        yield json.loads(line)


def leftovers(folder: Path) -> dict[str, list[Path]]:
    """What lies where nothing should be: in the folder of temporary files of each process, and beside the ledgers."""
    paths: dict[str, list[Path]] = {}
    for life in (folder / "temporary").iterdir():
        paths[life.name] = [path for path in life.rglob("*") if path.is_file() or not any(path.iterdir())]
    ledgers = (folder / "ledgers").iterdir()
    paths["ledgers"] = [path for path in ledgers if path.suffix != ".budget" or path.name.startswith(".")]
    return {name: some for name, some in paths.items() if some}
