"""Plots: answers with their intervals, where a walk halts, the distribution of answers, errors to expect.

Plots need matplotlib (`nobounds[plots]`). Their background is transparent, and their colours can be read on light and
dark pages; notebooks show them as vector graphics.
"""

from nobounds.plots.answers import plot, plot_description, plot_groups, plot_release
from nobounds.plots.figures import COLORS, canvas, check_target
from nobounds.plots.laws import plot_answers, plot_forecast, plot_laws

__all__ = [
    "COLORS",
    "canvas",
    "check_target",
    "plot",
    "plot_answers",
    "plot_description",
    "plot_forecast",
    "plot_groups",
    "plot_laws",
    "plot_release",
]
