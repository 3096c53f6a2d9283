"""How much noise a sparse vector needs, by four analyses: docs/sparse_vector.md.

    python benchmarks/pages/sparse_vector.py --out docs/sparse_vector.md

No randomness and no data: noise follows from what is promised.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

from nobounds.accounting.bands import Band, delta_of
from nobounds.accounting.conversions import rho_from_approximate
from nobounds.accounting.cost import rho_monotonic
from nobounds.mechanisms.sparse_vector import Promise, Rates, SparseVector

DELTA = Fraction(1, 10**6)
HALF = Fraction(1, 2)
EPSILONS = (HALF, Fraction(1), Fraction(2))

INTRO = """# The noise of a sparse vector

`nobounds.SparseVector` answers whether queries are above a threshold until it has a given number of hits. The noise on
the threshold has the scale sensitivity / eps1 and is drawn anew after each hit (*iterated*) or once (*classical*);
that on each query has the scale sensitivity / eps2. This page is made by `make sparse`; nothing in it is random.

All columns promise the same epsilon at delta = 1e-6. They show, in units of the sensitivity, the scale of the noise on
a query, and in brackets the standard deviation of that noise less the threshold's, for exponential noise. eps1 is eps2,
but for *one threshold* and *chosen*.

- **(i) pure, zCDP**: each hit is pure, eps1 + eps2 if queries are monotonic and eps1 + 2 eps2 if not, and
  epsilon^2 / 2 a hit is added up and converted. **(i) pure, best**: the optimal composition of pure mechanisms.
- **(ii) one threshold**: its noise is drawn once, and that of the queries grows with the hits (Lyu, Su and Li 2017,
  with their shares). It is pure, so delta is not used.
- **(iii) Theorem 1**: (eps1/2 + eps2)^2 / 2 a hit, by the range of monotonic queries, is added up and converted.
- **(iv) iterated**: the one-sided losses of each hit, composed exactly (`nobounds.accounting.bands`). **(iv) chosen**:
  what `SparseVector` does if it is given neither method nor share.
"""


def largest(within: Callable[[Fraction], bool]) -> Fraction:
    """The largest rate within a promise, to nine digits."""
    low, high = Fraction(1, 10**6), Fraction(100)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) else (low, middle)
    return low


def equal(rate: Fraction) -> Rates:
    """Equal rates; the rest of the fields is not used."""
    return Rates("iterated", 1, True, rate, rate)


def analyses(hits: int, epsilon: Fraction, is_monotonic: bool) -> dict[str, Rates]:
    """The rates that each analysis allows."""
    rho, promise = rho_from_approximate(epsilon, DELTA), Promise(epsilon, DELTA, None)
    factor = 2 if is_monotonic else 3  # the pure epsilon of a hit over eps1 = eps2
    per_hit = Fraction(math.sqrt(2 * rho / hits))
    pure = largest(lambda e: delta_of([Band.of(factor * e, 2 * factor * e)] * hits, epsilon) <= DELTA)
    one = SparseVector(0, hits=hits, epsilon=epsilon, monotonic=is_monotonic, method="classical")
    chosen = SparseVector(0, hits=hits, epsilon=epsilon, delta=DELTA, monotonic=is_monotonic)
    found = {
        "(i) pure, zCDP": equal(per_hit / factor),
        "(i) pure, best": equal(pure),
        "(ii) one threshold": Rates("classical", hits, is_monotonic, one.eps1, one.eps2),
        "(iii) Theorem 1": equal(largest(lambda e: hits * rho_monotonic(e, e) <= rho)),
        "(iv) iterated": promise.largest(Rates("iterated", hits, is_monotonic, HALF, HALF)),
        "(iv) chosen": Rates(chosen.method, hits, is_monotonic, chosen.eps1, chosen.eps2),
    }
    if not is_monotonic:
        del found["(iii) Theorem 1"]
    return found


def shown(rates: Rates) -> str:
    """The scale of the query noise, and the standard deviation of both."""
    return f"{float(1 / rates.eps2):.3g} ({math.sqrt(rates.variance):.3g})"


def rows(hits: tuple[int, ...], is_monotonic: bool) -> Iterator[str]:
    """The table: a head, and a row for each epsilon and number of hits."""
    heads: list[str] | None = None
    for epsilon in EPSILONS:
        for count in hits:
            found = analyses(count, epsilon, is_monotonic)
            if heads is None:
                heads = [*found, "method"] + (["(i) zCDP / (iii)"] if is_monotonic else [])
                yield f"| epsilon | hits | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 2)}"
            cells = [shown(rates) for rates in found.values()] + [found["(iv) chosen"].method]
            if is_monotonic:
                ratio = found["(iii) Theorem 1"].eps2 / found["(i) pure, zCDP"].eps2
                cells.append(f"{float(ratio):.4f}")
            yield f"| {float(epsilon):g} | {count} | {' | '.join(cells)} |"


def turning_point(epsilon: Fraction, is_monotonic: bool) -> int:
    """The number of hits from which drawing the threshold anew has less noise at delta than drawing it once."""
    low, high = 1, 512
    while high - low > 1:
        middle = (low + high) // 2
        chosen = SparseVector(0, hits=middle, epsilon=epsilon, delta=DELTA, monotonic=is_monotonic)
        low, high = (low, middle) if chosen.method == "iterated" else (middle, high)
    return high


def findings() -> Iterator[str]:
    """What the tables say, in numbers."""
    found = {hits: analyses(hits, Fraction(1), True) for hits in (10, 100)}

    def over(hits: int, name: str, other: str) -> str:
        return f"{math.sqrt(found[hits][name].variance / found[hits][other].variance):.2f}"

    pure, best, once, theorem, exact = list(found[10])[:5]
    yield "## What they say\n"
    yield f"- **Theorem 1** has {over(10, pure, theorem)} times less noise at equal rho than the pure epsilons of hits."
    yield "  It predicts 4/3: with eps1 = eps2 the range is 3/2 of the pure epsilon, and without it is taken as twice."
    yield f"- **Exact composition** has, at epsilon 1, {over(10, theorem, exact)} times less noise than Theorem 1 for"
    yield f"  10 hits and {over(100, theorem, exact)} times less for 100; than the best composition of pure hits,"
    yield f"  {over(10, best, exact)} and {over(100, best, exact)} times less."
    yield f"- **One threshold for all hits** has {over(10, exact, once)} times less noise than that for 10 hits at"
    yield f"  epsilon 1, and {over(100, once, exact)} times more for 100. The square root of the hits comes with a"
    yield "  factor of about sqrt(2 ln(1/delta)), which a few hits do not earn. Drawing the threshold anew has less"
    yield "  noise from this number of hits on:"
    yield "\n| queries | epsilon 0.5 | 1 | 2 |\n|---|---|---|---|"
    for words, is_monotonic in (("monotonic", True), ("others", False)):
        yield f"| {words} | {' | '.join(str(turning_point(epsilon, is_monotonic)) for epsilon in EPSILONS)} |"
    yield ""


def page() -> str:
    """The whole page."""
    return "\n".join(
        [
            INTRO,
            "## Monotonic queries\n",
            *rows((1, 3, 10, 30, 100, 300), True),
            "\n## Other queries\n",
            *rows((3, 10, 100), False),
            "",
            *findings(),
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make docs/sparse_vector.md.")
    parser.add_argument("--out", type=Path, default=Path("docs/sparse_vector.md"))
    options = parser.parse_args()
    options.out.write_text(page())
    print(options.out.read_text())
