"""Samplers and classes replaced while an audit runs, so that all noise is enumerated instead of drawn."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

_PLACES = {
    "above_threshold": "mechanisms.above_threshold",
    "additive": "noise.additive",
    "clipped": "clipping.plan",
    "question": "ranks.question",
    "skip_ahead": "mechanisms.skip_ahead",
    "vector_plans": "clipping.vectors",
    "vectors": "statistics.vectors",
}


@contextmanager
def replaced(**values: Any) -> Iterator[None]:
    """With other samplers or classes under `module__NAME` of nobounds, and the old ones after it."""
    places = {
        name: (import_module(f"nobounds.{_PLACES[name.split('__')[0]]}"), name.split("__", 1)[1]) for name in values
    }
    before = {name: getattr(module, attribute) for name, (module, attribute) in places.items()}
    try:
        for name, (module, attribute) in places.items():
            setattr(module, attribute, values[name])
        yield
    finally:
        for name, (module, attribute) in places.items():
            setattr(module, attribute, before[name])
