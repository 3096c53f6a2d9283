"""Google's own cases for its differentially private quantiles and sums, put to nobounds: by exact laws and by samples.

README.md has which cases are run, and the results.
"""

import math
import random
from collections import Counter
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest
from outside.google import read
from outside.textproto import parsed
from support.laws import answer_law

from nobounds.accounting.conversions import rho_from_approximate
from nobounds.accounting.spending import nominal
from nobounds.auditing.audit import pair_loss
from nobounds.counting.lattice import Lattice, totals
from nobounds.counting.tally import BITS
from nobounds.engines.memory.arrays import column
from nobounds.groups import Groups, answers, noise_many
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.stated import Stated
from nobounds.noise.additive import Additive
from nobounds.statistics.searched import planned

QUANTILES, QUANTILES_VALID, QUANTILES_VOTE = read("quantiles")
SUMS, SUMS_VALID, SUMS_VOTE = read("sum")
STEP = "0.1"  # a public resolution: all entries are multiples of it


def few(case):
    """The ranks to audit: all of them, or three where the exact law of the scale takes long."""
    return (0.0, 0.5, 1.0) if "linear" in case.name else case.ranks


def spent(case, factor=1):
    """What one row may cost for the unit's rows to cost the case's epsilon, at its delta if it has one."""
    if not case.gaussian:
        return {"epsilon": case.total * factor / case.rows}
    return {"rho": rho_from_approximate(case.total, Fraction(str(case.delta))) / case.rows**2}


def quantile_laws(case, q, factor=1):
    """The exact laws of a private quantile on both data sets, on a fixed ladder, on one list of answers."""
    options = {"lower": case.lower, "upper": case.upper, "ladder": Ladder.grid(STEP), **spent(case, factor)}
    laws = [answer_law(np.array(data), q, least=0.0, **options) for data in (case.raw, case.neighbour)]
    (values, one), (others, other) = (law.pmf(case.lower - 1, case.upper + 1) for law in laws)
    assert values.tolist() == others.tolist()
    assert min(one.sum(), other.sum()) == pytest.approx(1)
    return values, one, other


def hockey_stick(one, other, epsilon):
    """The smallest delta for which two laws are within epsilon."""
    scale = math.exp(epsilon)
    return max(float(np.maximum(p - scale * q, 0).sum()) for p, q in ((one, other), (other, one)))


def ids(cases, slow=lambda case: False):
    return [pytest.param(case, id=case.name, marks=[pytest.mark.slow] * slow(case)) for case in cases]


def test_the_files_are_read_whole():
    """There are 39 cases of quantiles and 38 of sums, 35 of them for pure privacy, and all have their entries."""
    assert (len(QUANTILES), len(SUMS)) == (39, 38)
    assert sum(not case.gaussian for case in QUANTILES + SUMS) == 18 + 17
    assert QUANTILES_VALID == {"epsilon_specificity": [1.05], "failure_specificity": [1.25]}
    assert SUMS_VALID["distance_specificity"] == [1.185]
    assert QUANTILES_VOTE == SUMS_VOTE == {"number_of_votes": [9.0]}
    for case in QUANTILES + SUMS:
        assert case.neighbour[: len(case.raw)] == case.raw and case.rows >= 1


def test_the_reader_reads_what_the_format_has():
    """Comments, nested messages, repeated fields and lists, empty ones too."""
    text = '# a\na { b: [1, -2.5] b: [] b: 3 # c\n d: "x # y" e: WORD }\na { f: [] }'
    assert parsed(text) == {"a": [{"b": [1, -2.5, 3], "d": ["x # y"], "e": ["WORD"]}, {"f": []}]}
    with pytest.raises(ValueError):
        parsed("a: 1 }")


PURE_QUANTILES = [case for case in QUANTILES if not case.gaussian]
APPROXIMATE_QUANTILES = [case for case in QUANTILES if case.gaussian]


@pytest.mark.medium
@pytest.mark.parametrize("case", ids(PURE_QUANTILES, lambda case: "linear" in case.name))
def test_quantiles_are_within_epsilon_by_their_exact_laws(case):
    """On Google's pair no answer of a private quantile is likelier by more than e^epsilon, at any of the ranks."""
    for q in few(case):
        _, one, other = quantile_laws(case, q)
        likely = (one > 1e-12) | (other > 1e-12)
        assert pair_loss(np.log(one[likely]), np.log(other[likely]))[0] <= case.epsilon * (1 + 1e-6)


