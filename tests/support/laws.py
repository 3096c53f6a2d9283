"""What tests of promises share: exact laws of answers, the sample data, the bounded rival, and the tail of a walk."""

import csv
import gzip
import math
from fractions import Fraction
from importlib.resources import files

import numpy as np
from scipy.stats import chi2

from nobounds.auditing.audit import audit
from nobounds.auditing.claims.choices import choice_law
from nobounds.counting.histogram import Histogram
from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.runs import Runs
from nobounds.noise.source import random_source
from nobounds.programs.program import Draw
from nobounds.ranks.law import LEAST, AnswerLaw
from nobounds.ranks.view import View
from nobounds.statistics.searched import planned

TWENTY = Ladder.uniform(0, 20, 20)
SEVEN = np.array([3.5, 3.5, 4.2, 7.1, 9.9, 10.2, 15.5])


def text(x: float) -> Fraction:
    """What the number says as it is printed."""
    return Fraction(repr(x))


def drawn(plan, counts, source):
    """The answers of a plan for quantiles on these counts, drawn from a source of random bits."""
    return Draw(source).run(plan.program(View(counts)))


def answer_law(data, q, least=LEAST, **options):
    """The exact law of nobounds.quantile(data, q, **options).value, but for parts of less than `least`."""
    records = column(data)
    asked = planned(records, (Fraction(str(q)),), **options)
    return AnswerLaw.of(asked, Counts.of(records.chunks, asked.ladder), least=least)


def sampled_law(data, q, many, seed=0, **options):
    """The law of an answer, averaged over routes that are drawn: all that comes before the last decision.

    In a frame there are too many routes to list.
    """
    records = column(data)
    asked = planned(records, (Fraction(str(q)),), **options)
    source = random_source(np.random.default_rng(seed))
    return AnswerLaw.sampled(asked, Counts.of(records.chunks, asked.ladder), source, many)


def mean_error(data, q, truth, low, high, **options):
    """The expected absolute error of the answer; what little mass lies outside [low, high] must not matter."""
    values, masses = answer_law(data, q, least=1e-4, **options).pmf(low, high)
    left_out = 1 - masses.sum()
    assert left_out < 1e-2
    return float(masses @ np.abs(values - truth) / masses.sum())


def capped_error(data, q, most, **options):
    """The expected error from points that stand for the law, each error at most `most`, where its tail is not meant."""
    values, masses = answer_law(data, q, least=1e-4, **options).points()
    away = np.minimum(np.abs(values - np.quantile(data, q)), most)
    return float(masses @ away / masses.sum())


def chance_above(law, value):
    """P(answer > value), with the law of each part computed once."""
    return math.fsum(chance * law._above(route, part, value) for chance, route, part in law.parts)


def chance_outside(law, low, high):
    """P(answer > high or answer <= low), of what is not left out of the law."""
    parts = law.parts
    return math.fsum(p * (law._above(*rest, high) + 1 - law._above(*rest, low)) for p, *rest in parts)


def adult():
    """The bundled ages and weekly hours."""
    with gzip.open(files("nobounds") / "data" / "adult.csv.gz", "rt") as text:
        rows = list(csv.DictReader(text))
    return {name: np.array([int(row[name]) for row in rows]) for name in ("age", "hours_per_week")}


def exponential_mechanism_error(data, q, truth, *, epsilon, low, high, grid=None):
    """The expected error, rounded to a grid if one is given, of the exponential mechanism on [low, high] (Smith 2011).

    Interval j between sorted points is drawn with probability proportional to its width times
    exp(-epsilon |j - q n| / 2), and then a uniform point in it.
    """
    points = np.concatenate([[low], np.clip(np.sort(data), low, high), [high]])
    widths, n = np.diff(points), len(data)
    exponents = -epsilon * np.abs(np.arange(n + 1) - q * n) / 2
    masses = widths * np.exp(exponents - exponents.max())
    masses /= masses.sum()
    if grid is None:
        left, right = points[:-1], points[1:]
        around = ((truth - left) ** 2 + (right - truth) ** 2) / (2 * np.maximum(widths, 1e-300))
        inside = (left < truth) & (truth < right)
        return float(masses @ np.where(inside, around, np.abs((left + right) / 2 - truth)))
    candidates = np.arange(round(low / grid), round(high / grid) + 1) * grid
    cuts = np.concatenate([[low], candidates[:-1] + grid / 2, [high]])
    chances = np.diff(np.interp(cuts, points, np.concatenate([[0], np.cumsum(masses)])))
    return float(chances @ np.abs(candidates - truth))


def runs_of(q, rate=Fraction(1, 2), data=SEVEN, ladder=TWENTY, prior=None):
    """The runs of a few records on a short ladder."""
    return Runs.of(Histogram.of([np.asarray(data, dtype=float)], ladder), q, rate, prior)


def audited_choice(law, relation, q):
    """The audit of a choice among 3000 rungs for epsilon 1, over all pairs of up to four records."""
    return audit(
        lambda data: choice_law(law, q, relation, Fraction(1), data),
        (0.5, 1000.5, 2000.5, 2990.5),
        4,
        relation,
        least=1 if relation == "swap" else 0,
    )


def overshoot_bound(m, eps1, eps2, drop):
    """e^(-eps1 drop) Gamma(1+a) m! / Gamma(m+1+a), a = eps1 / eps2."""
    a = float(eps1 / eps2)
    return math.exp(math.lgamma(1 + a) + math.lgamma(m + 1) - math.lgamma(m + 1 + a) - float(eps1 * drop))


def chi_square(seen, chances):
    """The p-value of counts of outcomes with these chances; those expected fewer than 5 times count as one."""
    seen, chances = np.asarray(seen, dtype=float), np.array([float(chance) for chance in chances])
    assert not seen[chances == 0].any()
    expected = chances / chances.sum() * seen.sum()
    few = expected < 5
    if few.any():
        seen, expected = (np.append(each[~few], each[few].sum()) for each in (seen, expected))
        seen, expected = seen[expected > 0], expected[expected > 0]
    return float(chi2.sf(np.sum((seen - expected) ** 2 / expected), len(expected) - 1)) if len(expected) > 1 else 1.0
