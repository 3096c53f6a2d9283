"""The JSON that the library writes, read back and checked: anybody may have written it, so errors are plain."""

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import QUERY_RESULT, Neighbors, PrivacyLoss, check_neighbors
from nobounds.exact import finite_float, printable, rational, shown
from nobounds.kinds.kind import NUMBER, Kind
from nobounds.release.schema import Interval
from nobounds.release.words import rows_in_words
from nobounds.values import dataclass

MOST_BYTES = 1 << 28  # a million groups are a quarter of that
KINDS = (
    "a release, a description, answers by groups, a forecast, or what `nobounds budget show --json` prints; "
    "all commands print such JSON with --json"
)
_LONGEST, _LONGEST_NAME = 500, 80
_LEAST, _MOST = 1e-100, 1e18  # bounds of a privacy loss, or of a part of it


def parsed(text: str) -> dict[str, Any]:
    """The object in a JSON text."""
    try:
        loaded = json.loads(text, parse_constant=_refused)
    except RecursionError:
        raise ValueError("this is no release: it is nested too deep") from None
    except ValueError:
        raise ValueError(f"this is not JSON; explain takes {KINDS}") from None
    if not isinstance(loaded, dict):
        raise ValueError(f"this is JSON, but no object; explain takes {KINDS}")
    return loaded


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


@dataclass(frozen=True, slots=True)
class ReleaseFields:
    """The fields of a JSON object, each checked when it is read; errors name the field."""

    mapping: Mapping[str, Any]
    place: str = ""

    @classmethod
    def of(cls, value: object, place: str) -> "ReleaseFields":
        """The fields of an object."""
        if not isinstance(value, Mapping):
            raise ValueError(f"{place} must be a JSON object, got {shown(value)}")
        return cls(value, f"{place}.")

    def __contains__(self, name: str) -> bool:
        return self.mapping.get(name) is not None

    def inner(self, name: str) -> "ReleaseFields":
        """The fields of an object in this one; no fields if there is no such object."""
        return ReleaseFields.of(self.mapping.get(name) or {}, self._at(name))

    def items(self, name: str) -> list[Any]:
        """A list."""
        entries: list[Any] = self._of(name, list, "a list")
        return entries

    def texts(self, name: str) -> list[str]:
        """The texts of a list of texts and nulls; none if there is no such list."""
        entries = [] if self.mapping.get(name) is None else self.items(name)
        if not all(entry is None or isinstance(entry, str) for entry in entries):
            raise ValueError(f"{self._at(name)} must be a list of texts")
        return [entry for entry in entries if entry is not None]

    def text(self, name: str) -> str:
        """A text."""
        text: str = self._of(name, str, "a text")
        if len(text) > _LONGEST:
            raise ValueError(f"{self._at(name)} must be a text of at most {_LONGEST} characters")
        return text

    def word(self, name: str) -> str:
        """A text that is safe on a terminal."""
        return printable(self.text(name))

    def number(self, name: str) -> int | float:
        """A finite number."""
        return _number(self.mapping.get(name), self._at(name))

    def whole(self, name: str, least: int = 1) -> int:
        """A whole number."""
        value = self.mapping.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 10**18:
            raise ValueError(f"{self._at(name)} must be a whole number from {least} on, got {shown(value)}")
        return value

    def numbers(self, name: str) -> list[int | float]:
        """A finite number or a list of them; integers may exceed the range of floats, as sums of floats may."""
        value = self.mapping.get(name)
        values = value if isinstance(value, list) else [value]
        return [_number(each, self._at(name)) for each in values]

    def answers(self, name: str, kind: Kind = NUMBER) -> list[int | float | None]:
        """A number, a value of a type as a number, or a list of them; None where it is not answered."""
        value = self.mapping.get(name)
        values = value if isinstance(value, list) else [value]
        return [None if each is None else _of_kind(each, kind, self._at(name)) for each in values]

    def column_kind(self, name: str = "type") -> Kind:
        """The type of a column."""
        if name not in self:
            return NUMBER
        try:
            return Kind.parse(self.text(name))
        except ValueError:
            raise ValueError(f"{self._at(name)} must be the name of a type, got {shown(self.mapping[name])}") from None

    def value(self, name: str, kind: Kind) -> Any:
        """A value of a type."""
        return kind.value(_of_kind(self.mapping.get(name), kind, self._at(name)))

    def floats(self, name: str) -> list[float]:
        """A finite number or a list of them, within the range of floats."""
        return [_float(value, self._at(name)) for value in self.numbers(name)]

    def ranks(self, name: str) -> list[Fraction]:
        """A rank, or a list of them."""
        value = self.mapping.get(name)
        ranks = [rational(q, self._at(name)) for q in (value if isinstance(value, list) else [value])]
        if not ranks or not all(0 <= q <= 1 for q in ranks):
            raise ValueError(f"{self._at(name)} must be between 0 and 1, got {shown(value)}")
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
        value = _float(self.number(name), self._at(name))
        if value < 0:
            raise ValueError(f"{self._at(name)} must not be negative, got {shown(value)}")
        return value

    def spent(self, name: str) -> float:
        """A part of a privacy loss: 0, or within the range that mechanisms cost and float arithmetic handles."""
        value = self.amount(name)
        if value and not _LEAST <= value <= _MOST:
            raise ValueError(f"{self._at(name)} must be 0, or from {_LEAST:g} to {_MOST:g}, got {shown(value)}")
        return value

    def kind(self, name: str) -> str:
        """The kind of spending: epsilon or rho."""
        text = self.text(name)
        if text not in ("epsilon", "rho"):
            raise ValueError(f"{self._at(name)} must be epsilon or rho, got {shown(text)}")
        return text

    def of_query(self) -> bool:
        """Whether these are the parameters of a release on the result of a query."""
        if "rows_of" in self and self.text("rows_of") != QUERY_RESULT:
            raise ValueError(f"{self._at('rows_of')} must be {QUERY_RESULT}, got {shown(self.mapping['rows_of'])}")
        return "rows_of" in self

    def view(self) -> str:
        """Which rows count and how computed columns were made, as a sentence; empty if nothing is stated."""
        formulas = self.inner("formulas")
        stated: dict[str, Any] = {
            "formulas": {name[:_LONGEST_NAME]: formulas.formula(name) for name in formulas.mapping}
        }
        stated |= {"where": self.formula("where")} if "where" in self else {}
        return rows_in_words(stated)

    def formula(self, name: str) -> str:
        """A condition or a formula, cut where it is too long for a sentence."""
        text: str = self._of(name, str, "a text")
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."

    def all_spent(self, name: str) -> dict[str, float]:
        """Parts of a privacy loss by their names."""
        fields = self.inner(name)
        return {printable(each): fields.spent(each) for each in fields.mapping}

    def interval(self, name: str, kind: Kind = NUMBER) -> Interval | None:
        """The two ends as numbers, infinite where an end is null; None without an interval."""
        return _interval(self.mapping[name], self._at(name), kind) if name in self else None

    def intervals(self, name: str = "intervals", kind: Kind = NUMBER) -> list[Interval]:
        """A list of intervals."""
        return [_interval(ends, self._at(name), kind) for ends in self.items(name)] if name in self else []

    def _at(self, name: str) -> str:
        """The path of a field, for errors: the name may come from the file, so it is cut and made printable."""
        return self.place + printable(name[:_LONGEST_NAME])

    def _of(self, name: str, kind: type, what: str) -> Any:
        value = self.mapping.get(name)
        if not isinstance(value, kind):
            raise ValueError(f"{self._at(name)} must be {what}, got {shown(value)}")
        return value


