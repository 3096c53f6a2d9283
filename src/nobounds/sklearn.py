"""A scikit-learn transformer that clips each feature at private quantiles: `PrivateClipper`."""

import random
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from nobounds.accounting.loss import PrivacyLoss, check_neighbors
from nobounds.accounting.spending import Chargeable, Spending
from nobounds.accounting.terms import Terms
from nobounds.counting.scan import gathered
from nobounds.counting.second_look import Counts
from nobounds.engines.column import Column
from nobounds.engines.memory.features import frame_features, is_frame, matrix_features
from nobounds.exact import privacy_parameter
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.programs.program import Driver, Program
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_together
from nobounds.ranks.problem import check_ranks
from nobounds.ranks.question import Question
from nobounds.ranks.view import View
from nobounds.statistics.door import Request, admit
from nobounds.values import dataclass


class PrivateClipper(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Clip each feature at two private quantiles, for one epsilon over all features.

    quantile_range: the two quantiles. epsilon: for one row of X, of all features together. lower, upper, resolution,
    neighbors, budget: as in `nobounds.quantiles`. random_state: for tests and experiments; leave it None for releases.
    Missing values and infinities are allowed, because an error would reveal them: NaN stays, infinities are clipped,
    and what is not a number is missing. An X without rows is refused, as scikit-learn requires, and so is a frame with
    a column of text or dates. A frame's columns have the types that they declare, and whole numbers have whole bounds.

    What `fit` learns is private and may be released; `transform` returns records, as sensitive as they were.

    >>> import numpy as np
    >>> X = np.random.default_rng(1).lognormal(3, 1, (5000, 2))
    >>> clipper = PrivateClipper(epsilon=1.0, random_state=1).fit(X)
    >>> bool((clipper.transform(X) <= clipper.upper_).all()), clipper.loss_.epsilon
    (True, 1.0)
    """

    def __init__(
        self,
        quantile_range: tuple[float, float] = (0.01, 0.99),
        *,
        epsilon: float = 1.0,
        lower: float | None = None,
        upper: float | None = None,
        resolution: float | None = None,
        neighbors: str = "add-remove",
        budget: Chargeable | None = None,
        random_state: Any = None,
    ) -> None:
        self.quantile_range = quantile_range
        self.epsilon = epsilon
        self.lower = lower
        self.upper = upper
        self.resolution = resolution
        self.neighbors = neighbors
        self.budget = budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "PrivateClipper":
        """Learn the clipping bounds of each feature; the budget is charged before the data are read."""
        epsilon, neighbors = privacy_parameter(self.epsilon, "epsilon"), check_neighbors(self.neighbors)
        ranks = check_ranks(self.quantile_range, "quantile_range")
        if len(ranks) != 2:
            raise ValueError(f"quantile_range must have two numbers between 0 and 1, got {len(ranks)}")
        qs = tuple(sorted(set(ranks)))
        stated = Stated.of(self.lower, self.upper, self.resolution)
        features = Features(tuple(self._features(X)))
        count = len(features.columns)
        each = Terms(Spending(epsilon / count, zcdp=False), neighbors)
        rng = self.random_state
        if rng is not None and not isinstance(rng, Driver):
            rng = random.Random(check_random_state(rng).randint(2**31))

        def plan(facts: tuple[Facts, ...]) -> list[Question | Halving]:
            return [plan_together(fact, each, Options(stated), qs) for fact in facts]

        def answer(
            plans: list[Question | Halving], facts: tuple[Facts, ...], features: Features, loss: PrivacyLoss
        ) -> "Program[PrivateClipper]":
            ends = []
            for plan, column in zip(plans, features.columns, strict=True):
                ends.append((yield from plan.program(View(Counts.of(column.chunks, plan.ladder)))))
            self.lower_, self.upper_ = np.array([(end[0], end[-1]) for end in ends], dtype=np.float64).T
            self.loss_ = loss
            return self

        request = Request(
            neighbors,
            plan,
            lambda plans, facts: PrivacyLoss.pure(epsilon, neighbors=neighbors),
            lambda facts: f"bounds of {count} features",
            answer,
        )
        return admit(request, features, self.budget, rng)

    def transform(self, X: Any) -> Any:
        """X with each feature kept within its bounds."""
        check_is_fitted(self)
        features = self._features(X, reset=False)
        kinds = getattr(X, "dtypes", [getattr(X, "dtype", None)])
        dtype = np.float32 if all(kind == np.float32 for kind in kinds) else np.float64
        matrix = np.column_stack([gathered(feature.chunks()) for feature in features]).astype(dtype)
        with np.errstate(over="ignore"):  # a bound beyond the range of the type keeps nothing out
            return np.clip(matrix, self.lower_.astype(dtype), self.upper_.astype(dtype))

    def _features(self, X: Any, reset: bool = True) -> list[Column]:
        """The columns of X, checked by shape and declared types alone: no record is in an error, or decides a type.

        A list of rows has no type, and to infer one is to look at the data: one text would make all numbers text.
        """
        typed = isinstance(X, np.ndarray)
        if not hasattr(X, "shape"):
            X = _matrix(X) if isinstance(X, list | tuple) else np.asarray(X)
        if len(X.shape) < 2:
            raise ValueError(f"Expected 2D array, got {len(X.shape)}D array instead. Reshape your data first")
        if getattr(getattr(X, "dtype", None), "kind", "") == "c":
            raise ValueError("Complex data not supported")
        if not is_frame(X):
            return matrix_features(validate_data(self, X, dtype=None, ensure_all_finite=False, reset=reset), typed)
        validate_data(self, X, skip_check_array=True, reset=reset)
        if 0 in X.shape:
            raise ValueError("X must have a row and a feature, got none; a minimum of 1 is required")
        return frame_features(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True  # what is not a number is missing
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True, slots=True)
class Features:
    """The columns of a matrix or frame, not read yet."""

    columns: tuple[Column, ...]

    def public(self, sized: bool) -> tuple[Facts, ...]:
        """The public facts of each column."""
        return tuple(column.public(sized) for column in self.columns)


def _matrix(rows: Any) -> Any:
    """A list of rows as an array of objects, filled record by record: no record decides its shape.

    numpy would look into records that are lists themselves, and add a dimension if all of them are. The number of
    features is that of the first row, and all rows have as many.
    """
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows) or not len(rows):
        return np.empty(len(rows), dtype=object)
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise ValueError("X must have rows of equal length")
    matrix = np.empty((len(rows), width), dtype=object)
    for i, row in enumerate(rows):
        for j in range(width):
            matrix[i, j] = row[j]
    return matrix
