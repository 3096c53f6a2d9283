"""Many groups at once: each has the answer that the scalar code gives it alone, from the same random words."""

import random
from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.counts import Counts
from nobounds.groups import Groups, answers
from nobounds.groups.answer import answered
from nobounds.groups.draws import Draws
from nobounds.ladder import Ladder
from nobounds.noise import source
from nobounds.question import Question

FINE = Ladder.float_bits(16)


class Recording(Draws):
    """Draws that remember what each group was given, in order."""

    def __init__(self, bits):
        super().__init__(bits)
        self.given = {}

    def words(self, who):
        found = super().words(who)
        self._note(who, np.full(len(who), 64), found)
        return found

    def flips(self, who):
        found = super().flips(who)
        self._note(who, np.ones(len(who)), found)
        return found

    def short(self, who, widths):
        found = super().short(who, widths)
        self._note(who, widths, found)
        return found

    def after(self, group, *drawn):
        waiting = list(drawn)

        def more(k, /):
            if waiting:
                return waiting.pop(0)
            found = self._bits(k)
            self._note([group], [k], [found])
            return found

        return more

    def _note(self, who, widths, found):
        for g, k, word in zip(who, widths, found, strict=True):
            self.given.setdefault(int(g), []).append((int(k), int(word)))

    def replayed(self, group):
        """A source that gives a group what it was given, and nothing else."""
        left = iter(self.given.get(group, []))

        def bits(k, /):
            width, word = next(left)
            assert width == k
            return word

        return bits, left


def groups_of(data, ladder=FINE):
    """The groups of some lists of values."""
    tables = [np.unique(ladder.rungs(np.asarray(values, dtype=float)), return_counts=True) for values in data]
    starts = np.cumsum([0, *(len(rungs) for rungs, _ in tables)])
    rungs, counts = (np.concatenate([table[k] for table in tables]).astype(np.int64) for k in (0, 1))
    return Groups(ladder, starts, rungs, counts)


def alone(question, groups, g, bits):
    """The scalar answer of one group."""
    one = groups.histogram(g)
    values = np.repeat(groups.ladder.map.floats(one.rungs), one.counts)
    return question.answer(Counts(one.on(question.ladder), lambda: [values]), bits)


def check(question, groups, seed):
    """All answers are those of the scalar code on the same words, none of which is left over."""
    draws = Recording(source(random.Random(seed)))
    found = answered(question, groups, draws)
    assert all(
        column.dtype == (np.float64, np.int64, object)[question.ladder.integral + (column.dtype == object)]
        for column in found
    )
    for g in range(len(groups)):
        bits, left = draws.replayed(g)
        expected = alone(question, groups, g, bits)
        assert tuple(column[g] for column in found) == expected
        assert next(left, None) is None


def some_data(rng, sizes):
    """Groups of all kinds: empty, one record, ties, huge and tiny, both signs."""
    kinds = [
        lambda n: rng.lognormal(3, 1, n),
        lambda n: -rng.lognormal(0, 2, n),
        lambda n: rng.normal(0, 10, n),
        lambda n: rng.integers(-5, 20, n).astype(float),
        lambda n: np.full(n, 7.0),
        lambda n: np.zeros(n),
        lambda n: rng.choice([1e300, -1e300, 1e-40, 0.0, 3.0], n),
        lambda n: 1e-20 * rng.standard_cauchy(n),
        lambda n: 1e12 * rng.standard_cauchy(n),
    ]
    return [kinds[rng.integers(len(kinds))](n) for n in rng.choice(sizes, 60)]


LADDERS = {
    "floats": Ladder.float_bits(8),
    "integers": Ladder.grid(1, 8),
    "cents": Ladder.grid(F(1, 100), 8),
    "bounded": Ladder.float_bits(8).limited(F(0), F(100)),
    "bounded integers": Ladder.grid(1, 8).limited(F(-10), None),
    "bounded cents": Ladder.grid(F(1, 100), 8).limited(F(-1, 3), F(50)),
}


@pytest.mark.parametrize("zcdp", [False, True])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("name", LADDERS)
def test_every_group_has_the_answer_of_the_scalar_code(name, neighbors, zcdp):
    """For all kinds of routes and records, ranks and epsilons, and from the same words."""
    rng = np.random.default_rng(len(name))
    for seed, q in enumerate([F(0), F(1, 20), F(1, 4), F(1, 2), F(9, 10), F(1)]):
        for epsilon, sizes in ((F(1, 100), [0, 1, 30]), (F(1), [0, 1, 2, 10, 300]), (F(10), [0, 1, 5, 20, 200])):
            rows = None if neighbors == "add-remove" else int(rng.choice([0, 40, 1000]))
            question = Question.of(
                (q,), epsilon, LADDERS[name], neighbors, "exponential", rows, True, "auto", True, zcdp=zcdp
            )
            check(question, groups_of(some_data(rng, sizes)), seed)
