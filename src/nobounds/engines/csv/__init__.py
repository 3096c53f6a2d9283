"""CSV files: bytes to records, exactly by RFC 4180, and records to columns of declared types.

A record depends on its own bytes alone. Types, dialect and names come from the user and from a header line that
is stated to be one, never from the records.
"""
