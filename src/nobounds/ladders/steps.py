"""The ladders of walks over deviations in a frame, in scales from its centre, and their tilts."""

import math
from functools import lru_cache

from nobounds.ladders.ladder import Ladder
from nobounds.ladders.zoned import Zoned

FLOOR = -40  # octaves of the scale: smaller deviations are treated as 0
FINE = -8  # from this octave on rungs are fine
FAR, OTHER = 2, 1  # log2 of the rungs an octave before that and far out, and on the other side of the centre
_DOUBLED = (2, 4, 8, 16, 32)  # octaves from which steps are twice as long: light tails end near the scale
# Where counts are lowered by one step less on the way in: octave by octave from two above the scale on, and then ever
# more seldom.
TILTED = (2, 3, 4, 5, 6, 12, 22, 42, 82, 162, 322, 642)
# Where the scale is not known, octaves are counted from the one that is expected for a centre. On the way out counts
# are lowered by a nat less from these on: 2 ln(1 + octaves before / 6), so that a walk does not halt at its start.
DEEPEST = -45
_LARGEST = 1000  # the last octave in which the number of rungs may change
LOWERED = (-38, -21, -10, -4)


@lru_cache(maxsize=256)
def walk_ladder(bits: int, mirrored: bool) -> Ladder:
    """The ladder with 2**bits rungs an octave around the scale, above the centre or (mirrored) below."""
    zones = [(FLOOR, min(FAR, bits)), (FINE, bits)]
    zones += [(octave, max(bits - k, min(FAR, bits))) for k, octave in enumerate(_DOUBLED, 1)]
    rungs = Zoned(tuple(zones), OTHER, mirrored)
    return Ladder(rungs, *rungs.ends)


@lru_cache(maxsize=256)
def on_points(ladder: Ladder, octave: int) -> Ladder:
    """The ladder on a grid, for a scale of 2**`octave` points: with no more rungs in an octave than it has points.

    More rungs without a point make a walk halt earlier, so some are kept for walks: see `Route.on_points`.
    """
    rungs = ladder.map
    assert isinstance(rungs, Zoned)
    floor = min(max(rungs.zones[0][0], -octave), 0)  # octaves below this one have no point
    last = max(rungs.zones[-1][0], max(bits for _, bits in rungs.zones) - octave)
    zones: list[tuple[int, int]] = []
    for here in range(floor, min(last, _LARGEST) + 1):
        bits = min(rungs.bits_at(here), max(here + octave, 0))
        if not zones or zones[-1][1] != bits:
            zones.append((here, bits))
    fewer = Zoned(tuple(zones), rungs.other, rungs.mirrored)
    return Ladder(fewer, *fewer.ends)


@lru_cache(maxsize=256)
def inward_cuts(ladder: Ladder) -> tuple[int, ...]:
    """The positions of a walk inward where an octave of the tilt ends."""
    rungs = ladder.map
    assert isinstance(rungs, Zoned)
    outermost = -ladder.first if rungs.mirrored else ladder.last
    return tuple(outermost + 1 - rungs.at(octave) for octave in reversed(TILTED))


@lru_cache(maxsize=64)
def octave_ladder(bits: int, mirrored: bool) -> Ladder:
    """The ladder with 2**bits rungs in all octaves, where the scale is not known."""
    rungs = Zoned(((DEEPEST, bits),), OTHER, mirrored)
    return Ladder(rungs, *rungs.ends)


@lru_cache(maxsize=64)
def outward_cuts(ladder: Ladder) -> tuple[int, ...]:
    """The positions of a walk outward from the centre from which counts are lowered by one nat less."""
    assert isinstance(ladder.map, Zoned)
    return tuple(map(ladder.map.at, LOWERED))


def step_bits(octaves: float, most: int) -> int:
    """The bits for steps of about this many octaves."""
    return min(max(round(-math.log2(octaves)), 0), most)
