"""Forecasts by seeded releases, for statistics whose answers have no closed law."""
