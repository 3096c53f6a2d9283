"""Screenshots of a notebook with each kind of answer for docs/answers.md, in a headless Chromium, in light and dark.

python benchmarks/pages/notebook.py --out docs/answers
"""

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import sync_playwright

SAMPLES = Path(__file__).parents[2] / "src" / "nobounds" / "data"
READ = "import pandas as pd\nimport nobounds.pandas\n\npeople = pd.read_csv({file!r})"
CELLS = (
    'people.nb.mean("hours_per_week", epsilon=0.5)',
    'hours = people.nb.group_by("age", keys=[20, 40, 60, 80, 100]).mean("hours_per_week", epsilon=0.5)\nhours',
    "hours.plot()",
    "people.nb.describe(epsilon=0.5, lower=0)",
)
STYLE = """
body { font: 14px/1.5 system-ui, sans-serif; margin: 20px; width: 860px; color: #111; background: #fff }
pre { background: rgba(128, 128, 128, .13); padding: 8px 12px; margin: 0; border-radius: 4px }
div.out { margin: 10px 0 22px 12px }
svg { max-width: 700px; height: auto }
@media (prefers-color-scheme: dark) { body { color: #e2e4e9; background: #1e2129 } }
"""


def main() -> None:
    """Run the notebook, and take a picture of it on a light and on a dark page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        shutil.copy(SAMPLES / "adult.csv.gz", Path(folder) / "people.csv.gz")
        page_file = Path(folder) / "notebook.html"
        page_file.write_text(as_page([READ.format(file="people.csv.gz"), *CELLS], folder), encoding="utf-8")
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for scheme in ("light", "dark"):
            context = browser.new_context(color_scheme=scheme, viewport={"width": 900, "height": 700})
            page = context.new_page()
            page.goto(page_file.as_uri())
            page.screenshot(path=out / f"notebook_{scheme}.png", full_page=True)
        browser.close()


def as_page(cells: Sequence[str], folder: str) -> str:
    """A page of the cells and of what a notebook shows for them: HTML and SVG before text."""
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    parts = []
    for cell in notebook.cells:
        parts.append(f"<pre>{escape(cell.source)}</pre>")
        shown = [output["data"] for output in cell.outputs if "data" in output]
        rich = [data.get("text/html") or data.get("image/svg+xml") or escape(data["text/plain"]) for data in shown]
        parts += [f'<div class="out">{each}</div>' for each in rich] or ["<br>"]
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><style>{STYLE}</style>{"".join(parts)}</html>'


if __name__ == "__main__":
    main()
