"""Attacks on a mechanism in use: each is charged once, and none gets more answers than were paid for.

The attacker has one paid mechanism and queries that are surely above its threshold. What they want is more hits than
it has: from copies, forked processes, threads, calls from within a query, or after an interruption.
"""

import contextlib
import copy
import multiprocessing
import os
import pickle
import random
import signal
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

import nobounds as nb
from nobounds.trust.scripted import loss_between
from nobounds.trust.streams import called_law

SURE = 10**6  # a query that is above the threshold whatever the noise
KINDS = {
    "AboveThreshold": (1, lambda **options: nb.AboveThreshold(0, epsilon=1, **options)),
    "AboveThreshold, Gumbel": (1, lambda **options: nb.AboveThreshold(0, epsilon=1, noise="gumbel", **options)),
    "IterativeExponential": (1, lambda **options: nb.IterativeExponential(0, epsilon=1, **options)),
    "SparseVector, iterated": (
        2,
        lambda **options: nb.SparseVector(0, hits=2, epsilon=1, method="iterated", **options),
    ),
    "SparseVector, classical": (
        2,
        lambda **options: nb.SparseVector(0, hits=2, epsilon=1, method="classical", **options),
    ),
}
every = pytest.mark.parametrize(("hits", "make"), KINDS.values(), ids=KINDS)
forking = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the test runner itself may have threads

COPYING = "cannot be copied or pickled"
ELSEWHERE = "is a copy, or was created in another process"
INTERRUPTED = "was interrupted or is still being answered"


def hits_of(mechanism, tries=10):
    """How many hits a mechanism gives to someone who keeps asking."""
    found = 0
    for _ in range(tries):
        with contextlib.suppress(RuntimeError):
            found += mechanism.query(SURE)
    return found


# --- copies -------------------------------------------------------------------------------------------------------

COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy of a list": lambda mechanism: copy.deepcopy([mechanism]),
    **{f"pickle {n}": lambda mechanism, n=n: pickle.loads(pickle.dumps(mechanism, n)) for n in range(6)},
    "pickled method": lambda mechanism: pickle.loads(pickle.dumps(mechanism.query)),
    "copied method": lambda mechanism: copy.deepcopy(mechanism.query),
    "multiprocessing": lambda mechanism: ForkingPickler.dumps(mechanism.query),
}


@every
@pytest.mark.parametrize("attack", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("rng", [None, random.Random(1)], ids=["system", "seeded"])
def test_no_copy_can_be_made(hits, make, attack, rng):
    """Copying and pickling are refused, with either source of randomness, and the original goes on."""
    mechanism = make(rng=rng)
    with pytest.raises(TypeError, match=COPYING):
        attack(mechanism)
    assert hits_of(mechanism) == hits


@pytest.mark.parametrize("noise", ["exponential", "laplace", "gumbel"])
def test_the_noisy_threshold_cannot_be_copied_either(noise):
    """The part that holds the noise is refused as the whole is."""
    inner = nb.AboveThreshold(0, epsilon=1, noise=noise)._noisy_threshold
    parts = [inner, inner._first, inner._first._uniform] if noise == "gumbel" else [inner]
    for part in parts:
        for attack in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=COPYING):
                attack(part)


@every
def test_copies_made_by_hand_do_not_answer(hits, make):
    """A subclass that allows copies, or a new object with the same state, is not the one that was paid for."""
    mechanism = make()
    kind = type(mechanism)
    by_hand = object.__new__(kind)
    vars(by_hand).update(vars(mechanism))

    class Copyable(kind):
        def __copy__(self):
            other = object.__new__(type(self))
            vars(other).update(vars(self))
            return other

    mine = Copyable.__new__(Copyable)
    vars(mine).update(vars(mechanism))
    for other in (by_hand, mine, copy.copy(mine)):
        with pytest.raises(RuntimeError, match=ELSEWHERE):
            other.query(SURE)
    assert hits_of(mechanism) == hits


