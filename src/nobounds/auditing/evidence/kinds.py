"""From a decision of a program to its evidence: the law of its outcomes on this data set, and one that was drawn."""

import math
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from nobounds.auditing.evidence.choices import ChosenRung
from nobounds.auditing.evidence.chosen import ChosenNumber, CutAt, RungAt
from nobounds.auditing.evidence.counted_keys import CountedKeys
from nobounds.auditing.evidence.keys import ShownKeys
from nobounds.auditing.evidence.numbers import Array, Number, Part, Public, Selection, Several, log_between
from nobounds.auditing.evidence.pairs import ChosenPair
from nobounds.auditing.evidence.places import ChosenPlaces
from nobounds.auditing.evidence.streams import Answered, Stream
from nobounds.auditing.evidence.walks import HaltedAt
from nobounds.groups import NoisyGroups
from nobounds.groups.key_counts import CountKeys
from nobounds.groups.key_selection import KeepKeys
from nobounds.mechanisms.choice import Choice
from nobounds.mechanisms.clock import Ring
from nobounds.mechanisms.cut import BITS, Cut
from nobounds.mechanisms.decisions import Above, AddedNoise, Bits, Choose, Halt, Level, Noisy, NoisyMany, Together
from nobounds.mechanisms.hits import FreshThreshold, Reached, Selected
from nobounds.mechanisms.joint.decision import ChooseAll
from nobounds.mechanisms.joint.pair import ChoosePair
from nobounds.noise.source import RandomSource

_FAR = Fraction(10**6)  # nats: more is as impossible


@singledispatch
def evidence_of(decision: Any, source: RandomSource) -> Any:
    """The evidence of a decision; the outcome is drawn from this source."""
    raise TypeError(f"no evidence is known for a decision of type {type(decision).__name__}")


@evidence_of.register
def _(decision: Noisy, source: RandomSource) -> Number:
    return _number(decision.noise, decision.sensitivity, decision.number, decision.draw(source))


@evidence_of.register
def _(decision: NoisyMany, source: RandomSource) -> Several:
    pairs = zip(decision.numbers, decision.draw(source), strict=True)
    return Several(tuple(_number(decision.noise, decision.sensitivity, raw, drawn) for raw, drawn in pairs))


def _number(noise: AddedNoise, sensitivity: int, raw: int, drawn: int) -> Number:
    return Number(noise.is_gaussian, noise.parameter(sensitivity), raw, drawn)


@evidence_of.register
def _(decision: Level, source: RandomSource) -> Part:
    logs, above = dict[int, float](), math.inf
    for level in decision.levels:
        last = level <= 0 or level == decision.levels[-1]
        least = -math.inf if last else level - decision.number
        logs[level] = log_between(float(decision.rate), least, above)
        above = min(above, least)
    return Part(logs, decision.draw(source))


@evidence_of.register
def _(decision: Above, source: RandomSource) -> Part:
    least = math.floor(-decision.number / decision.step)
    if not (decision.ties and (decision.number / decision.step).denominator == 1):
        least += 1
    rate = float(decision.rate)
    logs = {False: log_between(rate, -math.inf, least), True: log_between(rate, least, math.inf)}
    return Part(logs, decision.draw(source))


@evidence_of.register
def _(decision: Halt, source: RandomSource) -> HaltedAt:
    drawn = decision.draw(source)
    walk = decision.full() if decision.full and decision.walk.trusted else decision.walk
    return HaltedAt(walk, drawn, decision.one_end)


@evidence_of.register
def _(decision: Choose, source: RandomSource) -> ChosenRung:
    drawn = decision.draw(source)
    return ChosenRung(decision.full() if decision.full else decision.runs, decision.exponential, drawn)


@evidence_of.register
def _(decision: ChooseAll, source: RandomSource) -> ChosenPlaces:
    return ChosenPlaces(decision.stretches, decision.draw(source))


@evidence_of.register
def _(decision: ChoosePair, source: RandomSource) -> ChosenPair:
    return ChosenPair(decision.runs, decision.draw(source))


@evidence_of.register
def _(decision: Choice, source: RandomSource) -> ChosenNumber:
    return ChosenNumber(decision, decision.draw(source))


@evidence_of.register
def _(decision: Ring, source: RandomSource) -> RungAt:
    return RungAt(decision, decision.draw(source))


@evidence_of.register
def _(decision: Cut, source: RandomSource) -> CutAt:
    return CutAt(decision, (decision.draw(source)[0], source(BITS)))


@evidence_of.register
def _(decision: Together, source: RandomSource) -> Several:
    return Several(tuple(evidence_of(part, source) for part in decision.parts))


@evidence_of.register
def _(decision: Bits, source: RandomSource) -> Public:
    return Public(decision.width, decision.draw(source))


@evidence_of.register
def _(decision: NoisyGroups, source: RandomSource) -> Array:
    pairs = zip(decision.numbers.tolist(), decision.draw(source).tolist(), strict=True)
    return Array(tuple(_number(decision.noise, decision.sensitivity, raw, drawn) for raw, drawn in pairs))


@evidence_of.register
def _(decision: KeepKeys, source: RandomSource) -> ShownKeys:
    keys = decision.listed()
    chances = {key: (kept, left_out) for key, (left_out, kept) in zip(keys, decision.chances(), strict=True)}
    drawn = frozenset(key for key, kept in zip(keys, decision.draw(source).tolist(), strict=True) if kept)
    return ShownKeys(chances, drawn)


@evidence_of.register
def _(decision: CountKeys, source: RandomSource) -> CountedKeys:
    keys = decision.listed()
    shown, noisy = decision.draw(source)
    drawn = zip((key for key, each in zip(keys, shown.tolist(), strict=True) if each), noisy.tolist(), strict=True)
    return CountedKeys(decision.counted, dict(zip(keys, decision.rows.tolist(), strict=True)), dict(drawn))


@evidence_of.register
def _(decision: FreshThreshold, source: RandomSource) -> Stream:
    noisy = decision.draw(source)
    return Stream(decision.threshold, decision.eps1, decision.eps2, decision.noise, decision.lattice, noisy)


@evidence_of.register
def _(decision: Reached, source: RandomSource) -> Answered:
    stream: Stream = decision.threshold
    stream.queries.append(decision.query)
    return Answered(stream, stream.noisy.reached_by(decision.query, source))


@evidence_of.register
def _(decision: Selected, source: RandomSource) -> Selection:
    away = {score: decision.epsilon * (score - decision.query) for score in decision.scores}
    x = {score: float(min(max(nats, -_FAR), _FAR)) for score, nats in away.items()}
    others = {score: n - (score == decision.query) for score, n in decision.scores.items()}
    log_others = float(np.logaddexp.reduce([x[score] + math.log(n) for score, n in others.items() if n]))
    log_total = float(np.logaddexp(log_others, 0.0))
    total = sum((n * score for score, n in decision.scores.items()), Fraction(0))
    logs = {False: log_others - log_total, True: -log_total}
    earlier = sum(decision.scores.values()) - 2  # without the query and the threshold
    return Selection(logs, decision.draw(source), decision.query, total, earlier)
