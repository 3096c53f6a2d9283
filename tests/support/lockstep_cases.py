"""Every public statistic in several settings, and the neighbouring data sets that they are run on in lockstep."""

import math
import os
import tempfile
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa

import nobounds as nb
from nobounds.auditing.claims.releases import of_column
from nobounds.auditing.lockstep import Setting as Case
from nobounds.sklearn import PrivateClipper
from nobounds.statistics.quantiles import planned

NAN, INF = math.nan, math.inf
SHAPES = np.random.default_rng(7)
SWAP = {"neighbors": "swap"}
NOT_RUN = {  # public names that read no data, or not by themselves
    *(
        "Answers",
        "Budget",
        "BudgetExceeded",
        "Csv",
        "Description",
        "Forecast",
        "GroupedRelease",
        "Histogram",
        "Ladder",
        "Law",
    ),
    *("DescribeForecast", "PrivacyLoss", "Release", "Schema", "Table", "explain", "plan"),
    *("plan_describe", "rows_needed"),
}


def without(rows, *places):
    """Some rows, and the same rows without those at some places."""
    rows = np.asarray(rows)
    return rows, np.delete(rows, places, axis=0)


def changed(rows, place, row):
    """Some rows, and the same rows with another one at a place."""
    rows = np.asarray(rows)
    other = rows.copy()
    other[place] = row
    return rows, other


def named(options):
    """Options in words."""
    short = ((key, "own" if isinstance(value, nb.Ladder) else value) for key, value in options.items())
    return ", ".join(f"{key} {value}" for key, value in short)


# --- columns ---------------------------------------------------------------------------------------------------------

LOGNORMAL = np.sort(np.round(SHAPES.lognormal(3, 1, 25), 2))
OFFSET = np.sort(SHAPES.normal(1000, 1, 30))
SIGNED = np.sort(SHAPES.normal(0, 5, 28))
HUNDREDS = np.sort(SHAPES.normal(50, 20, 300))
WHOLE = np.sort(SHAPES.integers(0, 40, 24))
GAP = np.array([0.0, 1, 2, 3, 4, 5, 9990, 9991, 9992, 9994, 9996, 9997])
TIES = np.array([1.0, 1, 1, 1, 1, 2, 2, 2, 5])
ZEROS = np.array([0.0] * 9 + [4.0, -0.0])
HUGE = np.array([1e300, -1e300, INF, 5e-324, 2.0, 7.0, -3.0, 1.7e308])
MISSING = np.array([1.0, 2.0, 3.0, NAN, 8.0])
MOSTLY_ZEROS = np.append(np.zeros(270), HUNDREDS[::10])

ADDED = [
    without([3.5], 0),
    without([-1.0, 2.0], 1),
    without(TIES, 0),
    without(TIES, 8),
    without(ZEROS, 2),
    without(ZEROS, 9),
    without(HUGE, 0),
    without(HUGE, 3),
    without(MISSING, 3),
    without(LOGNORMAL, 24),
    without(OFFSET, 15),
    without(SIGNED, 0),
    without(GAP, 6),
    without(WHOLE, 23),
]
MOVED = [
    changed(TIES, 0, 5.0),
    changed([3.5], 0, -2.0),
    changed(ZEROS, 2, 1e6),
    changed(HUGE, 4, -INF),
    changed(MISSING, 3, 5.0),
    changed(np.append(SIGNED[::2], MISSING), 13, NAN),
    changed(LOGNORMAL, 24, 0.0),
    changed(OFFSET, 29, -1000.0),
    changed(GAP, 0, 9999.0),
    changed(SIGNED, 27, -30.0),
    changed(WHOLE, 0, 39),
]
ALL, SOME, FEW = slice(None), slice(1, None, 2), slice(2, None, 3)


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


