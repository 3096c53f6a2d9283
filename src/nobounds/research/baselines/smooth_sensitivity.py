"""A quantile with noise scaled to its smooth sensitivity (Nissim, Raskhodnikova and Smith 2007).

S = max over k of exp(-beta k) A_k, where A_k is the largest local sensitivity within k changed records: the largest
x_j - x_i over i <= p <= j with j - i = k + 1, where p is the rank of the quantile and the bounds are x_0 and x_{n+1}
(their Section 3.1). The answer is the quantile plus S / alpha times a draw of noise, cut to the bounds:

- Cauchy noise, pure: the authors use alpha = beta = epsilon / 6; a shift by alpha and a stretch by exp(beta) actually
  cost alpha and beta, so epsilon / 2 each is used here;
- Laplace noise, with a delta, as in Gillenwater, Joseph and Kulesza (2021): alpha = epsilon / 2 and beta = ln(1 + b).
  They use b = epsilon / (2 ln(2 / delta)) itself, which holds for a small epsilon only; ln(1 + b) holds for every one.
"""

import math
from fractions import Fraction
from typing import Unpack

import numpy as np

from nobounds.accounting.loss import PrivacyLoss
from nobounds.arrays import Floats
from nobounds.exact import Number, positive, privacy_parameter
from nobounds.ranks.problem import check_rank
from nobounds.release.release import Release
from nobounds.research.baselines.records import Ranged, check_bounds, check_rng, described, records_of
from nobounds.statistics.keywords import spelled_out


@spelled_out
def smooth_quantile(
    data: object,
    q: Number,
    *,
    delta: Number | None = None,
    **options: Unpack[Ranged],
) -> Release:
    """A quantile by smooth sensitivity, under swap only; floating-point noise, for comparison only.

    Cauchy noise and pure epsilon without a delta, Laplace noise with one. The quantile is record floor(q (n - 1)),
    counted from 0.
    """
    rank, (low, high), generator = (
        check_rank(q),
        check_bounds(options["lower"], options["upper"]),
        check_rng(options["rng"]),
    )
    total = privacy_parameter(options["epsilon"], "epsilon")
    if delta is None:
        loss = PrivacyLoss.pure(total, neighbors="swap")
    else:
        loss = PrivacyLoss.approximate(total, positive(delta, "delta"), neighbors="swap")
    alpha, beta = admissible(float(total), None if delta is None else loss.delta)
    ordered = records_of(data, low, high)
    if len(ordered) == 0:
        raise ValueError("data must have at least one record: under swap their number is public")
    place = place_of(rank, len(ordered))
    scale = smooth_sensitivity(ordered, place, beta, low, high) / alpha
    noise = generator.standard_cauchy() if delta is None else generator.laplace()
    value = float(np.clip(ordered[place] + scale * noise, low, high))
    kind = "Cauchy" if delta is None else "Laplace"
    parameters = described(f"smooth sensitivity (Nissim et al. 2007), {kind} noise", low, high, q=str(rank))
    return Release("quantile", value, loss, parameters)


def place_of(q: Fraction, n: int) -> int:
    """The index of the quantile among n sorted records, counted from 0."""
    return math.floor(q * (n - 1))


def admissible(epsilon: float, delta: float | None) -> tuple[float, float]:
    """(alpha, beta): the noise has scale S / alpha, and S is beta-smooth (their Definition 2.5)."""
    if delta is None:
        return epsilon / 2, epsilon / 2
    return epsilon / 2, math.log1p(epsilon / (2 * math.log(2 / delta)))


def smooth_sensitivity(ordered: Floats, place: int, beta: float, lower: float, upper: float) -> float:
    """The beta-smooth sensitivity of the record at `place`; it is itself sensitive.

    The loop ends once even the whole range, with its weight at k, would be no larger.
    """
    points, p, n = np.concatenate([[lower], ordered, [upper]]), place + 1, len(ordered)
    best = 0.0
    for k in range(n + 1):
        weight = math.exp(-beta * k)
        if (upper - lower) * weight <= best:
            break
        first, last = max(0, p - k - 1), min(p, n - k)
        best = max(best, weight * float((points[first + k + 1 : last + k + 2] - points[first : last + 1]).max()))
    return best
