"""Sums and means of vectors whose norms nobody can bound: per-example gradients, embeddings, rows of many columns.

Part of rho buys a clip for the Euclidean norms (see `clipping.vectors`), the rest pays for discrete Gaussian noise on
the exact sum of the clipped rows. A clipped row is a vector of whole numbers whose norm is checked in whole numbers, so
the stated sensitivity holds; rows are clipped one by one, and whole numbers add up in any order.

A row with a NaN or an infinity in it is missing: it is counted nowhere and adds nothing.
"""

import math
from fractions import Fraction
from functools import partial
from typing import Any, Unpack

import numpy as np

from nobounds.accounting.conversions import rho_from_approximate
from nobounds.accounting.enough import would_do
from nobounds.accounting.loss import PrivacyLoss, check_neighbors
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.clipping.needed import smallest
from nobounds.clipping.vectors import VectorPlan
from nobounds.counting.ball import Ball
from nobounds.engines.column import windows
from nobounds.engines.memory.vectors import Rows
from nobounds.exact import Number, finite_float, positive, privacy_parameter, rational, shown
from nobounds.ladders.facts import VectorFacts
from nobounds.ladders.stated import Stated
from nobounds.noise.additive import GaussianNoise
from nobounds.programs.program import Program
from nobounds.release.release import Release, Vector
from nobounds.release.words import TOO_FEW
from nobounds.statistics.door import Request, admit
from nobounds.statistics.keywords import DEFAULTS, VectorKeywords, flag, spelled_out

_SPREADS = 2  # standard deviations of its noise that the number of rows may be too low by


@spelled_out
def vector_sum(data: object, **options: Unpack[VectorKeywords]) -> Vector:
    """A private sum of the rows of a two-dimensional array, clipped at a Euclidean norm that is chosen privately.

    Give `rho` for zero-concentrated privacy, or `epsilon` and `delta`; `upper` is a public bound on the norms. A row
    with a NaN or an infinity is missing, and with too few rows for a clip there is no answer. The release states the
    clip, and in `noise_scale` the standard deviation of the noise on each coordinate; it excludes bias from clipping.

    >>> import random
    >>> release = vector_sum(np.ones((6000, 3)), epsilon=1, delta=1e-6, rng=random.Random(1))
    >>> len(release.value), print(release.loss)
    epsilon 1 at delta 1e-06 (add-remove, per row; rho 0.02436)
    (3, None)
    """
    return _vector("vector_sum", data, options)


@spelled_out
def vector_mean(data: object, **options: Unpack[VectorKeywords]) -> Vector:
    """A private mean of the rows of a two-dimensional array; the release is like that of `vector_sum`.

    Where the number of rows is sensitive, it gets noise too, which the standard deviation excludes as well.

    >>> import random
    >>> release = vector_mean(np.ones((6000, 3)), rho=0.1, rng=random.Random(1))
    >>> [round(x, 1) for x in release.value]
    [1.0, 1.0, 1.0]
    """
    return _vector("vector_mean", data, options)


def _vector(statistic: str, data: object, options: Any) -> Release:
    rows = Rows.of(data)
    total, delta = _total(options.get("epsilon"), options.get("delta"), options.get("rho"))
    terms = Terms(Spending(total, zcdp=True), check_neighbors(options.get("neighbors", DEFAULTS["neighbors"])))
    upper, mean, marks = options.get("upper"), statistic == "vector_mean", flag(options, "marks")
    stated = Stated(upper=None if upper is None else positive(upper, "upper"))

    def answer(plan: VectorPlan, facts: VectorFacts, rows: Rows, loss: PrivacyLoss) -> Program[Release]:
        norms = rows.norms()
        size = yield from plan.size(int(np.count_nonzero(~np.isnan(norms))))
        clip, rho = yield from plan.clip(lambda: (norms[window].copy() for window in windows(len(norms))), size)
        ball = Ball.of(clip, facts.dimensions)
        noisy = yield plan.total(rows.total(ball), ball, rho)
        unit = ball.step / (max(size, 1) if mean else 1)
        value = tuple(finite_float(x * unit) + 0.0 for x in noisy)
        deviation = math.sqrt(GaussianNoise(rho).law(plan.sensitivity(ball)).variance)
        parameters: dict[str, Any] = {
            "clip": finite_float(clip),
            "noise": "gaussian",
            "noise_scale": finite_float(Fraction(deviation) * unit),
            "dimensions": facts.dimensions,
            "spending": "rho",
            **({} if upper is None else {"upper": str(plan.ladder.upper)}),
        }
        if not marks or plan.enough(size):
            return Release(statistic, value, loss, parameters)
        rows_enough = smallest(plan.enough, 1) + _SPREADS * plan.size_noise
        more = would_do(rows_enough, size, plan.size_noise, terms.spending)
        if delta is not None:  # a rho is not what the user gave
            more = {"rows": more["rows"]}
        return Release(statistic, None, loss, parameters | {"needed": more}, reason=TOO_FEW)

    request = Request(
        terms.neighbors,
        partial(VectorPlan.of, terms=terms, stated=stated, mean=mean),
        lambda plan, facts: PrivacyLoss.of(plan.cost(), plan.neighbors, delta=delta),
        lambda facts: f"{statistic.replace('_', ' ')} of {facts.dimensions} columns",
        answer,
    )
    return admit(request, rows, options.get("budget"), options.get("rng"))


def _total(epsilon: Number | None, delta: Number | None, rho: Number | None) -> tuple[Fraction, Fraction | None]:
    """The rho that may be spent, and the delta at which the loss is stated."""
    if rho is not None and epsilon is None and delta is None:
        return privacy_parameter(rho, "rho"), None
    if rho is not None or epsilon is None or delta is None:
        given = [name for name, value in (("epsilon", epsilon), ("delta", delta), ("rho", rho)) if value is not None]
        raise ValueError(
            f"give rho alone, or epsilon and delta together, got {' and '.join(given) or 'none of them'}; "
            "for example rho=0.02, or epsilon=1, delta=1e-6"
        )
    at = rational(delta, "delta")
    total = rho_from_approximate(privacy_parameter(epsilon, "epsilon"), at)
    if total < Fraction(1, 10**12):
        raise ValueError(
            "epsilon and delta must leave a rho of at least 1e-12, "
            f"got epsilon={shown(epsilon)} and delta={shown(delta)}; give a larger epsilon or delta"
        )
    return total, at
