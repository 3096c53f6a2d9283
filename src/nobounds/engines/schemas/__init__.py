"""Schemas: the types of columns as the user states them, and how texts become values of these types."""
