"""Draws follow the law, whatever proposes them: the chain, or the prior where the reach is short."""

import math
import random
from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats
from support.chance import seed_of
from support.joint import CASES, enumerated, stretches

import nobounds.mechanisms.joint.draw
from nobounds.counting.histogram import Histogram
from nobounds.counting.second_look import Counts
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import prior_of
from nobounds.mechanisms.joint.chain import Chain
from nobounds.mechanisms.joint.draw import Proposals, _happens, drawn_places
from nobounds.mechanisms.joint.stretches import Stretches

DRAWS = 2_500


def fit(counts, logs, places):
    """The p-value of draws under a law; rare places are taken together."""
    chances = np.exp(logs - np.logaddexp.reduce(logs))
    often = chances * DRAWS >= 5
    observed = np.array([counts[row] for row in places])
    seen = np.append(observed[often], observed[~often].sum())
    expected = np.append(chances[often], chances[~often].sum()) * DRAWS
    kept = expected > 0
    return stats.chisquare(seen[kept], expected[kept] / expected[kept].sum() * DRAWS).pvalue


@pytest.mark.medium
@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_places_follow_the_joint_law(case, short):
    """With a short reach about half of all proposals come from the prior; the law is the same."""
    made, source = stretches(case), random.Random(5).getrandbits
    proposals = Proposals.of(made)
    if short:
        reach = -Fraction(proposals.chain.log_sum) / case.rate
        proposals = Proposals(Chain.of(made, float(reach)), reach)
    counts = Counter(proposals.draw(source) for _ in range(DRAWS))
    places, logs = enumerated(made)
    assert fit(counts, logs, places) > 1e-6


def test_a_rate_that_is_off_is_noticed():
    """By 30%."""
    case = CASES[0]
    source, made = random.Random(6).getrandbits, stretches(case._replace(rate=case.rate * Fraction(13, 10)))
    proposals = Proposals.of(made)
    counts = Counter(proposals.draw(source) for _ in range(DRAWS))
    assert fit(counts, enumerated(stretches(case))[1], enumerated(made)[0]) < 1e-9


@pytest.mark.parametrize("reach", [Fraction(1, 2), Fraction(3), Fraction(100)])
@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_no_proposal_would_have_to_be_accepted_more_than_always(case, reach):
    """The probability of acceptance is at most 1 for all places, by balls."""
    made = stretches(case)
    proposals = Proposals(Chain.of(made, float(reach)), reach)
    for taken in {tuple(made.stretch(np.array(row)).tolist()) for row in enumerated(made)[0]}:
        assert proposals._ratio(list(taken), proposals.chances(list(taken))) <= 1


def test_doubles_and_balls_decide_alike():
    """On the same random bits, for the acceptance of proposals by the prior and for their number."""
    made = stretches(CASES[0])
    proposals = Proposals(Chain.of(made, 4.0), Fraction(4))
    taken = [(0, 0, 0), (1, 2, 4), (2, 3, 3), (0, 4, 4)]
    exact = [partial(proposals._ratio, list(each), proposals.chances(list(each))) for each in taken]
    for ratio in (*exact, proposals._rare):
        log_chance = math.log(float(ratio()))
        for seed in range(20):
            quick, slow = (
                _happens(log_chance, ratio, random.Random(seed).getrandbits, size) for size in (1e3, math.inf)
            )
            assert quick == slow


@pytest.mark.parametrize("rate", [Fraction(1, 10**12), Fraction(1, 40), Fraction(1), Fraction(10**12, 4)])
@pytest.mark.parametrize("n", [0, 1, 50, 5000])
@pytest.mark.sampled
def test_any_rate_and_any_number_of_records_is_drawn(rate, n):
    """In increasing order, and right where there is hardly any noise."""
    ladder = Ladder.float_bits(20, -1022)
    records = np.random.default_rng(seed_of(n)).normal(100, 1, n)
    qs = tuple(Fraction(k, 10) for k in range(1, 10))
    made = Stretches.of(Histogram.of([records], ladder), 1024, qs, rate, prior_of(ladder))
    places = drawn_places(made, random.Random(seed_of(n)).getrandbits)
    assert list(places) == sorted(places)
    if n == 5000 and rate >= 1:
        values = ladder.map.floats(np.array(places) // 1024)
        assert values == pytest.approx(np.quantile(records, [float(q) for q in qs]), abs=0.05)
    assert drawn_places(made, random.Random(seed_of(n)).getrandbits) == places


def test_stretches_around_the_targets_lead_to_the_answers_of_all_of_them():
    """Whether they are enough, or too short for the proposals, or the prior proposes places beyond them."""
    ladder, coarse = Ladder.float_bits(20, -1022), Ladder.float_bits(8)
    counts = Counts.of(lambda: [np.random.default_rng(1).normal(100, 20, 20_000)], coarse)
    qs, prior, rate = (Fraction(1, 4), Fraction(1, 2)), prior_of(ladder), Fraction(1, 4)
    full = Stretches.of(counts.full(ladder), 1024, qs, rate, prior)
    seen = 0

    def whole() -> Stretches:
        nonlocal seen
        seen += 1
        return full

    for seed, (far, needed) in enumerate([(600.0, 0)] * 10 + [(20.0, 1)] * 3):
        windows = [(float(q) * 20_000 - far - 5, float(q) * 20_000 + far + 5) for q in qs]
        near, seen = Stretches.of(counts.near(ladder, windows)[0], 1024, qs, rate, prior, far), 0
        assert len(near.starts) < len(full.starts) / 2
        assert drawn_places(near, random.Random(seed).getrandbits, whole) == drawn_places(
            full, random.Random(seed).getrandbits
        )
        assert seen == needed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nobounds.mechanisms.joint.draw, "_RARELY", -3.0)  # the prior proposes nearly always
        assert drawn_places(near, random.Random(3).getrandbits, whole) == drawn_places(
            full, random.Random(3).getrandbits
        )
