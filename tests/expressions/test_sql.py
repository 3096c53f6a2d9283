"""SQL to trees: what is allowed is read as it is meant, and all else is refused by its name."""

from decimal import Decimal

import pytest

from nobounds.expressions.sql import parsed
from nobounds.expressions.text import text
from nobounds.expressions.tree import DEEPEST, Arithmetic, Column, Literal, columns, walk


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("age >= 18 and state in ('NY','NJ')", "age >= 18 and state in ('NY', 'NJ')"),
        ("not a=1 or b is not null and c not in (1,2)", "not a = 1 or b is not null and c not in (1, 2)"),
        ("x not between 1 and 2", "not (x >= 1 and x <= 2)"),
        ("-a * -5 + (b - (c-d))", "-a * -5 + (b - (c - d))"),
        ("late*1.0/trips > .5e-3", "late * 1.0 / trips > 0.0005"),
        ("x::double > 1 AND cast(y AS varchar) = 'a'", "cast(x as number) > 1 and cast(y as text) = 'a'"),
        ("d >= cast('2024-01-01' as date)", "d >= date '2024-01-01'"),
        ("t > timestamp '2024-01-01 10:00:00'", "t > timestamp '2024-01-01 10:00:00'"),
        (
            "t > '2024-01-01 00:00:00+00'::TIMESTAMP WITH TIME ZONE",
            "t > timestamptz '2024-01-01 00:00:00+00:00'",
        ),
        ("\"a b\" = 'O''x' and \"select\" <> '\"'", "\"a b\" = 'O''x' and \"select\" <> '\"'"),
        ("a is true and b is not false", "coalesce(a, false) and not coalesce(not b, false)"),
        ("abs(-x) % 3 == 1 -- a comment", "abs(-x) % 3 = 1"),
        ("CASE WHEN a > 1 THEN 'x' END = 'x'", "case when a > 1 then 'x' else null end = 'x'"),
        (
            "case a + 1 when 2 then b when 3 then -b else 0 end",
            "case when a + 1 = 2 then b when a + 1 = 3 then -b else 0 end",
        ),
        ("((a or (b)) or c) and d", "(a or b or c) and d"),
    ],
)
def test_what_is_read_is_written_in_one_way(given, canonical):
    """And that is read as itself."""
    assert text(parsed(given)) == canonical
    assert parsed(canonical) == parsed(given)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("random() < 0.5", "the function random"),
        ("sum(x) > 1", "the aggregate sum"),
        ("count(*) > 1", "the aggregate count"),
        ("row_number() over (order by x) = 1", "the window function"),
        ("x in (select y from t)", "the subquery after in"),
        ("(select max(y) from t) = x", "the subquery"),
        ("exists (select 1)", "the subquery after exists"),
        ("read_csv('people.csv') = 1", "the function read_csv"),
        ("getenv('HOME') = 'x'", "the function getenv"),
        ("nextval('s') = 1", "the function nextval"),
        ("my_function(x) = 1", "the function my_function"),
        ("now() > t", "the function now"),
        ("current_date > d", "the function current_date"),
        ("lower(a) = 'x'", "the function lower"),
        ("a like 'x%'", "a LIKE 'x%'"),
        ("a is distinct from b", "a IS DISTINCT FROM b"),
        ("cast(a as decimal(10, 2)) = 1", r"a cast to decimal\(10, 2\)"),
        ("cast(a as smallint) = 1", "a cast to smallint"),
        ("a & 1", "a & 1"),
        ("interval '1 day' = a", "INTERVAL '1' DAY"),
    ],
)
def test_what_needs_more_than_a_row_is_refused_by_its_name(given, named):
    """Windows, aggregates, functions of users, subqueries, random numbers and files."""
    with pytest.raises(ValueError, match=rf"{named}\W* is not allowed in an expression on rows; "):
        parsed(given)


@pytest.mark.parametrize(
    "given",
    [
        "",
        " ",
        "a; drop table x",
        "a, b",
        "1) , (2",
        "a from b",
        "a =",
        "1 = 1 union select 2",
        "t.a = 1",
        "a = = b",
        "(" * 500,
        "a > 1) ; else delete from t",
        "null ) , ; else",
        "a) ; ; else",
        "a > 1) or (true",
        "2 ) in ( true",
    ],
)
def test_what_is_no_expression_is_refused(given):
    """In plain words."""
    with pytest.raises(ValueError, match=r"expression|name alone"):
        parsed(given)


def test_a_number_is_kept_as_it_was_written():
    """A whole number is an integer, and any other one exact."""
    assert parsed("a + 0.1") == Arithmetic("+", Column("a"), Literal(Decimal("0.1")))
    assert [
        node.value for node in walk(parsed("a in (-1, 1e3, 12345678901234567890123)")) if isinstance(node, Literal)
    ] == [
        -1,
        Decimal(1000),
        12345678901234567890123,
    ]


def test_an_expression_may_be_long_and_not_deep():
    """A long chain is flat; what is too deep or too large is refused, whatever the recursion limit of Python."""
    assert len(columns(parsed(" or ".join(f"c{k} = 1" for k in range(300))))) == 300
    assert len(parsed(f"a in ({', '.join(map(str, range(1500)))})").items) == 1500
    for given in ("not " * (DEEPEST + 1) + "a", "abs(" * 3000 + "a" + ")" * 3000, " or ".join(["a = 1"] * 3000)):
        with pytest.raises(ValueError, match="expression"):
            parsed(given)


def test_other_objects_are_refused():
    """By their type."""
    with pytest.raises(TypeError, match="must be a text, or one of polars or DuckDB, got int"):
        parsed(3)
