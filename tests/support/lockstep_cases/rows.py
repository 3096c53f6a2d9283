"""Vectors, summaries of two columns, files and clippers: cases with rows of several columns."""

import os
import tempfile

import numpy as np

import nobounds as nb
from nobounds.auditing.claims.releases import of_column
from nobounds.auditing.lockstep import Setting as Case
from nobounds.sklearn import PrivateClipper
from support.lockstep_cases.columns import hundreds
from support.lockstep_cases.data import (
    ADDED,
    LOGNORMAL,
    MATRIX,
    MISSING,
    MOSTLY_ZEROS,
    MOVED,
    NAN,
    OFFSET,
    SWAP,
    TIES,
    ZEROS,
    changed,
    named,
    without,
)

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


CASES = {
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
