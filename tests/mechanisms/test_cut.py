"""The cut: what is drawn has the law of a choice among pairs of number and tag, and neighbours differ by its cost."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from support.laws import chi_square
from support.small import masses_of, neighbours, order_of, whole_line

import nobounds as nb
from nobounds.answers import many
from nobounds.answers.spent import Part
from nobounds.auditing.evidence.chosen import CutAt
from nobounds.auditing.lockstep import Apart, lockstep
from nobounds.core.prior import Around, float_of, key_of
from nobounds.mechanisms.choice import choice_cost
from nobounds.mechanisms.cut import Cut, Slice
from nobounds.programs.program import Draw

LAST = 6
LINE = whole_line(LAST)
MASSES = masses_of(LAST, LINE)
RELATIONS = pytest.mark.parametrize("relation", ["add-remove", "swap"])


def cut(data, q, rate, piece=None, **how):
    order = order_of(data, LINE, **how)
    piece = piece or Slice(0, order.total, *order.line.ends)
    return Cut(order, piece, F(q), F(rate), lambda: None)


def law(data, q, rate, first=0, last=LAST):
    """P(number, records below its pair), averaged over the tags: the distances of sorted tags are a Dirichlet law."""
    rng, target, outcomes = np.random.default_rng(0), float(q * len(data)), {}
    weights = []
    for number in range(first, last + 1):
        at = sum(x == number for x in data)
        gaps = rng.dirichlet(np.ones(at + 1), 20_000)
        below = sum(x < number for x in data) + np.arange(at + 1)
        outcomes |= {(number, int(rank)): None for rank in below}
        weights.append(MASSES[number] * gaps * np.exp(-float(rate) * np.abs(below - target)))
    weights = np.concatenate(weights, axis=1)
    chances = (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)
    return dict(zip(outcomes, chances.tolist(), strict=True))


DATA = {
    "none": [],
    "one": [2],
    "few": [0, 3, 3, 5],
    "ties": [1] * 3 + [4] * 20 + [5] * 2,
    "many": np.random.default_rng(0).integers(0, LAST + 1, 60).tolist(),
}


@pytest.mark.medium
@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
@pytest.mark.parametrize(("q", "rate"), [(F(1, 2), F(1)), (F(1, 3), F(1, 8)), (F(4, 5), F(30))])
def test_draws_have_the_law_of_a_choice_among_pairs(data, q, rate):
    """A number, and how many records lie below its pair."""
    expected, source = law(data, q, rate), random.Random(1).getrandbits
    places = {outcome: k for k, outcome in enumerate(expected)}
    for how in ({}, {"chunks": 3}):
        drawn = [cut(data, q, rate, **how).draw(source) for _ in range(500)]
        seen = np.bincount([places[int(float_of(key)), rank] for key, rank in drawn], minlength=len(places))
        assert chi_square(seen, list(expected.values())) > 1e-9


@pytest.mark.medium
def test_draws_of_a_slice_keep_to_its_records_and_numbers():
    """Its ends are candidates with their whole mass, where records of other slices lie too."""
    data, source = [0, 2, 2, 2, 2, 4, 4, 6], random.Random(2).getrandbits
    piece = Slice(2, 6, key_of(2.0), key_of(4.0))  # three of the twos and one four
    expected = law([2, 2, 2, 4], F(1, 2), F(1), 2, 4)
    places = {(number, rank + 2): k for k, (number, rank) in enumerate(expected)}
    drawn = [cut(data, F(1, 2), F(1), piece).draw(source) for _ in range(2000)]
    seen = np.bincount([places[int(float_of(key)), rank] for key, rank in drawn], minlength=len(places))
    assert chi_square(seen, list(expected.values())) > 1e-9
    wrong = law([2, 2, 2, 4], F(1, 2), F(2), 2, 4)
    assert chi_square(seen, list(wrong.values())) < 1e-9


def test_an_end_without_a_record_stays_a_candidate():
    """A slice without any record draws both its ends, by the prior."""
    piece = Slice(1, 1, key_of(2.0), key_of(4.0))
    drawn = [float_of(cut([1, 5], F(1, 2), F(1), piece).draw(random.Random(k).getrandbits)[0]) for k in range(60)]
    assert set(drawn) == {2, 3, 4}


@RELATIONS
@pytest.mark.parametrize("q", [F(1, 2), F(3, 4)], ids=str)
def test_the_cost_holds_and_bites(q, relation):
    """For records with the same tags no pair tells more than epsilon; some tell most of it."""
    rate = F(3)
    cost, most, widest = choice_cost(q, rate, relation), 0.0, 0.0
    for pair in neighbours((0, 3, LAST), 4, relation):
        one, other = (CutAt(cut(data, q, rate), (0, 0)) for data in pair)
        forth, back = one.log_ratio(other, one.worst_outcome(other)), other.log_ratio(one, other.worst_outcome(one))
        most, widest = max(most, abs(forth), abs(back)), max(widest, forth + back)
    assert most <= float(cost.epsilon) * (1 + 1e-9) and widest <= float(cost.eta) * (1 + 1e-9)
    assert widest > 0.95 * float(cost.eta)
    assert most > 0.7 * float(cost.epsilon)


# --- halving ------------------------------------------------------------------------------------------------------

QS = (F(1, 4), F(1, 2), F(3, 4))


@pytest.mark.medium
@pytest.mark.parametrize("data", [[0, 0, 2], [1, 1, 1], [1, 2], []], ids=str)
def test_three_quantiles_have_the_law_of_a_root_and_its_children(data):
    """The middle one first, and then one of each closed slice, with tags drawn afresh."""
    ladder = whole_line(2)
    rate = many.cut_rate(Part(F(3, 2), False, "add-remove"), F(1, 2))
    masses = masses_of(2, ladder)
    expected = {}
    for (middle, rank), chance in node(data, 0, 2, masses, rate).items():
        below, above = (around(masses, ladder, *ends, middle) for ends in ((0, middle), (middle, 2)))
        for (low, _), one in node(data[:rank], 0, middle, below, rate).items():
            for (high, _), other in node(data[rank:], middle, 2, above, rate).items():
                outcome = (low, middle, high)
                expected[outcome] = expected.get(outcome, 0.0) + chance * one * other
    driver, places = Draw(random.Random(3).getrandbits), {outcome: k for k, outcome in enumerate(expected)}
    drawn = []
    for _ in range(800):
        keys = driver.run(many.halved(order_of(data, ladder), QS, [Part(F(3, 2), False, "add-remove")] * 2))
        drawn.append(places[tuple(int(float_of(key)) for key in keys)])
    assert chi_square(np.bincount(drawn, minlength=len(places)), list(expected.values())) > 1e-9


def around(masses, ladder, first, last, middle):
    """The masses of a slice beside a number, half of them around it, on the scale of the number itself."""
    if not middle:
        return masses
    ends = [key_of(float(end)) for end in (first, last)]
    prior = Around(order_of([], ladder).line.prior, *ends, first == middle, F(middle))
    weights = [prior.mass(key, key) for key in map(key_of, (0.0, 1.0, 2.0))]
    return [weight / sum(weights) for weight in weights]


def node(data, first, last, masses, rate):
    """The law of a cut at 1/2 of these records, between two numbers."""
    rng, outcomes, weights = np.random.default_rng(0), [], []
    for number in range(first, last + 1):
        at = data.count(number)
        below = sum(x < number for x in data) + np.arange(at + 1)
        outcomes += [(number, int(rank)) for rank in below]
        gaps = rng.dirichlet(np.ones(at + 1), 20_000)
        weights.append(masses[number] * gaps * np.exp(-float(rate) * np.abs(below - len(data) / 2)))
    weights = np.concatenate(weights, axis=1)
    return dict(zip(outcomes, (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0).tolist(), strict=True))


def audited(pairs, worst=True):
    """The largest part of the charge that three quantiles told; whatever else tells runs apart is raised."""

    def call(data, driver, budget):
        return nb.quantiles(np.array(data), QS, epsilon=20, rng=driver, budget=budget, lower=0, upper=LAST)

    both = [(*pair[::way], seed) for seed, pair in enumerate(pairs) for way in (1, -1)]
    return max(lockstep(call, *pair, worst=worst, seed=seed).ratios()["epsilon"] for *pair, seed in both)


def removed(numbers, most):
    """Data of these numbers, and the same without one record."""
    return [pair[::-1] for pair in neighbours(numbers, most, "add-remove")]


def test_halving_tells_no_more_than_it_costs():
    """Three quantiles, one after the other, on data with ties."""
    assert 0.3 < audited(removed((0.0, 3.0), 4)) <= 1


def test_an_end_that_is_a_candidate_only_of_a_slice_with_records_is_caught(monkeypatch):
    """Which numbers can be drawn would show which records there are."""
    below = Slice.below

    def without_its_end(self, key, rank):
        return below(self, key - 1 if rank == self.start else key, rank)

    monkeypatch.setattr(Slice, "below", without_its_end)
    with pytest.raises(Apart, match="one run decides"):
        audited([([3.0, 3.0], [3.0])] * 40, worst=False)


def test_ties_that_are_cut_at_the_target_rank_are_caught(monkeypatch):
    """One record more would move another one across, and both slices would change."""

    def at_the_target(self, pair):
        low, high = self.cut.ranks(pair[0])
        piece = self.cut.piece
        return min(max(int(self.cut.q * (piece.stop - piece.start)) + piece.start, low), high)

    pairs = [((0.0, *data), data) for _, data in neighbours((0.0, 3.0), 8, "add-remove")]
    assert audited(pairs) <= 1
    monkeypatch.setattr(CutAt, "_rank", at_the_target)
    with pytest.raises(Apart, match="a decision tells"):
        audited(pairs)


def test_records_stay_hidden():
    """The repr of a cut shows the slice, and no record."""
    assert "hidden" in repr(cut([4], F(1, 2), F(1))) and str(key_of(4.0)) not in repr(cut([4], F(1, 2), F(1)))
