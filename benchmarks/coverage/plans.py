"""Whether plans agree with what happens: what they call answerable must be answered in 95% of runs.

    python benchmarks/coverage/plans.py [--reps 400] [--quick] [--jobs 2] [--results FILE]

Statistics get as many rows as `rows_needed` says, groups with private keys as many units as `plan` says, and summaries
and lists of statistics a stated number of rows, of which `plan_describe` and `plan_together` say what is answered.
A cell holds unless a one-sided binomial test rejects 95% with p < 1e-3.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from runs import measured, options, rejected, written

import nobounds as nb
from nobounds.ask import Ask
from nobounds.planning.several.together import plan_together

LEVEL = 0.95
GROUPS = 10
FAMILIES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal(50, 10)": lambda rng, n: rng.normal(50, 10, n),
    "lognormal(10, 1)": lambda rng, n: rng.lognormal(10, 1, n),
    "60% zeros": lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.lognormal(2, 1, n)),
}
PAIRS = ("ratio", "weighted_mean", "covariance", "correlation")
ALONE = (
    *("median", "quantile 0.9", "quantile 0.99", "maximum", "bounds", "iqr", "sum", "mean"),
    *("std", "proportion", *PAIRS),
)
GROUPED = ("median", "quantile 0.9", "maximum", "sum", "mean", "std")
SUMMARIES = ("1 column, 250 rows", "7 columns, 1,000 rows", "7 columns, 3,000 rows", "40 columns, 10,000 rows")
LISTS = {
    "count(), mean(x), median(x), 900 rows": ("count()", "mean(x)", "median(x)"),
    "mean(x), sum(x), std(x), quantile(x, 0.9), 4,000 rows": ("mean(x)", "sum(x)", "std(x)", "quantile(x, 0.9)"),
    "count(), mean(x), median(x), 2,000 rows in 10 groups": ("count()", "mean(x)", "median(x)"),
}


@dataclass(frozen=True)
class Cell:
    """What is planned: a kind of plan, what it is asked for, and of which data."""

    kind: str
    what: str
    relation: str
    family: str
    epsilon: float


@dataclass(frozen=True)
class Seen:
    """The rows that the plan needs, or was told, and how often what it calls answerable was answered."""

    cell: Cell
    rows: int
    answers: int
    answered: int

    @property
    def holds(self) -> bool:
        """Whether the test does not reject 95%."""
        return not rejected(self.answered, self.answers, LEVEL)


def _sample(family: str) -> np.ndarray:
    """A public sample, by which a plan knows of heaps."""
    return FAMILIES[family](np.random.default_rng(99), 20_000)


def _needed(cell: Cell, **more: Any) -> int:
    statistic, *q = cell.what.split()
    sample = None if statistic in ("proportion", *PAIRS) else _sample(cell.family)
    rank = {"q": float(q[0])} if q else {}
    return nb.rows_needed(
        statistic,  # type: ignore[arg-type]
        data=sample,
        epsilon=cell.epsilon,
        neighbors=cell.relation,  # type: ignore[arg-type]
        **rank,
        **more,
    )


def _ask(cell: Cell, x: np.ndarray, other: np.ndarray, rng: random.Random) -> Any:
    statistic, *q = cell.what.split()
    columns = [x > np.median(x)] if statistic == "proportion" else [x]
    if statistic in PAIRS:
        columns.append(np.abs(other) if statistic == "weighted_mean" else x + other)
    terms: dict[str, Any] = {"epsilon": cell.epsilon, "neighbors": cell.relation, "rng": rng}
    return getattr(nb, statistic)(*columns, *map(float, q), **terms)


def alone(cell: Cell, reps: int) -> Seen:
    """A statistic with the rows that it needs."""
    draw, rng, n, answered = FAMILIES[cell.family], np.random.default_rng(5), _needed(cell), 0
    for seed in range(reps):
        release = _ask(cell, draw(rng, n), draw(rng, n), random.Random(seed))
        answered += None not in (release.value if isinstance(release.value, tuple) else (release.value,))
    return Seen(cell, n, reps, answered)


def grouped(cell: Cell, reps: int) -> Seen:
    """A statistic of groups that have the rows that they need."""
    statistic, *q = cell.what.split()
    n = _needed(cell, groups=GROUPS)
    shared = statistic in ("sum", "mean")  # one clip, so that all groups may miss together
    draw, rng, answered = FAMILIES[cell.family], np.random.default_rng(5), 0
    runs = max(reps // (2 if shared else GROUPS), 1)
    groups = np.arange(n) % GROUPS
    for seed in range(runs):
        by = nb.Table({"g": groups, "x": draw(rng, n)}).group_by("g", keys=list(range(GROUPS)))
        release = getattr(by, statistic)("x", *map(float, q), epsilon=cell.epsilon, rng=random.Random(seed))
        answered += GROUPS - int(np.ma.getmaskarray(release.values).sum())
    return Seen(cell, n // GROUPS, runs if shared else runs * GROUPS, answered // (GROUPS if shared else 1))


def keys(cell: Cell, reps: int) -> Seen:
    """Groups whose keys are chosen privately, with as many units as they need to be shown."""
    terms: dict[str, Any] = {"groups": GROUPS, "delta": 1e-6, "epsilon": cell.epsilon}
    planned = nb.plan(cell.what, n=1000, data="normal", quick=True, **terms)  # type: ignore[arg-type]
    units = planned.rows[0].units or 0
    rng, shown, runs = np.random.default_rng(5), 0, max(reps // GROUPS, 1)
    groups = np.arange(units * GROUPS) % GROUPS
    for seed in range(runs):
        table = nb.Table({"g": groups, "x": FAMILIES[cell.family](rng, len(groups))})
        by, columns = table.group_by("g", delta=1e-6), () if cell.what == "count" else ("x",)
        shown += len(getattr(by, cell.what)(*columns, epsilon=cell.epsilon, rng=random.Random(seed)))
    return Seen(cell, units, runs * GROUPS, shown)


def summary(cell: Cell, reps: int) -> Seen:
    """A summary: of the statistics that its plan calls answered, the one that is answered least often."""
    columns, rows = (int(part.split()[0].replace(",", "")) for part in cell.what.split(", "))
    terms: dict[str, Any] = {"epsilon": cell.epsilon, "neighbors": cell.relation}
    names = nb.plan_describe(columns, rows=rows, **terms).answered
    rng, runs, answered = np.random.default_rng(5), max(reps // columns, 10), dict.fromkeys(names, 0)
    for seed in range(runs):
        table = {f"c{k}": FAMILIES[cell.family](rng, rows) for k in range(columns)}
        described = nb.describe(table, rng=random.Random(seed), **terms)
        for each in described.columns.values():
            for name in names:
                answered[name] += each.values[name] is not None
    return Seen(cell, rows, runs * columns, min(answered.values()))


def together(cell: Cell, reps: int) -> Seen:
    """A list of statistics: of those that its plan calls answered, the one that is answered least often."""
    asks = LISTS[cell.what]
    rows, groups = int(cell.what.split(" rows")[0].split()[-1].replace(",", "")), GROUPS if "groups" in cell.what else 1
    planned = plan_together(
        tuple(map(Ask.parse, asks)), rows=rows, epsilon=cell.epsilon, groups=groups if groups > 1 else None
    )
    names = [each.ask.name for each in planned if each.answered]
    rng, runs, answered = np.random.default_rng(5), max(reps // groups, 1), dict.fromkeys(names, 0)
    for seed in range(runs):
        table: Any = nb.Table({"g": np.arange(rows) % GROUPS, "x": FAMILIES[cell.family](rng, rows)})
        table = table.group_by("g", keys=list(range(GROUPS))) if groups > 1 else table
        answers = table.agg(*asks, epsilon=cell.epsilon, rng=random.Random(seed))
        for name in names:
            release = answers[name]
            missing = np.ma.getmaskarray(release.values).sum() if groups > 1 else release.value is None
            answered[name] += groups - int(missing)
    return Seen(cell, rows, runs * groups, min(answered.values()))


KINDS = {"alone": alone, "by group": grouped, "private keys": keys, "describe": summary, "agg": together}


def seen(cell: Cell, reps: int) -> Seen:
    """What happens in a cell."""
    return KINDS[cell.kind](cell, reps)


def cells(quick: bool) -> Iterator[Cell]:
    """All cells, or those of one family."""
    families = list(FAMILIES)[:1] if quick else list(FAMILIES)
    for family in families:
        for relation in ("add-remove", "swap"):
            yield from (Cell("alone", what, relation, family, 1.0) for what in ALONE)
            if family != "60% zeros":
                yield from (Cell("describe", what, relation, family, 1.0) for what in SUMMARIES)
        yield from (Cell("alone", what, "add-remove", family, 0.2) for what in ("median", "mean", "sum"))
        yield from (Cell("by group", what, "add-remove", family, 1.0) for what in GROUPED)
        if family != "60% zeros":
            yield from (Cell("agg", what, "add-remove", family, 1.0) for what in LISTS)
    yield from (Cell("private keys", what, "add-remove", families[0], 1.0) for what in ("count", "mean", "median"))


def page(all_seen: list[Seen], reps: int) -> list[str]:
    """The page."""
    wrong = sum(not each.holds for each in all_seen)
    head = ["| plan | of | neighbours | data | epsilon | rows | answered | |", "|---" * 8 + "|"]
    rows = [
        f"| {one.cell.kind} | {one.cell.what} | {one.cell.relation} | {one.cell.family} | {one.cell.epsilon:g} "
        f"| {one.rows:,} | {one.answered / one.answers:.1%} | {'holds' if one.holds else 'does not hold'} |"
        for one in all_seen
    ]
    return [
        "# Do plans agree with what happens?",
        "",
        f"Written by `python benchmarks/coverage/plans.py --reps {reps}`. What a plan calls answerable must be "
        "answered in 95% of runs, by a binomial test at p < 1e-3.",
        "",
        "- *alone*: a statistic with as many rows as `rows_needed` (`nobounds plan rows`) says.",
        f"- *by group*: {GROUPS} groups, each with as many rows as it says; the rows are those of one group.",
        "- *private keys*: groups with as many units as `plan` says; the share is that of the groups that are shown.",
        "- *describe*, *agg*: a stated number of rows. The share is that of the statistic that is answered least "
        "often, of those that `plan_describe` or `plan_together` calls answered.",
        "",
        "A plan knows of zeros from a public sample (`data=`): around a clip only the other records count.",
        "",
        f"{len(all_seen) - wrong} of {len(all_seen)} cells hold. A cell has {reps} runs, or as many columns or groups; "
        f"of sums and means by group, which share a clip, {reps // 2} runs.",
        "",
        *head,
        *rows,
    ]


def main() -> None:
    """Measure, print and write the page."""
    parser = options(__doc__, "plans.md")
    parser.add_argument("--kind", nargs="+", default=list(KINDS), choices=list(KINDS), help="kinds of plans")
    given = parser.parse_args()
    grid = [cell for cell in cells(given.quick) if cell.kind in given.kind]
    all_seen = sorted(measured(grid, seen, given, Seen), key=lambda each: grid.index(each.cell))
    written(given.out, page(all_seen, given.reps))


if __name__ == "__main__":
    main()
