"""The pictures of docs/concepts, from exact laws: python benchmarks/pages/concepts.py --out docs/concepts.

No answer is drawn at random except the one walk that is shown step by step, which has a seed. A second run writes the
same bytes.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

import nobounds as nb
from nobounds.clipping.clip import Search
from nobounds.clipping.law import clip_law
from nobounds.counting.histogram import Histogram
from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk
from nobounds.noise.discrete import geometric
from nobounds.noise.source import random_source
from nobounds.plots import COLORS
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.route import Route
from nobounds.ranks.view import walk_of
from nobounds.research.baselines.emq import emq_law
from nobounds.statistics.searched import planned

Floats = np.ndarray[Any, np.dtype[np.float64]]

BLUE, ORANGE, GREEN, PINK, YELLOW = COLORS
GREY, PALE = "#555555", "#dddddd"
STYLE = {
    "svg.hashsalt": "nobounds",
    "font.family": "DejaVu Sans",
    "font.size": 12.0,
    "axes.titlesize": 13.0,
    "axes.labelsize": 12.0,
    "legend.fontsize": 11.0,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": PALE,
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "lines.linewidth": 2.0,
}


def incomes(n: int, median: float = 30_000, spread: float = 0.8) -> Floats:
    """Lognormal records that stand at their expected places: no seed, and the same on every machine."""
    points = [NormalDist().inv_cdf((i + 0.5) / n) for i in range(n)]
    return median * np.exp(spread * np.array(points))


def law_of(data: Floats, q: float, **options: Any) -> AnswerLaw:
    """The exact law of nobounds.quantile(data, q, **options).value."""
    records = column(data)
    asked = planned(records, (Fraction(str(q)),), **options)
    return AnswerLaw.of(asked, Counts.of(records.chunks, asked.ladder))


def panels(rows: int, columns: int, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure of the width of a page."""
    figure = Figure(figsize=(10, height), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(grid.flat)


# --- what is protected --------------------------------------------------------------------------------------------


def neighbours() -> Figure:
    """The pairs of data sets that may not be told apart: add-remove, swap, and a unit with all its rows."""
    figure, every = panels(1, 3, 3.7)
    ann, other = ("Ann", ORANGE), ("", "#b9d3e6")
    bob = ("Bob", GREEN)
    cases = [
        ('"add-remove"\none row more or less', [other, other, ann, other, other], [other, other, other, other]),
        ('"swap"\none row is another', [other, other, ann, other, other], [other, other, bob, other, other]),
        ('unit="user_id"\nall rows of one user', [other, ann, ann, other, ann], [other, other]),
    ]
    for axes, (title, left, right) in zip(every, cases, strict=True):
        axes.set(xlim=(0, 10), ylim=(-5.6, 1.0))
        axes.axis("off")
        axes.set_title(title, pad=2)
        for x, rows, name in ((0.4, left, "x"), (5.8, right, "x'")):
            axes.text(x + 1.9, 0.35, name, ha="center", va="center", style="italic", fontsize=14)
            for k, (label, color) in enumerate(rows):
                axes.add_patch(
                    FancyBboxPatch((x, -k - 0.85), 3.8, 0.62, boxstyle="round,pad=0.06", color=color, linewidth=0)
                )
                axes.text(x + 1.9, -k - 0.54, label, ha="center", va="center", color="white", weight="bold")
        axes.annotate("", (5.5, -2.5), (4.5, -2.5), arrowprops={"arrowstyle": "<->", "color": GREY, "linewidth": 1.8})
    return figure


def answers() -> Figure:
    """The law of a private maximum with Ann and without her, and how much more likely any answer is."""
    others, epsilon = incomes(300), 1.0
    with_ann = np.append(others, 4 * others.max())
    edges = np.geomspace(8e4, 3e6, 71)
    masses = []
    for data in (with_ann, others):
        values, chances = law_of(data, 1, epsilon=epsilon).pmf(edges[0], edges[-1])
        masses.append(np.histogram(values, edges, weights=chances)[0])
    figure, (laws, ratios) = panels(2, 1, 5.6, sharex=True, height_ratios=(3, 2))
    for mass, color, label in zip(masses, (ORANGE, BLUE), ("with Ann", "without Ann"), strict=True):
        laws.stairs(mass, edges, color=color, linewidth=2, label=label)
        laws.stairs(mass, edges, color=color, alpha=0.15, fill=True)
    laws.axvline(with_ann.max(), color=ORANGE, linestyle=":", label="Ann's income")
    laws.set(xscale="log", ylabel="probability", title="The private maximum of 300 incomes, epsilon 1")
    laws.legend(loc="upper center")
    ratios.stairs(np.log(masses[0] / masses[1]), edges, baseline=None, color=GREY, linewidth=2)
    ratios.axhspan(-epsilon, epsilon, color=GREEN, alpha=0.12)
    for side in (-epsilon, epsilon):
        ratios.axhline(side, color=GREEN, linestyle="--")
    ratios.set(ylim=(-1.5, 1.5), yticks=(-1, 0, 1), yticklabels=("1 / e times", "the same", "e times"), xlabel="answer")
    ratios.set_ylabel("how much more\nlikely with Ann")
    ratios.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    return figure


def units() -> Figure:
    """The rows of three users in the order of their values, and which of them count, at most four a user."""
    figure, (axes,) = panels(1, 1, 2.9)
    most = 4
    users = {"Ann, 9 rows": (9, 5), "Bob, 3 rows": (3, 1), "Cem, 6 rows": (6, 2)}
    for y, (name, (rows, hashed)) in enumerate(reversed(users.items())):
        values = np.exp(np.linspace(0.4 * y + 1, 4.2 - 0.3 * y, rows))
        kept = np.array([(row * most + hashed) % rows < most for row in range(rows)])  # the rule of docs/units.md
        axes.plot(values[~kept], np.full((~kept).sum(), y), "o", mfc="white", mec=GREY, markersize=15)
        axes.plot(values[kept], np.full(kept.sum(), y), "o", color=BLUE, markersize=15)
        axes.annotate(name, (1.15, y), va="center", fontsize=13)
    axes.plot([], [], "o", color=BLUE, markersize=12, label="counts")
    axes.plot([], [], "o", mfc="white", mec=GREY, markersize=12, label="left out")
    axes.legend(loc="upper right", ncols=2)
    axes.set(xscale="log", xlim=(1.1, 90), ylim=(-0.6, 3.1), yticks=(), xlabel="value", title="rows_per_unit=4")
    axes.set_xticks((2, 5, 10, 20, 50), ("2", "5", "10", "20", "50"))
    axes.set_xticks((), minor=True)
    axes.spines["left"].set_visible(False)
    return figure


# --- what epsilon means -------------------------------------------------------------------------------------------


def meaning() -> Figure:
    """What an attacker may believe after an answer, and what error an epsilon buys."""
    figure, (belief, error) = panels(1, 2, 4.4)
    before = np.linspace(0.001, 0.999, 400)
    for epsilon, color in ((0.1, BLUE), (0.5, GREEN), (1.0, YELLOW), (2.0, ORANGE)):
        after = before * math.exp(epsilon) / (1 - before + before * math.exp(epsilon))
        belief.plot(100 * before, 100 * after, color=color, label=f"epsilon {epsilon:g}")
    belief.plot([0, 100], [0, 100], color=GREY, linestyle=":", label="no answer at all")
    belief.set(xlabel="belief before the answer (%)", ylabel="at most, after it (%)", aspect="equal")
    belief.set_title('"Ann is in the data"')
    belief.legend(loc="lower right", fontsize=10)
    epsilons = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
    for n, color, mark in ((1000, ORANGE, "o"), (10_000, GREEN, "s"), (100_000, BLUE, "^")):
        data = incomes(n)
        found = [_mean_error(law_of(data, 0.5, epsilon=e, lower=0), float(np.median(data))) for e in epsilons]
        error.plot(epsilons, found, color=color, marker=mark, label=f"{n:,} rows")
    error.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="expected error")
    error.set_title("Median income, truth 30,000")
    error.xaxis.set_major_formatter("{x:g}")
    error.yaxis.set_major_formatter("{x:,g}")
    error.legend()
    return figure


