"""How the constants of `nobounds.clipping` were chosen, and what they are worth: docs/clipping.md.

    python benchmarks/tuning/clipping.py --out docs/clipping.md

Expected errors by exact laws (clipping_errors.py): chosen on synthetic families, confirmed on the bundled data. Beside
Google's approximate bounds, if python-dp is installed.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from clipping_errors import FAMILIES, REAL, Mixture, oracle, paper, private_sum, real, synthetic

import nobounds as nb
from nobounds.accounting.loss import Neighbors
from nobounds.clipping import clip, view, widths
from nobounds.clipping.tuning import CLIP_TUNING, ClipTuning

INTRO = """# How the clip of a sum is found

A sum or a mean needs a clip: a guess too high drowns it in noise, one too low biases it. `nobounds` finds it privately,
around a private centre for means and under swap, and around 0 for sums under add-remove.

1. **Frame.** A private median and the octave of the median deviation from it, for 40 nats over the number of records
   each; twice as many under swap.
2. **Walks.** Under add-remove, and from 150 nats of the clip on under swap, AboveThreshold walks inward from far out
   until a noisy number of records outside passes 6 / eps2, or 5 / eps2 under swap, and the clip is three eighths of an
   octave wider than where the walk halts. Under swap with fewer records it walks outward until a noisy
   number of records inside passes a noisy n. Counts are tilted beyond the scale, so that walks do not halt far from the
   data. Without enough records for a frame the walk goes outward under swap, untilted: then too few records give a clip
   that is too small. Under add-remove it goes inward over octaves, tilted by a public prior.
3. **Octaves.** An eighth of epsilon, or a fifth under swap, counts the octaves around the clip, which may move it by
   powers of two, and which say how much lies beyond it ([the tail](proofs/tail.md)).
4. **Noise.** The rest of epsilon pays for discrete Laplace noise on the exact sum of the clipped records. Walks get
   three twentieths of what the frame and the octaves leave.

