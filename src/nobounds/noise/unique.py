"""Objects that cannot be copied, because a copy would reuse noise that was charged once."""

from typing import NoReturn, SupportsIndex


class Unique:
    """Base of classes that refuse `copy.copy`, `copy.deepcopy` and `pickle`, all of which call `__reduce_ex__`."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} objects cannot be copied or pickled, because a copy would reuse noise that was "
            f"charged once; create a new one instead, at its own cost"
        )
