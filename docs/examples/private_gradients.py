"""Private gradient descent when nobody knows how large a gradient is.

The gradients of single examples are as large as the features make them, and they shrink while the model learns. A clip
that is fixed in advance is a guess at both. Here each step asks for a private mean of the gradients, and finds its own
clip within the same budget.

Run it: python docs/examples/private_gradients.py
"""

import math
from fractions import Fraction

import numpy as np

import nobounds as nb
from nobounds.research import epsilon_from_rho, rho_from_approximate

ROWS, FEATURES, STEPS = 20_000, 50, 30
EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
RHO = rho_from_approximate(EPSILON, DELTA) / STEPS  # of each step: with zCDP, steps simply add up
rng = np.random.default_rng(7)  # so that this page repeats itself; in earnest leave `rng=` out


def examples(direction):
    """Two classes on either side of a plane, in a unit that nobody wrote down."""
    y = rng.integers(0, 2, ROWS)
    return 850 * (rng.standard_normal((ROWS, FEATURES)) + np.outer(2 * y - 1, direction)), y


def gradients(w, x, y):
    """The gradient of the logistic loss of each example, one a row."""
    return (0.5 + 0.5 * np.tanh(x @ w / 2) - y)[:, None] * x


def accuracy(w, x, y):
    """The part of the examples on the right side."""
    return np.mean((x @ w > 0) == y)


def train(mean_gradient, x, y):
    """Gradient descent; `mean_gradient` is given the rows and returns their mean and what it knows of their size.

    The first size sets the learning rate, because the curvature of the loss is of the order of its square.
    """
    w, sizes, losses = np.zeros(FEATURES), [], []
    for _ in range(STEPS):
        mean, size = mean_gradient(gradients(w, x, y))
        sizes.append(size)
        w -= 15 / sizes[0] ** 2 * mean
        losses.append(np.logaddexp(0, (1 - 2 * y) * (x @ w)).mean())  # for you to see: it is not private
    return w, sizes, losses


def private(rows):
    """The mean and the clip of one private release."""
    release = nb.vector_mean(rows, rho=RHO, rng=rng)
    return np.array(release.value), release.parameters["clip"]


truth = rng.standard_normal(FEATURES)
truth *= 2.4 / np.linalg.norm(truth)
data, test = examples(truth), examples(truth)

w, clips, losses = train(private, *data)
print(" step    clip    loss")
for step in [*range(0, STEPS, 5), STEPS - 1]:
    print(f"{step:5} {clips[step]:7.0f} {losses[step]:7.4f}")
print(f"all {STEPS} steps cost rho {float(STEPS * RHO):.4g},", end=" ")
print(f"which is epsilon {epsilon_from_rho(STEPS * RHO, DELTA):g} at delta {float(DELTA):g}")


def not_private(rows):
    """The mean itself."""
    return rows.mean(axis=0), clips[0]


def guessed(rows):
    """All of rho on the noise, but for a clip that was guessed 100 times too high."""
    deviation = 100 * clips[0] / (ROWS * math.sqrt(2 * RHO))
    return rows.mean(axis=0) + deviation * rng.standard_normal(FEATURES), clips[0]


best, mine, fixed = (accuracy(found, *test) for found in (train(not_private, *data)[0], w, train(guessed, *data)[0]))
print(f"accuracy: {best:.3f} without privacy, {mine:.3f} with private clips, {fixed:.3f} with the guess")
assert mine > best - 0.02
assert fixed < mine - 0.03
assert clips[-1] < clips[0] / 2, "the clip follows the gradients down"
