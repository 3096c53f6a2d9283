"""Numbers and names in sentences."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import MAX, text_up

CHOSEN = "The condition and the formulas are public; they must have been chosen without looking at the data."


class Paragraph(NamedTuple):
    """A heading, and the sentences below it."""

    heading: str
    sentences: tuple[str, ...]


def about(value: float) -> str:
    """An error, rounded up to two digits."""
    up = min(float(text_up(value, 2)), MAX)
    return f"{up:,.0f}" if 10 <= up < 1e15 else f"{up:.2g}"


def percent_up(share: float) -> str:
    """A share in percent, rounded up, with more digits close to 100%."""
    return "100%" if share >= 1 else f"{text_up(100 * share, 3 if share < 0.99 else 5)}%"


def percent_down(share: float) -> str:
    """A share in percent, rounded down."""
    return f"{text_up(-100 * share, 3).removeprefix('-')}%"


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def price(loss: PrivacyLoss) -> str:
    """A loss in its own terms: epsilon (at a delta) or rho."""
    if loss.epsilon == math.inf:
        return f"rho {text_up(loss.rho)}"
    return f"epsilon {text_up(loss.epsilon)}" + (f" at delta {text_up(loss.delta)}" if loss.delta else "")


def marked(text: str) -> str:
    """The text with Markdown's special characters escaped."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|!~$" else c for c in text)
