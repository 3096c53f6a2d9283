"""The sheet that plots are drawn on: no background, and colours for light and dark pages."""

from collections.abc import Sequence
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from nobounds.exact import printable
from nobounds.release.digits import said

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # Okabe and Ito 2008: safe for colour-blind readers
INK = "#767676"  # the grey with the same contrast, 4.5, to white and to black
BLUE = "#2E86C8"  # contrast 3.9 to white, and 5.3 to black
_LONGEST = 40  # characters of a label


def sheet(width: float, height: float) -> Any:
    """An empty figure without a background, which notebooks show as SVG."""
    figure = _drawing()(figsize=(width, height), layout="constrained")
    figure.patch.set_alpha(0)
    return figure


def panels(heights: Sequence[float], width: float = 8.0) -> tuple[Any, list[Any]]:
    """A figure with wide axes of these heights, one below the other."""
    figure = sheet(width, 0.5 + sum(heights))
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    return figure, [inked(figure.add_subplot(grid[row, 0])) for row in range(len(heights))]


def inked(axes: Any) -> Any:
    """Axes in a colour for light and dark pages, without a background and a frame."""
    axes.patch.set_alpha(0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.tick_params(colors=INK)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    axes.title.set_color(INK)
    return axes


def headline(figure: Any, text: str) -> None:
    """A line above everything else."""
    figure.suptitle(plain(text), fontsize=9, x=0.01, ha="left", color=INK)


def everyday(axis: Any) -> None:
    """Ticks with thousands separators, and no exponent in the ordinary range."""
    axis.set_major_formatter(lambda number, _: said(float(f"{number:.6g}")))


def plain(text: str) -> str:
    """User text for a figure: matplotlib would render text between two dollar signs as a formula."""
    return printable(text).replace("$", r"\$")


def label(text: str) -> str:
    """User text for a label, cut if it is long."""
    return plain(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


def check_target(path: Path) -> None:
    """Raise before anything is spent if no plot can be written to this file."""
    canvas()
    if path.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise ValueError(f"a plot's name must end in .png, .pdf or .svg, got {path.name}")
    if not path.parent.is_dir():
        raise ValueError(f"a plot's folder must exist, got {path.parent}")


def canvas() -> Any:
    """matplotlib's Figure, or an error that says how to install it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'nobounds[all]'") from None
    return Figure


@cache
def _drawing() -> Any:
    """A Figure that notebooks show as vector graphics."""
    from matplotlib import rc_context

    class Drawing(canvas()):  # type: ignore[misc]
        def _repr_svg_(self) -> str:
            file = StringIO()
            with rc_context({"svg.hashsalt": "nobounds"}):  # so that the same figure is the same text
                self.savefig(file, format="svg", metadata={"Date": None})
            return file.getvalue()

    return Drawing
