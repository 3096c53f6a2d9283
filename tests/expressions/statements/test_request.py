"""What a statement asks for, read from its text and the names of columns."""

import pytest

from nobounds.ask import STATISTICS, Ask, columns_of, mean, quantile
from nobounds.expressions.sql import parsed
from nobounds.expressions.statements.reading import relation_of, table_name, table_names
from nobounds.expressions.statements.relation import Base, Definition, Lookup, Named
from nobounds.expressions.statements.request import request_of
from nobounds.expressions.statements.syntax import select
from nobounds.expressions.tree import Column, IsNull, Not

TABLES = {
    "taxis": Base("taxis", ("fare", "tip", "borough", "rider", "zone")),
    "zones": Base("zones", ("id", "side", "fare")),
    "v": Definition("select fare + tip as total, borough as b from taxis where tip > 1", "postgres"),
    "loop": Definition("select * from loop", "postgres"),
}


class Tables:
    """A catalogue of tables, of which `zones` is public."""

    def find(self, name: Named):
        return TABLES[str(name)]

    def is_public(self, name: Named):
        return str(name) == "zones"


def asked(statement):
    return request_of(statement, Tables())


@pytest.mark.parametrize("statistic", STATISTICS)
def test_every_statistic_has_a_private_name(statistic):
    """One table of statistics serves Python, texts and SQL."""
    columns = ["fare", "tip"][: columns_of(statistic)]
    numbers = ["0.9"] if statistic in ("quantile", "quantiles") else []
    request = asked(f"select private_{statistic}({', '.join([*columns, *numbers])}) from taxis")
    assert request.asks == (Ask.parse(f"{statistic}({', '.join([*columns, *numbers])})"),)


def test_keywords_are_those_of_the_statistic():
    """Numbers and texts keep every digit."""
    request = asked("select private_quantile(fare, 0.10, lower => -0.5, interval := 0.95) from taxis")
    assert request.asks == (quantile("fare", "0.10", lower="-0.5", interval="0.95"),)
    assert asked("select private_mean(fare, lower => date '2020-01-01') from taxis").asks[0].options == (
        ("lower", "2020-01-01"),
    )


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("private_quantile(fare)", r"^'private_quantile\(fare\)' is not .*'private_quantile\(income, 0.95\)'$"),
        ("private_sum(fare, low => 0)", "has no keyword 'low'; there are lower, upper, resolution"),
        ("private_sum(fare, lower = 0)", "keywords are written lower => 0"),
        ("mean(fare)", r"the exact mean is .*: write private_mean\("),
        ("stddev(fare)", r"the exact stddev is .*: write private_std\("),
    ],
)
def test_calls_that_cannot_be_read_say_how_to_write_them(call, says):
    """With the names that statements have."""
    with pytest.raises(ValueError, match=says):
        asked(f"select {call} from taxis")
    with pytest.raises(ValueError, match=r"must be one select, got .*; write select private_mean"):
        asked(call)


def test_ranks_may_stand_in_brackets():
    """As a list, or one by one."""
    assert asked("select private_quantiles(fare, [0.25, 0.75]) from taxis").asks == (
        Ask.parse("quantiles(fare, 0.25, 0.75)"),
    )


def test_expressions_become_columns_of_their_text():
    """So do those of group by, under their alias if they have one."""
    request = asked(
        "select floor(fare / 10) as tens, private_mean(fare + tip), private_mean(tip) as tips from taxis group by tens"
    )
    assert request.asks == (mean("fare + tip"), mean("tip")) and request.aliases == ("", "tips")
    assert request.by == request.by_names == ("tens",)
    assert request.formulas == {"fare + tip": parsed("fare + tip"), "tens": parsed("floor(fare / 10)")}


def test_a_computed_column_takes_no_name_of_the_table():
    """An alias that is the name of another column changes neither."""
    request = asked("select fare + 1 as tip, private_mean(tip) from taxis group by fare + 1")
    assert request.by_names == ("tip",) and request.by == ("tip_",) and request.asks == (mean("tip"),)


