"""A request to the studio: a statistic, its columns, public facts about them, and what it may cost.

An `Ask` is read from the fields of a form. It makes a release from a table, a forecast without one, and the code that
reproduces the release. Numbers stay text until the library reads them: 0.1 then means exactly one tenth.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import nobounds as nb
from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Spending
from nobounds.engines.files.paths import name_of
from nobounds.exact import rational
from nobounds.release.shares import COUNT_SHARE, LEVELS, RANKS, answered, shares

STATISTICS = {
    "describe": "Summary of columns",
    "quantile": "One quantile",
    "quantiles": "Several quantiles",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "bounds": "Minimum and maximum",
    "sum": "Sum",
    "mean": "Mean",
    "count": "Count",
}
FACTS = ("lower", "upper", "resolution")
_LONGEST = 2000  # characters in a field


@dataclass(frozen=True, slots=True)
class Origin:
    """The files of the table, its budget and its privacy unit."""

    files: tuple[str, ...]
    budget: Path
    unit: str | None = None
    rows_per_unit: int | None = None
    neighbors: Neighbors = "add-remove"
    csv: nb.Csv | None = None
    schema: Any = None  # what a Table takes

    @property
    def name(self) -> str:
        """The name of the table on the pages."""
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f"{Path(self.files[0]).name}{more}"

    @property
    def label(self) -> str | None:
        """The name of the data in the history of the budget, as for a Table."""
        return name_of(list(self.files))

    @property
    def options(self) -> dict[str, Any]:
        """The keywords of the Table that differ from the defaults."""
        given = {"unit": self.unit, "rows_per_unit": self.rows_per_unit, "csv": self.csv, "schema": self.schema}
        neighbors = {} if self.neighbors == "add-remove" else {"neighbors": self.neighbors}
        return {name: value for name, value in given.items() if value is not None} | neighbors

    def table(self, budget: Any = None) -> nb.Table:
        """The table; reads only its columns, not its rows."""
        return nb.Table(list(self.files), budget=budget, **self.options)


@dataclass(frozen=True, slots=True)
class Ask:
    """A statistic of columns, for an epsilon or a rho; numbers are kept as text."""

    statistic: str
    columns: tuple[str, ...]
    amount: str
    spending: Literal["epsilon", "rho"] = "epsilon"
    q: tuple[str, ...] = ()
    lower: str = ""
    upper: str = ""
    resolution: str = ""

    @classmethod
    def of(cls, fields: Mapping[str, str], columns: tuple[str, ...]) -> "Ask":
        """The request in the fields of a form; ValueError says what is wrong with it."""
        given = {name: _text(fields, name) for name in ("statistic", "amount", "spending", "q", *FACTS)}
        statistic, spending = given["statistic"], given["spending"] or "epsilon"
        if statistic not in STATISTICS:
            raise ValueError("choose a statistic")
        if spending not in ("epsilon", "rho"):
            raise ValueError("choose epsilon or rho")
        if not given["amount"]:
            raise ValueError(f"say how much {spending} may be spent")
        if not columns and statistic not in ("count", "describe"):
            raise ValueError("choose a column")
        if len(columns) > 1 and statistic != "describe":
            raise ValueError(f"a {statistic} is of one column; for several at once choose the summary")
        ranks = tuple(given["q"].replace(",", " ").replace(";", " ").split())
        if statistic in ("quantile", "quantiles") and not ranks:
            raise ValueError("say which quantile: a number from 0 to 1, 0.5 for the median")
        if statistic == "quantile" and len(ranks) > 1:
            raise ValueError("one quantile is one number; for more of them choose several quantiles")
        kept = ranks if statistic in ("quantile", "quantiles") else ()
        facts = {name: "" if statistic == "count" else given[name] for name in FACTS}
        ask = cls(statistic, columns, given["amount"], spending, kept, **facts)  # type: ignore[arg-type]
        Spending.of(ask.spent.get("epsilon"), ask.spent.get("rho"))
        return ask

    @property
    def spent(self) -> dict[str, str]:
        """The keyword for the spending: epsilon or rho."""
        return {self.spending: self.amount}

    @property
    def known(self) -> dict[str, Any]:
        """The keywords for the public facts about the columns."""
        given = {name: getattr(self, name) for name in FACTS}
        return {name: self._by_column(name, text) for name, text in given.items() if text}

    def _by_column(self, name: str, text: str) -> str | dict[str, str]:
        """One number, or for a summary numbers by column: age=1, income=0.01."""
        if self.statistic != "describe" or "=" not in text:
            return text
        pairs = [part.strip().rpartition("=") for part in text.split(",")]
        if not all(equals and column for column, equals, _ in pairs):
            raise ValueError(f"{name} is one number, or column=number for each column, with commas between them")
        return {column.strip(): number.strip() for column, _, number in pairs}

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The positional arguments of the table's method."""
        if self.statistic == "describe":
            return (list(self.columns),) if self.columns else ()
        ranks = {"quantile": self.q[:1], "quantiles": (list(self.q),)}.get(self.statistic, ())
        return (*self.columns, *ranks)

    def release(self, table: nb.Table) -> nb.Release | nb.Description:
        """The private answer of a table."""
        answer: nb.Release | nb.Description = getattr(table, self.statistic)(
            *self.arguments, **self.spent, **self.known
        )
        return answer

    def title(self) -> str:
        """The request in one line."""
        ranks = f" ({', '.join(self.q)})" if self.q else ""
        of = ", ".join(self.columns) or ("all numeric columns" if self.statistic == "describe" else "rows")
        return f"{STATISTICS[self.statistic]}{ranks}: {of}"

    def python(self, origin: Origin) -> str:
        """A script that repeats the release, with fresh noise and at the same price."""
        files = origin.files[0] if len(origin.files) == 1 else list(origin.files)
        options = "".join(f", {name}={_code(value)}" for name, value in origin.options.items())
        keywords = [f"{name}={value!r}" for name, value in (self.spent | self.known).items()]
        call = ", ".join([*map(repr, self.arguments), *keywords])
        return (
            "import nobounds as nb\n\n"
            f"budget = nb.Budget(path={str(origin.budget)!r})\n"
            f"table = nb.Table({files!r}{options}, budget=budget)\n"
            f"release = table.{self.statistic}({call})\n"
            "print(release)\n"
        )

    def shell(self, origin: Origin) -> str:
        """The command that does the same."""
        command = "quantile" if self.statistic == "quantiles" else self.statistic
        words = ["nobounds", command, *origin.files]
        words += [word for column in self.columns for word in ("--column", column)]
        words += [word for rank in self.q for word in ("--q", rank)]
        words += [f"--{self.spending}", self.amount]
        for name, value in self.known.items():
            several = value.items() if isinstance(value, dict) else [("", value)]
            words += [f"--{name}={column}={number}" if column else f"--{name}={number}" for column, number in several]
        words += [word for name, value in origin.options.items() for word in _words(name, value)]
        return shlex.join([*words, "--budget", str(origin.budget)]) + "\n"


