"""One question for many groups at once: each answer has the law of `Question.answer` on the records of its group."""

from fractions import Fraction

import numpy as np

from nobounds.arrays import Ints
from nobounds.counting.second_look import Counts
from nobounds.groups.choices import choices_one_by_one, flips, near_runs, weighted
from nobounds.groups.draws import Bools, Draws
from nobounds.groups.noise import laplaces
from nobounds.groups.records import Groups, sums
from nobounds.groups.walks import halts, halts_one_by_one, route_walks, walks_at
from nobounds.mechanisms.runs import Runs
from nobounds.mechanisms.walk import Walk
from nobounds.noise.source import RandomSource
from nobounds.ranks.auto import SizeRule
from nobounds.ranks.question import Question
from nobounds.ranks.route import AnyRoute, FlipRoute, OneRoute, Outward, Scaled, rank_sensitivity
from nobounds.ranks.scale import Scale, octave
from nobounds.ranks.values import Values, values_at, zeros
from nobounds.ranks.view import walk_of

_LARGEST = 1 << 61


def answers(question: Question, groups: Groups, source: RandomSource) -> list[Values]:
    """Private quantiles of each group, one array for each q of the question.

    Whole numbers if the ladder of the question is integral (as objects if one does not fit into 64 bits), else floats.
    """
    return answered(question, groups, Draws(source))


def answered(question: Question, groups: Groups, draws: Draws) -> list[Values]:
    """Like `answers`, with random words from `draws`."""
    everyone = np.arange(len(groups))
    if question.noise != "exponential":
        return _one_by_one(question, groups, draws)
    sizes = learned_sizes(question.size, groups.totals, draws)
    values = []
    for q, routes in zip(question.qs, question.routes, strict=True):
        of_q = _Answers(question, groups, q, draws)
        chosen = _chosen(routes, sizes)
        for k in np.unique(chosen).tolist():
            of_q.take(routes[k], everyone if len(routes) == 1 else np.flatnonzero(chosen == k))
        values.append(of_q.values)
    return values


def learned_sizes(rule: SizeRule, totals: Ints, draws: Draws) -> Ints:
    """The number of records of each group, public or noisy."""
    if rule.known is not None:
        return np.full(len(totals), rule.known)
    noisy = totals + laplaces(rule.epsilon, np.arange(len(totals)), draws)
    return np.asarray(np.clip(noisy, 0, rule.at_most), dtype=np.int64)


def _chosen(routes: tuple[AnyRoute, ...], sizes: Ints) -> Ints:
    """The index of each group's route: the first that its size allows, or the last."""
    least = np.array([route.at_least for route in routes])[::-1]  # increasing
    return np.minimum(len(routes) - np.searchsorted(least, sizes, side="right"), len(routes) - 1)


