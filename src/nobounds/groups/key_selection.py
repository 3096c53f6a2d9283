"""Selection of the keys of a grouped table that may be released when the keys themselves are sensitive.

A key with n privacy units is kept with probability p_n, for every n the largest of any (epsilon, delta)-private rule
for one key (Desfontaines, Voss, Gipson and Mandayam 2022, Theorem 1): p_0 = 0 and

    p_n = min(e^epsilon p_{n-1} + delta, 1 - e^-epsilon (1 - p_{n-1} - delta), 1).

A unit may be in several groups, so each key gets a part of epsilon and delta (docs/proofs/key_selection.md). Draws are
exact: a uniform variable is compared with p_n in doubles, and in ball arithmetic where doubles do not decide.
"""

import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nobounds.accounting.conversions import rho_from_approximate
from nobounds.accounting.cost import Cost, pure
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.accounting.spending import nominal
from nobounds.arrays import Floats
from nobounds.exact import ball, privacy_parameter, rational, shown, working_precision
from nobounds.mechanisms.decisions import Hidden
from nobounds.noise.discrete import FIRST_BITS, Uniform, decide
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass

if TYPE_CHECKING:
    from flint import arb

_MOST_GROUPS = 10**9
# Error assumed for a probability in doubles. Exponents are sums of terms below 3000 with a relative error of a few
# units of 2**-53, and numpy's exp and expm1 are within 2**-45 (tests/noise/test_discrete.py).
_SLACK = 2.0**-36


@dataclass(frozen=True, slots=True)
class KeySelection:
    """(epsilon, delta)-private selection of all keys together, if a unit is in at most `groups_per_unit` groups.

    >>> choice = KeySelection(Fraction(1), Fraction(1, 10**6))
    >>> choice.certain(), choice.probability(1), choice.probability(14)
    (28, 1e-06, 0.6...)
    """

    epsilon: Fraction
    delta: Fraction
    groups_per_unit: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", privacy_parameter(self.epsilon, "epsilon"))
        delta = rational(self.delta, "delta")
        if not 0 < delta < 1:
            raise ValueError(f"delta must be greater than 0 and less than 1, got delta={shown(self.delta)}")
        object.__setattr__(self, "delta", delta)
        groups = self.groups_per_unit
        if isinstance(groups, bool) or not isinstance(groups, int) or not 1 <= groups <= _MOST_GROUPS:
            rule = f"a whole number between 1 and {_MOST_GROUPS}"
            raise ValueError(f"groups_per_unit must be {rule}, got groups_per_unit={shown(groups)}")

    def loss(self, neighbors: Neighbors = "add-remove", unit: str = "row") -> PrivacyLoss:
        """Loss of the selection: epsilon at delta, or twice both under swap, where a unit may change its groups.

        rho is infinite: no zCDP bound holds, because a key with one unit may be kept and a key without units never is.
        """
        times = 2 if check_neighbors(neighbors) == "swap" else 1
        return PrivacyLoss.approximate(times * self.epsilon, times * self.delta, neighbors=neighbors, unit=unit)

    def probability(self, n: int) -> float:
        """The probability that a key with n units is kept, rounded to the nearest float."""
        with working_precision(256):
            return float(self._chances().ball(n))

    def certain(self) -> int:
        """The smallest number of units with which a key is always kept."""
        return self._chances().certain

    def needed(self, chance: float = 0.95) -> int:
        """The smallest number of units with which a key is kept with at least this chance."""
        low, high = 0, self.certain()
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.probability(middle) >= chance else (middle, high)
        return high

    def kept(self, counts: NDArray[np.int64], source: RandomSource) -> NDArray[np.bool_]:
        """Whether each key is kept, given its number of units (`counts`). A key without units never is."""
        chances = self._chances()
        words = np.frombuffer(source(FIRST_BITS * len(counts)).to_bytes(8 * len(counts), "little"), dtype="<u8")
        kept = np.asarray(counts >= chances.certain)
        between = np.flatnonzero((counts > 0) & ~kept)
        ahead = chances.doubles(counts[between]) - words[between] * 2.0**-FIRST_BITS
        kept[between] = ahead > 0
        for k in between[np.abs(ahead) <= _SLACK]:  # rare: the first bits do not decide
            kept[k] = chances.keeps(int(counts[k]), _continued(int(words[k]), source))
        return kept

    def _chances(self) -> "Chances":
        return _best_chances(self.epsilon, self.delta, self.groups_per_unit)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KeepKeys(Hidden):
    """The decision which keys are kept, each by itself, in the order of the keys. Sensitive, as its keys are.

    units: how many units each key has.
    listed: the keys, for drivers that compare data sets; one that is not listed has no units, and is never kept.
    """

    selection: KeySelection
    units: NDArray[np.int64]
    listed: Callable[[], list[tuple[Any, ...]]]

    def cost(self) -> Cost:
        """Epsilon for a unit with all of its rows; what it costs at `delta` beyond that is no `Cost`."""
        return pure(self.selection.epsilon)

    @property
    def public(self) -> Hashable:
        """Epsilon, delta, and how many groups a unit may be in; the keys and their number are not public."""
        return self.selection.epsilon, self.selection.delta, self.selection.groups_per_unit

    def draw(self, source: RandomSource) -> NDArray[np.bool_]:
        return self.selection.kept(self.units, source)

    def chances(self) -> list[tuple[float, float]]:
        """The probabilities that each key is left out, and that it is kept; both are precise where they are small."""
        law = self.selection._chances()
        with working_precision(256):
            of_count = {n: law.ball(n) for n in set(self.units.tolist())}
            return [(float(1 - of_count[n]), float(of_count[n])) for n in self.units.tolist()]


