"""The bits of a released float as a side channel (Mironov 2012): which floats can be released must not tell the data.

Laplace noise made of floats reaches some floats from one sum and others from the next, so a single answer often rules
out one of two neighbours. Here sums lie on a lattice that the release itself tells, counts are whole numbers, and
quantiles are candidates; from every data set all of these can be reached.
"""

import math
import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from support.chance import seed_of
from support.laws import answer_law, drawn

import nobounds as nb
from nobounds.counting.lattice import Lattice
from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.statistics.searched import planned

# Records whose floats have all 53 bits, and sums that no two of them round to alike.
RECORDS = np.random.default_rng(1).lognormal(0, 1, 40)
NEIGHBOURS = {
    "add-remove": (RECORDS, RECORDS[:-1]),
    "swap": (RECORDS, np.append(RECORDS[:-1], math.nextafter(RECORDS[-1], 9.0))),
}


def naive_sum(data, scale, rng):
    """The textbook: a float sum, and noise by the inverse of a float's distribution function."""
    u = (rng.getrandbits(53) + 0.5) * 2.0**-53
    noise = -scale * math.log(u)
    return float(np.sum(data)) + (noise if rng.getrandbits(1) else -noise)


def ruled_out(answer, total, scale):
    """Whether no draw of `naive_sum` gives this answer on data with this sum: try all of the few u that are near."""
    noise = answer - total
    u = math.exp(-abs(noise) / scale)
    first = math.floor(u * 2.0**53 - 0.5)
    width = 4 + math.ceil(abs(answer) * 2.0**-52 / scale * u * 2.0**53)
    sign = 1 if noise >= 0 else -1
    return not any(
        total + sign * (-scale * math.log((k + 0.5) * 2.0**-53)) == answer
        for k in range(max(first - width, 0), first + width)
    )


@pytest.mark.sampled
def test_the_attack_works_on_noise_made_of_floats():
    """One answer of the textbook rules out the wrong neighbour every other time or so, and never the right one."""
    cancelled, one = [1.0, -1.0], [1.0]
    rng, scale = random.Random(seed_of(1)), 1.0
    answers = [naive_sum(cancelled, scale, rng) for _ in range(300)]
    assert not any(ruled_out(answer, 0.0, scale) for answer in answers)
    assert sum(ruled_out(answer, 1.0, scale) for answer in answers) > 100
    assert sum(ruled_out(naive_sum(one, scale, rng), 0.0, scale) for _ in range(300)) > 50


def test_the_lattice_is_no_matter_of_course():
    """Float sums of these records are not on the lattice of their clip."""
    assert all(steps(float(np.sum(data)), (-4.0, 4.0)).denominator > 1 for data in NEIGHBOURS["swap"])


def steps(value, clip, integral=False):
    """The number of steps of the lattice of a clip in a released value; no whole number if it is not on it."""
    lattice = Lattice.of(Fraction(clip[0]), Fraction(clip[1]), integral)
    return Fraction(value) / lattice.step


@pytest.mark.unmarked
@pytest.mark.medium
@pytest.mark.parametrize("relation", NEIGHBOURS)
@pytest.mark.parametrize("spent", [{"epsilon": 1.0}, {"rho": 0.5}], ids=str)
@pytest.mark.parametrize("facts", [{}, {"lower": 0.0, "upper": 0.3}], ids=str)
def test_sums_lie_on_a_lattice_that_the_release_tells(relation, spent, facts):
    """On both neighbours each sum is a whole number of steps, and noise reaches all of them: no answer tells which."""
    for data in NEIGHBOURS[relation]:
        for seed in range(50):
            release = nb.sum(np.tile(data, 20), **spent, **facts, neighbors=relation, rng=random.Random(seed))
            if release.value is not None:
                assert steps(release.value, release.parameters["clip"]).denominator == 1


@pytest.mark.unmarked
@pytest.mark.medium
def test_grouped_sums_lie_on_a_lattice_that_the_release_tells():
    """So do the sums of groups, which come from a tally."""
    for data in NEIGHBOURS["add-remove"]:
        table = nb.Table({"x": data, "k": np.arange(len(data)) % 3})
        for seed in range(30):
            release = table.group_by("k", keys=[0, 1, 2]).sum("x", epsilon=1.0, rng=random.Random(seed))
            for value in release.values.tolist():
                assert steps(value, release.parameters["clip"]).denominator == 1


