"""The split among several statistics: by what each needs at the noisy sizes."""

import random

import numpy as np
import pytest

import nobounds as nb
from nobounds.ask import bounds, count, maximum, mean, median

N = 4000
AGES = np.random.default_rng(4).integers(18, 90, N)


def test_what_the_rows_cannot_carry_gets_nothing_and_says_so():
    """A maximum of few rows is not answered; the median gets what it would have cost."""
    few = nb.Table({"age": AGES[:400]})
    answers = few.agg(median("age"), maximum("age"), bounds("age"), count(), epsilon=1, rng=random.Random(2))
    assert answers["median(age)"].value is not None
    assert answers["maximum(age)"].value is None
    assert answers["maximum(age)"].reason == "too few rows"
    assert answers["bounds(age)"].value == (None, None)
    assert answers["maximum(age)"].parameters["needed"]["rows"] > 400
    assert set(answers.parameters["split"]) == {"sizes", "median(age)", "count()"}
    assert answers.parameters["split"]["median(age)"] > 0.6


def test_what_needs_more_gets_more():
    """With rows for all, each gets the same; with fewer, a mean gets what it needs, and a median less."""
    for rows, equal in ((N, True), (900, False)):
        table = nb.Table({"age": AGES[:rows]})
        split = table.agg(mean("age"), median("age"), epsilon=0.5, rng=random.Random(1)).parameters["split"]
        assert (split["mean(age)"] == split["median(age)"]) is equal
        assert split["mean(age)"] >= split["median(age)"]


@pytest.mark.parametrize("amount", [{"epsilon": 1}, {"rho": 0.1}], ids=str)
@pytest.mark.parametrize("asks", [["count()"], ["count(age)"], ["count()", "count(age)"]], ids=str)
def test_counts_alone_are_exact_under_swap(asks, amount):
    """The number of rows is public there, so there is nothing to split."""
    answers = nb.Table({"age": AGES}, neighbors="swap").agg(*asks, **amount)
    assert [answers[name].value for name in asks] == [N] * len(asks)
    assert not answers.parameters["split"]


def test_a_count_alone_is_exact_under_swap_in_sql():
    """`private_count()` is the same request."""
    answers = nb.sql("select private_count() from people", {"people": {"age": AGES}}, neighbors="swap", epsilon=1)
    assert [answers[name].value for name in answers] == [N]
