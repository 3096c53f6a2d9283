"""Several statistics in one request beside the same ones one by one, each for an equal part of epsilon.

Two columns (lognormal incomes and whole ages) with mean and median each, and the number of rows, for epsilon 1. An
error is in percentiles for a median, and over the standard deviation of the column for a mean; what is not answered is
counted apart. `python benchmarks/tuning/agg.py` prints the table (six minutes).
"""

import random

import numpy as np

import nobounds as nb
from nobounds.ask import count, mean, median

ASKS = (mean("income"), median("income"), mean("age"), median("age"), count())
RUNS = 200


def error(ask, value, data):
    """How far off an answer is."""
    if ask.statistic == "count":
        return abs(value - len(data["age"]))
    column = data[ask.columns[0]]
    if ask.statistic == "mean":
        return abs(value - column.mean()) / column.std()
    below, at_most = (column < value).mean(), (column <= value).mean()
    return 100 * max(below - 0.5, 0.5 - at_most, 0.0)


def alone(table, ask, rng):
    """A statistic for its part of epsilon."""
    part = {"epsilon": nb.PrivacyLoss.pure(1).epsilon / len(ASKS), "rng": rng}
    if ask.statistic == "count":
        return table.count(**part)
    return table.mean(*ask.columns, **part) if ask.statistic == "mean" else table.quantile(*ask.columns, 0.5, **part)


def main():
    """Print a row for each number of rows and each statistic."""
    print(f"{'rows':>6}  {'statistic':<15}{'together':>10}{'answered':>10}{'one by one':>12}{'answered':>10}")
    for n in (1000, 10_000):
        errors = {(ask, way): [] for ask in ASKS for way in (0, 1)}
        for k in range(RUNS):
            rng = np.random.default_rng(k)
            data = {"income": rng.lognormal(10, 1, n), "age": rng.integers(18, 90, n)}
            table = nb.Table(data)
            together = table.agg(*ASKS, epsilon=1, rng=random.Random(k))
            for ask in ASKS:
                for way, release in enumerate((together[ask.name], alone(table, ask, random.Random(k)))):
                    if release.value is not None:
                        errors[ask, way].append(error(ask, release.value, data))
        for ask in ASKS:
            cells = [
                (np.mean(errors[ask, way]) if errors[ask, way] else float("nan"), len(errors[ask, way]))
                for way in (0, 1)
            ]
            (one, ones), (other, others) = cells
            print(f"{n:>6}  {ask.name:<15}{one:>10.3g}{ones / RUNS:>10.0%}{other:>12.3g}{others / RUNS:>10.0%}")


if __name__ == "__main__":
    main()
