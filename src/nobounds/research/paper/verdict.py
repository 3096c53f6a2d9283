"""Which method wins where, our losses included: nobounds' defaults against the best of the other methods."""

from collections.abc import Iterator

import numpy as np

from nobounds.research.paper.datasets import SYNTHETIC, dataset
from nobounds.research.paper.experiments import many, scales, sizes
from nobounds.research.paper.experiments.summaries import QuantileErrors, mean_and_error, repeated
from nobounds.research.paper.published import EPSILONS, METHODS, SETS, published
from nobounds.research.paper.work import Result
from nobounds.values import dataclass

Results = dict[str, Result]
DEFAULT, SWAP = "nobounds, add-remove", "nobounds, swap"
LEAST = 1e-12  # a mean or median error below this counts as this: few samples of data with ties may have none


@dataclass(frozen=True, slots=True)
class Contest:
    """The error of nobounds relative to the best other method, the standard error of this ratio, and that method."""

    where: str
    ratio: float
    open: float
    rival: str

    @property
    def verdict(self) -> str:
        """Better, worse, or even: within two standard errors."""
        if abs(self.ratio - 1) <= 2 * self.open:
            return "even"
        return "better" if self.ratio < 1 else "worse"


def table_1(results: Results, neighbors: str) -> Iterator[Contest]:
    """Each cell, against the published rows."""
    for epsilon in EPSILONS:
        for name in SETS:
            if f"{name} {epsilon} {neighbors}" in results:
                mean, error = repeated(results[f"{name} {epsilon} {neighbors}"]["errors"])
                rival = min(METHODS, key=lambda method: published(epsilon, method, name))
                best = published(epsilon, rival, name)
                yield Contest(f"sum of {dataset(name).title}, epsilon {epsilon}", mean / best, error / best, rival)


def figure_3(results: Results, method: str) -> Iterator[Contest]:
    """Each data set, averaged over quantiles: against UQE and EMQ on real data, EMQ with tight bounds on synthetic."""
    for name in dict.fromkeys(key.split()[0] for key in results):
        errors = QuantileErrors.of(results, name)
        qs = errors.qs(method)
        rivals = {rival: errors.mean(rival, qs).mean() for rival in (("EMQ",) if name in SYNTHETIC else ("UQE", "EMQ"))}
        rival = min(rivals, key=lambda key: rivals[key])
        samples = errors.errors[method].mean(axis=1)
        ratio = float(samples.mean()) / max(float(rivals[rival]), LEAST)
        columns = np.isin(np.round(errors.qs(rival), 2), np.round(qs, 2))
        others = errors.errors[rival][:, columns].mean(axis=1)
        spread = np.hypot(*(x.std() / max(x.mean(), LEAST) / np.sqrt(len(x)) for x in (samples, others)))
        yield Contest(f"quantiles of {dataset(name).title}", ratio, ratio * float(spread), rival)


def by_median(results: Results, method: str, rivals: tuple[str, ...], places: dict[str, str]) -> Iterator[Contest]:
    """Each case of an experiment, by medians of absolute errors."""
    for place, where in places.items():
        prefix, _, key = place.rpartition("|")
        cell = results[key]
        medians = {rival: float(np.median(cell[prefix + rival])) for rival in rivals}
        rival = min(medians, key=lambda name: medians[name])
        mine, theirs = (np.array(cell[prefix + name]) for name in (method, rival))
        ratio = float(np.median(mine)) / max(medians[rival], LEAST)
        spread = np.hypot(*(1.25 * x.std() / max(np.median(x), LEAST) / np.sqrt(len(x)) for x in (mine, theirs)))
        yield Contest(where, ratio, ratio * min(float(spread), 0.5), rival)


def scale_contests(results: Results, method: str) -> Iterator[Contest]:
    """Each factor."""
    places = {f"|{factor:g}": f"data times {factor:g}" for factor in scales.FACTORS}
    return by_median(results, method, ("UQE", "EMQ"), places)


def size_contests(results: Results, method: str) -> Iterator[Contest]:
    """Each quantile and number of records."""
    places = {
        f"{q} |{n}": f"{q:.0%} quantile of {int(n):,} records" for q in sizes.QS for n in sorted(results, key=int)
    }
    return by_median(results, method, ("UQE", "EMQ"), places)


def many_contests(results: Results, method: str) -> Iterator[Contest]:
    """Each data set and number of quantiles, by means."""
    for key in results:
        name, count = key.split()
        means = {
            rival: mean_and_error(results[key][rival]) for rival in many.METHODS if not rival.startswith("nobounds")
        }
        rival = min(means, key=lambda other: means[other][0])
        mine = mean_and_error(results[key][method])
        best = max(means[rival][0], 1e-9)
        noise = float(np.hypot(mine[1], means[rival][1] * mine[0] / best)) / best
        yield Contest(f"{count} quantiles of {dataset(name).title}", mine[0] / best, noise, rival)


def summary(experiments: dict[str, Results]) -> str:
    """For the default and for swap: how often better, even and worse, and every case where it is worse."""
    kinds = (
        ("table1", "sums", lambda results, method: table_1(results, method.removeprefix("nobounds, "))),
        ("figure3", "single quantiles", figure_3),
        ("scales", "other units", scale_contests),
        ("sizes", "other numbers of records", size_contests),
        ("many", "many quantiles", many_contests),
    )
    texts = []
    for method, words in ((DEFAULT, "**nobounds' default (add-remove)**"), (SWAP, "**nobounds under swap**")):
        lines = []
        for part, title, contests in kinds:
            if part not in experiments:
                continue
            all_of_them = list(contests(experiments[part], method))
            counts = {v: sum(c.verdict == v for c in all_of_them) for v in ("better", "even", "worse")}
            lost = [f"{c.where} ({c.ratio:.2f} of {c.rival})" for c in all_of_them if c.verdict == "worse"]
            where = f" Worse: {'; '.join(lost)}." if lost else ""
            lines.append(
                f"- {title}: better in {counts['better']}, even in {counts['even']}, worse in {counts['worse']}.{where}"
            )
        texts.append("\n".join([f"{words}, against the best of the other methods in each place:", "", *lines]))
    return "\n\n".join(texts)