# --- processes ----------------------------------------------------------------------------------------------------


def in_a_child(attack):
    """What `attack` returns in a forked process, as text, or the error that it raises; a hang ends in 10 seconds."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)
        try:
            said = repr(attack())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(pid, 0)
    return said


@forking
@every
def test_a_forked_process_gets_no_answer(hits, make):
    """A child is told to create a mechanism of its own, however it asks; the parent has all its hits."""
    mechanism = make()
    for attack in (lambda: mechanism.query(SURE), lambda: mechanism.query(float("inf"))):
        said = in_a_child(attack)
        assert said.startswith("RuntimeError") and ELSEWHERE in said and "create a new one here" in said
    assert hits_of(mechanism) == hits


@forking
def test_answers_that_were_begun_do_not_go_on_in_a_child():
    """A generator of answers that was started before a fork goes on in the parent alone."""
    mechanism = nb.SparseVector(0, hits=2, epsilon=1)
    answers = mechanism.answers([-SURE, SURE, SURE])
    assert next(answers) is False
    assert ELSEWHERE in in_a_child(lambda: next(answers))
    assert list(answers) == [True, True]


@forking
@every
def test_a_pool_of_processes_gets_no_answer(hits, make):
    """Forty processes of a pool get no hit, whether the mechanism is sent to them or inherited by them."""
    mechanism = make()
    context = multiprocessing.get_context("fork")
    with context.Pool(4) as pool, pytest.raises(TypeError, match=COPYING):
        pool.map(mechanism.query, [SURE] * 40)
    queue = context.SimpleQueue()
    workers = [context.Process(target=lambda given: queue.put(hits_of(given)), args=(mechanism,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    assert [queue.get() for _ in workers] == [0, 0, 0, 0]
    for worker in workers:
        worker.join()
    assert hits_of(mechanism) == hits


# --- values -------------------------------------------------------------------------------------------------------


RISING = {"monotonic": True, "share": Fraction(1, 4)}
MECHANISMS = {
    "AboveThreshold": partial(nb.AboveThreshold, epsilon=3, **RISING),
    "iterated": partial(nb.SparseVector, hits=2, epsilon=20, method="iterated", **RISING),
    "classical": partial(nb.SparseVector, hits=2, epsilon=20, method="classical", **RISING),
}
UNIT = Fraction(1, 2**60)
LONG = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long doubles are doubles here")
SCALES = [  # a sensitivity, a threshold, and the query that is k sensitivities above it
    pytest.param(
        UNIT, 1 + 256 * UNIT, lambda k: 1 + (256 + k) * np.longdouble(2) ** -60, id="long doubles", marks=LONG
    ),
    pytest.param("1e-450", 0, lambda k: Decimal(k).scaleb(-450), id="1e-450"),
    pytest.param("1e450", 0, lambda k: Decimal(k).scaleb(450), id="1e450"),
    pytest.param(0.1, 0, lambda k: k * Fraction(0.1), id="0.1"),
]
NEIGHBORS = [((-1, 0), (0, 1)), ((-128, -1), (-127, 0))]


@cache
def law_of_whole_numbers(make, stream):
    return called_law(partial(make, 0), stream)


@pytest.mark.parametrize("make", MECHANISMS.values(), ids=MECHANISMS)
@pytest.mark.parametrize(("sensitivity", "threshold", "query"), SCALES)
def test_queries_of_every_scale_cost_what_is_claimed(sensitivity, threshold, query, make):
    """Values one sensitivity apart lose at most epsilon by their exact laws, which are those of whole numbers."""
    mechanism = partial(make, threshold, sensitivity=sensitivity)
    laws = [[called_law(mechanism, [query(k) for k in stream]) for stream in pair] for pair in NEIGHBORS]
    assert max(loss_between(*pair)[0] for pair in laws) <= mechanism().loss.epsilon
    assert laws == [[law_of_whole_numbers(make, stream) for stream in pair] for pair in NEIGHBORS]
