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

from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats
from nobounds.auditing.audit import Data
from nobounds.auditing.cases import Case, Worst, audited, neighbouring, pure_claims
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
from nobounds.mechanisms.halting import Law
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.question import Question
from nobounds.ranks.scale import Scale

LINE = Ladder.float_bits(8)
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
    search: Search, data: Sequence[Any], origin: int | None, center: Fraction = Fraction(0)
) -> list[WidthWalk]:
    """The walks for the widths of a clip."""
    return search.walks(search.deviations(viewed(data), center), ClipStart(center, origin, search.epsilon))


def widths_seen(
    search: Search,
    origin: int | None,
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
        walks = walks_of(search, (*data, *crowd), origin, Fraction(center))
        return Several(tuple(HaltedAt(walk.walk, None, walk.inward and one_end) for walk in walks))

    at = f"centre {center:g}" + ("" if origin is None else f", scale 2**{origin}") + (", a crowd" if crowd else "")
    for pair in neighbouring(spots, most, search.neighbors):
        for one, other in (map(evidence, pair), map(evidence, pair[::-1])):
            yield Worst("epsilon", abs(one.log_ratio(other, one.worst_outcome(other))), pair, at)


def outward_seen(search: Search, origin: int | None) -> Iterator[Worst]:
    """The losses of the walks outward, around two centres."""
    for center in (0.0, 1000.0):
        yield from widths_seen(search, origin, center, most=2 if origin is None else 1)


def inward_seen(search: Search) -> list[Worst]:
    """The walks inward, for small data as for large."""
    search = replace(search, tuning=replace(search.tuning, many=0))
    settings = ((1, 0.0, CROWDS[1]), (1, 0.0, CROWDS[2]), (33, 0.0, ()), (1, 1000.0, ()))
    return [one for origin, at, crowd in settings for one in widths_seen(search, origin, at, 1, crowd)]


def scale_law(search: Search, scale: Scale, data: Data) -> Floats:
    """The law of the octave of the deviations."""
    return Law(scale.walk(search.deviations(viewed(data), Fraction(2)))).log_pmf()


def center_law(question: Question, data: Data) -> Floats:
    """The median, center for a size that the data need not have."""
    ((_, _, part),) = AnswerLaw.of(question, Counts.of(floats(data), question.ladder), least=0).parts
    return part.log_pmf()


def cases() -> Iterator[Case]:
    """Walks outward and inward, one-sided and two-sided, the scale and the centre."""
    both: tuple[Neighbors, ...] = ("add-remove", "swap")
    for neighbors in both:
        for two_sided in (True, False):
            for epsilon in (Fraction(1, 2), Fraction(5)):
                yield from _walks(neighbors, two_sided, epsilon)
        for each in (Fraction(1, 4), Fraction(1)):
            yield _scale(neighbors, Scale(each, each, CLIP_TUNING.scale_rank))
        yield _center(neighbors)


def _walks(neighbors: Neighbors, two_sided: bool, epsilon: Fraction) -> Iterator[Case]:
    search = searching(neighbors, epsilon, two_sided)
    sides = "two sides" if two_sided else "magnitudes"
    looks: dict[str, Callable[[], Any]] = {"outward": partial(outward_seen, search, None)}
    if neighbors == "swap":
        looks["outward, scaled"] = partial(outward_seen, search, 1)
    looks["inward"] = partial(inward_seen, search)
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
        )


def _scale(neighbors: Neighbors, scale: Scale) -> Case:
    spots = (-3.0, 2.0, 2.5, 1e9, 1e200, MISSING)
    return Case(
        "clip, scale",
        f"eps1 {scale.eps1}, eps2 {scale.eps2}",
        "exponential",
        neighbors,
        "row",
        lambda: pure_claims(scale.cost(neighbors, False)),
        lambda: audited(partial(scale_law, searching(neighbors), scale), spots, 3, neighbors),
        tight=("epsilon", "range") if neighbors == "add-remove" else ("epsilon",),
        quick=scale.eps1 == 1,
    )


def _center(neighbors: Neighbors) -> Case:
    def question() -> Question:
        center = searching(neighbors, 8).center(CLIP_TUNING.center_nats(neighbors))
        assert center is not None
        return center

    spots = (-3.0, 0.0, 5.0, 1e9, MISSING)
    return Case(
        "clip, centre",
        "epsilon 1",
        "exponential",
        neighbors,
        "row",
        lambda: pure_claims(question().cost()),
        lambda: audited(partial(center_law, question()), spots, 3, neighbors),
        tight=(),
    )
