"""The audit driver: two runs of one call in lockstep, on neighbouring data, with the same outcome of every decision.

Both runs stop at each decision of their programs. They must have come to the same decision with the same public facts;
one outcome is chosen for both, and the log-ratio of its probabilities is what the decision tells. What follows depends
on outcomes alone, or so the library claims: in the end both releases must be the same to the last character. All that
outcomes tell must be no more than was charged. No decision may come before the charge or tell more than its own cost,
and these costs must be the same in both runs and add up to no more than the charge. A branch or a parameter that
depends on a record tells the runs apart, and so does any error after the charge, even if both runs have it.
"""

import itertools
import math
import random
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from fractions import Fraction
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

import numpy as np

from nobounds.accounting.cost import Cost, pure
from nobounds.accounting.loss import PrivacyLoss
from nobounds.arrays import Floats
from nobounds.auditing.evidence.compare import ORDERS, both_ways
from nobounds.auditing.evidence.counted_keys import CountedKeys
from nobounds.auditing.evidence.keys import ShownKeys
from nobounds.auditing.evidence.kinds import evidence_of
from nobounds.auditing.evidence.numbers import Public, Selection
from nobounds.auditing.evidence.streams import Answered, Stream
from nobounds.mechanisms.decisions import Nested
from nobounds.programs.program import Decision, Driver
from nobounds.values import dataclass

T = TypeVar("T")
Call: TypeAlias = Callable[[Any, Driver, "Purse"], Any]  # of the data, the driver in the place of rng, and the budget

TOLERANCE = 1e-6  # of what is charged: laws are exact to about 1e-10


class Apart(AssertionError):
    """Two runs on neighbouring data differ in more than the chances of what they decided."""


class Stopped(BaseException):
    """A run is to end; no `except Exception` of the library is to catch that."""


class Purse:
    """A budget that remembers what was charged."""

    def __init__(self) -> None:
        self.charged: list[tuple[PrivacyLoss, str]] = []

    def charge(self, loss: PrivacyLoss, what: str) -> None:
        """Remember a charge."""
        self.charged.append((loss, what))


@dataclass(frozen=True, slots=True)
class Step:
    """A decision that a run has come to, and its evidence.

    A decision that is made of others has a price for all of them: `opened` are these prices since the last step, and
    the cost of a decision inside is not `counted`. `paid`: whether anything was charged before.
    """

    decision: Decision[Any]
    evidence: Any
    opened: tuple[Callable[[], Cost], ...]
    counted: bool
    paid: bool

    def costs(self) -> list[Cost]:
        """What is to be paid since the last step."""
        return [cost() for cost in (*self.opened, *((self.decision.cost,) if self.counted else ()))]


@dataclass(frozen=True, slots=True)
class Ended:
    """All that is visible of a run: the release as text, the loss it states, what was charged, and an error."""

    release: Any
    loss: PrivacyLoss | None
    charged: list[tuple[PrivacyLoss, str]]
    error: BaseException | None = None


