"""How a question is answered: which mechanisms it takes, in which order, and what its interval says."""
