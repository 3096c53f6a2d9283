"""Sums, means, spreads, shares, counts, bins and statistics of two columns, in several settings."""

import numpy as np

import nobounds as nb
from support.lockstep_cases.columns import columns, converted, decimals, hundreds, moments, trues, two_columns, typed
from support.lockstep_cases.data import ALL, FEW, SOME, SWAP

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
