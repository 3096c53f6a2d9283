"""The outputs that pages show, made again: python -m support.outputs in tests/, or make outputs.

A block of ```text whose words or privacy losses are no longer those of its command, or whose numbers are far off, gets
what the command prints now. Others stay as they are, so that noise does not change pages.
"""

import os
import random
import sys
import tempfile
import textwrap
from pathlib import Path

import nobounds.noise.source
from support.documents import PAGES, ROOT, blocks, check_printed, output, run

_WIDTH = 88  # characters of a sentence on a page


def sample_folder(folder: Path) -> None:
    """Fill a folder with the sample files of the recipes, the code and its data."""
    (folder / "src").symlink_to(ROOT / "src")
    os.chdir(folder)
    run(blocks(ROOT / "docs" / "recipes" / "index.md")[0], {}, folder)


def remade(page: Path, folder: Path) -> str:
    """The text of a page with outputs as they are now."""
    text, namespace = page.read_text(), {"__name__": "page"}
    stale = []
    for block in blocks(page):
        if block.marks:
            continue
        printed, shown = output(block, namespace, folder)
        try:
            check_printed(printed, shown or printed, block.where)
        except AssertionError:
            if block.place == (0, 0):
                raise
            stale.append((block.place, fitting(printed, block.pad)))
    for (start, end), lines in reversed(stale):
        text = text[:start] + lines + text[end:]
    return text


def fitting(printed: str, pad: str) -> str:
    """What is printed, with sentences wrapped; tables, which have blanks in a row, stay as they are."""
    lines = printed.strip("\n").splitlines()
    wrapped = [
        part
        for line in lines
        for part in ([line.rstrip()] if "  " in line.strip() or not line else textwrap.wrap(line, _WIDTH))
    ]
    return "".join(f"{pad}{line}".rstrip() + "\n" for line in wrapped)


def main() -> None:
    """Write the pages that changed."""
    pages = [Path(name).resolve() for name in sys.argv[1:]] or PAGES
    os.environ["COLUMNS"] = "200"
    for page in (page for page in pages if any(block.shown for block in blocks(page))):
        nobounds.noise.source._system_bits = random.Random(1).getrandbits
        with tempfile.TemporaryDirectory() as folder:
            sample_folder(Path(folder))
            text = remade(page, Path(folder))
            os.chdir(ROOT)
        if text != page.read_text():
            page.write_text(text)
            print(f"made again: {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
