"""Errors that tests plant in a stress test, which must catch them; processes import them from here by name."""

from dataclasses import replace

from nobounds.release.release import Release


class Late:
    """A budget that lets an answer out first, and charges it with the next."""

    waiting: list = []  # noqa: RUF012

    def __init__(self, budget):
        self.budget = budget

    def charge(self, loss, what):
        for budget, *before in self.waiting:
            budget.charge(*before)
        self.waiting[:] = [(self.budget, loss, what)]


def one_more(answer):
    """An answer off by one, and no other sign of it."""
    return replace(answer, value=answer.value + 1) if _is_count(answer) else answer


class Hasty:
    """A budget that charges half of what it is asked to."""

    def __init__(self, budget):
        self.budget = budget

    def charge(self, loss, what):
        self.budget.charge(replace(loss, epsilon=loss.epsilon / 2, rho=loss.rho / 2), what)


def careless(answer):
    """A process that fails with an error of its own, and leaves a file behind."""
    import tempfile

    tempfile.mkstemp()
    if _is_count(answer):
        raise KeyError("age")
    return answer


def _is_count(answer):
    return isinstance(answer, Release) and answer.statistic == "count"
