"""The auditor for your own mechanism: a function with the protocol of AboveThreshold, by sampling or by its exact law.

The protocol is that of `nobounds.AboveThreshold`: `make(threshold, *, epsilon, rng)` returns an object whose method
`query(value)` says whether the noisy value is above the noisy threshold, and raises RuntimeError once it has halted. It
claims to be epsilon-private for queries that a record moves by at most 1, all in the same direction if `monotonic`. If
the function has an attribute `log_law(queries, threshold, *, epsilon)`, the log-probabilities of outcomes in a fixed
order, these are audited instead of runs. Errors in that code are reported as errors of that code.

The streams are those that reveal the most: equal queries that a record moves in one direction, then one query that it
does not move, or moves in the other direction.
"""

import importlib
import importlib.util
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nobounds.arrays import Floats
from nobounds.auditing.audit import pair_loss
from nobounds.auditing.cases import ClaimRow, Kind, shown
from nobounds.auditing.sampling import CONFIDENCE, Sampled, best_score, choose_events, loss_of_events

THRESHOLD = 0
RUNS = 100_000  # on each of two neighbours
_PILOTS = (
    (100, 6),
    (10, 1),
)  # runs // 100 on all streams, keeping six, then runs // 10 on those, keeping one; at least 200
_LENGTHS, _LONG = (1, 3, 5, 10, 30), (1, 10, 100, 300, 1000)
_BELOW = (1, 0, 4)  # distances of the queries below the threshold
_WHOLE = 1e-6  # tolerance of the log of the total probability of a law


class Pair(NamedTuple):
    """The same queries on two neighbouring data sets, and the position of the step."""

    x: tuple[int, ...]
    y: tuple[int, ...]
    step: int


def load(spec: str, what: str = "mine") -> Callable[..., Any]:
    """The function that `module:function` or `file.py:function` names; errors call it `what`."""
    place, colon, name = spec.rpartition(":")
    if not colon or not place or not name:
        raise ValueError(f"{what} must be module:function or file.py:function, got {spec!r}")
    path = Path(place)
    if place.endswith(".py") and not path.is_file():
        raise ValueError(f"{what} must name a file that exists, got {place!r}")
    with theirs(place, "cannot be imported"):
        module = _of_file(path) if place.endswith(".py") else _of_name(place)
    function = getattr(module, name, None)
    if not callable(function):
        raise ValueError(f"{what} must name a function, and {place!r} has no function {name!r}")
    return function  # type: ignore[no-any-return]


@contextmanager
def theirs(subject: str, failed: str) -> Iterator[None]:
    """Report every exception in this block, SystemExit included, as an error of the audited code."""
    try:
        yield
    except (Exception, SystemExit) as error:
        words = " ".join(str(error).split())
        raise ValueError(f"{subject} {failed}: {type(error).__name__}{f': {words}' if words else ''}") from None


def _of_name(place: str) -> Any:
    if "" not in sys.path:
        sys.path.insert(0, "")  # a module in the working directory, as with python -m
    return importlib.import_module(place)


def _of_file(path: Path) -> Any:
    """The module of a file, under a name that hides no other module."""
    name = f"_nobounds_mine_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def pairs(lengths: Sequence[int], monotonic: bool) -> Iterator[Pair]:
    """The streams to test: a record moves the run up, and the last query not at all, or down."""
    for m in lengths:
        for below in _BELOW:
            run, up = (-below,) * m, (1 - below,) * m
            for last in (-below, 1 - below):
                yield Pair((*run, last), (*up, last if monotonic else last - 1), m)
            if m > 1 and below == 0:  # for mechanisms that continue after a hit
                yield Pair(run * 2, up + (run if monotonic else (-1,) * m), m)


def outcome(make: Callable[..., Any], queries: Sequence[int], step: int, epsilon: float, rng: Any) -> Hashable:
    """The number of hits before the step and from it on, and the last answer if it is a number.

    A halted mechanism raises RuntimeError. Raising it without a hit is an outcome too, except on the first query.
    """
    mechanism = make(THRESHOLD, epsilon=epsilon, rng=rng)
    hits: list[int] = [0, 0]
    last: int | str | None = None
    for k, query in enumerate(queries):
        try:
            answer = mechanism.query(query)
        except RuntimeError:
            if k == 0:
                raise
            last = None if any(hits) else "raised"
            break
        if answer is None or isinstance(answer, bool | np.bool_):
            hits[k >= step] += bool(answer)
        else:
            hits[k >= step] += 1
            last = math.floor(float(answer))
            break
    return (*hits, last)


