"""Module constants set to other values while an audit runs, so that laws are short enough to be enumerated."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

_PLACES = {
    "above_threshold": "mechanisms.above_threshold",
    "additive": "noise.additive",
    "auto": "ranks.auto",
    "clip": "clipping.clip",
    "clipped": "clipping.plan",
    "halving": "ranks.halving",
    "ladder": "ladders.ladder",
    "question": "ranks.question",
    "scale": "ranks.scale",
    "skip_ahead": "mechanisms.skip_ahead",
    "slices": "ranks.slices",
    "sparse_vector": "mechanisms.sparse_vector",
    "vector_plans": "clipping.vectors",
    "vectors": "statistics.vectors",
}


@contextmanager
def replaced(**values: Any) -> Iterator[None]:
    """With other values for `module__NAME` of nobounds, and the old ones after it."""
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
