"""The interval of a quantile, and the percentiles of its answer."""
