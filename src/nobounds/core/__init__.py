"""Numbers alone: what is public before any data are read."""
