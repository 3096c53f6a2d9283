"""The formats of files, by their suffixes, and the error for a file that cannot be read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from nobounds.engines.refusals import replacing_errors

Format: TypeAlias = Literal["csv", "parquet", "arrow", "json", "excel"]

KNOWN = ".csv, .tsv, .jsonl, .ndjson (also compressed: .gz, .bz2, .zst), .parquet, .arrow, .feather, .ipc or .xlsx"
"""The suffixes, for messages."""

_COMPRESSED = ("", ".gz", ".bz2", ".zst")
_TEXT: dict[str, Format] = {".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json"}
_FORMATS: dict[str, Format] = {suffix + packed: kind for suffix, kind in _TEXT.items() for packed in _COMPRESSED} | {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
}


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Replace errors about the contents of a file, which can quote records; errors of the system pass through."""
    with replacing_errors(
        lambda: OSError(f"{path.name} cannot be read: it is damaged, or of another format"), _by_system
    ):
        yield


def _by_system(error: Exception) -> bool:
    return isinstance(error, ImportError) or (isinstance(error, OSError) and error.errno is not None)


def format_of(path: Path) -> Format:
    """The format of a file by its name; ValueError for an unknown suffix or a file that is not regular."""
    if path.exists() and not path.is_file():
        raise ValueError(f"the file must be a regular file, which can be read more than once, got {path.name}")
    return _FORMATS[_suffix(path)]


def is_name(name: str) -> bool:
    """Whether a name ends as those of files do."""
    try:
        return bool(_suffix(Path(name)))
    except ValueError:
        return False


def file_hint(name: str) -> str:
    """What would make a name in a statement one of a file, if it looks like one."""
    return "; files are named in a statement only with folder=, the folder that they are in" if is_name(name) else ""


def is_parquet(path: Path) -> bool:
    """Whether a file's name ends in .parquet."""
    return format_of(path) == "parquet"


def is_tsv(path: Path) -> bool:
    """Whether a file's name ends in .tsv, possibly compressed."""
    return _suffix(path).startswith(".tsv")


def _suffix(path: Path) -> str:
    last = path.suffix.lower()
    suffix = "".join(path.suffixes[-2:] if last in _COMPRESSED[1:] else path.suffixes[-1:]).lower()
    if suffix not in _FORMATS:
        raise ValueError(f"the file's name must end in {KNOWN}, got {path.name}")
    return suffix
