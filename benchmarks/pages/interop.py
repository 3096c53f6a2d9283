"""Run docs/interop.md with the blocks of one library, in an environment that has it.

    python benchmarks/pages/interop.py opendp

What the page says that an answer is, is checked (`tests/support/documents.py`).
"""

import argparse
import os
import sys
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from support.documents import blocks, run  # noqa: E402

LIBRARIES = {"opendp": "opendp", "smartnoise": "snsql", "tumult": "tmlt", "diffprivlib": "diffprivlib"}
NEEDS = {"dp_accounting", "sklearn"}  # their blocks run in the tests


def main() -> None:
    """The page, with the blocks of each library that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", nargs="+", choices=sorted(LIBRARIES))
    warnings.simplefilter("ignore")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    for library in parser.parse_args().library:
        if find_spec(LIBRARIES[library]) is None:
            print(f"{library}: not run, {LIBRARIES[library]} is not installed")
            continue
        namespace: dict[str, Any] = {"__name__": "page"}
        theirs = 0
        for block in blocks(ROOT / "docs" / "interop.md"):
            mine = block.marks == (f"peer={library}",)
            if mine or (
                block.language == "python" and not block.marks and not any(name in block.code for name in NEEDS)
            ):
                with tempfile.TemporaryDirectory() as folder:
                    run(block, namespace, Path(folder))
                theirs += mine
        print(f"{library}: {theirs} blocks of docs/interop.md ran")


if __name__ == "__main__":
    main()
