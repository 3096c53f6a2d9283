"""Values: frozen dataclasses whose methods are compiled when they are first used.

`dataclasses.dataclass` compiles six methods for each class, which takes half a millisecond; a command imports a hundred
and fifty classes and uses few of their methods. The classes are dataclasses all the same: `fields`, `replace`, `asdict`
and type checkers treat them as such.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def _dataclass(
        *, frozen: bool = False, slots: bool = False, init: bool = True, repr: bool = True, eq: bool = True
    ) -> Callable[[type], type]:
        """As `dataclasses.dataclass`; only the methods of frozen classes wait."""
        if not frozen:
            return dataclasses.dataclass(slots=slots, init=init, repr=repr, eq=eq)

        def made(cls: type) -> type:
            own = set(vars(cls))
            cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
            methods: dict[str, Any] = {"__repr__": _repr} if repr else {}
            methods |= {"__init__": _Later(_init, cls)} if init else {}
            methods |= {"__eq__": _Later(_eq, cls), "__hash__": _Later(_hash, cls)} if eq else {}
            methods |= {"__getstate__": _state, "__setstate__": _set_state} if slots else {}
            for name, method in methods.items():
                if name not in own:
                    setattr(cls, name, method)
            cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
            return cls

        return made

    dataclass = _dataclass


class _Later:
    """A method that is compiled, and put in its own place in the class, when it is first looked up."""

    def __init__(self, text: Callable[[type], tuple[str, dict[str, Any]]], cls: type) -> None:
        self._text, self._class = text, cls

    def __get__(self, instance: object, owner: type) -> Any:
        text, names = self._text(self._class)
        names["__name__"] = self._class.__module__
        exec(text, names)  # the text has names of fields alone
        method = names.popitem()[1]  # what was defined last
        method.__qualname__ = f"{self._class.__qualname__}.{method.__name__}"
        if method.__name__ == "__init__":
            method.__annotations__ = {each.name: each.type for each in fields(self._class) if each.init}
        setattr(self._class, method.__name__, method)
        return method.__get__(instance, owner)


def _init(cls: type) -> tuple[str, dict[str, Any]]:
    """The text of a method that sets each field, and the names in it."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    parameters: dict[bool, list[str]] = {False: [], True: []}
    body = list[str]()
    for each in fields(cls):
        made, value, default = f"_default_{each.name}", each.name, ""
        if each.default is not MISSING:
            names[made], default = each.default, f"={made}"
        elif each.default_factory is not MISSING:
            names[made], default = each.default_factory, "=_MISSING"
            value = f"{made}() if {each.name} is _MISSING else {each.name}"
        if each.init:
            parameters[bool(each.kw_only)].append(each.name + default)
        elif default:
            value = made + "()" * (default == "=_MISSING")
        if each.init or default:
            body.append(f"_set(self, {each.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    listed = ", ".join(["self", *parameters[False], *(["*", *parameters[True]] if parameters[True] else [])])
    return f"def __init__({listed}):\n " + "\n ".join(body or ["pass"]), names


def _eq(cls: type) -> tuple[str, dict[str, Any]]:
    """The text of a method that compares the fields of two values of one class."""
    own, others = _tuple(cls, "self"), _tuple(cls, "other")
    same = f"{own} == {others} if other.__class__ is self.__class__ else NotImplemented"
    return f"def __eq__(self, other):\n return {same}", {}


def _hash(cls: type) -> tuple[str, dict[str, Any]]:
    """The text of a method that hashes the fields."""
    return f"def __hash__(self):\n return hash({_tuple(cls, 'self')})", {}


def _tuple(cls: type, instance: str) -> str:
    return f"({''.join(f'{instance}.{each.name}, ' for each in _compared(cls))})"


def _compared(cls: type) -> list[Field[Any]]:
    return [each for each in fields(cls) if each.compare]


def _repr(self: Any) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({shown})"


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


def _refuse_to_set(self: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
