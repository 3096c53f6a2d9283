"""What is seen of a call besides the numbers: its errors, warnings, logs and prints, and the shape of its answer."""

import contextlib
import io
import json
import logging
import math
import random
import warnings
from dataclasses import dataclass, field

import numpy as np

import nobounds as nb
from nobounds.grouped_release import GroupedRelease

SEED = 7


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
                    seen = ("raised", *_chain(error))
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


def _chain(error):
    """The type and the words of an error, and of those that a traceback would show with it."""
    while error is not None:
        yield type(error).__name__, str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def shape(found):
    """The shape of an answer; fails if a number in it is no finite number, or if it cannot be printed or sent."""
    if isinstance(found, nb.Release):
        values = found.value if isinstance(found.value, tuple) else (found.value,)
        assert all(map(math.isfinite, values))
        assert found.interval is None or not any(map(math.isnan, found.interval))
        assert nb.Release.from_json(found.to_json()).value == found.value
        assert str(found)
        kinds = tuple(type(value).__name__ for value in values)
        return ("Release", found.statistic, kinds, found.interval is None, _parameters(found.parameters), found.loss)
    if isinstance(found, GroupedRelease):
        assert np.isfinite(found.values.astype(np.float64)).all()
        assert len(found.groups) == len(found)
        assert str(found) and json.loads(found.to_json())
        kind = "whole" if found.values.dtype.kind in "iO" else found.values.dtype.name
        keys = tuple(str(array.type) for array in found.arrays)
        return ("GroupedRelease", found.statistic, found.by, keys, kind, _parameters(found.parameters), found.loss)
    if isinstance(found, nb.Description):
        json.loads(found.to_json())
        for summary in found.columns.values():
            assert all(map(math.isfinite, summary.values.values()))
            assert not any(math.isnan(end) for bar in summary.intervals.values() for end in bar)
        assert str(found)
        # Which columns of a table without types are numeric is a private answer.
        names = tuple(sorted({*found.columns, *found.skipped}))
        kinds = {tuple(summary.values) for summary in found.columns.values()}
        return ("Description", names, len(kinds) <= 1, _parameters(found.parameters), found.loss)
    if isinstance(found, np.ndarray):
        assert np.isfinite(found).all()
        return "array", found.dtype.name, found.shape
    if isinstance(found, tuple | list):
        return ("several", *map(shape, found))
    return "plain", type(found).__name__


def _parameters(parameters):
    """Names and types; a private answer may be that there is no error bar."""
    return tuple((name, type(value).__name__) for name, value in parameters.items() if name != "half_interval")
