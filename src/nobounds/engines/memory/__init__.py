"""Data in this process: arrays, sequences, Arrow and frames."""
