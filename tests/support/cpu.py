"""The processor time of each test, with that of the processes it waited for, and a report of those to be marked.

A test that takes more than 0.2 s, or a second with all its parameters, is marked `medium`, and one that takes more
than a few seconds `slow`. No test fails for its time: a run ends with those that took much longer than their mark says,
and with `--heaviest N` with the N tests that took most with all their parameters.
"""

import os
from collections import defaultdict
from collections.abc import Iterator

import pytest

MOST = {"slow": float("inf"), "medium": 10.0, "": 2.0}  # seconds; by the first of these marks that a test has
_clock = [0.0]  # when the phase that runs was begun


def spent() -> float:
    """Seconds of processor time that this process and its children have used."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def pytest_runtest_logstart() -> None:
    """The next test begins."""
    _clock[0] = spent()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Each report has the processor time of its phase; setting up a shared fixture is not the test's."""
    report = yield
    now = spent()
    report.cpu, _clock[0] = now - _clock[0], now
    report.mark = next(mark for mark in MOST if not mark or item.get_closest_marker(mark))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tests that took much longer than their marks say."""
    reports = [report for name in ("passed", "failed") for report in terminalreporter.stats.get(name, [])]
    totals: dict[str, float] = defaultdict(float)
    for report in reports:
        totals[report.nodeid.partition("[")[0]] += getattr(report, "cpu", 0)
    for name in sorted(totals, key=totals.__getitem__, reverse=True)[: terminalreporter.config.getoption("--heaviest")]:
        terminalreporter.write_line(f"{totals[name]:6.1f} s of processor time in all: {name}")
    calls = [report for report in reports if getattr(report, "cpu", 0) > MOST.get(getattr(report, "mark", ""), 0)]
    for report in sorted(calls, key=lambda report: -report.cpu):
        marked = f"marked {report.mark}" if report.mark else "not marked"
        terminalreporter.write_line(f"{report.cpu:6.1f} s of processor time, {marked}: {report.nodeid}")
