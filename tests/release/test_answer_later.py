"""A part of a release that waits is computed once, when it is first read, and is as if it had been there."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import pytest

from nobounds.accounting.loss import PrivacyLoss
from nobounds.release.answer import later
from nobounds.release.release import Release

LOSS = PrivacyLoss.pure(1)
NOW = Release("sum", 3.0, LOSS, {"a": 1}, ((1.0, 5.0),))


class Waiting:
    """A release whose interval waits, and how often that was computed."""

    def __init__(self) -> None:
        self.times = 0
        self.release = Release("sum", 3.0, LOSS, {"a": 1}, later(self._interval))

    def _interval(self) -> tuple[tuple[float, float], ...]:
        self.times += 1
        return ((1.0, 5.0),)


def test_an_interval_is_computed_once_and_not_for_the_value():
    """The value is there at once; the interval is computed at the first look."""
    waiting = Waiting()
    assert waiting.release.value == 3.0 and float(waiting.release) == 3.0 and waiting.times == 0
    assert waiting.release.interval == waiting.release.intervals[0] == (1.0, 5.0)
    assert waiting.times == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda release: release == NOW,
        lambda release: repr(release) == repr(NOW),
        lambda release: str(release) == str(NOW),
        lambda release: release.to_json() == NOW.to_json(),
        lambda release: pickle.loads(pickle.dumps(release)) == NOW,
        lambda release: copy.deepcopy(release) == copy.copy(release) == NOW,
        lambda release: replace(release, value=4.0) == replace(NOW, value=4.0),
    ],
)
def test_whoever_looks_sees_the_interval(use):
    """Equality, texts, JSON, pickles and copies are those of a release that had it from the start."""
    waiting = Waiting()
    assert use(waiting.release) and waiting.times == 1


def test_a_release_stays_frozen():
    """A field that may wait cannot be set."""
    with pytest.raises(FrozenInstanceError):
        Waiting().release.intervals = ()
