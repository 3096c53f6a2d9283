"""Auto: how a quantile is answered for a number of records, by public facts alone.

- Inner quantiles of few records are chosen among all numbers under a public prior: no scale and no step is needed.
- With more records a frame is bought first. In it, permute-and-flip chooses an inner quantile among the rungs of a
  ladder that fits the data, which hits ties and round numbers; and a walk gets to a quantile in a tail, and to the
  extremes, where its error is smaller.

A ladder that the user fixes has no frame: one walk or one choice on it, as in the paper.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from nobounds.accounting.cost import Cost, fixed_threshold, pure
from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import rest, share
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.steps import inward_cuts, octave_ladder, outward_cuts, step_bits, walk_ladder
from nobounds.noise.additive import reach
from nobounds.ranks.framing import HALF, FrameRule, prior_choice
from nobounds.ranks.problem import Problem
from nobounds.ranks.route import ChoiceRoute, OneRoute, Route, rank_sensitivity, walk_cost
from nobounds.ranks.tuning import RankTuning
from nobounds.values import dataclass

LARGEST = 1 << 32  # plans treat larger sizes as this one
BOTH_ENDS = (Fraction(0), Fraction(1))
_PARTS, _RANKS = 40, 100  # of epsilon that ranks on both sides of a target share; and ranks that are aimed at instead
LEVELS = 4  # sizes an octave that a plan tells apart


@dataclass(frozen=True, slots=True)
class SizeRule:
    """How the number of records is learned: known, or a noisy count that is capped by the public number of rows."""

    epsilon: Fraction
    known: int | None = None
    at_most: int = LARGEST

    @property
    def noise(self) -> int:
        """The scale of the noise of the size."""
        return math.ceil(1 / self.epsilon) if self.epsilon else 0

    @property
    def reach(self) -> float:
        """Up to this, noise alone may well be all of the size (see `noise.additive`)."""
        return reach(float(1 / self.epsilon), gaussian=False) if self.epsilon else 0.0

    @property
    def levels(self) -> tuple[int, ...]:
        """The sizes that plans tell apart, from the largest down to 0."""
        return _levels(self.at_most)


@lru_cache(maxsize=256)
def _levels(most: int) -> tuple[int, ...]:
    sizes = (round(most / 2 ** (k / LEVELS)) for k in range(LEVELS * most.bit_length()))
    return tuple(sorted({0, *sizes}, reverse=True))


@dataclass(frozen=True, slots=True)
class Plan:
    """How the quantiles of a problem are answered for one size: a frame, if one is bought, and a route for each."""

    frame: FrameRule | None
    routes: tuple[OneRoute, ...]
    together: bool = False  # whether all routes cost as much as one


def size_rule(problem: Problem, epsilon: Fraction) -> SizeRule:
    """What to spend on the size: nothing if it is public or stated, little if only missing records are sensitive."""
    rows, tuning = problem.rows, problem.tuning
    if rows is not None and (problem.stated or (problem.neighbors == "swap" and not problem.nullable)):
        return SizeRule(Fraction(0), min(rows, LARGEST))
    eps_size = epsilon * tuning.size_share
    if rows is not None:
        eps_size = min(eps_size, Fraction(tuning.size_nats, max(rows, 1)))
    return SizeRule(eps_size, at_most=LARGEST if rows is None else min(rows, LARGEST))


@lru_cache(maxsize=1024)
def auto(problem: Problem, epsilon: Fraction, size: int, zcdp: bool = False, noise: int = 0) -> Plan:
    """The plan for about `size` records, of which `noise` may well be noise; its parts cost `epsilon` in all."""
    if not problem.grows:
        each = share(epsilon, len(problem.qs), zcdp)
        return Plan(None, tuple(_fixed(problem, q, each, zcdp) for q in problem.qs))
    rule = frame_rule(problem, epsilon, size, noise)
    spent = (rule.center.epsilon, rule.eps_scale) if rule else ()
    if problem.qs == BOTH_ENDS and rule and rule.eps_scale and problem.noise == "exponential":
        left = rest(epsilon, spent, zcdp)
        return Plan(rule, tuple(_to_end(Aim(problem, q, left, size, zcdp)) for q in problem.qs), together=True)
    each = share(rest(epsilon, spent, zcdp), len(problem.qs), zcdp)
    inner = min(min(q, 1 - q) for q in problem.qs) >= problem.tuning.inner_tail
    if rule is None and not inner and problem.rows is not None:  # a size that is too small moves ranks to the middle
        size = max(size, min(size + noise, problem.rows))
    aims = [Aim(problem, q, each, size, zcdp) for q in problem.qs]
    return Plan(rule, tuple(_route(aim, rule) for aim in aims))


@dataclass(frozen=True, slots=True)
class Aim:
    """One quantile of a problem, the epsilon for it, and the number of records."""

    problem: Problem
    q: Fraction
    epsilon: Fraction
    size: int
    zcdp: bool = False  # whether the cost to minimize is rho

    @property
    def tuning(self) -> RankTuning:
        """The constants of the problem."""
        return self.problem.tuning

    @property
    def tail(self) -> Fraction:
        """The share of the records on the smaller side of the quantile."""
        return min(self.q, 1 - self.q)

    @property
    def nats(self) -> float:
        """Records times epsilon; half of that under swap, where a rank costs twice as much."""
        return float(self.size * self.epsilon) / (2 if self.problem.neighbors == "swap" else 1)

    @property
    def in_tail(self) -> float:
        """Records in the smaller tail, times epsilon."""
        return float(self.size * self.epsilon * self.tail)

    @property
    def step(self) -> float:
        """Octaves of a step around the scale: shorter with more records in the tail."""
        tuning, nats = self.tuning, max(float(self.size * self.epsilon), 1.0)
        return min(max(tuning.step, tuning.tail_step / max(float(self.tail), 1e-9)) / nats, tuning.longest)

    @property
    def tilt(self) -> int:
        """The ranks that a step of a tilt adds, or 0 where enough records lie in the tail without one."""
        return math.floor(1 / self.epsilon) if self.in_tail < self.tuning.tilted_below else 0

    @property
    def is_inner(self) -> bool:
        """Whether it lies in the middle half."""
        return self.tail >= self.tuning.inner_tail


def frame_rule(problem: Problem, epsilon: Fraction, size: int, noise: int) -> FrameRule | None:
    """The frame that is bought for this many records, or None if there are too few.

    For a walk outward, near the end of the data or with few records, the centre is enough.
    """
    tuning, swap = problem.tuning, problem.neighbors == "swap"
    tails = [min(q, 1 - q) for q in problem.qs]
    twice, careful = 2 if swap else 1, max(size - noise, 1)  # a frame that fails does much harm
    inner = min(tails) >= tuning.inner_tail
    if all(tails) and not inner and not swap:
        careful = max(size - tuning.careful * noise, 1)
    whole = FrameRule.affordable(problem, careful, epsilon, inner)
    nats = float(careful * epsilon) / twice
    if inner:
        return whole if nats >= tuning.framed_inner else None
    in_tail = float(careful * (epsilon - whole.epsilon)) * float(min(tails)) / len(tails)
    framed = nats >= tuning.framed_ends if problem.qs == BOTH_ENDS else in_tail >= inward_nats(problem)
    if framed:
        return replace(whole, heaped=problem.qs == BOTH_ENDS)
    if swap and all(tails) and is_chosen(problem) and is_alone(float(size * epsilon) / len(tails), min(tails), tuning):
        return None
    most = epsilon * (tuning.most_center_swap if swap else tuning.most_center)
    if whole.center.epsilon <= most:
        return FrameRule.of(problem, whole.center.epsilon, Fraction(0))
    return FrameRule.of(problem, most, Fraction(0), bits=tuning.few_center_bits)


def inward_nats(problem: Problem) -> float:
    """Records in the tail times epsilon from which a walk goes inward, or a choice is made under swap."""
    return problem.tuning.chosen_from if problem.neighbors == "swap" else problem.tuning.inward_from


def _route(aim: Aim, frame: FrameRule | None) -> OneRoute:
    problem, tuning = aim.problem, aim.tuning
    if frame is None and not aim.is_inner:
        return _balanced(aim)
    if frame is None:
        rank, bits = _kept(aim), prior_bits(aim.nats, tuning)
        return replace(prior_choice(problem, rank, aim.epsilon, bits), rank=rank)
    if not frame.eps_scale:
        return _outward(aim)
    wants_choice = problem.method in ("flip", "exponential") or (problem.method == "auto" and aim.is_inner)
    if problem.noise == "exponential" and wants_choice and 0 < aim.q < 1:
        weighted = problem.method == "exponential" or (problem.method == "auto" and aim.zcdp)
        epsilon, rate = choice_split(problem, aim.q, aim.epsilon, weighted, aim.zcdp)
        return ChoiceRoute(even(even_bits(float(aim.size * rate), tuning)), epsilon, rate, weighted, again=True)
    return _tail(aim)


def is_chosen(problem: Problem) -> bool:
    """Whether a rank in a tail may be chosen, under swap."""
    return problem.noise == "exponential" and problem.method != "walk"


def is_alone(nats: float, tail: Fraction, tuning: RankTuning) -> bool:
    """Whether a tail is chosen among all numbers, under swap: where records are too few for a centre, or need none."""
    tenths = 10 * float(tail)
    if nats < tuning.centered_from * max(tenths, 1.0):
        return True
    return tuning.alone_from <= nats * float(tail) and nats < tuning.alone_to * min(tenths, 1.0)


def _balanced(aim: Aim) -> ChoiceRoute:
    """A choice in a tail among all numbers, under swap.

    With few records ranks on the side of the smaller tail count more, because empty numbers lie beyond it. Where even
    that is not enough, the rank that is aimed at lies nearer to the middle.
    """
    tuning, nats = aim.tuning, max(float(aim.size * aim.epsilon), 1.0)
    outer, inner = tuning.outer_nats, tuning.inner_nats
    # The smallest tail t for which outer / t + inner / (1 - t) are no more than the nats.
    twice, least = nats + outer - inner, math.sqrt(outer) + math.sqrt(inner)
    enough = math.sqrt(outer) / least  # where that is least, if the nats are fewer
    if nats > least**2:
        enough = (twice - math.sqrt(twice**2 - 4 * nats * outer)) / (2 * nats)
    tail = max(aim.tail, Fraction(math.ceil(enough * _RANKS), _RANKS))
    most = max(1 - inner / (nats * (1 - float(tail))), 0.5)
    part = min(round(min(max(tuning.beyond_nats / (nats * float(tail)), 0.5), most) * _PARTS), _PARTS - 1)
    upper = 2 * aim.q >= 1
    slopes = (_PARTS - part, part) if upper else (part, _PARTS - part)
    bits = prior_bits(aim.nats, tuning) - tuning.fewer_tail_bits
    route = prior_choice(aim.problem, HALF, aim.epsilon, bits)
    return replace(route, rank=1 - tail if upper else tail, slopes=slopes, rate=aim.epsilon / _PARTS)


def _kept(aim: Aim) -> Fraction:
    """The rank to aim at without a frame: with few records beyond it, a little nearer to the middle.

    There empty numbers beyond the end of the data may outweigh the records: each nat more makes that e times rarer.
    """
    tail, nats = aim.tail, Fraction(max(math.floor(aim.size * aim.epsilon), 1))
    # The rank r with `answered_nats` beyond it: nats r / 2 under swap, and nats r / (2 - 2 r) under add-remove.
    wanted = 2 * aim.tuning.answered_nats / nats
    enough = wanted if aim.problem.neighbors == "swap" else wanted / (1 + wanted)
    aimed = min(max(tail, min(enough, tail + aim.tuning.nudge)), Fraction(1, 2))
    return aimed if 2 * aim.q <= 1 else 1 - aimed


def _tail(aim: Aim) -> OneRoute:
    """The route to a quantile in a tail, in the frame.

    Under add-remove a walk inward from far out, because to count from the side of the few records is cheap; under swap
    a choice.
    """
    tuning, upper = aim.tuning, 2 * aim.q >= 1
    if aim.in_tail < tuning.least_in_tail:  # where another quantile needs the scale
        return _outward(aim)
    ladder = walk_ladder(step_bits(aim.step, tuning.most_bits), not upper)
    swap = aim.problem.neighbors == "swap"
    if swap and is_chosen(aim.problem):
        return ChoiceRoute(ladder, aim.epsilon, aim.epsilon / 2, exponential=True, again=True, weighed=True)
    return _inward(aim, upper, ladder)


def _inward(aim: Aim, upper: bool, ladder: Ladder) -> Route:
    tail, tuning, problem = aim.tail, aim.tuning, aim.problem
    # The share of eps1 for which both sides of the cost under add-remove are the same, with something left for eps2.
    share = min(1 / (2 - 2 * tail), tuning.outer) if problem.neighbors == "add-remove" else tuning.inner
    eps1, eps2 = walk_split(problem, aim.q, not upper, aim.epsilon, share, aim.zcdp)
    least = tuning.least_threshold / aim.epsilon - tail * aim.size
    drop = -Fraction(round(max(tuning.rise / aim.epsilon, least) * aim.q.denominator), aim.q.denominator)
    ends = (ladder.last, ladder.first) if upper else (ladder.first, ladder.last)
    tilt = aim.tilt
    return Route(ladder, not upper, *ends, eps1, eps2, drop, True, tilt, inward_cuts(ladder) if tilt else ())


def _outward(aim: Aim) -> Route:
    """A walk outward from the centre, in equal steps of octaves, to a small tail or an extreme: it needs no scale."""
    tuning, problem, upper = aim.tuning, aim.problem, 2 * aim.q >= 1
    step = min(tuning.outward_longer * aim.step, (1 + aim.in_tail) * tuning.outward_step)
    ladder = octave_ladder(step_bits(step, tuning.most_bits), not upper)
    # Near the end more goes to the threshold, and it is raised less because a walk halts early.
    share = max(tuning.inner, tuning.outer - Fraction(aim.in_tail) / 48)
    eps1, eps2 = walk_split(problem, aim.q, upper, aim.epsilon, share, aim.zcdp)
    rise = Fraction(min(tuning.rise, aim.in_tail / 8)) / aim.epsilon
    drop = -Fraction(round(rise * aim.q.denominator), aim.q.denominator)
    if problem.noise == "gumbel":
        drop += _ranks(tuning.gumbel_drop, aim.epsilon)
    tilt, stop = math.floor(1 / aim.epsilon), ladder.last if upper else ladder.first
    return Route(ladder, upper, 0, stop, eps1, eps2, drop, True, tilt, outward_cuts(ladder) if tilt else ())


def _to_end(aim: Aim) -> Route:
    """A walk inward to an end of the data, up to the centre: walks to both ends cost as much as one.

    It halts where a noisy number of records beyond passes a noisy constant.
    """
    tuning, upper = aim.tuning, aim.q == 1
    ladder = walk_ladder(tuning.end_bits, not upper)
    share = tuning.end_share if aim.problem.neighbors == "swap" else Fraction(1, 2)
    whole = ends_cost(aim.problem.neighbors, share, 1 - share)
    unit = aim.epsilon / (whole.eta if aim.zcdp else whole.epsilon)
    eps1, eps2 = share * unit, (1 - share) * unit
    start, drop = ladder.last if upper else ladder.first, -Fraction(math.ceil(tuning.end_records / eps2))
    # With so much epsilon that one record outweighs all rungs there is no tilt.
    tilt = math.ceil(tuning.end_tilt / eps2) if eps2 < tuning.tilted_below else 0
    cuts = inward_cuts(ladder) if tilt else ()
    return Route(ladder, not upper, start, 0, eps1, eps2, drop, True, tilt, cuts, one_end=True)


def ends_cost(neighbors: Neighbors, eps1: Fraction, eps2: Fraction) -> Cost:
    """The cost of walks inward to both ends: a record lies on one side of the centre, and is counted by one of them.

    Under swap one that moves on its side costs eps1 + eps2; one that crosses the centre leaves one walk, which costs
    eps1 or eps2, and enters the other, which costs the other of the two (docs/proofs/frame.md).
    """
    return fixed_threshold(eps1, eps2) if neighbors == "add-remove" else pure(eps1 + eps2)


def _fixed(problem: Problem, q: Fraction, epsilon: Fraction, zcdp: bool) -> OneRoute:
    """One walk or one choice on a ladder that the user fixes."""
    ladder, tuning = problem.ladder, problem.tuning
    if problem.method in ("flip", "exponential") and 0 < q < 1:
        weighted = problem.method == "exponential"
        return ChoiceRoute(ladder, *choice_split(problem, q, epsilon, weighted, zcdp), weighted)
    low, high = is_bound(ladder, ladder.first), is_bound(ladder, ladder.last)
    up = 2 * q >= 1 if low == high else low
    eps1, eps2 = walk_split(problem, q, up, epsilon, tuning.outer, zcdp)
    start, stop = (ladder.first, ladder.last) if up else (ladder.last, ladder.first)
    drop = Fraction(_ranks(tuning.gumbel_drop, epsilon) if problem.noise == "gumbel" else 0)
    return Route(ladder, up, start, stop, eps1, eps2, drop)


def choice_split(
    problem: Problem, q: Fraction, epsilon: Fraction, weighted: bool, zcdp: bool
) -> tuple[Fraction, Fraction]:
    """The epsilon and the rate of a choice; permute-and-flip has the range of twice its epsilon, which rho counts."""
    own = epsilon if weighted or not zcdp else epsilon / 2
    return own, own / (2 * rank_sensitivity(q, problem.neighbors))


def walk_split(
    problem: Problem, q: Fraction, up: bool, epsilon: Fraction, share: Fraction, zcdp: bool
) -> tuple[Fraction, Fraction]:
    """(eps1, eps2) of a walk that costs epsilon, with this share of eps1; Gumbel noise needs one half."""
    part = Fraction(1, 2) if problem.noise == "gumbel" else share
    whole = walk_cost(q, up, problem.neighbors, part, 1 - part)
    unit = epsilon / (whole.eta if zcdp else whole.epsilon)  # under zCDP the range counts
    return part * unit, (1 - part) * unit


@lru_cache(maxsize=256)
def even(bits: int) -> Ladder:
    """Equal steps of 2**-bits of the scale within one scale of the centre, and then 2**bits rungs an octave."""
    return Ladder.grid(Fraction(1, 1 << bits), bits)


def prior_bits(nats: float, tuning: RankTuning) -> int:
    """The bits of numbers under the prior, for this many records times epsilon."""
    return min(tuning.choice_bits + math.ceil(math.log2(max(nats, 1.0))), tuning.most_choice_bits)


def even_bits(nats: float, tuning: RankTuning) -> int:
    """The bits of the ladder for a choice, for this many records times the rate of the noise."""
    return min(max(round(math.log2(max(nats, 1.0)) + tuning.flip_bits), tuning.least_bits), tuning.most_bits)


def _ranks(over_epsilon: int, epsilon: Fraction) -> int:
    return math.floor(over_epsilon / epsilon + Fraction(1, 2))


def is_bound(ladder: Ladder, rung: int) -> bool:
    """Whether an end of the ladder is a public bound on the data, and not just where floats end."""
    return rung not in ladder.map.ends or abs(ladder.value(rung)) < 2.0**1000