def _mean_error(law: AnswerLaw, truth: float, far: float = 1.5) -> float:
    """The expected absolute error, from every answer within so many times the truth; those beyond count as 0."""
    values, chances = law.pmf(truth / far, truth * far)
    return float(chances @ np.abs(values - truth) + (1 - chances.sum()) * truth)


def budget() -> Figure:
    """What many answers cost together."""
    figure, (axes,) = panels(1, 1, 4.2)
    each, delta, counts = Fraction(1, 10), 1e-6, np.arange(1, 201)
    pure, ranged = nb.PrivacyLoss.pure(each), nb.PrivacyLoss.range_bounded(each)

    def at_delta(rho: float) -> list[float]:
        return [nb.PrivacyLoss.zcdp(Fraction(str(rho)) * int(k)).at(delta) for k in counts]

    axes.plot(counts, 0.1 * counts, color=ORANGE, label="sum of the epsilons (delta 0)")
    axes.plot(counts, at_delta(pure.rho), color=GREEN, label="by rho, at delta 1e-6")
    axes.plot(counts, at_delta(ranged.rho), color=BLUE, label="the same, answers chosen by the exponential mechanism")
    axes.set(xlabel="answers with epsilon 0.1 each", ylabel="epsilon of all together", xlim=(0, 200), ylim=(0, 20))
    axes.legend(loc="upper left")
    return figure