CASES = {
    "dates, durations and decimals": [
        typed(nb.quantile, moments("M8[D]"), 0.5, epsilon=1),
        typed(nb.quantile, moments("m8[s]"), 0.5, epsilon=1, **SWAP),
        typed(nb.bounds, moments("M8[ms]"), epsilon=1, lower="1970-01-01", resolution="1s"),
        typed(nb.mean, moments("M8[D]"), epsilon=1),
        typed(nb.mean, decimals, epsilon=1, **SWAP),
        typed(nb.sum, moments("m8[s]"), rho=0.1),
        typed(nb.sum, decimals, epsilon=1),
        typed(nb.sum, decimals, epsilon=1, lower=0, upper=10, **SWAP),
    ],
    "quantile, auto": [
        *columns(
            nb.quantile,
            [
                ({"epsilon": 1}, ALL),
                ({"epsilon": 1, **STATED}, SOME),
                ({"epsilon": 20}, SOME),
                ({"rho": 0.1}, SOME),
                ({"rho": 0.1, **STATED}, FEW),
                ({"epsilon": 1, "resolution": 0.5, "lower": 0}, FEW),
                ({"epsilon": 0.3, "lower": -10, "upper": 1e4}, FEW),
                ({"epsilon": 1, **SWAP}, SOME),
                ({"epsilon": 20, **SWAP}, SOME),
                ({"rho": 0.5, **SWAP}, FEW),
            ],
            0.5,
        ),
        *columns(
            nb.quantile,
            [
                ({"epsilon": 1}, FEW),
                ({"epsilon": 1, "rows": 100}, SOME),
                ({"epsilon": 1, **STATED}, SOME),
                ({"epsilon": 1, **STATED, "resolution": 0.5}, FEW),
                ({"epsilon": 30}, SOME),
                ({"epsilon": 30, **SWAP}, FEW),
                ({"epsilon": 1, **STATED, **SWAP}, SOME),
                ({"rho": 0.2, **STATED, **SWAP}, FEW),
            ],
            0.9,
        ),
        *columns(nb.quantile, [({"epsilon": 1}, FEW), ({"epsilon": 1, **STATED}, FEW)], 0.05),
        *columns(nb.quantile, [({"epsilon": 1, **STATED, **SWAP}, SOME), ({"rho": 0.2, **STATED, **SWAP}, FEW)], 0.5),
        hundreds(nb.quantile, 0.5, epsilon=1),
        hundreds(nb.quantile, 0.5, epsilon=1, **SWAP),
        hundreds(nb.quantile, 0.9, epsilon=2),
    ],
    "quantile, marks": [
        *columns(
            nb.quantile, [({"epsilon": 5, "marks": True}, SOME), ({"epsilon": 9, "marks": True, **SWAP}, FEW)], 0.5
        ),
        *columns(nb.quantiles, [({"epsilon": 9, "marks": True}, FEW)], [0.1, 0.5]),
        *columns(nb.maximum, [({"epsilon": 9, "marks": True}, SOME)]),
        *columns(nb.bounds, [({"epsilon": 9, "marks": True}, FEW)]),
    ],
    "quantile, at a level": [
        Case(
            f"epsilon {epsilon}",
            of_column(nb.quantile, 0.5, epsilon=epsilon, marks=False),
            [without(at_a_level(epsilon), 3)],
        )
        for epsilon in (1, 5)
    ],
    "quantile, interval": [
        *columns(
            nb.quantile,
            [
                ({"epsilon": 1, "interval": 0.95}, SOME),
                ({"epsilon": 1, "interval": 0.95, "marks": True}, FEW),
                ({"epsilon": 1, "interval": 0.95, **STATED}, SOME),
                ({"epsilon": 30, "interval": 0.95}, FEW),
                ({"epsilon": 30, "interval": 0.9, "of": "sample", "resolution": 0.5, "lower": 0}, FEW),
                ({"epsilon": 1, "interval": 0.95, "guarantee": True, **STATED}, FEW),
                ({"rho": 0.2, "interval": 0.95, **STATED}, FEW),
                ({"epsilon": 1, "interval": 0.95, **STATED, **SWAP}, FEW),
                ({"epsilon": 30, "interval": 0.95, **SWAP}, SOME),
                ({"rho": 0.5, "interval": 0.95, **SWAP}, FEW),
            ],
            0.5,
        ),
        *columns(
            nb.quantile,
            [({"epsilon": 1, "interval": 0.95, **STATED}, FEW), ({"epsilon": 30, "interval": 0.95, **SWAP}, FEW)],
            0.9,
        ),
        hundreds(nb.quantile, 0.5, epsilon=1, interval=0.95),
    ],
    "maximum, interval": [
        *columns(
            nb.maximum,
            [
                ({"epsilon": 1, "interval": 0.95}, SOME),
                ({"epsilon": 30, "interval": 0.95}, FEW),
                ({"epsilon": 9, "interval": 0.95, "marks": True}, FEW),
                ({"epsilon": 1, "interval": 0.95, "upper": 100, "resolution": 1}, FEW),
                ({"rho": 0.2, "interval": 0.95}, FEW),
                ({"epsilon": 1, "interval": 0.95, **SWAP}, FEW),
                ({"epsilon": 30, "interval": 0.95, **SWAP}, FEW),
            ],
        ),
        *columns(nb.bounds, [({"epsilon": 1, "interval": 0.95}, FEW), ({"rho": 0.5, "interval": 0.9, **SWAP}, FEW)]),
        hundreds(nb.minimum, epsilon=1, interval=0.95),
    ],
    "quantile, percentiles": columns(
        nb.quantile,
        [
            ({"epsilon": 1, "ranks": True, **STATED}, SOME),
            ({"epsilon": 1, "ranks": True, "interval": 0.95, **STATED}, FEW),
            ({"rho": 0.2, "ranks": True, **STATED}, FEW),
            ({"epsilon": 1, "ranks": True, **STATED, **SWAP}, FEW),
        ],
        0.5,
    ),
    "quantile, walk": columns(
        nb.quantile,
        [
            ({"method": "walk", "epsilon": 1, **STATED}, SOME),
            ({"method": "walk", "epsilon": 1, "noise": "laplace"}, SOME),
            ({"method": "walk", "epsilon": 1, "noise": "gumbel"}, SOME),
            ({"method": "walk", "epsilon": 1, "noise": "laplace", **STATED}, FEW),
            ({"method": "walk", "epsilon": 1, "noise": "gumbel", **STATED}, FEW),
            ({"method": "walk", "epsilon": 2, "beta": 1.5, **SWAP}, SOME),
            ({"method": "walk", "rho": 0.1, "noise": "laplace", **SWAP}, FEW),
        ],
        0.75,
    ),
    "quantile, flip": chosen("flip"),
    "quantile, exponential": chosen("exponential"),
    "quantiles": [
        *columns(
            nb.quantiles,
            [
                ({"epsilon": 1}, SOME),
                ({"epsilon": 2, **STATED}, SOME),
                ({"epsilon": 30}, FEW),
                ({"epsilon": 1, "resolution": 1, "lower": 0, "upper": 10_000, **STATED}, FEW),
                ({"rho": 0.2, **STATED}, FEW),
                ({"epsilon": 2, **SWAP}, FEW),
                ({"epsilon": 30, **SWAP}, FEW),
                ({"epsilon": 2, **STATED, **SWAP}, FEW),
                ({"rho": 5, **SWAP}, FEW),
                ({"rho": 2, **STATED, **SWAP}, FEW),
            ],
            [0.25, 0.5, 0.75],
        ),
        *columns(nb.quantiles, [({"epsilon": 1, **STATED}, FEW)], [0.01, 0.3, 0.99]),
        *columns(
            nb.quantiles,
            [({"epsilon": 1, **STATED}, FEW), ({"epsilon": 2, **STATED, **SWAP}, FEW)],
            [0.001, 0.5, 0.999],
        ),
        hundreds(nb.quantiles, [0.1, 0.5], epsilon=1),
    ],
    "maximum": [
        *columns(
            nb.maximum,
            [
                ({"epsilon": 1}, ALL),
                ({"epsilon": 1, "lower": 0}, FEW),
                ({"epsilon": 1, "upper": 100, "resolution": 1}, FEW),
                ({"epsilon": 1, "noise": "gumbel"}, FEW),
                ({"rho": 0.1}, FEW),
                ({"epsilon": 30}, SOME),
                ({"epsilon": 1, **SWAP}, SOME),
                ({"epsilon": 40, **SWAP}, FEW),
            ],
        ),
        hundreds(nb.maximum, epsilon=1),
    ],
    "minimum": columns(
        nb.minimum,
        [({"epsilon": 1}, SOME), ({"epsilon": 0.5, "noise": "laplace"}, FEW), ({"rho": 0.1, **SWAP}, FEW)],
    ),
    "bounds": columns(
        nb.bounds,
        [
            ({"epsilon": 1}, SOME),
            ({"epsilon": 20}, FEW),
            ({"epsilon": 60}, FEW),
            ({"rho": 0.1}, FEW),
            ({"rho": 400}, FEW),
            ({"epsilon": 1, **SWAP}, FEW),
            ({"epsilon": 80, **SWAP}, FEW),
        ],
    ),
    "median": [*columns(nb.median, [({"epsilon": 1}, FEW), ({"epsilon": 30, "interval": 0.95}, FEW)])],
    "std": [
        *columns(
            nb.std,
            [
                ({"epsilon": 1}, SOME),
                ({"epsilon": 60}, FEW),
                ({"epsilon": 1, "lower": 0, "upper": 10}, FEW),
                ({"rho": 0.1}, FEW),
                ({"epsilon": 1, **SWAP}, SOME),
                ({"epsilon": 60, **SWAP}, FEW),
                ({"rho": 0.5, **SWAP}, FEW),
            ],
        ),
        hundreds(nb.std, epsilon=1),
        hundreds(nb.std, epsilon=4, **SWAP),
        typed(nb.std, moments("M8[D]"), epsilon=1),
    ],
    "variance": columns(nb.variance, [({"epsilon": 1, "resolution": 1}, FEW), ({"epsilon": 30, **SWAP}, FEW)]),
    "iqr": columns(
        nb.iqr,
        [
            ({"epsilon": 1, **STATED}, FEW),
            ({"epsilon": 30, "interval": 0.95}, FEW),
            ({"rho": 0.5, "interval": 0.95, **SWAP}, FEW),
        ],
    ),
    **{
        function.__name__: two_columns(
            function,
            [
                ({"epsilon": 1}, 4),
                ({"epsilon": 60}, 3),
                ({"rho": 0.2}, 2),
                ({"epsilon": 1, **SWAP}, 3),
                ({"epsilon": 60, **SWAP}, 3),
                ({"rho": 0.5, **SWAP}, 2),
                ({"epsilon": 1, "lower": (0, 900), "upper": (200, 1100)}, 4),
                ({"epsilon": 20, "lower": 0, "upper": 10_000, **SWAP}, 3),
            ],
        )
        for function in (nb.ratio, nb.weighted_mean, nb.covariance, nb.correlation)
    },
    "proportion": [
        *converted(
            nb.proportion,
            trues,
            [
                ({"epsilon": 1}, ALL),
                ({"rho": 0.1}, SOME),
                ({"epsilon": 1, **SWAP}, ALL),
                ({"rho": 0.5, **SWAP}, FEW),
            ],
        ),
        *converted(nb.proportion, lambda data: np.nan_to_num(data) > 2, [({"epsilon": 2, **SWAP}, SOME)]),
    ],
    "count": columns(
        nb.count,
        [({"epsilon": 1}, ALL), ({"rho": 0.1}, SOME), ({"epsilon": 1, **SWAP}, ALL), ({"rho": 0.2, **SWAP}, SOME)],
    ),
    "sum": [
        *columns(
            nb.sum,
            [
                ({"epsilon": 1}, ALL),
                ({"epsilon": 30}, SOME),
                ({"epsilon": 1, "lower": 0, "upper": 10}, FEW),
                ({"epsilon": 1, "resolution": 1}, FEW),
                ({"rho": 0.1}, SOME),
                ({"epsilon": 1, **SWAP}, SOME),
                ({"epsilon": 40, **SWAP}, SOME),
                ({"rho": 0.5, **SWAP}, FEW),
            ],
        ),
        hundreds(nb.sum, epsilon=1),
        hundreds(nb.sum, epsilon=5, lower=0, upper=90),  # about as many in the outer third as make it the clip
        hundreds(nb.sum, rho=1, lower=0, upper=90),
        hundreds(nb.sum, epsilon=1, **SWAP),
    ],
    "mean": [
        *columns(
            nb.mean,
            [
                ({"epsilon": 1}, ALL),
                ({"epsilon": 60}, SOME),
                ({"epsilon": 1, "lower": 0, "upper": 1e4}, FEW),
                ({"rho": 0.1}, SOME),
                ({"epsilon": 1, **SWAP}, SOME),
                ({"epsilon": 60, **SWAP}, SOME),
                ({"rho": 0.5, **SWAP}, FEW),
            ],
        ),
        hundreds(nb.mean, epsilon=1),
        hundreds(nb.mean, epsilon=36, lower=0, upper=100),
        hundreds(nb.mean, epsilon=4, **SWAP),
    ],
}

