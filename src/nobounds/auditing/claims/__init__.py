"""The claims that are audited, one kind of mechanism a module."""
