"""The law of a clip before octaves move it: a mixture over its centre, scale and width, by summation without sampling.

The constants of `clipping.clip` were chosen with this law, and its promises are tested against it. Centres are grouped
into a few of equal probability; everything else is exact.
"""

from fractions import Fraction

import numpy as np

from nobounds.arrays import Floats
from nobounds.clipping.clip import ClipStart, ClipView, Search
from nobounds.clipping.view import RecordsView
from nobounds.counting.scan import Records
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk
from nobounds.programs.law import paths
from nobounds.values import dataclass

LEAST = 1e-7  # clips with less probability are left out


@dataclass(frozen=True, slots=True, eq=False)
class ClipPart:
    """A centre with its probability, and given it the independent laws of the lower and the upper clip."""

    chance: float
    center: float
    lows: Floats
    low_chances: Floats
    highs: Floats
    high_chances: Floats


def clip_law(search: Search, records: Records, size: int, least_scale: float = 1e-5) -> list[ClipPart]:
    """The law of the clip when the noisy size is `size`; scales of less probability than `least_scale` are left out."""
    view, chances = RecordsView(records), dict[ClipStart, float]()
    for chance, start in paths(lambda: search.start(view, size), least_scale):
        chances[start] = chances.get(start, 0.0) + chance
    return [_part(search, view, chance, start) for start, chance in chances.items()]


def _part(search: Search, view: ClipView, chance: float, start: ClipStart) -> ClipPart:
    center, nothing = start.center, Fraction(0)
    if not search.walks_from(start):
        width = search.width_at(search.beginning, start.octave)
        clip = search.clip(center, [width] * len(search.sides(center)), True)
        return ClipPart(chance, float(center), *(each for end in (clip.low, clip.high) for each in _always(float(end))))
    walks = search.walks(search.deviations(view, start), start)
    lows, highs = _always(float(center)), _always(float(center))
    for which, (side, walk) in enumerate(zip(search.sides(center), walks, strict=True)):
        halts, masses = _masses(walk.walk)
        widths = [search.width(walk.candidates, halt, start.octave) for halt in halts]
        clips = [
            search.clip(center, [width if k == which else nothing for k in range(len(walks))], True) for width in widths
        ]
        lows = (np.array([float(clip.low) for clip in clips]), masses) if side <= 0 else lows
        highs = (np.array([float(clip.high) for clip in clips]), masses) if side >= 0 else highs
    return ClipPart(chance, float(center), *lows, *highs)


def _always(end: float) -> tuple[Floats, Floats]:
    """An end that is the same always."""
    return np.array([end]), np.ones(1)


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