EDGES, POINTS = {"edges": [0, 2, 50, 9995]}, {"points": [1, 2, 1e6]}
CASES["histogram"] = [
    *columns(
        nb.histogram,
        [
            ({**EDGES, "epsilon": 1}, ALL),
            ({**EDGES, "rho": 0.2}, SOME),
            ({**EDGES, "epsilon": 1, **SWAP}, ALL),
            ({**EDGES, "rho": 0.2, **SWAP}, SOME),
            ({"bins": 5, "lower": 0, "upper": 100, "epsilon": 1}, FEW),
            ({"bins": 5, "epsilon": 60}, SOME),
            ({"bins": 5, "rho": 200}, FEW),
            ({"bins": 5, "epsilon": 100, **SWAP}, SOME),
        ],
    ),
    hundreds(nb.histogram, epsilon=4),
    hundreds(nb.histogram, epsilon=8, **SWAP),
]
CASES["cdf"] = columns(
    nb.cdf,
    [
        ({**POINTS, "epsilon": 1}, ALL),
        ({**POINTS, "epsilon": 20}, SOME),
        ({**POINTS, "rho": 0.2, **SWAP}, SOME),
        ({"bins": 5, "epsilon": 60}, SOME),
        ({"bins": 5, "epsilon": 100, **SWAP}, FEW),
    ],
)