def _code(value: object) -> str:
    """The value of a keyword in Python."""
    return f"nb.{value!r}" if isinstance(value, nb.Csv) else repr(value)


def _words(name: str, value: Any) -> list[str]:
    """The value of a keyword on the command line, where a list repeats its option."""
    if isinstance(value, nb.Csv):
        return [word for option, stated in value.stated.items() for word in _words(option, stated)]
    if name == "schema":
        return [f"--type={column}={kind}" for column, kind in value.items()]
    option = {"missing": "--na"}.get(name, f"--{name.replace('_', '-')}")
    values = value if isinstance(value, tuple) else (value,)
    return [f"{option}={_shell(each)}" for each in values]


def _shell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else "tab" if value == "\t" else str(value)


@dataclass(frozen=True, slots=True)
class Guess:
    """A guess about the data for a forecast: roughly how many records, and of what shape."""

    n: str
    family: str
    scale: str = ""

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> "Guess":
        """The guess in the fields of a form."""
        guess = cls(*(_text(fields, name) for name in ("n", "family", "scale")))
        if not guess.n:
            raise ValueError("guess how many records there are, for the forecast")
        return guess


def forecast(ask: Ask, guess: Guess, origin: Origin, *, quick: bool = False) -> nb.Forecast:
    """The error to expect of a request, from exact laws; no data are read.

    A unit with k rows costs k times the epsilon of a row, or k**2 times its rho.
    """
    rows = origin.rows_per_unit or 1
    share = Fraction(ask.amount) / (rows if ask.spending == "epsilon" else rows**2)
    known = {name: value for name, value in ask.known.items() if isinstance(value, str)}
    q: Any = {"quantile": ask.q[0] if ask.q else None, "quantiles": list(ask.q)}.get(ask.statistic)
    return nb.plan(
        ask.statistic,  # type: ignore[arg-type]
        data=guess.family,
        n=guess.n,
        q=q,
        scale=guess.scale or None,
        neighbors=origin.neighbors,
        quick=quick,
        **{ask.spending: share},  # type: ignore[arg-type]
        **known,  # type: ignore[arg-type]
    )


def parts(ask: Ask, columns: int, guess: Guess, origin: Origin) -> dict[str, Ask]:
    """The parts of a summary that can be forecast, each as a request, for a guess at the number of records.

    `columns` is the number of columns, and what a guess at more or fewer records would get is not in them.
    """
    rows = origin.rows_per_unit or 1
    zcdp = ask.spending == "rho"
    times = rows**2 if zcdp else rows
    whole = Fraction(ask.amount) / times
    counts = COUNT_SHARE * whole / columns
    each = shares(whole / columns - counts, int(rational(guess.n, "n")), origin.neighbors, zcdp)
    ranks = tuple(str(float(q)) for name, q in RANKS.items() if name in answered(each))
    facts = {name: text for name, text in ask.known.items() if isinstance(text, str)}  # those of all columns
    levels = sum((each[level] for level in LEVELS if level in each), Fraction(0))
    requests = {
        "count": ("count", counts, ()),
        "median": ("quantile", levels if len(ranks) == 1 else Fraction(0), ranks),
        "quantiles": ("quantiles", levels if len(ranks) > 1 else Fraction(0), ranks),
        "mean": ("mean", each.get("mean", Fraction(0)), ()),
        "minimum and maximum": ("bounds", each.get("min and max", Fraction(0)), ()),
    }
    return {
        name: Ask(statistic, ("column",), str(amount * times), ask.spending, q, **({} if name == "count" else facts))
        for name, (statistic, amount, q) in requests.items()
        if amount
    }


def _text(fields: Mapping[str, str], name: str) -> str:
    text = str(fields.get(name, "")).strip()
    if len(text) > _LONGEST:
        raise ValueError(f"{name} is too long")
    return text
