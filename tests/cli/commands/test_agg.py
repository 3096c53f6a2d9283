"""The command for several statistics at once."""

import json

from support.shell import SURE, run

ASKS = ["--ask", "mean(income)", "--ask", "median(income)", "--ask", "count()"]


def test_agg_answers_all_for_one_epsilon(people):
    """A row for each statistic, the split, and one total."""
    text = run("agg", people, *ASKS, "--epsilon", "1").stdout
    for name in ("mean(income)", "median(income)", "count()"):
        assert any(line.startswith(name) for line in text.splitlines())
    assert "Split of epsilon: " in text and text.count("Total privacy loss: epsilon 1 ") == 1


def test_agg_as_json_comes_back(people):
    """As `Answers.from_json` reads it, and right at a huge epsilon."""
    answers = json.loads(run("agg", people, *ASKS, *SURE, "--json").stdout)
    assert answers["kind"] == "answers"
    assert answers["answers"]["count()"]["value"] == 2000
    assert abs(answers["answers"]["median(income)"]["value"] - 2000) < 5


def test_a_wrong_statistic_is_one_line(people):
    """With what there is."""
    result = run("agg", people, "--ask", "middle(income)", "--epsilon", "1")
    assert result.exit_code != 0 and "there is no statistic 'middle'" in result.stderr


def test_agg_by_group(people):
    """A row for each key, and as CSV the ends of intervals too."""
    by = ["--by", "name", "--keys", "p1,p2,nobody"]
    text = run("agg", people, *ASKS, *by, *SURE).stdout
    assert any(line.startswith("nobody") for line in text.splitlines())
    lines = run("agg", people, *ASKS, *by, *SURE, "--csv").stdout.splitlines()
    assert lines[0].startswith("name,mean(income),mean(income) low") and len(lines) == 4


def test_summaries_quantiles_and_bounds_by_group(people):
    """A row for each key and a column for each number."""
    by = ["--by", "name", "--keys", "x,nobody", *SURE, "--csv", "--column", "income"]
    for command, some in (("describe", "mean(income)"), ("bounds", "maximum(income)"), ("median", "median")):
        lines = run(command, people, *by).stdout.splitlines()
        assert some in lines[0] and [line.split(",")[0] for line in lines[1:]] == ["x", "nobody"]
    lines = run("quantile", people, *by, "--q", "0.25", "--q", "0.75").stdout.splitlines()
    assert "quantile(income, 0.25)" in lines[0] and len(lines) == 3
    lines = run("std", people, *by).stdout.splitlines()
    assert lines[0].startswith("name,std")
