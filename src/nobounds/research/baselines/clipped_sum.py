"""The sum of non-negative data, clipped at any private quantile: the procedure of the paper's Section 6.3.

A clip Delta for epsilon and Laplace noise of scale Delta / epsilon on the clipped sum cost 2 epsilon together.
"""

import numpy as np

from nobounds.accounting.cost import pure
from nobounds.accounting.loss import PrivacyLoss
from nobounds.arrays import Floats
from nobounds.exact import Number, privacy_parameter
from nobounds.release.release import Release
from nobounds.research.baselines.records import FLOATING, check_rng, floats_of


def clipped_sum(data: object, *, clip: Release, epsilon: Number, rng: np.random.Generator) -> Release:
    """The noisy sum of records clipped to [0, clip.value]; floating-point noise, for comparison only.

    `epsilon` is that of the noise; the loss includes that of the clip. Of two bounds the upper one is used, and 0 for a
    negative one. A missing record counts as 0.

    >>> from nobounds.research.baselines import doubling_bound
    >>> rng = np.random.default_rng(1)
    >>> print(clipped_sum(range(1000), clip=doubling_bound(range(1000), 0.99, epsilon=1, rng=rng), epsilon=1, rng=rng))
    sum: 503,245, for epsilon 2 (swap, per row; rho 0.735)
    """
    generator, each = check_rng(rng), privacy_parameter(epsilon, "epsilon")
    if not isinstance(clip, Release):
        raise TypeError(f"clip must be a Release, so that its loss is known, got clip of type {type(clip).__name__}")
    loss = clip.loss + PrivacyLoss.of(pure(each), clip.loss.neighbors, clip.loss.unit)
    ends = clip.value if isinstance(clip.value, tuple) else (clip.value,)
    if ends[-1] is None:
        raise ValueError(f"clip must be answered, got a release without an answer ({clip.reason})")
    if not isinstance(ends[-1], int | float):
        raise TypeError(f"clip must be a number, got a {type(ends[-1]).__name__}")
    top = max(float(ends[-1]), 0.0)
    value = float(np.clip(floats_of(data, missing=0.0), 0.0, top).sum() + generator.laplace(0.0, top / float(each)))
    parameters = {"clip": top, "clip method": clip.parameters.get("method", clip.statistic), "noise": FLOATING}
    return Release("sum", value, loss, parameters)


def clipped_sum_errors(data: object, clips: Floats, *, epsilon: Number) -> Floats:
    """The expected absolute error of the clipped sum for each clip, exactly.

    It is b + s exp(-b / s) for a bias of b and Laplace noise of scale s. Not private: for experiments.
    """
    each = float(privacy_parameter(epsilon, "epsilon"))
    ordered = np.sort(np.maximum(floats_of(data, missing=0.0), 0.0))
    tops = np.maximum(np.asarray(clips, dtype=float), 0.0)
    above = np.append(np.cumsum(ordered[::-1])[::-1], 0.0)  # sums of the records from each position on
    kept = np.searchsorted(ordered, tops, side="right")
    bias, scale = above[kept] - tops * (len(ordered) - kept), tops / each
    return np.asarray(bias + scale * np.exp(-bias / np.where(scale > 0, scale, 1.0)))
