"""Tables that are read from front to back."""
