"""What a release spent, and on what."""

import math
from collections.abc import Mapping

from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import text_up
from nobounds.explaining.words import Paragraph, listed, price

_FOR = {
    "keys": "choosing which groups may be shown",
    "size": "learning roughly how many records there are",
    "scale": "learning the order of magnitude of the data",
    "clip": "finding the bounds within which records are counted",
    "tail": "counting records around these bounds, to bound what they cut off",
    "center": "finding a number in the middle of the data",
    "start": "finding a distance that few records lie beyond",
    "shells": "counting records by their distance, to choose bounds and to see what these cut off",
    "noise": "the noise on the answer",
    "number": "choosing the answer",
    "quantiles": "choosing the answers",
    "interval": "the ends of its interval",
    "answer": "choosing the answer",
    "counts": "the counts",
    "mean": "the means",
    "std": "the standard deviations",
    "min and max": "the minima and maxima",
    "median": "the medians",
    "quartiles": "the quartiles",
    "tails": "the 5% and 95% quantiles",
}


def spent(loss: PrivacyLoss, kind: str | None, split: Mapping[str, float]) -> Paragraph:
    """What was spent, and on what; `kind` says whether an epsilon or a rho was split."""
    sentences = [
        f"The privacy loss is {price(loss)}. It is the same whatever the data are: it was fixed before they were read."
    ]
    if loss.epsilon < math.inf and loss.rho < math.inf:
        sentences.append(
            f"In the terms of zCDP, in which many releases add up to less, it is rho {text_up(loss.rho, 4)}."
        )
    total = sum(split.values())
    if len(split) > 1 and kind is not None and total > 0:
        parts = [
            f"{text_up(part, 3)} ({100 * part / total:.0f}%) went into {_FOR.get(name, name)}"
            for name, part in split.items()
        ]
        sentences.append(f"Of the {kind}, {listed(parts)}.")
    return Paragraph("What was spent", tuple(sentences))
