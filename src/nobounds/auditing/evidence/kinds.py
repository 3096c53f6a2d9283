"""From a decision of a program to its evidence: the law of its outcomes on this data set, and one that was drawn."""

import math
from fractions import Fraction
from functools import singledispatch
from typing import Any

from nobounds.auditing.evidence.choices import ChosenRung
from nobounds.auditing.evidence.numbers import Number, Part, Public, Several, log_between
from nobounds.auditing.evidence.walks import HaltedAt
from nobounds.mechanisms.decisions import Above, Bits, Choose, Halt, Level, Noisy, NoisyMany, Together
from nobounds.noise.additive import Additive
from nobounds.noise.source import RandomSource


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


def _number(noise: Additive, sensitivity: int, raw: int, drawn: int) -> Number:
    if noise.zcdp:
        return Number(True, Fraction(sensitivity**2) / noise.epsilon**2, raw, drawn)
    return Number(False, noise.epsilon / sensitivity, raw, drawn)


@evidence_of.register
def _(decision: Level, source: RandomSource) -> Part:
    logs, above = dict[int, float](), math.inf
    for level in decision.levels:
        last = level <= 0 or level == decision.levels[-1]
        least = -math.inf if last else level - decision.number
        logs[level] = log_between(float(decision.rate), least, above)
        above = min(above, least)
    return Part(decision.public, logs, decision.draw(source))


@evidence_of.register
def _(decision: Above, source: RandomSource) -> Part:
    least = math.floor(-decision.number / decision.step)
    if not (decision.ties and (decision.number / decision.step).denominator == 1):
        least += 1
    rate = float(decision.rate)
    logs = {False: log_between(rate, -math.inf, least), True: log_between(rate, least, math.inf)}
    return Part(decision.public, logs, decision.draw(source))


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
def _(decision: Together, source: RandomSource) -> Several:
    return Several(tuple(evidence_of(part, source) for part in decision.parts))


@evidence_of.register
def _(decision: Bits, source: RandomSource) -> Public:
    return Public(decision.width, decision.draw(source))