This page is made by `make clipping`. Errors are expected absolute errors, by exact laws; one counts for at most that of
answering 0.
"""

Setting = tuple[str, Neighbors, int, float]
SWAP: Setting = ("swap, n = 1000, epsilon 1", "swap", 1000, 1.0)
FEW: Setting = ("swap, n = 1000, epsilon 0.2", "swap", 1000, 0.2)
ADDED: Setting = ("add-remove, n = 1000, epsilon 1", "add-remove", 1000, 1.0)
LITTLE: Setting = ("add-remove, n = 1000, epsilon 0.1", "add-remove", 1000, 0.1)
LARGE: Setting = ("add-remove, n = 10^5, epsilon 1", "add-remove", 100_000, 1.0)
BITS = "candidates an octave, as bits"  # of the ladder of deviations; all others are fields of the tuning
CHOICES: list[tuple[str, str, list[Any], list[Setting]]] = [
    (BITS, "bits", [2, 3, 4], [SWAP, FEW, ADDED]),
    ("share of eps1 outward, with a tilt", "share", [Fraction(13, 20), Fraction(3, 4), Fraction(17, 20)], [SWAP]),
    ("ranks over eps1 raised an octave", "raised", [3, 4, 5], [SWAP]),
    ("octaves above the scale where that begins", "raised_from", [1, 2, 3], [SWAP]),
    (
        "part for the walks after a frame",
        "walks",
        [Fraction(1, 10), Fraction(3, 20), Fraction(1, 5)],
        [SWAP, ADDED, LARGE],
    ),
    ("share of eps1 outward, without a tilt", "untilted", [Fraction(7, 10), Fraction(39, 50), Fraction(17, 20)], [FEW]),
    ("part for the clip, few rows", "few", [Fraction(7, 20), Fraction(9, 20), Fraction(11, 20)], [FEW]),
    ("records outside over eps2, inward", "outside", [4, 6, 8], [ADDED, LARGE]),
    ("ranks over eps2 lowered an octave", "lowered", [1, 2, 3], [ADDED]),
    ("octaves above the scale where that begins", "lowered_from", [1, 2, 3], [ADDED]),
    ("records outside over eps2, over octaves", "outside_few", [8, 10, 12], [LITTLE]),
    ("part for the clip, few records", "octaves", [Fraction(3, 10), Fraction(2, 5), Fraction(1, 2)], [LITTLE]),
]


@contextmanager
def candidates(bits: int) -> Iterator[None]:
    """With a ladder of deviations of this many candidates an octave; edges of rungs are then computed each time."""
    finer, top = nb.Ladder.float_bits(bits, widths.FLOOR), widths.top.__wrapped__
    with (
        patch.multiple(widths, BITS=bits, DEVIATIONS=finer),
        patch.object(view, "DEVIATIONS", finer),
        patch.object(clip, "top", top),
    ):
        yield


def score(setting: Setting, tuning: ClipTuning = CLIP_TUNING) -> tuple[float, float]:
    """The geometric mean of errors over those of an oracle, and the largest chance of a clip above ten maxima."""
    _, neighbors, n, epsilon = setting
    logs, far = [], []
    for family in FAMILIES:
        for phase in (0.2, 0.7) if n <= 1000 else (0.2,):
            data = synthetic(family, phase, n)
            law = private_sum(data, epsilon, neighbors, least=1e-4, tuning=tuning)
            logs.append(math.log(law.mean / oracle(data, epsilon)))
            far.append(law.runaway)
    return math.exp(float(np.mean(logs))), max(far)


def choice_rows() -> list[str]:
    """For each constant its neighbours, the others held: error over an oracle's, and the chance of a runaway."""
    rows = []
    for words, name, values, settings in CHOICES:
        now = widths.BITS if words == BITS else getattr(CLIP_TUNING, name)
        for setting in settings:
            cells = []
            for value in values:
                if words == BITS:
                    with candidates(value):
                        error, far = score(setting)
                else:
                    error, far = score(setting, replace(CLIP_TUNING, **{name: value}))
                shown = f"{float(value):.3g}: {error:.2f} ({far:.0e})"
                cells.append(f"**{shown}**" if value == now else shown)
            rows.append(f"| {words} | {setting[0]} | {' | '.join(cells)} |")
    return rows


def confirmation_rows(samples: int) -> list[str]:
    """The bundled data: error over the paper's setting, runaways, and the 99.99% point of errors over the median."""
    rows = []
    for n, epsilon in ((1000, 2.0), (1000, 1.0), (1000, 0.2), (10_000, 2.0)):
        ratios, far, tails = [], 0.0, 0.0
        for name in REAL:
            data = [real(name, n, sample) for sample in range(samples if n == 1000 else 1)]
            laws = [private_sum(x, epsilon, "swap", least=1e-6) for x in data]
            rivals: list[Mixture] = [paper(x, epsilon) for x in data]
            ratios.append(sum(law.mean for law in laws) / sum(rival.mean for rival in rivals))
            far = max([far, *(law.runaway for law in laws)])
            tails = max([tails, *(law.point(1e-4) / law.point(0.5) for law in laws)])
        mean = math.exp(float(np.mean(np.log(ratios))))
        cells = " | ".join(f"{ratio:.2f}" for ratio in ratios)
        rows.append(f"| {n:,} | {epsilon:g} | {cells} | **{mean:.3f}** | {far:.0e} | {tails:.0f} |")
    return rows


def laplace_pair(a: float, b: float) -> float:
    """E|a X + b Y| for independent Laplace variables of scale 1."""
    return (a * a + a * b + b * b) / (a + b)


