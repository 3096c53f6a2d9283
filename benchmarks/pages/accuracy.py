"""The pictures and tables of docs/accuracy.md: expected errors of nobounds and of methods that are given bounds.

    python benchmarks/pages/accuracy.py --out docs/accuracy [--quick]

Pictures go into the folder, tables into the page of the same name beside it, if there is one, and to the screen.
"""

import argparse
import time
from pathlib import Path

from accuracy_errors import measure
from accuracy_pictures import pictures, save
from accuracy_tables import blocks, filled


def main() -> None:
    """Measure, draw and write."""
    parser = argparse.ArgumentParser(description="the pictures and tables of docs/accuracy.md")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the pictures")
    parser.add_argument("--quick", action="store_true", help="fewer samples, points and rows")
    options = parser.parse_args()
    start = time.perf_counter()
    errors = measure(options.quick)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, figure in pictures(errors).items():
        save(figure, options.out / f"{name}.png")
    texts = blocks(errors, options.quick)
    page = options.out.with_suffix(".md")
    if page.exists():
        page.write_text(filled(page.read_text(), texts))
    print("\n\n".join(f"{name}\n{text}" for name, text in texts.items()))
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
