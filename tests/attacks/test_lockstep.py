"""Every public statistic in lockstep on neighbouring data: with the same outcome of every decision, all is the same.

What the outcomes tell of a record adds up to no more than was charged (see `auditing/lockstep.py`); and bugs that are
planted in the programs are found.
"""

from functools import cache

import pytest
from support.lockstep_cases import CASES, NOT_RUN
from support.program_bugs import PLANTED, is_found, planned_anew

import nobounds as nb
from nobounds.auditing.lockstep import explore
from nobounds.tables.by_group.table import GroupedTable
from nobounds.tables.table import Table

# What the worst transcript has to reach, where that is not 0.9 of epsilon. In a summary no record is the worst one for
# all parts at once; vectors have a rho alone, of which a search for the clip does not use all. At a level a record
# decides the route, and what follows tells little more. Where a few rows may be nothing but noise, only the looks at
# their number are spent.
BITES = {
    "describe": ("epsilon", 0.7),
    "Table.describe": ("epsilon", 0.3),
    "Table.quantile": ("epsilon", 0.15),
    "Table.sum": ("epsilon", 0.15),
    "Table.where, mean": ("epsilon", 0.2),
    "bounds": ("epsilon", 0.6),
    "group_by, public keys, bounds": ("epsilon", 0.15),
    "group_by, public keys, variance": ("epsilon", 0.3),
    "median": ("epsilon", 0.8),
    "iqr": ("epsilon", 0.75),
    "Table.iqr": ("epsilon", 0.7),
    "Table.median": ("epsilon", 0.7),
    "Table.quantiles": ("epsilon", 0.65),
    "Table.where, quantile": ("epsilon", 0.7),
    "Table.minimum": ("epsilon", 0.5),
    "Table.bounds": ("epsilon", 0.6),
    "Table.suggest_rows_per_unit": ("epsilon", 0.5),
    "PrivateClipper": ("epsilon", 0.8),
    "quantile, at a level": ("epsilon", 0.5),
    "group_by, public keys, quantile at a level": ("epsilon", 0.5),
    "group_by, private keys, minimum": ("epsilon", 0.6),
    "group_by, public keys, interval": ("epsilon", 0.8),
    "group_by, public keys, quantiles": ("epsilon", 0.7),
    "group_by, private keys, quantiles": ("epsilon", 0.6),
    "group_by, private keys, bounds": ("epsilon", 0.65),
    "group_by, public keys, iqr": ("epsilon", 0.6),
    "group_by, private keys, iqr": ("epsilon", 0.7),
    "group_by, public keys, agg": ("epsilon", 0.7),
    "group_by, private keys, agg": ("epsilon", 0.7),
    "group_by, public keys, describe": ("epsilon", 0.55),
    "group_by, private keys, describe": ("epsilon", 0.55),
    "vector_sum": ("rho", 0.8),
    "vector_mean": ("rho", 0.8),
}
KEYS = ("public", "private")

findings = cache(lambda statistic: explore(CASES[statistic]))


def each(statistics):
    """One test for each; those of one statistic share what was found, in one process."""
    return [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in statistics]


@pytest.mark.medium
@pytest.mark.parametrize("statistic", each(CASES))
def test_the_loss_of_every_transcript_is_within_what_was_charged(statistic):
    """Both runs draw, release and are charged the same; log-ratios, ranges and divergences are within the loss."""
    assert not findings(statistic).wrong


@pytest.mark.medium
@pytest.mark.parametrize("statistic", each(CASES))
def test_some_transcript_tells_nearly_what_was_charged(statistic):
    """Some transcript tells nearly as much as was charged."""
    measure, least = BITES.get(statistic, ("epsilon", 0.9))
    assert findings(statistic).ratios[measure] >= least


def test_there_are_two_thousand_transcripts():
    """Four on each pair of data sets: drawn and worst outcomes, both ways."""
    assert sum(4 * len(case.pairs) for cases in CASES.values() for case in cases) >= 2000


def test_every_public_statistic_is_run():
    """Each public name that reads data, and each statistic of a table and of its groups, is among the cases."""
    run = {name.partition(",")[0] for name in CASES}
    assert set(nb.__all__) - NOT_RUN <= run
    assert {f"Table.{name}" for name in _public(Table) - {"columns", "group_by", "sql", "with_columns"}} <= run
    assert {f"group_by, {keys} keys, {name}" for name in _public(GroupedTable) for keys in KEYS} <= set(CASES)


def _public(kind):
    return {name for name in vars(kind) if not name.startswith("_")}


@pytest.mark.medium
@pytest.mark.parametrize("statistic", each(["quantile, auto", "sum", "Table.sum", "group_by, private keys, mean"]))
def test_all_draws_are_known(statistic):
    """No public bits are drawn but the 62 that choose the rows of a unit."""
    assert findings(statistic).bits == ({62} if "." in statistic or "group" in statistic else set())


# --- bugs in programs ------------------------------------------------------------------------------------------------


@pytest.mark.medium
@pytest.mark.parametrize("bug", PLANTED)
def test_bugs_planted_in_programs_are_found(bug):
    """Each tells two runs apart, tells more than was charged, or costs more."""
    assert is_found(bug)


def test_plans_are_made_anew_where_a_bug_is_planted():
    """The places that keep plans are among those that do not: functions, the class of questions, and the door."""
    places = {(getattr(owner, "__name__", None), name) for owner, name, _ in planned_anew()}
    assert {("nobounds.ranks.plan", "_separately"), ("nobounds.ranks.plan", "_together")} <= places
    assert {("Question", "of"), ("nobounds.ranks.question", "auto"), ("nobounds.statistics.door", "_loss")} <= places
