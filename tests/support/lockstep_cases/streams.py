"""Streams: counts of a column as queries of AboveThreshold and SparseVector."""

import nobounds as nb
from nobounds.auditing.lockstep import Setting as Case
from support.lockstep_cases.data import SIGNED, TIES, named, without

SAME = 12  # equal queries before one that a record does not move, or moves the other way
STREAMED = [without([3.0], 0), without(TIES, 0), without(SIGNED, 27), without(SIGNED, 0)]


def moved_one_way(data):
    return [*[int((data >= 0).sum())] * SAME, int((data > 1e9).sum())]


def moved_both_ways(data):
    positive = int((data >= 0).sum())
    return [*[positive] * SAME, int((data < 0).sum()) - positive]


def rising(data):
    return [float((data <= edge).sum()) / 3 for edge in range(-3, 30, 2)]


def streams(make, settings):
    """The answers of a stream to queries about the data, and all that it shows of itself, for each setting."""

    def call(queries, times, options):
        def answers(data, rng, budget):
            mechanism = make(rng=rng, budget=budget, **options)
            given = []
            for value in queries(data) * times:
                given.append(mechanism.query(value))
                if not mechanism._open:
                    break
            hits = getattr(mechanism, "hits_at", None), getattr(mechanism, "halted_at", None)
            return given, mechanism.answered, mechanism.loss, hits

        return answers

    return [
        Case(f"{queries.__name__}, {named(options)}", call(queries, options.get("hits", 1), options), STREAMED)
        for queries, options in settings
    ]


MONOTONIC, LOW = {"monotonic": True}, {"threshold": -10}
CASES = {
    "AboveThreshold": streams(
        nb.AboveThreshold,
        [
            (moved_both_ways, {**LOW, "epsilon": 1}),
            (moved_both_ways, {"threshold": 4, "epsilon": 1}),
            (moved_both_ways, {"threshold": 9, "epsilon": 1}),
            (moved_one_way, {**LOW, "epsilon": 1, **MONOTONIC}),
            (moved_both_ways, {**LOW, "epsilon": 1, "noise": "laplace"}),
            (moved_one_way, {**LOW, "epsilon": 1, "noise": "gumbel", **MONOTONIC}),
            (rising, {"threshold": 2, "epsilon": 0.5, "sensitivity": 1 / 3, **MONOTONIC}),
        ],
    ),
    "IterativeExponential": streams(
        nb.IterativeExponential,
        [(moved_both_ways, {**LOW, "epsilon": 1}), (moved_one_way, {**LOW, "epsilon": 1, **MONOTONIC})],
    ),
    "SparseVector, iterated": streams(
        nb.SparseVector,
        [
            (moved_both_ways, {**LOW, "hits": 2, "epsilon": 2, "method": "iterated"}),
            (moved_one_way, {**LOW, "hits": 2, "epsilon": 2, "method": "iterated", **MONOTONIC}),
            (moved_both_ways, {**LOW, "hits": 2, "epsilon": 2, "noise": "gumbel"}),
            (moved_both_ways, {**LOW, "hits": 3, "rho": 0.5, "method": "iterated"}),
            (moved_one_way, {**LOW, "hits": 3, "epsilon": 1, "delta": 1e-5, "method": "iterated", **MONOTONIC}),
        ],
    ),
    "SparseVector, classical": streams(
        nb.SparseVector,
        [
            (moved_both_ways, {**LOW, "hits": 2, "epsilon": 2, "method": "classical"}),
            (moved_one_way, {**LOW, "hits": 2, "epsilon": 2, "method": "classical", **MONOTONIC}),
            (moved_both_ways, {**LOW, "hits": 2, "epsilon": 2, "method": "classical", "noise": "laplace"}),
            (moved_one_way, {**LOW, "hits": 3, "rho": 0.5, "method": "classical", **MONOTONIC}),
        ],
    ),
}
