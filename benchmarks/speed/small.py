"""Processor time of single answers about 1,000 records beside private peers, warm and cold.

`make bench` runs it. All take turns in one process, in a new order each time, and the lower quartile of the turns
counts: the way that an answer takes is random, and the least time may be that of a rare short one. Cold is the first
call of a statistic in a process that has made a count: all modules are loaded, and no plan is made yet.
"""

import argparse
import json
import random
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from nobounds.noise.source import random_source
from nobounds.programs.program import Driver

N = 1000
PEERS = {"median": "median", "quantile 0.9": "median", "maximum": "median", "sum": "sum", "mean": "mean"}
SECTION = """## A thousand records

One answer about 1,000 records at epsilon 1, in memory, beside the fastest private peer for the same statistic, which is
given bounds; a quantile and a maximum stand beside the median of the peers. Cold is the first call of a kind. The
parameters and the interval of an answer are computed when they are first read, and are not in these times. All times
are lower quartiles, of turns in an order that is random: so is the way that an answer takes, and the least time may be
that of a rare short one.

Why bars are missed: a peer gets its bounds, and a sum of it is one pass and one draw of noise in compiled code.
nobounds finds the bounds as well, in Python: a sum and a mean each make five decisions, with about 40 exact draws. How
long it takes to come to each decision, and to draw it, in microseconds (`python benchmarks/speed/small.py --stages`,
the lower quartile of 400 calls):

{stages}

The longest stretch of sums and means lies before their last decision: the clip is moved to where noisy counts of
octaves expect the least error, which weighs some 1,500 shapes of tails on each side, and then the records are clipped
and added up. The rest is spread evenly: a sum calls about 1,000 functions of Python and several hundred of numpy, most
of them on short arrays, where the call takes longer than the work. So the bar of sums and means is out of reach for a
search in Python: the call itself and the first pass over the records (what comes before the first decision, and what is
around all of them) take as long as a whole sum of the peer. The calls above follow one another; in turns with the
peers, as in the table, a sum takes half as long again, because the caches of the processor hold other code and data.
For comparison, a count, which needs no bounds, takes {count:.2f} ms.
"""
WARM, COLD = 3.0, 10.0  # times the fastest private peer, and times the warm call, at most
_COLD = """
import json, time, numpy as np, nobounds as nb
data = np.random.default_rng(0).lognormal(3, 0.8, {n})
nb.count(data, epsilon=1)
import nobounds.statistics.quantiles, nobounds.statistics.sums
start = time.process_time()
{call}
print(time.process_time() - start)
"""
CALLS = {
    "median": "nb.quantile(data, 0.5, epsilon=1)",
    "quantile 0.9": "nb.quantile(data, 0.9, epsilon=1)",
    "maximum": "nb.maximum(data, epsilon=1)",
    "sum": "nb.sum(data, epsilon=1)",
    "mean": "nb.mean(data, epsilon=1)",
    "count": "nb.count(data, epsilon=1)",
}


def warm(turns: int) -> dict[tuple[str, str], float]:
    """The lower quartile of the processor times of each call, by statistic and library."""
    import ratios

    import nobounds as nb

    data = np.random.default_rng(0).lognormal(3, 0.8, N)
    calls: dict[tuple[str, str], Any] = {
        (name, "nobounds"): eval(f"lambda data: {call}", {"nb": nb}) for name, call in CALLS.items()
    }
    for statistic in ("median", "sum", "mean"):
        calls[statistic, "PyDP"] = ratios.from_pydp(statistic)
        calls[statistic, "diffprivlib"] = ratios.from_diffprivlib(statistic)
        if statistic != "mean":
            calls[statistic, "OpenDP"] = ratios.from_opendp(statistic)
    times: dict[tuple[str, str], list[float]] = {key: [] for key in calls}
    order = random.Random(0)
    for _ in range(turns + 1):
        for key in order.sample(list(calls), len(calls)):  # what ran before has filled the caches of the processor
            call, start = calls[key], time.process_time()
            call(data)
            times[key].append(time.process_time() - start)
    return {key: quartile(each[1:]) for key, each in times.items()}


