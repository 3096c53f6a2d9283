"""What noisy counts of octaves around a clip tell: how much lies beyond it, and how far it is moved."""
