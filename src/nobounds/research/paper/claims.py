"""The paper's remarks on parameters, on the sums of Table 1: beta = 1.01, and thresholds at n and above.

Above q n the walk may run away, and then the mean of the error does not exist; so medians are told as well, and means
of errors that count for no more than ten times the true sum.
"""

import numpy as np

from nobounds.research.baselines import clipped_sum_errors
from nobounds.research.paper.datasets import ROWS, dataset
from nobounds.research.paper.experiments.uqe import uqe
from nobounds.research.paper.published import EPSILONS, SETS
from nobounds.research.paper.work import Result, Task

VARIANTS = {
    "beta 1.001, q = 0.99": (1.001, 0.99, 0.0),
    "beta 1.01, q = 0.99": (1.01, 0.99, 0.0),
    "beta 1.01, q = 1": (1.01, 1.0, 0.0),
    "beta 1.01, n + 1/epsilon": (1.01, 1.0, 1.0),
    "beta 2, q = 0.99": (2.0, 0.99, 0.0),
}
CAP, LARGEST = 10, 1e100  # times the true sum; and a clip that is far above it


def errors(rng: np.random.Generator, name: str, epsilon: str, samples: int) -> Result:
    """Of each variant the expected absolute errors of the sums, given their clips."""
    data, rate = dataset(name), float(epsilon)
    found: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
    for _ in range(samples):
        records, perturbed = data.sample(rng, ROWS)
        for variant, (beta, q, above) in VARIANTS.items():
            goal = np.array([q * ROWS + above / rate])
            clips = uqe(perturbed, goal, rng, eps1=rate / 2, eps2=rate / 2, beta=beta)
            error = clipped_sum_errors(records, np.minimum(clips, LARGEST), epsilon=epsilon)
            found[variant].append(float(min(error[0], CAP * records.sum())))
    return found


def tasks(quick: bool) -> list[Task]:
    """One task for each cell of the table."""
    samples = 100 if quick else 2000
    return [Task("claims", f"{name} {e}", errors, (name, e, samples)) for name in SETS for e in EPSILONS]
