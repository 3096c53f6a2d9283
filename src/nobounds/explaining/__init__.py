"""Releases in plain words, for the person who signs off: from the JSON that the library writes, with no data at hand.

`reading` checks the JSON, which anybody may have written; `protection` says who is protected and what that means,
`spent` what was spent on what, `accuracy` what error to expect (by `expected`, from exact laws), `limits` what is not
promised, `budgets` and `forecasts` do so for those two; `explain` puts it together.
"""
