"""The syntax of a statement: one select of sqlglot, of which every clause is on a list of allowed ones.

What is not on the list is refused with the reason: it could make a row of the result depend on several rows of the
table, or one row of the table change several rows of the result.
"""

from collections.abc import Collection
from typing import Any, NoReturn

from nobounds.exact import shown
from nobounds.expressions.sql import after_semicolon, import_sqlglot

LONGEST = 100_000
"""Characters of a statement."""
DEEPEST = 20
"""Selects within each other, by subqueries and views."""

SEVERAL = "it looks at several rows at once"
_OFTEN = "a row would count in several groups; group by columns"
_REASONS = {
    "all": ("group by all", "name the columns of the groups"),
    "distinct": ("distinct", f"{SEVERAL}; leave it out, since a row counts once"),
    "limit": ("limit", f"{SEVERAL}; choose rows by where, or cut the answers afterwards"),
    "offset": ("offset", f"{SEVERAL}; choose rows by where, or cut the answers afterwards"),
    "group": ("group by in a subquery", "a row of the result is made of several rows; group in the statement itself"),
    "having": ("having", "it would look at exact aggregates; filter the answers afterwards"),
    "qualify": ("qualify", "it filters by a window function, which looks at several rows at once"),
    "windows": ("window", f"{SEVERAL}; compute from the columns of one row"),
    "order": ("order by", "answers have an order of their own; sort them afterwards"),
    "sample": ("tablesample", "epsilon is stated for all rows; leave it out"),
    "laterals": ("lateral", "it can make several rows of one"),
    "pivots": ("pivot", "it makes rows of columns, or columns of rows"),
    "connect": ("connect by", "it can make several rows of one"),
    "match": ("match_recognize", SEVERAL),
    "into": ("select into", "a statement reads, and writes nothing"),
    "locks": ("for update", "a statement reads, and locks nothing"),
    "exclude": ("exclude", "name the columns that you need"),
}
_KINDS = {
    "Union": ("union", "a row of the table could be in both parts; state one select"),
    "Except": ("except", f"{SEVERAL}; state one select"),
    "Intersect": ("intersect", f"{SEVERAL}; state one select"),
    "Rollup": ("rollup", _OFTEN),
    "Cube": ("cube", _OFTEN),
    "GroupingSets": ("grouping sets", _OFTEN),
    "Values": ("values", "name a table"),
    "Unnest": ("unnest", "it makes several rows of one"),
    "Lateral": ("lateral", "it can make several rows of one"),
    "TableFromRows": ("a function in from", "name a table"),
    "Pivot": ("pivot", "it makes rows of columns, or columns of rows"),
}


def select(text: str, dialect: str | None = None) -> Any:
    """The one select of a text; ValueError if it is something else."""
    if not isinstance(text, str):
        raise TypeError(f"a statement must be a text, got {type(text).__name__}")
    if len(text) > LONGEST:
        raise ValueError(f"a statement may have at most {LONGEST} characters, got {len(text)}")
    sqlglot = import_sqlglot()
    try:
        parsed = [each for each in sqlglot.parse(text, read=dialect) if each is not None]
    except (sqlglot.errors.SqlglotError, RecursionError):
        raise ValueError(f"{shown(text)} is not an SQL statement that nobounds can read") from None
    statements = [each for each in parsed if type(each).__name__ != "Semicolon"]  # one that a comment follows
    if len(statements) == 1 and after_semicolon(text, dialect):
        raise ValueError("a statement must be one select, and nothing may follow its semicolon")
    if len(statements) != 1:
        raise ValueError(f"a statement must be one select, got {len(statements) or 'none'}")
    return selected(statements[0])


def selected(given: Any) -> Any:
    """A select, perhaps in parentheses."""
    for _ in range(DEEPEST):
        if type(given).__name__ not in ("Paren", "Subquery"):
            break
        only(given, ("this",), "a select in parentheses")
        given = given.this
    kind = type(given).__name__
    if kind in _KINDS:
        refused(*_KINDS[kind])
    if kind != "Select":
        what = "a function alone" if kind == "Anonymous" else kind.lower()
        raise ValueError(f"a statement must be one select, got {what}; write select private_mean(fare) from taxis")
    return given


def clauses(given: Any) -> dict[str, Any]:
    """The parts of a node that are there, by name."""
    return {name.rstrip("_"): part for name, part in given.args.items() if part or part == 0}


def only(given: Any, allowed: Collection[str], what: str) -> dict[str, Any]:
    """The parts of a node, all of which must be allowed."""
    parts = clauses(given)
    for name in parts:
        if name not in allowed:
            refused(
                *_REASONS.get(name, (f"{name.replace('_', ' ')} in {what}", "it is not in the list of what may be"))
            )
    return parts


def refuse_kind(given: Any) -> NoReturn:
    """Refuse what stands where a table should."""
    kind = type(given).__name__
    refused(*_KINDS.get(kind, (shown(given.sql()), "name a table, or a select on one in parentheses")))


def refused(what: str, why: str) -> NoReturn:
    """The error for something that a private statement may not have."""
    raise ValueError(f"{what} is not allowed in a private statement: {why}")