def test_the_exact_audit_of_quantiles_bites():
    """For an empty data set and one record the bound is reached at rank 0, so that 1.05 epsilon would be seen."""
    case = PURE_QUANTILES[0]
    for factor, bound in ((1, 0.99), (Fraction(105, 100), 1.04)):
        _, one, other = quantile_laws(case, 0.0, factor)
        assert pair_loss(np.log(one), np.log(other))[0] >= bound * case.epsilon


@pytest.mark.parametrize("case", ids(APPROXIMATE_QUANTILES, lambda case: True))
def test_quantiles_are_within_delta_by_their_exact_laws(case):
    """With the rho of the case's epsilon and delta, the laws are within epsilon but for delta."""
    for q in few(case)[:: 5 if "linear" not in case.name else 2]:
        _, one, other = quantile_laws(case, q)
        assert hockey_stick(one, other, case.epsilon) <= case.delta


def bounded_sum(case, factor=1):
    """The exact sums in steps on both data sets, the largest change by the unit, and the noise."""
    low, high = (Fraction(str(bound)) for bound in (case.lower, case.upper))
    lattice = Lattice.of(low, high, integral=False)
    sums = []
    for data in (case.raw, case.neighbour):
        count, total = totals(column(np.array(data)).chunks(), lattice.steps)
        sums.append(total + count * lattice.low)
    if not case.gaussian:
        return *sums, case.rows * lattice.largest, Additive(case.total * factor), lattice
    rho = rho_from_approximate(case.total, Fraction(str(case.delta)))
    return *sums, case.rows * lattice.largest, Additive(nominal(rho) * factor, True), lattice


@pytest.mark.parametrize("case", ids([case for case in SUMS if not case.gaussian]))
def test_sums_are_within_epsilon_by_their_exact_laws(case):
    """Entries far outside the bounds change the sum by the largest bound at most; the log-ratio is within epsilon."""
    one, other, largest, noise, _ = bounded_sum(case)
    rate = float(noise.epsilon / largest)
    distance = abs(one - other)
    outcomes = np.linspace(-2.0 * distance, 3.0 * distance, 1001)
    loss, _ = pair_loss(-rate * np.abs(outcomes), -rate * np.abs(outcomes - distance))
    assert loss <= case.epsilon * (1 + 1e-9)
    assert distance <= largest


@pytest.mark.parametrize("case", ids([case for case in SUMS if case.gaussian]))
def test_sums_with_gaussian_noise_are_within_delta(case):
    """The delta of two normal laws so far apart (Balle and Wang 2018, Theorem 5) is within the case's."""
    one, other, largest, noise, _ = bounded_sum(case)
    assert abs(one - other) <= largest
    mu = abs(one - other) / noise.scale(largest)
    phi = NormalDist().cdf
    delta = phi(mu / 2 - case.epsilon / mu) - math.exp(case.epsilon) * phi(-mu / 2 - case.epsilon / mu)
    assert 0 <= delta <= case.delta


def test_the_bound_on_sums_is_reached():
    """The entries of most cases are as far apart as the bounds allow, to one part in a million million."""
    gaps = [bounded_sum(case) for case in SUMS]
    assert sum(abs(one - other) >= (1 - 1e-9) * largest for one, other, largest, *_ in gaps) >= 30


# The same by sampling, as Google's own test does it


def looks_private(one, other, case):
    """Google's test: the failure rate at epsilon in two samples of buckets, each way, is within the tolerance."""
    n, scale = one.total(), math.exp(case.epsilon)
    buckets = {*one, *other}
    rates = [sum(max(p[b] - scale * q[b], 0) for b in buckets) / n for p, q in ((one, other), (other, one))]
    return max(rates) <= case.delta + case.tolerance


def vote(draw, case, votes):
    """The majority of so many runs; it is known as soon as more than half agree."""
    seen = Counter()
    for run in range(votes):
        seen[looks_private(*draw(run), case)] += 1
        if max(seen.values()) > votes // 2:
            break
    return seen[True] > votes // 2


def sampled_sums(case, samples, factor):
    """Samples of both sums in buckets of Google's granularity."""
    one, other, largest, noise, lattice = bounded_sum(case, factor)
    width = Fraction(str(case.granularity)) / lattice.step

    def draw(run):
        found = []
        for k, total in enumerate((one, other)):
            noisy = noise_many(noise, largest, samples, random.Random(2 * run + k).getrandbits)
            places = np.rint((noisy + float(total)).astype(np.float64) / float(width)).astype(np.int64)
            values, counts = np.unique(places, return_counts=True)
            found.append(Counter(dict(zip(values.tolist(), counts.tolist(), strict=True))))
        return found

    return draw