# --- rows of several columns -----------------------------------------------------------------------------------------

MATRIX = np.column_stack([SHAPES.normal(0, 3, 20), SHAPES.lognormal(0, 2, 20), np.zeros(20)])
SPOILT = np.vstack([MATRIX[:6], [[NAN, 1, 1], [1e300, -1e300, 1e300], [0, 0, 0]]])
ROWS_ADDED = [without(MATRIX, 3), without(MATRIX, int(MATRIX[:, 1].argmax())), without(SPOILT, 6), without(SPOILT, 7)]
ROWS_MOVED = [changed(MATRIX, 3, -MATRIX[3]), changed(SPOILT, 6, [5, 5, 5]), changed(SPOILT, 7, [0, NAN, 0])]


def vectors(function):
    """A sum or mean of vectors."""
    settings = [
        {"rho": 0.1},
        {"rho": 20},
        {"rho": 0.1, "upper": 2},
        {"epsilon": 1, "delta": 1e-6},
        {"rho": 0.5, **SWAP},
        {"rho": 30, **SWAP},
    ]
    return [
        Case(named(options), of_column(function, **options), ROWS_MOVED if "neighbors" in options else ROWS_ADDED)
        for options in settings
    ]


def two_columns(**options):
    """A summary of a table with a column of floats and one of integers."""

    def call(data, rng, budget):
        rows = {"a": data[:, 0], "b": data[:, 1].astype(np.int64)}
        return nb.describe(rows, rng=rng, budget=budget, **options)

    return call


def of_a_file(data, rng, budget):
    """A summary of a file without types, where noisy counts decide which columns are numeric."""
    lines = ["a,b", *(f"{a:.3g},{'x' if b < 1 else ''}" for a, b in data[:, :2])]
    handle, path = tempfile.mkstemp(suffix=".csv")
    try:
        with os.fdopen(handle, "w") as file:
            file.write("\n".join([*lines, ""]))
        return nb.Table(path, csv=nb.Csv(header=True), budget=budget).describe(epsilon=2, rng=rng)
    finally:
        os.remove(path)


def clipper(data, rng, budget):
    """The bounds that a transformer learns, for one epsilon over all features."""
    fitted = PrivateClipper((0.25, 0.5), epsilon=1.0, budget=budget, random_state=rng).fit(data)
    return fitted.lower_.tolist(), fitted.upper_.tolist(), fitted.loss_


CASES |= {
    "vector_sum": vectors(nb.vector_sum),
    "vector_mean": vectors(nb.vector_mean),
    "describe": [
        Case("epsilon 1", of_column(nb.describe, epsilon=1), [without(MISSING, 4)], ADDED, divergences=False),
        Case("epsilon 1, two columns", two_columns(epsilon=1), ROWS_ADDED[:1], ROWS_ADDED[1:2], divergences=False),
        Case("epsilon 40, two columns", two_columns(epsilon=40, resolution={"a": 0.5}), ROWS_ADDED[:1], [], False),
        Case("rho 0.5", of_column(nb.describe, rho=0.5), [without(TIES, 0)], ADDED),
        Case("epsilon 1, swap", of_column(nb.describe, epsilon=1, **SWAP), [changed(MISSING, 1, NAN)], MOVED, False),
        Case("rho 2, swap", of_column(nb.describe, rho=2, **SWAP), [changed(ZEROS, 2, 1e6)], MOVED),
        Case("epsilon 2000, frames", of_column(nb.describe, epsilon=2000), [without(OFFSET, 15)], ADDED[9:], False),
        Case("epsilon 2, a file", of_a_file, ROWS_ADDED[:1], [], False),
        # The noisy count decides what is answered: up to a median, a mean in fences, extremes, everything.
        *(hundreds(nb.describe, epsilon=epsilon) for epsilon in (0.3, 1, 2, 5)),
        *(hundreds(nb.describe, epsilon=epsilon, **SWAP) for epsilon in (1, 3)),
        hundreds(nb.describe, rho=0.3),
        Case("mostly zeros", of_column(nb.describe, epsilon=1), [without(MOSTLY_ZEROS, 299)], [], False),
    ],
    "PrivateClipper": [
        Case("epsilon 1", clipper, [without(np.column_stack([LOGNORMAL] * 2), 0), without(SPOILT, 6)], [], False)
    ],
}

# --- streams: counts of a column as queries --------------------------------------------------------------------------

SAME = 12  # equal queries before one that a record does not move, or moves the other way
STREAMED = [without([3.0], 0), without(TIES, 0), without(SIGNED, 27), without(SIGNED, 0)]


def moved_one_way(data):
    return [*[int((data >= 0).sum())] * SAME, int((data > 1e9).sum())]


def moved_both_ways(data):
    positive = int((data >= 0).sum())
    return [*[positive] * SAME, int((data < 0).sum()) - positive]


