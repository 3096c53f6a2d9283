"""Many quantiles of data whose bounds nobody knows, for the price of a few: the public function (see `halving`)."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import Neighbors, check_neighbors
from nobounds.accounting.spending import Chargeable, Spending, charged
from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.exact import Number
from nobounds.noise.source import Rng, random_source
from nobounds.ranks.halving import Halving
from nobounds.ranks.question import Question
from nobounds.release.release import Release
from nobounds.statistics.quantile import ask, check_ranks, check_rows, ladder_for


def quantiles(
    data: object,
    q: Iterable[Number],
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    lower: Number | None = None,
    upper: Number | None = None,
    resolution: Number | None = None,
    neighbors: Neighbors = "add-remove",
    rows: Number | None = None,
    budget: Chargeable | None = None,
    rng: Rng = None,
) -> Release:
    """Private quantiles for one total epsilon or rho, in the order asked; the keywords are those of `quantile`.

    A larger q never has a smaller answer. One q is answered as `quantile` does; m of them cost as much as
    ceil(log2(m + 1)) would, each for its own epsilon. `rows`, if it is stated, has to be right to a hundredth or so:
    some of the ranks are counted from it.

    >>> import random
    >>> ages = [18 + i % 60 for i in range(6000)]
    >>> quantiles(ages, [0.25, 0.5, 0.75], epsilon=1, resolution=1, rng=random.Random(1)).value
    (33, 47, 62)
    """
    asked = check_ranks(q)
    qs = tuple(sorted(set(asked)))
    spending, relation = Spending.of(epsilon, rho), check_neighbors(neighbors)
    records, source = column(data), random_source(rng)
    options: dict[str, Any] = {"lower": lower, "upper": upper, "resolution": resolution, "rows": rows}
    plan: Question | Halving
    if len(qs) == 1:
        plan = ask(records, qs, epsilon=epsilon, rho=rho, neighbors=relation, **options)
    else:
        ladder = ladder_for(records, lower, upper, resolution)
        known = check_rows(rows) if rows is not None else records.rows() if relation == "swap" else None

        def halving(total: Fraction, zcdp: bool) -> Halving:
            stated = rows is not None
            return Halving.of(qs, total, ladder, relation, known, records.nullable, True, stated, zcdp)

        plan = spending.each(records.unit.rows).plan(halving)
    loss = charged(records.unit.loss(plan.cost(), relation), budget, f"quantiles {', '.join(map(str, qs))}")
    found = dict(zip(qs, plan.answer(Counts.of(records.chunks, plan.ladder), source), strict=True))
    parameters: dict[str, Any] = {"q": [str(each) for each in asked], **plan.ladder.describe()}
    if rows is not None:
        parameters["stated_rows"] = check_rows(rows)
    parameters |= spending.told(plan.parts(), records.unit)
    return Release("quantiles", tuple(found[each] for each in asked), loss, parameters)
