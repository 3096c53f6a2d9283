"""How keys that are not public are chosen: by their noisy counts if only counts are wanted, or before a statistic.

All of it follows from public parameters.
"""

from fractions import Fraction

from nobounds.groups.key_counts import KeyCounts
from nobounds.groups.key_selection import KeySelection

KEY_SHARE = Fraction(1, 4)  # of epsilon, for the choice of keys before a statistic
VALUE_SHARE = Fraction(3, 5)  # likewise before counts: noise on these is small beside what keys need

KeyChoice = KeySelection | KeyCounts


def chosen_before(epsilon: Fraction, delta: Fraction, groups_per_unit: int) -> KeySelection:
    """The choice of keys before a statistic of their groups."""
    return KeySelection(KEY_SHARE * epsilon, delta, groups_per_unit)


def chosen_by_counts(epsilon: Fraction, delta: Fraction, rows_per_unit: int, groups_per_unit: int) -> KeyChoice:
    """The choice of keys where counts of rows are all that is wanted.

    Noisy counts choose keys themselves, unless units are in few groups with many rows: then a key may have the units
    to be kept without having the rows to be counted.
    """
    before = KeySelection(VALUE_SHARE * epsilon, delta, groups_per_unit)
    counted = KeyCounts(epsilon, delta, rows_per_unit)
    return counted if counted.needed() <= before.needed() else before


def beside(choice: KeyChoice | None) -> Fraction:
    """The epsilon that a choice of keys costs beside the statistic."""
    return choice.epsilon if isinstance(choice, KeySelection) else Fraction(0)


def described(choice: KeyChoice | None) -> dict[str, object]:
    """For the parameters of a release: whether keys are public, and how many units one needs to be shown.

    Each unit has a row at least, so the rows that a count needs are enough as units.
    """
    return {"keys": "public"} if choice is None else {"keys": "private", "units_to_show": choice.needed()}
