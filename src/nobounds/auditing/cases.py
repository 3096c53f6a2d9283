"""A case of the audit: a mechanism, its claims, and the worst loss of its exact laws over neighbouring data.

A claim is "tight" if it must be reached to 2%: a mechanism that claims more wastes accuracy. It is a "bound" if it
must only not be exceeded: it adds up parts that no small data set has at their worst together. A claim that was
"sampled" can be refuted by runs, but never proved.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from nobounds.accounting.cost import Cost
from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats
from nobounds.auditing.audit import Data, Finding, all_data, audit, neighbors_of
from nobounds.values import dataclass

Measure: TypeAlias = Literal["epsilon", "range", "rho", "delta"]
Kind: TypeAlias = Literal["tight", "bound", "sampled"]
Verdict: TypeAlias = Literal["holds", "loose", "not refuted", "EXCEEDED"]

NEAR = 0.98  # the least ratio of a tight claim
SLACK = 1e-9  # the error of laws in double precision


class Worst(NamedTuple):
    """The largest observed value of one measure, with its pair of neighbours and their setting."""

    measure: Measure
    value: float
    pair: tuple[Any, Any]
    at: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A mechanism in one setting: functions that compute its claims and its losses."""

    mechanism: str
    setting: str
    noise: str
    neighbors: Neighbors
    unit: str
    claims: Callable[[], Mapping[Measure, float]]
    look: Callable[[], Iterable[Worst]]
    tight: tuple[Measure, ...] = ("epsilon", "range")
    quick: bool = False  # whether it is in the quick table
    brief: Callable[[], Iterable[Worst]] | None = None  # a shorter look, for that table

    def rows(self) -> list["ClaimRow"]:
        """Run the audit: a row for each claim."""
        claims, worst = self.claims(), most(self.look())
        for measure in claims:
            if measure not in worst or not worst[measure].value >= 0:  # also false for NaN
                raise ArithmeticError(f"the audit of {self.mechanism} ({self.setting}) saw no {measure}")
        return [
            ClaimRow(
                self.mechanism,
                self.setting,
                self.noise,
                neighbors=self.neighbors,
                unit=self.unit,
                measure=measure,
                claimed=float(claimed),
                observed=worst[measure].value,
                kind="tight" if measure in self.tight else "bound",
                x=shown(worst[measure].pair[0]),
                y=shown(worst[measure].pair[1]),
                at=worst[measure].at,
            )
            for measure, claimed in claims.items()
        ]


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim, the worst observed value, and the neighbours that have it."""

    mechanism: str
    setting: str
    noise: str
    neighbors: str
    unit: str
    measure: Measure
    claimed: float
    observed: float
    kind: Kind
    x: str
    y: str
    at: str

    @property
    def ratio(self) -> float:
        """Observed over claimed."""
        return self.observed / self.claimed if self.claimed else (1.0 if self.observed == 0 else float("inf"))

    @property
    def verdict(self) -> Verdict:
        """Whether the claim holds; "loose" if it is tight but not reached."""
        if not self.observed <= self.claimed * (1 + SLACK) + SLACK * (self.measure != "delta"):
            return "EXCEEDED"
        if self.kind == "sampled":
            return "not refuted"
        return "loose" if self.kind == "tight" and self.ratio < NEAR else "holds"


def most(seen: Iterable[Worst]) -> dict[Measure, Worst]:
    """The largest value of each measure."""
    largest: dict[Measure, Worst] = {}
    for one in seen:
        if one.measure not in largest or one.value > largest[one.measure].value:
            largest[one.measure] = one
    return largest


def pure_claims(cost: Cost) -> dict[Measure, float]:
    """The claims of a pure mechanism."""
    return {"epsilon": float(cost.epsilon), "range": float(cost.eta)}


def audited(
    log_law: Callable[[Data], Floats],
    spots: Sequence[Any],
    most: int,
    neighbors: Neighbors,
    at: str = "",
    least: int | None = None,
) -> Iterator[Worst]:
    """The pure loss and the range over all neighbouring data sets; under swap both have at least one record."""
    fewest = (1 if neighbors == "swap" else 0) if least is None else least
    return as_worst(audit(log_law, spots, most, neighbors, fewest), at)


def as_worst(finding: Finding, at: str = "") -> Iterator[Worst]:
    """The result of the exact auditor, by measure."""
    yield Worst("epsilon", finding.epsilon, finding.epsilon_pair, at)
    yield Worst("range", finding.eta, finding.eta_pair, at)


def neighbouring(
    spots: Sequence[Any], most: int, neighbors: Neighbors, least: int | None = None
) -> Iterator[tuple[Data, Data]]:
    """All pairs of neighbouring data sets on these spots, each once."""
    fewest = (1 if neighbors == "swap" else 0) if least is None else least
    done: set[Data] = set()
    for data in all_data(spots, most, fewest):
        if neighbors == "swap":
            done.add(data)
        for other in neighbors_of(data, spots, neighbors):
            if len(other) >= fewest and other not in done:
                yield data, other


def shown(data: object) -> str:
    """A data set in readable form; consecutive equal records are shown as one."""
    if not isinstance(data, tuple):
        return str(data)
    parts: list[tuple[str, int]] = []
    for record in data:
        text = "missing" if record is None or record != record else _record(record)
        parts = [*parts[:-1], (text, parts[-1][1] + 1)] if parts and parts[-1][0] == text else [*parts, (text, 1)]
    return "{" + ", ".join(text if n == 1 else f"{n} x {text}" for text, n in parts) + "}"


def _record(record: object) -> str:
    if isinstance(record, tuple):
        return shown(record)
    return f"{record:g}" if isinstance(record, float) else str(record)
