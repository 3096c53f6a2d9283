"""The statistics of ranks with `marks=False`: they answer with few rows too, as most tests want."""

from functools import partial

import nobounds as nb

quantile = partial(nb.quantile, marks=False)
quantiles = partial(nb.quantiles, marks=False)
maximum = partial(nb.maximum, marks=False)
minimum = partial(nb.minimum, marks=False)
bounds = partial(nb.bounds, marks=False)
