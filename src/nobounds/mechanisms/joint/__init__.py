"""The joint exponential mechanism: many quantiles in one choice (Gillenwater, Joseph and Kulesza 2021)."""
