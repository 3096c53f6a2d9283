"""CSV files: bytes to records, exactly as RFC 4180 says, and records to columns of declared types.

A record depends on its own bytes alone. Types, dialect and names come from the header line and from what the user
states, never from the records.
"""