def rising(data):
    return [float((data <= edge).sum()) / 3 for edge in range(-3, 30, 2)]


def streams(make, settings):
    """The answers of a stream to queries about the data, and all that it shows of itself, for each setting."""

    def call(queries, times, options):
        def answers(data, rng, budget):
            mechanism = make(rng=rng, budget=budget, **options)
            given = []
            for value in queries(data) * times:
                given.append(mechanism.query(value))
                if not mechanism._open:
                    break
            hits = getattr(mechanism, "hits_at", None), getattr(mechanism, "halted_at", None)
            return given, mechanism.answered, mechanism.loss, hits

        return answers

    return [
        Case(f"{queries.__name__}, {named(options)}", call(queries, options.get("hits", 1), options), STREAMED)
        for queries, options in settings
    ]


MONOTONIC, LOW = {"monotonic": True}, {"threshold": -10}
CASES |= {
    "AboveThreshold": streams(
        nb.AboveThreshold,
        [
            (moved_both_ways, {**LOW, "epsilon": 1}),
            (moved_both_ways, {"threshold": 4, "epsilon": 1}),
            (moved_both_ways, {"threshold": 9, "epsilon": 1}),
            (moved_one_way, {**LOW, "epsilon": 1, **MONOTONIC}),
            (moved_both_ways, {**LOW, "epsilon": 1, "noise": "laplace"}),
            (moved_one_way, {**LOW, "epsilon": 1, "noise": "gumbel", **MONOTONIC}),
            (rising, {"threshold": 2, "epsilon": 0.5, "sensitivity": 1 / 3, **MONOTONIC}),
        ],
    ),
    "IterativeExponential": streams(
        nb.IterativeExponential,
        [(moved_both_ways, {**LOW, "epsilon": 1}), (moved_one_way, {**LOW, "epsilon": 1, **MONOTONIC})],
    ),
    "SparseVector, iterated": streams(
        nb.SparseVector,
        [
            (moved_both_ways, {**LOW, "hits": 2, "epsilon": 2, "method": "iterated"}),
            (moved_one_way, {**LOW, "hits": 2, "epsilon": 2, "method": "iterated", **MONOTONIC}),
            (moved_both_ways, {**LOW, "hits": 2, "epsilon": 2, "noise": "gumbel"}),
            (moved_both_ways, {**LOW, "hits": 3, "rho": 0.5, "method": "iterated"}),
            (moved_one_way, {**LOW, "hits": 3, "epsilon": 1, "delta": 1e-5, "method": "iterated", **MONOTONIC}),
        ],
    ),
    "SparseVector, classical": streams(
        nb.SparseVector,
        [
            (moved_both_ways, {**LOW, "hits": 2, "epsilon": 2, "method": "classical"}),
            (moved_one_way, {**LOW, "hits": 2, "epsilon": 2, "method": "classical", **MONOTONIC}),
            (moved_both_ways, {**LOW, "hits": 2, "epsilon": 2, "method": "classical", "noise": "laplace"}),
            (moved_one_way, {**LOW, "hits": 3, "rho": 0.5, "method": "classical", **MONOTONIC}),
        ],
    ),
}

# --- tables ----------------------------------------------------------------------------------------------------------


def table(users, cities, values):
    """Columns of a table."""
    return {"user": np.array(users), "city": np.array(cities), "x": np.array(values, dtype=float)}


def without_rows(rows, gone):
    """A table, and the same without some of its rows."""
    return rows, {name: column[~gone] for name, column in rows.items()}


N = 40
PEOPLE = table(
    [f"u{i % 17}" for i in range(N)], [f"c{(i * i) % 3}" for i in range(N)], np.round(SHAPES.lognormal(2, 1, N), 2)
)
ODD = table(
    ["a", "a", "a", "a", "b", "b", "c", "d", "d", "e", "f"],
    ["x", "x", "y", "y", "x", "z", "y", "x", "y", "x", "w"],
    [1.0, 1e300, -5.0, 0.0, 3.0, NAN, 2.0, 2.0, -INF, 7.0, 9.0],
)
SPREAD = table([f"u{i}" for i in range(25)], ["x"] * 25, LOGNORMAL)
ROWS = [
    without_rows(SPREAD, np.arange(25) == 0),
    *(without_rows(ODD, np.arange(11) == place) for place in (1, 9, 10, 5)),
    without_rows(PEOPLE, np.arange(N) == 5),
]
ONLY = without_rows(
    table(["a", "b", "c"], ["x", "x", "y"], [1.0, 3.0, 2.0]), np.arange(3) == 2
)  # the only row of a group
USERS = [
    without_rows(PEOPLE, PEOPLE["user"] == "u3"),
    *(without_rows(ODD, ODD["user"] == user) for user in "afdb"),
]
WIDE = table([*ODD["user"], "g", "g", "g"], [*ODD["city"], "p", "q", "r"], [*ODD["x"], 1.0, 2.0, 3.0])
WIDE_USER = without_rows(WIDE, WIDE["user"] == "g")  # the only one with some of the cities
LEVEL = at_a_level(5)
AT_A_LEVEL = table(range(len(LEVEL)), ["x"] * len(LEVEL), LEVEL)
CITY_MOVED = [({**ODD}, {**ODD, "city": changed(ODD["city"], place, city)[1]}) for place, city in ((9, "v"), (10, "x"))]
ROW_MOVED = [({**ODD}, {**ODD, "x": changed(ODD["x"], 7, -1e9)[1]})]

