"""The data product of a registry entry: what was released, for whom it is private, and what all of it cost."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import printable
from nobounds.explaining.reading import ReleaseFields
from nobounds.explaining.statements import COMPARISON, ReleaseStatement
from nobounds.explaining.words import listed
from nobounds.values import dataclass

_SHOWN = 12  # columns of a description
_TOLERANCE = 1e-12  # relative, between a loss in a release and the same loss in a charge


@dataclass(frozen=True, slots=True)
class Released:
    """One release, or several answers that were requested together."""

    requests: tuple[str, ...]
    statistics: tuple[str, ...]
    loss: PrivacyLoss
    parameters: ReleaseFields
    public: tuple[str, ...] = ()  # facts that the caller stated
    keys: str | None = None

    @property
    def view(self) -> str:
        """Which rows count, and how computed columns were made."""
        return self.parameters.view()

    def limit(self, name: str) -> int | None:
        """How many rows, groups or values of a unit count at most, if stated."""
        return self.parameters.whole(name) if name in self.parameters else None


@dataclass(frozen=True, slots=True)
class Product:
    """All releases of a deployment, and the budget that they were charged to."""

    releases: tuple[Released, ...]
    budget: ReleaseFields | None

    @classmethod
    def read(cls, contents: Sequence[Mapping[str, Any]]) -> "Product":
        """Read the JSON of releases and of at most one budget; releases that are not private are refused."""
        fields = [ReleaseFields(content) for content in contents]
        budgets = [each for each in fields if "charges" in each.mapping and "remaining" in each.mapping]
        if len(budgets) > 1:
            raise ValueError(f"a registry entry is about one budget, got {len(budgets)}")
        releases = tuple(one for each in fields if each not in budgets for one in _released(each))
        if not releases:
            raise ValueError("a registry entry needs the JSON of at least one release")
        product = cls(releases, budgets[0] if budgets else None)
        product.check()
        return product

    def check(self) -> None:
        """Refuse releases that do not belong together, and a budget to which one of them was not charged."""
        if len({(each.loss.neighbors, each.loss.unit) for each in self.releases}) > 1:
            raise ValueError("the releases must have the same neighbours and privacy unit to be one entry")
        if self.budget is None:
            return
        charges = [ReleaseFields.of(charge, "charges").loss() for charge in self.budget.items("charges")]
        for number, release in enumerate(self.releases, 1):
            match = next((charge for charge in charges if _same(charge, release.loss)), None)
            if match is None:
                raise ValueError(f"no charge of the budget has the loss of release {number}: it is that of other data")
            charges.remove(match)

    @property
    def loss(self) -> PrivacyLoss:
        """What was spent from the budget, or the sum of the losses."""
        if self.budget is not None:
            return self.budget.loss("spent")
        first, *others = (release.loss for release in self.releases)
        return sum(others, start=first)

    @property
    def variant(self) -> str:
        """The variant of differential privacy, by the registry's name."""
        loss = self.loss
        return "Zero-concentrated DP" if loss.epsilon == math.inf else "Approximate DP" if loss.delta else "Pure DP"

    @property
    def statistics(self) -> tuple[str, ...]:
        """The names of the statistics, each once, in the order of the releases."""
        return tuple(dict.fromkeys(name for release in self.releases for name in release.statistics))

    @property
    def query(self) -> bool:
        """Whether some rows are those of a query's result."""
        return any(release.parameters.of_query() for release in self.releases)


def _same(one: PrivacyLoss, other: PrivacyLoss) -> bool:
    pairs = ((one.epsilon, other.epsilon), (one.rho, other.rho), (one.delta, other.delta))
    whom = (one.neighbors, one.unit) == (other.neighbors, other.unit)
    return whom and all(a == b or math.isclose(a, b, rel_tol=_TOLERANCE) for a, b in pairs)


def _released(fields: ReleaseFields) -> Iterator[Released]:
    """The releases in a JSON object; a list of them is that of the command line."""
    if "releases" in fields:
        for each in fields.items("releases"):
            yield from _released(ReleaseFields.of(each, "releases"))
        return
    kind, parameters = fields.mapping.get("kind"), fields.inner("parameters")
    if COMPARISON in str(parameters.mapping.get("noise")):
        raise ValueError("this release was made by a previous method for comparison, and is not for publication")
    if kind == "description":
        names = [printable(name) for name in fields.inner("columns").mapping]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        request = f"a summary of the column{'s' * (len(names) != 1)} {listed(names[:_SHOWN])}{more}"
        yield Released((request,), ("describe",), fields.loss(), parameters)
    elif kind == "answers":
        inner = fields.inner("answers")
        read = [ReleaseStatement.read(inner.inner(name)) for name in inner.mapping]
        public = tuple(dict.fromkeys(fact for each in read for fact in _public(each)))
        keys = next((each.keys for each in read if each.keys), None)
        requests = tuple(each.request() for each in read)
        yield Released(requests, tuple(each.statistic for each in read), fields.loss(), parameters, public, keys)
    elif kind in ("release", "groups"):
        one = ReleaseStatement.read(fields)
        yield Released((one.request(),), (one.statistic,), one.loss, one.parameters, _public(one), one.keys)
    else:
        raise ValueError("a registry entry is written from releases, descriptions, answers and one budget")


def _public(statement: ReleaseStatement) -> tuple[str, ...]:
    """The facts that the caller stated, candidates included."""
    parameters = statement.parameters
    named = "ladder" in parameters and parameters.text("ladder") not in ("float-bits", "grid")
    return (*statement.public, *(["candidates of the asker"] if named else []))
