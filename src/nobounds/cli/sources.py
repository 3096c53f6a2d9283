"""Tables of the command line: files and globs, the standard input, and queries.

The temporary file of the standard input is removed when the command ends.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import nobounds as nb
from nobounds.accounting.loss import PrivacyLoss
from nobounds.accounting.spending import Purse, Spending
from nobounds.cli.errors import CHARGED, budget_name, require_budget
from nobounds.cli.options.common import CommonOptions, Data
from nobounds.cli.progress import watched
from nobounds.engines.files.paths import expand, from_paths, name_of
from nobounds.engines.streams.spool import once
from nobounds.engines.streams.stream import TableStream
from nobounds.engines.streams.viewed import stream_types
from nobounds.exact import printable
from nobounds.explaining.words import price
from nobounds.expressions.view import View, named
from nobounds.values import dataclass

STANDARD_INPUT = "standard input"
_STARTS = {b"PAR1": "parquet", b"ARROW1"[:4]: "arrow"}  # the first bytes of formats that no table in text begins with


@dataclass(frozen=True, slots=True)
class Opened:
    """A table, its name for messages, and the Arrow types of its columns."""

    table: nb.Table
    name: str
    kinds: dict[str, Any]
    purse: Purse
    budget: str | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """The answer is printed in this block, and after it what is left of the budget."""
        with self.paid():
            yield
        if self.budget is not None:
            from nobounds.accounting.budget import read

            sys.stdout.flush()
            with suppress(OSError, RuntimeError, ValueError):  # the answer is out, and the charge is safe
                print(f"{budget_name(self.budget)}: {read(self.budget).left}.", file=sys.stderr)

    @contextmanager
    def paid(self) -> Iterator[None]:
        """Errors in this block state what was charged before, since charges stay."""
        try:
            yield
        except BaseException as error:
            if self.budget is not None and self.purse.loss is not None:
                error.add_note(f"{CHARGED} ({price(self.purse.loss)}) before the data were read")
            raise

    def rehearse(self, ask: Callable[[], Any]) -> None:
        """Ask up to the charge, which is not made: whatever the schema or an option refuses is refused here."""
        budget, self.purse.budget = self.purse.budget, _Closed()
        try:
            ask()
        except _ChargeReached:
            pass
        finally:
            self.purse.budget = budget


class _ChargeReached(Exception):
    """All that is checked before a charge was accepted."""


class _Closed:
    """In the place of a budget: nobody gets past it to the data."""

    def charge(self, loss: PrivacyLoss, what: str) -> None:
        """Stop here, before anything is charged or read."""
        raise _ChargeReached


@contextmanager
def opened(
    common: CommonOptions, *columns: str | None, every: bool = False, rows_limited: bool = True
) -> Iterator[Opened]:
    """The table with these columns, or with every column, open for reading.

    The amount and the budget are checked before the table is opened.
    rows_limited: whether --unit needs --rows-per-unit.
    """
    spend, whom = common.spend, common.whom
    if rows_limited:
        whom.require_rows()
    Spending.of(spend.epsilon, spend.rho)
    budget = None if spend.budget is None else nb.Budget(path=require_budget(spend.budget))
    _keep_inputs(common)
    with watched(common.quiet) as watch, ExitStack() as stack:
        only = None if every else [name for name in (whom.unit, *columns, *_named(common.data)) if name is not None]
        stream, name = stream_of(common.data, only, stack, masked=whom.neighbors == "swap")
        if not stream.connected:  # several statistics of one command, and their rehearsals, count rows of files once
            stream = replace(stream, rows=once(stream.rows))
        watch.share = stream.share
        label = spend.label or _label(common.data, name)
        purse = Purse(None if budget is None else budget.noted(spend.note, author=spend.author, label=label))
        table = nb.Table(
            stream,
            unit=whom.unit,
            rows_per_unit=whom.rows_per_unit,
            neighbors=whom.checked_neighbors,
            budget=purse,
            progress=watch,
        )
        table, kinds = _viewed(table, stream, common.data)
        handle = Opened(table, name, kinds, purse, spend.budget)
        with handle.paid():
            yield handle


def _keep_inputs(common: CommonOptions) -> None:
    """Refuse an output file that is one of the files that are read, or the budget."""
    files = common.data.files or []
    read = [] if common.out is None or files == ["-"] or not files else expand(files)
    for path in (*read, *([] if common.spend.budget is None else [Path(common.spend.budget)])):
        if common.out is not None and common.out.exists() and path.exists() and common.out.samefile(path):
            raise ValueError(f"--out would replace {printable(path.name)}, which is read here; give another file")


def _label(data: Data, name: str) -> str | None:
    """The name of the data for a budget: that of the files or of the database, if there is one."""
    if data.files:
        return None if data.files == ["-"] else name_of(data.files)
    if data.database is None:
        return None
    from nobounds.cli.commands.sql.queries import QUERY_TO

    return name.removeprefix(QUERY_TO)  # not of the URL, which may hold a password


def _named(data: Data) -> Iterator[str]:
    """The columns that the expressions of --where and --with name."""
    for expression in (*(data.where or ()), *(formula for _, formula in data.formulas)):
        yield from named(expression)


def _viewed(table: nb.Table, stream: TableStream, data: Data) -> tuple[nb.Table, dict[str, Any]]:
    """The table with the computed columns of --with and the conditions of --where, and the types of its columns."""
    view = View(stream_types(stream))
    for name, formula in data.formulas:
        table = table.with_columns(**{name: formula})
        view = view.with_columns({name: formula})
    for condition in data.where or ():
        table = table.where(condition)
    return table, stream.kinds | {name: formula.arrow for name, formula in view.formulas.items()}


def stream_of(data: Data, only: list[str] | None, stack: ExitStack, *, masked: bool = False) -> tuple[TableStream, str]:
    """The TableStream of a table, of which only the columns `only` will be read, and its name."""
    text = data.text
    if data.sql is not None:
        from nobounds.cli.commands.sql.queries import queried

        return queried(data, stack, masked)
    if data.files == ["-"]:
        if sys.stdin.isatty():
            print("Reading the table from the standard input; Ctrl-D ends it.", file=sys.stderr)
        path = stack.enter_context(_copied(sys.stdin.buffer, data.format))
        return from_paths([path], text.csv, text.stated, only), STANDARD_INPUT
    paths = expand(data.files)
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return from_paths(paths, text.csv, text.stated, only), f"{printable(paths[0].name)}{more}"


@contextmanager
def _copied(stream: BinaryIO, kind: str | None) -> Iterator[Path]:
    """A temporary file with the contents of a stream, to be read more than once."""
    start = stream.read(4)
    suffix = kind or _STARTS.get(start, "csv")
    zipped = ".gz" if start[:2] == b"\x1f\x8b" else ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{STANDARD_INPUT}.{suffix}{zipped}"
        with path.open("w+b") as file:
            handle = Path(f"/proc/self/fd/{file.fileno()}")
            if handle.exists():  # then the file needs no name, and vanishes however the process ends
                path.unlink()
                path.symlink_to(handle)
            file.write(start)
            shutil.copyfileobj(stream, file)
            file.flush()
            yield path
