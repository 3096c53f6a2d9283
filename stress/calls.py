"""The calls of the stress test: each follows from the seed, the process and its number, so it can be repeated."""

import random
from dataclasses import dataclass
from typing import Any

import nobounds as nb
from stress.tables import FILES, REGIONS, forms

SURE = "1000"  # an epsilon at which answers must be close
DELTA = "1e-8"  # for keys that are chosen privately
MOMENTS = ("before", "opened", "charged")

# Of a hundred calls; the rest have no fault. Those of files are drawn for calls on files alone.
LEDGER_FAULTS = {
    "full disk": 5,
    "ledger in use": 3,
    "ledger vanishes": 2,
    "ledger is cut": 3,
    "clock jumps": 6,
    "killed in a charge": 4,
    "killed while creating": 1,
}
FILE_FAULTS = {"file vanishes": 8, "file is unreadable": 6, "file is cut": 10, "rows are garbled": 16}

_AMOUNTS = {"epsilon": ("0.05", "0.1", "0.3", "1"), "rho": ("0.001", "0.01", "0.1")}
_STATISTICS = (
    *("quantile", "quantile", "quantiles", "maximum", "minimum", "bounds", "sum", "mean", "count", "count", "rows"),
    "describe",
)
_GROUPED = ("quantile", "maximum", "minimum", "sum", "mean", "count", "rows")


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its table, privacy unit, statistic, cost, and the fault that is injected and when."""

    name: str
    seed: int
    rows: int
    form: str
    rows_per_unit: int  # 0 without units
    neighbors: str
    statistic: str
    column: str
    q: str
    by: str  # "" without groups
    private_keys: bool
    spending: str  # epsilon or rho
    amount: str
    purse: str  # which kind of budget pays
    fault: str  # "" for none
    moment: str

    @property
    def whom(self) -> str:
        """Whom the budget is for."""
        return "user" if self.rows_per_unit else "swap" if self.neighbors == "swap" else "row"

    @property
    def file_fault(self) -> bool:
        """Whether the fault is one of the files of the table."""
        return self.fault in FILE_FAULTS


def draw(seed: int, life: int, number: int) -> Call:
    """The call of that number of a process."""
    rng = random.Random(f"{seed} {life} {number}")
    form, by = rng.choice(forms()), rng.choice(("", "", "region", "shop"))
    units = rng.random() < 0.4
    swap = not units and not by and rng.random() < 0.2
    private = bool(by) and rng.random() < 0.4
    spending = "epsilon" if private else rng.choice(("epsilon", "epsilon", "rho"))
    sure = not units and not private and spending == "epsilon" and rng.random() < 0.25
    purse = "sure" if sure else "both" if private else rng.choice(("both", spending))
    return Call(
        name=f"{life}-{number}",
        seed=rng.getrandbits(60),
        rows=rng.choice((0, 1, 30, 400, 1500)) if not sure else 1200,
        form=form,
        rows_per_unit=rng.randint(1, 4) if units else 0,
        neighbors="swap" if swap else "add-remove",
        statistic=rng.choice(_GROUPED if by else (*_STATISTICS, *(["rows_per_unit"] if units else []))),
        column=rng.choice(("age", "amount")),
        q=rng.choice(("0.1", "0.5", "0.9", "0.99")),
        by=by,
        private_keys=private,
        spending=spending,
        amount=SURE if sure else rng.choice(_AMOUNTS[spending]),
        purse=purse,
        fault=_fault(rng, form),
        moment=rng.choice(MOMENTS),
    )


def table_of(call: Call, data: Any, budget: Any) -> nb.Table:
    """The public table of a call."""
    given: dict[str, Any] = {"neighbors": call.neighbors, "budget": budget}
    if call.rows_per_unit:
        given |= {"unit": "user", "rows_per_unit": call.rows_per_unit}
    if call.form.startswith("csv"):
        given["csv"] = nb.Csv(header=True)
    return nb.Table.sql(*data, **given) if isinstance(data, tuple) else nb.Table(data, **given)


def ask(call: Call, table: nb.Table) -> Any:
    """The answer to the call, with random numbers from its seed."""
    spent: dict[str, Any] = {call.spending: call.amount, "rng": random.Random(call.seed)}
    grouped: Any = table
    if call.by:
        public = REGIONS[:3] if call.by == "region" else _shops(call)
        grouped = table.group_by(call.by, **({"delta": DELTA} if call.private_keys else {"keys": public}))
    if call.statistic == "rows":
        return grouped.count(**spent)
    if call.statistic == "rows_per_unit":
        return table.suggest_rows_per_unit(**spent)
    if call.statistic == "describe":
        return table.describe([call.column], **spent)
    if call.statistic == "quantile":
        return grouped.quantile(call.column, call.q, **spent)
    if call.statistic == "quantiles":
        return table.quantiles(call.column, ["0.25", call.q, "0.999"], **spent)
    return getattr(grouped, call.statistic)(call.column, **spent)


def _shops(call: Call) -> list[Any]:
    """Public keys of the type that the form gives to whole numbers."""
    return [str(k) if call.form.startswith("csv") else k for k in (3, 0, 7, 99)]


def _fault(rng: random.Random, form: str) -> str:
    faults = LEDGER_FAULTS | (FILE_FAULTS if form in FILES else {})
    none = 100 - sum(faults.values())
    return rng.choices([*faults, ""], [*faults.values(), none])[0]
