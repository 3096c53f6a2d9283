"""Everyday data: columns as people have them, drawn afresh from a seed."""

import numpy as np

DATA = {
    "zeros": lambda rng, n: np.where(rng.random(n) < 0.3, np.round(rng.lognormal(3, 1, n), 2), 0.0),
    "prices": lambda rng, n: np.round(rng.lognormal(3, 0.8, n), 2),
    "incomes": lambda rng, n: np.round(rng.lognormal(10, 1, n)),
    "ages": lambda rng, n: rng.integers(18, 90, n),
}


def drawn(name, rows, seed):
    """So many rows of a column."""
    return DATA[name](np.random.default_rng(seed), rows)
