"""The comparison: its cells are all combinations, its results repeat, and what cannot be run is refused first."""

import numpy as np
import pytest

from nobounds.research.bench.cells import Cell
from nobounds.research.bench.families import FAMILIES
from nobounds.research.bench.results import OURS
from nobounds.research.bench.rivals import RIVALS
from nobounds.research.bench.run import Setting, compare


def test_every_combination_is_a_cell():
    """Two statistics of two families at two offsets, under both relations."""
    setting = Setting(("q=0.8", "mean"), ("normal", "ages"), (0.0, 5.0), (50,), (1.0,), ("add-remove", "swap"))
    cells = setting.cells()
    assert len(cells) == len(set(cells)) == 16 and {cell.part for cell in cells} == {"tails", "mean"}
    assert cells[0] == Cell("tails", "q=0.8", "normal", 0.0, 50, 1.0, "add-remove")


@pytest.mark.parametrize(
    "given",
    [
        {"statistics": ("mode",)},
        {"statistics": ("q=1.5",)},
        {"statistics": ("q=half",)},
        {"families": ("incomes",)},
        {"sizes": (0,)},
        {"repetitions": 1},
    ],
)
def test_what_there_is_not_is_refused(given):
    """By name, before anything runs."""
    with pytest.raises(ValueError, match="must be"):
        Setting(**given)


@pytest.mark.medium
@pytest.mark.parametrize("statistic", ["q=0.5", "maximum", "deciles", "mean", "sum"])
def test_all_methods_of_a_statistic_answer_and_repeat(statistic):
    """Errors are finite, one for each repetition (fewer by exact law), and the same again."""
    setting = Setting((statistic,), ("lognormal",), (0.0,), (300,), repetitions=3)
    (first,), (again,) = list(compare(setting)), list(compare(setting))
    part = first.cell.part
    assert set(first.errors) == {OURS, *RIVALS[part]} and first.errors == again.errors
    assert all(0 <= error < 1e4 for errors in first.errors.values() for error in errors)


@pytest.mark.medium
def test_processes_give_the_same(tmp_path):
    """And a method in a file is loaded in each of them."""
    path = tmp_path / "mine.py"
    path.write_text("import numpy as np\n\n\ndef exact(data, q, epsilon):\n    return np.quantile(data, q)\n")
    setting = Setting(("q=0.9",), ("normal", "ages"), (0.0,), (100,), repetitions=2)
    one, two = (list(compare(setting, [f"{path}:exact"], rivals=[], processes=k)) for k in (1, 2))
    assert [outcome.errors for outcome in one] == [outcome.errors for outcome in two]
    assert max(one[0].errors["exact"]) < 1e-12 < max(one[0].errors[OURS])


def test_unknown_rivals_and_methods_are_refused():
    """Before the first cell."""
    with pytest.raises(ValueError, match="rivals must be of"):
        next(compare(Setting(), rivals=["EMQ"]))
    with pytest.raises(ValueError, match="method must be module:function"):
        next(compare(Setting(), ["mine"]))


def test_families_have_the_spread_that_they_state():
    """The standard deviation, or the interquartile range of the one whose deviation is infinite."""
    for name, family in FAMILIES.items():
        data = family.sample(name, 0.0, 200_000)
        low, high = (float(q) for q in np.quantile(data, [0.25, 0.75]))
        spread = high - low if name == "pareto" else float(data.std())
        assert spread == pytest.approx(family.spread, rel=0.08), name
