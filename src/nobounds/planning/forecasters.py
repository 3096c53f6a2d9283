"""The errors to expect of a statistic: its public function is drawn on data sets with fixed seeds, without a budget.

Nothing is worked out here that the function does not do itself. A count alone has a law: that of its noise.
"""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from nobounds.accounting.spending import Spending
from nobounds.arrays import Floats
from nobounds.clipping.interval import CHANCE
from nobounds.counting.scan import InOrder
from nobounds.engines.column import Column
from nobounds.ladders.facts import Facts
from nobounds.noise.additive import Additive
from nobounds.planning.counts.laws import mean_size
from nobounds.planning.errors import Errors
from nobounds.planning.families import Shape
from nobounds.planning.samples import Sample, Sampling
from nobounds.statistics.agg import FUNCTIONS
from nobounds.values import dataclass

Statistic: TypeAlias = Literal[
    "quantile",
    "median",
    "quantiles",
    "maximum",
    "minimum",
    "bounds",
    "sum",
    "mean",
    "count",
    "std",
    "variance",
    "iqr",
    "proportion",
    "ratio",
    "weighted_mean",
    "covariance",
    "correlation",
    "histogram",
    "cdf",
    "value_counts",
    "top_k",
    "count_distinct",
]
Drawn: TypeAlias = list[tuple[Sample, tuple[float | None, ...]]]  # data sets, and the answers on each
RANKED = ("quantile", "median", "quantiles", "maximum", "minimum", "bounds")
PAIRED = ("ratio", "weighted_mean", "covariance", "correlation")
WITH_INTERVAL = ("quantile", "median", "maximum", "minimum", "bounds")  # that costs the number a part of epsilon
BY_GROUP = ("quantile", "median", "maximum", "minimum", "sum", "mean")  # groups answer all of them at once
RANKS: dict[str, tuple[Fraction, ...]] = {
    "median": (Fraction(1, 2),),
    "maximum": (Fraction(1),),
    "minimum": (Fraction(0),),
    "bounds": (Fraction(0), Fraction(1)),
}
DRAWS = 192  # of a statistic: mean errors are good to about an eighth
TINY = 1e-300  # the error of a useless answer if all records are 0
FAR = 1e290  # no error is larger: their sums are floats
_KEPT = 256  # data sets that are kept for the next epsilon
_PAIRED, _GROUPED = 1 << 17, 1 << 16  # records that are made one by one, of two columns and of all groups


def check_statistic(statistic: object) -> Statistic:
    """The name of the statistic, checked."""
    if not isinstance(statistic, str) or statistic not in get_args(Statistic):
        names = ", ".join(get_args(Statistic))
        raise ValueError(f"statistic must be one of {names}, got statistic={statistic!r}")
    return statistic  # type: ignore[return-value]


