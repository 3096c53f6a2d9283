"""What the plan of a Spark DataFrame shows: whether each pass sees the same rows, and whether reading them is cheap.

A plan is public. Spark Connect does not show it to the client.
"""

import math
import re
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

_COLUMNS = ("ParquetFileFormat", "OrcFileFormat")
"""Formats of files in which a column is read without the others."""

_READING = ("Project", "Filter", "SubqueryAlias", "LogicalRelation")


def check_deterministic(frame: Any) -> None:
    """ValueError if a plan makes other rows each time, as far as the plan shows it."""
    plan = _plan(frame, "analyzed")
    if plan is not None and not (plan.deterministic() and _is_timeless(frame, plan)):
        raise ValueError(
            "the DataFrame computes random or changing values, so each pass would see other rows; write it to Parquet "
            "and read that, or use df.checkpoint()"
        )


def _is_timeless(frame: Any, plan: Any) -> bool:
    """Whether a plan looks at no clock. Spark calls now() deterministic: it is one moment for each job."""
    with suppress(Exception):  # a rule of Spark's own, which puts that moment into a plan
        rule = frame.sparkSession._jvm.org.apache.spark.sql.catalyst.optimizer.ComputeCurrentTime
        return bool(rule.apply(plan).equals(plan))
    return True


def is_stored(frame: Any) -> bool:
    """Whether rows are columns of a fixed list of files, so that another pass costs no more than to read kept rows."""
    plan = _plan(frame, "optimizedPlan")
    return plan is not None and all(_is_reading(node) for node in _nodes(plan))


def tasks_of(frame: Any) -> int | None:
    """How many tasks read stored rows or kept ones, None where plans cannot be seen."""
    return None if _plan(frame, "analyzed") is None else int(frame._jdf.queryExecution().toRdd().getNumPartitions())


def most_bytes(frame: Any) -> float:
    """How much the tasks of a job may send to the driver."""
    setting = str(frame.sparkSession.conf.get("spark.driver.maxResultSize", "1g"))
    known = re.fullmatch(r"(\d+)([kmgtp]?)b?", setting.strip().lower())
    if known is None:
        return 0
    return int(known[1]) * 1024.0 ** " kmgtp".index(known[2] or " ") or math.inf


def with_one_shuffle_task(frame: Any) -> Any:
    """The same rows, by a plan whose shuffles end in one task of the same job: for results of few rows.

    Spark would plan 200 tasks, run the shuffle as a job of its own to see how few it needs, and plan again, which takes
    longer than the query. The settings are those of a copy of the session, so that the user's own stay as they are.
    Where plans cannot be seen, it is the frame itself.
    """
    plan = _plan(frame, "analyzed")
    if plan is None:
        return frame
    with suppress(Exception):  # these classes are Spark's own, and may be others in another version
        session, own = frame.sparkSession, frame._jdf.sparkSession()
        settings = own.conf().getAll().hashCode()
        if _copies.get(session, (None, None))[0] != settings:
            copy = own.cloneSession()
            for name, value in _ONE_TASK.items():
                copy.conf().set(name, value)
            _copies[session] = settings, copy
        rows = session._jvm.org.apache.spark.sql.classic.Dataset.ofRows(_copies[session][1], plan)
        return type(frame)(rows, session)
    return frame


_ONE_TASK = {"spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "false"}
_copies: "WeakKeyDictionary[Any, tuple[int, Any]]" = WeakKeyDictionary()
"""Of each session, a copy with these settings, and what tells whether its other settings are still the same."""


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