@dataclass(frozen=True, slots=True)
class Chances:
    """The probabilities p_n of one key: the first rule applies up to n = `bend`, and p_n is 1 from `certain` on."""

    epsilon: Fraction
    delta: Fraction
    bend: int
    certain: int

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction) -> "Chances":
        """The probabilities for one key's epsilon and delta.

        The first rule is the smaller one while p_{n-1} <= (1 - delta) / (e^epsilon + 1), and p_n is 1 as soon as
        1 - p_{n-1} <= delta. Both n are floors of logarithms, which are not whole numbers unless delta is 1/2.
        """

        def last_below(precision: int) -> int | None:
            rise = ball((1 - delta) / delta) * (ball(epsilon) / 2).tanh()
            return _floor(rise.log1p() / ball(epsilon))

        bend = 1 + decide(last_below)
        if delta >= Fraction(1, 2):
            return cls(epsilon, delta, bend, 2)
        start = cls(epsilon, delta, bend, bend + 1)

        def last_uncertain(precision: int) -> int | None:
            rise = (1 - start.ball(bend)) * ball(epsilon).expm1() / ball(delta)
            return _floor(rise.log1p() / ball(epsilon))

        return cls(epsilon, delta, bend, bend + decide(last_uncertain) + 1)

    def ball(self, n: int) -> "arb":
        """p_n at the working precision.

        With x = e^epsilon, p_n is delta (1 + x + ... + x^(n-1)) up to the bend; m units after the bend, 1 - p_n is
        x^-m (1 - p_bend) - delta (x^-1 + ... + x^-m).
        """
        if n <= 0 or n >= self.certain:
            return ball(int(n > 0))
        epsilon, delta, n1 = ball(self.epsilon), ball(self.delta), min(n, self.bend)
        first = delta * ((n1 - 1) * epsilon).exp() * (-n1 * epsilon).expm1() / (-epsilon).expm1()
        if n <= self.bend:
            return first
        fall = -(n - self.bend) * epsilon
        return 1 - fall.exp() * (1 - first) + delta * (-epsilon).exp() * fall.expm1() / (-epsilon).expm1()

    def doubles(self, counts: NDArray[np.int64]) -> Floats:
        """p_n to within 2**-36, for counts from 1 to certain - 1."""
        with working_precision(128):
            log_delta, at_bend = float(ball(self.delta).log()), float(1 - self.ball(self.bend))
        epsilon, delta = float(self.epsilon), float(self.delta)
        n, rate = counts.astype(np.float64), -math.expm1(-epsilon)
        up = np.minimum(n, self.bend)
        first = np.exp(log_delta + (up - 1) * epsilon) * -np.expm1(-up * epsilon) / rate
        fall = -np.maximum(n - self.bend, 0) * epsilon
        second = 1 - np.exp(fall) * at_bend - delta * math.exp(-epsilon) * np.expm1(fall) / rate
        return np.asarray(np.where(n <= self.bend, first, second))

    def keeps(self, n: int, u: Uniform) -> bool:
        """Whether U < p_n, decided in ball arithmetic."""

        def attempt(precision: int) -> int | None:
            at, chance = u.ball(precision), self.ball(n)
            return 1 if at < chance else 0 if at > chance else None

        return decide(attempt) == 1


@lru_cache(maxsize=256)
def _best_chances(epsilon: Fraction, delta: Fraction, groups: int) -> Chances:
    """The probabilities for one key's part: equal parts of epsilon and delta, or, for many groups, of rho at delta / 2.

    The decisions for the keys of one unit are independent. Each is pure except with probability delta, and so
    epsilon**2 / 2-zCDP; for many groups the sum of rhos is a tighter bound than the sum of epsilons.
    """
    equal = Chances.of(epsilon / groups, delta / groups)
    part = nominal(rho_from_approximate(epsilon, delta / 2) / groups)
    if part <= epsilon / groups:
        return equal
    return min(equal, Chances.of(part, delta / (2 * groups)), key=lambda chances: chances.certain)


def _continued(word: int, source: RandomSource) -> Uniform:
    """A uniform variable whose first bits are already drawn."""
    words = chain([word], iter(lambda: source(FIRST_BITS), None))
    return Uniform(lambda k: next(words))


def _floor(x: "arb") -> int | None:
    whole = x.floor().unique_fmpz()
    return None if whole is None else int(whole)
