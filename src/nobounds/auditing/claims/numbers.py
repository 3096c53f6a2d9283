"""The cases of noisy numbers: counts, sums and means by the code that releases them, with all noise within a reach.

An outcome is the whole release: the value, the interval and every parameter. The claim is the loss that the release
states, or the library's cost of a part of one.
"""

import math
import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from nobounds.accounting.cost import pure
from nobounds.accounting.loss import Neighbors, PrivacyLoss, Unit
from nobounds.auditing.audit import Data
from nobounds.auditing.cases import Case, Measure, Worst, neighbouring, pure_claims
from nobounds.auditing.enumerated import divergence_between, enumerated_law, loss_between
from nobounds.clipping.average import AverageRule
from nobounds.counting.histogram import Histogram
from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.ladders.ladder import Ladder
from nobounds.programs.program import Draw, Driver
from nobounds.ranks.auto import SizeRule
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.problem import Problem
from nobounds.ranks.view import View
from nobounds.release.release import Release
from nobounds.statistics.sums import count

WIDTH = 3
MISSING = None
HALVES = (Fraction(1, 3), Fraction(2, 3))
FORTY = (1.0,) * 40
STATISTICS: dict[str, Callable[..., Release]] = {"count": count}
USER = Unit("user", 2)
USERS = ((0,), (1, 1))  # the rows of each
FAR, NEAR = 30.0, 14.0  # scales of noise: for one number, and for two, where every pair is tried
BRIEF, BRIEF_NEAR, BRIEF_ORDER = 8.0, 10.0, 15.0  # the same in the quick table
ORDER = 63.0  # the reach for a Renyi divergence of order 64, in nominal epsilons, plus some deviations (MORE)
MORE = 8.0


def numbers_seen(
    release: Callable[[Data, Driver], Hashable],
    spots: Sequence[Any],
    most: int,
    neighbors: Neighbors,
    reach: float,
    zcdp: bool = False,
    factor: Fraction = Fraction(1),
    at: str = "",
) -> Iterator[Worst]:
    """The worst losses over all neighbours of up to `most` records."""
    pairs = list(neighbouring(spots, most, neighbors))
    every = dict.fromkeys(chain.from_iterable(pairs))
    laws = {data: enumerated_law(partial(release, data), reach, factor) for data in every}
    for x, y in pairs:
        if zcdp:
            yield Worst("rho", divergence_between(laws[x], laws[y]), (x, y), at)
            continue
        epsilon, eta = loss_between(laws[x], laws[y])
        yield Worst("epsilon", epsilon, (x, y), at)
        yield Worst("range", eta, (x, y), at)


def release_of(
    statistic: str, options: dict[str, Any], data: Data, driver: Driver, nullable: bool = True, users: bool = False
) -> Release:
    """The release for these records, or for users with all their rows."""
    rows: Any = chain.from_iterable(data) if users else data  # type: ignore[arg-type]
    records = [math.nan if record is MISSING else record for record in rows]
    values = column(np.array(records, dtype=np.float64 if nullable else np.int64))
    unit = replace(values, facts=replace(values.facts, unit=USER))
    return STATISTICS[statistic](unit if users else values, rng=driver, **options)


def released(
    statistic: str, options: dict[str, Any], data: Data, driver: Driver, nullable: bool = True, users: bool = False
) -> str:
    """The whole release, as a text."""
    return release_of(statistic, options, data, driver, nullable, users).to_json()


def stated(statistic: str, options: dict[str, Any], data: Data, nullable: bool, users: bool) -> PrivacyLoss:
    """The loss that a release states; a loss that depended on the data would show up in the laws."""
    return release_of(statistic, options, data, Draw(random.Random(0).getrandbits), nullable, users).loss


def averaged(rule: AverageRule, data: Data, driver: Driver) -> Hashable:
    """The count, sum and average that a mean releases, for whole numbers up to WIDTH."""
    present: list[int] = [record for record in data if record is not MISSING]  # type: ignore[misc]
    public = replace(rule, rows=len(data) if rule.neighbors == "swap" else None)
    average = driver.run(public.release(len(present), sum(present), WIDTH))
    return average.count, average.total, average.value, average.scales


def sized(rule: SizeRule, more: Data, data: Data, driver: Driver) -> Hashable:
    """The size that quantiles by halving learn."""
    histogram = Histogram.of([np.array([*more, *data], dtype=float)], Ladder.uniform(0, 4, 4))
    halving = Halving(Problem(HALVES, histogram.ladder, "add-remove"), False, rule, Fraction(1))
    return driver.run(halving.learned(View(Counts(histogram, list))))