# --- why bounds hurt ----------------------------------------------------------------------------------------------


def bounds() -> Figure:
    """The expected error of a maximum, a high quantile and a sum, by how loose the stated bound is."""
    data, epsilon = incomes(1000), 1.0
    top, total = float(data.max()), float(data.sum())
    loose = 10.0 ** np.arange(0, 6.01, 0.25)
    figure, every = panels(1, 3, 4.6)
    for axes, q, name in ((every[0], 1.0, "maximum"), (every[1], 0.99, "99 % quantile")):
        truth = top if q == 1 else float(np.quantile(data, q))
        told = [_bounded_error(data, q, truth, top * factor * 1.0001, epsilon) for factor in loose]
        axes.plot(loose, np.array(told) / truth, color=ORANGE, label="a method that is told bounds")
        ours = _mean_error(law_of(data, q, epsilon=epsilon, neighbors="swap"), truth, 30)
        axes.axhline(ours / truth, color=BLUE, label="nobounds, which is told none")
        axes.set_title(name)
    every[2].plot(loose, top * loose / epsilon / total, color=ORANGE)
    ours = nb.plan("sum", data=data, epsilon=epsilon, neighbors="swap", lower=0).rows[0].value_error
    every[2].axhline(ours / total, color=BLUE)
    every[2].set_title("sum")
    for axes in every:
        axes.set(xscale="log", yscale="log", ylim=(2e-3, 3e6), xticks=(1, 1e2, 1e4, 1e6))
    every[1].set_xlabel("stated upper bound over the true maximum")
    every[0].set_ylabel("expected error over the truth")
    handles, labels = every[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, title="1,000 incomes, epsilon 1")
    return figure


def _bounded_error(data: Floats, q: float, truth: float, upper: float, epsilon: float) -> float:
    """The expected error of the exponential mechanism on [0, upper] (Smith 2011), by its exact law."""
    law = emq_law(data, [q], epsilon=epsilon, lower=0, upper=upper)
    return float(law.mean_error(np.array([truth]))[0])