class _Answers:
    """The answers of all groups for one q, filled in route by route."""

    def __init__(self, question: Question, groups: Groups, q: Fraction, draws: Draws) -> None:
        self.question, self.groups, self.q, self.draws = question, groups, q, draws
        self.values = zeros(len(groups), question.ladder.integral)

    def take(self, route: AnyRoute, who: Ints) -> None:
        """Answer these groups along a route."""
        if isinstance(route, Scaled):
            octaves = [_octaves(route.scale, self._coarse(some), some, self.draws) for some in self.groups.blocks(who)]
            halted_at = np.concatenate(octaves)
            for position in np.unique(halted_at).tolist():
                self.take(route.at(octave(max(position, 0))), who[halted_at == position])
            return
        for some in self.groups.blocks(who):
            if isinstance(route, Outward):
                coarse = self._coarse(some)
                negative = self._negative(route, coarse, some)
                for side, chosen in ((route.positive, ~negative), (route.negative, negative)):
                    part = np.flatnonzero(chosen)
                    self._answer(side, coarse.take(part), some[part])
            else:
                self._answer(route, self.groups.take(some) if route.again else self._coarse(some), some)

    def _coarse(self, who: Ints) -> Groups:
        return self.groups.take(who).on(self.question.ladder)

    def _negative(self, route: Outward, coarse: Groups, who: Ints) -> Bools:
        """The noisy decision whether each answer is negative, as in `question.sign_test`."""
        zero = int(coarse.ladder.rungs(np.zeros(1))[0])
        q, lattice = self.q, self.q.denominator
        twice = sums(coarse.counts * ((coarse.rungs < zero).astype(np.int64) + (coarse.rungs <= zero)), coarse.starts)
        totals = coarse.totals
        if 2 * lattice * int(totals.max(initial=0)) > _LARGEST:
            twice, totals = twice.astype(object), totals.astype(object)
        rate = route.eps_sign / (2 * lattice) / rank_sensitivity(q, self.question.neighbors)
        noisy = twice * lattice - 2 * q.numerator * totals + laplaces(rate, who, self.draws)
        return np.asarray(noisy >= 0 if 2 * q < 1 else noisy > 0, dtype=bool)

    def _answer(self, route: OneRoute, groups: Groups, who: Ints) -> None:
        """Answer the groups `who`, with the records `groups`, along one route."""
        if not len(who):
            return
        on = groups.on(route.ladder)
        positions = self._flip(route, on, who) if isinstance(route, FlipRoute) else self._walk(route, on, who)
        values = values_at(self.question, route, positions)
        if values.dtype == object:
            self.values = self.values.astype(object)
        self.values[who] = values

    def _walk(self, route: OneRoute, on: Groups, who: Ints) -> Ints:
        assert not isinstance(route, FlipRoute)
        walks = route_walks(on, self.q, route)

        def one(k: int) -> Walk:
            return walk_of(on.histogram(k), self.q, route, self.question.noise)

        if walks is None:
            return halts_one_by_one(who, self.draws, one)
        if route.up:
            return halts(walks, who, self.draws, one)
        last = len(who) - 1
        return halts(walks, who[::-1], self.draws, lambda k: one(last - k))[::-1]

    def _flip(self, route: FlipRoute, on: Groups, who: Ints) -> Ints:
        runs = near_runs(on, self.q, route.rate)

        def one(k: int) -> Runs:
            return Runs.of(on.histogram(k), self.q, route.rate)

        if runs is None:
            rungs = choices_one_by_one(route.exponential, who, self.draws, one)
        else:
            select = weighted if route.exponential else flips
            rungs = select(runs, self.q.denominator, route.rate, who, self.draws, one)
        return rungs - route.start


def _octaves(scale: Scale, coarse: Groups, who: Ints, draws: Draws) -> Ints:
    """The position at which the walk over the octaves halts, for each group."""
    rungs = scale.octaves.rungs(np.abs(coarse.ladder.map.floats(coarse.rungs)))
    halved = Groups(
        scale.octaves, coarse.starts, rungs, coarse.counts
    ).merged()  # few entries remain: one per sign and octave
    group = np.repeat(np.arange(len(halved)), halved.sizes)
    order = np.argsort(group * (scale.octaves.last + 1) + halved.rungs, kind="stable")
    positions, counts = halved.rungs[order], halved.counts[order]
    walks = walks_at(
        positions,
        counts,
        halved.starts,
        length=scale.octaves.last + 1,
        rank=scale.rank,
        raised=Fraction(0),
        eps1=scale.eps1,
        eps2=scale.eps2,
    )

    def one(k: int) -> Walk:
        return scale.walk(coarse.histogram(k))

    return halts_one_by_one(who, draws, one) if walks is None else halts(walks, who, draws, one)


def _one_by_one(question: Question, groups: Groups, draws: Draws) -> list[Values]:
    """The answers of all groups by the scalar code, for noise that is not exponential."""
    rows = [_alone(question, groups, g, draws.after(g)) for g in range(len(groups))]
    columns = zip(*rows, strict=True) if rows else [() for _ in question.qs]
    return [_array(list(column), question.ladder.integral) for column in columns]


def _alone(question: Question, groups: Groups, g: int, source: RandomSource) -> tuple[int | float, ...]:
    one = groups.histogram(g)
    values = groups.ladder.map.floats(one.rungs)
    return question.answer(Counts(one.on(question.ladder), lambda: [(values, one.counts)]), source)


def _array(values: list[int | float], integral: bool) -> Values:
    if not integral:
        return np.array(values, dtype=np.float64)
    fits = all(-(1 << 63) <= value < 1 << 63 for value in values)
    return np.array(values, dtype=np.int64 if fits else object)