OF_A_TABLE = {
    "quantile": lambda table, **options: table.quantile("x", 0.5, marks=False, **options),
    "median": lambda table, **options: table.median("x", marks=False, **options),
    "quantiles": lambda table, **options: table.quantiles("x", [0.25, 0.5], marks=False, **options),
    "maximum": lambda table, **options: table.maximum("x", marks=False, **options),
    "minimum": lambda table, **options: table.minimum("x", marks=False, **options),
    "bounds": lambda table, **options: table.bounds("x", marks=False, **options),
    "sum": lambda table, **options: table.sum("x", **options),
    "mean": lambda table, **options: table.mean("x", **options),
    "std": lambda table, **options: table.std("x", **options),
    "iqr": lambda table, **options: table.iqr("x", marks=False, **options),
    "ratio": lambda table, **options: table.with_columns(y="x * 2 + 1").ratio("x", "y", **options),
    "weighted_mean": lambda table, **options: table.weighted_mean("x", "x", **options),
    "covariance": lambda table, **options: table.covariance("x", "x", **options),
    "correlation": lambda table, **options: table.correlation("x", "x", **options),
    "variance": lambda table, **options: table.variance("x", **options),
    "proportion": lambda table, **options: table.proportion("x > 3", **options),
    "count": lambda table, **options: table.count("x", **options),
    "count of rows": lambda table, **options: table.count(**options),
    "describe": lambda table, **options: table.describe(["x"], **options),
    "agg": lambda table, **options: table.agg("mean(x)", "median(x)", "count()", marks=False, **options),
    "histogram": lambda table, **options: table.histogram("x", edges=[0, 3, 100], **options),
    "cdf": lambda table, **options: table.cdf("x", points=[0, 3, 100], **options),
}
OF_GROUPS = {
    "quantile": lambda groups, **options: groups.quantile("x", 0.5, **options),
    "median": lambda groups, **options: groups.median("x", **options),
    "maximum": lambda groups, **options: groups.maximum("x", **options),
    "minimum": lambda groups, **options: groups.minimum("x", **options),
    "sum": lambda groups, **options: groups.sum("x", **options),
    "mean": lambda groups, **options: groups.mean("x", **options),
    "count": lambda groups, **options: groups.count("x", **options),
}

ONE_BY_ONE = {  # groups whose programs run one after the other
    "quantiles": lambda groups, **options: groups.quantiles("x", [0.25, 0.5], marks=False, **options),
    "bounds": lambda groups, **options: groups.bounds("x", marks=False, **options),
    "describe": lambda groups, **options: groups.describe(["x"], **options),
    "std": lambda groups, **options: groups.std("x", marks=False, **options),
    "variance": lambda groups, **options: groups.variance("x", marks=False, **options),
    "proportion": lambda groups, **options: groups.proportion("high", marks=False, **options),  # of a computed column
    "histogram": lambda groups, **options: groups.histogram("x", edges=[0, 5, 20], **options),
    "cdf": lambda groups, **options: groups.cdf("x", points=[0, 5, 20], **options),
    "iqr": lambda groups, **options: groups.iqr("x", marks=False, **options),
    "ratio": lambda groups, **options: groups.ratio("x", "x", marks=False, **options),
    "weighted_mean": lambda groups, **options: groups.weighted_mean("x", "x", marks=False, **options),
    "covariance": lambda groups, **options: groups.covariance("x", "x", marks=False, **options),
    "correlation": lambda groups, **options: groups.correlation("x", "x", marks=False, **options),
    "agg": lambda groups, **options: groups.agg("mean(x)", "median(x)", "count()", "bounds(x)", **options),
}


def of_table(ask, facts=None, by=None, **options):
    """A call of a table with these facts, by groups if there are any."""

    def call(data, rng, budget):
        asked = nb.Table(data, budget=budget, **(facts or {}))
        if ask is ONE_BY_ONE["proportion"]:
            asked = asked.with_columns(high="x > 2")
        return ask(asked if by is None else asked.group_by("city", **by), rng=rng, **options)

    return call


TWO = {"unit": "user", "rows_per_unit": 2}
PUBLIC, PRIVATE = {"keys": ["c0", "c1", "x", "y", "nobody"]}, {"delta": 0.01}
ONE_GROUP = {"delta": 0.05, "groups_per_unit": 1}

CASES |= {
    f"Table.{name}": [
        Case("epsilon 1, users", of_table(ask, TWO, epsilon=1), USERS[:2], USERS[2:], name != "describe", rows=2),
        Case("rho 0.2, users", of_table(ask, TWO, rho=0.2), USERS[1:2], USERS[2:], rows=2),
        Case("epsilon 1, rows", of_table(ask, epsilon=1), ROWS[:1], ROWS[1:], name != "describe"),
        Case("epsilon 1, swap", of_table(ask, SWAP, epsilon=1), ROW_MOVED, [], name != "describe"),
    ]
    for name, ask in OF_A_TABLE.items()
}
CASES["group_by, public keys, quantile at a level"] = [
    Case(
        "epsilon 5, rows",
        of_table(OF_GROUPS["quantile"], None, PUBLIC, epsilon=5),
        [without_rows(AT_A_LEVEL, np.arange(len(LEVEL)) == 3)],
    )
]
CASES["group_by, public keys, interval"] = [
    Case(
        f"epsilon {epsilon}, {name}",
        of_table(ask, None, PUBLIC, epsilon=epsilon, interval=0.95, marks=False),
        ROWS[:2],
        ROWS[2:3],
    )
    for name, ask in OF_GROUPS.items()
    for epsilon in (1, 30)
    if name in ("quantile", "maximum")
]
CASES["group_by, public keys, interval"] += [
    Case("rho 0.2, users", of_table(OF_GROUPS["quantile"], TWO, PUBLIC, rho=0.2, interval=0.95), USERS[1:2], rows=2)
]


def asked(asks, table, **options):
    """Several statistics of a table."""
    return table.agg(*asks, **options)


def filtered(ask):
    """A statistic of the rows with a positive x, and of one city."""
    return lambda table, **options: ask(table.with_columns(y="x * 2").where("y > 0 or city = 'c1'"), **options)


