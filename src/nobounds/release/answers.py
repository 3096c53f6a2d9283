"""Several private answers that were requested together, of a table or of each of its groups, and what all of them cost.

Safe to print, keep and send.
"""

import json
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import printable, text_up
from nobounds.kinds.kind import NUMBER
from nobounds.release.answer import Answer
from nobounds.release.digits import said
from nobounds.release.frames import answer_array, end_arrays, named_table, text_array
from nobounds.release.grouped import GroupedRelease
from nobounds.release.release import Release
from nobounds.release.schema import head, loaded, type_in
from nobounds.release.words import (
    between,
    cut_in_words,
    needed_in_words,
    rows_in_words,
    rows_needed,
    shown_in_words,
    units_in_words,
)
from nobounds.values import dataclass

_SHOWN = 12  # groups in the text


@dataclass(frozen=True, slots=True, eq=False)
class Answers(Answer):
    """Private answers by name, such as `answers["mean(income)"]`, and the loss of all of them together.

    Each is a `Release`, or with groups a `GroupedRelease`, all of them with the same keys. The loss of one of them is
    what it costs alone, with the counts and the choice of keys that all of them share, so these losses add up to more
    than `loss`.
    """

    releases: dict[str, Release] | dict[str, GroupedRelease]
    loss: PrivacyLoss
    parameters: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.releases[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    @property
    def by(self) -> tuple[str, ...]:
        """The columns of the keys; none without groups."""
        first = next(iter(self.releases.values()))
        return first.by if isinstance(first, GroupedRelease) else ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            **head("answers"),
            "statistic": "agg",
            "answers": {name: release.to_dict() for name, release in self.releases.items()},
            "loss": self.loss.to_dict(),
            "parameters": dict(self.parameters),
        }

    def to_json(self) -> str:
        """The answers as one line of JSON."""
        each = {name: json.loads(release.to_json()) for name, release in self.releases.items()}
        return json.dumps(self.to_dict() | {"answers": each}, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Answers":
        """The answers that `to_json` wrote."""
        fields = loaded(text, "answers")
        releases: dict[str, Any] = {}
        for name, each in fields["answers"].items():
            kind = GroupedRelease if each.get("kind") == "groups" else Release
            releases[name] = kind.from_json(json.dumps(each))
        return cls(releases, PrivacyLoss.from_dict(fields["loss"]), dict(fields["parameters"]))

    def to_arrow(self) -> Any:
        """A pyarrow table: with groups, the keys and the columns of each answer; else a row for each number.

        Without groups its columns are `answer` (the name), `value`, `low`, `high` and `reason`. With groups each answer
        has a column called by its name, and those of its ends, rows and reason are called by the name and theirs.
        """
        if self.by:
            return self._by_group()
        cells = self.cells()
        kinds = {type_in(each.parameters).of_answer(each.statistic) for each in self.releases.values()}
        kind = kinds.pop()
        if kinds:  # answers of several types become texts, as in JSON
            texts = {
                name: text_array([None if cell is None else str(NUMBER.to_json(cell)) for cell in cells[name]])
                for name in ("value", "low", "high")
            }
            return named_table({}, cells | texts | {"reason": text_array(cells["reason"])})
        low, high = end_arrays(zip(cells["low"], cells["high"], strict=True), kind)
        arrays = {"value": answer_array(cells["value"], kind), "low": low, "high": high}
        return named_table({}, cells | arrays | {"reason": text_array(cells["reason"])})

    def cells(self) -> dict[str, list[Any]]:
        """The columns of the rows in files."""
        if self.by:
            table = self._by_group()
            return dict(zip(table.column_names, (column.to_pylist() for column in table.columns), strict=True))
        every = {name: release.cells() for name, release in self.releases.items()}
        names = [name for name, cells in every.items() for _ in cells["value"]]
        columns = ("value", "low", "high", "reason")
        return {"answer": names} | {
            column: [cell for cells in every.values() for cell in cells[column]] for column in columns
        }

    def _by_group(self) -> Any:
        keys: dict[str, Any] = {}
        columns: dict[str, Any] = {}
        many = len(self.by)
        for name, release in self._grouped.items():
            table = release.to_arrow()
            keys = dict(zip(self.by, table.columns[:many], strict=True))
            columns[name] = table.columns[many]
            for label, column in zip(table.column_names[many + 1 :], table.columns[many + 1 :], strict=True):
                columns[f"{name} {label}"] = column
        return named_table(keys, columns)

    @property
    def groups(self) -> list[Any]:
        """The keys of the groups; none without groups."""
        first = next(iter(self.releases.values()))
        return first.groups if isinstance(first, GroupedRelease) else []

    def lines(self, most: int | None = None) -> list[tuple[str, ...]]:
        """A table of texts: a row for each answer, or with groups one for each of the first `most`; the head first."""
        if not self.by:
            rows = [(name, *_cells(release)) for name, release in self.releases.items()]
            many = 3 if any(bar for *_, bar in rows) else 2  # no column of intervals where there are none
            return [row[:many] for row in (("statistic", "answer", "interval"), *rows)]
        columns = [list(column) for column in zip(self.by, strict=True)]
        for place, array in enumerate(next(iter(self._grouped.values())).arrays):
            columns[place] += [str(key) for key in array[:most].to_pylist()]
        for name, release in self._grouped.items():
            columns.append([name, *_group_cells(release, most)])
        return list(zip(*columns, strict=True))

    @property
    def _grouped(self) -> dict[str, GroupedRelease]:
        return {name: release for name, release in self.releases.items() if isinstance(release, GroupedRelease)}

    def split_in_words(self) -> str:
        """One sentence on how epsilon or rho was split."""
        split, spending = self.parameters.get("split", {}), self.parameters.get("spending", "epsilon")
        parts = ", ".join(f"{printable(part)} {text_up(amount, 2)}" for part, amount in split.items())
        return f"Split of {spending}: {parts or 'nothing'}."

    def __str__(self) -> str:
        rows = [tuple(map(printable, row)) for row in self.lines(_SHOWN)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        number = len(self.groups)
        lines += [cut_in_words(number, _SHOWN)] if number > _SHOWN else []
        notes = [
            shown_in_words(self.parameters, number, self.loss.unit) if self.by else "",
            rows_in_words(self.parameters),
            units_in_words(self.parameters, self.loss.unit),
        ]
        total = f"For {self.loss.in_words(self.parameters)}"
        return "\n".join([*lines, self.split_in_words(), total, *filter(None, notes)])


def _cells(release: Any) -> tuple[str, str]:
    """The answer and the interval of a release, in words."""
    kind, bar = type_in(release.parameters), release.interval
    why = f"not answered, {release.reason}{needed_in_words(rows_needed(release.parameters))}"
    if not release.answered:
        return why, ""
    if isinstance(release.value, tuple):
        between_them = " to " if release.statistic == "bounds" else ", "
        words = between_them.join("-" if each is None else said(each, None, kind) for each in release.value)
        return f"{words}; - is {why}" if None in release.value else words, ""
    return said(release.value, bar, kind), "" if bar is None else between(bar, kind, release.value)


def _group_cells(release: GroupedRelease, most: int | None) -> list[str]:
    """The answers of the first groups, with their intervals."""
    kind, cells = type_in(release.parameters), release.said(most)
    for k, cell in enumerate(cells):
        if cell == "-" and release.reasons is not None:
            cells[k] = str(release.reasons[k])
        elif cell != "-" and release.intervals is not None:
            cells[k] = f"{cell} ({between(release.intervals[k], kind, release.values[k])})"
    return cells
