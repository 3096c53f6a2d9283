"""The formats of files, by their suffixes, and the error for a file that cannot be read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nobounds.engines.refusals import replacing_errors

_COMPRESSED = ("", ".gz", ".bz2", ".zst")
_TEXT = tuple(kind + packed for kind in (".csv", ".tsv") for packed in _COMPRESSED)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Replace errors about the contents of a file, which can quote records; errors of the system pass through."""
    with replacing_errors(
        lambda: OSError(f"{path.name} cannot be read: it is damaged, or of another format"), _by_system
    ):
        yield


def _by_system(error: Exception) -> bool:
    return isinstance(error, ImportError) or (isinstance(error, OSError) and error.errno is not None)


def is_parquet(path: Path) -> bool:
    """Whether a file's name ends in .parquet; ValueError for an unknown suffix or a file that is not regular."""
    if path.exists() and not path.is_file():
        raise ValueError(f"the file must be a regular file, which can be read more than once, got {path.name}")
    return _suffix(path) == ".parquet"


def is_tsv(path: Path) -> bool:
    """Whether a file's name ends in .tsv, possibly compressed."""
    return _suffix(path).startswith(".tsv")


def _suffix(path: Path) -> str:
    last = path.suffix.lower()
    suffix = "".join(path.suffixes[-2:] if last in _COMPRESSED[1:] else path.suffixes[-1:]).lower()
    if suffix not in _TEXT and suffix != ".parquet":
        known = ".csv, .tsv (also compressed: .gz, .bz2, .zst) or .parquet"
        raise ValueError(f"the file's name must end in {known}, got {path.name}")
    return suffix
