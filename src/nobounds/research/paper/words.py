"""The report on each experiment, in words, tables and figures."""

from collections.abc import Callable
from typing import Any

import numpy as np

from nobounds.research.paper import claims, figures
from nobounds.research.paper.datasets import ROWS, SYNTHETIC, dataset
from nobounds.research.paper.experiments import densities, runaways
from nobounds.research.paper.experiments.summaries import Cell, QuantileErrors, repeated
from nobounds.research.paper.experiments.sums import CAP
from nobounds.research.paper.published import EPSILONS, METHODS, SETS, published
from nobounds.research.paper.work import Result

Results = dict[str, Result]
Save = Callable[[str, Any], str]  # saves a figure under a name, and returns the Markdown for it

OURS = {"add-remove": "nobounds (add-remove, the default)", "swap": "nobounds (swap)"}


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def short(value: float) -> str:
    """Three or four digits, with commas."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def densities_part(results: Results, save: Save) -> str:
    """Figure 1."""
    return save("figure_1", figures.figure_1(results["laws"])) + (
        f"\n\nDensities of a private 90% quantile of {densities.ROWS} uniform records on [0, 10], epsilon 1, from "
        "exact laws. A range that is twice too wide moves EMQ; UQE and nobounds get the lower end alone. With "
        "so few records nobounds stays below the quantile rather than run away above it."
    )


def histograms_part(_: Results, save: Save) -> str:
    """Figure 2."""
    return save("figure_2", figures.figure_2()) + "\n\nThe six data sets; the highest thousandth is not shown."


def quantiles_part(results: Results, save: Save) -> str:
    """Figure 3, and its averages."""
    errors = {name: QuantileErrors.of(results, name) for name in dict.fromkeys(key.split()[0] for key in results)}
    samples = len(next(iter(errors.values())).errors["UQE"])
    methods = ("EMQ", "nobounds, add-remove", "nobounds, swap")
    rows = []
    for name, each in errors.items():
        ratios = {method: each.average_ratio(method) for method in methods}
        best = ratios["EMQ"] if name in SYNTHETIC else min(ratios["EMQ"], 1.0)
        rows.append(
            [
                dataset(name).title,
                "1",
                *(f"{ratios[m]:.2f}" for m in methods),
                f"{ratios['nobounds, add-remove'] / best:.2f}" if best else "",  # few samples of ties may have no error
            ]
        )
    head = ["data", "UQE", *methods, "nobounds / best published"]
    return (
        save("figure_3", figures.figure_3(errors))
        + (
            f"\n\nMean absolute errors of {samples} samples of 1000 records, epsilon 1, over that of UQE; bands are "
            "standard errors, and where UQE has no error there is no ratio. EMQ gets the range, UQE its lower end, "
            "nobounds nothing but the resolution of the "
            "real data. Averaged over the quantiles from 5 to 95% (the best published is EMQ on the synthetic data, "
            "whose bounds are tight, and the better of both on the others):\n\n"
        )
        + table(head, rows)
    )


def sums_part(results: Results, _: Save) -> str:
    """Table 1, and the methods beyond it."""
    epsilons = [e for e in EPSILONS if f"{SETS[0]} {e} UQE" in results]
    cells = {(e, m, s): Cell.of(results, s, e, m) for e in epsilons for m in METHODS for s in SETS}
    repetitions = len(results[f"{SETS[0]} {epsilons[0]} UQE"]["errors"])
    rows = []
    for epsilon in epsilons:
        for method in METHODS:
            row = [f"{epsilon}", f"{method}, in the paper"]
            rows.append(row + [short(cells[epsilon, method, name].paper) for name in SETS])
            again = [cells[epsilon, method, name] for name in SETS]
            texts = [
                f"{short(c.median)} ({short(c.low)} to {short(c.high)}) {'' if c.inside else '**outside**'}".strip()
                for c in again
            ]
            rows.append(["", f"{method}, again", *texts])
        for method, label in (
            ("tree", "tree without the slip"),
            ("doubling", "doubling search, capped"),
            ("interquartile", "interquartile range"),
        ):
            rows.append(
                ["", label, *(short(float(np.mean(results[f"{name} {epsilon} {method}"]["errors"]))) for name in SETS)]
            )
        for neighbors, label in OURS.items():
            texts = []
            for name in SETS:
                mean, error = repeated(results[f"{name} {epsilon} {neighbors}"]["errors"])
                best = min(published(epsilon, method, name) for method in METHODS)
                texts.append(f"{short(mean)} ± {short(error)} ({mean / best:.2f})")
            rows.append(["", f"**{label}**", *texts])
    counted = [cell.inside for (_, method, _), cell in cells.items() if method != "AT"]
    head = ["epsilon", "method", *(dataset(name).title for name in SETS)]
    return (
        f"Mean absolute error of private sums of 1000 records for 2 epsilon in all: the paper's number, the median "
        f"of {repetitions} repetitions of its experiment here and their 5 to 95% range. Of the {len(counted)} cells "
        f"of UQE and EMQ {sum(counted)} are inside. In brackets after nobounds: its error over the best published "
        "one.\n\n"
        + table(head, rows)
        + "\n\nUQE, EMQ and the tree are for data sets that differ by one record changed (swap); nobounds' default is "
        "one record more or less, and its row for swap is the like-for-like one. The published rows of the tree (AT) "
        "come from an implementation that takes a node's number for its count; *again* repeats that, and *tree without "
        "the slip* has it right. Medians of repetitions, because a single run of UQE in thousands runs away, and its "
        "mean does not exist; nobounds gets the same, and "
        f"{_runaways(results)} of its sums were off by more than ten times the sum."
    )


def _runaways(results: Results) -> str:
    """How many of all sums by nobounds were off by more than ten times the true sum."""
    sums = {name: float(dataset(name).values.mean()) * ROWS for name in SETS}
    ours = {key: result["errors"] for key, result in results.items() if key.split()[2] in OURS}
    far = [error > CAP * sums[key.split()[0]] for key, errors in ours.items() for error in errors]
    return f"{sum(far)} of {len(far):,}"


def claims_part(results: Results, _: Save) -> str:
    """The remarks on parameters."""
    epsilons = sorted({key.split()[1] for key in results}, key=float, reverse=True)
    rows = []
    for epsilon in epsilons:
        for variant in claims.VARIANTS:
            texts = []
            for name in SETS:
                errors = results[f"{name} {epsilon}"][variant]
                texts.append(f"{short(float(np.mean(errors)))} / {short(float(np.median(errors)))}")
            rows.append([epsilon, variant, *texts])
    head = ["epsilon", "UQE with", *(dataset(name).title for name in SETS)]
    return (
        "Mean and median error of the sums of Table 1 by the paper's method with other parameters; an error counts for "
        "no more than ten times the true sum, because at q = 1 and above the mean does not exist.\n\n"
        + table(head, rows)
    )


def scales_part(results: Results, save: Save) -> str:
    """Other units."""
    return save("scales", figures.figure_scales(results)) + (
        "\n\nThe 90% quantile of 1000 lognormal(3, 0.8) records times 1e-6 to 1e9, epsilon 1; EMQ gets [0, 10000]. "
        "Medians, because the mean of UQE does not exist."
    )


def sizes_part(results: Results, save: Save) -> str:
    """Other numbers of records."""
    return save("sizes", figures.figure_sizes(results)) + (
        "\n\nLognormal(3, 0.8) records, epsilon 1; EMQ gets [0, 10000], UQE has beta = 1.001. Steps of a thousandth "
        "are a floor under UQE's error; those of nobounds grow finer with the number of records."
    )


def many_part(results: Results, save: Save) -> str:
    """Many quantiles."""
    return save("many", figures.figure_many(results)) + (
        "\n\nm evenly spaced quantiles of 1000 records for one epsilon of 1: the mean rank error of the m answers, "
        "with standard errors. All but nobounds get the range, and are for swap; EMQ asks each for epsilon / m."
    )


def runaways_part(results: Results, save: Save) -> str:
    """Runaways."""
    chances = results["chances"]
    at_ten = {name: float(np.interp(1.0, np.log10(runaways.FACTORS), values)) for name, values in chances.items()}
    rows = [[name, f"{chance:.1g}"] for name, chance in at_ten.items()]
    return (
        save("runaways", figures.figure_runaways(chances))
        + (
            "\n\nThe chance, by exact laws, that an answer is above a multiple of the largest of 1000 uniform records, "
            "epsilon 1. Above ten times:\n\n"
        )
        + table(["method", "chance"], rows)
    )
