"""JSON lines: what is a row, and what is a value."""

import json
import math
import random
from decimal import Decimal

import pytest

import nobounds as nb
from nobounds.engines.files import json_lines
from nobounds.engines.files.json_lines import from_json_lines
from nobounds.engines.schemas.schema import Schema

ALL = Schema({"x": "number", "n": "integer", "s": "text", "b": "boolean", "d": "decimal(12,2)"})


def read(path, lines, schema=ALL):
    """The values of the columns in the lines, which may be bytes."""
    path.write_bytes(b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines))
    stream = from_json_lines([path], schema)
    columns = {name: [] for name in schema.columns}
    for batch in stream.batches(list(schema.columns), []):
        for name in columns:
            columns[name] += batch.column(name).to_pylist()
    assert stream.rows() == len(next(iter(columns.values())))
    return columns


def test_values_are_of_their_types(tmp_path):
    """A value of another type is missing, and numbers are what is written."""
    lines = [
        '{"x": 1.5, "n": 3, "s": "a", "b": true, "d": 12.345}',
        '{"x": "1.5", "n": 3.5, "s": 7, "b": "true", "d": "12.30"}',
        '{"x": true, "n": 1e3, "s": null, "b": 1, "d": false}',
        '{"x": 1e999, "n": 9223372036854775808, "s": ["a"], "b": {}, "d": 1e400}',
        '{"x": NaN, "n": 4.0, "s": "\\ud800", "b": null, "d": "x"}',
    ]
    columns = read(tmp_path / "a.jsonl", lines)
    assert columns == {
        "x": [1.5, None, None, math.inf, None],
        "n": [3, None, None, None, 4],
        "s": ["a", None, None, None, columns["s"][4]],
        "b": [True, None, None, None, None],
        "d": [Decimal("12.34"), Decimal("12.30"), None, None, None],
    }
    assert len(columns["s"][4]) == 3  # the bytes of a lone surrogate, as in other engines


@pytest.mark.medium
def test_a_broken_line_is_one_missing_row(tmp_path, monkeypatch):
    """Whatever bytes a line has, all others keep their values."""
    monkeypatch.setattr(json_lines, "_LINES", 7)
    draw = random.Random(1)
    good = [json.dumps({"x": k, "n": k, "s": str(k), "b": k % 2 == 0, "d": str(k)}) for k in range(40)]
    wanted = read(tmp_path / "a.jsonl", good)
    hostile = [b"", b" ", b"{", b"[1]", b"3", b'"x"', b"null", b"[" * 10**5, b'{"x":' * 10**5, b"\xff\xfe\x00", b"}{"]
    hostile += [b'{"x": 1} {"x": 2}', b'{"x": ' + b"9" * 5000 + b"5, }", b'{"x": 01}', b"\x00" * 50, b'{"x": "\xc3"}']
    hostile += [bytes(draw.choices([k for k in range(256) if k != 10], k=30)) for _ in range(30)]
    for place, line in enumerate(hostile):
        at = place % len(good)
        columns = read(tmp_path / "a.jsonl", [*good[:at], line, *good[at:]])
        for name, values in columns.items():
            assert values == [*wanted[name][:at], None, *wanted[name][at:]], line[:50]


def test_a_field_may_be_long_repeated_or_absent(tmp_path, monkeypatch):
    """Thousands of digits are a number, the last of two fields counts, and over-long lines are missing."""
    lines = [
        '{"x": ' + "9" * 5000 + "}",
        '{"x": 1, "x": 2}',
        '{"y": 1}',
        "\ufeff" + '{"x": 3}',
        '{"x": 4}\r',
        '{"n": 5}',
    ]
    assert read(tmp_path / "a.jsonl", lines)["x"] == [math.inf, 2.0, None, 3.0, 4.0, None]
    monkeypatch.setattr(json_lines, "LONGEST", 30)
    monkeypatch.setattr(json_lines.lines, "__defaults__", (30,))
    padded = ['{"x": 1}', '{"x": 2' + " " * 50 + "}", '{"x": 3}']
    assert read(tmp_path / "a.jsonl", padded)["x"] == [1.0, None, 3.0]
    (tmp_path / "b.jsonl").write_text('{"x": 1}\n{"x": 2}')  # no line end behind the last
    assert from_json_lines([tmp_path / "b.jsonl"], ALL).rows() == 2


def test_types_must_be_declared(tmp_path):
    """Without a schema, or with a column of no type, the file is refused; nothing of it is shown."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"secret": 1}\n')
    with pytest.raises(ValueError, match=r"a\.jsonl needs a schema") as refusal:
        nb.Table(path)
    assert "secret" not in str(refusal.value)
    with pytest.raises(ValueError, match="column 'x' of the schema needs a type"):
        nb.Table(path, schema={"x": None})
    table = nb.Table(path, schema={"x": "number", "day": "text"})
    assert list(table.columns) == ["x", "day"]
    with pytest.raises(ValueError, match="column 'y' is not in the table; the columns are 'x', 'day'"):
        table.mean("y", epsilon=1)


def test_marks_of_a_column_are_for_its_texts(tmp_path):
    """A JSON number has a point; a text may have a comma if the schema says so."""
    schema = Schema({"d": {"type": "money", "decimal": ",", "missing": ["-1"]}})
    lines = ['{"d": 12.5}', '{"d": "1.234,50 €"}', '{"d": -1}', '{"d": "12.5"}']
    assert read(tmp_path / "a.jsonl", lines, schema)["d"] == [Decimal("12.50"), Decimal("1234.50"), None, None]