def mean_rows() -> Iterator[str]:
    """Three means under add-remove, for the clip from 0 to the 99.9% point, in units of its width over epsilon n."""
    parts = np.linspace(0.02, 0.9, 89)
    designs: dict[str, Callable[[float, float], float]] = {
        "sum and count": lambda mean, _: min(laplace_pair(1 / (1 - p), mean / p) for p in parts),
        "sum around the median, and count": lambda mean, middle: min(
            laplace_pair(max(middle, 1 - middle) / (1 - p), abs(mean - middle) / p) for p in parts
        ),
        "the two sums of `average`": lambda mean, _: laplace_pair(1 - mean, mean),
    }
    for words, design in designs.items():
        cells = []
        for family in FAMILIES:
            data = synthetic(family, 0.2, 1000)
            width = float(np.quantile(data, 0.999))
            found = np.clip(data, 0, width) / width
            cells.append(f"{design(float(found.mean()), float(np.median(found))):.2f}")
        yield f"| {words} | {' | '.join(cells)} |"


def peer_row(runs: int = 200) -> str:
    """Google's approximate bounds, as python-dp runs them, beside `nobounds.sum`."""
    data = np.random.default_rng(1).lognormal(3, 0.8, 100_000)
    ours = private_sum(np.sort(data), 1.0, "add-remove", least=1e-6).mean
    try:
        from pydp.algorithms.laplacian import BoundedSum
    except ImportError:
        theirs = "not installed"
    else:
        values = data.tolist()
        found = [BoundedSum(epsilon=1.0, dtype="float").quick_result(values) for _ in range(runs)]
        theirs = f"{np.mean(np.abs(np.array(found) - data.sum())):.0f}"
    return f"| lognormal(3, 0.8), n = 10^5, epsilon 1, add-remove | {ours:.0f} | {theirs} |"


def page(samples: int) -> str:
    """The whole page."""
    with ProcessPoolExecutor(2) as pool:
        confirmed, chosen = pool.submit(confirmation_rows, samples), pool.submit(choice_rows)
        confirmation, choices = confirmed.result(), chosen.result()
    lines = [
        INTRO,
        "## How the constants were chosen\n",
        "Geometric mean over seven families (uniform, compact, exponential, lognormal, Pareto, normal, whole numbers",
        "with ties) of the error over that of an oracle, who knows the best clip and spends all of epsilon on noise;",
        "in brackets the largest chance of a clip above ten times the maximum, to be at most 1e-4. Bold is chosen.\n",
        "| constant | setting | lower | | higher |\n|---|---|---|---|---|",
        *choices,
        "\n## On data they were not chosen on\n",
        "Samples of the bundled data, swap, no bound given: error over that of the paper's own setting (clip at",
        "q = 0.99, beta 1.001, halves everywhere, a lower bound of 0 known), the largest chance of a clip above ten",
        "times the maximum, and the largest 99.99% point of the error over its median.\n",
        f"| n | epsilon | {' | '.join(REAL)} | geometric mean | runaway | tail |\n|{'---|' * 9}",
        *confirmation,
        "\n## Means under add-remove\n",
        "Expected noise of the mean in units of the clip's width over epsilon n; the first two at their best split,",
        "and the second with the true median for nothing:\n",
        f"| design | {' | '.join(FAMILIES)} |\n|{'---|' * (len(FAMILIES) + 1)}",
        *mean_rows(),
        "\n## Beside a peer\n",
        "| sum | nobounds | Google's approximate bounds (python-dp) |\n|---|---|---|",
        peer_row(),
        "\n## What loses where\n",
        "- Under swap a sum of unknown sign pays for two walks. If data are known not to be negative, say `lower=0`.",
        "- Heavy tails: a clip leaves out a few records over epsilon, which hold much of a Pareto sum.",
        "- With n epsilon below about 300 there is no scale, and the clip is coarser; below about 60 the answer is",
        "  near 0 and its interval infinite.",
        "- Data that are mostly 0: with n epsilon of about 1000 the scale may be lost, and the clip is too low.\n",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make docs/clipping.md.")
    parser.add_argument("--out", type=Path, default=Path("docs/clipping.md"))
    parser.add_argument("--samples", type=int, default=2)
    options = parser.parse_args()
    options.out.write_text(page(options.samples))
    print(options.out.read_text())
