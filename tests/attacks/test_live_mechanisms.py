"""Attacks on a mechanism in use: each is charged once, and none gets more answers than were paid for.

The attacker has one paid mechanism and queries that are surely above its threshold. What they want is more hits than
it has: from copies, forked processes, threads, calls from within a query, or after an interruption.
"""

import contextlib
import copy
import math
import multiprocessing
import os
import pickle
import random
import signal
import sys
import threading
import time
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest
from support.streams import Watched

import nobounds as nb
from nobounds.auditing.enumerated import enumerated_law

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
    driver = Watched()
    nb.AboveThreshold(0, epsilon=1, noise=noise, rng=driver)
    (inner,) = driver.thresholds
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
    for attack in (lambda: mechanism.query(SURE), lambda: mechanism.query(float("inf")), mechanism.stop):
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
def test_a_child_does_not_wait_for_a_lock(hits, make):
    """A process that was forked while another thread was asking is refused at once: its lock would never be free."""
    mechanism = make()
    held, done = threading.Event(), threading.Event()

    def hold():
        with mechanism._lock:
            held.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    try:
        assert ELSEWHERE in in_a_child(lambda: mechanism.query(SURE))
        assert ELSEWHERE in in_a_child(mechanism.stop)
    finally:
        done.set()
        thread.join()


@pytest.mark.medium
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


# --- threads ------------------------------------------------------------------------------------------------------

THREADS, TRIALS = 8, 20


class Slow(random.Random):
    """A generator that lets other threads run whenever it is asked for bits."""

    def getrandbits(self, k):
        time.sleep(0)
        return super().getrandbits(k)


@every
def test_threads_get_no_more_hits_than_there_are(hits, make):
    """Eight threads that ask at once share the hits, and the counters tell of each answer once."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for trial in range(TRIALS):
            mechanism, start, answers = make(rng=Slow(trial)), threading.Barrier(THREADS), []

            def ask(mechanism=mechanism, start=start, answers=answers):
                start.wait(20)
                for value in (-SURE, SURE):
                    with contextlib.suppress(RuntimeError):
                        answers.append(mechanism.query(value))

            threads = [threading.Thread(target=ask) for _ in range(THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sum(answers) == hits
            assert mechanism.answered == len(answers)
            if hits > 1:
                assert mechanism.hits_found == hits
    finally:
        sys.setswitchinterval(interval)


# --- calls from within, and interruptions -------------------------------------------------------------------------


@every
def test_a_value_that_asks_while_it_is_read_gains_nothing(hits, make):
    """Code of a value may ask its own queries; the query that reads it is still refused after the last hit."""
    mechanism, inner = make(), []

    class Asking(Fraction):
        @property
        def numerator(self):
            inner.append(hits_of(mechanism))
            return SURE

    outer = 0
    with contextlib.suppress(RuntimeError):
        outer = mechanism.query(Asking(SURE))
    assert inner and outer + sum(inner) == hits


@every
def test_a_generator_that_asks_while_it_draws_gains_nothing(hits, make):
    """A query from within a draw is refused, and does not wait for itself."""
    errors = []

    class Asking(random.Random):
        mechanism = None

        def getrandbits(self, k):
            mechanism, self.mechanism = self.mechanism, None
            if mechanism is not None:
                try:
                    mechanism.query(SURE)
                except RuntimeError as error:
                    errors.append(str(error))
            return super().getrandbits(k)

    rng = Asking(1)
    mechanism = make(rng=rng)
    rng.mechanism = mechanism
    assert mechanism.query(SURE)
    assert len(errors) == 1 and INTERRUPTED in errors[0]
    assert hits_of(mechanism) == hits - 1


MODULES = tuple(
    f"nobounds/{name}.py"
    for name in (
        "mechanisms/above_threshold",
        "mechanisms/sparse_vector",
        "mechanisms/hits",
        "programs/program",
        "programs/streams",
    )
)


def interrupted_at(line, mechanism, error):
    """Ask, and raise the error at that line of the modules of streams; whether there was such a line."""
    left = line

    def trace(frame, event, argument):
        nonlocal left
        if not frame.f_code.co_filename.endswith(MODULES):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                raise error
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        mechanism.query(SURE)
    except error:
        return True
    finally:
        sys.settrace(before)
    return False


@every
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_query_gains_nothing(hits, make, error):
    """Wherever a query is interrupted, queries are not found above the threshold more often than was paid for."""
    line, stayed_open, closed = 1, 0, 0
    while True:
        driver = Watched(random.Random(line))
        mechanism = make(rng=driver)
        if not interrupted_at(line, mechanism, error):
            break
        before = len(driver.answers)
        later = hits_of(mechanism)
        assert sum(above for _, above in driver.answers) <= hits
        assert later == 0 or before == 0 or mechanism.answered == before + later  # closed, not begun, or counted
        stayed_open += later > 0
        closed += later == 0
        line += 1
    assert line > 15 and stayed_open and closed


@every
def test_after_an_interruption_the_error_says_what_to_do(hits, make):
    """A query that fails in its draw is the last one, and the next is told why."""

    class Failing(random.Random):
        fails = False

        def getrandbits(self, k):
            if self.fails:
                raise MemoryError
            return super().getrandbits(k)

    rng = Failing(1)
    mechanism = make(rng=rng)
    assert not mechanism.query(-SURE)
    rng.fails = True
    with pytest.raises(MemoryError):
        mechanism.query(SURE)
    rng.fails = False
    for _ in range(3):
        with pytest.raises(RuntimeError, match=f"{INTERRUPTED}; start a new one"):
            mechanism.query(SURE)
    assert mechanism.answered == 1


# --- values -------------------------------------------------------------------------------------------------------


class CoarseAboveThreshold(nb.AboveThreshold):
    """AboveThreshold on whole numbers."""

    _lattice = 1


class CoarseSparseVector(nb.SparseVector):
    """SparseVector on whole numbers."""

    _lattice = 1


RISING = {"monotonic": True, "share": Fraction(1, 4)}
MECHANISMS = {
    "AboveThreshold": partial(CoarseAboveThreshold, epsilon=3, **RISING),
    "iterated": partial(CoarseSparseVector, hits=2, epsilon=20, method="iterated", **RISING),
    "classical": partial(CoarseSparseVector, hits=2, epsilon=20, method="classical", **RISING),
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


def called_law(make, queries):
    """Log-probabilities of the answers of a mechanism as it is called on these queries."""

    def given(driver):
        mechanism = make(rng=driver)
        return tuple(mechanism.query(query) for query in queries if mechanism._open)

    return enumerated_law(given, 30).logs


@cache
def law_of_whole_numbers(make, stream):
    return called_law(partial(make, 0), stream)


@pytest.mark.medium
@pytest.mark.parametrize("make", MECHANISMS.values(), ids=MECHANISMS)
@pytest.mark.parametrize(("sensitivity", "threshold", "query"), SCALES)
def test_queries_of_every_scale_cost_what_is_claimed(sensitivity, threshold, query, make):
    """Values one sensitivity apart lose at most epsilon by their exact laws, which are those of whole numbers."""
    mechanism = partial(make, threshold, sensitivity=sensitivity)
    laws = [[called_law(mechanism, [query(k) for k in stream]) for stream in pair] for pair in NEIGHBORS]
    for one, other in laws:
        assert sum(map(math.exp, one.values())) == pytest.approx(1) == sum(map(math.exp, other.values()))
        assert 0 < max(abs(one[said] - other[said]) for said in one) <= mechanism().loss.epsilon + 1e-9
    assert laws == [[law_of_whole_numbers(make, stream) for stream in pair] for pair in NEIGHBORS]
