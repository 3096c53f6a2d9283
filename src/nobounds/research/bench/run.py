"""The comparison: its cells, and the errors of all methods in each of them."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product

from nobounds.research.bench.cells import Cell, Relation
from nobounds.research.bench.families import FAMILIES, SMOOTH, TIED
from nobounds.research.bench.methods import methods_for, of_others
from nobounds.research.bench.results import Outcome
from nobounds.research.bench.rivals import RIVALS
from nobounds.values import dataclass

STATISTICS = ("q=0.25", "q=0.5", "q=0.75", "q=0.9", "q=0.95", "q=0.99", "maximum", "minimum", "deciles", "mean", "sum")
RIVAL_NAMES = tuple(dict.fromkeys(name for rivals in RIVALS.values() for name in rivals))
_PARTS = {"maximum": "extremes", "minimum": "extremes", "deciles": "deciles", "mean": "mean", "sum": "sum"}


@dataclass(frozen=True, slots=True)
class Setting:
    """What is compared: every combination of these is a cell."""

    statistics: Sequence[str] = ("q=0.5", "q=0.9", "q=0.99", "maximum")
    families: Sequence[str] = (*SMOOTH, *TIED)
    offsets: Sequence[float] = (0.0, 17.3)
    sizes: Sequence[int] = (1000,)
    epsilons: Sequence[float] = (1.0,)
    relations: Sequence[Relation] = ("add-remove",)
    repetitions: int = 50

    def __post_init__(self) -> None:
        for name, given, allowed in (("statistic", self.statistics, STATISTICS), ("family", self.families, FAMILIES)):
            for value in given:
                if value not in allowed and not (name == "statistic" and _is_rank(value)):
                    raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
        if min(self.sizes) < 1 or min(self.epsilons) <= 0 or self.repetitions < 2:
            raise ValueError("sizes and epsilons must be positive, and repetitions at least 2")

    def cells(self) -> list[Cell]:
        """Every cell, in the order of the table."""
        grid = product(self.statistics, self.families, self.offsets, self.sizes, self.epsilons, self.relations)
        return [
            Cell(_PARTS.get(statistic, "tails"), statistic, family, float(offset), n, float(epsilon), relation)
            for statistic, family, offset, n, epsilon, relation in grid
        ]


def _is_rank(statistic: str) -> bool:
    """Whether a statistic is a quantile, such as "q=0.8"."""
    try:
        return statistic.startswith("q=") and 0 <= float(statistic.removeprefix("q=")) <= 1
    except ValueError:
        return False


def measured(cell: Cell, specs: tuple[str, ...], rivals: tuple[str, ...] | None, repetitions: int) -> Outcome:
    """The errors of all methods in one cell."""
    methods = methods_for(cell, of_others(specs), rivals)
    return Outcome(cell, {name: errors(cell, repetitions) for name, errors in methods.items()})


def compare(
    setting: Setting, specs: Iterable[str] = (), *, rivals: Iterable[str] | None = None, processes: int = 1
) -> Iterator[Outcome]:
    """The outcome of each cell, as it is computed.

    specs: methods of others, as `module:function` or `file.py:function`. rivals: the names of those to compare with;
    default: all. Data and draws follow from the cell, so that a run can be repeated.

    >>> few = Setting(("q=0.5",), ("normal",), (0.0,), (200,), repetitions=4)
    >>> [sorted(outcome.errors) for outcome in compare(few)]
    [['mapped', 'nobounds', 'piecewise Laplace']]
    """
    chosen = None if rivals is None else tuple(rivals)
    for name in chosen or ():
        if name not in RIVAL_NAMES:
            raise ValueError(f"rivals must be of {', '.join(RIVAL_NAMES)}, got {name!r}")
    named = tuple(specs)
    of_others(named)  # a method that cannot be imported is reported before anything runs
    work = partial(measured, specs=named, rivals=chosen, repetitions=setting.repetitions)
    if processes == 1:
        yield from map(work, setting.cells())
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(work, setting.cells())
