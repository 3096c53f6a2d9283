"""The plan of a sum or a mean of vectors, decided before the data are read, and the clip of their norms."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from nobounds.accounting.cost import Cost, fixed_threshold, gaussian, gaussian_by_kind, monotonic, split
from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import nominal
from nobounds.accounting.terms import Terms
from nobounds.clipping.clip import Search
from nobounds.clipping.tuning import CLIP_TUNING
from nobounds.clipping.view import RecordsView
from nobounds.clipping.widths import BITS, DEVIATIONS
from nobounds.counting.ball import Ball
from nobounds.counting.histogram import Histogram
from nobounds.counting.scan import Records
from nobounds.exact import finite_float
from nobounds.ladders.facts import VectorFacts
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.stated import Stated
from nobounds.mechanisms.decisions import Halt, Noisy, NoisyMany
from nobounds.mechanisms.walk import Walk
from nobounds.noise.additive import GaussianNoise
from nobounds.programs.program import Program
from nobounds.values import dataclass

_FEW_MISSING = 3  # standard deviations: rows count as all present unless the noisy number of missing ones is above
# No octaves are counted around the clip of the norms, so it is where its search ends.
NORMS = replace(CLIP_TUNING, outside=5, widened=0)
_SIZE = Fraction(1, 100)  # the part of rho for the number of rows, where only the search for a clip needs it
# Once in a few thousand times a search ends at a clip that is far too high, and training takes as many steps: the lower
# clip of two is used. Far out the candidates of a search are whole octaves, so a walk inward from there follows. With
# too few rows to pay for all three, there is one search.
_PARTS = 3
_NATS = 50  # rows times epsilon from which a search works; below 40 it often halts among empty candidates ...
_MOST = Fraction(1, 2)  # ... and this part of rho may be spent to get there
_LEAST: dict[Neighbors, int] = {"add-remove": 20, "swap": 45}  # the same with which it still mostly ends at the norms
_INWARD = 3 << BITS  # candidates of the walk inward: three octaves
# It halts where _OUTSIDE / eps2 rows are outside, or _BALANCE times the cube root of d / (2 rho). The best number is
# sqrt(d / (2 rho)) if all rows point in one direction, and near d / (2 rho) if in random ones. For 10**5 x 100 with
# lognormal norms, over the error of the true 99.9% norm: at rho 0.5, 1.15 to 1.3 in random directions and 0.7 in one;
# at epsilon 1 and delta 1e-6, 0.8 and 1.4.
_OUTSIDE, _BALANCE = 5, 12
_INWARD_SHARE: dict[Neighbors, Fraction] = {"add-remove": Fraction(1, 2), "swap": Fraction(2, 5)}  # of eps1


def _clip_share(dimensions: int) -> Fraction:
    """The part of rho for the clip, if it is enough: about 1 / (2 + sqrt(d)).

    Measured against the best clip on six families of norms (two lognormal ones, chi, Pareto, constant, and one row in
    a thousand 100 times larger), with the excess in one direction or in random ones, for d = 10, 100 and 1000,
    n = 10**4 and 10**5, and rho from 0.02 to 0.5. At d = 100 the error is 1.4 times the best on average if there is one
    direction, and 1.3 times in random ones; a smaller part is worse in the first case, a larger one in the second.
    """
    return Fraction(1, 2 + math.isqrt(dimensions))


def _count_share(dimensions: int) -> Fraction:
    """The part of rho for the number of rows of a mean: about 1 / (1 + 2 sqrt(d)).

    The error of a mean is (noise of the sum + mean * noise of the number) / n; this part is the best for a mean of half
    the clip, and not far from it for those between 0 and the clip.
    """
    return Fraction(1, 1 + math.isqrt(4 * dimensions))


@dataclass(frozen=True, slots=True)
class VectorPlan:
    """How rho is split: for the number of rows first, and the rest for the clip and the noise."""

    rho: Fraction
    neighbors: Neighbors
    ladder: Ladder
    dimensions: int
    nullable: bool
    mean: bool
    rows: int | None  # public under swap

    @classmethod
    def of(cls, facts: VectorFacts, terms: Terms, stated: Stated, mean: bool) -> "VectorPlan":
        """The plan for a sum, or for a mean."""
        norms, rho = facts.norms, terms.spending.amount
        ladder = stated.ladder(norms)
        return cls(rho, terms.neighbors, ladder, facts.dimensions, norms.nullable, mean, norms.rows)

    @property
    def rho_size(self) -> Fraction:
        """Rho for the number of rows; 0 where it is public or not needed.

        Under swap a row that moves changes the sum by two radii and the number by nothing, one that turns from missing
        to present the sum by one radius: three quarters of the rho of the noise are then left for the number.
        """
        if self.rows is None:
            return self.rho * (_count_share(self.dimensions) if self.mean else _SIZE)
        return self.split(self.rows)[2] * Fraction(3, 4) if self.mean and self.nullable else Fraction(0)

    def split(self, size: int) -> tuple[Search, int, Fraction]:
        """The search for a clip with about `size` rows, how many parts cost the same, and rho for the noise."""
        parts, least = _PARTS, Fraction(_NATS, max(size, 1))
        if least > nominal(self.rho * _MOST / parts):
            parts = 1
        epsilon = max(nominal(self.rho * _clip_share(self.dimensions) / parts), least)
        epsilon = min(epsilon, nominal(self.rho * _MOST / parts))
        search = Search(epsilon, self.neighbors, self.ladder, False, self.nullable, tuning=NORMS)
        return search, parts, self.rho - parts * search.cost().rho - (self.rho_size if self.rows is None else 0)

    def enough(self, size: int) -> bool:
        """Whether about `size` rows are enough for the search for a clip."""
        return size * self.split(size)[0].epsilon >= _LEAST[self.neighbors]

    @property
    def size_noise(self) -> float:
        """The standard deviation of the noise in the number of rows."""
        return math.sqrt(1 / (2 * self.rho_size)) if self.rho_size else 0.0

    def cost(self, size: int = 0) -> Cost:
        """The cost of all parts: the same for every noisy size, so it is known before the data are read."""
        search, parts, noise = self.split(size if self.rows is None else self.rows)
        return self._size_cost() + gaussian(parts * search.cost().rho) + self._noise_cost(noise)

    def _size_cost(self) -> Cost:
        """Under swap a row that moves does not change the number of rows, and one that turns to present does."""
        if self.rows is None:
            return gaussian(self.rho_size)
        return gaussian_by_kind(Fraction(0), self.rho_size)

    def _noise_cost(self, noise: Fraction) -> Cost:
        """Under swap a row that moves changes the sum by two radii, and one that turns to present by one."""
        return gaussian(noise) if self.rows is None else gaussian_by_kind(noise, noise / 4)

    def size(self, present: int) -> Program[int]:
        """The noisy number of rows that are not missing, or the public number of all if almost none is missing."""
        if self.rows is None:
            noisy: int = yield Noisy(present, GaussianNoise(self.rho_size), self._size_cost)
            return max(noisy, 0)
        if not self.rho_size:
            return self.rows
        missing: int = yield Noisy(self.rows - present, GaussianNoise(self.rho_size), self._size_cost)
        few = _FEW_MISSING * self.size_noise
        return self.rows if missing <= few else max(self.rows - missing, 0)

    def clip(self, norms: Records, size: int) -> Program[tuple[Fraction, Fraction]]:
        """The clip, and rho for the noise."""
        around = size if self.rows is None else self.rows
        search, parts, noise = self.split(around)
        view, ends = RecordsView(norms), []
        for _ in range(max(parts - 1, 1)):
            clip = yield from search.program(view, around, 0)
            ends.append(clip.high)
        lower = min(ends)
        return ((yield from self.inward(lower, search, norms)) if parts > 1 else lower), noise

    def inward(self, clip: Fraction, search: Search, norms: Records) -> Program[Fraction]:
        """The clip where a walk inward from this one halts: a noisy number of rows beyond passes a noisy constant."""
        first = int(DEVIATIONS.rungs(np.array([finite_float(clip)]))[0])
        candidates = np.arange(first, max(first - _INWARD, 0), -1)
        if not len(candidates):
            return clip
        eps1, eps2 = split(self.inward_cost, search.epsilon, _INWARD_SHARE[self.neighbors])

        def walk() -> Walk:
            histogram = Histogram.of(norms(), DEVIATIONS)
            levels = histogram.total - np.append(0, histogram.up_to)[np.searchsorted(histogram.rungs, candidates)]
            balance = _BALANCE * math.cbrt(self.dimensions / (2 * self.rho))
            threshold = max(math.ceil(_OUTSIDE / eps2), math.ceil(balance))
            starts = np.append(0, np.flatnonzero(np.diff(levels)) + 1)
            return Walk(starts, levels[starts], len(levels), Fraction(threshold), Fraction(1), eps1, eps2, rising=True)

        position = yield Halt(walk, lambda: self.inward_cost(eps1, eps2), one_end=True)
        return min(clip, Fraction(DEVIATIONS.top(int(candidates[-1 if position is None else position]))))

    def inward_cost(self, eps1: Fraction, eps2: Fraction) -> Cost:
        """The cost of the walk inward; under swap a row that moves counts once more or once less."""
        return (fixed_threshold if self.neighbors == "add-remove" else monotonic)(eps1, eps2)

    def sensitivity(self, ball: Ball) -> int:
        """How far a row can move the sum of clipped rows, in the Euclidean norm."""
        return ball.radius if self.neighbors == "add-remove" else 2 * ball.radius

    def total(self, sums: Sequence[int], ball: Ball, noise: Fraction) -> NoisyMany:
        """The sums of the coordinates, with discrete Gaussian noise of this rho."""
        return NoisyMany(sums, GaussianNoise(noise), partial(self._noise_cost, noise), self.sensitivity(ball))
