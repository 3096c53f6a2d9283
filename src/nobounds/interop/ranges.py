"""Private ranges: the bounds, candidates and edges that other libraries require, from quantiles of each column."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nobounds import Table
from nobounds.accounting.loss import PrivacyLoss
from nobounds.arrays import Floats
from nobounds.ask import quantile
from nobounds.exact import Number
from nobounds.values import dataclass

LEVELS = ("0.005", "0.5", "0.995")  # at small epsilons more of them would move the ends inwards
_APART = 1e-3  # equal ends are moved apart by this part of them: others refuse an empty range


@dataclass(frozen=True, slots=True)
class Range:
    """Released quantiles of a column, in increasing order; everything else about it is computed from these."""

    levels: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def bounds(self) -> tuple[float, float]:
        """The outermost quantiles, as whole numbers if the column has whole numbers.

        Equal ends are moved apart by a thousandth of them, and by at least 1 in whole numbers.
        """
        low, high = self.values[0], self.values[-1]
        if low < high:
            return low, high
        if self._whole:
            return low - 1, high + 1
        step = _APART * (abs(low) or 1.0)
        return low - step, high + step

    def candidates(self, count: int) -> list[float]:
        """Increasing values from bound to bound, close together where records are: about `count`, without repeats."""
        if count < 2:
            raise ValueError(f"count must be at least 2, got count={count}")
        return self._at(np.linspace(self.levels[0], self.levels[-1], count))

    def edges(self, bins: int) -> list[float]:
        """The inner edges of bins with about the same number of records each; fewer where one value has many."""
        if bins < 2:
            raise ValueError(f"bins must be at least 2, got bins={bins}")
        return self._at(np.arange(1, bins) / bins)

    @property
    def _whole(self) -> bool:
        return all(isinstance(value, int) for value in self.values)

    def _at(self, levels: Floats) -> list[float]:
        """The quantiles at these levels, interpolated between those that were released."""
        values = np.interp(levels, self.levels, [float(value) for value in self.values])
        if self._whole:
            return [int(value) for value in np.unique(np.rint(values))]
        return [float(value) for value in np.unique(values)]


@dataclass(frozen=True, slots=True)
class Ranges(Mapping[str, Range]):
    """The ranges of columns by name, and the loss of all of them together."""

    columns: dict[str, Range]
    loss: PrivacyLoss

    def __getitem__(self, column: str) -> Range:
        return self.columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def arrays(self) -> tuple[Any, Any]:
        """The lower and the upper bounds of all columns as two arrays, as models of diffprivlib take them."""
        lower, upper = zip(*(each.bounds for each in self.columns.values()), strict=True)
        return np.array(lower, dtype=float), np.array(upper, dtype=float)


def private_ranges(
    table: Table, columns: Iterable[str], *, epsilon: Number, levels: Sequence[Number] = LEVELS, **options: Any
) -> Ranges:
    """The ranges of columns of numbers, for one epsilon over all of them; the budget of the table is charged.

    levels: the quantiles to release; the outermost are the bounds. options: those of `Table.agg`. Raises ValueError
    after the release if there are too few rows for the epsilon; it is spent then.

    >>> import numpy as np
    >>> ages = np.random.default_rng(0).integers(18, 90, 10_000)
    >>> ranges = private_ranges(Table({"age": ages}), ["age"], epsilon=0.5, rng=np.random.default_rng(1))
    >>> ranges["age"].bounds, ranges.loss.epsilon
    ((18, 89), 0.5)
    """
    names, ranks = tuple(dict.fromkeys(columns)), tuple(sorted(levels, key=float))
    if not names or len(ranks) < 2:
        raise ValueError("a range needs at least one column and two levels")
    asks = [quantile(name, rank) for name in names for rank in ranks]
    answers = table.agg(*asks, epsilon=epsilon, **options)
    released = [answers[answer].value for answer in answers]
    ranges = {}
    for k, name in enumerate(names):
        values = released[k * len(ranks) : (k + 1) * len(ranks)]
        if values is None or any(value is None for value in values):
            raise ValueError(f"no range of {name!r} was released: there are too few rows for this epsilon")
        if not all(isinstance(value, int | float) for value in values):
            raise TypeError(f"{name!r} must be a column of numbers: other libraries take no other bounds")
        ranges[name] = Range(tuple(float(rank) for rank in ranks), tuple(sorted(values)))
    return Ranges(ranges, answers.loss)