CASES |= {
    f"Table.where, {name}": [
        Case("epsilon 1, users", of_table(filtered(ask), TWO, epsilon=1), USERS[:1], USERS[1:2], False, rows=2),
        Case("epsilon 1, rows", of_table(filtered(ask), epsilon=1), ROWS[:1], ROWS[1:2], False),
        Case("epsilon 1, swap", of_table(filtered(ask), SWAP, epsilon=1), ROW_MOVED, [], False),
    ]
    for name, ask in OF_A_TABLE.items()
    if name in ("quantile", "mean", "sum", "count of rows")
}
CASES["Table.describe"] += [
    Case("epsilon 900, users", of_table(OF_A_TABLE["describe"], TWO, epsilon=900), USERS[:1], USERS[1:2], False, rows=2)
]
EVERYTHING = ("mean(x)", "sum(x, lower=0)", "median(x)", "quantiles(x, 0.25, 0.75)", "bounds(x)", "count(x)")
CASES["Table.agg"] += [
    Case(f"{named(spent)}, {' '.join(asks)}", of_table(partial(asked, asks), **spent), pairs, [], False)
    for asks, spent, pairs in (
        (EVERYTHING, {"epsilon": 60}, ROWS[:1]),
        (EVERYTHING, {"epsilon": 60, "facts": SWAP}, ROW_MOVED),
        (EVERYTHING, {"rho": 30, "marks": True}, ROWS[5:]),
        (("quantile(x, 0.5, interval=0.95)", "maximum(x)"), {"epsilon": 40}, ROWS[:1]),
        (("count(x)",), {"epsilon": 1}, ROWS[:1]),
        (("iqr(x)", "ratio(x, x)", "std(x)", "proportion(x > 2)"), {"epsilon": 60, "marks": False}, ROWS[:1]),
    )
]
SUGGEST = {"ask": lambda table, **options: table.suggest_rows_per_unit(**options), "facts": {"unit": "user"}}
CASES["Table.suggest_rows_per_unit"] = [
    Case("epsilon 1", of_table(**SUGGEST, epsilon=1), USERS[:3], USERS[3:]),
    Case("epsilon 8, q 0.5", of_table(**SUGGEST, epsilon=8, q=0.5), USERS[:3], USERS[3:]),  # enough for an answer
    Case("epsilon 40, q 0.5", of_table(**SUGGEST, epsilon=40, q=0.5), USERS[:3], USERS[3:]),
    Case("rho 0.2, q 0.5", of_table(**SUGGEST, rho=0.2, q=0.5), USERS[:2], USERS[2:]),
]
CONTRIBUTIONS = {
    "ask": lambda table, **options: table.suggest_contributions("city", **options),
    "facts": {"unit": "user"},
}
ALONE = {"ask": lambda table, **options: table.suggest_contributions(**options), "facts": {"unit": "user"}}
CASES["Table.suggest_contributions"] = [
    Case("epsilon 1", of_table(**CONTRIBUTIONS, epsilon=1), USERS[:2], USERS[3:4]),
    Case("epsilon 60", of_table(**CONTRIBUTIONS, epsilon=60, later=0.1), USERS[:1]),
    Case("epsilon 1, no groups", of_table(**ALONE, epsilon=1), USERS[:1]),
    Case("rho 0.2", of_table(**CONTRIBUTIONS, rho=0.2), USERS[:1]),
]
LEFT_OUT = {"ask": lambda table, **options: table.rows_left_out(**options), "facts": TWO}
CASES["Table.rows_left_out"] = [
    Case("epsilon 1", of_table(**LEFT_OUT, epsilon=1), USERS[:3], USERS[3:]),
    Case("epsilon 30", of_table(**LEFT_OUT, epsilon=30), USERS[:3], USERS[3:]),
    Case("rho 0.2", of_table(**LEFT_OUT, rho=0.2), USERS[:2], USERS[2:]),
]


def of_values(name, *given):
    """A statistic of the values in the column of cities."""
    return lambda table, **options: getattr(table, name)("city", *given, **options)


