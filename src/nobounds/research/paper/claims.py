"""The paper's remarks on parameters, on the sums of Table 1: beta = 1.01, and thresholds at n and above.

Above q n the walk may halt far beyond the data, and then the error has no mean. So medians are reported as well, and
means of errors capped at ten times the true sum.
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
CAP, LARGEST = 10, 1e100  # the cap of an error, in true sums; and a clip far above any sum


def errors(rng: np.random.Generator, name: str, epsilon: str, samples: int) -> Result:
    """The expected absolute errors of the sums given their clips, by variant."""
    data, rate = dataset(name), float(epsilon)
    by_variant: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
    for _ in range(samples):
        records, perturbed = data.sample(rng, ROWS)
        for variant, (beta, q, above) in VARIANTS.items():
            goal = np.array([q * ROWS + above / rate])
            clips = uqe(perturbed, goal, rng, eps1=rate / 2, eps2=rate / 2, beta=beta)
            error = clipped_sum_errors(records, np.minimum(clips, LARGEST), epsilon=epsilon)
            by_variant[variant].append(float(min(error[0], CAP * records.sum())))
    return by_variant


def tasks(quick: bool) -> list[Task]:
    """One task for each cell of the table."""
    samples = 100 if quick else 2000
    return [Task("claims", f"{name} {e}", errors, (name, e, samples)) for name in SETS for e in EPSILONS]