class Run(Driver):
    """A call in a thread of its own, which waits at each decision until it is given the outcome."""

    def __init__(self, call: Call, data: Any, seed: int, is_first: bool) -> None:
        self._source, self._is_first = random.Random(seed).getrandbits, is_first
        self._opened: tuple[Callable[[], Cost], ...] = ()
        self._inside: list[Cost] | None = None  # costs of the decisions inside one that is made of others
        self._purse = Purse()
        self._reports: SimpleQueue[Step | Ended] = SimpleQueue()
        self._outcomes: SimpleQueue[Any] = SimpleQueue()
        self._thread = threading.Thread(target=self._release, args=(call, data), daemon=True)

    def start(self) -> Step | Ended:
        """Go on to the first decision or to the end."""
        self._thread.start()
        return self._reports.get()

    def go_on(self, outcome: Any) -> Step | Ended:
        """Go on to the next decision or to the end."""
        self._outcomes.put(outcome)
        return self._reports.get()

    def stop(self) -> None:
        """End the run, wherever it waits."""
        self._outcomes.put(Stopped())
        self._thread.join()

    def decide(self, decision: Decision[T]) -> T:
        """The outcome that both runs are given; a decision that is made of others is settled one by one."""
        if hasattr(decision, "settled_by"):
            outcome: T = self._settled(decision)
            return outcome
        evidence, inside = evidence_of(decision, self._source), self._inside
        self._reports.put(Step(decision, evidence, self._opened, inside is None, bool(self._purse.charged)))
        self._opened = ()
        if inside is not None:
            inside.append(decision.cost())
        chosen = self._outcomes.get()
        if isinstance(chosen, Stopped):
            raise chosen
        given: T = evidence.given(chosen, self._is_first) if hasattr(evidence, "given") else chosen
        return given

    def _settled(self, decision: Any) -> Any:
        """The outcome of a decision that is made of others; those of a nested program cost no more than it."""
        outer, self._inside = self._inside, []
        self._opened += (decision.cost,) if outer is None else ()
        outcome = decision.settled_by(self)
        inside, self._inside = self._inside, outer
        if inside and isinstance(decision, Nested):
            whole, price = sum(inside[1:], inside[0]), decision.cost()
            measure = "epsilon" if whole.is_pure and price.is_pure else "rho"
            if getattr(whole, measure) > getattr(price, measure):
                raise Apart(f"a nested program costs {float(getattr(whole, measure))}, and more than its price")
        return outcome

    def _release(self, call: Call, data: Any) -> None:
        purse = self._purse
        try:
            released = call(data, self, purse)
            self._reports.put(Ended(visible(released), getattr(released, "loss", None), purse.charged))
        except Stopped:
            pass
        except BaseException as error:
            self._reports.put(Ended(None, None, purse.charged, error))


def visible(released: Any) -> Any:
    """All of a release as text."""
    if isinstance(released, tuple | list):
        return [visible(part) for part in released]
    if not hasattr(released, "to_json"):
        return repr(released)
    types = [str(array.type) for array in getattr(released, "arrays", ())]
    return [type(released).__name__, released.to_json(), str(released), repr(released), types]


@dataclass(slots=True)
class Transcript:
    """What each decision told, first data set over second; Renyi divergences if they are wanted."""

    divergences: Floats | None
    log_ratios: list[float] = field(default_factory=list)
    revealed: list[tuple[float, float, Cost]] = field(default_factory=list)  # log-ratio, rho and cost of each decision
    costs: list[Cost] = field(default_factory=list)
    keys: list[tuple[Any, Any, Cost]] = field(default_factory=list)
    streams: list[tuple[Stream, Stream, Cost]] = field(default_factory=list)
    bits: set[int] = field(default_factory=set)  # widths of public random bits
    charged: PrivacyLoss | None = None

    @property
    def loss(self) -> PrivacyLoss:
        """What was charged."""
        assert self.charged is not None
        return self.charged

    @property
    def log_ratio(self) -> float:
        """Of all outcomes together, keys excepted."""
        return math.fsum(self.log_ratios)

    def seen(self) -> dict[str, float]:
        """What outcomes tell, by measure. A loss at a delta is compared if keys are chosen."""
        seen, loss = dict[str, float](), self.loss
        if loss.epsilon < math.inf and (self.keys or not loss.delta):
            keys = math.fsum(one.epsilon(other, loss.delta) for one, other, _ in self.keys)
            seen["epsilon"] = abs(self.log_ratio) + keys
        if loss.rho < math.inf and self.divergences is not None:
            seen["rho"] = float((self.divergences / np.array(ORDERS)).max())
        return seen

    def ratios(self) -> dict[str, float]:
        """What outcomes tell over what was charged, by measure."""
        return {measure: over(value, getattr(self.loss, measure)) for measure, value in self.seen().items()}

    def note(self, cost: Cost, log_ratio: float, divergences: Floats | None, goes_on: bool) -> None:
        """One decision more, or (`goes_on`) another of the last run, which has one price."""
        self.log_ratios.append(log_ratio)
        rho = 0.0
        if self.divergences is not None and divergences is not None:
            self.divergences += divergences
            rho = float((divergences / np.array(ORDERS)).max())
        before = self.revealed.pop() if goes_on else (0.0, 0.0, cost)
        self.revealed.append((before[0] + log_ratio, before[1] + rho, before[2]))


