"""Noisy counts as numbers that fit together: none below 0 with one total, and shares that rise from 0 to 1.

All of it is post-processing: it follows from noisy counts.
"""

import numpy as np

from nobounds.arrays import Floats


def with_total(noisy: list[int]) -> list[int]:
    """The whole numbers from 0 on nearest to noisy counts that add up to their total, or to 0 if it is negative.

    To cut off negative counts alone would make the total too large: half of all empty bins have a positive one. Here
    all positive counts are lowered by the same amount (the Euclidean projection on a simplex), and then rounded.

    >>> with_total([10, -1, 1, -2, 8])
    [9, 0, 0, 0, 7]
    """
    total = max(sum(noisy), 0)
    left = sorted((count for count in noisy if count > 0), reverse=True)
    while left and sum(left) - len(left) * left[-1] > total:  # the smallest would fall below 0
        left.pop()
    kept = max(len(left), 1)
    over = sum(left) - total  # to be taken from the `kept` largest counts in equal parts
    down, more = divmod(over, kept)
    order = sorted(range(len(noisy)), key=lambda place: -noisy[place])[: len(left)]
    result = [0] * len(noisy)
    for k, place in enumerate(order):
        result[place] = noisy[place] - down - (k < more)
    return result


def rising(shares: Floats) -> Floats:
    """The numbers nearest to these that never fall (isotonic regression), between 0 and 1.

    >>> rising(np.array([-0.1, 0.5, 0.3, 0.9])).tolist()
    [0.0, 0.4, 0.4, 0.9]
    """
    means: list[tuple[float, int]] = []
    for share in shares.tolist():
        means.append((share, 1))
        while len(means) > 1 and means[-2][0] > means[-1][0]:
            (last, many), (first, others) = means.pop(), means.pop()
            means.append(((last * many + first * others) / (many + others), many + others))
    flat: Floats = np.repeat([mean for mean, _ in means], [many for _, many in means])
    return np.asarray(np.clip(flat, 0.0, 1.0))
