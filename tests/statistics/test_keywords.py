"""The keywords of every statistic are in its signature and in its help, and no others are taken."""

import inspect
import pydoc
import random
import re
import typing

import numpy as np
import pytest

import nobounds as nb
from nobounds import research
from nobounds.statistics import keywords
from nobounds.statistics.keywords import DEFAULTS, MEANINGS, Spent, spelled_out
from nobounds.tables.by_group.table import GroupedTable
from nobounds.tables.table import Table

LOSS = {"epsilon", "rho", "rng"}
SPENT = LOSS | {"marks"}
PAIRED = SPENT | {"lower", "upper"}
BOUNDED = SPENT | {"lower", "upper", "resolution"}
WALKED = BOUNDED | {"beta", "noise", "ladder"}
CHARGED = {"neighbors", "budget"}
INTERVAL = {"interval", "of", "guarantee", "ranks"}
# The keywords of each statistic, written out once more.
FUNCTIONS = {
    nb.quantile: WALKED | {"rows", "method", *INTERVAL} | CHARGED,
    nb.median: WALKED | {"rows", "method", *INTERVAL} | CHARGED,
    nb.quantiles: BOUNDED | {"rows"} | CHARGED,
    nb.maximum: WALKED | {"interval"} | CHARGED,
    nb.minimum: WALKED | {"interval"} | CHARGED,
    nb.bounds: WALKED | {"interval"} | CHARGED,
    nb.sum: BOUNDED | {"interval"} | CHARGED,
    nb.mean: BOUNDED | {"interval", "of"} | CHARGED,
    nb.std: BOUNDED | {"interval"} | CHARGED,
    nb.variance: BOUNDED | {"interval"} | CHARGED,
    nb.iqr: BOUNDED | {"rows", "interval", "of", "guarantee"} | CHARGED,
    nb.proportion: SPENT | CHARGED,
    nb.ratio: PAIRED | CHARGED,
    nb.weighted_mean: PAIRED | CHARGED,
    nb.covariance: PAIRED | CHARGED,
    nb.correlation: PAIRED | CHARGED,
    nb.count: SPENT | CHARGED,
    nb.count_distinct: SPENT | CHARGED,
    nb.histogram: BOUNDED | {"edges", "bins"} | CHARGED,
    nb.cdf: BOUNDED | {"points", "bins"} | CHARGED,
    nb.value_counts: SPENT | {"keys", "delta"} | CHARGED,
    nb.top_k: SPENT | {"keys", "delta"} | CHARGED,
    nb.describe: BOUNDED | CHARGED,
    nb.vector_sum: LOSS | {"delta", "upper", "marks"} | CHARGED,
    nb.vector_mean: LOSS | {"delta", "upper", "marks"} | CHARGED,
}
SPREADS = ("quantile", "median", "maximum", "minimum", "bounds", "sum", "mean", "std", "variance")
ALWAYS = {getattr(place, name) for place in (nb, Table) for name in SPREADS} | {
    GroupedTable.bounds
}  # with an interval, if none is asked for
METHODS = {
    Table.quantile: WALKED | {"rows", "method", *INTERVAL},
    Table.median: WALKED | {"rows", "method", *INTERVAL},
    Table.quantiles: BOUNDED | {"rows"},
    Table.maximum: WALKED | {"interval"},
    Table.minimum: WALKED | {"interval"},
    Table.bounds: WALKED | {"interval"},
    Table.sum: BOUNDED | {"interval"},
    Table.mean: BOUNDED | {"interval", "of"},
    Table.std: BOUNDED | {"interval"},
    Table.variance: BOUNDED | {"interval"},
    Table.iqr: BOUNDED | {"rows", "interval", "of", "guarantee"},
    Table.proportion: SPENT,
    Table.ratio: PAIRED,
    Table.weighted_mean: PAIRED,
    Table.covariance: PAIRED,
    Table.correlation: PAIRED,
    Table.count: SPENT,
    Table.histogram: BOUNDED | {"edges", "bins"},
    Table.cdf: BOUNDED | {"points", "bins"},
    Table.count_distinct: SPENT | {"values_per_unit"},
    Table.value_counts: SPENT | {"keys", "delta", "groups_per_unit"},
    Table.top_k: SPENT | {"keys", "delta", "groups_per_unit"},
    Table.describe: BOUNDED,
    GroupedTable.quantile: BOUNDED | {"interval", "of", "guarantee"},
    GroupedTable.median: BOUNDED | {"interval", "of", "guarantee"},
    GroupedTable.quantiles: BOUNDED,
    GroupedTable.bounds: BOUNDED | {"interval"},
    GroupedTable.describe: BOUNDED,
    GroupedTable.std: BOUNDED,
    GroupedTable.variance: BOUNDED,
    GroupedTable.iqr: BOUNDED | {"interval"},
    GroupedTable.proportion: SPENT,
    GroupedTable.ratio: PAIRED,
    GroupedTable.weighted_mean: PAIRED,
    GroupedTable.covariance: PAIRED,
    GroupedTable.correlation: PAIRED,
    GroupedTable.histogram: BOUNDED | {"edges", "bins"},
    GroupedTable.cdf: BOUNDED | {"points", "bins"},
    GroupedTable.top_k: SPENT | {"keys"},
    GroupedTable.count_distinct: SPENT | {"values_per_unit"},
    GroupedTable.value_counts: SPENT | {"keys"},
    Table.agg: SPENT,
    GroupedTable.agg: SPENT,
    GroupedTable.maximum: BOUNDED | {"interval"},
    GroupedTable.minimum: BOUNDED | {"interval"},
    GroupedTable.sum: BOUNDED,
    GroupedTable.mean: BOUNDED,
    GroupedTable.count: SPENT,
}
STATISTICS = FUNCTIONS | METHODS
# Of a table: written out as they are.
PLAIN = {
    "columns",
    "group_by",
    "sql",
    "suggest_rows_per_unit",
    "suggest_contributions",
    "rows_left_out",
    "where",
    "with_columns",
}
VALUES = np.random.default_rng(1).lognormal(3, 1, 300)

