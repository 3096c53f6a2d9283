"""How much work a call about a thousand records does, counted and not timed: functions called, and balls of flint."""

import random
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest

import nobounds as nb

DATA = np.random.default_rng(0).lognormal(3, 0.8, 1000)
CALLS: dict[str, Any] = {
    "median": lambda rng: nb.quantile(DATA, 0.5, epsilon=1, rng=rng),
    "tail": lambda rng: nb.quantile(DATA, 0.9, epsilon=1, rng=rng),
    "maximum": lambda rng: nb.maximum(DATA, epsilon=1, rng=rng),
    "sum": lambda rng: nb.sum(DATA, epsilon=1, rng=rng),
    "mean": lambda rng: nb.mean(DATA, epsilon=1, rng=rng),
    "count": lambda rng: nb.count(DATA, epsilon=1, rng=rng),
}
# Functions that a second call of a kind enters, at most: about a quarter more than it does.
MOST = {"median": 17_500, "tail": 13_200, "maximum": 8600, "sum": 7400, "mean": 12_900, "count": 270}


def entered(call: Any) -> Counter[str]:
    """How many functions a call enters: of Python, of C, and among these of flint."""
    counted: Counter[str] = Counter()

    def count(frame: Any, event: str, function: Any) -> None:
        if event == "call":
            counted["python"] += 1
        elif event == "c_call":
            counted["c"] += 1
            counted["flint"] += "flint" in str(getattr(function, "__module__", ""))

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize("name", CALLS)
def test_a_second_call_enters_no_more_functions_than_this(name):
    """Plans, costs and parameters are there from the first call, intervals wait, and doubles decide every draw."""
    for seed in range(3):
        CALLS[name](random.Random(seed))
    done = entered(lambda: CALLS[name](random.Random(1)))
    assert done["python"] + done["c"] <= MOST[name], done
    assert done["flint"] == 0
