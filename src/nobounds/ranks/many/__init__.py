"""Many quantiles by one call: all in one choice, or by recursive halving."""
