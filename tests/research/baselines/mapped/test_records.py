"""Records of methods without bounds."""

import numpy as np

from nobounds.research.baselines.mapped.records import LARGEST, ordered_records


def test_missing_records_are_0_and_infinite_ones_the_largest():
    """Both rules look at one record alone, and the number of records stays."""
    assert ordered_records([3.0, np.nan, -np.inf, np.inf, -2.0]).tolist() == [-LARGEST, -2.0, 0.0, 3.0, LARGEST]
