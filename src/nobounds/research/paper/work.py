"""Tasks that run once: each result is stored in its own file, so an interrupted run resumes where it stopped.

A task is a name, a function of this package and plain arguments. Its seed is derived from its name, so results do not
depend on the order, the number of processes or earlier runs.
"""

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from nobounds.values import dataclass

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """What to run, and its name: the experiment, and the part of it."""

    experiment: str
    name: str
    function: Callable[..., Result]
    arguments: tuple[Any, ...] = field(default=())

    @property
    def file(self) -> str:
        """The file of its result."""
        return f"{self.experiment}-{self.name}.json".replace(" ", "_")

    def run(self) -> Result:
        """The result, with the task's own seed."""
        return self.function(np.random.default_rng(zlib.crc32(self.file.encode())), *self.arguments)


def finished(tasks: Iterable[Task], folder: Path) -> list[Task]:
    """The tasks whose results are stored."""
    return [task for task in tasks if (folder / task.file).exists()]


def work(tasks: list[Task], folder: Path, processes: int) -> Iterator[Task]:
    """Run the tasks without a stored result, and yield each when its result is stored."""
    folder.mkdir(parents=True, exist_ok=True)
    left = [task for task in tasks if not (folder / task.file).exists()]
    if processes == 1 or len(left) < 2:
        for task in left:
            _keep(task, task.run(), folder)
            yield task
        return
    with ProcessPoolExecutor(processes) as pool:
        running = {pool.submit(task.run): task for task in left}
        try:
            for done in as_completed(running):
                _keep(running[done], done.result(), folder)
                yield running[done]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def results(tasks: Iterable[Task], folder: Path) -> dict[str, Result]:
    """The results by name."""
    return {task.name: json.loads((folder / task.file).read_text()) for task in tasks}


def _keep(task: Task, result: Result, folder: Path) -> None:
    unfinished = folder / f"{task.file}.part"
    unfinished.write_text(json.dumps(result))
    os.replace(unfinished, folder / task.file)
