"""CSV files whose first line is a header, as tests state it."""

from os import PathLike
from typing import Any

import nobounds as nb
from nobounds.engines.files.paths import expand, from_paths
from nobounds.engines.streams.stream import TableStream

HEADER = nb.Csv(header=True)


def headed(path: "str | PathLike[str]", **options: Any) -> TableStream:
    """The stream of CSV files with a header, for tests that take tables of many kinds."""
    return from_paths(expand(path), nb.Csv(header=True, **options))
