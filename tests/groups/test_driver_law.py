"""Many equal groups have the exact law of the scalar answer."""

from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats
from support.laws import drawn

from nobounds.counting.second_look import Counts
from nobounds.groups import Groups, answers
from nobounds.ladders.ladder import Ladder
from nobounds.noise.source import random_source
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question

FINE = Ladder.float_bits(16)
CASES = {  # rank, ladder, groups, records of each, epsilon, whether the size is stated
    "prior": (F(1, 2), Ladder.float_bits(8), 100_000, 30, F(1), False),
    "prior on a grid": (F(1, 2), Ladder.grid(1), 100_000, 30, F(1), False),
    "own ladder": (F(1, 20), Ladder.grid(1).limited(F(-100), None), 60_000, 300, F(1), False),
}
IN_A_FRAME = {  # the law of a centre is that of a few points, so answers are compared with those of the scalar code
    "from a centre": (F(1), Ladder.float_bits(8), 40, F(2)),
    "walk in a frame": (F(1, 20), Ladder.float_bits(8), 300, F(2)),
}
FIXED = ("own ladder",)


def p_value(found, law, pilot, cells):
    """Chi-square of the answers against the law, in cells of about equal probability by other answers."""
    cuts = np.unique(np.quantile(pilot.astype(float), np.linspace(0, 1, cells + 1)[1:-1]))
    parts = law.parts
    above = [sum(chance * law._above(route, part, cut) for chance, route, part in parts) for cut in cuts.tolist()]
    above = np.array([1.0, *above, 0.0])
    expected = (above[:-1] - above[1:]) * len(found)
    seen = np.bincount(np.searchsorted(cuts, found.astype(float)), minlength=len(expected))
    kept = expected > 5  # the quantiles of a law with atoms leave some cells nearly empty
    expected, seen = (np.append(x[kept], x[~kept].sum()) for x in (expected, seen))
    return stats.chisquare(seen[expected > 0], expected[expected > 0], sum_check=False).pvalue


def equal_groups(many, n):
    """Groups of equal records, and the histogram and the records of one."""
    data = np.rint(np.random.default_rng(12).normal(40, 30, n) * 10) / 10
    rungs, counts = np.unique(FINE.rungs(data), return_counts=True)
    groups = Groups(FINE, np.arange(many + 1) * len(rungs), np.tile(rungs, many), np.tile(counts, many))
    return groups, groups.histogram(0), np.repeat(FINE.map.floats(rungs), counts)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_equal_groups_follow_the_law_and_reject_an_epsilon_10_percent_off(case):
    """p > 1e-6 against the law of the answer, and p < 1e-9 against that for an epsilon 10% larger."""
    q, ladder, many, n, epsilon, stated = CASES[case]
    groups, one, records = equal_groups(many, n)
    of_one = Counts(one.on(ladder), lambda: [records])

    def asked(total):
        rows = n if stated else None
        grows = case not in FIXED
        return Question.of(
            Problem((q,), ladder, "add-remove", rows=rows, stated=stated, method="auto", grows=grows), total, False
        )

    found, pilot = (answers(asked(epsilon), groups, random_source(np.random.default_rng(seed)))[0] for seed in (13, 14))
    right, wrong = (AnswerLaw.of(asked(total), of_one, least=1e-6) for total in (epsilon, epsilon * F(11, 10)))
    assert p_value(found, right, pilot, 20) > 1e-6
    assert p_value(found, wrong, pilot, 20) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("case", IN_A_FRAME)
def test_equal_groups_in_a_frame_answer_as_one_does(case):
    """p > 1e-6 against answers of the scalar code, and p < 1e-9 against those for twice the epsilon."""
    q, ladder, n, epsilon = IN_A_FRAME[case]
    groups, one, records = equal_groups(20_000, n)

    def asked(total):
        problem = Problem((q,), ladder, "add-remove", rows=n, stated=True, method="auto", grows=True)
        return Question.of(problem, total, False)

    def alone(total):
        source, counts = random_source(np.random.default_rng(15)), Counts(one.on(ladder), lambda: [records])
        return [drawn(asked(total), counts, source)[0] for _ in range(1200)]

    found = answers(asked(epsilon), groups, random_source(np.random.default_rng(13)))[0]
    assert stats.ks_2samp(found, alone(epsilon)).pvalue > 1e-6
    assert stats.ks_2samp(found, alone(2 * epsilon)).pvalue < 1e-9
