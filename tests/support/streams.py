"""Drivers for mechanisms over streams of queries: one that watches, one that never hits, and the law by enumeration."""

import math
from itertools import product

import numpy as np

from nobounds.mechanisms.hits import FreshThreshold
from nobounds.noise.source import random_source
from nobounds.programs.law import paths
from nobounds.programs.program import Draw, Driver
from nobounds.programs.streams import over


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


# --- laws -----------------------------------------------------------------------------------------------------------


def noise_law(fresh, reach):
    """The values of a threshold's noise up to this many steps of its lattice, and their probabilities."""
    rate = float(fresh.eps1) / fresh.lattice
    if fresh.noise == "exponential":
        steps = np.arange(reach + 1)
        return steps, -math.expm1(-rate) * np.exp(-rate * steps)
    steps = np.arange(-reach, reach + 1)
    return steps, math.tanh(rate / 2) * np.exp(-rate * np.abs(steps))


def above_given(fresh, steps, query):
    """The probability that a query is above, for a threshold with this noise; J >= gap, on the lattice."""
    rate, gap = float(fresh.eps2) / fresh.lattice, int((fresh.threshold - query) * fresh.lattice) + steps
    far = np.exp(-rate * np.maximum(gap, 0))
    if fresh.noise == "exponential":
        return far
    return np.where(
        gap > 0, far / (1 + math.exp(-rate)), 1 - np.exp(-rate * np.maximum(1 - gap, 0)) / (1 + math.exp(-rate))
    )


def program_law(make, fresh, queries, reach):
    """The law of a program over these queries: each noise of its threshold, and each answer, with its probability."""
    noises = list(zip(*(part.tolist() for part in noise_law(fresh, reach)), strict=True))

    def outcomes(decision):
        if decision is fresh:
            return noises
        above = float(above_given(fresh, decision.threshold, decision.query))
        return [(False, 1 - above), (True, above)]

    law = {}
    for chance, hits in paths(lambda: over(make(), queries), 0.0, outcomes):
        law.setdefault(hits, []).append(chance)
    return {hits: math.fsum(chances) for hits, chances in law.items()}


class Belief:
    """A threshold whose noise is not drawn: the probabilities of its values, and of all answers so far."""

    def __init__(self, fresh, reach):
        self.fresh = fresh
        self.steps, self.weights = noise_law(fresh, reach)


class Scripted(Driver):
    """Answers queries by a script, and keeps the probability of these answers."""

    def __init__(self, answers, reach):
        self.answers, self.reach, self.beliefs = list(answers), reach, []

    def decide(self, decision):
        if isinstance(decision, FreshThreshold):
            self.beliefs.append(Belief(decision, self.reach))
            return self.beliefs[-1]
        belief, above = decision.threshold, self.answers.pop(0)
        chances = above_given(belief.fresh, belief.steps, decision.query)
        belief.weights = belief.weights * (chances if above else 1 - chances)
        return above

    @property
    def chance(self):
        return math.prod(float(belief.weights.sum()) for belief in self.beliefs)


def called_law(make, queries, reach=400):
    """The law of the answers of a mechanism as it is called, with this `rng`, on these queries."""
    law = {}
    for script in product((False, True), repeat=len(queries)):
        driver = Scripted(script, reach)
        mechanism, given = make(rng=driver), []
        for query in queries:
            given.append(mechanism.query(query))
            if not mechanism._open:
                break
        law[tuple(given)] = driver.chance
    return law
