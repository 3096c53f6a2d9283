"""Arrow and Feather files: both formats of IPC, streamed, and errors that quote nothing."""

import pyarrow as pa
import pytest

import nobounds as nb
from nobounds.engines.files.arrow_files import arrow_schema, from_arrow_files

TABLE = pa.table({"x": [1.5, None, 3.0], "name": ["Ann", "Bob", None], "tags": [["a"], [], None]})


def write(path, data=TABLE, opened=pa.ipc.new_file):
    with opened(str(path), data.schema) as writer:
        writer.write_table(data, max_chunksize=2)
    return path


@pytest.mark.parametrize("opened", [pa.ipc.new_file, pa.ipc.new_stream])
def test_both_formats_are_read_in_batches(tmp_path, opened):
    """Names and types come from the schema, and columns are read one by one."""
    path = write(tmp_path / "a.arrow", opened=opened)
    stream = from_arrow_files([path, path])
    assert (
        arrow_schema(path) == TABLE.schema
        and stream.rows() == 6
        and stream.others
        == {
            "name": "text",
            "tags": "Arrow type list",
        }
    )
    batches = list(stream.batches(["name"], ["x"]))
    assert [len(batch) for batch in batches] == [2, 1, 2, 1]
    assert batches[0].column("name").to_pylist() == ["Ann", "Bob"]
    column = stream.again(["x"])["x"]
    assert [chunk.tolist()[0] for chunk in column.chunks()] == [1.5, 3.0] * 2 and column.rows() == 6
    assert nb.Table(path).columns == {"x": "number", "name": "text", "tags": "Arrow type list"}


def test_large_batches_are_cut(tmp_path):
    """A file of one batch is read in pieces, so memory does not depend on how it was written."""
    path = write(tmp_path / "a.feather", pa.table({"x": range(200_000)}))
    with pa.ipc.new_file(str(path), pa.schema([("x", pa.int64())])) as writer:
        writer.write_batch(pa.record_batch({"x": range(200_000)}))
    assert max(len(batch) for batch in from_arrow_files([path]).batches([], ["x"])) <= 65_536


def test_a_damaged_file_is_refused_without_its_contents(tmp_path):
    """Cut off, of another format, empty, or with other columns."""
    path = write(tmp_path / "a.arrow")
    raw = path.read_bytes()
    for damaged in (raw[: len(raw) // 2], b"", b"name\nAnn\n", b"ARROW1" + b"\xff" * 100):
        (tmp_path / "b.arrow").write_bytes(damaged)
        with pytest.raises(OSError, match=r"^b\.arrow cannot be read: it is damaged, or of another format$") as refusal:
            nb.Table(tmp_path / "b.arrow")
        assert refusal.value.__context__ is None
    with pytest.raises(ValueError, match=r"same columns of the same types, got others in c\.arrow"):
        nb.Table([path, write(tmp_path / "c.arrow", pa.table({"x": [1]}))])
    with pytest.raises(FileNotFoundError):
        arrow_schema(tmp_path / "none.arrow")


def test_a_file_without_columns_is_refused_before_a_charge(tmp_path):
    """Its schema is public."""
    path = write(tmp_path / "none.arrow", pa.table({}))
    with pytest.raises(ValueError, match="at least one column"):
        nb.Table(str(path))
