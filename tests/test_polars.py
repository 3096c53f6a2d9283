"""Importing nobounds.polars adds private statistics to frames and series of polars, and nothing else does."""

import subprocess
import sys

import pytest

CODE = """
import sys, polars, nobounds
frame = polars.DataFrame({"a": [1, 2]})
print(hasattr(frame, "nb"), "pandas" in sys.modules)
import nobounds.polars
print(hasattr(frame, "nb"), hasattr(frame["a"], "nb"), "pandas" in sys.modules)
"""


@pytest.mark.medium
def test_the_attribute_is_there_after_the_import():
    """It is not added by `import nobounds`, and the other library is not loaded for it."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True", "True", "False"]
