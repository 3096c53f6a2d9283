"""Expressions of polars and DuckDB as our tree: they keep the rows that their own library keeps."""

import random
from datetime import UTC, date, datetime, time
from decimal import Decimal

import duckdb
import polars as pl
import pytest
from support import filters

from nobounds.expressions.check import condition, formula
from nobounds.expressions.evaluate import Rows, computed, kept
from nobounds.expressions.from_polars import parsed as from_polars
from nobounds.expressions.given import expression
from nobounds.expressions.text import text
from nobounds.expressions.types import of_arrow
from nobounds.expressions.view import View, named

COLUMNS = filters.records(200, seed=3)
COLUMNS["f"] = [None if x is None or x != x else x for x in COLUMNS["f"]]  # NaN is a number in polars and DuckDB
COLUMNS["j"][0] = 1
TABLE = filters.arrow(COLUMNS)
TYPES = {field.name: of_arrow(field.type) for field in TABLE.schema}
ROWS = Rows({name: TABLE[name].combine_chunks() for name in TABLE.column_names}, {}, len(TABLE))

col, lit = pl.col, pl.lit
POLARS = [
    (col("j") >= 2) & col("s").is_in(["NY", "a"]),
    ~(col("g") < 1.5) | col("b").is_null(),
    col("j").is_between(1, 5, closed="left"),
    col("j").is_between(1, 5, closed="none") | col("g").is_between(0.5, 1),
    (-col("g")).abs() + 1 > col("j") * 2 - 1,
    col("d") >= date(2024, 3, 1),
    col("t") >= datetime(2024, 1, 15),
    col("z") < datetime(2024, 2, 1, tzinfo=UTC),
    col("j").fill_null(0) == 0,
    pl.coalesce("j", "i") > 3,
    col("b").not_() & lit(True),
    col("j").is_not_null(),
    col("j") % 3 == 1,
    col("j") % -3 == -1,
    col("j").is_in([1, 2, None]),
    col("d").is_in([date(2024, 2, 29)]),
    pl.all_horizontal("b", "c") | pl.any_horizontal(col("j") == 0, "b"),
    (col("j") / 4).floor() == 0,
    col("m") > Decimal("1.25"),
    col("i") > 2**53,
    (col("s") > "a").alias("named"),
    col("j").cast(pl.Float64) / 2 > 1.25,
    col("j") != 0,
]


@pytest.mark.parametrize("given", POLARS, ids=[str(k) for k in range(len(POLARS))])
def test_polars_expressions_keep_the_rows_that_polars_keeps(given):
    """The same rows, and a text that is read back."""
    frame = pl.from_arrow(TABLE)
    mine = kept(condition(expression(given), TYPES), ROWS)
    assert [k for k, keep in enumerate(mine) if keep] == frame.filter(given)["id"].to_list(), text(expression(given))
    again = kept(condition(expression(text(expression(given))), TYPES), ROWS)
    assert (mine == again).all()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (col("a").sum() > 1, "the aggregate"),
        (col("a").sum().over("b") > 1, "the window"),
        (col("a").map_elements(lambda x: x, return_dtype=pl.Int64) > 1, "a function of Python"),
        (col("a").shift(1) > 1, "the polars function Shift"),
        (col("a").cum_sum() > 1, "the polars function CumSum"),
        (col("a").shuffle() > 1, "the polars function .*"),
        (col("a").rank() > 1, "the polars function Rank"),
        (pl.len() > 1, "the number of rows"),
        (col("a", "b") > 1, "a selection of several columns"),
        (col("^a.*$") > 1, "a selection of several columns"),
        (pl.when(col("a") > 1).then(1).otherwise(2) > 1, "when, then and otherwise"),
        (col("a").str.starts_with("x"), "the polars function StartsWith"),
        (col("a").is_nan(), "the polars function IsNan"),
        (col("a").eq_missing(1), "the polars operator EqValidity"),
        (col("a") // 2 == 1, "the polars operator FloorDivide"),
        (col("a").cast(pl.Int8) == 1, "a cast to the polars type Int8"),
        (col("a") > float("inf"), "a constant of the polars type .*"),
        (col("a").is_in(col("b")), "the polars function IsIn"),
        (col("a").filter(col("b")) > 1, "the polars expression Filter"),
    ],
)
def test_what_polars_has_and_a_row_has_not_is_refused_by_its_name(given, named):
    """No function of the user is called, and nothing is unpickled."""
    with pytest.raises(ValueError, match=f"^{named}.* is not allowed in an expression on rows; "):
        from_polars(given)


C, K = duckdb.ColumnExpression, duckdb.ConstantExpression
DUCKDB = [
    (C("j") > K(2)) & C("s").isin(K("NY"), K("a")),
    (C("j") != 0) & (C("g") / C("j") < 1),  # DuckDB divides by 0
    C("d") >= K(date(2024, 3, 1)),
    C("t") >= K(datetime(2024, 1, 15)),
    C("z") < K(datetime(2024, 2, 1, tzinfo=UTC)),
    (-C("g") + 1.5) * 2 > C("j") % 3,
    duckdb.CoalesceOperator(C("j"), K(1)) == K(1),
    C("j").between(1, 3) | C("b"),
    duckdb.SQLExpression("abs(j) = 3 or s <> 'a'"),
    C("m") > K(Decimal("1.25")),
    C("j").isnotin(K(1), K(2)),
]


@pytest.mark.parametrize("given", DUCKDB, ids=[str(k) for k in range(len(DUCKDB))])
def test_duckdb_expressions_keep_the_rows_that_duckdb_keeps(given):
    """DuckDB writes them as SQL."""
    mine = kept(condition(expression(given), TYPES), ROWS)
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        theirs = connection.from_arrow(TABLE).filter(given).order("id").project("id").fetchall()
    assert [k for k, keep in enumerate(mine) if keep] == [row[0] for row in theirs], text(expression(given))


def test_duckdb_functions_are_refused_by_their_names():
    """As in SQL."""
    with pytest.raises(ValueError, match="the function random is not allowed"):
        expression(duckdb.FunctionExpression("random") < K(1))


def test_a_view_adds_conditions_and_stands_for_formulas():
    """Computed columns are replaced by their formulas; conditions are joined by and."""
    view = View(TYPES).with_columns({"k": col("j") * 2, "w": "j = 1"})
    view = view.where("k > 2 and w").where(pl.col("g") < 3)
    assert view.text == "j * 2 > 2 and j = 1 and g < 3"
    assert view.needed([]) == (["j", "g"], [])
    assert named("a + b > a") == ("a", "b")
    assert not view.kept(ROWS).any()
    assert view.computed("k", ROWS).to_pylist()[0] == 2


def test_times_and_random_formulas_of_polars():
    """Other constants of polars."""
    assert text(from_polars(col("x") >= time(3, 4, 5))) == "x >= time '03:04:05'"
    assert text(from_polars(lit(None) == lit("x"))) == "null = 'x'"
    rng = random.Random(1)
    for _ in range(20):
        a, b = rng.randrange(-9, 9), rng.choice([-3, -2, 2, 5])
        made = (col("j") * a) % b
        tree, _ = formula(from_polars(made), TYPES)
        assert computed(tree, ROWS).to_pylist() == pl.from_arrow(TABLE).select(made).to_series().to_list()
