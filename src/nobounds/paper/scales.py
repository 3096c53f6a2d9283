"""Beyond the paper: the same data in other units. The 90 % quantile of lognormal data times 1e-6 to 1e9.

The error is that over the true quantile. UQE has steps of 0.001 at the smallest, EMQ a range of [0, 10000].
"""

import numpy as np

import nobounds as nb
from nobounds.baselines import emq_law
from nobounds.paper.uqe import uqe
from nobounds.paper.work import Result, Task

FACTORS = tuple(10.0**k for k in range(-6, 10))
Q, ROWS, UPPER = 0.9, 1000, 10_000
METHODS = ("UQE", "EMQ", "nobounds, add-remove", "nobounds, swap")


def errors(rng: np.random.Generator, factor: float, samples: int) -> Result:
    """Relative errors by method."""
    found: dict[str, list[float]] = {method: [] for method in METHODS}
    for _ in range(samples):
        data = rng.lognormal(3, 0.8, ROWS) * factor
        answers = (
            uqe(data, np.array([Q * ROWS]), rng, eps1=0.5, eps2=0.5)[0],
            emq_law(data, [Q], epsilon=1, lower=0, upper=UPPER).draw(rng)[0, 0],
            nb.quantile(data, Q, epsilon=1).value,
            nb.quantile(data, Q, epsilon=1, neighbors="swap").value,
        )
        truth = float(np.quantile(data, Q))
        for method, answer in zip(METHODS, answers, strict=True):
            found[method].append(abs(float(answer) - truth) / truth)
    return found


def tasks(quick: bool) -> list[Task]:
    """One task for each factor."""
    return [Task("scales", f"{factor:g}", errors, (factor, 10 if quick else 100)) for factor in FACTORS]