def clip() -> Figure:
    """Bias and noise of a clipped sum by the clip, and the clips that the private search finds."""
    data, epsilon = incomes(1000), Fraction(1)
    noise = epsilon * 2 / 3
    clips = np.geomspace(8e4, 3e6, 300)
    bias = np.array([np.maximum(data - c, 0).sum() for c in clips])
    scale = clips / float(noise)
    total = bias + scale * np.exp(-bias / scale)  # the mean of |Laplace noise - bias|
    figure, (errors, found) = panels(2, 1, 5.6, sharex=True, height_ratios=(3, 2))
    errors.plot(clips, bias, color=ORANGE, linestyle="--", label="what clipping takes away")
    errors.plot(clips, scale, color=GREEN, linestyle="-.", label="noise: clip / epsilon")
    errors.plot(clips, total, color=BLUE, label="expected error of the sum")
    errors.set(yscale="log", ylabel="error", title="The sum of 1,000 incomes by its clip")
    errors.legend(loc="lower right")
    errors.set_ylim(1e4, 1e7)
    search = Search(epsilon / 3, "add-remove", Ladder.float_bits(8).limited(Fraction(0), None), True, False)
    edges, masses = np.geomspace(8e4, 3e6, 43), np.zeros(42)
    for part in clip_law(search, column(data).chunks, len(data)):
        masses += part.chance * np.histogram(part.highs, edges, weights=part.high_chances)[0]
    found.stairs(masses, edges, color=BLUE, fill=True, alpha=0.35)
    found.stairs(masses, edges, color=BLUE, label="clips that are found")
    found.axvline(data.max(), color=GREY, linestyle=":", label="largest income")
    found.set(xscale="log", xlabel="clip", ylabel="probability")
    found.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    found.legend(loc="upper right")
    return figure


# --- what a ladder is ---------------------------------------------------------------------------------------------

STEPS, HALF = Fraction(5, 4), Fraction(1, 2)


def _small_walk() -> tuple[Floats, Ladder, Any]:
    """Forty incomes in thousands on a ladder of 25 % steps, and the walk to their 90 % quantile for epsilon 1."""
    data = incomes(40, 30, 0.7)
    ladder = Ladder.geometric(STEPS, lower=0, scale=8, upper=4000)
    route = Route(ladder, True, ladder.first, ladder.last, Fraction(2, 5), Fraction(3, 5))
    return data, ladder, walk_of(Histogram.of([data], ladder), Fraction(9, 10), route, "exponential")


def ladder() -> Figure:
    """Records on a ladder, one walk up it, and the law of where walks halt."""
    data, rungs, walk = _small_walk()
    tops = np.array([rungs.top(rung) for rung in range(rungs.first + 1, rungs.last)])  # the first holds what is below 0
    bottoms = np.concatenate([[1.0], tops[:-1]])
    figure, (records, steps, law) = panels(3, 1, 8.4, sharex=True, height_ratios=(2, 3, 2))
    edges = np.concatenate([bottoms[:1], tops])
    counts = np.histogram(np.maximum(data, edges[0]), edges)[0]
    records.stairs(counts, edges, color=BLUE, fill=True, alpha=0.35)
    records.stairs(counts, edges, color=BLUE)
    records.plot(data, np.full(len(data), -0.9), "|", color=ORANGE, markersize=9, clip_on=False)
    for edge in edges:
        records.axvline(edge, color=PALE, linewidth=0.7, zorder=0)
    records.grid(visible=False)
    records.set(ylabel="records on it", ylim=(-1.8, None), title="1. Each record goes to a rung of a public ladder")

    levels = np.repeat(walk.levels, walk.lengths)[1 : len(tops) + 1].astype(float)
    bits, step = random_source(np.random.default_rng(8)), float(walk.step)
    bar = float(walk.threshold) + step * geometric(walk.eps1 * walk.step, bits)
    noisy = levels + step * np.array([geometric(walk.eps2 * walk.step, bits) for _ in levels])
    middles = np.sqrt(bottoms * tops)
    halt = int(np.argmax(noisy >= bar))
    steps.stairs(levels, edges, baseline=None, color=BLUE, label="records at or below (secret)")
    steps.plot(middles[:halt], noisy[:halt], "o", color=GREY, markersize=6, label="the same, noisy: below")
    steps.plot(middles[halt], noisy[halt], "*", color=ORANGE, markersize=17, label="first above: the walk halts")
    steps.axhline(float(walk.threshold), color=GREEN, linestyle=":", label="threshold: 90 % of 40")
    steps.axhline(bar, color=GREEN, linestyle="--", label="noisy threshold")
    steps.set(ylabel="count", title="2. AboveThreshold walks up it, once")
    steps.legend(loc="lower right", fontsize=10.5)

    masses = Law(walk).pmf()[1 : len(tops) + 1]
    law.stairs(masses, edges, color=BLUE, fill=True, alpha=0.35)
    law.stairs(masses, edges, color=BLUE)
    law.axvline(float(np.sort(data)[35]), color=GREY, linestyle=":", label="true 90 % quantile")
    law.set(xscale="log", ylabel="probability", xlabel="income (thousands)", xlim=(4, 1000))
    law.set_title("3. The exact law of where it halts")
    law.xaxis.set_major_formatter("{x:,g}")
    law.legend(loc="upper right")
    return figure


