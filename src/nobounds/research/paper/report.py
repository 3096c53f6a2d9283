"""The report: the paper's results, ours, and which method is the most accurate where, in Markdown and HTML."""

import html
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from nobounds.research.paper import claims, words
from nobounds.research.paper.experiments import densities, many, quantile_errors, runaways, scales, sizes, sums
from nobounds.research.paper.verdict import summary
from nobounds.research.paper.words import Results, Save
from nobounds.research.paper.work import Task, finished, results

INTRO = (
    "UQE is the method of the paper, EMQ the exponential mechanism over a stated range (Smith 2011), AT the "
    "aggregate tree (as Gillenwater et al. 2021 have it). nobounds gets no bounds."
)

PARTS: dict[str, tuple[str, ModuleType | None, Callable[[Results, Save], str]]] = {
    "figure1": ("Figure 1: loose bounds", densities, words.densities_part),
    "figure2": ("Figure 2: the data", None, words.histograms_part),
    "figure3": ("Figure 3: quantiles", quantile_errors, words.quantiles_part),
    "table1": ("Table 1: sums", sums, words.sums_part),
    "claims": ("The paper's remarks on parameters", claims, words.claims_part),
    "scales": ("Other units", scales, words.scales_part),
    "sizes": ("Other numbers of records", sizes, words.sizes_part),
    "many": ("Many quantiles", many, words.many_part),
    "runaways": ("Runaways", runaways, words.runaways_part),
}


def tasks_of(part: str, quick: bool, epsilons: tuple[str, ...], own: str | None = None) -> list[Task]:
    """The tasks of a part; Figure 3 may use your own data set instead of the six."""
    module = PARTS[part][1]
    if module is None:
        return []
    more: tuple[Any, ...] = (epsilons,) if part == "table1" else ((own,),) if part == "figure3" and own else ()
    tasks: list[Task] = module.tasks(quick, *more)
    return tasks


def write(folder: Path, parts: list[str], quick: bool, epsilons: tuple[str, ...], own: str | None = None) -> Path:
    """Write report.md, report.html and the figures, for the parts with complete results."""

    def save(name: str, figure: Any) -> str:
        figure.savefig(folder / f"{name}.png", dpi=150)
        return f"![{name}]({name}.png)"

    texts, experiments = [], {}
    for part in parts:
        title, _, say = PARTS[part]
        mine = tasks_of(part, quick, epsilons, own)
        if len(finished(mine, folder / "results")) == len(mine):
            experiments[part] = results(mine, folder / "results")
            texts.append(f"## {title}\n\n{say(experiments[part], save)}\n")
    made = "`nobounds paper --quick`, with few repetitions" if quick else "`nobounds paper`"
    head = f"# How good is it?\n\nThe paper's evaluation again, and more. {INTRO} This page is made by {made}.\n"
    if experiments.keys() - {"figure1", "figure2", "claims", "runaways"}:
        head += f"\n## What wins where\n\n{summary(experiments)}\n"
    page = folder / "report.md"
    page.write_text("\n".join([head, *texts]))
    (folder / "report.html").write_text(as_html(page.read_text()))
    return page


def as_html(text: str) -> str:
    """The report's subset of Markdown, as a self-contained HTML page."""
    blocks = []
    for block in text.strip().split("\n\n"):
        lines = block.split("\n")
        if block.startswith("#"):
            level = len(block) - len(block.lstrip("#"))
            blocks.append(f"<h{level}>{_inline(block.lstrip('# '))}</h{level}>")
        elif block.startswith("|"):
            cells = [[_inline(cell.strip()) for cell in line.strip("|").split("|")] for line in lines]
            head = "".join(f"<th>{cell}</th>" for cell in cells[0])
            body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells[2:])
            blocks.append(f"<table><tr>{head}</tr>{body}</table>")
        elif block.startswith("- "):
            blocks.append("<ul>" + "".join(f"<li>{_inline(line[2:])}</li>" for line in lines) + "</ul>")
        else:
            blocks.append(f"<p>{_inline(' '.join(lines))}</p>")
    return _PAGE.format(body="\n".join(blocks))


def _inline(text: str) -> str:
    text = html.escape(text, quote=False)
    text = re.sub(r"!\[(.*?)\]\((.*?)\)", r'<img src="\2" alt="\1">', text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"(?<![\w*])\*([^*]+?)\*(?![\w*])", r"<i>\1</i>", text)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", text)


_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>How good is it?</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222 }}
img {{ max-width: 100% }} table {{ border-collapse: collapse; font-size: 14px }}
th, td {{ padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: left }}
</style>
{body}
</html>
"""
