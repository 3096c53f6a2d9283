"""Several answers as one object: JSON, text and frames."""

import numpy as np
import pytest

import nobounds as nb

X = np.random.default_rng(2).integers(18, 90, 3000)
TABLE = nb.Table({"age": X, "k": np.arange(3000) % 2})
ASKS = ("mean(age)", "median(age)", "quantiles(age, 0.25, 0.75)", "maximum(age)", "count()")


@pytest.mark.medium
def test_answers_come_back_and_show_each_statistic():
    """As JSON, as text, and as frames: a row for each number, with its ends and its reason."""
    answers = TABLE.agg(*ASKS, epsilon=1)
    back = nb.Answers.from_json(answers.to_json())
    assert back.to_dict() == answers.to_dict()
    assert str(back) == str(answers)
    assert all(name in str(answers) for name in answers)
    table = answers.to_arrow()
    assert table.column("answer").to_pylist().count("quantiles(age, 0.25, 0.75)") == 2
    assert answers.to_pandas().shape == answers.to_polars().shape == (6, 5)
