"""Files to the bytes of their text in UTF-8, piece by piece: decompressed, decoded, and without a byte order mark."""

import bz2
import codecs
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from nobounds.engines.memory.arrow import import_pyarrow

PIECE = 1 << 20
_BOM = codecs.BOM_UTF8
OTHER_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_DAMAGED = "nobounds.damaged"
_LONGEST_CHARACTER = 8
_NO_TEXT = b"\xff"  # no valid UTF-8: a broken character becomes this byte, and its field is then missing


def pieces(
    path: Path, encoding: str | None, size: int = PIECE, progress: Callable[[int], None] | None = None
) -> Iterator[bytes]:
    """The text of a file as UTF-8, or with no encoding its bytes; `progress` gets the number of bytes read so far."""
    with path.open("rb") as file, _opened(file, path.suffix.lower()) as stream:
        raw = iter(lambda: stream.read(size), b"")
        for piece in raw if encoding is None else _decoded(raw, encoding):
            if progress is not None:
                progress(file.tell())
            yield piece


def _decoded(raw: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    return _without_bom(raw) if is_utf8(encoding) else _transcoded(raw, encoding)


def is_utf8(encoding: str) -> bool:
    """Whether an encoding is UTF-8."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def _opened(file: BinaryIO, suffix: str) -> Any:
    """The file, decompressed according to its suffix."""
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=file)
    if suffix == ".bz2":
        return bz2.BZ2File(file)
    if suffix == ".zst":
        return import_pyarrow().input_stream(file, compression="zstd")
    return file


def _without_bom(raw: Iterator[bytes]) -> Iterator[bytes]:
    yield next(raw, b"").removeprefix(_BOM)
    yield from raw


def _transcoded(raw: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(_DAMAGED)
    first = True
    for piece in raw:
        text = decoder.decode(piece)
        yield (text.removeprefix("\ufeff") if first else text).encode("utf-8", _DAMAGED)
        first = first and not text
    # At the end a decoder drops all bytes after an incomplete character, and these can be a record: so line ends are
    # appended, and removed again. In UTF-16 and UTF-32 no record can follow such a character.
    ends = b"" if codecs.lookup(encoding).name.startswith("utf") else b"\n" * _LONGEST_CHARACTER
    last = decoder.decode(ends, not ends)
    yield last[: len(last) - len(ends)].encode("utf-8", _DAMAGED)


def _damaged(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace bytes outside the encoding: by a lone surrogate on reading, and that by no valid text on writing."""
    if isinstance(error, UnicodeDecodeError):
        # Bytes after a broken character may belong to the next record, unless all characters have equally many bytes.
        return "\udcff", error.end if error.encoding.startswith("utf") else error.start + 1
    assert isinstance(error, UnicodeEncodeError)
    return _NO_TEXT, error.end


codecs.register_error(_DAMAGED, _damaged)
