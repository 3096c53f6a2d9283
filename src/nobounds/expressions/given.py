"""Expressions as users give them: SQL text, an expression of polars, or one of DuckDB."""

import sys
from typing import Any

from nobounds.expressions import from_polars, sql
from nobounds.expressions.tree import Node


def expression(given: Any) -> Node:
    """The tree of an expression, not checked yet; a tree is its own."""
    if isinstance(given, Node):
        return given
    polars, duckdb = sys.modules.get("polars"), sys.modules.get("duckdb")
    if polars is not None and isinstance(given, polars.Expr):
        return from_polars.parsed(given)
    if duckdb is not None and isinstance(given, duckdb.Expression):
        return sql.parsed(str(given))  # DuckDB writes an expression as SQL
    return sql.parsed(given)
