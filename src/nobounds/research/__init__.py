"""For researchers: AboveThreshold's relatives, laws, ladders and baselines by name."""
