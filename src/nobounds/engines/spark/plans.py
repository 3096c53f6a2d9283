"""What the plan of a Spark DataFrame shows: whether each pass sees the same rows, and whether reading them is cheap.

A plan is public. Spark Connect does not show it to the client.
"""

from typing import Any

_COLUMNS = ("ParquetFileFormat", "OrcFileFormat")
"""Formats of files in which a column is read without the others."""

_READING = ("Project", "Filter", "SubqueryAlias", "LogicalRelation")


def check_deterministic(frame: Any) -> None:
    """ValueError if a plan makes other rows each time, as far as the plan shows it."""
    plan = _plan(frame, "analyzed")
    if plan is not None and not plan.deterministic():
        raise ValueError(
            "the DataFrame computes random or changing values, so each pass would see other rows; write it to Parquet "
            "and read that, or use df.checkpoint()"
        )


def is_stored(frame: Any) -> bool:
    """Whether rows are columns of a fixed list of files, so that another pass costs no more than to read kept rows."""
    plan = _plan(frame, "optimizedPlan")
    return plan is not None and all(_is_reading(node) for node in _nodes(plan))


def tasks_of(frame: Any) -> int | None:
    """How many tasks read stored rows or kept ones, None where plans cannot be seen."""
    return None if _plan(frame, "analyzed") is None else int(frame._jdf.queryExecution().toRdd().getNumPartitions())


def _plan(frame: Any, stage: str) -> Any:
    """A plan in the JVM, if it can be seen here."""
    jvm = getattr(frame, "_jdf", None) if "connect" not in type(frame).__module__ else None
    return None if jvm is None else getattr(jvm.queryExecution(), stage)()


def _nodes(plan: Any) -> list[Any]:
    children = plan.children()
    return [plan, *(node for k in range(children.size()) for node in _nodes(children.apply(k)))]


def _is_reading(node: Any) -> bool:
    """Whether a node of a plan reads files in place, or selects from what does so."""
    if node.nodeName() not in _READING or "Python" in node.expressions().toString():
        return False
    if node.nodeName() != "LogicalRelation":
        return True
    relation = node.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        return False
    is_fixed = relation.location().getClass().getSimpleName() == "InMemoryFileIndex"
    return is_fixed and relation.fileFormat().getClass().getSimpleName() in _COLUMNS
