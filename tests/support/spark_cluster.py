"""A standalone Spark cluster on this machine: a master and two workers from pip's pyspark, each in a small JVM.

`python -m support.spark_cluster FOLDER` in `tests/` answers there, loses an executor between two passes, and answers
again; each line is an answer. All processes that it starts end with it.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

ROWS = 60_000
SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def data() -> dict[str, Any]:
    """The rows of both tables."""
    rng = np.random.default_rng(6)
    return {"x": rng.lognormal(3, 1, ROWS), "n": rng.integers(0, 90, ROWS), "g": rng.choice(["a", "b"], ROWS)}


def answers(table: Any) -> Iterator[str]:
    """What is asked of each."""
    yield f"{table.quantile('x', 0.9, epsilon=1, rng=random.Random(1)).value!r}"
    yield f"{table.mean('x', epsilon=1, rng=random.Random(1)).value!r}"
    yield f"{table.group_by('g', keys=['a', 'b']).sum('n', epsilon=1, rng=random.Random(1)).values.tolist()!r}"


@contextmanager
def cluster(folder: Path, memory: str = "600m") -> Iterator[str]:
    """The address of the master; `memory` is that of each worker."""
    import pyspark

    home = Path(pyspark.__file__).parent
    small = {"SPARK_DAEMON_MEMORY": "128m", "SPARK_DAEMON_JAVA_OPTS": SMALL, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment = os.environ | small | {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> Path:
        log = folder / f"{name}-{len(started)}.log"
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
        with log.open("wb") as file:
            started.append(
                subprocess.Popen(command, env=environment, stdout=file, stderr=file, cwd=folder, start_new_session=True)
            )
        return log

    try:
        master = start("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        address = _waited(master, r"Starting Spark master at (spark://\S+)")
        for number in range(2):
            own = ["--cores", "1", "--memory", memory, "--webui-port", "0", "--work-dir", str(folder / str(number))]
            start("worker.Worker", "--host", "127.0.0.1", *own, address)
        yield address
    finally:
        for process in started:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # with the executors of a worker
            except ProcessLookupError:
                continue
            process.wait()


def executors(folder: Path) -> list[int]:
    """The processes of the executors, by the folders that the workers gave them."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(folder) in os.readlink(entry / "cwd"):
                command = (entry / "cmdline").read_bytes()
                if b"CoarseGrainedExecutorBackend" in command:
                    found.append(int(entry.name))
        except OSError:
            continue
    return found


def _waited(log: Path, pattern: str) -> str:
    for _ in range(600):
        if known := re.search(pattern, log.read_text(errors="replace")):
            return known[1]
        time.sleep(0.1)
    raise TimeoutError(log.read_text(errors="replace")[-2000:])


def main(folder: Path) -> None:
    """Answer before and after an executor is lost."""
    import pyarrow as pa
    from pyspark.sql import SparkSession

    import nobounds as nb
    from nobounds.counting.histogram import Counted
    from nobounds.counting.scan import scan
    from nobounds.engines.spark.table import from_spark
    from nobounds.ladders.ladder import Ladder

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with cluster(folder) as address:
        builder = SparkSession.builder.master(address).config("spark.executor.memory", "512m")
        settings = {"driver.memory": "512m", "driver.host": "127.0.0.1", "driver.bindAddress": "127.0.0.1"}
        settings |= {"ui.enabled": "false", "ui.showConsoleProgress": "false", "sql.shuffle.partitions": "2"}
        settings |= {"executor.extraJavaOptions": SMALL, "driver.extraJavaOptions": SMALL}
        settings |= {"executorEnv.PYTHONPATH": os.pathsep.join(sys.path)}
        for name, value in settings.items():
            builder = builder.config(f"spark.{name}", value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        try:
            session.createDataFrame(pa.table(data())).repartition(4, "n").write.parquet(str(folder / "rows"))
            frame = session.read.parquet(str(folder / "rows"))
            table, ladder = nb.Table(frame), Counted(Ladder.grid(1))
            for line in answers(table):
                print(line)
            column = from_spark(frame).columns(["x"], None)["x"]
            scan(column.chunks(), Counted(Ladder.float_bits(8)), None)  # the rows are kept on both executors
            lost = executors(folder)
            print("executors", len(lost))
            os.kill(lost[0], signal.SIGKILL)
            counted = scan(column.chunks(), ladder, lambda a, b: a + b)
            print("total", counted.total)
            for line in answers(table):
                print(line)
        finally:
            session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
