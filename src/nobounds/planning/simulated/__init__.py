"""Forecasts by seeded releases, for statistics whose answers have no closed law."""

from nobounds.planning.simulated.columns import SIMULATED as OF_ONE
from nobounds.planning.simulated.pairs import PAIRED

SIMULATED = OF_ONE | PAIRED
