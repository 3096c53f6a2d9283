"""The two pictures of docs/mechanism.md, from exact laws: python benchmarks/pages/mechanism.py --out docs/mechanism.

A second run writes the same bytes.
"""

import argparse
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
from concepts import BLUE, GREEN, GREY, ORANGE, PALE, STYLE, incomes, panels
from matplotlib.figure import Figure

from nobounds.accounting.loss import Neighbors
from nobounds.answers.quantile import SURE, TICKS
from nobounds.answers.spent import Part
from nobounds.answers.totals import HALF_OCTAVES, LOUD, LOUDER, SHELLS, Shells, clip_of
from nobounds.core.prior import Prior, key_of
from nobounds.counting.order import Order
from nobounds.engines.memory.arrays import column
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.clock import EFOLDS, Ring, distance, rungs_of, walk_cost
from nobounds.noise.discrete import discrete_laplace

RELATION: Neighbors = "add-remove"


def prior() -> Figure:
    """What decades weigh, and what the numbers around 40 weigh, by their digits."""
    figure, (decades, digits) = panels(1, 2, 3.6)
    law, whole = Prior(), Prior().up_to(key_of(math.inf))
    shown = range(-8, 13)
    masses = [float(Fraction(law.mass(key_of(10.0**k), key_of(10.0 ** (k + 1)) - 1), whole)) for k in shown]
    decades.bar(
        [10.0**k for k in shown], masses, [9 * 10.0**k for k in shown], align="edge", color=BLUE, edgecolor="white"
    )
    decades.set(xscale="log", xlabel="number", ylabel="probability of a decade")
    decades.set_title("Decades: heaviest from 10 to 99")
    for places, color, width in ((1, ORANGE, 1.6), (0, BLUE, 3.0)):
        steps = 10**places
        at = [i / steps for i in range(36 * steps, 44 * steps + 1)]
        at = [x for x in at if places == 0 or round(x * steps) % 10]
        heights = [float(Fraction(law.mass(key_of(x), key_of(x)), whole)) for x in at]
        digits.vlines(at, 1e-10, heights, color=color, linewidth=width, label=f"{places + 2} digits")
    digits.set(yscale="log", ylim=(1e-8, 1e-2), xlabel="number", ylabel="probability of a number")
    digits.set_title("Digits: 40 beats 37, 37 beats 37.4")
    digits.legend(loc="upper right")
    return figure


def walk() -> Figure:
    """A walk inward to the 90% quantile of incomes, and the shells of a sum with the clip that they choose."""
    figure, (way, shells) = panels(1, 2, 3.9)
    data, part = incomes(400), Part(Fraction(1), False, RELATION)
    center, tail = 30_000.0, Fraction(1, 10)
    order = Order(column(data).chunks, Ladder.float_bits())
    eps1, eps2 = part.walk(tail, True)
    nats = float(tail * len(data) * eps2)
    level = Fraction(max(1 / (TICKS / (1 + nats) + 2 * nats), math.exp(SURE - nats)) / EFOLDS)
    cost = partial(walk_cost, tail, True, eps1, eps2, RELATION)
    ring = Ring(order, key_of(center), 1, True, tail, eps1, eps2, level, cost)
    away = np.geomspace(3e3, 3e6, 241)
    edges = [ring.way.end, *rungs_of(away)[::-1].tolist(), 0]
    edges = sorted({*edges, *(e for rung in rungs_of(data[data > center] - center).tolist() for e in (rung, rung + 1))})
    chances = np.exp(ring.log_chances(edges[::-1]))[:-1]
    at = center + np.array([distance(rung) for rung in edges[-2::-1]])
    way.step(np.sort(data)[::-1], np.arange(1, 401), where="post", color=GREY, label="records at or above")
    way.axhline(40, color=ORANGE, linestyle="--", label="target: 10% of 400")
    bins = np.geomspace(3.3e4, 4e5, 60)
    heights, _ = np.histogram(at, bins, weights=chances)
    way.stairs(heights / heights.max() * 150, bins, fill=True, color=BLUE, alpha=0.5, label="where the walk halts")
    way.annotate("", (1.05e5, 172), (3.6e5, 172), arrowprops={"arrowstyle": "->", "color": BLUE})
    way.text(1.05e5, 178, "the walk comes from far out", color=BLUE)
    way.set(xscale="log", xlim=(3e4, 4e5), ylim=(0, 200), xlabel="income", ylabel="records")
    way.set_xticks([3e4, 1e5, 3e5], ["30k", "100k", "300k"])
    way.set_xticks([], minor=True)
    way.set_title("A walk inward to a tail")
    way.legend(loc="center right", fontsize=10)
    start, noise, source = 60_000.0, 4.0, random.Random(2).getrandbits
    inner = [start * 2 ** (half / 2) for half in HALF_OCTAVES]
    counts = np.histogram(data, [*inner, math.inf])[0]
    noisy = tuple(int(count) + discrete_laplace(1 / Fraction(noise), source) for count in counts)
    found = Shells((*inner[1:], math.inf), noisy, noise)
    inside = clip_of(found, start)
    middles, widths = range(SHELLS), 0.8
    shells.bar(middles, noisy, widths, color=[GREEN if k < inside else PALE for k in middles], edgecolor=GREY)
    reach = found.edges[inside - 1]
    loud = [LOUD * noise if edge <= reach else (LOUD + LOUDER * math.log(edge / reach)) * noise for edge in inner]
    shells.plot(middles, loud, color=ORANGE, linestyle="--", label="loud: taken for records")
    shells.axvline(inside - 0.5, color=BLUE, label=f"the clip, {reach:,.0f}")
    shells.set_xticks(list(middles)[::2], [f"{edge / 1000:.4g}k" for edge in inner[::2]])
    shells.set(xlabel="distance from the centre (inner end of a shell)", ylabel="noisy number of records")
    shells.set_title("Shells choose the clip of a sum")
    shells.legend(loc="center right", fontsize=10)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out: Path = parser.parse_args(arguments).out
    with mpl.rc_context(STYLE | {"svg.fonttype": "none"}):
        for picture in (prior, walk):
            picture().savefig(out / f"{picture.__name__}.svg", facecolor="white", metadata={"Date": None})


if __name__ == "__main__":
    main()
