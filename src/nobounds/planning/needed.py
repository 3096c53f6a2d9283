"""The smallest epsilon that is enough, by bisection: with quick looks first, and careful ones near the answer."""

from collections.abc import Callable
from fractions import Fraction

from nobounds.accounting import enough
from nobounds.exact import text_up

LEAST, MOST = Fraction(1, 10**6), Fraction(enough.MOST)  # the range of the search
_FAR, _NEAR, _CLOSE = Fraction(4), Fraction(6, 5), Fraction(21, 20)
_STEPS = 20  # of three digits, if the number rounded up is not enough

Reached = Callable[[Fraction], bool]


def smallest(quick: Reached, reached: Reached) -> Fraction | None:
    """The smallest number of three digits that is enough, where more is enough too; None if there is none up to MOST.

    `quick` may be wrong near the answer; the number that is returned passed `reached`.

    >>> float(smallest(lambda x: x > 2, lambda x: x * x >= 3))
    1.81
    """
    rough = _bracket(quick, Fraction(1), _FAR) or (MOST, MOST)
    _, high = _narrowed(quick, *rough, _NEAR)
    bracket = _bracket(reached, high, _NEAR)
    if bracket is None:
        return None
    _, high = _narrowed(reached, *bracket, _CLOSE)
    for _ in range(_STEPS):
        high = min(Fraction(text_up(float(high), 3)), MOST)
        if reached(high) or high == MOST:
            break
        high *= Fraction(1001, 1000)
    return high if reached(high) else None


def _bracket(reached: Reached, start: Fraction, ratio: Fraction) -> tuple[Fraction, Fraction] | None:
    """Two numbers: the larger is enough, the smaller is not unless it is LEAST; None if MOST is not enough."""
    here = start
    if reached(here):
        while here > LEAST:
            below = max(here / ratio, LEAST)
            if not reached(below):
                return below, here
            here = below
        return LEAST, LEAST
    while here < MOST:
        above = min(here * ratio, MOST)
        if reached(above):
            return here, above
        here = above
    return None


def _narrowed(reached: Reached, low: Fraction, high: Fraction, ratio: Fraction) -> tuple[Fraction, Fraction]:
    """The same two, narrowed until they are within a ratio of each other."""
    while high > low * ratio:
        middle = Fraction(float(low * high) ** 0.5).limit_denominator(10**9)
        low, high = (low, middle) if reached(middle) else (middle, high)
    return low, high
