"""Bins: their edges, public or found privately, the noise on their counts, and what follows from noisy counts."""
