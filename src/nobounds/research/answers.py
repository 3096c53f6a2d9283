"""The exact law of a private quantile by expert settings: the probability of each answer on given data."""

from typing import Any

from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.exact import Number
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.problem import check_rank
from nobounds.statistics.searched import planned


def answer_law(data: object, q: Number, **options: Any) -> AnswerLaw:
    """The law of `nobounds.quantile(data, q, **options)` by expert settings, such as `method="walk"`.

    The law is sensitive: it follows from the data without noise, and it is for study, not for release.

    >>> law = answer_law(range(1000), 0.5, epsilon=1)
    >>> 1 - law.below(490) - law.above(510) > 0.95
    True
    """
    if unused := {"budget", "rng"} & options.keys():
        raise TypeError(f"answer_law() takes no {min(unused)}: nothing is charged, and no noise is drawn")
    records = column(data)
    question = planned(records, (check_rank(q),), **options)
    return AnswerLaw.of(question, Counts.of(records.chunks, question.ladder))
