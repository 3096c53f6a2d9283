"""No catastrophe: where records suffice, the answer stays near the data with probability 99.9% (exact laws)."""

import numpy as np
import pytest
from support.laws import answer_law, chance_outside

EPSILONS, QS = (0.05, 0.2, 1, 4), (0.001, 0.01, 0.05, 0.25, 0.5, 0.9, 0.99)
FAMILIES = {
    "uniform": lambda rng, n: rng.uniform(-1, 3, n),
    "lognormal": lambda rng, n: rng.lognormal(3, 0.8, n),
    "pareto": lambda rng, n: rng.pareto(1.1, n) + 1,
    "tied": lambda rng, n: np.floor(rng.exponential(2.0, n)),
    "two points": lambda rng, n: rng.choice([-3.0, 1e6], n, p=[0.8, 0.2]),
}


def chance_of_catastrophe(data, q, **options):
    """P(the answer lies more than ten times the data's range, or their largest magnitude, outside of them)."""
    law = answer_law(data, q, least=1e-4, rows=len(data), **options)
    reach = 10 * max(float(np.ptp(data)), float(np.abs(data).max()))
    return chance_outside(law, float(data.min()) - reach, float(data.max()) + reach)


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("n", [40, 200, 2_000, 200_000])
@pytest.mark.parametrize("family", FAMILIES)
def test_answers_stay_near_the_data_where_records_suffice(family, n, neighbors):
    """For all n epsilon min(q, 1 - q) > 60 the chance of an answer ten times outside of the range is below 1e-3."""
    data = FAMILIES[family](np.random.default_rng(n), n)
    cases = [(q, epsilon) for q in QS for epsilon in EPSILONS if n * epsilon * min(q, 1 - q) > 60]
    cases = cases[:: max(1, len(cases) // (3 if n < 10_000 else 2))]  # some of many: large laws take long
    assert cases
    for q, epsilon in cases:
        assert chance_of_catastrophe(data, q, epsilon=epsilon, neighbors=neighbors) < 1e-3, (q, epsilon)


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_mostly_missing_records_are_no_catastrophe(neighbors):
    """A thousand rows of which 70% are missing fail no worse than the three hundred that are there."""
    rng = np.random.default_rng(5)
    data = rng.lognormal(3, 0.8, 1000)
    data[rng.permutation(1000)[:700]] = np.nan
    there = data[~np.isnan(data)]
    for q in (0.05, 0.25, 0.5, 0.75, 0.95):
        law = answer_law(data, q, least=1e-3, epsilon=1, neighbors=neighbors, rows=300)
        top = 20 * float(there.max())
        assert chance_outside(law, -top, top) < 2e-3, q
