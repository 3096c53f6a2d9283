"""Texts to numbers, one at a time: the rules of `csv.fields` for engines with single texts."""

import math


def parse_number(text: str) -> float:
    """The float64 nearest to a decimal number, surrounding spaces ignored; NaN for any other text.

    >>> parse_number(" 1e-3 "), parse_number("-inf"), parse_number("12 apples")
    (0.001, -inf, nan)
    """
    # Python also reads 1_000 and digits of other scripts; most CSV readers do not.
    if "_" in text or not text.isascii():
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan
