"""Drivers for mechanisms over streams of queries: one that watches, and one that never hits."""

from nobounds.mechanisms.hits import FreshThreshold
from nobounds.noise.source import random_source
from nobounds.programs.program import Draw, Driver


class Watched(Draw):
    """Draws every decision, and keeps the decisions with their outcomes."""

    def __init__(self, rng=None):
        super().__init__(random_source(rng))
        self.settled = []

    def decide(self, decision):
        outcome = super().decide(decision)
        self.settled.append((decision, outcome))
        return outcome

    @property
    def thresholds(self):
        """The noisy thresholds, in the order in which they were drawn."""
        return [outcome for decision, outcome in self.settled if isinstance(decision, FreshThreshold)]

    @property
    def answers(self):
        """The queries that were decided by noise, with the answers."""
        return [(decision, above) for decision, above in self.settled if not isinstance(decision, FreshThreshold)]


class NeverHits(Driver):
    """Decides that no query is above, and keeps the queries."""

    def __init__(self):
        self.queries = []

    def decide(self, decision):
        if not isinstance(decision, FreshThreshold):
            self.queries.append(decision.query)
        return False
