"""Hooks in the place of the library's samplers: each draw becomes a decision, which someone else settles.

A thread with a `Run` (see `lockstep`) that comes to a sampler lets it draw, and then asks its run what the outcome is
to be. Other threads, and the samplers inside samplers, are left alone. A random source that is used outside all known
samplers is a decision as well: its bits.

Noise for a number is no number yet: the library adds it to a raw number, and the sum is what is decided. Whatever else
is done with it is an error.
"""

import contextlib
import random
import sys
import threading
from fractions import Fraction
from unittest.mock import patch

import numpy as np
from flint import ctx

from nobounds.clipping import clip
from nobounds.groups import choices, walks
from nobounds.groups import noise as many
from nobounds.mechanisms import above_threshold, exponential_mechanism, flip, skip_ahead
from nobounds.mechanisms.key_selection import KeySelection
from nobounds.mechanisms.walk import Walk
from nobounds.noise import discrete as scalar
from nobounds.noise import source as entropy
from nobounds.noise.gaussian import DiscreteGaussian
from nobounds.release import grouped as grouped_release
from support.decisions import Answer, Bits, Choice, Halt, Keys, Number, Several, Stream

HERE = threading.local()


def run():
    """The run of this thread, unless one of the library's samplers is at work."""
    current = getattr(HERE, "run", None)
    return current if current is not None and not current.sampling else None


def drawn_by(sampler, *args):
    """What a sampler of the library draws by itself."""
    HERE.run.sampling = True
    try:
        return sampler(*args)
    finally:
        HERE.run.sampling = False


def hooked_source(real, rng=None):
    """Random bits of the generator that was given; a run has no others."""
    if not isinstance(rng, random.Random):
        raise TypeError("a run must draw from the generator that it was given")
    source = real(rng)

    def bits(k, /):
        drawn = source(k)
        return drawn if run() is None else run().ask(Bits(k, drawn))

    return bits


class Noise:
    """Noise that waits to be added to a raw number."""

    __array_ufunc__ = None  # so that numpy's numbers leave the sum to this class

    def __init__(self, kind, parameter, drawn, step=1):
        self.kind, self.parameter, self.drawn, self.step = kind, parameter, drawn, step

    def __radd__(self, raw):
        raw = raw.item() if isinstance(raw, np.generic) else raw
        return run().ask(Number(self.kind, self.parameter, self.step, raw, self.drawn))

    def __rmul__(self, step):
        return Noise(self.kind, self.parameter, self.drawn, self.step * step)


class Noises(np.ndarray):
    """The same for many groups. Its size may be looked at, because that says which integers hold the sum."""

    def __array_finalize__(self, other):
        self.law = getattr(other, "law", None)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if ufunc is not np.add:
            plain = [np.asarray(part) if isinstance(part, Noises) else part for part in inputs]
            return getattr(ufunc, method)(*plain, **options)
        raw, noise = inputs
        kind, parameter, who = noise.law
        pairs = zip(np.asarray(raw).tolist(), np.asarray(noise).tolist(), strict=True)
        sums = run().ask(Several(tuple(Number(kind, parameter, 1, a, b) for a, b in pairs), who))
        return np.array(sums, dtype=np.int64 if all(abs(x) < 1 << 62 for x in sums) else object)

    @classmethod
    def of(cls, drawn, kind, parameter, who):
        """Noise of this kind for some groups."""
        noises = drawn.view(cls)
        noises.law = kind, parameter, tuple(who.tolist())
        return noises


def hooked_laplace(real, rate, bits):
    return Noise("laplace", rate, drawn_by(real, rate, bits))


def hooked_gaussian(real, law, bits):
    return Noise("gaussian", law.variance, drawn_by(real, law, bits))


def hooked_laplaces(real, rate, who, draws):
    return Noises.of(drawn_by(real, rate, who, draws), "laplace", rate, who)


def hooked_gaussians(real, variance, who, draws):
    return Noises.of(drawn_by(real, variance, who, draws), "gaussian", variance, who)


def hooked_halt(real, walk, bits, full=None):
    drawn, one_end = drawn_by(real, walk, bits, full), any(walk is inward for inward in run().inward)
    outcome = run().ask(Halt(full() if full and walk.trusted else walk, drawn, one_end))
    if one_end and outcome in (None, walk.length - 1):  # one run gets this and the other that: they must not differ
        return None if run().is_first else walk.length - 1
    return outcome


def hooked_inward(real, *args):
    """A walk inward for a clip, whose last candidate also stands for never halting."""
    width_walk = real(*args)
    run().inward.append(width_walk.walk)
    return width_walk


def hooked_flip(real, runs, bits, full=None):
    return run().ask(Choice.of(full() if full else runs, False, drawn_by(real, runs, bits, full)))


def hooked_weighted(real, runs, bits, full=None):
    return run().ask(Choice.of(full() if full else runs, True, drawn_by(real, runs, bits, full)))


def hooked_halts(real, arrays, who, draws, one):
    drawn = drawn_by(real, arrays, who, draws, one).tolist()
    parts = (Halt(walk_of(arrays, k), None if at == walks.NEVER else at) for k, at in enumerate(drawn))
    positions = run().ask(Several(tuple(parts), tuple(who.tolist())))
    return np.array([walks.NEVER if at is None else at for at in positions], dtype=np.int64)


