"""Every claim of the library against the worst that exact laws show, and an auditor for mechanisms of one's own."""