each = pytest.mark.parametrize("statistic", STATISTICS, ids=lambda statistic: statistic.__qualname__)


def only_keywords(statistic):
    """The keyword-only parameters in the signature."""
    given = inspect.signature(statistic).parameters.values()
    return {one.name: one for one in given if one.kind is inspect.Parameter.KEYWORD_ONLY}


def called(statistic, **options):
    """A call of a statistic on some data."""
    names = [name for name in inspect.signature(statistic).parameters if name not in only_keywords(statistic)]
    table = nb.Table({"x": VALUES, "k": np.arange(300) % 2, "b": VALUES > 20})
    grouped = table.group_by("k", keys=[0, 1])
    vectors = statistic in (nb.vector_sum, nb.vector_mean)
    values = {
        "self": grouped if statistic.__qualname__.startswith("Grouped") else table,
        "data": VALUES.reshape(-1, 3) if vectors else VALUES > 20 if statistic is nb.proportion else VALUES,
        "condition": "x > 20",
        **dict.fromkeys(("x", "y", "numerator", "denominator", "weights"), VALUES if statistic in FUNCTIONS else "x"),
        "column": "b" if statistic is GroupedTable.proportion else "x",
        "asks": "mean(x)",
        "columns": ["x"],
        "k": 3,
        "q": [0.5, 0.75] if statistic.__name__ == "quantiles" else 0.5,
    }
    return statistic(*(values[name] for name in names), rng=random.Random(1), **options)


def test_every_statistic_is_listed():
    """Each public function that is spelled out, and each public method of a table and of its groups."""
    public = {getattr(nb, name) for name in nb.__all__ if inspect.isfunction(getattr(nb, name))} - {
        nb.explain,
        nb.plan,
        nb.plan_describe,
        nb.rows_needed,
        nb.sql,
    }
    assert public == set(FUNCTIONS)
    of_table, of_groups = (
        {member for name, member in vars(kind).items() if name[0] != "_" and name not in PLAIN}
        for kind in (Table, GroupedTable)
    )
    assert of_table | of_groups == set(METHODS)


