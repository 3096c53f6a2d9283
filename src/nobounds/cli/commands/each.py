"""A statistic of each of several columns, for one epsilon and one delta in total."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import nobounds as nb
from nobounds.cli.commands.agg import show_answers
from nobounds.cli.commands.groups import say_groups, show_groups
from nobounds.cli.options.common import CommonOptions
from nobounds.cli.output import show, total_in_words, written
from nobounds.cli.printing.printer import printer, say
from nobounds.cli.sources import Opened, opened
from nobounds.exact import printable
from nobounds.release.answers import Answers
from nobounds.release.files import write_csv
from nobounds.release.grouped import GroupedRelease
from nobounds.release.several import cells, column_of, together, total


def answer_each(
    common: CommonOptions,
    columns: Iterable[str | None],
    ask: Callable[[Opened, str | None, dict[str, Any]], Any],
    *,
    beside: Sequence[str] = (),
    delta: str | None = None,
    as_csv: bool = False,
    rows_limited: bool = True,
) -> None:
    """Print what `ask` answers for each column, for an even part of the amount; `beside` are other columns it needs.

    delta: the total of all answers; `ask` spends its own part of it.
    """
    names = list(dict.fromkeys(columns))
    amount = common.spend.each(len(names)).amount
    with opened(common, *names, *beside, rows_limited=rows_limited) as handle:
        if len(names) > 1:
            _require_all(common, delta)
            for name in names:  # if one of them is refused, nothing was charged for the others
                handle.rehearse(partial(ask, handle, name, amount))
        answers = [ask(handle, name, amount) for name in names]
    with handle.shown(), written(*answers, out=common.out):
        if isinstance(answers[0], Answers):
            show_answers(answers[0], as_json=common.as_json, as_csv=as_csv)
        elif isinstance(answers[0], GroupedRelease) and len(answers) > 1:
            _show_several(answers, as_json=common.as_json, as_csv=as_csv)
        elif isinstance(answers[0], GroupedRelease):
            show_groups(answers[0], as_json=common.as_json, as_csv=as_csv)
        else:
            show(*answers, as_json=common.as_json)


def _show_several(releases: Sequence[GroupedRelease], *, as_json: bool, as_csv: bool) -> None:
    """Print the answers of several columns, each under its name, and what they cost together."""
    if as_json:
        print(json.dumps(together(releases), allow_nan=False))
        return
    if as_csv:
        write_csv(sys.stdout, cells(releases), printable if sys.stdout.isatty() else str)
        return
    console = printer()
    for release in releases:
        console.print(printable(column_of(release)), style="bold")
        console.print()
        say_groups(console, release)
        console.print()
    say(console, total_in_words(releases[0], total(releases)))


def _require_all(common: CommonOptions, delta: str | None) -> None:
    """Refuse several answers that do not fit in the budget together, before the first of them is charged."""
    spend = common.spend
    if spend.budget is None:
        return
    from nobounds.accounting.budget import read

    statement, whom, unit = read(spend.budget), common.whom.checked_neighbors, common.whom.unit or "row"
    if spend.epsilon is not None and delta is not None:
        statement.check(nb.PrivacyLoss.approximate(spend.epsilon, delta, neighbors=whom, unit=unit))
    elif spend.epsilon is not None:
        statement.check(nb.PrivacyLoss.pure(spend.epsilon, neighbors=whom, unit=unit))
    elif spend.rho is not None and statement.terms.rho is not None:
        statement.check(nb.PrivacyLoss.zcdp(spend.rho, neighbors=whom, unit=unit))
