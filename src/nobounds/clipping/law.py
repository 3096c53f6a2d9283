"""The law of a clip: a mixture over its centre, scale and width, computed by summation without sampling.

The constants of `clipping.clip` were chosen with this law, and its promises are tested against it. Centres are grouped
into a few of equal probability; everything else is exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nobounds.arrays import Floats
from nobounds.clipping.clip import Search
from nobounds.counting.scan import Records
from nobounds.counting.second_look import Counts
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.scale import octave

LEAST = 1e-7  # clips with less probability are left out
CENTERS = 12


@dataclass(frozen=True, slots=True, eq=False)
class ClipPart:
    """A centre with its probability, and given it the independent laws of the lower and the upper clip."""

    chance: float
    center: float
    lows: Floats
    low_chances: Floats
    highs: Floats
    high_chances: Floats


def clip_law(
    search: Search, records: Records, size: int, centers: int = CENTERS, least_scale: float = 1e-5
) -> list[ClipPart]:
    """The law of the clip when the noisy size is `size`; scales of less probability than `least_scale` are left out."""
    settled: dict[tuple[Fraction, int | None, Fraction], float] = {}
    for chance, center, left in _centers(search, records, size, centers):
        scale = search.scale(size, left)
        origins: list[tuple[float, int | None]] = [(1.0, None)]
        if scale is not None:
            halts, masses = _masses(scale.walk(search.deviations(records, center)))
            origins = [(float(mass), octave(halt)) for halt, mass in zip(halts, masses, strict=True)]
            left -= scale.cost(search.neighbors, False).epsilon
        for mass, origin in origins:
            if mass * chance > least_scale:
                key = (*search.settle(center, origin), left)
                settled[key] = settled.get(key, 0.0) + mass * chance
    return [_part(search, records, chance, *key) for key, chance in settled.items()]


def _centers(search: Search, records: Records, size: int, count: int) -> Iterator[tuple[float, Fraction, Fraction]]:
    """Centres with their probability, and what is left of epsilon."""
    question = search.center(size)
    if question is None:
        yield 1.0, search.within(Fraction(0)), search.epsilon
        return
    left = search.epsilon - question.cost().epsilon
    values, masses = AnswerLaw.of(question, Counts.of(records, question.ladder), least=1e-4).pmf(-np.inf, np.inf)
    groups = np.minimum((np.cumsum(masses) - masses / 2) / masses.sum() * count, count - 1e-9).astype(int)
    for group in np.unique(groups):
        chosen = groups == group
        middle = values[chosen][np.searchsorted(np.cumsum(masses[chosen]), masses[chosen].sum() / 2)]
        yield float(masses[chosen].sum() / masses.sum()), search.within(Fraction(float(middle))), left


def _part(
    search: Search, records: Records, chance: float, center: Fraction, origin: int | None, epsilon: Fraction
) -> ClipPart:
    nothing = Fraction(0)
    walks = search.walks(search.deviations(records, center), center, origin, epsilon)
    lows, highs = (np.array([float(center)]), np.ones(1)), (np.array([float(center)]), np.ones(1))
    for which, side in enumerate(search.sides(center)):
        halts, masses = _masses(walks[which].walk)
        widths = [search.width(walks[which].candidates, halt) for halt in halts]
        clips = [
            search.clip(center, [width if k == which else nothing for k in range(len(walks))], True) for width in widths
        ]
        lows = (np.array([float(clip.low) for clip in clips]), masses) if side <= 0 else lows
        highs = (np.array([float(clip.high) for clip in clips]), masses) if side >= 0 else highs
    return ClipPart(chance, float(center), *lows, *highs)


def _masses(walk: Walk) -> tuple[list[int | None], Floats]:
    """The halting positions with probability above LEAST, and these probabilities; None stands for never halting."""
    law = Law(walk)
    coarse = np.unique(np.concatenate([walk.starts, np.linspace(0, walk.length, 200).astype(np.int64)]))
    tails = law.tail(coarse)
    first = int(coarse[max(int(np.searchsorted(-tails, LEAST - 1)) - 1, 0)])
    last = int(coarse[min(int(np.searchsorted(-tails, -LEAST)), len(coarse) - 1)])
    positions = np.arange(first, last)
    tails = law.tail(np.arange(first, last + 1))
    never = float(law.tail([walk.length])[0])
    masses = np.append(tails[:-1] - tails[1:], never)
    kept = masses > LEAST
    halts: list[int | None] = [*positions.tolist(), None]
    return [halt for halt, keep in zip(halts, kept, strict=True) if keep], masses[kept]