def sampled(
    make: Callable[..., Any],
    epsilon: float,
    monotonic: bool,
    runs: int = RUNS,
    confidence: float = CONFIDENCE,
    rng: random.Random | None = None,
) -> tuple[Pair, Sampled]:
    """The lower bound on epsilon: a few runs choose the stream and the events, fresh runs test them."""
    generator = random.Random() if rng is None else rng

    def draw(pair: Pair, times: int) -> tuple[Counter[Hashable], Counter[Hashable]]:
        x, y = (
            Counter(outcome(make, queries, pair.step, epsilon, generator) for _ in range(times))
            for queries in (pair.x, pair.y)
        )
        return x, y

    streams = list(pairs(_LENGTHS, monotonic))
    for part, most in _PILOTS:
        pilots = [(best_score(*draw(pair, max(runs // part, 200)), runs // 2, confidence), pair) for pair in streams]
        streams = [pair for _, pair in sorted(pilots, key=lambda pilot: -pilot[0])[:most]]
    best = streams[0]
    events = choose_events(*draw(best, runs // 2), confidence)
    return best, loss_of_events(events, *draw(best, runs - runs // 2), confidence)


def exact(make: Any, epsilon: float, monotonic: bool) -> tuple[Pair, float]:
    """The worst loss of the function's own law, over long streams."""

    def loss(pair: Pair) -> float:
        x, y = (log_law(make.log_law(list(queries), THRESHOLD, epsilon=epsilon)) for queries in (pair.x, pair.y))
        if len(x) != len(y):
            raise ValueError(f"two streams of {len(pair.x)} queries have laws of {len(x)} and {len(y)} outcomes")
        return pair_loss(x, y)[0]

    losses = [(loss(pair), pair) for pair in pairs(_LONG, monotonic)]
    worst = max(losses, key=lambda one: one[0])
    return worst[1], worst[0]


def log_law(law: object) -> Floats:
    """The log-probabilities of a law, checked: one for each outcome, and the probabilities sum to 1."""
    try:
        logs = np.asarray(law, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("a law must be a list of log-probabilities, and is not one of numbers") from None
    if logs.ndim != 1 or len(logs) == 0:
        raise ValueError("a law must be a list of log-probabilities, one for each outcome, in one dimension")
    if np.isnan(logs).any():
        raise ValueError("a law must be a list of log-probabilities, and one of them is NaN")
    total = float(np.logaddexp.reduce(logs))
    if not abs(total) < _WHOLE:
        raise ValueError(
            f"the probabilities of a law must sum to 1 (are these logs?), and they sum to exp({total:.4g})"
        )
    return logs


def audit_mine(
    spec: str,
    epsilon: float = 1.0,
    monotonic: bool = False,
    runs: int = RUNS,
    confidence: float = CONFIDENCE,
    rng: random.Random | None = None,
) -> ClaimRow:
    """The row of the table for your own mechanism."""
    if not 0 < epsilon < math.inf:
        raise ValueError(f"epsilon must be greater than 0 and finite, got epsilon={epsilon!r}")
    if runs < 1000:
        raise ValueError(f"runs must be at least 1000, got runs={runs!r}")
    if not 0.5 <= confidence < 1:
        raise ValueError(f"confidence must be at least 0.5 and less than 1, got confidence={confidence!r}")
    make = load(spec)
    queries = "monotonic queries" if monotonic else "general queries"
    failed = "failed in the audit"
    if hasattr(make, "log_law"):
        with theirs(f"log_law of {spec}", failed):
            pair, observed = exact(make, epsilon, monotonic)
        at, method = "", "exact law"
    else:
        with theirs(spec, failed):
            pair, result = sampled(make, epsilon, monotonic, runs, confidence, rng)
        observed, method = result.epsilon, f"{runs} runs, confidence {confidence:g}"
        at = f"seen {result.hits[0]} and {result.hits[1]} times in {result.runs[0]} runs each"
    setting, x, y = f"{queries}, {method}", shown(pair.x), shown(pair.y)
    kind: Kind = "bound" if hasattr(make, "log_law") else "sampled"
    return ClaimRow(
        spec,
        setting,
        "its own",
        neighbors="add-remove",
        unit="row",
        measure="epsilon",
        claimed=epsilon,
        observed=observed,
        kind=kind,
        x=x,
        y=y,
        at=at,
    )
