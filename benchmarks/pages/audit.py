"""The table of docs/audit.md by mechanism: nobounds audit --json | python benchmarks/pages/audit.py."""

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

WHOLE = ("AboveThreshold",)  # mechanisms whose variants have lines of their own
HEADS = ("mechanism", "neighbours, unit", "claims", "tight", "least ratio of the tight", "of the bounds", "largest")


def lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A line for each mechanism, relation and unit, in the order of the rows."""
    yield f"| {' | '.join(HEADS)} |"
    yield "|---" * len(HEADS) + "|"
    claims = list(rows)
    order = list(dict.fromkeys(map(_key, claims)))
    for key, group in groupby(sorted(claims, key=lambda row: order.index(_key(row))), key=_key):
        same = list(group)
        tight, bound = ([row["ratio"] for row in same if row["kind"] == kind] for kind in ("tight", "bound"))
        least = [f"{min(some):.3f}" if some else "" for some in (tight, bound)]
        name, neighbors, unit = key
        largest = max(row["ratio"] for row in same)
        yield f"| {name} | {neighbors}, {unit} | {len(same)} | {len(tight)} | {' | '.join(least)} | {largest:.3f} |"


def _key(row: dict[str, Any]) -> tuple[str, str, str]:
    name = row["mechanism"]
    short = name if name.startswith(WHOLE) else name.split(",")[0]
    how = next((way for way in (", as it runs", ", as released") if name.endswith(way) and name != short), "")
    return f"{short}{how}", row["neighbors"], row["unit"]


if __name__ == "__main__":
    print("\n".join(lines(json.load(sys.stdin)["rows"])))
