"""One table in every format: the same answers, keys and units; and what a schema and `columns` say of it."""

import json
import random
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import openpyxl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from support.csv_files import HEADER

import nobounds as nb
from nobounds.engines.files.paths import from_paths
from nobounds.engines.schemas.known import column_types

ROWS = 900
TYPES = {
    "x": "number",
    "n": "integer",
    "b": "boolean",
    "city": "text",
    "who": "integer",
    "day": "date",
    "at": "datetime(Europe/Berlin)",
    "clock": "time",
    "span": "duration",
    "paid": "decimal(12,2)",
}
FORMATS = ["csv", "csv.gz", "tsv", "jsonl", "ndjson.gz", "arrow", "stream.ipc", "feather", "xlsx"]


def table(rows=ROWS):
    """A table with a column of each type, and with missing records in all of them but the units."""
    draw = random.Random(3)
    values = {
        "x": lambda: draw.lognormvariate(3, 1),
        "n": lambda: draw.randint(-5, 40),
        "b": lambda: draw.random() < 0.3,
        "city": lambda: draw.choice(["Bonn", "Köln", "a,b", 'say "x"']),
        "who": lambda: draw.randrange(rows // 3),
        "day": lambda: date(2020, 1, 1) + timedelta(days=draw.randrange(900)),
        "at": lambda: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=draw.randrange(10**7)),
        "clock": lambda: time(draw.randrange(24), draw.randrange(60), draw.randrange(60)),
        "span": lambda: timedelta(seconds=draw.randrange(10**5)),
        "paid": lambda: Decimal(draw.randrange(10**6)) / 100,
    }
    columns = {name: [values[name]() for _ in range(rows)] for name in TYPES}
    for name in set(TYPES) - {"who"}:
        columns[name][::17] = [None] * len(columns[name][::17])
    kinds = {name: rule.arrow for name, rule in nb.Schema(TYPES).columns.items()}
    return pa.table({name: pa.array(columns[name], kinds[name]) for name in TYPES})


def texts(value, marks):
    if value is None:
        return ""
    if isinstance(value, timedelta):
        return f"{value // timedelta(hours=1)}:{value // timedelta(minutes=1) % 60:02}:{value.seconds % 60:02}"
    text = value.isoformat() if isinstance(value, date | time) else str(value)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in marks) else text


def written(folder, format, data):
    """The table as a file of a format; the keywords of a Table that opens it come with the path."""
    path = folder / f"people.{format}"
    rows = data.to_pylist()
    if "csv" in format or "tsv" in format:
        mark = "\t" if "tsv" in format else ","
        lines = [mark.join(data.column_names)]
        lines += [mark.join(texts(value, f'"{mark}') for value in row.values()) for row in rows]
        raw = ("\n".join(lines) + "\n").encode()
    elif "json" in format:
        plain = [
            {
                name: texts(value, "") if isinstance(value, date | time | timedelta | Decimal) else value
                for name, value in row.items()
            }
            for row in rows
        ]
        raw = "".join(json.dumps(row) + "\n" for row in plain).encode()
    elif format == "xlsx":
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet("people")
        sheet.append(data.column_names)
        for row in rows:
            sheet.append(
                [value.replace(tzinfo=None) if isinstance(value, datetime) else value for value in row.values()]
            )
        book.save(path)
        return path, {"schema": TYPES}
    else:
        if format == "feather":
            feather.write_feather(data, str(path))
        else:
            opened = pa.ipc.new_stream if format == "stream.ipc" else pa.ipc.new_file
            with opened(str(path), data.schema) as writer:
                writer.write_table(data, max_chunksize=100)
        return path, {}
    if format.endswith("gz"):
        import gzip

        raw = gzip.compress(raw)
    path.write_bytes(raw)
    return path, {"schema": TYPES} | ({} if "json" in format else {"csv": HEADER})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The table in each format."""
    folder, data = tmp_path_factory.mktemp("formats"), table()
    pq.write_table(data, folder / "people.parquet")
    return {"parquet": (folder / "people.parquet", {})} | {format: written(folder, format, data) for format in FORMATS}


def asked(opened):
    """Answers of many statistics, with the same noise each time."""
    answers = []
    for name in [name for name in TYPES if name not in ("city", "who")]:
        answers.append(opened().quantile(name, 0.4, epsilon=20, rng=random.Random(1)))
        answers.append(opened().count(name, epsilon=20, rng=random.Random(2)))
    # Excel keeps 15 digits of a number, so the last ones of an answer that is no grid point may differ.
    answers.append(opened().describe(["x", "n", "b"], epsilon=50, resolution={"x": 0.001}, rng=random.Random(3)))
    groups = opened().group_by("city", keys=["Bonn", "Köln", "a,b", 'say "x"'])
    answers.append(groups.mean("x", epsilon=50, rng=random.Random(4)))
    answers.append(opened().sum("paid", epsilon=50, rng=random.Random(8)))
    answers.append(opened().mean("at", epsilon=50, rng=random.Random(9)))
    days = [date(2020, 1, 1) + timedelta(days=k) for k in range(3)]
    answers.append(opened().group_by("day", keys=days).count(epsilon=50, rng=random.Random(10)))
    answers.append(opened().group_by("n", "b", delta=1e-3).count(epsilon=50, rng=random.Random(5)))
    users = opened(unit="who", rows_per_unit=2)
    answers.append(users.sum("n", epsilon=50, rng=random.Random(6)))
    answers.append(opened(neighbors="swap").mean("x", epsilon=20, rng=random.Random(7)))
    return [answer.to_json() for answer in answers]


@pytest.mark.medium
@pytest.mark.parametrize("format", FORMATS)
def test_a_format_changes_no_answer(files, format):
    """Quantiles, counts, sums, means, groups by text, by whole numbers and by booleans, units; both relations."""

    def opened(name):
        path, options = files[name]
        return lambda **others: nb.Table(path, **options, **others)

    assert asked(opened(format)) == asked(opened("parquet"))


@pytest.mark.parametrize("format", [*FORMATS, "parquet"])
def test_the_types_of_all_formats_are_those_of_the_schema(files, format):
    """By the file's own schema or by the stated one, which may be stated for each of them."""
    path, options = files[format]
    stream = from_paths([path], **options)
    assert column_types(stream) == TYPES
    csv = options.get("csv")
    again = from_paths([path], schema=nb.Schema(TYPES, csv=csv))
    assert (again.facts, again.kinds) == (from_paths([path], csv, TYPES).facts, stream.kinds)


def test_a_file_with_types_of_its_own_is_not_read_by_others(files):
    """A schema that states another type, or another column, is refused."""
    for format in ("parquet", "arrow"):
        with pytest.raises(ValueError, match="column 'x' is of type number in the file, got integer in the schema"):
            nb.Table(files[format][0], schema={"x": "integer"})
        with pytest.raises(ValueError, match="column 'y' of the schema is not in the file"):
            nb.Table(files[format][0], schema={"y": "integer"})
        with pytest.raises(ValueError, match="csv is for CSV files"):
            nb.Table(files[format][0], csv=nb.Csv(header=True))


def test_files_of_several_formats_are_no_table(files):
    """All files of a table are of one format."""
    with pytest.raises(ValueError, match="must all be of one format"):
        nb.Table([files["parquet"][0], files["arrow"][0]])
    one, options = files["jsonl"]
    both = from_paths([one, files["ndjson.gz"][0]], **options)
    assert both.rows() == 2 * ROWS
