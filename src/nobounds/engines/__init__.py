"""Engines: data of many kinds, in memory or in files, to one `Column` of float64 chunks."""
