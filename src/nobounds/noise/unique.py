"""Objects whose state must exist only once, because a copy would reuse noise that was charged once."""

from typing import NoReturn, SupportsIndex


class Unique:
    """Refuses `copy.copy`, `copy.deepcopy` and `pickle`, which all call `__reduce_ex__`."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} objects cannot be copied or pickled, because a copy would reuse noise that was "
            f"charged once; create a new one instead, at its own cost"
        )