@dataclass(frozen=True, slots=True, eq=False)
class Forecaster:
    """A statistic of n records of a shape, and the keywords of its function."""

    statistic: Statistic
    qs: tuple[Fraction, ...]
    sampling: Sampling
    options: dict[str, Any]  # lower, upper, resolution, neighbors and interval
    fresh: Callable[[int], Sample]
    groups: int = 1  # each of them with n records

    @classmethod
    def of(
        cls,
        statistic: Statistic,
        qs: tuple[Fraction, ...],
        n: int,
        shape: Shape,
        options: dict[str, Any],
        groups: int = 1,
    ) -> "Forecaster":
        """The forecaster, with its data sets around the ranks that matter."""
        qs = RANKS.get(statistic, qs)
        sampling = Sampling(shape, n, tuple(map(float, qs)) if statistic in RANKED else (0.0, 1.0))
        return cls(statistic, qs, sampling, options, lru_cache(maxsize=_KEPT)(sampling.fresh), groups)

    @property
    def facts(self) -> Facts:
        """The public facts of data of this shape."""
        return self.sampling.shape.facts

    def typical(self) -> tuple[float, ...]:
        """The true values where every record lies at its expected place."""
        return self.truths(self.sampling.typical())

    def truths(self, sample: Sample) -> tuple[float, ...]:
        """The true values of a data set."""
        if self.statistic in RANKED:
            return tuple(sample.quantile(float(q)) for q in self.qs)
        return (TRUTHS[self.statistic](sample),)

    def useless(self, typical: Sample) -> float:
        """The error of a useless answer: in the mean no error counts for more, and what is not answered for as much."""
        if self.statistic in RANKED:
            return max(float(max(typical.values[-1], 0.0) - min(typical.values[0], 0.0)), TINY)
        if self.statistic in ("sum", "mean"):
            total = float(np.abs(typical.values) @ typical.counts)
            return max(total if self.statistic == "sum" else total / typical.total, TINY)
        return max(abs(self.truths(typical)[0]), TINY)

    def errors(self, spending: Spending, draws: int = DRAWS) -> Errors:
        """The expected errors for an epsilon or a rho, over this number of draws."""
        if self.statistic == "count":
            return self._of_counts(spending.plan(Additive))
        cap, n = self.useless(self.sampling.typical()), self.sampling.n
        ranks, errors = [], []
        for sample, values in self._drawn(spending, draws):
            for q, truth, value in zip(self.qs or (None,), self.truths(sample), values, strict=True):
                errors.append(cap if value is None else min(abs(value - truth), FAR))
                if q is not None:
                    worst = n * float(max(q, 1 - q))
                    ranks.append(worst if value is None else sample.rank_errors(np.array([value]), float(q))[0])
        mean = float(np.mean(np.minimum(errors, cap)))
        rank = float(np.mean(ranks)) if ranks else None
        return Errors(rank, mean, *(float(np.quantile(errors, chance)) for chance in (0.5, 0.95)))

    def _of_counts(self, noise: Additive) -> Errors:
        """The errors of a private count, by the law of its noise; no error is larger than the number of records."""
        if self.options["neighbors"] == "swap" and not self.facts.nullable:
            return Errors(None, 0.0, 0.0, 0.0)
        points = (noise.half_steps(noise.scale(1), 0.0, chance) for chance in (0.5, CHANCE))
        return Errors(None, *(min(error, float(self.sampling.n)) for error in (mean_size(noise), *points)))

    def _drawn(self, spending: Spending, draws: int) -> Drawn:
        """Data sets, and a private answer on each; None where it is not answered."""
        how = {"rho" if spending.zcdp else "epsilon": spending.amount}
        if self.statistic not in (*PAIRED, "proportion"):  # columns that are made up have other bounds
            facts = ("lower", "upper", "resolution")
            how |= {name: self.options[name] for name in facts if self.options.get(name) is not None}
        if self.groups > 1 and self.statistic in BY_GROUP and self.sampling.n <= _GROUPED:
            return self._of_groups(how, draws)
        how["neighbors"] = self.options["neighbors"]
        if self.statistic in WITH_INTERVAL and "interval" in self.options:
            how["interval"] = self.options["interval"]
        drawn: Drawn = []
        for number in range(draws):
            sample = self.fresh(number)
            release = FUNCTIONS[self.statistic](*self._columns(sample), *self._ranks, **how, rng=random.Random(number))
            several = len(self.qs) > 1 or self.statistic == "quantiles"
            values = release.value if several else (release.value,)
            drawn.append((sample, (None,) * len(self.qs) if values is None else tuple(map(_plain, values))))
        return drawn

    @property
    def _ranks(self) -> tuple[Fraction, ...]:
        """The ranks that the function takes."""
        return self.qs if self.statistic in ("quantile", "quantiles") else ()

    def _columns(self, sample: Sample) -> tuple[Column, ...]:
        """The records of a data set, as the function takes them."""
        if self.statistic in PAIRED:
            both = pair(sample, weights=self.statistic == "weighted_mean")
            return tuple(_column(values, np.ones(len(values), dtype=np.int64), self.facts) for values in both)
        if self.statistic == "proportion":
            above = (sample.values > sample.quantile(0.5)).astype(np.float64)
            return (_column(above, sample.counts, replace(self.facts, declared=False)),)
        chunks = InOrder([(sample.values, sample.counts)])
        return (Column(self.facts, lambda: chunks, lambda: sample.total),)

    def _of_groups(self, how: dict[str, Any], draws: int) -> Drawn:
        """The groups of tables, and the answer of each group."""
        from nobounds.tables.table import Table

        drawn: Drawn = []
        n = self.sampling.n
        many = min(self.groups, _GROUPED // n)
        groups = np.repeat(np.arange(many), n)
        for number in range(max(draws // many, 4)):
            values = self.sampling.shape.at(np.random.default_rng([n, number]).random(many * n))
            table = Table({"x": values.astype(np.int64) if self.facts.integral else values, "g": groups})
            grouped = table.group_by("g", keys=list(range(many)))
            release = getattr(grouped, self.statistic)("x", *self._ranks, **how, rng=random.Random(number))
            for own, value in zip(np.sort(values.reshape(many, n)), np.ma.asarray(release.values), strict=True):
                answer = None if value is np.ma.masked else float(value)
                drawn.append((Sample(own, np.ones(n, dtype=np.int64)), (answer,)))
        return drawn


def _plain(value: Any) -> float | None:
    return None if value is None else float(value)


def _column(values: Floats, counts: Any, facts: Facts) -> Column:
    """A column of records in any order."""
    single = len(values) == counts.sum()
    return Column(facts, lambda: [values if single else (values, counts)], lambda: int(counts.sum()))


def pair(sample: Sample, weights: bool = False) -> tuple[Floats, Floats]:
    """Two columns of records, in an order that has nothing to do with their values.

    The second one is the sum of the first and an independent one, so that their correlation is about 0.7; weights are
    the magnitudes of an independent one.
    """
    if sample.total > _PAIRED:
        raise ValueError(f"forecasts for two columns are for up to {_PAIRED:,} records; give a smaller n")
    rng, values = np.random.default_rng(sample.total), np.repeat(sample.values, sample.counts)
    x, other = rng.permutation(values), rng.permutation(values)
    return x, np.abs(other) if weights else x + other


def _sum(sample: Sample) -> float:
    return float(sample.values @ sample.counts)


def _mean(sample: Sample) -> float:
    return _sum(sample) / sample.total


def _variance(sample: Sample) -> float:
    return float((sample.values - _mean(sample)) ** 2 @ sample.counts) / sample.total


def _share(sample: Sample) -> float:
    return float((sample.values > sample.quantile(0.5)) @ sample.counts) / sample.total


def _covariance(sample: Sample) -> float:
    x, y = pair(sample)
    return float(np.mean((x - x.mean()) * (y - y.mean())))


def _correlation(sample: Sample) -> float:
    x, y = pair(sample)
    spread = float(x.std() * y.std())
    return _covariance(sample) / spread if spread else 0.0


def _quotient(sample: Sample) -> float:
    x, y = pair(sample)
    return float(x.sum() / y.sum()) if y.sum() else 0.0


def _average(sample: Sample) -> float:
    x, weights = pair(sample, weights=True)
    return float(np.average(x, weights=weights)) if weights.sum() else 0.0


TRUTHS: dict[str, Callable[[Sample], float]] = {
    "count": lambda sample: float(sample.total),
    "sum": _sum,
    "mean": _mean,
    "variance": _variance,
    "std": lambda sample: math.sqrt(_variance(sample)),
    "iqr": lambda sample: sample.quantile(0.75) - sample.quantile(0.25),
    "proportion": _share,
    "ratio": _quotient,
    "weighted_mean": _average,
    "covariance": _covariance,
    "correlation": _correlation,
}
