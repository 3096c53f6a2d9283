"""The public face: which names are public, that they complete, and that no module hides behind one of them."""

import subprocess
import sys
import types

import pytest

import nobounds as nb


def test_completion_shows_the_public_names_and_no_modules():
    """`dir(nb)` has all public names and the version; the rooms are private."""
    assert set(dir(nb)) == {*nb.__all__, "__version__"}
    assert not [name for name in dir(nb) if isinstance(getattr(nb, name), types.ModuleType)]


@pytest.mark.medium
def test_a_fresh_import_completes_names_that_load_later():
    """`Table`, `plan` and `explain` are there before they are used."""
    code = "import nobounds; print(*dir(nobounds))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"Table", "plan", "explain", "GroupedRelease", "Forecast"} <= set(shown)


@pytest.mark.parametrize("name", nb.__all__)
def test_no_public_name_is_a_module(name: str):
    """After everything was imported `nobounds.quantile` is still the function."""
    import nobounds.cli.app
    import nobounds.research

    assert not isinstance(getattr(nobounds, name), types.ModuleType)
    assert f"nobounds.{name}" not in sys.modules


def test_other_names_are_refused():
    """What is no public name raises AttributeError."""
    with pytest.raises(AttributeError, match="has no attribute 'quantil'"):
        nb.quantil  # noqa: B018
