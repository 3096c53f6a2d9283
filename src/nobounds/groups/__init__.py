"""One question for up to a million groups at once; each answer has the law of the scalar code."""

from nobounds.groups.decisions import GroupIntervals, GroupPrograms, GroupQuantiles, NoisyGroups
from nobounds.groups.driver import answers
from nobounds.groups.noise import discrete_gaussian_many, discrete_laplace_many, geometric_many, noise_many
from nobounds.groups.records import Groups

__all__ = [
    "GroupIntervals",
    "GroupPrograms",
    "GroupQuantiles",
    "Groups",
    "NoisyGroups",
    "answers",
    "discrete_gaussian_many",
    "discrete_laplace_many",
    "geometric_many",
    "noise_many",
]
