"""What a release tells of itself, read from its JSON: what was asked, what was answered, and how it was made."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import PrivacyLoss
from nobounds.accounting.spending import Spending
from nobounds.exact import finite_float, printable, rational
from nobounds.explaining.expected import Made
from nobounds.explaining.reading import ReleaseFields
from nobounds.explaining.words import figure, listed
from nobounds.ladders.stated import DEFAULT_BITS

RANKED = ("quantile", "quantiles", "maximum", "minimum", "bounds")
CLIPPED = ("sum", "mean")
COMPARISON = "floating-point noise, for comparison only"  # what the baselines say of theirs
_PLACES = {"maximum": Fraction(1), "minimum": Fraction(1, 2), "bounds": Fraction(1)}
_LEAST, _MOST = Fraction(1, 10**4), 10**4  # amounts to forecast with
_MOST_RANKS = 20  # that are simulated together
_DEFAULT_FLOOR = -100


@dataclass(frozen=True, slots=True)
class Told:
    """A release of one statistic, for a column or by groups."""

    statistic: str
    values: list[int | float]
    loss: PrivacyLoss
    of: ReleaseFields  # its parameters
    interval: tuple[float, float] | None = None
    by: tuple[str, ...] = ()

    @classmethod
    def read(cls, found: ReleaseFields) -> "Told":
        """A release; answers by groups have their columns in `by`."""
        grouped = "by" in found
        values = found.numbers("values" if grouped else "value")
        by = tuple(printable(str(name)) for name in found.items("by")) if grouped else ()
        told = cls(found.word("statistic"), values, found.loss(), found.inner("parameters"), found.interval(), by)
        told.check()
        return told

    def check(self) -> None:
        """Refuse what cannot be a release of this statistic."""
        if self.statistic in ("quantile", "quantiles"):
            count = len(self.of.ranks("q"))
            if not self.by and count != len(self.values):
                raise ValueError(f"value must have a number for each q, got {len(self.values)} for {count}")
        if not self.by and self.statistic == "bounds" and len(self.values) != 2:
            raise ValueError(f"value must have two numbers for bounds, got {len(self.values)}")
        if self.statistic in CLIPPED and "clip" in self.of and len(self.of.floats("clip")) != 2:
            raise ValueError("parameters.clip must have two ends")

    @property
    def rows_per_unit(self) -> int | None:
        """How many rows of a unit count at most, if that is told."""
        return self.of.whole("rows_per_unit") if "rows_per_unit" in self.of else None

    @property
    def query(self) -> bool:
        """Whether the rows are those of a query's result."""
        return self.of.of_query()

    @property
    def unbounded(self) -> bool:
        """Whether there were too few records to find bounds."""
        return self.interval is not None and math.inf in (self.interval[1], -self.interval[0])

    @property
    def kind(self) -> str:
        """Whether an epsilon or a rho was split."""
        if "spending" in self.of:
            return self.of.kind("spending")
        return "rho" if self.loss.epsilon == math.inf else "epsilon"

    @property
    def split(self) -> dict[str, float]:
        """What went into which part."""
        return self.of.all_spent("split")

    @property
    def keys(self) -> str | None:
        """Whether the keys of groups were public or chosen privately."""
        return self.of.word("keys") if self.by and "keys" in self.of else None

    @property
    def public(self) -> tuple[str, ...]:
        """The facts that the asker stated."""
        found = []
        for name, words in (("lower", "a lower bound of"), ("upper", "an upper bound of")):
            if name in self.of:
                found.append(f"{words} {_plain(self.of, name)}")
        if "resolution" in self.of:
            found.append(f"a grid of {_plain(self.of, 'resolution')}")
        if "stated_rows" in self.of:
            found.append(f"about {self.of.whole('stated_rows', 0):,} records")
        return tuple(found)

    def asked(self) -> str:
        """What was asked, in words."""
        column = f" of the column {self.of.word('column')}" if "column" in self.of else ""
        groups = f", for each group by {listed(self.by)}" if self.by else ""
        return f"{self._what()}{column}{groups}"

    def _what(self) -> str:
        name, of = self.statistic, self.of
        if name in ("quantile", "quantiles"):
            names = [rank_in_words(q) for q in of.ranks("q")[:_MOST_RANKS]]
            return f"the {listed(names)}" + (" and more" if len(of.ranks("q")) > _MOST_RANKS else "")
        if name.startswith("vector_") and "dimensions" in of:
            return f"the {name.removeprefix('vector_')} of rows of {of.whole('dimensions'):,} numbers"
        plain = {"bounds": "the minimum and the maximum", "count": "the number of records"}
        return plain.get(name, f"the {name}")

    def spending(self) -> Spending:
        """What one row may cost, without the choice of keys."""
        total = self.loss.rho if self.kind == "rho" else self.loss.epsilon
        if "keys" in self.split:
            total = sum(part for name, part in self.split.items() if name != "keys")
        return Spending(rational(total, "spending"), self.kind == "rho").each(self.rows_per_unit or 1)

    def made(self) -> Made | None:
        """How it was made, if its error can be forecast: not with candidates of one's own, nor for the baselines."""
        of, name = self.of, self.statistic
        if name not in RANKED + CLIPPED or not self._usual():
            return None
        spending = self.spending()
        if not _LEAST <= spending.amount <= _MOST:
            return None
        ranks = tuple(sorted(set(of.ranks("q")))) if name in ("quantile", "quantiles") else ()
        if len(ranks) > _MOST_RANKS:
            return None
        options: dict[str, Any] = {fact: of.text(fact) for fact in ("lower", "upper", "resolution") if fact in of}
        if name in RANKED and name != "quantiles" and not self.by:
            options |= {way: of.text(way) for way in ("method", "noise") if way in of}
            options |= {"rows": of.whole("stated_rows", 0)} if "stated_rows" in of else {}
            bits = of.whole("bits", 0)
            options |= {} if bits == DEFAULT_BITS else {"beta": 1 + Fraction(1, 2**bits)}
        near, at = self._near(ranks)
        return Made(name, ranks, spending, self.loss.neighbors, options, near, at)

    def _usual(self) -> bool:
        of = self.of
        if "ladder" not in of or of.text("ladder") not in ("float-bits", "grid") or "bits" not in of:
            return False
        usual = "floor" not in of or of.found["floor"] == _DEFAULT_FLOOR
        return usual and of.whole("bits", 0) <= 30 and COMPARISON not in str(of.found.get("noise"))

    def _near(self, ranks: tuple[Fraction, ...]) -> tuple[float, Fraction]:
        """The size of one value that was released, and its rank."""
        if self.statistic in CLIPPED and "clip" in self.of:
            return max(map(abs, self.of.floats("clip"))), Fraction(1)
        if self.by or not self.values:
            middle = sorted(self.values)[len(self.values) // 2] if self.values else 0
            return abs(finite_float(Fraction(middle))), ranks[0] if ranks else _PLACES[self.statistic]
        if not ranks:
            return abs(finite_float(Fraction(self.values[-1]))), _PLACES[self.statistic]
        at = min(self.of.ranks("q"), key=lambda q: abs(2 * q - 1))
        value = dict(zip(self.of.ranks("q"), self.values, strict=True))[at]
        return abs(finite_float(Fraction(value))), at


def rank_in_words(q: Fraction) -> str:
    """A rank as people say it."""
    return "median" if 2 * q == 1 else f"{100 * float(q):.10g} % quantile"


def _plain(of: ReleaseFields, name: str) -> str:
    return figure(finite_float(rational(of.found[name], f"{of.place}{name}")))