def walk_of(arrays, k):
    """The walk of one group, as the arrays of all groups have it."""
    some = slice(int(arrays.starts[k]), int(arrays.starts[k] + arrays.sizes[k]))
    not_empty = arrays.ends[some] > arrays.begins[some]
    starts, levels = arrays.begins[some][not_empty], arrays.levels[some][not_empty]
    if arrays.cuts is not None:
        cut = np.union1d(starts, arrays.cuts[arrays.cuts < arrays.length])
        raised = arrays.tilt * np.searchsorted(arrays.cuts, cut, side="right")
        starts, levels = cut, levels[np.searchsorted(starts, cut, side="right") - 1] + raised
    threshold, step = Fraction(int(arrays.targets[k]), arrays.lattice), Fraction(1, arrays.lattice)
    return Walk(starts, levels, arrays.length, threshold, step, arrays.eps1, arrays.eps2)


def hooked_flips(real, *args):
    return _choices(False, real, *args)


def hooked_weighteds(real, *args):
    return _choices(True, real, *args)


def _choices(exponential, real, runs, lattice, rate, who, draws, one):
    drawn, parts = drawn_by(real, runs, lattice, rate, who, draws, one).tolist(), []
    for start, size, rung in zip(runs.starts.tolist(), runs.sizes.tolist(), drawn, strict=True):
        some = slice(start, start + size)
        rungs, lengths, x = runs.rungs[some], runs.lengths[some], runs.distances[some] * float(rate / lattice)
        parts.append(Choice(rungs, lengths, x, np.zeros(size), runs.below[some], exponential, (rate, lattice), rung))
    return np.array(run().ask(Several(tuple(parts), tuple(who.tolist()))), dtype=np.int64)


def hooked_ordered(real, arrays):
    """The order of private keys; the run remembers the keys, because the choice among them sees only their numbers."""
    order = real(arrays)
    keys = list(zip(*(array.to_pylist() for array in arrays), strict=True))
    run().keys = [keys[k] for k in order.tolist()]
    return order


def hooked_kept(real, selection, counts, bits):
    mask, law, keys = drawn_by(real, selection, counts, bits).tolist(), selection._chances(), run().keys
    with ctx.workprec(256):
        balls = [law.ball(units) for units in counts.tolist()]
        chances = {key: (float(p), float(1 - p)) for key, p in zip(keys, balls, strict=True)}
    facts = selection.epsilon, selection.delta, selection.groups_per_unit
    shown = run().ask(Keys(chances, facts, frozenset(key for key, kept in zip(keys, mask, strict=True) if kept)))
    return np.array([key in shown for key in keys], dtype=bool)


def hooked_threshold(real, self, threshold, eps1, eps2, noise, source, lattice):
    drawn_by(real, self, threshold, eps1, eps2, noise, source, lattice)
    self.stream = Stream(threshold, eps1, eps2, noise, lattice)


def hooked_query(real, self, value):
    """The answer to a query, of a threshold with noise or of the iterative exponential mechanism, which has none."""
    if not hasattr(self, "stream"):
        self.stream = Stream(self._threshold, self.eps1, self.eps2, "gumbel", self._lattice)
    drawn = drawn_by(real, self, value)
    self.stream.queries.append(value)
    self.stream.answers.append(run().ask(Answer(self.stream, drawn)))
    return self.stream.answers[-1]


# Where each sampler is defined, its name, and what stands in for it.
HOOKS = [
    (entropy, "random_source", hooked_source),
    (scalar, "discrete_laplace", hooked_laplace),
    (DiscreteGaussian, "draw", hooked_gaussian),
    (skip_ahead, "halt_position", hooked_halt),
    (clip, "_inward", hooked_inward),
    (flip, "flip_rung", hooked_flip),
    (exponential_mechanism, "weighted_rung", hooked_weighted),
    (many, "laplaces", hooked_laplaces),
    (many, "gaussians", hooked_gaussians),
    (walks, "halts", hooked_halts),
    (choices, "flips", hooked_flips),
    (choices, "weighted", hooked_weighteds),
    (grouped_release, "ordered", hooked_ordered),
    (KeySelection, "kept", hooked_kept),
    (above_threshold.NoisyThreshold, "__init__", hooked_threshold),
    (above_threshold.NoisyThreshold, "reached_by", hooked_query),
    (above_threshold.IterativeExponential, "_noisy_above", hooked_query),
]


@contextlib.contextmanager
def hooked():
    """With the hooks in place, in each module of the library that has imported a sampler by its name."""
    with contextlib.ExitStack() as stack:
        for owner, name, hook in HOOKS:
            real = getattr(owner, name)
            for place in [owner] if isinstance(owner, type) else holders(name, real):
                stack.enter_context(patch.object(place, name, _standing_in(real, hook)))
        yield


def holders(name, function):
    """The modules of the library in which a name stands for a function."""
    modules = [module for key, module in list(sys.modules.items()) if key.partition(".")[0] == "nobounds"]
    return [module for module in modules if vars(module).get(name) is function]


def _standing_in(real, hook):
    def stands_in(*args, **options):
        return real(*args, **options) if run() is None else hook(real, *args, **options)

    return stands_in