def over(seen: float, charged: float) -> float:
    """The ratio; 0 of 0 is fine."""
    return seen / charged if charged else math.inf if seen > TOLERANCE else 0.0


def lockstep(
    call: Call, mine: Any, yours: Any, *, rows: int = 1, worst: bool = False, divergences: bool = True, seed: int = 0
) -> Transcript:
    """The transcript of a call on two data sets, which differ by `rows` rows.

    Outcomes are drawn by the run on `mine`, or (`worst`) they are those that tell the most for `mine` against `yours`.
    """
    transcript = Transcript(np.zeros(len(ORDERS)) if divergences else None)
    runs = Run(call, mine, seed, True), Run(call, yours, seed, False)
    one, other = (run.start() for run in runs)
    try:
        while not (isinstance(one, Ended) and isinstance(other, Ended)):
            outcome = _step(transcript, one, other, worst)
            one, other = (run.go_on(outcome) for run in runs)
    finally:
        for run in runs:
            run.stop()
    _compare(transcript, one, other, rows)
    return transcript


def _step(transcript: Transcript, one: Step | Ended, other: Step | Ended, worst: bool) -> Any:
    """The outcome of the next decision, after what it tells is noted."""
    if isinstance(one, Ended) or isinstance(other, Ended):
        (ended,) = (end for end in (one, other) if isinstance(end, Ended))
        _check_error(ended)
        raise Apart(f"one run ends ({ended.error!r}), and the other decides once more") from ended.error
    mine, yours = one.evidence, other.evidence
    if type(one.decision) is not type(other.decision) or one.decision.public != other.decision.public:
        raise Apart(f"one run decides {one.decision}, and the other {other.decision}")
    if one.costs() != other.costs():
        raise Apart(f"{one.decision} has another cost in the other run")
    if not (one.paid or isinstance(mine, Public)):
        raise Apart(f"{one.decision} comes before the charge")
    if isinstance(mine, ShownKeys | CountedKeys):
        transcript.keys.append((mine, yours, one.decision.cost()))
        return mine.shown(yours, worst)
    transcript.costs += one.costs()
    if isinstance(mine, Stream):  # a new noisy threshold, and the answers are to come
        transcript.streams.append((mine, yours, one.decision.cost()))
        return None
    if isinstance(mine, Answered):
        return mine.stream.worst_answer(yours.stream) if worst else mine.drawn
    if isinstance(mine, Public):
        transcript.bits.add(mine.width)
    outcome = mine.worst_outcome(yours) if worst else mine.drawn
    divergences = None if transcript.divergences is None else mine.divergences(yours)
    goes_on = isinstance(mine, Selection) and mine.earlier > 0
    transcript.note(one.decision.cost(), mine.log_ratio(yours, outcome), divergences, goes_on)
    return outcome


def _check_error(ended: Ended) -> None:
    """An error after a charge is wrong by itself, whatever the other run does."""
    if ended.error is not None and ended.charged:
        raise Apart(f"an error after the charge: {ended.error!r}") from ended.error


def _compare(transcript: Transcript, one: Any, other: Any, rows: int) -> None:
    """The ends of both runs: nothing may differ. And the costs of the decisions: the charge must cover them."""
    _check_error(one)
    _check_error(other)
    if repr(one.error) != repr(other.error):
        raise Apart(f"{one.error!r} in one run, {other.error!r} in the other") from one.error or other.error
    if one.error is not None:
        raise one.error
    for what in ("charged", "release"):
        if getattr(one, what) != getattr(other, what):
            raise Apart(f"{what}: {getattr(one, what)} in one run, {getattr(other, what)} in the other")
    losses = [loss for loss, _ in one.charged]
    if not losses:
        raise Apart("nothing was charged")
    transcript.charged = sum(losses[1:], losses[0])
    if one.loss not in (None, transcript.charged):
        raise Apart(f"the release states {one.loss}, and {transcript.charged} was charged")
    for mine, yours, cost in transcript.streams:
        p, q = mine.log_pmf(), yours.log_pmf()
        divergences = None if transcript.divergences is None else both_ways(p, q)
        transcript.note(cost, float(p[-1] - q[-1]), divergences, goes_on=False)
    _check_costs(transcript, rows)


