"""The laws by which outcomes are compared are those of the library, and of the papers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from support import joint

from nobounds.accounting.cost import pure
from nobounds.auditing.divergences import renyi
from nobounds.auditing.evidence.choices import ChosenRung
from nobounds.auditing.evidence.kinds import evidence_of
from nobounds.auditing.evidence.numbers import laplace_divergence, log_between
from nobounds.auditing.evidence.places import ChosenPlaces
from nobounds.auditing.evidence.streams import Stream
from nobounds.auditing.evidence.walks import HaltedAt, halting
from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import Above, Level
from nobounds.mechanisms.exponential_mechanism import weighted_law
from nobounds.mechanisms.flip import flip_law
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.runs import Runs
from nobounds.mechanisms.sparse_law import SparseLaw
from nobounds.mechanisms.walk import Walk

RECORDS = np.array([-3.0, 0.0, 0.5, 0.5, 2.0, 7.0, 7.0, 9.0])
COUNTS = Histogram.of([RECORDS], Ladder.uniform(-5, 10, 60))


def free():
    return pure(Fraction(0))


@pytest.mark.parametrize("noise", ["exponential", "laplace", "gumbel"])
def test_the_law_of_a_walk_is_that_of_the_library(noise):
    """Of each position, of stretches of them and of never halting."""
    queries = np.searchsorted(RECORDS, np.arange(-5, 10), side="right")
    walk = Walk.of(queries, Fraction(5, 2), eps1=Fraction(1), eps2=Fraction(1), step=Fraction(1, 2), noise=noise)
    known, k = Law(walk).log_pmf(), np.arange(walk.length)
    assert halting(walk, k, k + 1) == pytest.approx(known, abs=1e-9)
    assert [HaltedAt(walk, None).log_pmf(at) for at in (*k.tolist(), None)] == pytest.approx(known, abs=1e-9)
    assert np.logaddexp.reduce(known[-2:]) == pytest.approx(HaltedAt(walk, None, one_end=True).log_pmf(None), abs=1e-9)


@pytest.mark.parametrize(("exponential", "law"), [(False, flip_law), (True, weighted_law)])
def test_the_law_of_a_choice_is_that_of_the_library(exponential, law):
    """Permute-and-flip by another integral, and the exponential mechanism."""
    runs = Runs.of(COUNTS, Fraction(1, 3), Fraction(3, 4))
    rungs = np.arange(COUNTS.ladder.first, COUNTS.ladder.last + 1)
    assert ChosenRung(runs, exponential, 0).log_pmf(rungs) == pytest.approx(law(runs).log_pmf(), abs=1e-9)


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_the_law_of_a_stream_is_that_of_the_library(noise):
    """Of the answers that were given, and of each that may be the first to differ."""
    law = SparseLaw((0, 3, 1, 2), Fraction(2), 2, Fraction(1), Fraction(1, 2), "classical", noise)
    known = dict(zip(law.patterns, np.exp(law.log_pmf()), strict=True))
    queries, answers = [*map(Fraction, law.queries)], [False, True, False, True]
    stream = Stream(law.threshold, law.eps1, law.eps2, noise, 1, None, queries, answers)
    *first, given = np.exp(stream.log_pmf())
    assert given == pytest.approx(known[1, 3])
    assert first[0] == pytest.approx(sum(chance for hits, chance in known.items() if hits and hits[0] == 0))
    assert math.fsum([*first, given]) == pytest.approx(1)


@pytest.mark.parametrize("order", [1.5, 2.0, 32.0])
def test_the_divergence_of_laplace_noise_is_its_sum(order):
    """By adding up all terms."""
    j = np.arange(-4000, 4000)
    log_p, log_q = (math.log(math.tanh(0.1)) - 0.2 * np.abs(j - shift) for shift in (0, 7))
    assert laplace_divergence(0.2, 7, order) == pytest.approx(renyi(log_p, log_q, order), rel=1e-9)


@pytest.mark.parametrize(("low", "high"), [(-5, -2), (-3, 4), (0, 1), (2, 9), (1, math.inf), (-math.inf, 0), (3, 3)])
def test_noise_between_two_numbers_is_its_sum(low, high):
    """Of discrete Laplace noise, on either side of 0 and across it."""
    j = np.arange(max(low, -200), min(high, 200))
    total = (math.tanh(0.15) * np.exp(-0.3 * np.abs(j))).sum()
    assert math.exp(log_between(0.3, low, high)) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize(
    "decision",
    [
        Level(7, Fraction(1, 3), (40, 12, 7, 3, 0), free, 50),
        Level(0, Fraction(2), (9, 5), free, 9),
        Above(Fraction(-3, 2), Fraction(1, 2), Fraction(1, 4), True, free),
        Above(Fraction(5, 4), Fraction(1, 2), Fraction(1, 4), False, free),
    ],
    ids=str,
)
def test_evidence_has_the_probabilities_of_the_decision(decision):
    """Levels and signs: the logs are those of the law driver's probabilities, and they sum to 1."""
    logs = evidence_of(decision, lambda k: 0x5555555555555555 >> (64 - k)).logs
    assert {outcome: math.exp(log) for outcome, log in logs.items()} == pytest.approx(
        dict(decision.outcomes()), abs=1e-12
    )
    assert math.fsum(map(math.exp, logs.values())) == pytest.approx(1)


def test_the_ratio_of_evidence_is_that_of_the_law():
    """For every outcome, of which none tells more than the worst; and so are divergences."""
    cases = [joint.Small(data, joint.THIRDS, Fraction(1, 2)) for data in ((0, 2, 5, 5), (0, 2, 5))]
    places, mine = joint.enumerated(joint.stretches(cases[0]))
    yours = joint.enumerated(joint.stretches(cases[1]))[1]
    ratios = (mine - np.logaddexp.reduce(mine)) - (yours - np.logaddexp.reduce(yours))
    one, other = (ChosenPlaces(joint.stretches(case), places[0]) for case in cases)
    assert [one.log_ratio(other, row) for row in places] == pytest.approx(ratios, abs=1e-9)
    assert one.log_ratio(other, one.worst_outcome(other)) == pytest.approx(ratios.max(), abs=1e-9)
    assert (one.divergences(other) > 0).all()
    assert (one.divergences(other) <= max(abs(ratios))).all()