VALUES = {"value_counts": of_values("value_counts"), "top_k": of_values("top_k", 2)}
CASES |= {
    f"Table.{name}": [
        Case("epsilon 1, users", of_table(ask, TWO, epsilon=1, **PUBLIC), USERS[:2], USERS[2:], rows=2),
        Case("rho 0.2, users", of_table(ask, TWO, rho=0.2, **PUBLIC), USERS[1:2], USERS[2:], rows=2),
        Case("epsilon 1, rows", of_table(ask, epsilon=1, **PUBLIC), ROWS[:3], ROWS[3:]),
        Case("epsilon 4, users, private", of_table(ask, TWO, epsilon=4, **ONE_GROUP), USERS[:1], USERS[1:], rows=2),
        Case("epsilon 2, users, by counts", of_table(ask, TWO, epsilon=2, **PRIVATE), [*USERS, WIDE_USER], rows=2),
        Case("epsilon 2, rows, private", of_table(ask, epsilon=2, **PRIVATE), ROWS[1:4], ROWS[4:]),
    ]
    for name, ask in VALUES.items()
}
DISTINCT, UNITS = of_values("count_distinct"), lambda table, **options: table.count_distinct(**options)
CASES["Table.count_distinct"] = [
    Case("epsilon 1, of units", of_table(UNITS, TWO, epsilon=1), USERS),
    Case("rho 0.2, of units", of_table(UNITS, TWO, rho=0.2), USERS[:2]),
    Case("epsilon 1, users", of_table(DISTINCT, TWO, epsilon=1), [*USERS, WIDE_USER], rows=2),
    Case("rho 0.2, users", of_table(DISTINCT, TWO, rho=0.2), [WIDE_USER], rows=2),
    Case("epsilon 1, one value of a user", of_table(DISTINCT, TWO, values_per_unit=1, epsilon=1), [*USERS, WIDE_USER]),
    Case("epsilon 1, rows", of_table(DISTINCT, epsilon=1), ROWS),
    Case("epsilon 1, swap", of_table(DISTINCT, SWAP, epsilon=1), CITY_MOVED),
]
CITIES = [(before["city"], after["city"]) for before, after in ROWS[:4]]
CASES |= {
    "value_counts": [Case("epsilon 1", of_column(nb.value_counts, epsilon=1, **PUBLIC), CITIES)],
    "top_k": [Case("epsilon 1", of_column(nb.top_k, 2, epsilon=1, **PUBLIC), CITIES)],
    "count_distinct": [Case("epsilon 1", of_column(nb.count_distinct, epsilon=1), CITIES)],
}
CASES |= {
    f"group_by, public keys, {name}": [
        Case("epsilon 1, users", of_table(ask, TWO, PUBLIC, epsilon=1), USERS[:2], USERS[2:], rows=2),
        Case("rho 0.2, users", of_table(ask, TWO, PUBLIC, rho=0.2), USERS[1:2], USERS[2:], rows=2),
        Case("epsilon 1, rows", of_table(ask, None, PUBLIC, epsilon=1), ROWS[:3], ROWS[3:]),
        Case("epsilon 300, rows", of_table(ask, None, PUBLIC, epsilon=300), [ROWS[5], ROWS[0]], ROWS[1:5]),
    ]
    for name, ask in OF_GROUPS.items()
}
CASES |= {
    f"group_by, private keys, {name}": [
        Case("epsilon 1, users", of_table(ask, TWO, PRIVATE, epsilon=1), USERS[1:3], USERS[3:], rows=2),
        Case("epsilon 4, users in 1 group", of_table(ask, TWO, ONE_GROUP, epsilon=4), USERS[:1], USERS[1:], rows=2),
        Case("epsilon 2, rows", of_table(ask, None, PRIVATE, epsilon=2), ROWS[1:4], ROWS[4:]),
    ]
    for name, ask in OF_GROUPS.items()
}
CASES |= {
    f"group_by, {keys} keys, {name}": [
        Case("epsilon 2, users", of_table(ask, TWO, how, epsilon=2), USERS[1:2], USERS[2:], False, rows=2),
        Case("epsilon 300, rows", of_table(ask, None, how, epsilon=300), [ROWS[5]], ROWS[:5], False),
        Case("epsilon 1, rows", of_table(ask, None, how, epsilon=1), [*ROWS[:2], ONLY], ROWS[2:5], False),
        *([Case("rho 0.2, rows", of_table(ask, None, how, rho=0.2), ROWS[:1], [], False)] if keys == "public" else []),
    ]
    for name, ask in ONE_BY_ONE.items()
    for keys, how in (("public", PUBLIC), ("private", PRIVATE))
}


def values_of_groups(groups, **options):
    """How often each user occurs in a group."""
    values = {} if groups._keys is None else {"keys": ["a", "u3", "nobody"]}
    return groups.value_counts("user", **values, **options)


CASES |= {
    f"group_by, {keys} keys, value_counts": [
        Case(
            "epsilon 1, rows", of_table(values_of_groups, None, how, epsilon=1), [*ROWS[:2], ROWS[5]], ROWS[2:5], False
        )
    ]
    for keys, how in (("public", PUBLIC), ("private", PRIVATE))
}


def top_of_groups(groups, **options):
    """The two users that occur most often in a group."""
    values = {} if groups._keys is None else {"keys": ["a", "u3", "nobody"]}
    return groups.top_k("user", 2, **values, **options)


def users_of_groups(groups, **options):
    """How many users each group has."""
    return groups.count_distinct(**options)


def values_of_users(groups, **options):
    """How many numbers each group has, of which a user may have several."""
    return groups.count_distinct("whole", **options)


def with_whole(call):
    """A call for tables with a column of whole numbers, which may be keys."""

    def on_whole(data, rng, budget):
        whole = np.clip(np.nan_to_num(data["x"]), -9, 9).astype(np.int64) // 3
        return call({**data, "whole": whole}, rng, budget)

    return on_whole


CASES |= {
    f"group_by, {keys} keys, top_k": [
        Case("epsilon 1, rows", of_table(top_of_groups, None, how, epsilon=1), [*ROWS[:2], ROWS[5]], ROWS[2:5], False)
    ]
    for keys, how in (("public", PUBLIC), ("private", PRIVATE))
}


def rows_of_groups(groups, **options):
    """How many rows each group has, whatever is in them."""
    return groups.count(**options)


for keys, how in {"public": PUBLIC, "private": PRIVATE}.items():
    rows = Case(
        "epsilon 1, rows of users", of_table(rows_of_groups, TWO, how, epsilon=1), USERS[1:2], USERS[2:], rows=2
    )
    CASES[f"group_by, {keys} keys, count"].append(rows)
IN_TWO = {"unit": "user"}  # the groups of a user are bounded, and not its rows
for keys, how in {"public": PUBLIC, "private": PRIVATE}.items():
    users, values = (
        of_table(users_of_groups, IN_TWO, {**how, "groups_per_unit": 2}, epsilon=1),
        with_whole(of_table(values_of_users, TWO, how, epsilon=1)),
    )
    CASES[f"group_by, {keys} keys, count_distinct"] = [
        Case("epsilon 1, of users", users, [*USERS[:2], WIDE_USER], USERS[2:], rows=2),
        Case("epsilon 1, values of users", values, [*USERS[:3], WIDE_USER], USERS[3:], rows=2),
        Case(
            "epsilon 1, values of rows",
            with_whole(of_table(values_of_users, None, how, epsilon=1)),
            [*ROWS[:3], ONLY],
            ROWS[3:],
        ),
    ]
CASES["group_by, public keys, count_distinct"].append(
    Case("rho 0.2", of_table(users_of_groups, TWO, PUBLIC, rho=0.2), USERS[:2], rows=2)
)
