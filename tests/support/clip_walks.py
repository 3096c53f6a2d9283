"""The walks of a search for a clip on small data, and the exact joint law of the widths that they lead to."""

import math
from fractions import Fraction as F

import numpy as np

from nobounds.auditing.audit import all_data, neighbors_of
from nobounds.clipping.clip import ClipStart, Search
from nobounds.clipping.tuning import CLIP_TUNING
from nobounds.clipping.view import RecordsView
from nobounds.clipping.widths import DEVIATIONS
from nobounds.engines.memory.arrays import column
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.halting import Law

LINE = Ladder.float_bits(8)
MISSING = math.nan
FAR, NEAR = 2.0**35, 2.0**-35  # deviations with hundreds of empty candidates between them and on either side
SPOTS = (-FAR, -NEAR, 0.0, NEAR, FAR, MISSING)
# Records in every data set with which walks halt, or nearly halt, at every position where they can.
CROWDS = ((), (FAR * 2,) * 10, (NEAR / 8,) * 60)
DEEP = -600.0  # laws represent log-probabilities down to -740


def searching(neighbors, epsilon=1, two_sided=True, ladder=LINE, nullable=True, tuning=CLIP_TUNING):
    """A search for this epsilon."""
    return Search(F(epsilon), neighbors, ladder, two_sided, nullable, tuning=tuning)


def floats(data):
    """The records of a column."""
    return column(np.array(data, dtype=float)).chunks


def viewed(data):
    """The same, as a search sees them."""
    return RecordsView(floats(data))


def walks_of(search, data, origin, center=F(0)):
    """The walks for the widths of a clip."""
    return search.walks(search.deviations(viewed(data), center), ClipStart(center, origin, search.epsilon))


def telling(walk):
    """Positions of a walk that characterise its law: around every spot, spread over the rest, and the last one."""
    if len(walk.candidates) < 2000:
        return np.arange(len(walk.candidates))
    spots = np.abs(DEVIATIONS.rungs(np.array([*(x for crowd in CROWDS for x in crowd), NEAR, FAR, 1.0, 2.0**32])))
    near = (spots[:, None] + np.array([-1, 0, 1])).ravel()
    return np.unique(np.concatenate([near, np.linspace(0, len(walk.candidates) - 1, 60).astype(int)]))


def log_positions(walk):
    """Log-probabilities of the position; never halting is distinct from halting at the last."""
    return Law(walk.walk).log_pmf(telling(walk))


def log_widths(walk):
    """Log-probabilities of the width; a walk that never halts has the width of its last candidate."""
    law = log_positions(walk)
    return np.append(law[:-2], np.logaddexp(law[-2], law[-1]))


def worst_loss(search, origin, center=0.0, most=1, crowd=(), law=log_widths):
    """The worst log-ratio of the joint law of all widths, over all neighbours of `most` records and a crowd.

    The walks are independent, so the worst joint outcome consists of the worst outcomes of each.
    """
    spots = tuple(dict.fromkeys(center + spot if spot == spot else spot for spot in SPOTS))
    crowd = tuple(center + record for record in crowd)
    laws = {}

    def laws_of(data):
        if data not in laws:
            laws[data] = [law(walk) for walk in walks_of(search, (*data, *crowd), origin, F(center))]
        return laws[data]

    worst = 0.0
    for x in all_data(spots, most, 1 if search.neighbors == "swap" else 0):
        for y in neighbors_of(x, spots, search.neighbors):
            ratios = []
            for a, b in zip(laws_of(x), laws_of(y), strict=True):
                assert not (np.isnan(a) | np.isnan(b)).any(), "a law has no NaN"
                seen = np.maximum(a, b) > DEEP
                ratios.append(a[seen] - b[seen])
            worst = max(worst, math.fsum(r.max() for r in ratios), -math.fsum(r.min() for r in ratios))
    return worst
