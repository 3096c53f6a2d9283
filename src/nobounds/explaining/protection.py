"""Who is protected, and what that means: bounds on what a release reveals about one privacy unit, in numbers."""

import math

from nobounds.accounting.conversions import epsilon_from_rho
from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import printable, rational, text_up
from nobounds.explaining.words import Paragraph, percent_down, percent_up

DELTA = 1e-6  # at which a rho is stated as an epsilon
_DELTAS = (1e-3, 1e-4, 1e-5, DELTA)
_LITTLE = 10.0  # from this epsilon on the promise says little
_LARGEST = 700.0  # the exponential of more overflows


def whom(loss: PrivacyLoss) -> str:
    """The privacy unit, as a noun."""
    return "row" if loss.unit == "row" else printable(loss.unit)


def protection(loss: PrivacyLoss, rows_per_unit: int | None, query: bool = False) -> Paragraph:
    """Who is protected, and what that means; `query` says whether the rows are those of a query's result."""
    return Paragraph("Who is protected", (*_who(loss, rows_per_unit, query), *meaning(loss)))


def _who(loss: PrivacyLoss, rows: int | None, query: bool) -> list[str]:
    one = whom(loss)
    if loss.unit == "row":
        who = f"Each single row of the {'result of a query' if query else 'table'} is protected"
    else:
        result = " in the result of a query" if query else ""
        who = f"Each {one} is protected, with all of its rows{result} together, however many there are"
    change = "replaced by any other row" if loss.neighbors == "swap" else "left out or added"
    sentences = [f"{who}: had one {one} been {change}, the release would have come out in nearly the same way."]
    if rows is not None:
        few = "at most 1 row is" if rows == 1 else f"at most {rows:,} rows are"
        sentences.append(f"Of each {one} {few} used, chosen by a rule that looks at that {one} alone.")
    if loss.neighbors == "swap":
        sentences.append("How many rows there are counts as public knowledge, and is not protected.")
    return sentences


def meaning(loss: PrivacyLoss) -> list[str]:
    """What the promise means for one privacy unit, in numbers rounded to the safe side.

    The promise compares two neighbouring data sets, so it bounds beliefs only where the other rows are the same, or
    equally likely, in both. It does not bound what a belief about many rows implies about one of them.
    """
    sentences, one = [], whom(loss)
    epsilon, delta = loss.epsilon, loss.delta
    if epsilon == math.inf:
        epsilon, delta = loss.at(DELTA), DELTA
        sentences.append(
            f"The promise is rho {text_up(loss.rho, 4)} of zero-concentrated differential privacy (zCDP). "
            f"In other terms that is epsilon {text_up(epsilon, 4)} at delta {text_up(delta)}."
        )
    odds_of = f"between two things that a {one} in the data may say"
    if loss.neighbors == "add-remove":
        odds_of = f"of whether a given {one} is in the data"
    others = "all the other rows" if loss.unit == "row" else "all rows of the others"
    sentences.append(
        f"For anyone who knows {others}, or whose beliefs about them do not depend on this one: "
        f"the release changes their odds {odds_of} by a factor of at most {power(epsilon)}."
    )
    if delta:
        sentences.append(
            f"Delta {text_up(delta)} means: but for a chance of at most {chance_up(delta)}, "
            "the release is as good as one that keeps to this factor."
        )
    if loss.neighbors == "add-remove":
        sentences.append(_two_things(loss, epsilon, delta))
    most = guess(loss)
    what = f"which of two things a {one} says" if loss.neighbors == "swap" else f"whether one {one} is in the data"
    sentences.append(
        f"If they have to guess {what}, and would be right half of the time without the release, "
        f"they are right at most {percent_up(most)} of the time with it, and wrong at least {percent_down(1 - most)}."
    )
    if epsilon >= _LITTLE:
        sentences.append(f"An epsilon of {text_up(epsilon, 4)} is large: by itself it promises little.")
    return sentences


def _two_things(loss: PrivacyLoss, epsilon: float, delta: float) -> str:
    """What add-remove promises about a unit's values: changing them is one removal and one addition.

    An (epsilon, delta) twice is (2 epsilon, (1 + e^epsilon) delta), and a rho twice is 4 rho (Bun and Steinke 2016,
    Proposition 27), at any delta.
    """
    said = f"two things that a {whom(loss)} in the data may say"
    if delta and loss.rho < math.inf:
        twice = epsilon_from_rho(4 * rational(loss.rho, "rho"), rational(delta, "delta"))
        return f"Their odds between {said} change by a factor of at most {power(twice)}, by four times the rho."
    more = (1 + math.exp(min(epsilon, _LARGEST))) * (1 + 1e-15) * delta
    if more >= 1:
        return f"Of their odds between {said} nothing is promised: delta is too large for that beside this epsilon."
    at = f", and delta {text_up(more, 3)}" if delta else ""
    return f"Their odds between {said} change by a factor of at most {factor_up(2 * epsilon)} (twice the epsilon{at})."


def power(epsilon: float) -> str:
    """e to the power of epsilon, with the formula."""
    return f"{factor_up(epsilon)} (e to the power of epsilon {text_up(epsilon, 4)})"


def factor_up(epsilon: float) -> str:
    """e to the power of epsilon, rounded up, with at least two digits of its excess over 1."""
    if epsilon > _LARGEST:
        return f"e^{text_up(epsilon, 4)}, which is no limit in practice"
    if epsilon == 0:
        return "1"
    power = math.exp(epsilon) * (1 + 1e-15)  # the library's exp is within an ulp of the truth
    text = text_up(power, 3 + max(0, min(8, -math.floor(math.log10(epsilon)) - 1)))
    return f"{float(text):,.0f}" if 100 <= power < 1e15 else text


def chance_up(delta: float) -> str:
    """A small probability as "1 in ...", rounded up."""
    return f"1 in {math.floor(1 / rational(delta, 'delta')):,}" if 1e-15 < delta <= 0.5 else text_up(delta)


def guess(loss: PrivacyLoss) -> float:
    """The largest probability that a guess between two equally likely neighbours is right.

    It is (1 + TV) / 2, with TV the total variation: at most (e^epsilon - 1 + 2 delta) / (e^epsilon + 1) for an
    epsilon at a delta (Kairouz, Oh and Viswanath 2015), and at most sqrt(rho / 2) for a rho, which bounds the
    Kullback-Leibler divergence (Pinsker). The smallest of the known bounds holds.
    """
    known = [(loss.epsilon, loss.delta)] if loss.epsilon < math.inf else []
    if loss.rho < math.inf:
        known += [(loss.at(delta), delta) for delta in _DELTAS]
    bounds = [_right(epsilon, delta) for epsilon, delta in known]
    if loss.rho < math.inf:
        bounds.append(0.5 + math.sqrt(loss.rho / 8))
    if loss.rho == 0 or loss.epsilon == loss.delta == 0:
        return 0.5  # nothing can be learned
    return min(1.0, min(bounds) * (1 + 1e-15))


def _right(epsilon: float, delta: float) -> float:
    """(e^epsilon + delta) / (e^epsilon + 1)."""
    small = math.exp(-epsilon)
    return (1 + delta * small) / (1 + small)
