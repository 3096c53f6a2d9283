"""A walk: AboveThreshold on queries that come in runs of equal value.

On a ladder the number of records below the candidate changes only at occupied rungs, so millions of queries form a few
runs. `Walk` is the input of Algorithm 1 in that form. The law of its halting position is in `halting`, the exact
sampler in `skip_ahead`; both use the increments defined here.

With x = eps2 * (noisy threshold - query), the walk does not halt at a query with probability exp(-increment):
- exponential noise on the lattice: it halts with probability exp(-x), and always if x <= 0;
- discrete Laplace noise: it halts with the tail probability of the discrete Laplace law at x;
- Gumbel noise: it does not halt up to query k with probability 1 / (1 + sum of exp(-x)) (Lemma 3.3), where the exp(-x)
  are the increments.
"""

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.noise.discrete import Noise
from nobounds.values import dataclass

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """Queries in runs: run r begins at position starts[r] and has the whole-number value levels[r].

    `threshold` and `levels` are in units of the sensitivity; `threshold - level` is a multiple of `step`, the lattice
    of the noise. Sensitive: its repr shows no data.
    """

    starts: Ints
    levels: Ints
    length: int
    threshold: Fraction
    step: Fraction
    eps1: Fraction
    eps2: Fraction
    noise: Noise = "exponential"
    rising: bool = False  # the levels never fall, so the sampler can use bisection
    trusted: tuple[int, int] | None = None  # the first and last position where the runs are exact, if not all are

    def __post_init__(self) -> None:
        if self.length < 1:
            raise ValueError("a walk needs at least one query")
        if self.noise == "gumbel" and self.eps1 != self.eps2:
            raise ValueError(f"Gumbel noise needs eps1 = eps2, got eps1={self.eps1} and eps2={self.eps2}")
        if self.step.numerator != 1 or self.step.denominator % self.threshold.denominator:
            raise ValueError("threshold and levels must lie on the lattice of the noise")

    @classmethod
    def of(
        cls,
        queries: "list[int] | Ints",
        threshold: Fraction,
        *,
        eps1: Fraction,
        eps2: Fraction,
        step: Fraction = Fraction(1),
        noise: Noise = "exponential",
    ) -> "Walk":
        """The walk over a plain list of whole-number queries."""
        levels = np.asarray(queries, dtype=np.int64)
        return cls(
            np.arange(len(levels)),
            levels,
            len(levels),
            threshold=threshold,
            step=step,
            eps1=eps1,
            eps2=eps2,
            noise=noise,
        )

    @property
    def lengths(self) -> Ints:
        """The number of queries in each run."""
        return np.diff(self.starts, append=np.int64(self.length))

    def __repr__(self) -> str:
        return f"Walk({self.length} queries, {self.noise} noise, eps1={self.eps1}, eps2={self.eps2})"


def increments(x: Floats, noise: Noise, a: float) -> Floats:
    """The increments for x = eps2 * (noisy threshold - query) and a = eps2 * step, in doubles."""
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        if noise == "gumbel":
            return np.asarray(np.exp(np.minimum(-x, 700.0)))
        if noise == "laplace":
            above = -np.log1p(-np.exp(-np.maximum(x, 0.0)) / (1 + np.exp(-a)))
            return np.asarray(np.where(x > 0, above, a - x + np.log1p(np.exp(-a))))
        result = np.asarray(-np.log1p(-np.exp(-x)))
        near = x < 0.6931471805599453
        result[near] = np.where(x[near] > 0, -np.log(-np.expm1(-x[near])), np.inf)
        return result


def increment_ball(x: "arb", sign: int, noise: Noise, a: "arb") -> "arb":
    """Like `increments`, in ball arithmetic; with exponential noise x > 0, as the walk always halts at x <= 0."""
    if noise == "gumbel":
        return (-x).exp()
    if noise == "laplace":
        lift = (-a).exp()
        return -(-((-x).exp() / (1 + lift))).log1p() if sign > 0 else a - x + lift.log1p()
    return -(-(-x).expm1()).log()
