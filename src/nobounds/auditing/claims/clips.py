"""The cases of the search for a clip: its walks on both sides of a centre, its scale and its centre.

The walks for the widths are independent, so the worst joint outcome consists of the worst outcomes of each.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from nobounds.accounting.cost import pure
from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats
from nobounds.auditing.audit import Data
from nobounds.auditing.cases import Case, Worst, audited, neighbouring, pure_claims
from nobounds.auditing.claims import answers
from nobounds.auditing.evidence.numbers import Several
from nobounds.auditing.evidence.walks import HaltedAt
from nobounds.clipping.clip import ClipStart, Search
from nobounds.clipping.tuning import CLIP_TUNING, ClipTuning
from nobounds.clipping.view import RecordsView
from nobounds.clipping.widths import WidthWalk
from nobounds.counting.scan import Records
from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.exponential_mechanism import weighted_law
from nobounds.ranks.framing import HALF, Around, FrameRule, octave_runs
from nobounds.ranks.view import View

LINE = Ladder.float_bits(8)
FEW, SHORT = answers.FEW, replace(CLIP_TUNING, ranks=answers.SHORT)  # all numbers under the prior are few here
MISSING = math.nan
FAR, NEAR = 2.0**35, 2.0**-35  # deviations with hundreds of empty candidates between them and on either side
SPOTS = (-FAR, -NEAR, 0.0, NEAR, FAR, MISSING)
# Records in every data set with which walks halt, or nearly halt, at every position where they can.
CROWDS: tuple[tuple[float, ...], ...] = ((), (FAR * 2,) * 10, (NEAR / 8,) * 60)


def searching(
    neighbors: Neighbors,
    epsilon: Fraction | int = 1,
    two_sided: bool = True,
    ladder: Ladder = LINE,
    nullable: bool = True,
    tuning: ClipTuning = CLIP_TUNING,
) -> Search:
    """A search for this epsilon."""
    return Search(Fraction(epsilon), neighbors, ladder, two_sided, nullable, tuning=tuning)


def floats(data: Sequence[Any]) -> Records:
    """Records of a column."""
    return column(np.array(data, dtype=float)).chunks


def viewed(data: Sequence[Any]) -> RecordsView:
    """The same, as a search sees them."""
    return RecordsView(floats(data))


def walks_of(
    search: Search, data: Sequence[Any], octave: int | None, center: Fraction = Fraction(0)
) -> list[WidthWalk]:
    """The walks for the widths of a clip, around a centre and with the octave of a scale, if there is one."""
    start = ClipStart(center, octave, search.epsilon)
    return search.walks(search.deviations(viewed(data), start), start)


def widths_seen(
    search: Search,
    octave: int | None,
    center: float = 0.0,
    most: int = 1,
    crowd: tuple[float, ...] = (),
    one_end: bool = True,
) -> Iterator[Worst]:
    """What the widths of a clip tell, over all neighbours of `most` records and a crowd.

    `one_end` as in `Halt`: without it, never halting is distinct from halting at the last candidate.
    """
    spots = tuple(dict.fromkeys(center + spot if spot == spot else spot for spot in SPOTS))
    crowd = tuple(center + record for record in crowd)

    @cache
    def evidence(data: Data) -> Several:
        walks = walks_of(search, (*data, *crowd), octave, Fraction(center))
        return Several(tuple(HaltedAt(walk.walk, None, walk.inward and one_end) for walk in walks))

    at = f"centre {center:g}" + ("" if octave is None else f", scale 2**{octave}") + (", a crowd" if crowd else "")
    for pair in neighbouring(spots, most, search.neighbors):
        for one, other in (map(evidence, pair), map(evidence, pair[::-1])):
            yield Worst("epsilon", abs(one.log_ratio(other, one.worst_outcome(other))), pair, at)


def outward_seen(search: Search, octave: int | None, centers: tuple[float, ...] = (0.0, 1000.0)) -> Iterator[Worst]:
    """The losses of the walks outward, around these centres."""
    for center in centers:
        yield from widths_seen(search, octave, center, most=2 if octave is None else 1)


def inward_seen(search: Search, octaves: tuple[int | None, int | None]) -> list[Worst]:
    """The walks inward, for small data as for large, with scales that fit the data and that do not."""
    search = replace(search, tuning=replace(search.tuning, many=0))
    one, other = octaves
    settings = ((one, 0.0, CROWDS[1]), (one, 0.0, CROWDS[2]), (other, 0.0, ()), (one, 1000.0, ()))
    return [worst for octave, at, crowd in settings for worst in widths_seen(search, octave, at, 1, crowd)]


def center_law(search: Search, rule: FrameRule, data: Data) -> Floats:
    """The law of the centre of a frame."""
    decision = View(Counts.of(floats(data), search.ladder)).center(rule.center, partial(pure, rule.center.epsilon))
    assert decision.full is not None
    return weighted_law(decision.full()).log_pmf()


def scale_law(rule: FrameRule, data: Data) -> Floats:
    """The law of the octave of the magnitudes, where they are searched for."""
    rate = rule.eps_scale / 2 if rule.neighbors == "swap" else rule.eps_scale
    octaves = View(Counts.of(floats(data), LINE)).octaves(Around(0.0, None))
    return weighted_law(octave_runs(octaves, rate, rule.heaped)).log_pmf()


def cases() -> Iterator[Case]:
    """Walks outward and inward, one-sided and two-sided, the scale and the centre."""
    both: tuple[Neighbors, ...] = ("add-remove", "swap")
    for neighbors in both:
        for two_sided in (True, False):
            for epsilon in (Fraction(1, 2), Fraction(5)):
                yield from _walks(neighbors, two_sided, epsilon)
        yield _scale(neighbors)
        yield _center(neighbors)


def _walks(neighbors: Neighbors, two_sided: bool, epsilon: Fraction) -> Iterator[Case]:
    search = searching(neighbors, epsilon, two_sided)
    sides = "two sides" if two_sided else "magnitudes"
    looks: dict[str, Callable[[], Any]] = {"inward": partial(inward_seen, search, (0, 32))}
    if neighbors == "swap":
        looks["outward"] = partial(outward_seen, search, None)
        looks["outward, scaled"] = partial(outward_seen, search, 0)
    else:
        looks["inward, by octaves"] = partial(inward_seen, search, (None, None))
    briefs: dict[str, Callable[[], Any]] = {"outward": partial(outward_seen, search, None, (0.0,))}
    for direction, look in looks.items():
        yield Case(
            f"clip, walks {direction}",
            f"{sides}, epsilon {epsilon}",
            "exponential",
            neighbors,
            "row",
            lambda: {"epsilon": float(search.cost().epsilon)},
            look,
            tight=("epsilon",),
            quick=two_sided and epsilon == 5 and direction == "inward",
            brief=briefs.get(direction),
        )


def _rule(neighbors: Neighbors, two_sided: bool) -> FrameRule:
    """The frame of a search that 100 records pay for."""
    rule = searching(neighbors, 8, two_sided, ladder=FEW, tuning=SHORT).frame(100)
    assert rule is not None
    return rule


def _scale(neighbors: Neighbors) -> Case:
    rule = _rule(neighbors, two_sided=False)
    spots = (-1e300, 0.0, 1e-85, 2.5, 1e300, MISSING)
    return Case(
        "clip, scale",
        f"epsilon {rule.eps_scale}",
        "Gumbel",
        neighbors,
        "row",
        lambda: pure_claims(rule.scale_cost()),
        lambda: audited(partial(scale_law, rule), spots, 3, neighbors),
        tight=("epsilon", "range") if neighbors == "add-remove" else ("range",),
        quick=True,
    )


def _center(neighbors: Neighbors) -> Case:
    rule, search = _rule(neighbors, two_sided=True), searching(neighbors, 8, ladder=FEW, tuning=SHORT)
    spots = (-64.0, -61.0, 0.0, 5.0, 64.0, MISSING)
    return Case(
        "clip, centre",
        f"epsilon {rule.center.epsilon}",
        "Gumbel",
        neighbors,
        "row",
        lambda: pure_claims(rule.center.cost(HALF, neighbors, nullable=True)),
        lambda: audited(partial(center_law, search, rule), spots, 3, neighbors),
        tight=(),
    )
