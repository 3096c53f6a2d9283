"""Other libraries of differential privacy: private ranges for them, and their losses in a budget of nobounds.

`private_ranges` releases the bounds, candidates and edges that others require. The modules are called like their
libraries, and import them only when a function is called: `opendp`, `smartnoise`, `tumult`, `diffprivlib` and
`dp_accounting`. scikit-learn has `nobounds.sklearn.PrivateClipper`.

A released range is public, so what another library computes with it costs what that library says, and both losses add
up: charge both to one `Budget`. A `loss` of these modules rounds up, and what they hand to a library rounds down.
"""

from nobounds.interop import diffprivlib, dp_accounting, opendp, smartnoise, tumult
from nobounds.interop.ranges import Range, Ranges, private_ranges

__all__ = [
    "Range",
    "Ranges",
    "diffprivlib",
    "dp_accounting",
    "opendp",
    "private_ranges",
    "smartnoise",
    "tumult",
]