@pytest.mark.unmarked
@pytest.mark.medium
def test_noise_reaches_every_step():
    """On a coarse lattice one can watch it: sums that are seen often on one neighbour are seen on the other."""
    seen = []
    for data in MEANS["swap"]:
        releases = [nb.sum(data, epsilon=1.0, neighbors="swap", rng=random.Random(seed)) for seed in range(1200)]
        seen.append(Counter(release.value for release in releases))
    assert_one_support(*seen)


MEANS = {
    "add-remove": (np.array([True, False, True, True]), np.array([True, False, True])),
    "swap": (np.array([True, False, True, True]), np.array([True, False, True, False])),
}


def assert_one_support(one, other):
    """What was seen sixty times on one of two neighbours was seen on the other: by privacy, twenty times or so."""
    often = 0
    for here, there in ((one, other), (other, one)):
        for value, times in here.items():
            often += times >= 60
            assert times < 60 or there[value] > 0
    assert often >= 4


@pytest.mark.unmarked
@pytest.mark.medium
@pytest.mark.parametrize("relation", ["swap"])  # under add-remove so few rows are not answered
def test_means_are_quotients_of_noisy_whole_numbers(relation):
    """The means seen often on one neighbour are seen on the other, to the last bit."""
    seen = [
        Counter(nb.mean(data, epsilon=1.0, neighbors=relation, rng=random.Random(seed)).value for seed in range(1200))
        for data in MEANS[relation]
    ]
    assert_one_support(*seen)


def test_the_support_attack_catches_a_mean_of_floats():
    """The same test fails for the quotient of a float sum and a float count with noise of floats."""
    seen = []
    for data in MEANS["add-remove"]:
        rng = random.Random(1)
        seen.append(
            Counter(naive_sum(data, 1.0, rng) / max(naive_sum(np.ones(len(data)), 1.0, rng), 1) for _ in range(4000))
        )
    with pytest.raises(AssertionError):
        assert_one_support(*seen)


@pytest.mark.medium
@pytest.mark.parametrize("relation", ["add-remove", "swap"])
@pytest.mark.parametrize("spent", [{"epsilon": 1.0}, {"rho": 0.5}], ids=str)
@pytest.mark.sampled
def test_counts_are_whole_numbers(relation, spent):
    """A count is a whole number, and one near the truth of one neighbour is seen on the other."""
    seen = []
    for data in ([1.5, math.nan, 2.5], [1.5, math.nan] if relation == "add-remove" else [1.5, math.nan, math.nan]):
        found = [
            nb.count(data, **spent, neighbors=relation, rng=random.Random(seed_of(seed))).value for seed in range(1000)
        ]
        assert all(type(value) is int for value in found)
        seen.append(Counter(found))
    for here, there in (seen, reversed(seen)):
        assert all(there[value] for value, times in here.items() if times >= 60)


@pytest.mark.medium
@pytest.mark.parametrize("q", [0.5, 0.99])
@pytest.mark.parametrize("method", ["auto", "walk", "flip"])
@pytest.mark.parametrize("relation", NEIGHBOURS)
def test_quantiles_are_candidates_whatever_the_data(q, method, relation):
    """The answers with a positive probability are the same set of floats on both neighbours, by their exact laws."""
    options = {"epsilon": 1.0, "method": method, "neighbors": relation, "ladder": nb.Ladder.uniform(0, 4, 16)}
    laws = [answer_law(data, q, least=0.0, **options).pmf(-1.0, 5.0) for data in NEIGHBOURS[relation]]
    (values, masses), (others, other_masses) = laws
    assert values.tolist() == others.tolist() and len(values) > 10
    assert min(masses.sum(), other_masses.sum()) == pytest.approx(1)


@pytest.mark.medium
@pytest.mark.parametrize("q", [0.5, 0.99])
def test_quantiles_without_bounds_are_candidates(q):
    """Every answer is the roundest number of a rung of the ladders in the plan, fixed before the data are read."""
    released = set()
    for data in NEIGHBOURS["add-remove"]:
        asked = planned(column(data), (Fraction(str(q)),), epsilon=5.0)
        counts = Counts.of(column(data).chunks, asked.ladder)
        released |= {drawn(asked, counts, _bits(seed))[0] for seed in range(100)}
    assert not released & set(RECORDS.tolist())
    digits = [len(Decimal(repr(value)).normalize().as_tuple().digits) for value in released]
    assert np.mean(np.array(digits) <= 11) > 0.9  # a record has 16 digits; next to a centre rungs are as narrow


def _bits(seed):
    return random.Random(seed).getrandbits


def test_records_do_have_all_their_bits():
    """The records of this file would show among the answers if an answer were a record."""
    widths = [Fraction(x).numerator.bit_length() for x in RECORDS.tolist()]
    assert sum(width > 48 for width in widths) > 30
