"""Quantiles, extremes and what is made of them, in several settings."""

import nobounds as nb
from nobounds.auditing.claims.releases import of_column
from nobounds.auditing.lockstep import Setting as Case
from support.lockstep_cases.columns import STATED, at_a_level, chosen, columns, hundreds
from support.lockstep_cases.data import ALL, FEW, INF, INFINITE, SOME, SWAP, changed, named, without

CASES = {
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
        *(
            Case(
                f"infinite records, {named(options)}",
                of_column(nb.bounds, interval=0.9, **options),
                [changed(INFINITE, 7, -INF) if "neighbors" in options else without(INFINITE, 0)],
                divergences=False,
            )
            for options in ({"epsilon": 9}, {"epsilon": 9, **SWAP})
        ),
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
    "iqr": columns(
        nb.iqr,
        [
            ({"epsilon": 1, **STATED}, FEW),
            ({"epsilon": 30, "interval": 0.95}, FEW),
            ({"rho": 0.5, "interval": 0.95, **SWAP}, FEW),
        ],
    ),
}
