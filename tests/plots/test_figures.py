"""Figures can be read on every page, and hold text as text."""

import numpy as np
from matplotlib.colors import to_rgb

import nobounds as nb
from nobounds.plots.figures import label, plain


def test_a_figure_can_be_read_on_light_and_dark_pages():
    """It has no background, and its text and marks have contrast with white and with black."""

    def contrast(color: str) -> float:
        """The least contrast to white and black (WCAG 2.1)."""
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
        luminance = float(np.dot((0.2126, 0.7152, 0.0722), linear))
        return min(1.05 / (luminance + 0.05), (luminance + 0.05) / 0.05)

    figure = nb.Release("mean", 3.5, nb.PrivacyLoss.pure(1), {}, ((3.0, 4.0),)).plot()
    (axes,) = figure.axes
    assert figure.patch.get_alpha() == 0 == axes.patch.get_alpha()
    assert axes.texts and axes.get_lines()
    for text in [*axes.texts, *axes.get_xticklabels(), figure._suptitle]:
        assert contrast(text.get_color()) >= 4.5
    for line in axes.get_lines():
        assert contrast(line.get_color()) >= 3


def test_user_text_is_no_formula():
    """Dollar signs stay, control characters are escaped, and a long label is cut."""
    assert plain("$x$") == r"\$x\$" and plain("\x1b") == ascii("\x1b")
    assert len(label("x" * 99)) == 40
