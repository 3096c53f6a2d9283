"""What can be taken along from answers: tables, charts, and how to ask the same again; each a file."""

from collections.abc import Callable

from nobounds.release.files import csv_text
from nobounds.studio.results.charts import png, together
from nobounds.studio.results.shelf import KeptAnswers
from nobounds.studio.results.shown import charts

TABLES = {"csv": "Table (CSV, for spreadsheets)", "json": "All digits (JSON)"}
CHARTS = {"png": "Charts (PNG)", "svg": "Charts (SVG)"}
AGAIN = {"py": "Python script", "sh": "Shell command", "ipynb": "Notebook"}

_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "py": "text/x-python",
    "sh": "text/x-shellscript",
    "ipynb": "application/x-ipynb+json",
}


def download(kept: KeptAnswers, kind: str) -> tuple[str, str | bytes] | None:
    """The type and the contents of a file, or None if there is no such one."""
    makers: dict[str, Callable[[], str | bytes]] = {
        "csv": lambda: csv_text(kept.answers.cells()),
        "json": lambda: kept.answers.to_json() + "\n",
        "png": lambda: png(charts(kept)),
        "svg": lambda: together(charts(kept)),
        "py": kept.recipe.python,
        "sh": kept.recipe.shell,
        "ipynb": kept.recipe.notebook,
    }
    if kind not in makers or (kind in CHARTS and not charts(kept)):
        return None
    return _TYPES[kind], makers[kind]()
