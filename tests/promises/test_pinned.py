"""Seeded releases of each kind come out as they are pinned in pinned.json."""

import json
import sys

import pytest
from promises.pinned_cases import PINNED, Case, cases, plain

CASES = dict(cases())
SLOWER = {"plan", "explain", "rho", "budget"}  # names with one of these take longer than the others


def test_every_case_is_pinned():
    """The file has the cases that there are, and no others."""
    assert list(json.loads(PINNED.read_text())) == list(CASES)


@pytest.fixture(autouse=True, scope="module")
def nothing_cached() -> None:
    """Tests that patch constants or mechanisms may have left plans behind that were made of them."""
    modules = [module for name, module in sys.modules.items() if name.startswith("nobounds.")]
    kinds = [each for module in modules for each in vars(module).values() if isinstance(each, type)]
    for place in (*modules, *kinds):
        for each in list(vars(place).values()):
            getattr(each, "cache_clear", int)()


@pytest.fixture(scope="module")
def pinned() -> dict[str, object]:
    return json.loads(PINNED.read_text())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.medium if SLOWER & {*name.split()} else ()) for name in CASES]
)
def test_a_seeded_release_is_as_pinned(name: str, pinned: dict[str, object]):
    """Same data, same seed, same release: value, loss, parameters and interval."""
    case: Case = CASES[name]
    answer = plain(case())
    assert close(answer, pinned[name]) if name.startswith("plan") else answer == pinned[name]


def close(one: object, other: object) -> bool:
    """The same but for the last digits of floats: forecasts add up many of them."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    return one == (pytest.approx(other, rel=1e-9) if isinstance(other, float) else other)
