"""Plans by group: the error of one group, and how many units it needs to be shown."""

import random
from fractions import Fraction

import numpy as np
import pytest
from support.chance import seed_of

import nobounds as nb
from nobounds.groups.key_counts import KeyCounts
from nobounds.groups.key_selection import KeySelection
from nobounds.planning.plan import plan


@pytest.mark.medium
@pytest.mark.parametrize("statistic", ["mean", "sum", "count"])
@pytest.mark.sampled
def test_groups_err_as_planned(statistic):
    """The mean error over the groups of ten releases is within a quarter of the forecast."""
    rng, bits, errors = np.random.default_rng(seed_of(2)), random.Random(seed_of(2)), []
    truth = {"mean": np.mean, "sum": np.sum, "count": len}[statistic]
    for _ in range(10):
        x, g = rng.lognormal(size=10_000), np.arange(10_000) % 20
        groups = nb.Table({"x": x, "g": g}).group_by("g", keys=list(range(20)))
        release = getattr(groups, statistic)("x", epsilon=1, rng=bits)
        errors += [abs(release[k] - truth(x[g == k])) for k in range(20)]
    planned = plan(statistic, n=10_000, groups=20, data="lognormal", epsilon=1)
    assert planned.parameters["n"] == 500
    assert np.mean(errors) == pytest.approx(planned.rows[0].value_error, rel=0.25)


@pytest.mark.parametrize("groups_per_unit", [1, 3])
def test_the_units_needed_are_those_of_the_selection(groups_per_unit):
    """A group with that many is kept 95% of the time, and with one fewer it is not; a quarter of epsilon chooses."""
    planned = plan(
        "mean",
        n=1000,
        groups=10,
        data="uniform",
        epsilon=1,
        delta=1e-6,
        rows_per_unit=3,
        groups_per_unit=groups_per_unit,
    )
    units = planned.rows[0].units
    selection = KeySelection(Fraction(1, 4), Fraction("1e-6"), groups_per_unit)
    assert selection.probability(units) >= 0.95 > selection.probability(units - 1)
    assert f"About {units:,} units per group are needed" in str(planned)


def test_a_release_says_how_many_units_a_group_needs():
    """Whether groups are shown or not: the number is public."""
    table = nb.Table({"k": np.arange(3000) % 3, "x": np.ones(3000)})
    for epsilon, shown in ((1, 3), (0.001, 0)):
        release = table.group_by("k", delta=1e-6).count(epsilon=epsilon)
        units = release.parameters["units_to_show"]
        assert len(release) == shown and f"{units:,} rows to be shown" in str(release)
        assert units == KeyCounts(Fraction(epsilon), Fraction("1e-6")).needed()
        assert f"{units:,} rows to be shown" in str(nb.explain(release)).replace("\n  ", " ")
    assert "No group is shown." in str(release)
    assert "units_to_show" not in table.group_by("k", keys=[1]).count(epsilon=1).parameters


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": 10, "neighbors": "swap"}, "add-remove"),
        ({"delta": 1e-6}, "groups"),
        ({"groups": 2000}, "at least the number of groups"),
        ({"groups": 10, "delta": 1e-6, "epsilon": None, "rho": 1}, "epsilon"),
    ],
)
def test_errors_are_plain(options, message):
    """They say what goes with groups."""
    with pytest.raises(ValueError, match=message):
        plan("count", n=1000, data="uniform", **{"epsilon": 1, **options})
