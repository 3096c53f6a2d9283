"""The statistics of other libraries, each given bounds: OpenDP, diffprivlib and Google's library by python-dp.

Each function gets the records, the bounds and the second column, and returns one number, or for a histogram the counts.
Epsilon is 1, a row is added or removed in OpenDP and Google's library, and replaced by another in diffprivlib.
"""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

EPSILON, DELTA, CANDIDATES, BINS = 1.0, 1e-6, 1000, 20
Bounds = tuple[float, float]
Peer = Callable[[Any, Bounds], Any]


def diffprivlib() -> dict[str, Peer]:
    """IBM's library."""
    from diffprivlib import tools

    warnings.simplefilter("ignore")  # of records that lie on a bound

    def quartiles(x: Any, bounds: Bounds) -> float:
        low, high = (tools.quantile(x, q, epsilon=EPSILON / 2, bounds=bounds) for q in (0.25, 0.75))
        return float(high - low)

    return {
        "mean": lambda x, bounds: tools.mean(x, epsilon=EPSILON, bounds=bounds),
        "std": lambda x, bounds: tools.std(x, epsilon=EPSILON, bounds=bounds),
        "variance": lambda x, bounds: tools.var(x, epsilon=EPSILON, bounds=bounds),
        "median": lambda x, bounds: tools.median(x, epsilon=EPSILON, bounds=bounds),
        "iqr": quartiles,
        "proportion": lambda x, bounds: tools.mean(x.astype(float), epsilon=EPSILON, bounds=(0.0, 1.0)),
        "count": lambda x, bounds: tools.count_nonzero(np.ones(len(x)), epsilon=EPSILON),
        "histogram": lambda x, bounds: tools.histogram(x, epsilon=EPSILON, bins=BINS, range=bounds),
    }


def opendp() -> dict[str, Peer]:
    """OpenDP: noise on clamped sums and counts, quantiles among 1,000 candidates, thresholds for unknown keys."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    numbers = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()

    scales: dict[Any, float] = {}  # by what they depend on: a search takes much longer than an answer

    def at(of: Any, epsilon: float, make: Callable[[float], Any], data: Any) -> Any:
        if (of, epsilon) not in scales:
            search = dp.binary_search(lambda scale: make(scale).map(1) <= epsilon, bounds=(1e-9, 1e12))
            scales[of, epsilon] = search
        return make(scales[of, epsilon])(data)

    def counted(x: Any, epsilon: float) -> float:
        return float(at("count", epsilon, lambda scale: numbers >> dp.t.then_count() >> dp.m.then_laplace(scale), x))

    def summed(x: Any, bounds: Bounds, epsilon: float) -> float:
        chain = numbers >> dp.t.then_clamp(bounds) >> dp.t.then_sum()
        return float(at(bounds, epsilon, lambda scale: chain >> dp.m.then_laplace(scale), x))

    def mean(x: Any, bounds: Bounds) -> float:
        middle = (bounds[0] + bounds[1]) / 2  # sums around the middle of the bounds have half the sensitivity
        ends = (bounds[0] - middle, bounds[1] - middle)
        return middle + summed(x - middle, ends, EPSILON / 2) / max(counted(x, EPSILON / 2), 1)

    def quantile(x: Any, q: float, bounds: Bounds, epsilon: float) -> float:
        among = np.linspace(*bounds, CANDIDATES).tolist()

        def make(scale: float) -> Any:
            return numbers >> dp.m.then_private_quantile(dp.max_divergence(), among, q, scale)

        return float(at(("quantile", q), epsilon, make, x))

    def histogram(x: Any, bounds: Bounds) -> Any:
        edges = np.linspace(*bounds, BINS + 1)
        places = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, BINS - 1)
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
        chain = space >> dp.t.then_count_by_categories(list(range(BINS)), null_category=False)
        return at("bins", EPSILON, lambda scale: chain >> dp.m.then_laplace(scale), places.tolist()), edges

    def distinct(x: Any, bounds: Bounds) -> float:
        space = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
        chain = space >> dp.t.then_count_distinct()
        return float(at("distinct", EPSILON, lambda scale: chain >> dp.m.then_laplace(scale), list(x)))

    def top(x: Any, bounds: Bounds) -> Any:
        space = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
        chain = space >> dp.t.then_count_by(TV=int)
        scale = 1 / EPSILON
        threshold = 1 + math.ceil(math.log(1 / (2 * DELTA)) / EPSILON)
        while True:  # the smallest threshold that OpenDP accepts at this delta
            kept = chain >> dp.m.then_laplace_threshold(scale=scale, threshold=threshold)
            if kept.map(1)[1] <= DELTA:
                return kept(list(x))
            threshold += 1

    return {
        "count_distinct": distinct,
        "top_k": top,
        "mean": mean,
        "median": lambda x, bounds: quantile(x, 0.5, bounds, EPSILON),
        "iqr": lambda x, bounds: quantile(x, 0.75, bounds, EPSILON / 2) - quantile(x, 0.25, bounds, EPSILON / 2),
        "proportion": lambda x, bounds: mean(x.astype(float), (0.0, 1.0)),
        "count": lambda x, bounds: counted(x, EPSILON),
        "histogram": histogram,
    }


def google() -> dict[str, Peer]:
    """Google's library by python-dp."""
    from pydp.algorithms import laplacian

    def asked(algorithm: Any, x: Any, bounds: Bounds, epsilon: float = EPSILON, **more: Any) -> float:
        ends = {"lower_bound": float(bounds[0]), "upper_bound": float(bounds[1])}
        return float(algorithm(epsilon=epsilon, **ends, dtype="float", **more).quick_result(x.tolist()))

    def percentile(x: Any, q: float, bounds: Bounds, epsilon: float) -> float:
        return asked(laplacian.Percentile, x, bounds, epsilon, percentile=q)

    return {
        "mean": lambda x, bounds: asked(laplacian.BoundedMean, x, bounds),
        "std": lambda x, bounds: asked(laplacian.BoundedStandardDeviation, x, bounds),
        "variance": lambda x, bounds: asked(laplacian.BoundedVariance, x, bounds),
        "median": lambda x, bounds: percentile(x, 0.5, bounds, EPSILON),
        "iqr": lambda x, bounds: percentile(x, 0.75, bounds, EPSILON / 2) - percentile(x, 0.25, bounds, EPSILON / 2),
        "proportion": lambda x, bounds: asked(laplacian.BoundedMean, x.astype(float), (0.0, 1.0)),
        "count": lambda x, bounds: float(laplacian.Count(epsilon=EPSILON, dtype="int").quick_result([1] * len(x))),
    }


LIBRARIES = {"diffprivlib": diffprivlib, "OpenDP": opendp, "Google": google}
