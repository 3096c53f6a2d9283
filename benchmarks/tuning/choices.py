"""How the error of a quantile moves with one constant of `nobounds.ranks.tuning`, on synthetic data.

    python benchmarks/tuning/choices.py center_nats 20 30 40 60 --q 0.9 --n 100 1000

For each value of the constant: the expected absolute error over that with the default, in geometric mean over families
and distances from 0, and how often an answer is off by more than ten spreads. All that comes before the last decision
(size, centre, scale) is drawn, the same for every value; the last decision enters with its exact law.
"""

import argparse
import sys
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.noise.source import random_source
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.question import Question
from nobounds.ranks.tuning import TUNING, RankTuning
from nobounds.statistics.searched import planned

sys.path.insert(0, str(Path(__file__).parents[1]))
from accuracy.families import SMOOTH, Family

WILD = 10  # spreads: errors are capped here, and answers that are farther off are counted


def error(
    tuning: RankTuning, family: Family, name: str, offset: float, n: int, options: argparse.Namespace
) -> tuple[float, float]:
    """The mean error in spreads, and the share of answers that are wild."""
    total = wild = 0.0
    for sample in range(options.samples):
        data, q = family.sample(f"{name} {sample}", offset, n), Fraction(str(options.q))
        records = column(data)
        plan = planned(records, (q,), epsilon=1, neighbors=options.relation)
        assert isinstance(plan, Question)
        question = Question.of(replace(plan.problem, tuning=tuning), Fraction(1), False)
        source = random_source(np.random.default_rng(sample))
        law = AnswerLaw.sampled(question, Counts.of(records.chunks, question.ladder), source, options.routes)
        values, masses = law.points()
        away = np.abs(values - np.quantile(data, float(q))) / family.spread
        total += float(masses @ np.minimum(away, WILD)) / float(masses.sum())
        wild += float(masses @ (away > WILD)) / float(masses.sum())
    return total / options.samples, wild / options.samples


def main() -> None:
    """Print one line for each value of the constant and each number of records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("constant", choices=[field.name for field in fields(RankTuning)])
    parser.add_argument("values", nargs="+", type=Fraction)
    parser.add_argument("--q", type=float, default=0.5)
    parser.add_argument("--n", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--offsets", type=float, nargs="+", default=[0.0, 17.0, 1000.0])
    parser.add_argument("--relation", choices=["add-remove", "swap"], default="add-remove")
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--routes", type=int, default=8)
    options = parser.parse_args()
    default = getattr(TUNING, options.constant)
    for n in options.n:
        cells = [(family, name, offset, n, options) for name, family in SMOOTH.items() for offset in options.offsets]
        usual = [error(TUNING, *cell)[0] for cell in cells]
        for value in options.values:
            tuning = replace(TUNING, **{options.constant: type(default)(value)})
            found = [error(tuning, *cell) for cell in cells]
            ratio = np.exp(np.mean([np.log(now / before) for (now, _), before in zip(found, usual, strict=True)]))
            wild = np.mean([share for _, share in found])
            print(f"n {n}  {options.constant} {value} (default {default}): error {ratio:.3f}, wild {wild:.2%}")


if __name__ == "__main__":
    main()