def neighbors(fields: ReleaseFields) -> Neighbors:
    """Which data sets are neighbours."""
    return check_neighbors(fields.text("neighbors"))


def _of_kind(value: object, kind: Kind, name: str) -> int | float:
    """A number, or the number of a value of a type that is given as a text."""
    if not kind.typed:
        return _number(value, name)
    try:
        if isinstance(value, str) and len(value) <= _LONGEST:
            return finite_float(kind.number(value, name))
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} must be the text of a {kind.name}, got {shown(value)}")


def _interval(ends: object, name: str, kind: Kind = NUMBER) -> Interval:
    if not isinstance(ends, list) or len(ends) != 2:
        raise ValueError(f"{name} must have two ends, got {shown(ends)}")
    low, high = ends
    if kind.typed:
        numbers = [_of_kind(end, kind, name) for end in ends]
        first, last = (kind.is_end(kind.value(number)) for number in numbers)
        return -math.inf if first else numbers[0], math.inf if last else numbers[1]
    return -math.inf if low is None else _float(low, name), math.inf if high is None else _float(high, name)


def _float(value: object, name: str) -> float:
    try:
        return float(_number(value, name))
    except OverflowError:
        raise ValueError(f"{name} must be within the range of floats, got {shown(value)}") from None


def _number(value: object, name: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number, got {shown(value)}")
    try:
        finite = math.isfinite(float(value))
    except OverflowError:  # an integer beyond the floats, as sums of large integers can be
        return value
    if not finite:
        raise ValueError(f"{name} must be a finite number, got {shown(value)}")
    return value
