"""Figure 3: the mean absolute error of quantiles from 5% to 95%, relative to that of UQE, on the six data sets.

1000 records are drawn 100 times, epsilon is 1. UQE gets the lower end of the range and eps1 = eps2 = 1/2, EMQ gets the
whole range, and both get data with their ties broken; nobounds gets the unchanged data, no bounds, and the resolution
if there is one.
"""

import numpy as np

import nobounds as nb
from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats
from nobounds.research.baselines import emq_law
from nobounds.research.paper.datasets import NAMES, ROWS, dataset
from nobounds.research.paper.experiments.uqe import uqe
from nobounds.research.paper.work import Result, Task

QS = tuple(k / 100 for k in range(5, 96))
SWAP_QS = QS[::5]
QS_BY_NEIGHBORS: dict[Neighbors, tuple[float, ...]] = {"add-remove": QS, "swap": SWAP_QS}
METHODS = ("UQE", "EMQ", *(f"nobounds, {neighbors}" for neighbors in QS_BY_NEIGHBORS))
SAMPLES, AT_ONCE = 100, 10


def errors(rng: np.random.Generator, name: str, samples: int, step: int) -> Result:
    """Absolute errors by method: a row for each sample, a column for each quantile."""
    data = dataset(name)
    by_method: dict[str, list[list[float]]] = {method: [] for method in METHODS}
    qs = np.array(QS[::step])
    for _ in range(samples):
        records, perturbed = data.sample(rng, ROWS)
        truth = np.quantile(records, qs)
        walked = uqe(perturbed, qs * ROWS, rng, eps1=0.5, eps2=0.5, lower=data.lower)
        chosen = emq_law(perturbed, qs.tolist(), epsilon=1, lower=data.lower, upper=data.upper).draw(rng)[:, 0]
        by_method["UQE"].append(np.abs(data.rounded(walked) - truth).tolist())
        by_method["EMQ"].append(np.abs(data.rounded(chosen) - truth).tolist())
        for neighbors, some in QS_BY_NEIGHBORS.items():
            answers = _ours(records, some[::step], neighbors, data.resolution)
            by_method[f"nobounds, {neighbors}"].append(np.abs(answers - np.quantile(records, some[::step])).tolist())
    return {**by_method, "step": step}


def _ours(records: Floats, qs: tuple[float, ...], neighbors: Neighbors, resolution: str | None) -> Floats:
    options = {"epsilon": 1, "neighbors": neighbors, "resolution": resolution}
    return np.array([nb.quantile(records, q, marks=False, **options).value for q in qs], dtype=float)  # type: ignore[arg-type]


def tasks(quick: bool, names: tuple[str, ...] = NAMES) -> list[Task]:
    """One task for each data set and batch of samples."""
    many, at_once, step = (1, 4, 5) if quick else (SAMPLES // AT_ONCE, AT_ONCE, 1)
    return [Task("quantiles", f"{name} {k}", errors, (name, at_once, step)) for name in names for k in range(many)]
