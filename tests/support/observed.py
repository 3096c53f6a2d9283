"""What is seen of a call besides the numbers: its errors, warnings, logs and prints, and the shape of its answer."""

import contextlib
import io
import json
import logging
import math
import random
import warnings
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

import nobounds as nb
from nobounds.engines.refusals import query_failed
from nobounds.engines.streams.viewed import _failed
from nobounds.release.grouped import GroupedRelease

SEED = 7
CATCH_ALLS = (str(_failed()), str(query_failed()))  # of errors that depend on a record


@dataclass
class Observer:
    """Runs calls and counts them; what it gives is the same for two calls that cannot be told apart."""

    calls: int = 0
    kinds: set = field(default_factory=set)

    def __call__(self, call):
        """What is seen of `call(rng)`."""
        self.calls += 1
        out, err, log = io.StringIO(), io.StringIO(), _Log()
        root = logging.getLogger()
        level = root.level
        root.addHandler(log)
        root.setLevel(logging.DEBUG)
        try:
            with (
                warnings.catch_warnings(record=True) as caught,
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
            ):
                warnings.simplefilter("always")
                try:
                    found, seen = call(random.Random(SEED)), None
                except Exception as error:
                    seen = ("raised", *chain(error))
                    # Where both of two tables fail they look alike, and the next pair might not.
                    assert not str(error).startswith(CATCH_ALLS), error
        finally:
            root.removeHandler(log)
            root.setLevel(level)
        seen = shape(found) if seen is None else seen
        self.kinds.add(seen[0])
        told = tuple((w.category.__name__, str(w.message)) for w in caught)
        return seen, told, tuple(log.lines), out.getvalue(), err.getvalue()

    def same(self, call, one, other, context=""):
        """Nobody can tell which of two data sets a call was made on, but for the numbers in the answer."""
        first, second = self(lambda rng: call(one, rng)), self(lambda rng: call(other, rng))
        assert first == second, f"{context}: {first} is not {second}"
        return first


class _Log(logging.Handler):
    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        if record.name.partition(".")[0] not in {"hypothesis", "asyncio"}:
            self.lines.append((record.name, record.levelname, record.getMessage()))


def chain(error):
    """The type, the words and the notes of an error and of all that hang on it, also where a traceback hides them."""
    waiting, seen = [error], set()
    while waiting:
        error = waiting.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        yield type(error).__name__, str(error), tuple(getattr(error, "__notes__", ()))
        waiting += [error.__cause__, error.__context__]


class Anything:
    """Equal to everything: whether a number is answered is a private answer itself."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


ANY = Anything()


def shape(found):
    """The shape of an answer; fails if a number in it is no finite number, or if it cannot be printed or sent."""
    if isinstance(found, nb.Release):
        values = found.value if isinstance(found.value, tuple) else (found.value,)
        assert all(math.isfinite(value) for value in values if isinstance(value, int | float))
        assert (None in values) == (found.reason is not None)
        assert not any(end != end for bar in found.intervals for end in bar)  # no NaN
        assert nb.Release.from_json(found.to_json()).value == found.value
        assert str(found)
        kinds = tuple(ANY if value is None else type(value).__name__ for value in values)
        follows(found)
        told = _parameters(found.statistic, found.parameters)
        return ("Release", found.statistic, kinds, told, found.loss)
    if isinstance(found, GroupedRelease):
        assert np.isfinite(np.ma.compressed(found.values).astype(np.float64)).all()
        assert len(found.groups) == len(found)
        assert str(found) and json.loads(found.to_json())
        kind = "whole" if found.values.dtype.kind in "iO" else found.values.dtype.name
        keys = tuple(str(array.type) for array in found.arrays)
        # What is spent on a common clip follows from the number of groups, which is released.
        chosen = found.parameters.get("keys") == "private"
        told = _parameters(found.statistic, found.parameters, frozenset({"split"} if chosen else ()))
        return ("GroupedRelease", found.statistic, found.by, keys, kind, told, found.loss)
    if isinstance(found, nb.Description):
        json.loads(found.to_json())
        for summary in found.columns.values():
            assert all(value is None or math.isfinite(value) for value in summary.values.values())
            assert {name for name, value in summary.values.items() if value is None} == set(summary.reasons)
            assert not any(math.isnan(end) for bar in summary.intervals.values() for end in bar)
        assert str(found)
        # Which columns of a table without types are numeric is a private answer.
        names = tuple(sorted({*found.columns, *found.skipped}))
        kinds = {tuple(summary.values) for summary in found.columns.values()}
        told = _parameters("describe", found.parameters)
        return ("Description", names, len(kinds) <= 1, told, found.loss)
    if isinstance(found, nb.Answers):
        assert str(found) and json.loads(found.to_json())
        inner = tuple((name, shape(release)[:2]) for name, release in found.releases.items())
        return ("Answers", inner, _parameters("agg", found.parameters), found.loss)
    if isinstance(found, np.ndarray):
        assert np.isfinite(found).all()
        return "array", found.dtype.name, found.shape
    if isinstance(found, tuple | list):
        return ("several", *map(shape, found))
    return "plain", type(found).__name__


# Parameters that tell of private answers, by statistic; all others are public, and must not differ in their values.
# What a sum tells is made again from its clip. The noise scale of a mean is over its noisy number of records, which is
# not released: that it comes from noisy numbers alone is audited with scripted noise (`auditing.claims.numbers`).
PRIVATE = {
    "sum": {"clip", "noise_scale", "split", "interval"},  # the split follows the noisy size
    "mean": {"clip", "noise_scale", "split", "interval"},
    **{key: {"clip", "split", "interval"} for key in ("std", "variance")},
    **{key: {"clips", "split", "interval"} for key in ("ratio", "weighted_mean", "covariance", "correlation")},
    **{key: {"split"} for key in ("quantile", "median", "quantiles", "maximum", "minimum", "bounds")},
    "iqr": {"quartiles"},
    "agg": {"split"},
    "describe": {"split"},
    "histogram": {"total"},
    "cdf": {"total"},
    "vector_sum": {"clip", "noise_scale"},
    "vector_mean": {"clip", "noise_scale"},
}


def _parameters(statistic, parameters, private=frozenset()):
    """Names and types, and the values of those that are public."""
    hidden = PRIVATE.get(statistic, set()) | private | {"values_read"}  # a noisy number of records
    # That there is no error bar, no answer and so no clip, or nothing known of its rung is a private answer.
    absent = {"half_interval", "needed", "rung"} | ({"clip", "noise", "noise_scale"} if "clip" in hidden else set())
    return tuple(
        (name, type(value).__name__, None if name in hidden else repr(value))
        for name, value in sorted(parameters.items())
        if name not in absent
    )


def follows(found):
    """The noise scale of a sum follows from its clip and from what is public; that of a count is public itself."""
    told = found.parameters
    if (
        "clip" in told
        and found.statistic == "sum"
        and found.loss.neighbors == "add-remove"
        and told["spending"] == "epsilon"
    ):
        most = max(map(abs, map(Fraction, told["clip"])))
        expected = most * told.get("rows_per_unit", 1) / Fraction(told["split"]["noise"])
        if 2.0**-1000 < expected < Fraction(2) ** 1000:  # at the ends of the floats there are fewer digits
            assert math.isclose(told["noise_scale"], expected, rel_tol=1e-6)
