"""The rivals: methods that get no bounds either, each with all of epsilon."""

from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np

from nobounds.arrays import Floats
from nobounds.release.release import Release
from nobounds.research.baselines import doubling_bound
from nobounds.research.baselines.mapped import (
    mapped_joint_law,
    mapped_law,
    mapped_mean,
    mapped_recursive_quantiles,
    piecewise_law,
    shifted_law,
    universal_mean,
)
from nobounds.research.baselines.steps import Steps
from nobounds.research.bench.cells import Cell
from nobounds.research.bench.families import FAMILIES

LAWS = (30, 100)  # half of the repetitions are done by exact law, within these limits: laws vary little
Rival = Callable[[Cell, int], list[float]]  # errors, one for each repetition
Law = Callable[[Cell, Floats], Steps]
Answer = Callable[[Cell, Floats, np.random.Generator], Any]


def by_law(law: Law) -> Rival:
    """Expected errors from the exact law on the data of each repetition."""

    def errors(cell: Cell, repetitions: int) -> list[float]:
        return [_expected(cell, data, law(cell, data)) for data in cell.samples(laws_for(repetitions))]

    return errors


def laws_for(repetitions: int) -> int:
    """The number of repetitions that are done by exact law."""
    return min(repetitions, max(repetitions // 2, LAWS[0]), LAWS[1])


def by_draws(answer: Answer) -> Rival:
    """One draw for each repetition."""

    def errors(cell: Cell, repetitions: int) -> list[float]:
        rng = np.random.default_rng(crc32(f"{cell}".encode()))
        return [cell.error(answer(cell, data, rng), data) for data in cell.samples(repetitions)]

    return errors


def _expected(cell: Cell, data: Floats, law: Steps) -> float:
    truth = float(cell.truth(data)[0])
    return float(law.expectation(lambda answers: cell.losses(answers, truth, data))[0])


def _terms(cell: Cell) -> dict[str, Any]:
    return {"epsilon": str(cell.epsilon), "neighbors": cell.relation}


def _mapped(cell: Cell, data: Floats) -> Steps:
    return mapped_law(data, [str(q) for q in cell.qs], **_terms(cell))


def _piecewise(cell: Cell, data: Floats) -> Steps:
    return piecewise_law(data, str(cell.qs[0]), **_terms(cell))


def _shifted(cell: Cell, data: Floats) -> Steps:
    if cell.statistic == "maximum":
        return shifted_law(data, epsilon=str(cell.epsilon))
    law = shifted_law(-data, epsilon=str(cell.epsilon))
    return Steps(-law.edges[::-1], law.log_masses[:, ::-1], law.measure)


def _doubling(cell: Cell, data: Floats, rng: np.random.Generator) -> float:
    """The sign of an extreme is that of the side it is on, which the doubling search is given for nothing."""
    extreme = data.max() if cell.statistic == "maximum" else data.min()
    side = np.maximum(data, 0.0) if extreme > 0 else np.minimum(data, 0.0)
    share = str(max(1 - 4 / cell.budget, 0.5))  # public under swap; under add-remove a gift
    return float(np.sign(extreme) * doubling_bound(side, share, unit=2.0**-20, rng=rng, **_terms(cell)).value)


def _number(release: Release) -> float:
    """The value of a release of one number."""
    return float(release.value)


def _recursion(cell: Cell, data: Floats, rng: np.random.Generator) -> Any:
    return mapped_recursive_quantiles(data, [str(q) for q in cell.qs], rng=rng, **_terms(cell)).value


def _joint(cell: Cell, data: Floats, rng: np.random.Generator) -> Any:
    return mapped_joint_law(data, [str(q) for q in cell.qs], **_terms(cell)).draw(rng)


def _universal(cell: Cell, data: Floats, rng: np.random.Generator) -> float:
    return _number(universal_mean(data, rng=rng, **_terms(cell)))


def _mapped_mean(cell: Cell, data: Floats, rng: np.random.Generator) -> float:
    return _number(mapped_mean(data, rng=rng, **_terms(cell)))


def _doubling_sum(cell: Cell, data: Floats, rng: np.random.Generator, part: float = 1.0) -> float:
    """Half of epsilon for a bound on the magnitudes, half for the noise of the clipped sum."""
    half = part * cell.epsilon / 2
    share = max(1 - 8 / (half * len(data)), 0.5)  # public under swap; under add-remove a gift
    bound = doubling_bound(data, str(share), epsilon=str(half), neighbors=cell.relation, unit=2.0**-20, rng=rng)
    clip = _number(bound)
    scale = clip * (2 if cell.relation == "swap" else 1) / half
    return float(np.clip(data, -clip, clip).sum() + rng.laplace(0, scale))


def _doubling_mean(cell: Cell, data: Floats, rng: np.random.Generator) -> float:
    """The sum over the number of records, which under add-remove is noisy and costs a tenth of epsilon."""
    if cell.relation == "swap":
        return _doubling_sum(cell, data, rng) / len(data)
    size = max(len(data) + rng.laplace(0, 10 / cell.epsilon), 1.0)
    return _doubling_sum(cell, data, rng, 0.9) / size


def oracle(cell: Cell, repetitions: int) -> list[float]:
    """A sum with the best clip for the sample and all of epsilon on noise: nobody's method, a lower limit.

    The clip is [0, c] for data on one side of 0 and [-c, c] otherwise; under swap, off centre, [least, c]: a record
    that moves changes a sum by the width. It also knows that no record is missing, which a column of floats does not
    say.
    """
    unit = FAMILIES[cell.family].spread * cell.n
    samples = (np.sort(-data if data.max() <= 0 else data) for data in cell.samples(laws_for(repetitions)))
    return [best_clip(data, cell) / unit for data in samples]


def best_clip(data: Floats, cell: Cell) -> float:
    """The least expected error of a noisy sum of sorted records over 300 clips."""
    magnitudes = np.sort(np.abs(data))
    clips = np.geomspace(max(magnitudes[len(data) // 4], 1e-12), 1.2 * magnitudes[-1], 300)
    if data[0] < 0:
        lows, spans = -clips, clips * (2 if cell.relation == "swap" else 1)
    elif cell.offset and cell.relation == "swap":
        clips = data[0] + np.geomspace(1e-3, 1.2, 300) * np.ptp(data)
        lows, spans = np.full(300, data[0]), clips - data[0]
    else:
        lows, spans = 0 * clips, clips
    up_to = np.concatenate([[0.0], np.cumsum(data)])
    below, upto = np.searchsorted(data, lows), np.searchsorted(data, clips, side="right")
    bias = np.abs(lows * below - up_to[below] + clips * (len(data) - upto) - (up_to[-1] - up_to[upto]))
    scale = spans / cell.epsilon
    return float((bias + scale * np.exp(-bias / scale)).min())


QUANTILE: dict[str, Rival] = {"mapped": by_law(_mapped), "piecewise Laplace": by_law(_piecewise)}
EXTREME: dict[str, Rival] = {"Shifted Inverse": by_law(_shifted), "doubling": by_draws(_doubling)}
RIVALS: dict[str, dict[str, Rival]] = {
    "inner": QUANTILE,
    "tails": QUANTILE,
    "extremes": EXTREME | {"mapped": QUANTILE["mapped"]},
    "deciles": {"recursion": by_draws(_recursion), "JointExp": by_draws(_joint)},
    "mean": {
        "universal": by_draws(_universal),
        "mapped mean": by_draws(_mapped_mean),
        "doubling": by_draws(_doubling_mean),
    },
    "sum": {"doubling": by_draws(_doubling_sum), "oracle": oracle},
    "few": {"mapped": QUANTILE["mapped"]},
    "wild": {},
    "growth": {},
    "units": {},
    "stated": {},
}
