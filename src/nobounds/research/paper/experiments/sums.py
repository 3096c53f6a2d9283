"""Table 1: the mean absolute error of private sums, with a clip at a private quantile and Laplace noise.

A repetition of the experiment draws 1000 records 100 times, chooses a clip for each with epsilon, and adds noise of
scale clip / epsilon 100 times. UQE aims at the 99% quantile; the others get the range [0, 10000] and the best of five
quantiles, which a user would have to know. nobounds gets 2 epsilon in total, and nothing else but the resolution.
"""

import math
from collections.abc import Callable

import numpy as np

import nobounds as nb
from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats
from nobounds.research.baselines import doubling_bound, emq_law, interquartile_bounds, tree_quantiles
from nobounds.research.paper.datasets import ROWS, DataSet, dataset
from nobounds.research.paper.experiments.uqe import uqe
from nobounds.research.paper.published import EPSILONS, SETS
from nobounds.research.paper.published import METHODS as PUBLISHED
from nobounds.research.paper.work import Result, Task

QS = (0.95, 0.96, 0.97, 0.98, 0.99)
UPPER = 10_000
ITERATIONS = NOISES = 100

Clips = Callable[[Floats, float, np.random.Generator], Floats]


def _uqe(data: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
    return uqe(data, np.array([0.99 * len(data)]), rng, eps1=epsilon / 2, eps2=epsilon / 2)


def _emq(data: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
    return emq_law(data, QS, epsilon=epsilon, lower=0, upper=UPPER).draw(rng)[:, 0]


def _tree(data: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
    return np.array(tree_quantiles(data, QS, epsilon=epsilon, lower=0, upper=UPPER, rng=rng).value)


def _slipped_tree(data: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
    return np.array(tree_quantiles(data, QS, epsilon=epsilon, lower=0, upper=UPPER, slip=True, rng=rng).value)


def _doubling(data: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
    return np.array([doubling_bound(data, 0.99, epsilon=epsilon, rng=rng).value])


def _interquartile(data: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
    low_high = interquartile_bounds(data, epsilon=epsilon, lower=0, upper=UPPER, rng=rng).value
    assert isinstance(low_high, tuple)
    return np.array([max(end for end in low_high if end is not None)])


METHODS: dict[str, Clips] = {
    "UQE": _uqe,
    "EMQ": _emq,
    "AT": _slipped_tree,
    "tree": _tree,
    "doubling": _doubling,
    "interquartile": _interquartile,
}
NEIGHBORS = ("add-remove", "swap")
CAP = 10  # errors of methods not in the paper are capped at this many true sums: doubling's error has no mean


def repetition(rng: np.random.Generator, name: str, epsilon: str, method: str, times: int, iterations: int) -> Result:
    """The mean absolute error in each repetition of the experiment, with the best quantile of each."""
    data, clips_of = dataset(name), METHODS[method]
    most = math.inf if method in PUBLISHED else CAP
    errors = [_repeated(rng, data, float(epsilon), clips_of, iterations, most) for _ in range(times)]
    return {"errors": errors}


def _repeated(
    rng: np.random.Generator, data: DataSet, epsilon: float, clips_of: Clips, iterations: int, most: float
) -> float:
    errors = []
    for _ in range(iterations):
        records, perturbed = data.sample(rng, ROWS)
        clips = np.maximum(clips_of(perturbed, epsilon, rng), 0.0)
        biases = np.minimum(records[None, :], clips[:, None]).sum(axis=1) - records.sum()
        noise = rng.laplace(0, 1, (len(clips), NOISES)) * (clips / epsilon)[:, None]
        errors.append(np.minimum(np.abs(biases[:, None] + noise), most * records.sum()).mean(axis=1))
    return float(np.mean(errors, axis=0).min())


def ours(rng: np.random.Generator, name: str, epsilon: str, neighbors: Neighbors, iterations: int) -> Result:
    """The absolute errors of nobounds.sum for twice this epsilon, with no bounds given."""
    data, errors = dataset(name), []
    for _ in range(iterations):
        records, _ = data.sample(rng, ROWS)
        twice = 2 * nb.exact.rational(epsilon, "epsilon")
        released = nb.sum(records, epsilon=twice, resolution=data.resolution, neighbors=neighbors, marks=False)
        errors.append(abs(float(released) - float(records.sum())))
    return {"errors": errors}


def tasks(quick: bool, epsilons: tuple[str, ...] = EPSILONS) -> list[Task]:
    """60 repetitions of the methods in the paper, 5 of the others; thousands of sums by nobounds."""
    iterations = 20 if quick else ITERATIONS
    tasks = []
    for name in SETS:
        for epsilon in epsilons:
            for method in METHODS:
                times = 3 if quick else 60 if method in PUBLISHED else 5
                arguments = (name, epsilon, method, times, iterations)
                tasks.append(Task("sums", f"{name} {epsilon} {method}", repetition, arguments))
            for neighbors in NEIGHBORS:
                sums = 60 if quick else 5000 if neighbors == "add-remove" else 2000
                tasks.append(Task("sums", f"{name} {epsilon} {neighbors}", ours, (name, epsilon, neighbors, sums)))
    return tasks
