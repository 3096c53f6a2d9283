"""How a statistic of a column, or of two, becomes cases."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa

import nobounds as nb
from nobounds.auditing.claims.releases import of_column
from nobounds.auditing.lockstep import Setting as Case
from nobounds.statistics.searched import planned
from support.lockstep_cases.data import (
    ADDED,
    FEW,
    HUNDREDS,
    INF,
    LOGNORMAL,
    MOVED,
    NAN,
    OFFSET,
    SOME,
    SWAP,
    changed,
    named,
    without,
)

RANKED = {nb.quantile, nb.median, nb.iqr, nb.quantiles, nb.maximum, nb.minimum, nb.bounds}


def columns(function, settings, *args):
    """A case for each setting: options, and which of the pairs the fast tests take; few rows are answered too."""
    cases = []
    for options, some in settings:
        options = {"marks": False, **options} if function in RANKED else options
        pairs = MOVED if "neighbors" in options else ADDED
        more = [pair for k, pair in enumerate(pairs) if k not in range(len(pairs))[some]]
        at = ", ".join([*map(str, args), named(options)])
        cases.append(Case(at, of_column(function, *args, **options), pairs[some], more))
    return cases


def hundreds(function, *args, **options):
    """A case with a few hundred rows."""
    options = {"marks": False, **options} if function in RANKED else options
    pairs = [changed(HUNDREDS, 7, 1e5)] if "neighbors" in options else [without(HUNDREDS, 7)]
    more = [changed(HUNDREDS, 299, NAN)] if "neighbors" in options else [without(HUNDREDS, 150), without(HUNDREDS, 299)]
    return Case(f"300 rows, {named(options)}", of_column(function, *args, **options), pairs, more, divergences=False)


def at_a_level(epsilon):
    """As many records as a frame is bought for at least, so that one fewer would take another route."""
    question = planned(np.zeros(1), (Fraction(1, 2),), epsilon=epsilon)
    level = min(level for level in question.size.levels if question.plan(level).frame is not None)
    return np.sort(np.random.default_rng(11).normal(50, 20, level))


STATED = {"rows": 5000}  # a public number of rows, which need not be true: then few rows take the routes of many
OWN = {"ladder": nb.Ladder.uniform(0, 10_000, 10_000), **STATED}


def chosen(method):
    """A choice among all rungs at once."""
    how = {"method": method}
    return columns(
        nb.quantile,
        [
            ({**how, "epsilon": 1, **STATED}, SOME),
            ({**how, "epsilon": 1, **OWN}, FEW),
            ({**how, "epsilon": 1, **OWN, **SWAP}, FEW),
            ({**how, "rho": 0.3, **STATED}, FEW),
            ({**how, "rho": 0.3, **OWN}, FEW),
            ({**how, "rho": 0.3, **OWN, **SWAP}, FEW),
        ],
        0.5,
    )


def moments(kind):
    """Numbers as dates, datetimes or durations of numpy; those far off are near the ends of the years."""

    def of_numbers(data):
        whole = np.clip(np.nan_to_num(data), -(10**6), 10**6).astype(np.int64)
        return np.where(np.isnan(data), np.array("NaT", dtype=kind), whole.astype(kind))

    return of_numbers


def decimals(data):
    """Numbers as decimals with two digits behind the point."""
    listed = [None if math.isnan(x) else Decimal(round(max(min(x, 1e6), -1e6) * 100)).scaleb(-2) for x in data.tolist()]
    return pa.array(listed, pa.decimal128(38, 2))


def typed(function, convert, *args, **options):
    """A case with values of a type, as `columns` has them with numbers."""
    (case,) = columns(function, [(options, FEW)], *args)

    def call(data, driver, budget):
        return case.call(convert(data), driver, budget)

    return Case(f"{function.__name__}, typed, {case.name}", call, case.pairs, case.more)


def trues(data):
    """Which numbers are above 2, as booleans; those of missing numbers are missing."""
    return np.ma.masked_array(np.nan_to_num(data) > 2, np.isnan(data))


def converted(function, convert, settings):
    """Cases as `columns` has them, with the numbers converted first."""

    def of(call):
        return lambda data, driver, budget: call(convert(data), driver, budget)

    return [Case(case.name, of(case.call), case.pairs, case.more) for case in columns(function, settings)]


TWO_COLUMNS = np.column_stack([np.append(LOGNORMAL, [NAN, 3.0, -1e300]), np.append(OFFSET[:25], [1.0, NAN, INF])])
BEND = np.column_stack([HUNDREDS, HUNDREDS[::-1] ** 2])
TWO_ADDED = [without(TWO_COLUMNS, 24), without(TWO_COLUMNS, 27), without(BEND, 299), without(TWO_COLUMNS, 25)]
TWO_MOVED = [changed(TWO_COLUMNS, 24, (-1e9, 1e9)), changed(TWO_COLUMNS, 25, (5.0, 5.0)), changed(BEND, 7, (NAN, 1.0))]


def two_columns(function, settings):
    """Cases with two columns of the same rows."""

    def of(options):
        return lambda data, rng, budget: function(data[:, 0], data[:, 1], rng=rng, budget=budget, **options)

    return [
        Case(named(options), of(options), (TWO_MOVED if "neighbors" in options else TWO_ADDED)[:some])
        for options, some in settings
    ]
