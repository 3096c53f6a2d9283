"""AboveThreshold and related mechanisms, which turn counts into a noisy choice."""
