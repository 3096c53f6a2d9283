"""Races for a budget: threads and processes that ask for statistics at once never get more than the budget has."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.racing import DATA, STATISTICS, USERS, process, tries

import nobounds as nb


def check(budget, given, most):
    """Exactly what the budget has was given, each answer with its charge, and nothing is left."""
    assert given == most
    assert len(budget.history) == most
    assert budget.remaining == 0
    assert budget.spent.epsilon <= most / 10 + 1e-12


@pytest.mark.medium
@pytest.mark.parametrize("place", ["memory", "one file", "a file each"])
@pytest.mark.parametrize("asked", [STATISTICS, USERS], ids=["rows", "users"])
def test_threads_get_no_more_than_there_is(asked, place, tmp_path):
    """Threads that ask for all kinds of statistics at once get as many answers as fit, to the last tenth."""
    path = None if place == "memory" else tmp_path / "a.budget"
    budget, most = nb.Budget(epsilon=1.2, path=path), 12
    budgets = [nb.Budget(path=path) if place == "a file each" else budget for _ in asked]
    start = threading.Barrier(len(asked))
    with ThreadPoolExecutor(len(asked)) as pool:
        jobs = [pool.submit(tries, ask, purse, 6, start) for ask, purse in zip(asked.values(), budgets, strict=True)]
        check(budget, sum(job.result() for job in jobs), most)


@pytest.mark.medium
def test_threads_share_a_budget_with_a_delta(tmp_path):
    """With keys that are chosen privately, delta is shared as well, and none of it is spent twice."""
    budget = nb.Budget(epsilon=1.0, delta=1e-5, path=tmp_path / "a.budget")

    def ask(purse):
        return nb.Table(DATA, budget=purse).group_by("k", delta=2e-7).sum("x", epsilon=0.1)

    start = threading.Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        given = sum(job.result() for job in [pool.submit(tries, ask, budget, 4, start) for _ in range(4)])
    assert given == len(budget.history) == 5  # a tenth of delta, in parts of 2e-7
    assert budget.spent.delta <= 1e-6 * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [["groups", "table", "describe"], ["users", "groups of users", "rows per user"]])
def test_processes_get_no_more_than_there_is(kinds, tmp_path: Path):
    """So do processes that share the file alone."""
    path = tmp_path / "a.budget"
    budget = nb.Budget(epsilon=1.5, path=path)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    jobs = [context.Process(target=process, args=(path, kind, queue)) for kind in kinds]
    for job in jobs:
        job.start()
    given = sum(queue.get(timeout=60) for _ in jobs)
    for job in jobs:
        job.join(60)
    check(budget, given, 15)


def test_a_budget_that_is_read_before_it_is_charged_is_overspent():
    """The race is real: a budget that looks first and writes later gives out more than it has."""

    class Racy:
        def __init__(self):
            self.left, self.at_once = 2, threading.Barrier(4)

        def charge(self, loss, what):
            fits = self.left > 0
            self.at_once.wait(10)  # all four have looked by now
            if not fits:
                raise nb.BudgetExceeded("spent")
            self.left -= 1

    budget = Racy()
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(tries, STATISTICS["sum"], budget, 1) for _ in range(4)]
        assert sum(job.result() for job in jobs) == 4 > 2
