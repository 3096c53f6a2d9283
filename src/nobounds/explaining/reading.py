"""The JSON that the library writes, read back and checked: whoever wrote it, it is a known shape or a plain error."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import QUERY_RESULT, Neighbors, PrivacyLoss, check_neighbors
from nobounds.exact import printable, rational, shown

MOST_BYTES = 1 << 28  # a million groups are a quarter of that
KINDS = (
    "a release, a description, answers by groups, a forecast, or what `nobounds budget show --json` prints; "
    "all commands print such JSON with --json"
)
_LONGEST, _LONGEST_NAME = 500, 80
_LEAST, _MOST = 1e-100, 1e18  # of a privacy loss, or of a part of it


def parsed(text: str) -> dict[str, Any]:
    """The object in a JSON text."""
    try:
        found = json.loads(text, parse_constant=_refused)
    except RecursionError:
        raise ValueError("this is no release: it is nested too deep") from None
    except ValueError:
        raise ValueError(f"this is not JSON; explain takes {KINDS}") from None
    if not isinstance(found, dict):
        raise ValueError(f"this is JSON, but no object; explain takes {KINDS}")
    return found


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


@dataclass(frozen=True, slots=True)
class ReleaseFields:
    """The fields of a JSON object, each checked when it is asked for; errors name the field."""

    found: Mapping[str, Any]
    place: str = ""

    @classmethod
    def of(cls, found: object, place: str) -> "ReleaseFields":
        """The fields of an object."""
        if not isinstance(found, Mapping):
            raise ValueError(f"{place} must be a JSON object, got {shown(found)}")
        return cls(found, f"{place}.")

    def __contains__(self, name: str) -> bool:
        return self.found.get(name) is not None

    def inner(self, name: str) -> "ReleaseFields":
        """The fields of an object in this one; none if it is not there."""
        return ReleaseFields.of(self.found.get(name) or {}, self._at(name))

    def items(self, name: str) -> list[Any]:
        """A list."""
        found: list[Any] = self._of(name, list, "a list")
        return found

    def text(self, name: str) -> str:
        """A text."""
        found: str = self._of(name, str, "a text")
        if len(found) > _LONGEST:
            raise ValueError(f"{self._at(name)} must be a text of at most {_LONGEST} characters")
        return found

    def word(self, name: str) -> str:
        """A text that is safe on a terminal."""
        return printable(self.text(name))

    def number(self, name: str) -> int | float:
        """A finite number."""
        return _number(self.found.get(name), self._at(name))

    def whole(self, name: str, least: int = 1) -> int:
        """A whole number."""
        found = self.found.get(name)
        if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= 10**18:
            raise ValueError(f"{self._at(name)} must be a whole number from {least} on, got {shown(found)}")
        return found

    def numbers(self, name: str) -> list[int | float]:
        """A list of finite numbers, or one of them; whole ones may be beyond the floats, as sums of floats may be."""
        found = self.found.get(name)
        each = found if isinstance(found, list) else [found]
        return [_number(value, self._at(name)) for value in each]

    def floats(self, name: str) -> list[float]:
        """A list of finite numbers, or one of them, within the range of floats."""
        return [_float(value, self._at(name)) for value in self.numbers(name)]

    def ranks(self, name: str) -> list[Fraction]:
        """A rank, or a list of them."""
        found = self.found.get(name)
        ranks = [rational(q, self._at(name)) for q in (found if isinstance(found, list) else [found])]
        if not ranks or not all(0 <= q <= 1 for q in ranks):
            raise ValueError(f"{self._at(name)} must be between 0 and 1, got {shown(found)}")
        return ranks

    def loss(self, name: str = "loss") -> PrivacyLoss:
        """A privacy loss."""
        fields = self.inner(name)
        epsilon, rho, eta = (fields.spent(each) if each in fields else math.inf for each in ("epsilon", "rho", "eta"))
        delta = fields.spent("delta") if "delta" in fields else 0.0
        if delta >= 1 or min(epsilon, rho) == math.inf:
            raise ValueError(f"{self._at(name)} must have an epsilon or a rho, and a delta below 1")
        unit = fields.text("unit")
        if not unit:
            raise ValueError(f"{fields.place}unit must be a word, got an empty text")
        return PrivacyLoss(epsilon, rho, eta, neighbors(fields), unit, delta)

    def amount(self, name: str) -> float:
        """A number from 0 on."""
        found = _float(self.number(name), self._at(name))
        if found < 0:
            raise ValueError(f"{self._at(name)} must not be negative, got {shown(found)}")
        return found

    def spent(self, name: str) -> float:
        """A part of a privacy loss: 0, or what mechanisms can cost and floats can reckon with."""
        found = self.amount(name)
        if found and not _LEAST <= found <= _MOST:
            raise ValueError(f"{self._at(name)} must be 0, or from {_LEAST:g} to {_MOST:g}, got {shown(found)}")
        return found

    def kind(self, name: str) -> str:
        """Whether it is an epsilon or a rho."""
        found = self.text(name)
        if found not in ("epsilon", "rho"):
            raise ValueError(f"{self._at(name)} must be epsilon or rho, got {shown(found)}")
        return found

    def of_query(self) -> bool:
        """Whether these are the parameters of a release whose rows are those of a query's result."""
        if "rows_of" in self and self.text("rows_of") != QUERY_RESULT:
            raise ValueError(f"{self._at('rows_of')} must be {QUERY_RESULT}, got {shown(self.found['rows_of'])}")
        return "rows_of" in self

    def all_spent(self, name: str) -> dict[str, float]:
        """Parts of a privacy loss by their names."""
        fields = self.inner(name)
        return {printable(each): fields.spent(each) for each in fields.found}

    def interval(self, name: str = "interval") -> tuple[float, float] | None:
        """Two ends, infinite where one is not there; None without an interval."""
        if name not in self:
            return None
        ends = self.items(name)
        if len(ends) != 2:
            raise ValueError(f"{self._at(name)} must have two ends, got {shown(ends)}")
        low, high = ends
        return (
            -math.inf if low is None else _float(low, self._at(name)),
            math.inf if high is None else _float(high, self._at(name)),
        )

    def _at(self, name: str) -> str:
        """Where a field stands, for an error: the name may come from the file, so it is cut and made printable."""
        return self.place + printable(name[:_LONGEST_NAME])

    def _of(self, name: str, kind: type, what: str) -> Any:
        found = self.found.get(name)
        if not isinstance(found, kind):
            raise ValueError(f"{self._at(name)} must be {what}, got {shown(found)}")
        return found


def neighbors(fields: ReleaseFields) -> Neighbors:
    """The neighbour relation."""
    return check_neighbors(fields.text("neighbors"))


def _float(found: object, name: str) -> float:
    try:
        return float(_number(found, name))
    except OverflowError:
        raise ValueError(f"{name} must be within the range of floats, got {shown(found)}") from None


def _number(found: object, name: str) -> int | float:
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise ValueError(f"{name} must be a number, got {shown(found)}")
    try:
        finite = math.isfinite(float(found))
    except OverflowError:  # a whole number beyond the floats, which sums of such numbers may be
        return found
    if not finite:
        raise ValueError(f"{name} must be a finite number, got {shown(found)}")
    return found
