"""Beyond the paper: 100 to a million records. The median and the 99% quantile of lognormal data, epsilon 1."""

import numpy as np

from nobounds.research.paper.experiments.rivals import METHODS, relative_errors
from nobounds.research.paper.work import Result, Task

SIZES = (100, 300, 1000, 3000, 10_000, 100_000, 1_000_000)
QS = (0.5, 0.99)


def errors(rng: np.random.Generator, rows: int, samples: int) -> Result:
    """Relative errors by quantile and method."""
    by_method: dict[str, list[float]] = {f"{q} {method}": [] for q in QS for method in METHODS}
    for _ in range(samples):
        data = rng.lognormal(3, 0.8, rows)
        for q in QS:
            for method, error in relative_errors(rng, data, q).items():
                by_method[f"{q} {method}"].append(error)
    return by_method


def tasks(quick: bool) -> list[Task]:
    """One task for each size, with fewer samples of large sizes."""
    sizes = SIZES[:5] if quick else SIZES
    return [Task("sizes", str(n), errors, (n, 10 if quick else 200 if n <= 10_000 else 30)) for n in sizes]
