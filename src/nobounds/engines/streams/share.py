"""A share: how much of some files the pass under way has read, for progress bars."""


class Share:
    """Of a total, in bytes or in rows, what was read; called, it gives the share, from 0 to 1."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._place = 0

    def at(self, place: int) -> None:
        """So much was read."""
        self._place = place

    def __call__(self) -> float:
        return min(self._place / self._total, 1.0) if self._total else 1.0
