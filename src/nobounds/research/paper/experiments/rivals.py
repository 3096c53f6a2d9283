"""One quantile by four methods, epsilon 1: UQE with beta = 1.001, EMQ on [0, 10000], nobounds without bounds."""

import numpy as np

import nobounds as nb
from nobounds.arrays import Floats
from nobounds.research.baselines import emq_law
from nobounds.research.paper.experiments.uqe import uqe

UPPER = 10_000
METHODS = ("UQE", "EMQ", "nobounds, add-remove", "nobounds, swap")


def relative_errors(rng: np.random.Generator, data: Floats, q: float) -> dict[str, float]:
    """The error of each method relative to the true quantile."""
    answers = (
        uqe(data, np.array([q * len(data)]), rng, eps1=0.5, eps2=0.5)[0],
        emq_law(data, [q], epsilon=1, lower=0, upper=UPPER).draw(rng)[0, 0],
        nb.quantile(data, q, epsilon=1, marks=False).value,
        nb.quantile(data, q, epsilon=1, neighbors="swap", marks=False).value,
    )
    truth = float(np.quantile(data, q))
    return {method: abs(float(answer) - truth) / truth for method, answer in zip(METHODS, answers, strict=True)}