SAMPLED_SUMS = [
    case
    for case in SUMS
    if not case.gaussian
    and ("default" in case.name or "large epsilon" in case.name)
    and ("empty" in case.name or "mixed" in case.name)
]


@pytest.mark.slow
@pytest.mark.parametrize("case", ids(SAMPLED_SUMS))
def test_samples_of_sums_pass_for_epsilon_and_fail_beyond(case):
    """By a vote of nine the sum passes at the stated epsilon, and fails with noise for 1.185 times the distance."""
    votes, beyond = int(SUMS_VOTE["number_of_votes"][0]), Fraction(str(SUMS_VALID["distance_specificity"][0]))
    assert vote(sampled_sums(case, case.samples, 1), case, votes)
    assert not vote(sampled_sums(case, case.samples, beyond), case, votes)


@pytest.mark.slow
def test_samples_of_sums_with_gaussian_noise_pass_and_fail_beyond():
    """So with Gaussian noise; ours is for zCDP, and has to be cut to a half before it fails at this delta."""
    case = next(case for case in SUMS if case.name == "Gaussian noise, empty sum, default parameters")
    assert vote(sampled_sums(case, case.samples, 1), case, 9)
    assert not vote(sampled_sums(case, case.samples, 2), case, 9)


@cache
def many(case, which, samples):
    """So many groups that all hold one of the data sets."""
    data = np.array((case.raw, case.neighbour)[which], dtype=float)
    ladder = Stated.of(case.lower, case.upper, STEP).ladder(column(data).facts, BITS)
    rungs, counts = np.unique(ladder.rungs(data), return_counts=True)
    starts = np.arange(samples + 1) * len(rungs)
    return Groups(ladder, starts, np.tile(rungs, samples).astype(np.int64), np.tile(counts, samples).astype(np.int64))


def sampled_quantiles(case, q, samples, factor):
    """Samples of both quantiles; there are fewer answers than buckets."""
    facts = {"lower": case.lower, "upper": case.upper, "ladder": Ladder.grid(STEP)}
    asked = planned(column(np.zeros(0)), (Fraction(str(q)),), **spent(case, factor), **facts)

    def draw(run):
        found = []
        for k in (0, 1):
            values = answers(asked, many(case, k, samples), random.Random(2 * run + k).getrandbits)[0]
            found.append(Counter(np.round(values, 6).tolist()))
        return found

    return draw


SAMPLED = [case for case in PURE_QUANTILES if "default" in case.name or "epsilon" in case.name]


@pytest.mark.slow
@pytest.mark.parametrize("case", ids(SAMPLED))
def test_samples_of_quantiles_pass_for_epsilon(case):
    """By a vote of nine the quantiles at ranks 0 and 1/2 pass at the stated epsilon."""
    votes = int(QUANTILES_VOTE["number_of_votes"][0])
    for q in (0.0, 0.5):
        assert vote(sampled_quantiles(case, q, case.samples, 1), case, votes)


@pytest.mark.slow
def test_samples_of_quantiles_fail_beyond_epsilon():
    """Where a likely answer reaches the bound, the vote is against a quantile with noise for 1.1 epsilon."""
    case = next(case for case in PURE_QUANTILES if case.name == "Laplace noise, empty distribution, large epsilon")
    beyond = 2 * Fraction(str(QUANTILES_VALID["epsilon_specificity"][0])) - 1
    _, one, other = quantile_laws(case, 0.0, beyond)
    assert hockey_stick(one, other, case.epsilon) > 1.25 * case.tolerance
    votes = int(QUANTILES_VOTE["number_of_votes"][0])
    assert not vote(sampled_quantiles(case, 0.0, case.samples, beyond), case, votes)


@pytest.mark.parametrize("case", ids(SAMPLED[:3]))
def test_the_vote_rejects_randomised_response_for_more(case):
    """Randomised response passes at epsilon, and fails at 1.05 epsilon: the test has the power that Google states."""

    def response(factor):
        truth = 1 / (1 + math.exp(-case.epsilon * factor))

        def draw(run):
            rng = np.random.default_rng(run)
            yes = [int(rng.binomial(case.samples, p)) for p in (truth, 1 - truth)]
            return [Counter({1: n, 0: case.samples - n}) for n in yes]

        return draw

    assert vote(response(1.0), case, 9)
    beyond = QUANTILES_VALID["epsilon_specificity"][0]
    assert not vote(response(beyond), case, 9)