@pytest.mark.parametrize(
    "statement",
    [
        "select b, private_mean(total) from v group by b",
        "select s.b, private_mean(total) from (select total, b from v) as s group by 1",
        "with s as (select fare + tip as total, borough b from taxis where tip > 1) "
        "select b, private_mean(s.total) from s group by b",
    ],
    ids=["view", "subquery", "with"],
)
def test_what_stands_for_rows_of_a_table_is_read_into_it(statement):
    """Columns, conditions and names are those of the table underneath."""
    request = asked(statement)
    assert request.relation.base.identity == "taxis" and request.relation.condition == parsed("tip > 1")
    assert request.asks == (mean("fare + tip"),) and request.written == (mean("total"),)
    assert request.by == ("borough",) and request.by_names == ("b",)


def test_a_join_is_a_lookup_by_a_key():
    """Names that both tables have are told apart, and an inner join drops the rows without a partner."""
    request = asked("select side, private_mean(z.fare) from taxis t join zones z on t.zone = z.id group by side")
    names = {"id": "id", "side": "side", "z.fare": "fare"}
    assert request.relation.lookups == (Lookup("zones", (("zone", "id"),), names),)
    assert request.relation.condition == Not(IsNull(Column("id"))) and request.asks == (mean("z.fare"),)
    for same in ("zones z join taxis t on z.id = t.zone", "taxis t inner join zones z on (z.id = t.zone)"):
        other = asked(f"select side, private_mean(z.fare) from {same} group by side")
        assert (other.relation, other.asks, other.by) == (request.relation, request.asks, request.by)
    left = asked("select private_mean(tip) from taxis left join zones on zone = id where side = 'e'")
    assert left.relation.condition == parsed("side = 'e'")


def test_names_without_quotes_may_differ_by_case():
    """Those in quotes may not, and two that differ by case alone need quotes."""
    assert asked("select private_mean(FARE) from taxis").asks == (mean("fare"),)
    with pytest.raises(ValueError, match=r"column 'FARE' is not in the table.* a text is written in single quotes"):
        asked('select private_mean("FARE") from taxis')
    size = "select case when fare > 9 then 'l' else 's' end as Size, private_mean(fare) from taxis group by"
    assert asked(f"{size} size") == asked(f"{size} Size") == asked(f"{size} 1")
    with pytest.raises(ValueError, match="column 'size' is not in the table"):
        asked(f'{size} "size"')


def test_views_that_name_each_other_end():
    """A view of itself is refused."""
    with pytest.raises(ValueError, match="nested 20 deep at most"):
        asked("select private_count() from loop")


def test_long_and_deep_statements_are_refused():
    """In time that does not explode."""
    with pytest.raises(ValueError, match="at most 100000 characters"):
        asked("select private_mean(fare) from taxis where " + "fare > 1 and " * 10_000 + "true")
    deep = "taxis"
    for _ in range(40):
        deep = f"(select * from {deep}) t"
    with pytest.raises(ValueError, match="nested"):
        asked(f"select private_mean(fare) from {deep}")
    with pytest.raises(ValueError):
        asked(f"select private_mean({'(' * 3000}fare{')' * 3000}) from taxis")


def test_the_rows_of_a_select():
    """Without private statistics a select is a relation."""
    relation = relation_of(select("select *, fare + 1 as more from taxis where tip > 2"), Tables())
    assert list(relation.columns) == ["fare", "tip", "borough", "rider", "zone", "more"]
    assert relation.columns["more"] == parsed("fare + 1") and relation.condition == parsed("tip > 2")
    with pytest.raises(ValueError, match="more than once"):
        relation_of(select("select *, 1 as fare from taxis"), Tables())


def test_the_names_of_tables():
    """Those in quotes, with a schema, and files; not those of with."""
    query = "with t as (select * from 'a b.csv') select private_count() from t join zones.parquet on x = y"
    assert sorted(table_names(query)) == ["a b.csv", "zones.parquet"]
    assert table_name('"My Table"') == Named(("My Table",), (True,))
    assert str(table_name("shop.visits")) == "shop.visits"
