"""Values are the frozen dataclasses of the standard library, but for when their methods are compiled."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import Any

import pytest

from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A class with every kind of field."""

    x: float
    name: str = field(repr=False)
    tags: list[str] = field(default_factory=list)
    weight: int = 3
    key: str = field(default="k", kw_only=True, compare=False)
    norm: float = field(init=False)
    seen: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        object.__setattr__(self, "norm", abs(self.x))


@dataclasses.dataclass(frozen=True, slots=True)
class Same:
    """The same class by the standard library."""

    x: float
    name: str = field(repr=False)
    tags: list[str] = field(default_factory=list)
    weight: int = 3
    key: str = field(default="k", kw_only=True, compare=False)
    norm: float = field(init=False)
    seen: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        object.__setattr__(self, "norm", abs(self.x))


@dataclass(frozen=True, slots=True)
class Pair:
    """A class that can be hashed."""

    x: int
    y: int = 2


@dataclass(frozen=True, slots=True)
class Triple(Pair):
    """One that adds a field."""

    z: int = 3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hidden:
    """One that is compared by identity and does not show its field."""

    x: int


CALLS: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((1.0, "a"), {}),
    ((-2.0, "b", ["t"]), {"key": "other"}),
    ((3.0,), {"name": "c", "weight": 7}),
)


@pytest.mark.parametrize(("given", "named"), CALLS)
def test_a_value_has_the_fields_and_the_text_of_a_dataclass(given: Any, named: Any):
    """Defaults, factories, fields that are not given and fields by keyword alone."""
    ours, theirs = Point(*given, **named), Same(*given, **named)
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert repr(ours).removeprefix("Point") == repr(theirs).removeprefix("Same")
    assert ours == Point(*given, **named | {"key": "not compared"}) != replace(ours, x=9.0)
    assert [each.name for each in fields(ours)] == [each.name for each in fields(theirs)]
    assert ours.tags is not Point(*given, **named).tags or len(given) > 2


@pytest.mark.parametrize(("given", "named"), [((), {}), ((1.0, "a", [], 3, "k"), {}), ((1.0, "a"), {"norm": 2.0})])
def test_wrong_arguments_are_refused(given: Any, named: Any):
    """Too few, too many, and a field that is not given by the caller."""
    for kind in (Point, Same):
        with pytest.raises(TypeError):
            kind(*given, **named)


def test_a_value_is_frozen():
    """No field can be set or deleted, nor one added."""
    pair = Pair(1)
    for name in ("x", "other"):
        with pytest.raises(FrozenInstanceError):
            setattr(pair, name, 5)
    with pytest.raises(FrozenInstanceError):
        del pair.x
    assert not hasattr(pair, "__dict__")


def test_hashes_and_comparisons_are_those_of_the_fields():
    """Equal values have equal hashes; a subclass is another class."""
    assert hash(Pair(1)) == hash(Pair(1, 2)) == hash((1, 2)) and Pair(1) != Pair(1, 3)
    assert Triple(1) != Pair(1) and Triple(1).z == 3 and hash(Triple(1)) == hash((1, 2, 3))
    assert Hidden(1) != Hidden(1) and "Hidden object" in repr(Hidden(1))
    with pytest.raises(TypeError):
        hash(Point(1.0, "a"))  # a list is among its fields


def test_copies_are_equal():
    """By pickle, copy and replace."""
    for pair in (Pair(4, 5), Triple(1, 2, 7)):
        assert pickle.loads(pickle.dumps(pair)) == copy.deepcopy(pair) == copy.copy(pair) == replace(pair) == pair


def test_the_signature_is_that_of_the_fields():
    """As tools show it, before and after the first call."""

    @dataclass(frozen=True)
    class Fresh:
        """A class that nothing has called."""

        x: int
        y: float = 2.0

    assert str(inspect.signature(Fresh)) == "(x: int, y: float = 2.0)"


def test_methods_are_compiled_when_they_are_first_used():
    """Before the first call the class has none of its own."""

    @dataclass(frozen=True, slots=True)
    class Fresh:
        """A class that nothing has called."""

        x: int

    assert not [name for name in ("__init__", "__eq__", "__hash__") if inspect.isfunction(vars(Fresh)[name])]
    assert Fresh(1).x == 1 and inspect.isfunction(vars(Fresh)["__init__"])
    assert hash(Fresh(1)) == hash((1,)) and inspect.isfunction(vars(Fresh)["__hash__"])
    assert not inspect.isfunction(vars(Fresh)["__eq__"]) and Fresh(1) == Fresh(1)


def test_a_class_that_is_not_frozen_is_the_standard_one():
    """Its fields can be set."""

    @dataclass(slots=True)
    class Open:
        """A class whose fields change."""

        x: int

    made = Open(1)
    made.x = 2
    assert made == Open(2)
