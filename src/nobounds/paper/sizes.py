"""Beyond the paper: 100 to a million records. The median and the 99 % quantile of lognormal data, epsilon 1.

The error is that over the true quantile. UQE has beta = 1.001, EMQ a range of [0, 10000].
"""

import numpy as np

import nobounds as nb
from nobounds.baselines import emq_law
from nobounds.paper.uqe import uqe
from nobounds.paper.work import Result, Task

SIZES = (100, 300, 1000, 3000, 10_000, 100_000, 1_000_000)
QS = (0.5, 0.99)
UPPER = 10_000
METHODS = ("UQE", "EMQ", "nobounds, add-remove", "nobounds, swap")


def errors(rng: np.random.Generator, rows: int, samples: int) -> Result:
    """Relative errors by quantile and method."""
    found: dict[str, list[float]] = {f"{q} {method}": [] for q in QS for method in METHODS}
    for _ in range(samples):
        data = rng.lognormal(3, 0.8, rows)
        for q in QS:
            answers = (
                uqe(data, np.array([q * rows]), rng, eps1=0.5, eps2=0.5)[0],
                emq_law(data, [q], epsilon=1, lower=0, upper=UPPER).draw(rng)[0, 0],
                nb.quantile(data, q, epsilon=1).value,
                nb.quantile(data, q, epsilon=1, neighbors="swap").value,
            )
            truth = float(np.quantile(data, q))
            for method, answer in zip(METHODS, answers, strict=True):
                found[f"{q} {method}"].append(abs(float(answer) - truth) / truth)
    return found


def tasks(quick: bool) -> list[Task]:
    """One task for each size, fewer samples of the large ones."""
    sizes = SIZES[:5] if quick else SIZES
    return [Task("sizes", str(n), errors, (n, 10 if quick else 200 if n <= 10_000 else 30)) for n in sizes]
