"""What a release states about itself, read from its JSON: the request, the answer and the parameters."""

import math
from collections.abc import Callable
from dataclasses import field
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import PrivacyLoss
from nobounds.accounting.spending import Spending
from nobounds.exact import finite_float, printable, rational
from nobounds.explaining.expected import ErrorModel
from nobounds.explaining.reading import ReleaseFields
from nobounds.explaining.words import listed
from nobounds.kinds.kind import Kind
from nobounds.release.digits import said
from nobounds.release.schema import Interval
from nobounds.release.words import OF_CLIPPED, between
from nobounds.values import dataclass

RANKED = ("quantile", "median", "quantiles", "maximum", "minimum", "bounds")
CLIPPED = ("sum", "mean")
SPREADS = ("std", "variance")
PAIRED = ("ratio", "weighted_mean", "covariance", "correlation")  # of two columns
COMPARISON = "floating-point noise, for comparison only"  # the baselines' name for their noise
_PLACES = {"maximum": Fraction(1), "minimum": Fraction(1, 2), "bounds": Fraction(1)}
_LEAST, _MOST = Fraction(1, 10**4), 10**4  # amounts of epsilon or rho with a forecast
_MOST_RANKS = 20  # in one simulation
_BY_OTHER_MEANS = ("ladder", "method", "noise", "beta")  # of experts, of baselines and of versions before


