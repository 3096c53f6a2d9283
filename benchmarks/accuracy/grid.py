"""The grid: which cells each part of the comparison has, in full and in a quick run.

inner, tails, extremes, deciles, mean and sum compare errors with those of the rivals. few, wild, growth, units and
stated are promises about nobounds alone: failures with few rows, wild answers, errors that must not rise with n, nor
with a change of unit, nor when something true is stated.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from nobounds.research.bench.cells import Cell, Relation
from nobounds.research.bench.families import FAMILIES, POSITIVE, SMOOTH, TIED

RELATIONS: tuple[Relation, ...] = ("add-remove", "swap")
OFFSETS = (0.0, 5.0, 17.3, 100.0, 1000.0, -17.0, -1013.9)
TIED_OFFSETS = (0.0, 17.0, -103.7, 1000.0)
SINGLE = ((30, 1.0), (100, 1.0), (300, 1.0), (1000, 1.0), (10_000, 1.0), (100_000, 1.0), (10_000, 0.1))
STATISTICS = {
    "inner": ("q=0.25", "q=0.5", "q=0.75"),
    "tails": ("q=0.01", "q=0.9", "q=0.95", "q=0.99"),
    "extremes": ("maximum", "minimum"),
    "deciles": ("deciles",),
    "mean": ("mean",),
    "sum": ("sum",),
    "few": ("q=0.5",),
    "wild": ("q=0.01", "q=0.99"),
    "growth": ("q=0.5", "q=0.9", "mean"),
    "units": ("q=0.5", "q=0.9", "maximum", "mean"),
    "stated": ("q=0.5", "q=0.9", "maximum", "mean"),
}
SIZES = {
    "inner": ((50, 1.0), *SINGLE[1:5], SINGLE[5], (1000, 0.1)),
    "tails": SINGLE,
    "extremes": SINGLE,
    "deciles": ((100, 1.0), (300, 1.0), (1000, 1.0), (10_000, 1.0), (3000, 0.1)),
    "mean": ((50, 1.0), (200, 1.0), (500, 1.0), (1000, 1.0), (10_000, 1.0), (100_000, 1.0), (3000, 0.1)),
    "sum": ((100, 1.0), (1000, 1.0), (10_000, 1.0), (100_000, 1.0), (10_000, 0.1)),
    "few": ((20, 1.0), (50, 1.0), (100, 1.0)),
    "wild": ((1000, 1.0),),
    "growth": tuple(
        (n, 1.0) for n in (20, 30, 50, 80, 130, 200, 300, 500, 800, 1300, 2000, 3500, 6000, 10_000, 30_000, 100_000)
    ),
    "units": ((50, 1.0), (300, 1.0), (1000, 1.0), (10_000, 1.0)),
    "stated": ((100, 1.0), (1000, 1.0), (10_000, 1.0)),
}
PLACES = {  # families and their offsets
    "sum": {family: OFFSETS for family in POSITIVE},
    "few": {"normal": (5.0, 17.0), "lognormal": (0.0, 5.0, 17.0), "pareto": (0.0, 5.0), "zeros": (5.0,)},
    "wild": dict.fromkeys(("lognormal", "pareto", "exponential", "uniform-0-100"), (0.0,)),
    "growth": dict.fromkeys(("normal", "lognormal", "ages"), (0.0, 17.3)),
    "units": dict.fromkeys(("normal", "lognormal"), (0.0, 17.3, 1000.0)),
    "stated": {"normal": (17.3,), "lognormal": (0.0,), "ages": (0.0,), "pressure": (0.0,), "salaries": (0.0,)},
}
ELSEWHERE = dict.fromkeys(SMOOTH, OFFSETS) | dict.fromkeys(TIED, TIED_OFFSETS)
SCALES = (1.0, 1e-9, 1e9)
STATED = ("", "lower", "upper", "resolution", "rows")
REPETITIONS = {"wild": 20_000}  # others have 400
QUICK_SIZES = {part: (100, 1000, 10_000) for part in ("inner", "tails", "extremes", "deciles", "mean", "sum")}
QUICK_SIZES |= {"growth": (20, 50, 100, 200, 500, 1000, 2000, 10_000), "units": (50, 1000), "stated": (1000,)}
QUICK_OFFSETS = (0.0, 17.0, 17.3, 1000.0)
QUICK_FAMILIES = ("normal", "lognormal", "salaries", "exponential", "normal-40-12", "pressure")


def grid(
    parts: Iterable[str],
    *,
    quick: bool = False,
    sizes: Iterable[int] | None = None,
    epsilons: Iterable[float] | None = None,
    families: Iterable[str] | None = None,
    offsets: Iterable[float] | None = None,
    relations: Iterable[Relation] = RELATIONS,
    statistics: Sequence[str] | None = None,
) -> Iterator[Cell]:
    """The cells of the parts; what is not given is as in the full comparison, or the quick one."""
    for part in parts:
        pairs: Iterable[tuple[int, float]] = SIZES[part]
        if quick and part in QUICK_SIZES:
            pairs = [(n, 1.0) for n in QUICK_SIZES[part]]
        if sizes or epsilons:
            pairs = list(product(sizes or sorted({n for n, _ in pairs}), epsilons or (1.0,)))
        places = PLACES.get(part, ELSEWHERE)
        chosen = families or [name for name in places if not quick or part == "few" or name in QUICK_FAMILIES]
        wanted = [name for name in STATISTICS[part] if statistics is None or name in statistics]
        for statistic, family, (n, epsilon), relation in product(wanted or statistics or (), chosen, pairs, relations):
            usual = places.get(family, OFFSETS)
            for offset in offsets or [o for o in usual if not quick or part == "few" or o in QUICK_OFFSETS]:
                cell = Cell(part, statistic, family, float(offset), n, float(epsilon), relation)
                yield from variants(cell)


def variants(cell: Cell) -> Iterator[Cell]:
    """The cell itself; with other units or with true statements in the parts that are about these."""
    fields = cell.as_dict()
    if cell.part == "units":
        if cell.statistic == "q=0.5" or cell.budget >= 1000:
            yield from (Cell(**fields | {"scale": scale}) for scale in SCALES)
    elif cell.part == "stated":
        for stated in STATED:
            if stated == "resolution" and FAMILIES[cell.family].resolution is None:
                continue
            if stated == "rows" and not (cell.statistic.startswith("q=") and cell.relation == "add-remove"):
                continue
            yield Cell(**fields | {"stated": stated})
    elif not (cell.part == "few" and cell.n == 20 and abs(cell.offset) > 17):
        yield cell
