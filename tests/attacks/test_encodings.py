"""Bytes outside the encoding of a text file: they spoil their own field, and no other field of their record."""

import bz2
import gzip
import random

import pyarrow as pa
import pytest

import nobounds as nb

ROWS = 4000
OLD = 0.4  # of the rows: those with a name that ASCII does not have, and with other pay than the others
PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": lambda raw: bytes(pa.compress(raw, "zstd"))}
CSV = nb.Csv(header=True)
TYPES = {"name": "text", "shop": "text", "who": "text", "pay": "number"}


def people():
    """Names, shops, units and pay: those with an accent in the name are paid 10, and the others 15."""
    for k in range(ROWS):
        old = k < OLD * ROWS
        yield f"Ren\u00e9{k % 7}" if old else f"Bob{k % 7}", f"s{k % 2}", f"u{k // 2}", 10 if old else 15


def write(folder, suffix, encoding, form="{name},{shop},{who},{pay}\n"):
    """A file of these people in an encoding, as CSV or as JSON lines."""
    if suffix.startswith(".jsonl"):
        form, head = '{{"name": "{name}", "shop": "{shop}", "who": "{who}", "pay": {pay}}}\n', ""
    else:
        head = form.replace("{", "").replace("}", "")
    text = head + "".join(form.format(name=n, shop=s, who=w, pay=p) for n, s, w, p in people())
    path = folder / f"a{suffix}"
    packed = next(pack for end, pack in reversed(PACKED.items()) if suffix.endswith(end))
    path.write_bytes(packed(text.encode(encoding)))
    return path


def table(path, **options):
    """The table of a file that is read as UTF-8."""
    csv = {} if ".jsonl" in path.name else {"csv": CSV}
    return nb.Table(path, schema=TYPES, **csv, **options)


def asked(table):
    """Means and counts of the columns that ASCII can write, with the same noise each time."""
    options = {"epsilon": 5}
    answers = [
        table.mean("pay", rng=random.Random(1), **options),
        table.where("shop = 's0'").mean("pay", rng=random.Random(2), **options),
        table.group_by("shop", keys=["s0", "s1"]).count(rng=random.Random(3), **options),
        table.count("pay", rng=random.Random(4), **options),
    ]
    return [answer.to_dict() for answer in answers]


@pytest.mark.medium
@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_letter_outside_the_encoding_changes_no_other_column(suffix, packed, tmp_path):
    """A Latin-1 file that is read as UTF-8 has the answers of the same file in UTF-8, also with units and groups."""
    suffix += packed
    for options in ({}, {"unit": "who", "rows_per_unit": 2}):
        wrong = asked(table(write(tmp_path, suffix, "latin-1"), **options))
        assert wrong == asked(table(write(tmp_path, suffix, "utf-8"), **options))
        assert abs(wrong[0]["value"] - 13) < 0.1


@pytest.mark.parametrize("form", ["{name},{shop},{who},{pay}\n", '"{name}","{shop}","{who}","{pay}"\r\n'])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "shift_jis"])
def test_so_it_does_in_quotes_and_in_other_encodings(encoding, form, tmp_path):
    """What is spoiled is missing: it is no key, and meets no condition."""
    path = write(tmp_path, ".csv", "latin-1", form)
    for newlines in (True, False):
        read = nb.Table(path, schema=TYPES, csv=nb.Csv(header=True, encoding=encoding, newlines_in_fields=newlines))
        assert abs(read.mean("pay", epsilon=50, rng=random.Random(1)).value - 13) < 0.1
        assert abs(read.where("name is null").count(epsilon=50, rng=random.Random(1)).value - OLD * ROWS) < 5


def test_a_spoiled_unit_and_a_spoiled_key_are_missing_ones(tmp_path):
    """They are treated as an empty field is, which is what the same file without these letters has there."""
    spoiled = write(tmp_path, ".csv", "latin-1")
    empty = tmp_path / "b.csv"
    empty.write_bytes(b"\n".join(b"," + b",".join(line.split(b",")[1:]) if b"\xe9" in line else line
                                 for line in spoiled.read_bytes().split(b"\n")))  # fmt: skip
    found = [
        [
            nb.Table(path, schema=TYPES, csv=CSV, unit="name", rows_per_unit=500)
            .mean("pay", epsilon=20, rng=random.Random(1))
            .value,
            table(path).group_by("name", keys=["Bob1", "Bob2"]).mean("pay", epsilon=20, rng=random.Random(1)).to_dict(),
        ]
        for path in (spoiled, empty)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("start", [b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00"])
def test_the_first_bytes_of_a_record_are_no_mark_of_an_encoding(start, tmp_path):
    """In a file without a header they belong to a record, so they are no error; they spoil its field."""
    path = tmp_path / "a.csv"
    path.write_bytes(start + b"Ann,7\n" + b"Bob,5\n" * 999)
    read = nb.Table(path, schema={"name": "text", "pay": "integer"}, csv=nb.Csv(header=False))
    assert abs(read.count("pay", epsilon=50, rng=random.Random(1)).value - 1000) < 5
    assert abs(read.where("name is null").count(epsilon=50, rng=random.Random(1)).value - 1) < 1
