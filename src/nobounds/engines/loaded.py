"""Libraries that are loaded already: data of a library's types cannot exist before it is."""

import sys
from typing import Any


def loaded(name: str) -> Any:
    """The module of that name if it is loaded; None before, and while another thread is still loading it."""
    module = sys.modules.get(name)
    return None if getattr(getattr(module, "__spec__", None), "_initializing", False) else module
