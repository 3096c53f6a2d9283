"""Kept records: a look at some ranks is exact where it says so, covers them, and is read once."""

from fractions import Fraction

import numpy as np
import pytest
from support.chance import seed_of

from nobounds.counting import kept, second_look
from nobounds.counting.second_look import Counts
from nobounds.ladders.frame import Frame
from nobounds.ladders.ladder import Ladder
from nobounds.ranks.route import placed

COARSE = (Ladder.float_bits(3), Ladder.float_bits(0), Ladder.grid(1, 2))


def records(kind: int, rng: np.random.Generator, n: int) -> np.ndarray:
    """Smooth data, whole numbers, a heap at 0, or data far from 0."""
    if kind == 0:
        return rng.lognormal(3, 0.8, n)
    if kind == 1:
        return np.round(rng.normal(0, 3, n))
    if kind == 2:
        return np.where(rng.random(n) < 0.5, 0, np.round(rng.lognormal(3, 1, n), 1))
    return 1e6 + rng.normal(0, 0.1, n)


def finer(values: np.ndarray) -> tuple[Ladder, ...]:
    """Ladders that are finer than coarse ones, coarser, or cross their edges."""
    return (
        Ladder.float_bits(12, -1022),
        Ladder.float_bits(1),
        placed(Ladder.grid(Fraction(1, 64), 6), Frame(float(np.median(values)), 1, None)),
        placed(Ladder.grid(Fraction(1, 2), 1), Frame(3.3, 3, None)),
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("most", "many"), [(1 << 20, 1 << 18), (40, 1 << 18), (40, 10)])
@pytest.mark.sampled
def test_looks_are_exact_where_they_say_so(seed, most, many, monkeypatch):
    """On exact rungs the counts are those of all records, and so is the number of records below them."""
    monkeypatch.setattr(kept, "MOST", most)
    monkeypatch.setattr(second_look, "MANY", many)
    rng = np.random.default_rng(seed_of(seed))
    for _ in range(40):
        values = records(int(rng.integers(4)), rng, int(rng.integers(1, 400)))
        counts = Counts.of(lambda values=values: [values], COARSE[rng.integers(3)])
        ladder, starts = finer(values)[rng.integers(4)], rng.uniform(-5, len(values), rng.integers(1, 4))
        ranks = [(float(start), float(start + rng.uniform(0, 20))) for start in starts]
        near, exact = counts.near(ladder, ranks)
        full, rungs = counts.full(ladder), ladder.rungs(np.sort(values))
        assert near.total == full.total
        for (low, high), (first, last) in zip(ranks, exact, strict=True):
            here, there = (
                [(rung, count) for rung, count in zip(each.rungs, each.counts, strict=True) if first <= rung <= last]
                for each in (near, full)
            )
            assert here == there and (first > last or near.below(first) == full.below(first))
            if most > 400:
                inside = rungs[max(0, int(np.ceil(low)) - 1) : max(0, int(high) + 1)]
                assert ((first <= inside) & (inside <= last)).all()


def test_records_that_are_needed_soon_come_in_the_same_pass():
    """So the levels of a summary read the records twice, however many they are."""
    values, passes = np.random.default_rng(0).lognormal(3, 0.8, 50_000), []
    counts = Counts.of(lambda: passes.append(1) or [values], Ladder.float_bits())
    ladder, (first, second) = Ladder.float_bits(20), ((100.0, 120.0), (30_000.0, 30_050.0))
    counts.near(ladder, [first], soon=[second])
    counts.near(ladder, [second])
    counts.near(ladder, [second, first])
    assert len(passes) == 2
    assert 0 < len(counts.kept.read) < 40 < len(counts.coarse.rungs)


def test_no_more_records_are_kept_than_fit(monkeypatch):
    """A heap of more is counted, chunk by chunk."""
    monkeypatch.setattr(kept, "MOST", 1000)
    values = np.append(np.full(5000, 7.0), np.linspace(1, 100, 5000))
    counts = Counts.of(lambda: [values], Ladder.float_bits())
    near, exact = counts.near(Ladder.float_bits(20), [(3000.0, 3010.0)])
    assert not counts.kept.read and near.total == 10_000
    assert exact[0][0] <= int(Ladder.float_bits(20).rungs(np.array([7.0]))[0]) <= exact[0][1]


def test_rungs_of_very_many_records_are_split_before_they_are_counted(monkeypatch):
    """So a look holds as many rungs for ten times the records, and what it says of the ranks is the same."""
    monkeypatch.setattr(kept, "MOST", 0)
    monkeypatch.setattr(second_look, "MANY", 1000)
    fine, seen = Ladder.float_bits(40), []
    counted = second_look.Within.__call__
    monkeypatch.setattr(
        second_look.Within, "__call__", lambda self, chunks: seen.append(counted(self, chunks)) or seen[-1]
    )
    for n in (20_000, 200_000):
        values = np.random.default_rng(0).uniform(1000, 1001, n)  # all on one coarse rung
        counts = Counts.of(lambda values=values: [values], Ladder.float_bits(3))
        near, ((first, last),) = counts.near(fine, [(n / 2 - 10.0, n / 2 + 10.0)])
        middle = fine.rungs(np.sort(values)[n // 2 - 10 : n // 2 + 10])
        assert first <= middle[0] and middle[-1] <= last and near.total == n and len(near.rungs) < 40
        assert all(near.below(rung) == n // 2 - 10 + k for k, rung in enumerate(middle.tolist()))
    assert len(seen) > 4 and max(len(each.rungs) for each in seen) <= 1000
