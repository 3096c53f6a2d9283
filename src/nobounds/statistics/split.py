"""How one epsilon, or one rho, is split among several statistics of several columns.

The sizes of the columns come first, each of them once. What is left is split by what each statistic needs at these
sizes: a function of public facts and of noisy sizes that were paid for.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from statistics import median as middle
from typing import Any

from nobounds.accounting.cost import gaussian, pure
from nobounds.accounting.loss import PrivacyLoss, Unit
from nobounds.accounting.terms import Terms
from nobounds.ask import Ask
from nobounds.exact import round_up, rounded_up
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.noise.additive import reach
from nobounds.ranks.answerable import needed_nats
from nobounds.ranks.many.halving import levels
from nobounds.ranks.options import Options
from nobounds.ranks.plan import problem_of
from nobounds.ranks.problem import check_rank, check_ranks
from nobounds.release.release import Release
from nobounds.release.shares import SIZE_SHARE, shared
from nobounds.release.words import TOO_FEW, TOO_FEW_NUMBERS
from nobounds.values import dataclass

Name = str | None  # of a column; None stands for the rows

ACCURATE = 200  # several quantiles need a size that is right to this part of it
CAREFUL = 2  # scales of its noise that a size is lowered by
NEAR = 3  # scales of its noise that a size may lie from that of the table, to be taken as it

RANKS: dict[str, Callable[[Ask], tuple[Fraction, ...]]] = {
    "median": lambda ask: (Fraction(1, 2),),
    "quantile": lambda ask: (check_rank(ask.q[0]),),
    "quantiles": lambda ask: check_ranks(ask.q),
    "minimum": lambda ask: (Fraction(0),),
    "maximum": lambda ask: (Fraction(1),),
    "bounds": lambda ask: (Fraction(0), Fraction(1)),
    "iqr": lambda ask: (Fraction(1, 4), Fraction(3, 4)),
}
# Records times epsilon that other statistics need where the size is known, under add-remove and under swap: at these
# they are answered in about 95% of runs on normal, lognormal and uniform data.
NATS = {
    "mean": (220, 440),
    "sum": (220, 440),
    "std": (1000, 1300),
    "variance": (1000, 1300),
    "proportion": (10, 10),
    "ratio": (900, 1000),
    "weighted_mean": (900, 1000),
    "covariance": (900, 1000),
    "correlation": (2500, 2500),
}


def column_of(ask: Ask) -> Name:
    """The column whose size a statistic goes by."""
    return ask.columns[0] if ask.columns else None


@dataclass(frozen=True, slots=True)
class AggPlan:
    """What the size of each column gets, and what is left for the statistics; all of it public."""

    asks: tuple[Ask, ...]
    facts: Mapping[Name, Facts]
    terms: Terms
    counted: Mapping[Name, Fraction]
    left: Fraction

    @classmethod
    def of(cls, asks: tuple[Ask, ...], facts: Mapping[Name, Facts], terms: Terms) -> "AggPlan":
        """The plan: a count that is requested gets as much as any other statistic, other sizes get little."""
        amount, swap = terms.spending.amount, terms.neighbors == "swap"
        free = {name for name, known in facts.items() if swap and not known.nullable}  # their sizes are public
        wanted = {column_of(ask) for ask in asks if ask.statistic == "count"} - free
        others = set(facts) - free - wanted
        rest = sum(ask.statistic != "count" for ask in asks)
        counted = dict.fromkeys(wanted, amount / max(1, len(wanted) + rest))  # both 0 where every size is public
        left = amount - sum(counted.values(), Fraction(0))
        if rest and others:
            counted |= dict.fromkeys(others, SIZE_SHARE * left / len(others))
            left -= SIZE_SHARE * left
        # A public size costs nothing, whatever it may.
        return cls(asks, facts, terms, {name: counted.get(name, amount) for name in facts}, left)

    def loss(self) -> PrivacyLoss:
        """What all answers cost together, whatever the sizes are: nothing, where all are public numbers of records."""
        bought = self.left < self.terms.spending.amount or any(ask.statistic != "count" for ask in self.asks)
        amount = self.terms.spending.amount if bought else Fraction(0)
        cost = gaussian(amount) if self.terms.spending.zcdp else pure(amount)
        return PrivacyLoss.of(cost, self.terms.neighbors, self.unit.name)

    @property
    def unit(self) -> Unit:
        """Whom privacy is for."""
        return next(iter(self.facts.values())).unit

    def keywords(self, amount: Fraction) -> dict[str, Any]:
        """The keywords of a statistic that may spend this amount."""
        return {"rho" if self.terms.spending.zcdp else "epsilon": amount, "neighbors": self.terms.neighbors}

    def split(self, sizes: Mapping[Name, Release]) -> "Split":
        """The split for noisy sizes."""
        careful = _careful(sizes)
        return Split(self, tuple(self.split_at(careful)), sizes, careful)

    def split_at(self, sizes: Mapping[Name, int]) -> list[Fraction]:
        """What each statistic gets at these sizes; 0 for counts, and for what is not answered."""
        return shared(self.left, [self.need(ask, sizes) for ask in self.asks])

    def need(self, ask: Ask, sizes: Mapping[Name, int]) -> Fraction | None:
        """What a statistic needs of the spending; None for counts, and if there seem to be no records."""
        size = min(sizes[name] for name in ask.columns or (None,))
        if ask.statistic == "count" or size <= 0:
            return None
        nats, ranked = self._nats(ask)
        epsilon = self.unit.rows * nats / size
        return epsilon**2 / (8 if ranked else 2) if self.terms.spending.zcdp else epsilon

    def _nats(self, ask: Ask) -> tuple[Fraction, bool]:
        """Records times epsilon that a statistic needs; and whether it is one of ranks, which cost less rho."""
        if ask.statistic in ("mean", "sum") and self._bounded(ask):
            return Fraction(0), False
        if ask.statistic in NATS:
            return Fraction(NATS[ask.statistic][self.terms.neighbors == "swap"]), False
        ranks = tuple(sorted(set(RANKS[ask.statistic](ask))))
        problem = problem_of(self.facts[column_of(ask)], self.terms, Options.of(dict(ask.options)), ranks)
        times = levels(ranks) if ask.statistic in ("quantiles", "iqr") else 1
        return times * max(needed_nats(problem, q) for q in ranks), True

    def _bounded(self, ask: Ask) -> bool:
        """Whether the records lie within stated bounds, so that no clip is searched for."""
        stated = Stated.of(**{name: dict(ask.options).get(name) for name in ("lower", "upper", "resolution")})
        return stated.ladder(self.facts[column_of(ask)]).is_settled


@dataclass(frozen=True, slots=True)
class Split:
    """What each statistic gets for noisy sizes, and the sizes that it goes by; all of it already noised."""

    plan: AggPlan
    parts: tuple[Fraction, ...]  # 0 for counts, which are bought already, and for what is not answered
    sizes: Mapping[Name, Release]
    careful: Mapping[Name, int]

    def size(self, ask: Ask, name: Name) -> int | None:
        """The number of records that a statistic goes by; None if it has to buy one of its own.

        An interval allows for the noise of its size, and some ranks of several quantiles are counted from theirs.
        """
        if "interval" in dict(ask.options) or len(ask.columns) > 1:  # rows with both records may be fewer
            return None
        if ask.statistic not in ("quantiles", "iqr"):
            return self.careful[name]
        noisy, scale = self.sizes[name].value, self.sizes[name].parameters["noise_scale"]
        assert isinstance(noisy, int)
        return noisy if scale * ACCURATE <= noisy else None

    def described(self) -> dict[str, Any]:
        """For the parameters of the answers: how the spending was split."""
        plan = self.plan
        wanted = {column_of(ask): ask.name for ask in plan.asks if ask.statistic == "count"}
        paid = {name: plan.counted[name] for name in plan.facts if self.sizes[name].loss.rho > 0}
        amounts = {"sizes": sum((amount for name, amount in paid.items() if name not in wanted), Fraction(0))}
        for ask, part in zip(plan.asks, self.parts, strict=True):
            amounts[ask.name] = paid.get(column_of(ask), Fraction(0)) if ask.statistic == "count" else part
        split = {name: round_up(amount) for name, amount in amounts.items() if amount}
        rows = {} if plan.unit == Unit() else {"rows_per_unit": plan.unit.rows}
        return {"spending": "rho" if plan.terms.spending.zcdp else "epsilon", "split": split, **rows}

    def few(self, ask: Ask, loss: PrivacyLoss) -> Release:
        """The release of a statistic that gets nothing."""
        facts = self.plan.facts[column_of(ask)]
        parameters: dict[str, Any] = facts.origin()
        ranks = [str(q) for q in RANKS[ask.statistic](ask)] if ask.statistic in RANKS else []
        if ask.statistic in ("quantile", "quantiles"):
            parameters["q"] = ranks if ask.statistic == "quantiles" else ranks[0]
        parameters["needed"] = {"rows": self._rows()}
        several = ask.statistic in ("quantiles", "bounds")
        value = (None,) * len(ranks) if several else None
        return Release(ask.statistic, value, loss, parameters, (), TOO_FEW_NUMBERS if facts.texts else TOO_FEW)

    def _rows(self) -> int:
        """About how many rows all statistics need together."""
        plan, one = self.plan, dict.fromkeys(self.careful, 1)
        whole = sum((plan.need(ask, one) or Fraction(0) for ask in plan.asks), Fraction(0))
        times = float(whole / plan.left) ** (0.5 if plan.terms.spending.zcdp else 1)
        noise = max(release.parameters["noise_scale"] for release in self.sizes.values())
        return math.ceil(rounded_up(max(times + CAREFUL * noise, reach(noise, plan.terms.spending.zcdp))))


def _careful(sizes: Mapping[Name, Release]) -> dict[Name, int]:
    """The numbers of records that statistics go by, for noisy sizes.

    A size that may be noise alone is 0. Few records are missing in most columns. So another one that noise may well
    have moved away from that of the table is taken as it: as the size with the least noise, or where all have the same
    as the median of them.
    """
    scales = {name: float(release.parameters["noise_scale"]) for name, release in sizes.items()}
    counts = {name: int(release.value) for name, release in sizes.items()}
    least = min(scales.values())
    whole = math.floor(middle(counts[name] for name in counts if scales[name] == least))
    careful = dict.fromkeys(counts, 0)
    for name, size in counts.items():
        if size <= reach(scales[name], sizes[name].parameters["noise"] == "gaussian"):
            continue
        near = abs(size - whole) <= NEAR * scales[name]
        careful[name] = max(
            (whole - math.ceil(CAREFUL * least)) if near else size - math.ceil(CAREFUL * scales[name]), 0
        )
    return careful
