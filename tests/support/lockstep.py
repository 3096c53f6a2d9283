"""Two runs of the same call in lockstep, on neighbouring data sets, with the same outcome of every draw.

Both runs stop wherever the library draws at random (see `hooks`). They must have come to the same decision with the
same public parameters; one outcome is chosen for both, and the log-ratio of its probabilities is what the step costs.
What follows depends on decided outcomes alone, or so the library claims: in the end both releases must be the same to
the last character, and all steps together must cost no more than was charged. An error, a branch or a parameter that
depends on a record tells the runs apart.

    cd tests && python -m support.lockstep           # transcripts and worst ratios of every statistic
    python -m support.lockstep --slow    # more pairs of data sets, and two seeds
"""

import itertools
import math
import random
import sys
import threading
import time
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

import numpy as np

from support.decisions import ORDERS, Answer, Bits, Keys, both_ways
from support.purse import Purse
from support.sampler_hooks import HERE, hooked

TOLERANCE = 1e-6  # of what is charged: laws are exact to about 1e-10


class Apart(AssertionError):
    """Two runs on neighbouring data differ in more than the chances of what they decided."""


class Stopped(BaseException):
    """A run is to end; no `except Exception` of the library is to catch that."""


class Run:
    """A call in a thread of its own, which waits at each decision until it is given the outcome."""

    def __init__(self, call, data, seed, is_first):
        self.is_first, self.sampling = is_first, False
        self.keys, self.inward = [], []  # what hooks remember
        self._purse, self._reports, self._outcomes = Purse(), SimpleQueue(), SimpleQueue()
        self._thread = threading.Thread(target=self._release, args=(call, data, random.Random(seed)), daemon=True)

    def start(self):
        """Go on to the first decision or to the end."""
        self._thread.start()
        return self._reports.get()

    def go_on(self, outcome):
        """Go on to the next decision or to the end."""
        self._outcomes.put(outcome)
        return self._reports.get()

    def stop(self):
        """End the run, wherever it waits."""
        self._outcomes.put(Stopped())
        self._thread.join()

    def ask(self, decision):
        """The outcome of a decision; called by the hooks."""
        self._reports.put(decision)
        outcome = self._outcomes.get()
        if isinstance(outcome, Stopped):
            raise outcome
        return outcome

    def _release(self, call, data, rng):
        HERE.run = self
        try:
            released = call(data, rng, self._purse)
            self._reports.put(Ended(visible(released), getattr(released, "loss", None), self._purse.charged))
        except Stopped:
            pass
        except BaseException as error:
            self._reports.put(Ended(None, None, self._purse.charged, error))


@dataclass(frozen=True)
class Ended:
    """All that is visible of a run: the release as text, the loss it states, what was charged, and an error."""

    release: Any
    loss: Any
    charged: list
    error: BaseException | None = None


def visible(released):
    """All of a release as text."""
    if isinstance(released, tuple | list):
        return [visible(part) for part in released]
    if not hasattr(released, "to_json"):
        return repr(released)
    types = [str(array.type) for array in getattr(released, "arrays", ())]
    return [type(released).__name__, released.to_json(), str(released), repr(released), types]


@dataclass
class Transcript:
    """The log-ratio of each step, first data set over second; Renyi divergences if they were asked for."""

    log_ratios: list = field(default_factory=list)
    divergences: Any = None
    keys: list = field(default_factory=list)
    streams: dict = field(default_factory=dict)
    bits: set = field(default_factory=set)  # widths of random bits that were drawn outside the known samplers
    loss: Any = None  # what was charged

    @property
    def log_ratio(self):
        """Of all outcomes together, keys excepted."""
        return math.fsum(self.log_ratios)

    def ratios(self):
        """What was seen over what was charged, by measure. A loss at a delta is compared if keys are chosen."""
        ratios, loss = {}, self.loss
        if loss.epsilon < math.inf and (self.keys or not loss.delta):
            keys = math.fsum(one.epsilon(other, loss.delta) for one, other in self.keys)
            ratios["epsilon"] = over(abs(self.log_ratio) + keys, loss.epsilon)
        if loss.rho < math.inf and self.divergences is not None:
            ratios["rho"] = over(float((self.divergences / np.array(ORDERS)).max()), loss.rho)
        return ratios


def over(seen, charged):
    """The ratio; 0 of 0 is fine."""
    return seen / charged if charged else math.inf if seen > TOLERANCE else 0.0


def lockstep(call, mine, yours, *, worst=False, divergences=True, seed=0):
    """The transcript of `call(data, rng, budget)` on two data sets; to be called while `hooked`.

    Outcomes are drawn by the run on `mine`, or (`worst`) they are those that tell the most for `mine` against `yours`.
    """
    transcript = Transcript(divergences=np.zeros(len(ORDERS)) if divergences else None)
    runs = Run(call, mine, seed, True), Run(call, yours, seed, False)
    one, other = (run.start() for run in runs)
    try:
        while not (isinstance(one, Ended) and isinstance(other, Ended)):
            outcome = _step(transcript, one, other, worst)
            one, other = (run.go_on(outcome) for run in runs)
    finally:
        for run in runs:
            run.stop()
    _compare(transcript, one, other)
    return transcript


