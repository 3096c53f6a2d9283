"""The privacy loss of a release: its cost rounded up to floats, with the neighbours and the privacy unit it is for.

A `Cost` is exact and belongs to a mechanism; a `PrivacyLoss` is rounded up and belongs to a release.
"""

import math
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from nobounds.accounting.conversions import epsilon_from_rho, smaller_epsilon
from nobounds.accounting.cost import Cost, gaussian, pure, range_bounded
from nobounds.exact import Number, positive, printable, rational, round_up, text_up
from nobounds.values import dataclass

Neighbors: TypeAlias = Literal["add-remove", "swap"]

QUERY_RESULT = "query result"


def check_neighbors(neighbors: object) -> Neighbors:
    """The name of the neighbour relation, validated."""
    if not isinstance(neighbors, str) or neighbors not in get_args(Neighbors):
        raise ValueError(f"neighbors must be one of {', '.join(get_args(Neighbors))}, got neighbors={neighbors!r}")
    return neighbors  # type: ignore[return-value]


def rows_of(query: bool) -> dict[str, str]:
    """The entry in the parameters of a release that marks its rows as those of a query result.

    The loss is then for one row of the result. A person or a row of the underlying tables may change several.
    """
    return {"rows_of": QUERY_RESULT} if query else {}


def of_query(parameters: Mapping[str, Any]) -> bool:
    """Whether the parameters of a release mark its rows as those of a query result."""
    return bool(parameters.get("rows_of") == QUERY_RESULT)


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """The loss of a release, each number rounded up: epsilon, zCDP rho, range eta; and its neighbours and privacy unit.

    `epsilon` is pure if `delta` is 0. Gaussian noise has a rho only: `epsilon` is then the one at `delta`, or infinite
    without a delta, and `eta` is infinite. Unknown bounds are infinite.

    >>> PrivacyLoss.pure(0.1, neighbors="swap") + PrivacyLoss.range_bounded(0.2, neighbors="swap")
    PrivacyLoss(epsilon=0.3, rho=0.0099..., eta=0.6, neighbors='swap', unit='row', delta=0.0)
    >>> PrivacyLoss.zcdp(0.02).at(1e-6), PrivacyLoss.approximate(1, 1e-6).at(1e-5)
    (0.89..., 1.0)
    """

    epsilon: float
    rho: float
    eta: float
    neighbors: Neighbors
    unit: str = "row"
    delta: float = 0.0

    @classmethod
    def of(cls, cost: Cost, neighbors: Neighbors, unit: str = "row", *, delta: Fraction | None = None) -> "PrivacyLoss":
        """The loss of a mechanism with this cost; stated at `delta` where that gives a smaller epsilon."""
        rho = round_up(cost.rho)
        epsilon, eta = (round_up(cost.epsilon), round_up(cost.eta)) if cost.is_pure else (math.inf, math.inf)
        if delta is not None and (approximate := epsilon_from_rho(cost.rho, delta)) < epsilon:
            return cls(approximate, rho, math.inf, neighbors, unit, round_up(delta))
        return cls(epsilon, rho, eta, neighbors, unit)

    @classmethod
    def pure(cls, epsilon: Number, *, neighbors: Neighbors = "add-remove", unit: str = "row") -> "PrivacyLoss":
        """The loss of a pure mechanism."""
        return cls.of(pure(_not_negative(epsilon, "epsilon")), check_neighbors(neighbors), unit)

    @classmethod
    def range_bounded(cls, eta: Number, *, neighbors: Neighbors = "add-remove", unit: str = "row") -> "PrivacyLoss":
        """The loss of a mechanism whose log-ratios span at most eta: an exponential mechanism (Definition A.2)."""
        return cls.of(range_bounded(_not_negative(eta, "eta")), check_neighbors(neighbors), unit)

    @classmethod
    def zcdp(cls, rho: Number, *, neighbors: Neighbors = "add-remove", unit: str = "row") -> "PrivacyLoss":
        """The loss of a rho-zCDP mechanism."""
        return cls.of(gaussian(_not_negative(rho, "rho")), check_neighbors(neighbors), unit)

    @classmethod
    def approximate(
        cls, epsilon: Number, delta: Number, *, neighbors: Neighbors = "add-remove", unit: str = "row"
    ) -> "PrivacyLoss":
        """The loss of an (epsilon, delta)-private mechanism without further bounds."""
        least, at = round_up(_not_negative(epsilon, "epsilon")), positive(delta, "delta")
        if at >= 1:
            raise ValueError(f"delta must be less than 1, got delta={delta!r}")
        return cls(least, math.inf, math.inf, check_neighbors(neighbors), unit, round_up(at))

    def at(self, delta: Number) -> float:
        """The epsilon at a delta, the smaller of the bounds from epsilon and from rho; infinite without a bound."""
        most = _not_negative(delta, "delta")
        known = self.epsilon if rational(self.delta, "delta") <= most else math.inf
        if most == 0 or self.rho == math.inf:
            return known
        return smaller_epsilon(known, rational(self.rho, "rho"), most)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "PrivacyLoss":
        """The loss that `to_dict` wrote."""
        known: dict[str, Any] = {name: math.inf if value is None else value for name, value in fields.items()}
        return cls(**known)

    def __add__(self, other: "PrivacyLoss") -> "PrivacyLoss":
        """The loss of both releases, even if one was chosen after seeing the other: epsilon, delta and rho add up.

        Ranges do not add: the later mechanism counts with twice its epsilon, which must be pure.
        """
        if (self.neighbors, self.unit) != (other.neighbors, other.unit):
            raise ValueError("losses add only for the same neighbour relation and privacy unit")
        delta = _total(self.delta, other.delta)
        eta = max(_total(self.eta, other.epsilon, other.epsilon), _total(other.eta, self.epsilon, self.epsilon))
        return PrivacyLoss(
            _total(self.epsilon, other.epsilon),
            _total(self.rho, other.rho),
            math.inf if delta else eta,
            self.neighbors,
            self.unit,
            delta,
        )

    def to_dict(self) -> dict[str, Any]:
        """The loss as plain values for JSON: None for infinity, and no delta if it is 0."""
        values = ((each.name, getattr(self, each.name)) for each in fields(self))
        plain = {name: None if value == math.inf else value for name, value in values}
        return plain if self.delta else {name: value for name, value in plain.items() if name != "delta"}

    def __str__(self) -> str:
        return self.in_words({})

    def in_words(self, parameters: Mapping[str, Any]) -> str:
        """The loss with its neighbours and privacy unit as text; `parameters` are those of its release."""
        rows = f" of the {QUERY_RESULT}" if of_query(parameters) and self.unit == Unit().name else ""
        whom = f"{printable(self.unit)}{rows}"
        if self.epsilon == self.rho == math.inf:
            return f"no bound ({self.neighbors}, per {whom})"
        if self.epsilon == math.inf:
            return f"rho {text_up(self.rho, 4)} (zCDP, {self.neighbors}, per {whom})"
        at = f" at delta {text_up(self.delta)}" if self.delta else ""
        rho = "" if self.rho == math.inf else f"; rho {text_up(self.rho, 4)}"
        return f"epsilon {text_up(self.epsilon)}{at} ({self.neighbors}, per {whom}{rho})"


def _not_negative(value: Number, name: str) -> Fraction:
    number = rational(value, name)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {name}={value!r}")
    return number


def _total(*parts: float) -> float:
    """The sum of the numbers as written, rounded up; infinite if a summand is."""
    return math.inf if math.inf in parts else round_up(sum((rational(part, "loss") for part in parts), Fraction(0)))


class Unit(NamedTuple):
    """The privacy unit of a loss, such as a row or all rows of a person, and the largest number of its rows."""

    name: str = "row"
    rows: int = 1

    def loss(self, cost: Cost, neighbors: Neighbors) -> PrivacyLoss:
        """The loss for one unit, of a mechanism with this cost for one row.

        Under swap the unit must be a row: other units may differ in their number of rows, which would not be public.
        """
        if neighbors == "swap" and self != Unit():
            raise ValueError(f"a privacy unit of {self.name!r} needs neighbors='add-remove', got neighbors='swap'")
        return PrivacyLoss.of(cost.times(self.rows), neighbors, self.name)