def _check_costs(transcript: Transcript, rows: int) -> None:
    """Each decision tells at most its cost for `rows` rows, and the charge covers all of them; keys cost a unit."""
    loss = transcript.loss
    for log_ratio, rho, of_a_row in transcript.revealed:
        cost = of_a_row.times(rows)
        seen = {"rho": rho} | ({"epsilon": abs(log_ratio)} if cost.is_pure else {})
        for measure, value in seen.items():
            if not over(value, float(getattr(cost, measure))) <= 1 + TOLERANCE:
                raise Apart(f"a decision tells {value} of {measure}, and costs {float(getattr(cost, measure))}")
    total = sum(transcript.costs, pure(Fraction(0))).times(rows)
    keys = sum((cost for _, _, cost in transcript.keys), pure(Fraction(0)))
    in_epsilon = total.is_pure and loss.epsilon < math.inf and (transcript.keys or not loss.delta)
    price = "epsilon" if in_epsilon else "rho"
    whole, charged = float(getattr(total, price) + getattr(keys, price)), getattr(loss, price)
    if not whole <= charged * (1 + TOLERANCE) or (charged == math.inf and whole):
        raise Apart(f"the decisions cost {price} {whole}, of {loss} that was charged")


@dataclass(frozen=True, slots=True)
class Setting:
    """A statistic in one setting, as a call, and pairs of neighbouring data sets."""

    name: str
    call: Call
    pairs: Sequence[tuple[Any, Any]]
    more: Sequence[tuple[Any, Any]] = ()  # for longer tests
    divergences: bool = True  # whether rho is compared as well
    rows: int = 1  # by how many rows the data sets of a pair differ


@dataclass(slots=True)
class Findings:
    """Transcripts of a statistic, the worst ratio of each measure, and what is wrong."""

    transcripts: int = 0
    ratios: dict[str, float] = field(default_factory=dict)
    bits: set[int] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def note(self, where: str, ratios: dict[str, float]) -> None:
        """Keep the worst ratios, and complain of those above 1."""
        for measure, ratio in ratios.items():
            self.ratios[measure] = max(ratio, self.ratios.get(measure, 0.0))
            if not ratio <= 1 + TOLERANCE:
                self.wrong.append(f"{where}: {ratio:.6f} times the {measure} that was charged")


def explore(settings: Iterable[Setting], slow: bool = False) -> Findings:
    """On each pair of data sets of each setting: drawn and worst outcomes, both ways."""
    findings = Findings()
    for setting in settings:
        for k, pair in enumerate([*setting.pairs, *(setting.more if slow else ())]):
            for seed in range(2 if slow else 1):
                _explore(findings, setting, pair, f"{setting.name}, pair {k}, seed {seed}", seed, slow)
    return findings


def _explore(findings: Findings, setting: Setting, pair: tuple[Any, Any], where: str, seed: int, slow: bool) -> None:
    oriented, loss = [], None
    for worst, back in itertools.product((False, True), repeat=2):
        at = f"{where}, {'worst' if worst else 'drawn'} {'back' if back else 'forth'}"
        thorough = setting.divergences and not back and (slow or not worst)
        ordered = pair[:: -1 if back else 1]
        try:
            transcript = lockstep(
                setting.call, *ordered, rows=setting.rows, worst=worst, divergences=thorough, seed=seed
            )
        except Exception as error:  # whatever a run raises is a difference, or a decision without evidence
            findings.wrong.append(f"{at}: {type(error).__name__}: {error}")
            continue
        findings.transcripts += 1
        findings.bits |= transcript.bits
        findings.note(at, transcript.ratios())
        oriented.append(-transcript.log_ratio if back else transcript.log_ratio)
        loss = transcript.loss
    if loss is not None and loss.eta < math.inf:  # the range: over all outcomes of one pair
        findings.note(where, {"eta": over(max(oriented) - min(oriented), loss.eta)})