def _step(transcript, one, other, worst):
    """The outcome of the next decision, after its cost is noted."""
    for ended in (end for end in (one, other) if isinstance(end, Ended)):
        raise Apart(f"one run ends ({ended.error!r}), and the other draws once more") from ended.error
    if type(one) is not type(other) or one.public != other.public:
        raise Apart(f"one run decides {one.public}, and the other {other.public}")
    if isinstance(one, Keys):
        transcript.keys.append((one, other))
        return one.shown(other, worst)
    outcome = one.worst_outcome(other) if worst else one.drawn
    if isinstance(one, Answer):  # the law of a stream is known when it has ended
        transcript.streams[id(one.stream)] = one.stream, other.stream
        return outcome
    if isinstance(one, Bits):
        transcript.bits.add(one.width)
    transcript.log_ratios.append(one.log_ratio(other, outcome))
    if transcript.divergences is not None:
        transcript.divergences += one.divergences(other)
    return outcome


def _compare(transcript, one, other):
    """The ends of both runs: nothing may differ."""
    if repr(one.error) != repr(other.error):
        raise Apart(f"{one.error!r} in one run, {other.error!r} in the other") from one.error or other.error
    if one.error is not None:
        raise one.error
    for what in ("charged", "release"):
        if getattr(one, what) != getattr(other, what):
            raise Apart(f"{what}: {getattr(one, what)} in one run, {getattr(other, what)} in the other")
    for mine, yours in (tuple(stream.log_pmf() for stream in pair) for pair in transcript.streams.values()):
        transcript.log_ratios.append(float(mine[-1] - yours[-1]))
        if transcript.divergences is not None:
            transcript.divergences += both_ways(mine, yours)
    losses = [loss for loss, _ in one.charged]
    transcript.loss = sum(losses[1:], losses[0])
    if one.loss not in (None, transcript.loss):
        raise Apart(f"the release states {one.loss}, and {transcript.loss} was charged")


@dataclass
class Findings:
    """Transcripts of a statistic, the worst ratio of each measure, and what is wrong."""

    transcripts: int = 0
    ratios: dict = field(default_factory=dict)
    bits: set = field(default_factory=set)
    wrong: list = field(default_factory=list)

    def note(self, where, ratios):
        """Keep the worst ratios, and complain of those above 1."""
        for measure, ratio in ratios.items():
            self.ratios[measure] = max(ratio, self.ratios.get(measure, 0.0))
            if not ratio <= 1 + TOLERANCE:
                self.wrong.append(f"{where}: {ratio:.6f} times the {measure} that was charged")


def explore(cases, slow=False):
    """On each pair of data sets of each case: drawn and worst outcomes, both ways."""
    findings = Findings()
    with hooked():
        for case in cases:
            for k, pair in enumerate(case.pairs + case.more if slow else case.pairs):
                for seed in range(2 if slow else 1):
                    _explore(findings, case, pair, f"{case.setting}, pair {k}, seed {seed}", seed, slow)
    return findings


def _explore(findings, case, pair, where, seed, slow):
    oriented, loss = [], None
    for worst, back in itertools.product((False, True), repeat=2):
        at = f"{where}, {'worst' if worst else 'drawn'} {'back' if back else 'forth'}"
        thorough = case.divergences and not back and (slow or not worst)
        try:
            transcript = lockstep(case.call, *pair[:: -1 if back else 1], worst=worst, divergences=thorough, seed=seed)
        except Exception as error:  # whatever a run raises is a difference, or a hook that does not fit
            findings.wrong.append(f"{at}: {type(error).__name__}: {error}")
            continue
        findings.transcripts += 1
        findings.bits |= transcript.bits
        findings.note(at, transcript.ratios())
        oriented.append(-transcript.log_ratio if back else transcript.log_ratio)
        loss = transcript.loss
    if loss is not None and loss.eta < math.inf:  # the range: over all outcomes of one pair
        findings.note(where, {"eta": over(max(oriented) - min(oriented), loss.eta)})


def main(slow):
    """Print what is seen of every statistic; how many transcripts are wrong."""
    from support.lockstep_cases import CASES

    rows, start = [], time.process_time()
    for statistic, cases in CASES.items():
        rows.append(findings := explore(cases, slow))
        ratios = "".join(f"{findings.ratios[m]:>9.4f}" if m in findings.ratios else " " * 9 for m in MEASURES)
        print(f"{statistic:<38}{findings.transcripts:>6}{ratios}", *findings.wrong[:3], sep="\n  !! ", flush=True)
    total, wrong = sum(row.transcripts for row in rows), sum(len(row.wrong) for row in rows)
    print(f"{total} transcripts, {wrong} wrong, {time.process_time() - start:.0f} s")
    return wrong


MEASURES = ("epsilon", "rho", "eta")

if __name__ == "__main__":
    print(f"{'statistic':<38}{'runs':>6}{''.join(f'{measure:>9}' for measure in MEASURES)}")
    sys.exit(bool(main("--slow" in sys.argv[1:])))
