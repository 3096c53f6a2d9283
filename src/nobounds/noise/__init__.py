"""The random source and exact discrete noise."""
