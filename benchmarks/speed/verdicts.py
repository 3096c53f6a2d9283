"""Bars and whether they are met, as a table for docs/speed.md."""

from collections.abc import Iterable


def verdicts(heading: str, rows: Iterable[tuple[str, float, float]]) -> str:
    """A row for each name with the most that is allowed and what was measured."""
    text = f"| {heading} | at most | measured | |\n|---|---|---|---|\n"
    return text + "".join(
        f"| {name} | {most:g} | {measured:.3g} | {'met' if measured <= most else 'missed'} |\n"
        for name, most, measured in rows
    )
