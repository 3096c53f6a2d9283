"""The gate repeats itself: the same examples and the same noise each time, so that a red test can be made red again.

`make explore` runs the property tests with fresh examples and fresh noise, and keeps the examples that fail; and the
sampled tests with fresh seeds (see `support.chance`), which it prints.
"""

import os
import random
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase
from support.chance import FRESH
from support.cpu import pytest_runtest_logstart, pytest_runtest_makereport, pytest_terminal_summary  # noqa: F401
from support.mariadb import mariadb  # noqa: F401
from support.postgres import postgres  # noqa: F401
from support.thinning import pytest_addoption, pytest_collection_modifyitems  # noqa: F401

import nobounds.noise.source
from nobounds.statistics.keywords import DEFAULTS

EXPLORE = "explore"
_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a busy machine is no failure
settings.register_profile("gate", derandomize=True, print_blob=True, max_examples=50, **_PATIENT)
_KEPT = DirectoryBasedExampleDatabase(".hypothesis/examples")
settings.register_profile(EXPLORE, derandomize=False, database=_KEPT, print_blob=True, max_examples=1000, **_PATIENT)
settings.load_profile("gate")  # pytest's option --hypothesis-profile comes later, and wins


def pytest_configure(config: pytest.Config) -> None:
    """Seeds are fresh if that is asked for, and the same in all processes of a run."""
    if exploring(config):
        os.environ.setdefault(FRESH, str(secrets.randbits(32)))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """What repeats the seeds of this run."""
    return [f"seeds: {FRESH}={os.environ[FRESH]}"] if FRESH in os.environ else []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Answers without an `rng` draw from a generator that is seeded by the name of the test, in its fixtures too.

    Only the process of the test is seeded, not those that it starts. A test that is about the randomness of the
    operating system is marked `entropy`, and gets it. One about the answers of few rows is marked `unmarked`: there all
    statistics answer.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not (exploring(item.config) or item.get_closest_marker("entropy")):
            patch.setattr(nobounds.noise.source, "_system_bits", random.Random(item.nodeid).getrandbits)
        if item.get_closest_marker("unmarked"):
            patch.setitem(DEFAULTS, "marks", False)
        return (yield)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Doctests are those of src: of the tests, only the files of tests are imported to be collected."""
    return True if collection_path.suffix == ".py" and not collection_path.name.startswith("test_") else None


def exploring(config: pytest.Config) -> bool:
    """Whether fresh examples and fresh noise are asked for."""
    return bool(config.getoption("--hypothesis-profile", None) == EXPLORE)
