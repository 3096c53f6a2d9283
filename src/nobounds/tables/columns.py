"""Counts of the values of one column: the public functions. Each opens the column as a table."""

from typing import Any, Unpack

from nobounds.engines.memory.frames import named_columns
from nobounds.release.grouped import GroupedRelease
from nobounds.release.release import Single
from nobounds.statistics.keywords import CountKeywords, ValueKeywords, spelled_out
from nobounds.tables.table import Table


@spelled_out
def value_counts(data: object, **options: Unpack[ValueKeywords]) -> GroupedRelease:
    """Private numbers of rows with each value of a column of text, whole numbers, booleans or dates.

    Each has a 95% interval. The values are public, `keys`; or with a `delta` those that enough rows have are chosen
    privately, by the noisy counts that are shown. The elements of a list are read as text.

    >>> import random
    >>> votes = ["yes"] * 700 + ["no"] * 300
    >>> dict(value_counts(votes, keys=["yes", "no", "maybe"], epsilon=1, rng=random.Random(1)))
    {'yes': 700, 'no': 300, 'maybe': 1}
    """
    table, name = _opened(data, options)
    return table.value_counts(name, **_spent(options))


@spelled_out
def top_k(data: object, k: int, **options: Unpack[ValueKeywords]) -> GroupedRelease:
    """Private counts of the k most frequent values of a column, the most frequent first.

    The values that are counted are those of `value_counts`. A value may be shown for a count that is large by chance,
    so the 95% intervals hold for all counted values together.

    >>> import random
    >>> names = [name for name, rows in (("ann", 500), ("bob", 300), ("cat", 200), ("dan", 5)) for _ in range(rows)]
    >>> top_k(names, 2, delta=1e-6, epsilon=1, rng=random.Random(1)).groups
    ['ann', 'bob']
    """
    table, name = _opened(data, options)
    return table.top_k(name, k, **_spent(options))


@spelled_out
def count_distinct(data: object, **options: Unpack[CountKeywords]) -> Single:
    """A private number of distinct values in a column, such as the ids of users.

    All rows of one value change it by 1 together, so a loss for one row is one for all rows of a value.

    >>> import random
    >>> count_distinct([f"user {i % 700}" for i in range(5000)], epsilon=1, rng=random.Random(1)).value
    700
    """
    table, name = _opened(data, options)
    return table.count_distinct(name, **_spent(options))


def _opened(data: object, options: Any) -> tuple[Table, str]:
    """A table of one column, and the name of the column."""
    columns = named_columns(data)
    if len(columns) != 1:
        raise TypeError("data must be one column, for example df['city']")
    ((name, column),) = columns
    facts = {name: options[name] for name in ("neighbors", "budget") if name in options}
    return Table({name: column}, **facts), name


def _spent(options: Any) -> Any:
    return {name: value for name, value in options.items() if name not in ("neighbors", "budget")}
