"""AboveThreshold and its relatives: from counts to a noisy choice."""
