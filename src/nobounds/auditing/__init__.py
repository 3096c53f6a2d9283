"""Every privacy claim of the library against the worst loss of exact laws, and an auditor for your own mechanisms."""
