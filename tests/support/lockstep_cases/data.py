"""Records and neighbouring data sets of columns, which every kind of case draws from in turn."""

import math

import numpy as np

import nobounds as nb

NAN, INF = math.nan, math.inf
SHAPES = np.random.default_rng(7)
SWAP = {"neighbors": "swap"}


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
INFINITE = np.concatenate([np.full(60, -INF), np.random.default_rng(1).normal(0, 10, 300), np.full(60, INF)])
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
MATRIX = np.column_stack([SHAPES.normal(0, 3, 20), SHAPES.lognormal(0, 2, 20), np.zeros(20)])
AMOUNTS = np.round(SHAPES.lognormal(2, 1, 40), 2)
