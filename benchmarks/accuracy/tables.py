"""The two pages: a summary with the bars, and a table with every cell."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from bars import bars
from results import BEFORE

from nobounds.research.bench.results import OURS, Outcome, geometric

Key = TypeVar("Key")
ORACLE = "oracle"
EVERY = "every_cell.md"
_ABOUT = """Errors are mean absolute errors over the statistic of the sample, in units of the family's spread (for sums,
times n), with standard errors in brackets. An error counts for at most ten times the range of the data, in a sum for
that of answering 0. The rivals: `mapped` is the exponential mechanism with a heavy-tailed prior over magnitudes, by its
exact law; `piecewise Laplace` (Durfee 2025), `recursion` (Kaplan, Schnapp and Stemmer 2022) and `JointExp`
(Gillenwater, Joseph and Kulesza 2021) use the same prior; `Shifted Inverse` (Fang, Dong and Yi 2022) aims below the
maximum; `universal` is the mean of Dong and Yi (2023), `mapped mean` one around a mapped median; `doubling` searches
bounds by powers of two (Chen et al. 2016). The `oracle` knows the best clip of a sum. `before` is an
earlier version."""


def page(outcomes: Sequence[Outcome]) -> str:
    """The summary and the bars."""
    return f"""# Accuracy near 0 and far from it

`nobounds` beside methods that get no bounds either, on synthetic families that lie `offset` spreads from 0. Made by
`make accuracy`, with 400 repetitions for each cell that is not by exact law. Every cell, won or lost, is in
[a table of its own]({EVERY}). [Another page](missed.md) says why bars are missed, and what was measured besides.

{_ABOUT}

## Bars

{bars(outcomes)}

## Geometric means

Of the error of nobounds over that of each other method; a loss is a cell where the other is better.

{summary(outcomes)}
"""


def cells_page(outcomes: Sequence[Outcome]) -> str:
    """Every cell."""
    return f"# Every cell of the accuracy comparison\n\n{_ABOUT}\n\n{table(outcomes)}\n"


def table(outcomes: Sequence[Outcome]) -> str:
    """A table for each part, one row for each cell, the best method bold, and the ratio to the best rival."""
    texts = []
    for part, members in grouped(outcomes, lambda outcome: outcome.cell.part).items():
        methods = list(dict.fromkeys(name for outcome in members for name in outcome.errors))
        more = {"units": ("scale",), "stated": ("stated",)}.get(part, ())
        head = ("statistic", "family", "offset", "n", "epsilon", "relation", *more, *methods, "ratio")
        rows = [f"## {part}", "", _row(*head), "|---" * len(head) + "|"]
        for outcome in members:
            cell, best = outcome.cell, outcome.best(besides=(ORACLE,))
            errors = [_error(outcome, name, name == best) for name in methods]
            where = (cell.statistic, cell.family, f"{cell.offset:g}", f"{cell.n:,}", f"{cell.epsilon:g}", cell.relation)
            extra = [str(getattr(cell, name)) for name in more]
            rows.append(_row(*where, *extra, *errors, _ratio(outcome)))
        texts.append("\n".join(rows))
    return "\n\n".join(texts)


def summary(outcomes: Sequence[Outcome]) -> str:
    """Geometric means of the ratio of nobounds to each other method, by part, relation and n epsilon."""
    head = ("part", "relation", "n epsilon", "nobounds over", "cells", "geometric mean", "worst cell", "losses")
    rows = [_row(*head), "|---" * len(head) + "|"]
    groups = grouped(outcomes, lambda outcome: (outcome.cell.part, outcome.cell.relation, outcome.cell.budget))
    for (part, relation, budget), members in groups.items():
        for method in dict.fromkeys(name for outcome in members for name in outcome.errors if name != OURS):
            ratios = [outcome.ratio(OURS, method)[0] for outcome in members if method in outcome.errors]
            numbers = (f"{geometric(ratios):.3g}", f"{max(ratios):.3g}", sum(ratio > 1 for ratio in ratios))
            rows.append(_row(part, relation, f"{budget:g}", method, len(ratios), *numbers))
    return "\n".join(rows)


def grouped(outcomes: Iterable[Outcome], key: Callable[[Outcome], Key]) -> dict[Key, list[Outcome]]:
    """The outcomes by a key, in order."""
    groups: dict[Key, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[key(outcome)].append(outcome)
    return groups


def _ratio(outcome: Outcome) -> str:
    rival = outcome.best(besides=(OURS, BEFORE, ORACLE)) or outcome.best()
    if rival is None:
        return ""
    ratio, deviation = outcome.ratio(OURS, rival)
    return f"{ratio:.3g} ({deviation:.2g})"


def _error(outcome: Outcome, method: str, bold: bool) -> str:
    if method not in outcome.errors:
        return ""
    text = f"{outcome.mean(method):.3g} ({outcome.deviation(method):.1g})"
    return f"**{text}**" if bold else text


def _row(*fields: object) -> str:
    return "| " + " | ".join(map(str, fields)) + " |"