def cases() -> Iterator[Case]:
    """The noisy size, and counts, sums and means with discrete Laplace and discrete Gaussian noise."""
    for epsilon in (Fraction(1, 2), Fraction(1), Fraction(3)):
        quick = epsilon == 1
        yield from _sizes(epsilon, quick)
        yield from _averages(epsilon, quick)
        yield from _releases({"epsilon": epsilon}, quick)
    for rho in (Fraction(1, 8), Fraction(1, 2)):
        yield from _releases({"rho": rho}, rho == Fraction(1, 2))


def _sizes(epsilon: Fraction, quick: bool) -> Iterator[Case]:
    for rule, note, more in (
        (SizeRule(epsilon), "", ()),
        (SizeRule(epsilon, at_most=1), ", at most 1", ()),
        (SizeRule(epsilon), ", 40 records more", FORTY),
    ):
        release = partial(sized, rule, more)
        yield Case(
            "private size",
            f"epsilon {epsilon}{note}",
            "discrete Laplace",
            "add-remove",
            "row",
            lambda: pure_claims(pure(epsilon)),
            lambda release=release: numbers_seen(release, (1.0,), 2, "add-remove", FAR),  # type: ignore[misc]
            quick=quick,
            brief=lambda release=release: numbers_seen(release, (1.0,), 2, "add-remove", BRIEF),  # type: ignore[misc]
        )


def _averages(epsilon: Fraction, quick: bool) -> Iterator[Case]:
    rules = [("mean, its sum", AverageRule(epsilon, "swap", 0, False), FAR)]
    if epsilon >= 1:
        rules += [("mean, its two sums", AverageRule(epsilon, "add-remove", None, True), NEAR)]
        rules += [("mean, records may be missing", AverageRule(epsilon, "swap", 0, True), NEAR)]
    for name, rule, reach in rules:
        gone = (MISSING,) if name.endswith("missing") else ()
        look = partial(numbers_seen, partial(averaged, rule), (0, 1, WIDTH, *gone), 1 if gone else 2, rule.neighbors)
        yield Case(
            name,
            f"epsilon {epsilon}",
            "discrete Laplace",
            rule.neighbors,
            "row",
            lambda rule=rule: pure_claims(rule.cost()),  # type: ignore[misc]
            partial(look, reach),
            quick=quick if reach == FAR else epsilon == 3,
            brief=partial(look, BRIEF if reach == FAR else BRIEF_NEAR),
        )


def _releases(spent: dict[str, Any], quick: bool) -> Iterator[Case]:
    yield _case("count", spent, {}, (1.0,), quick=quick)
    yield _case("count", spent, {}, (1.0,), more=FORTY)
    yield _case("count", spent, {"neighbors": "swap"}, (1.0, MISSING), quick=quick)
    yield _case("count", spent, {}, USERS, users=True, quick=quick)


def _case(
    statistic: str,
    spent: dict[str, Any],
    facts: dict[str, Any],
    spots: tuple[Any, ...],
    *,
    most: int = 2,
    nullable: bool = True,
    users: bool = False,
    two: bool = False,
    more: Data = (),
    quick: bool = False,
) -> Case:
    (name, amount), zcdp, options = next(iter(spent.items())), "rho" in spent, spent | facts
    neighbors: Neighbors = facts.get("neighbors", "add-remove")
    bounds = f", from {facts['lower']} to {facts['upper']}" if "lower" in facts else ""
    none = "" if nullable or neighbors == "add-remove" else ", none missing"
    reach = NEAR if two else FAR
    brief = BRIEF_NEAR if two else BRIEF
    if zcdp:  # for two numbers only up to order 16
        deviations = math.sqrt(2 * amount) / (2 if users else 1)
        brief = BRIEF_ORDER * deviations + MORE
        reach = brief if two else ORDER * deviations + MORE

    def claims() -> dict[Measure, float]:
        loss = stated(statistic, options, spots[:1], nullable, users)
        return {"rho": loss.rho} if zcdp else {"epsilon": loss.epsilon, "range": loss.eta}

    def release(data: Data, driver: Driver) -> Hashable:
        return released(statistic, options, (*more, *data), driver, nullable, users)

    return Case(
        statistic,
        f"{name} {amount}{bounds}{none}{', 40 records more' if more else ''}",
        "discrete Gaussian" if zcdp else "discrete Laplace",
        neighbors,
        "user of 2 rows" if users else "row",
        claims,
        lambda: numbers_seen(release, spots, most, neighbors, reach, zcdp),
        tight=("rho",) if zcdp else ("epsilon", "range"),
        quick=quick,
        brief=lambda: numbers_seen(release, spots, most, neighbors, brief, zcdp),
    )
