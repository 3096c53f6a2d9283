"""Ladders of public candidates: from values to rungs and back."""