def quartile(times: list[float]) -> float:
    """The lower quartile of times."""
    return float(np.quantile(times, 0.25))


class Stages(Driver):
    """A driver that notes how long it takes to come to each decision, and to draw it."""

    def __init__(self) -> None:
        self.source, self.noted = random_source(None), list[tuple[str, float]]()

    def run(self, program: Any) -> Any:
        """The result of a program."""
        outcome = None
        while True:
            start = time.perf_counter()
            try:
                decision = program.send(outcome)
            except StopIteration as end:
                self.noted.append(("the rest", time.perf_counter() - start))
                return end.value
            reached = time.perf_counter()
            outcome = decision.draw(self.source)
            self.noted.append((f"to {type(decision).__name__}", reached - start))
            self.noted.append(("draw", time.perf_counter() - reached))


def stages(calls: int = 400) -> str:
    """Where the time of each statistic goes, a line for each."""
    import nobounds as nb

    data, lines = np.random.default_rng(0).lognormal(3, 0.8, N), []
    for name in PEERS:
        call = eval(f"lambda data, rng: {CALLS[name][:-1]}, rng=rng)", {"nb": nb})
        by_shape: dict[tuple[str, ...], list[list[float]]] = {}
        for _ in range(calls):
            driver = Stages()
            start = time.perf_counter()
            call(data, driver)
            whole = time.perf_counter() - start
            noted = [*driver.noted, ("around them", whole - sum(each for _, each in driver.noted))]
            by_shape.setdefault(tuple(what for what, _ in noted), []).append([each for _, each in noted])
        shape, times = max(by_shape.items(), key=lambda item: len(item[1]))
        least = np.quantile(np.array(times) * 1e6, 0.25, axis=0)
        parts = (f"{what} {each:.0f}" for what, each in zip(shape, least.tolist(), strict=True))
        lines.append(f"- {name}: {', '.join(parts)}")
    return "\n".join(lines)


def cold(turns: int) -> dict[str, float]:
    """The lower quartile of the processor times of the first call of each statistic in a process."""
    times: dict[str, list[float]] = {name: [] for name in PEERS}
    for _ in range(turns):
        for name, each in times.items():
            code = _COLD.format(n=N, call=CALLS[name])
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            each.append(json.loads(done.stdout))
    return {name: quartile(each) for name, each in times.items()}


def table(warm: dict[tuple[str, str], float], cold: dict[str, float]) -> str:
    """The times, and beside them the bars that they are held against."""
    lines = ["| statistic | nobounds | fastest private peer | times | cold | times warm |", "|---|---|---|---|---|---|"]
    for name, peer in PEERS.items():
        own = warm[name, "nobounds"]
        least, who = min((each, who) for (what, who), each in warm.items() if what == peer and who != "nobounds")
        ratio, first = own / least, cold[name]
        marks = ["" if ratio <= WARM else f" (bar {WARM:g})", "" if first <= COLD * own else f" (bar {COLD:g})"]
        lines.append(
            f"| {name} | {1e3 * own:.2f} ms | {1e3 * least:.3f} ms, {peer} of {who} | {ratio:.1f}{marks[0]} "
            f"| {1e3 * first:.1f} ms | {first / own:.1f}{marks[1]} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--stages", action="store_true", help="print where the time goes, and nothing else")
    parser.add_argument("--page", type=Path, help="add a section to this page")
    options = parser.parse_args()
    turns = options.turns
    warnings.simplefilter("ignore")
    if options.stages:
        print(stages())
        return
    sys.path.insert(0, str(Path(__file__).parent))
    times = warm(turns)
    text = table(times, cold(max(turns // 10, 2)))
    print(text)
    if options.page is not None:
        section = SECTION.format(count=1e3 * times["count", "nobounds"], stages=stages())
        options.page.write_text(f"{options.page.read_text()}\n{section}\n{text}\n")


if __name__ == "__main__":
    main()
