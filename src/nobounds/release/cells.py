"""Cells of CSV files that a spreadsheet shows as they are."""

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def defused(text: str) -> str:
    """The text, after an apostrophe if a spreadsheet would run it as a formula.

    >>> defused("=1+1"), defused("Ada")
    ("'=1+1", 'Ada')
    """
    return f"'{text}" if text.startswith(_STARTS) else text