@each
def test_the_signature_shows_each_keyword(statistic):
    """With its default, as if it were written out; and there is no `**options` in it."""
    shown = only_keywords(statistic)
    assert shown.keys() == STATISTICS[statistic]
    defaults = DEFAULTS | ({"interval": 0.95} if statistic in ALWAYS else {})
    assert all(one.default == defaults.get(name) for name, one in shown.items())
    assert all(one.annotation is not inspect.Parameter.empty for one in shown.values())
    kinds = {one.kind for one in inspect.signature(statistic).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds


@each
def test_help_shows_each_keyword_and_its_meaning(statistic):
    """As `help` prints it: the signature first, then what the function does, then each keyword."""
    text = pydoc.plain(pydoc.render_doc(statistic))
    head, _, listed = text.partition("Keywords:")
    for name in STATISTICS[statistic]:
        assert re.search(rf"[(, \n]{name}: .*?= ", head, re.DOTALL), name
        assert f"{name}: {MEANINGS[name]}" in " ".join(listed.split())
    for name in MEANINGS.keys() - STATISTICS[statistic]:
        assert not re.search(rf"^ *{name}: ", listed, re.MULTILINE)
    assert statistic.__doc__.startswith(("A private", "Private"))


@each
def test_an_unknown_keyword_is_refused_by_the_name_of_the_function(statistic):
    """Also one that is None, and one of another statistic: a bound that is misspelt must not go unnoticed."""
    for name in {"uper", "options", "delta", "method", "budget", "rows"} - STATISTICS[statistic]:
        for value in (None, 1):
            with pytest.raises(TypeError) as caught:
                called(statistic, epsilon=1, **{name: value})
            start = f"{statistic.__name__}() got an unexpected keyword argument {name!r}; there are "
            assert str(caught.value).startswith(start)
            assert set(str(caught.value).removeprefix(start).split(", ")) == STATISTICS[statistic]


@each
def test_a_keyword_at_its_default_changes_nothing(statistic):
    """What the signature states is what the function does."""
    spent = {"epsilon": 1, "delta": 1e-6} if "delta" in STATISTICS[statistic] else {"epsilon": 1}
    spent |= {"keys": [1.0]} if statistic in (GroupedTable.value_counts, GroupedTable.top_k) else {}
    plain = called(statistic, **spent).to_json()
    defaults = {name: one.default for name, one in only_keywords(statistic).items() if name != "rng"}
    assert called(statistic, **(defaults | spent)).to_json() == plain


@each
def test_the_types_of_keywords_are_those_of_the_typed_dict(statistic):
    """An editor that reads the annotations and one that reads the signature show the same."""
    (listed,) = typing.get_args(inspect.unwrap(statistic).__annotations__["options"])
    assert listed.__annotations__.keys() == STATISTICS[statistic]
    assert listed.__required_keys__ == frozenset()


def test_every_keyword_has_a_meaning_and_every_meaning_a_keyword():
    """Of all TypedDicts together; and defaults are of keywords."""
    listed = [kind for kind in vars(keywords).values() if typing.is_typeddict(kind)]
    assert len(listed) >= 14
    names = {name for kind in listed for name in kind.__annotations__}
    assert names == MEANINGS.keys() and names >= DEFAULTS.keys()
    assert all(meaning.endswith(".") and meaning.strip() == meaning for meaning in MEANINGS.values())


def test_a_new_statistic_is_spelled_out_by_its_typed_dict():
    """A function gets the signature of its TypedDict; a keyword without a meaning is refused like an unknown one."""

    class Odd(Spent, total=False):
        colour: str

    @spelled_out
    def odd(data: object, **options: typing.Unpack[Odd]) -> dict:
        """A private colour."""
        return dict(options)

    assert str(inspect.signature(odd)).startswith("(data: object, *, epsilon: ")
    assert odd([], epsilon=1) == {"epsilon": 1}
    with pytest.raises(TypeError, match=r"odd\(\) got an unexpected keyword argument 'colour'; there are epsilon, rho"):
        odd([], colour="red")


def test_a_keyword_without_a_default_is_required():
    """The baselines have no default for the range of the data: the error names what is missing."""
    with pytest.raises(TypeError, match=r"emq_quantile\(\) missing the required keyword argument 'lower'"):
        research.emq_quantile([1, 2], 0.5, epsilon=1, upper=9, rng=np.random.default_rng(1))
