"""Counts in a plan: what they are (`counted`), and the errors of their noise in closed form (`laws`)."""
