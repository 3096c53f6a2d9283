"""What a registry entry says of each statistic, and of every release of nobounds."""

from collections.abc import Iterator, Sequence

FILL_IN = "FILL IN:"  # what a person has to write instead

_RANKS = (
    "Ranks (quantiles, extremes): AboveThreshold along a ladder of public candidates (Durfee 2023), permute-and-flip "
    "(McKenna and Sheldon 2020) or the exponential mechanism under a public prior over all numbers. Public facts and "
    "noisy numbers alone decide which."
)
_CLIPS = (
    "Sums, means, variances and ratios: a clip that AboveThreshold chooses within the stated privacy loss, then "
    "discrete Laplace noise, or discrete Gaussian noise under zCDP, on the exact sum of the clipped records."
)
_COUNTS = "Counts and shares: discrete Laplace noise, or discrete Gaussian noise under zCDP."
_KEYS = "Groups whose keys are not public: a key is shown if its noisy count passes a threshold, which uses delta."
_VECTORS = "Vectors: rows are scaled into a ball, and the sum gets discrete Gaussian noise."

_FAMILIES = {
    _RANKS: "quantile median quantiles maximum minimum bounds iqr describe contributions",
    _CLIPS: "sum mean std variance ratio weighted_mean covariance correlation describe",
    _COUNTS: "count proportion histogram cdf value_counts top_k count_distinct rows_left_out describe",
    _VECTORS: "vector_sum vector_mean",
}


def mechanisms(statistics: Sequence[str], private_keys: bool) -> list[str]:
    """The mechanisms behind these statistics."""
    known = [text for text, names in _FAMILIES.items() if set(names.split()) & set(statistics)]
    other = sorted(set(statistics) - {name for names in _FAMILIES.values() for name in names.split()})
    return [
        *known,
        *([_KEYS] if private_keys else []),
        *([f"{FILL_IN} the mechanism of {', '.join(other)}."] if other else []),
    ]


def security(version: str) -> Iterator[str]:
    """The registry's questions on implementation and security, with what nobounds answers to each."""
    yield (
        f"Library: nobounds, which wrote this entry as version {version}. Each mechanism is one program: the audit "
        "computes exact output distributions from the code that draws answers. "
        f"{FILL_IN} the version that made the releases, and where its code is published."
    )
    yield (
        "Floating point: no noise is drawn or added in floating point. Noise is discrete and exact, from integers and "
        "interval arithmetic; sums are exact and lie on a lattice that public and noisy numbers fix; quantiles are "
        "public candidates, or rounded from them by public and released numbers (against Mironov 2012, and Casacuberta "
        "et al. 2022)."
    )
    yield (
        "Timing: running time depends on the data and is not hidden. "
        f"{FILL_IN} whether analysts can time answers, and if so, that answers are given at fixed times."
    )
    yield (
        "Platform: randomness is that of the operating system, unless a seed was given, which a release does not show. "
        "No error, warning, log or shape of an answer depends on a record, and the order and chunking of records "
        f"change no answer. {FILL_IN} that no seed (rng=) was given."
    )
    yield (
        "Access: a budget is charged before the data are read, in a ledger that threads, processes and kills do not "
        f"overspend. {FILL_IN} who can read the data and the budget's file, and how both are protected."
    )


ACTORS = (
    "The holder of the data runs nobounds in a process that nobody else sees into, and is trusted with the data.",
    "Everybody else is an adversary: they see all answers with their parameters and losses, all errors and shapes, "
    "may choose the questions, may know all records but one, and may have written some of them.",
    "The owner of the machine, other processes of the same user and those who can time it are trusted not to look.",
    f"{FILL_IN} who these actors are here, who sees answers before they are published, and why they are trusted.",
)

NO_TUNING = (
    "No tuning outside epsilon: nobounds chose no bound, candidate, clip, bin or other parameter of a mechanism by "
    "looking at the data outside the stated privacy loss. What it has to learn about the data to answer (their number, "
    "order of magnitude, centre and clip) it learns by mechanisms whose loss is part of the stated one. Its constants "
    "were fixed before, on made-up and public data."
)

POST_PROCESSING = (
    "Within nobounds: quantiles are rounded to a round number of their rung; means, shares and ratios are quotients of "
    "noisy numbers, and standard deviations their square roots; intervals are computed from released numbers. All of "
    "it uses public and released numbers alone.",
    f"{FILL_IN} what was done to the answers afterwards (rounding, negative counts, totals made to agree).",
)

JUSTIFICATION = (
    "The claimed losses were compared with the exact output distributions of the code as it runs, over neighbouring "
    "data sets (nobounds audit), and programs were followed in lockstep on neighbouring data. What was not checked is "
    "listed with the audit and in the threat model.",
    f"{FILL_IN} why this privacy unit and these parameters were chosen, by whom, and what accuracy was needed.",
)
