"""Groups of lists, words that are remembered for each group, and the scalar answer from the same words."""

import random
from collections import deque

import numpy as np

from nobounds.counting.second_look import Counts
from nobounds.groups import Groups
from nobounds.groups.draws import Draws
from nobounds.ladders.ladder import Ladder
from support.laws import drawn

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
            found = self._source(k)
            self._note([group], [k], [found])
            return found

        return more

    def _note(self, who, widths, found):
        for g, k, word in zip(who, widths, found, strict=True):
            self.given.setdefault(int(g), []).append((int(k), int(word)))

    def replayed(self, group):
        """A source that gives a group what it was given, and what it has not asked for.

        Where the scalar code has not looked at all records (see `counts`) it may need more bits: it gets others.
        """
        left, others = deque(self.given.get(group, [])), random.Random(group)

        def bits(k, /):
            return left.popleft()[1] if left and left[0][0] == k else others.getrandbits(k)

        return bits, left


def groups_of(data, ladder=FINE):
    """The groups of some lists of values."""
    tables = [np.unique(ladder.rungs(np.asarray(values, dtype=float)), return_counts=True) for values in data]
    starts = np.cumsum([0, *(len(rungs) for rungs, _ in tables)])
    rungs, counts = (np.concatenate([[], *(table[k] for table in tables)]).astype(np.int64) for k in (0, 1))
    return Groups(ladder, starts, rungs, counts)


def alone(question, groups, g, bits):
    """The scalar answers of one group."""
    one = groups.histogram(g)
    values = np.repeat(groups.ladder.map.floats(one.rungs), one.counts)
    return drawn(question, Counts(one.on(question.ladder), lambda: [values]), bits)