@dataclass(frozen=True, slots=True)
class ReleaseStatement:
    """A release of one statistic, for a column or by groups."""

    statistic: str
    answers: list[int | float | None]  # None where a number is not answered
    loss: PrivacyLoss
    parameters: ReleaseFields
    intervals: list[Interval] = field(default_factory=list)
    by: tuple[str, ...] = ()
    reasons: list[str] = field(default_factory=list)  # why numbers are not answered

    @classmethod
    def read(cls, fields: ReleaseFields) -> "ReleaseStatement":
        """Read a release; for answers by groups, `by` holds the grouping columns."""
        grouped = "by" in fields
        kind = fields.inner("parameters").column_kind().of_answer(fields.word("statistic"))
        answers = fields.answers("values" if grouped else "value", kind)
        reasons = sorted(set(fields.texts("reasons")))
        reasons += [fields.text("reason")] if "reason" in fields else []
        by = tuple(printable(str(name)) for name in fields.items("by")) if grouped else ()
        statement = cls(
            fields.word("statistic"),
            answers,
            fields.loss(),
            fields.inner("parameters"),
            fields.intervals(kind=kind),
            by,
            [printable(why) for why in reasons],
        )
        statement.check()
        return statement

    def check(self) -> None:
        """Refuse JSON that cannot be a release of this statistic."""
        if self.statistic in ("quantile", "quantiles"):
            count = len(self.parameters.ranks("q"))
            if not self.by and count != len(self.answers):
                raise ValueError(f"value must have a number for each q, got {len(self.answers)} for {count}")
        if not self.by and self.statistic == "bounds" and len(self.answers) != 2:
            raise ValueError(f"value must have two numbers for bounds, got {len(self.answers)}")
        if self.statistic in PAIRED and "clips" in self.parameters:
            self.clips()
        if None in self.answers and not self.reasons:
            raise ValueError("reason must say why a value is null")
        if (
            self.statistic in CLIPPED + SPREADS
            and "clip" in self.parameters
            and len(self.parameters.floats("clip")) != 2
        ):
            raise ValueError("parameters.clip must have two ends")

    @property
    def ranks(self) -> list[Fraction]:
        """The requested ranks, if there are any."""
        if self.statistic == "median":
            return [Fraction(1, 2)]
        return self.parameters.ranks("q") if "q" in self.parameters else []

    def clips(self) -> list[list[float]]:
        """The ends of the clips of two columns."""
        clips = self.parameters.items("clips")
        if len(clips) != 2 or not all(isinstance(clip, list) and len(clip) == 2 for clip in clips):
            raise ValueError("parameters.clips must have two ends for each of two columns")
        return [ReleaseFields({"clip": clip}, "parameters.").floats("clip") for clip in clips]

    @property
    def facts_kind(self) -> Kind:
        """The type of bounds and clips: that of the column, where answers are distances between its values."""
        return self.parameters.column_kind("column_type" if "column_type" in self.parameters else "type")

    @property
    def rows_per_unit(self) -> int | None:
        """How many rows of a unit count at most, if stated."""
        return self.parameters.whole("rows_per_unit") if "rows_per_unit" in self.parameters else None

    @property
    def query(self) -> bool:
        """Whether the rows are those of a query's result."""
        return self.parameters.of_query()

    @property
    def values(self) -> list[int | float]:
        """The numbers that are answered."""
        return [value for value in self.answers if value is not None]

    @property
    def column_kind(self) -> Kind:
        """The type of the column."""
        return self.parameters.column_kind()

    def said(self, k: int) -> str:
        """The answer number k for people, in its type."""
        number, kind = self.answers[k], self.column_kind.of_answer(self.statistic)
        bar = [kind.value(end) for end in self.intervals[k]] if k < len(self.intervals) else None
        return "not answered" if number is None else said(kind.value(number), bar, kind)

    def said_number(self, number: int | float) -> str:
        """A number that is no answer for people, in the type of the answers."""
        return said(self.column_kind.of_answer(self.statistic).value(number))

    def between(self, bar: Interval, value: int | float) -> str:
        """The interval of an answer for people."""
        kind = self.column_kind.of_answer(self.statistic)
        return between((kind.value(bar[0]), kind.value(bar[1])), kind, kind.value(value))

    @property
    def interval(self) -> Interval | None:
        """The interval of a single number."""
        return self.intervals[0] if len(self.intervals) == 1 and not self.by else None

    @property
    def interval_of(self) -> str:
        """What the intervals are for: the noise alone, the sample or the population."""
        stated = self.parameters.inner("interval")
        return stated.word("of") if "of" in stated else OF_CLIPPED

    @property
    def interval_level(self) -> float:
        """The level of the intervals."""
        stated = self.parameters.inner("interval")
        level = stated.amount("level") if "level" in stated else 0.95
        if not 0 < level < 1:
            raise ValueError("parameters.interval.level must be greater than 0 and less than 1")
        return level

    @property
    def unbounded(self) -> bool:
        """Whether nothing is known of the error: there were too few records to find bounds, or too much beyond."""
        return self.interval == (-math.inf, math.inf)

    @property
    def kind(self) -> str:
        """Whether an epsilon or a rho was split."""
        if "spending" in self.parameters:
            return self.parameters.kind("spending")
        return "rho" if self.loss.epsilon == math.inf else "epsilon"

    @property
    def split(self) -> dict[str, float]:
        """The parts of the spending, by name."""
        return self.parameters.all_spent("split")

    @property
    def keys(self) -> str | None:
        """Whether the group keys were public or chosen privately."""
        return self.parameters.word("keys") if self.by and "keys" in self.parameters else None

    def _of_type(self, name: str) -> bool:
        """Whether a fact is what the type of the column says anyway."""
        kind = self.facts_kind
        return kind.typed and self._rational(name) == getattr(kind, name)

    def _fact(self, name: str) -> str:
        """A fact for people, in the type of the column."""
        kind, number = self.facts_kind, finite_float(self._rational(name))
        return said(kind.difference(number) if name == "resolution" else kind.value(number))

    def _rational(self, name: str) -> Fraction:
        return rational(self.parameters.mapping[name], f"{self.parameters.place}{name}")

    @property
    def public(self) -> tuple[str, ...]:
        """The public facts that the caller stated."""
        facts = []
        for name, words in (("lower", "a lower bound of"), ("upper", "an upper bound of")):
            if name in self.parameters and not self._of_type(name):
                facts.append(f"{words} {self._fact(name)}")
        if "resolution" in self.parameters and not self._of_type("resolution"):
            facts.append(f"a grid of {self._fact('resolution')}")
        if "stated_rows" in self.parameters:
            facts.append(f"about {self.parameters.whole('stated_rows', 0):,} records")
        return tuple(facts)

    def request(self) -> str:
        """The request, in words."""
        if self.by and self.statistic in _OF_VALUES:
            return _OF_VALUES[self.statistic](self)
        named = self.statistic not in ("rows_left_out", "contributions", "proportion")
        column = self.column_in_words() if named else ""
        groups = f", for each group by {listed(self.by)}" if self.by else ""
        return f"{self._subject()}{column}{groups}"

    def column_in_words(self) -> str:
        """The column, if it has a name."""
        which = "columns" if self.statistic in PAIRED else "column"
        return f" of the {which} {self.parameters.word('column')}" if "column" in self.parameters else ""

    def _subject(self) -> str:
        name, parameters = self.statistic, self.parameters
        if name in ("quantile", "quantiles"):
            names = [rank_in_words(q) for q in parameters.ranks("q")[:_MOST_RANKS]]
            return f"the {listed(names)}" + (" and more" if len(parameters.ranks("q")) > _MOST_RANKS else "")
        if name.startswith("vector_") and "dimensions" in parameters:
            return f"the {name.removeprefix('vector_')} of rows of {parameters.whole('dimensions'):,} numbers"
        if name == "rows_left_out" and "kept_rows" in parameters:
            most = parameters.whole("kept_rows")
            return f"the share of rows that are left out where at most {most:,} of each unit count"
        if name == "proportion" and "column" in parameters:
            return f"the share of rows for which {parameters.word('column')} is true"
        plain = {
            "bounds": "the minimum and the maximum",
            "count": "the number of records",
            "contributions": "the number of rows, and of groups, that are best used of each unit",
            "count_distinct": "the number of distinct values",
            "std": "the standard deviation",
            "iqr": "the interquartile range",
            "ratio": "the ratio of the sums",
            "weighted_mean": "the weighted mean",
            "proportion": "the share of records that are true",
        }
        return plain.get(name, f"the {name}")

    def spending(self) -> Spending:
        """What one row may cost, without the selection of keys."""
        total = self.loss.rho if self.kind == "rho" else self.loss.epsilon
        if "keys" in self.split:
            total = sum(part for name, part in self.split.items() if name != "keys")
        return Spending(rational(total, "spending"), self.kind == "rho").each(self.rows_per_unit or 1)

    def error_model(self) -> ErrorModel | None:
        """The error model of quantiles and extremes, or None if there is no forecast: by groups, or by other means."""
        parameters, name = self.parameters, self.statistic
        if name not in RANKED or self.by or any(each in parameters for each in _BY_OTHER_MEANS):
            return None
        spending, ranks = self.spending(), tuple(sorted(set(self.ranks)))
        if not _LEAST <= spending.amount <= _MOST or len(ranks) > _MOST_RANKS:
            return None
        options: dict[str, Any] = {
            fact: parameters.text(fact) for fact in ("lower", "upper", "resolution") if fact in parameters
        }
        options["interval"] = Fraction(str(self.interval_level)) if "interval" in parameters else None
        near, at = self._near(ranks)
        return ErrorModel(name, ranks, spending, self.loss.neighbors, options, near, at)  # type: ignore[arg-type]

    def _near(self, ranks: tuple[Fraction, ...]) -> tuple[float, Fraction]:
        """The magnitude of one released value, and its rank."""
        if not self.values:
            return 0.0, ranks[0] if ranks else _PLACES[self.statistic]
        if not ranks:
            return abs(finite_float(Fraction(self.values[-1]))), _PLACES[self.statistic]
        at = min(self.ranks, key=lambda q: abs(2 * q - 1))
        value = dict(zip(self.ranks, self.answers, strict=True))[at]
        return abs(finite_float(Fraction(self.values[0] if value is None else value))), at


def _valued(said: ReleaseStatement) -> str:
    """The column whose values are counted, and the columns of their groups if there are any."""
    *groups, column = said.by
    return f"{listed([column])} in each group by {listed(groups)}" if groups else listed([column])


_OF_VALUES: dict[str, Callable[[ReleaseStatement], str]] = {
    "value_counts": lambda said: f"the number of rows with each value of the column {_valued(said)}",
    "top_k": lambda said: (
        f"the {said.parameters.whole('k'):,} most frequent values of the column {_valued(said)}, "
        "and the number of rows with each"
    ),
    "histogram": lambda said: f"the number of records{said.column_in_words()} in each bin",
    "cdf": lambda said: f"the share of the records{said.column_in_words()} up to each point",
}


def rank_in_words(q: Fraction) -> str:
    """A rank in everyday words."""
    return "median" if 2 * q == 1 else f"{100 * float(q):.10g}% quantile"
