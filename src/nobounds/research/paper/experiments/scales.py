"""Beyond the paper: the same data in other units. The 90% quantile of lognormal data times 1e-6 to 1e9, epsilon 1.

UQE's smallest steps are 0.001 wide, EMQ gets the range [0, 10000].
"""

import numpy as np

from nobounds.research.paper.experiments.rivals import METHODS, relative_errors
from nobounds.research.paper.work import Result, Task

FACTORS = tuple(10.0**k for k in range(-6, 10))
Q, ROWS = 0.9, 1000


def errors(rng: np.random.Generator, factor: float, samples: int) -> Result:
    """Relative errors by method."""
    by_sample = [relative_errors(rng, rng.lognormal(3, 0.8, ROWS) * factor, Q) for _ in range(samples)]
    return {method: [each[method] for each in by_sample] for method in METHODS}


def tasks(quick: bool) -> list[Task]:
    """One task for each factor."""
    return [Task("scales", f"{factor:g}", errors, (factor, 10 if quick else 100)) for factor in FACTORS]
