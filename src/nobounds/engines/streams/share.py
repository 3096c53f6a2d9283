"""The share of some files that the current pass has read, for progress bars."""


class Share:
    """The part of a total, in bytes or rows, that was read; calling it returns the share, from 0 to 1."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._place = 0

    def at(self, place: int) -> None:
        """Set the number of bytes or rows read."""
        self._place = place

    def __call__(self) -> float:
        return min(self._place / self._total, 1.0) if self._total else 1.0
