"""The errors to expect of a statistic."""

from typing import NamedTuple


class Errors(NamedTuple):
    """The expected rank error, if there are ranks; of the error in value the capped mean, median and 95% quantile."""

    rank: float | None
    mean: float
    median: float
    most: float
