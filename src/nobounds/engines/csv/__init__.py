"""CSV files: bytes to records, exactly by RFC 4180, and records to columns of declared types.

A record depends on its own bytes alone. Types, dialect and names come from the header line and from the user, never
from the records.
"""
