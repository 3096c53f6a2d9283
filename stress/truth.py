"""What answers must be: the same again in a clean process, and near the truth where the noise is sure to be small.

An answer is made again from its seed. Where privacy is for rows added or removed, that is done on plain numpy columns,
whatever form the table had; and a CSV file with spoilt rows is replaced by one in which these are empty.
"""

import json
import math
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from nobounds.accounting.loss import rows_of
from stress.calls import SURE, Call, ask, draw, table_of
from stress.faults import garbled
from stress.tables import COMPUTED, Columns, columns_of, written
from stress.worker import made

# The noise is larger than this many scales less often than once in 10**25 calls.
_LAPLACE, _GAUSS = 60.0, 12.0


def judge(seed: int, life: int, number: int, answer: str) -> str | None:
    """What is wrong with the answer to a call, if anything is."""
    call = draw(seed, life, number)
    expected = again(call)
    if _sorted(expected) != _sorted(answer):
        return f"{_words(call)}: the answer differs from that of a clean process"
    spent = json.loads(answer)["loss"][call.spending]
    if spent is None or Fraction(repr(spent)) > Fraction(call.amount):
        return f"{_words(call)}: it cost {spent}"
    error = None if call.file_fault else far_off(call, json.loads(answer), columns_of(call.seed, call.rows))
    return None if error is None else f"{_words(call)}: {error}"


def again(call: Call) -> str:
    """The answer to a call, made again with no fault but those of the files; or the error."""
    clean = call
    with tempfile.TemporaryDirectory() as folder:
        if call.form == "csv" and call.fault == "rows are garbled":
            return _repaired(call, Path(folder))
        if not call.file_fault and not call.form.startswith("csv") and call.neighbors == "add-remove":
            clean = replace(call, form="numpy")
        try:
            release = made(clean, Path(folder), None)
        except Exception as error:
            return type(error).__name__
        if clean is not call:
            release.parameters.update(rows_of(call.form in COMPUTED))
        answer: str = release.to_json()
        return answer


def _sorted(answer: str) -> str:
    """An answer with its names in order; the name of an error as it is."""
    try:
        return json.dumps(json.loads(answer), sort_keys=True)
    except ValueError:
        return answer


def _repaired(call: Call, folder: Path) -> str:
    """The answer for a CSV file in which spoilt fields are empty."""
    (path,) = written(call.form, columns_of(call.seed, call.rows), folder)
    path.write_bytes(b"\n".join(garbled(call, path.read_bytes().split(b"\n"), spoilt=False)))
    answer: str = ask(call, table_of(call, str(path), None)).to_json()
    return answer


def far_off(call: Call, answer: dict[str, Any], columns: Columns) -> str | None:
    """How an answer is outside of where it must be, if it is."""
    if call.by and call.private_keys:
        known = {str(key) for key in columns[call.by].tolist()}
        if not {str(key) for key in answer["keys"][call.by]} <= known:
            return "a key is shown that nobody has"
    if call.statistic in ("rows", "count"):
        return _count_off(call, answer, columns)
    if call.amount != SURE or call.statistic not in ("quantile", "maximum", "minimum", "sum", "mean"):
        return None
    for key, value in _by_key(call, answer):
        records = _records(call, columns, key)
        if len(records) < 50:
            continue
        low, high = _region(call, np.sort(records))
        if not low <= value <= high:
            return f"{value} is not between {low} and {high}"
    return None


def _count_off(call: Call, answer: dict[str, Any], columns: Columns) -> str | None:
    if call.rows_per_unit and call.by:
        return None  # which rows of a unit stay is up to chance
    rows, amount = max(call.rows_per_unit, 1), float(Fraction(call.amount)) * (0.75 if call.private_keys else 1)
    slack = rows * (_LAPLACE / amount if call.spending == "epsilon" else _GAUSS / math.sqrt(2 * amount))
    for key, value in _by_key(call, answer):
        there = _present(call, columns) & _inside(call, columns, key)
        users = np.unique(columns["user"][there], return_counts=True)[1]
        truth = int(np.minimum(users, call.rows_per_unit).sum()) if call.rows_per_unit else int(there.sum())
        if call.neighbors == "swap" and call.statistic == "rows":
            slack = 0.0
        if abs(value - truth) > slack:
            return f"{value} is more than {slack:.3g} from {truth}"
    return None


def _region(call: Call, records: Any) -> tuple[float, float]:
    """Where a statistic of sorted records must be at the largest epsilon."""
    n, off = len(records), 3 + len(records) // 20
    if call.statistic == "sum":
        # A clip leaves a few records outside, however large they are, and is within an octave of the next.
        sizes = np.sort(np.abs(records))
        inner, above = np.clip(records, -sizes[max(n - 1 - off, 0)] / 2, sizes[max(n - 1 - off, 0)] / 2), records > 0
        ends = float(np.where(above, inner, records).sum()), float(np.where(above, records, inner).sum())
        bar = 0.02 * float(sizes.sum()) + 1
        return ends[0] - bar, ends[1] + bar
    if call.statistic == "mean":
        middle, bar = float(records.mean()), 0.3 * float(np.abs(records).max())
        return middle - bar, middle + bar
    rank = {"maximum": 1.0, "minimum": 0.0}.get(call.statistic) if call.statistic != "quantile" else float(call.q)
    assert rank is not None
    at = round(rank * (n - 1))
    low, high = float(records[max(at - off, 0)]), float(records[min(at + off, n - 1)])
    return low - 0.02 * abs(low) - 1, high + 0.02 * abs(high) + 1


def _by_key(call: Call, answer: dict[str, Any]) -> list[tuple[Any, float]]:
    if not call.by:
        return [(None, answer["value"])]
    return list(zip(answer["keys"][call.by], answer["values"], strict=True))


def _inside(call: Call, columns: Columns, key: Any) -> Any:
    column = columns["user"] if key is None else columns[call.by]
    return np.ones(len(column), dtype=bool) if key is None else column.astype(str) == str(key)


def _present(call: Call, columns: Columns) -> Any:
    missing = np.zeros(len(columns["user"]), dtype=bool)
    return ~(np.isnan(columns["amount"]) if (call.statistic, call.column) == ("count", "amount") else missing)


def _records(call: Call, columns: Columns, key: Any) -> Any:
    records = columns[call.column][_inside(call, columns, key)].astype(np.float64)
    return records[~np.isnan(records)]


def _words(call: Call) -> str:
    by = f" by {call.by}" if call.by else ""
    return f"call {call.name}, {call.statistic} of {call.column}{by} in {call.form} for {call.spending} {call.amount}"
