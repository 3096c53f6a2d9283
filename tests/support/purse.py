"""A budget for tests of what is charged, and when."""


class Purse:
    """A budget that keeps what it was charged with, or refuses it."""

    def __init__(self, refuses=False):
        self.refuses, self.charged = refuses, []

    def charge(self, loss, what):
        if self.refuses:
            raise RuntimeError("spent")
        self.charged.append((loss, what))