def runaway() -> Figure:
    """The chance that a private maximum is more than so many times the true one."""
    data = incomes(1000)
    factors = 10.0 ** np.arange(0.02, 6.01, 0.06)
    figure, (axes,) = panels(1, 1, 4.4)
    paper = Ladder.geometric(1.01)
    route = Route(paper, True, paper.first, paper.last, HALF, HALF)
    walk = walk_of(Histogram.of([data], paper), Fraction(1), route, "exponential")
    past, last = paper.rungs(factors * data.max()), int(paper.rungs(data[-1:])[0])
    axes.plot(factors, Law(walk).tail(past), color=ORANGE, label="threshold n, equal noise, steps of 1 %")
    tilted = _tilted(walk, last, 5, math.log(10) / math.log(1.01))
    axes.plot(
        factors,
        Law(tilted).tail(past),
        color=GREEN,
        linestyle="-.",
        label="the same, counts raised by 5 ranks a decade",
    )
    ours = law_of(data, 1, epsilon=1, neighbors="swap")
    axes.plot(factors, [ours.above(f * data.max()) for f in factors], color=BLUE, label="nobounds.maximum")
    axes.set(xscale="log", yscale="log", ylim=(1e-8, 1), xlim=(1, 1e6))
    axes.set(xlabel="answer over the true maximum", ylabel="chance of more than that")
    axes.set_title("1,000 incomes, epsilon 1, no upper bound")
    axes.legend(loc="upper right")
    return figure


def _tilted(walk: Walk, first: int, ranks: int, decade: float) -> Walk:
    """The walk with counts that rise by so many ranks a decade from a position on."""
    levels = np.repeat(walk.levels, walk.lengths)
    levels[first:] += np.floor(ranks * np.arange(len(levels) - first) / decade).astype(np.int64)
    return Walk.of(levels, walk.threshold, eps1=walk.eps1, eps2=walk.eps2)


PICTURES: dict[str, Callable[[], Figure]] = {
    "neighbours": neighbours,
    "answers": answers,
    "units": units,
    "epsilon": meaning,
    "budget": budget,
    "bounds": bounds,
    "clip": clip,
    "ladder": ladder,
    "runaway": runaway,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw all pictures, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("names", nargs="*", choices=[[], *PICTURES], default=[], help="only these")
    chosen = parser.parse_args(arguments)
    with mpl.rc_context(STYLE):
        for name in chosen.names or PICTURES:
            figure = PICTURES[name]()
            figure.savefig(chosen.out / f"{name}.svg", facecolor="white", metadata={"Date": None})


if __name__ == "__main__":
    main()
