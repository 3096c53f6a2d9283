"""A progress bar for long reads, on terminals only: the share of the files already read, or a pulse.

It never shows the number of rows, which is sensitive.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 1.0  # seconds before the bar appears


class Watch:
    """What the bar shows, if there is one: the share already read during a pass over files, otherwise a pulse."""

    def __init__(self, bar: "Progress | None") -> None:
        self.share: Callable[[], float] | None = None
        self._bar = bar
        if bar is not None:
            self._read = bar.add_task("Reading", total=1.0, visible=False)
            self._pulse = bar.add_task("Working", total=None)

    def __call__(self, rows: int) -> None:
        """Update the bar after rows were read; their number is not shown."""
        if self._bar is None:
            return
        done = 1.0 if self.share is None else self.share()
        # A completed task would stop its clock, but another pass may follow.
        self._bar.update(self._read, completed=done if done < 1 else None, visible=done < 1)
        self._bar.update(self._pulse, visible=done >= 1)


@contextmanager
def watched(quiet: bool) -> Iterator[Watch]:
    """A watch to report progress to; the bar appears if reading takes long, and disappears at the end."""
    if quiet or not sys.stderr.isatty():
        yield Watch(None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(text_format_no_percentage=""),
        TimeElapsedColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    timer = Timer(_PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield Watch(bar)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
