"""Releases in plain words, for the person who approves them: from the JSON that the library writes, without the data.

`reading` checks the JSON, which anybody may have written, and `statements` what a release states. `protection` says who
is protected and what that means, `spent` what the budget went into, `accuracy` what error to expect (computed in
`expected` from exact laws), and `limits` what is not promised. `budgets`, `forecasts` and `descriptions` explain those
kinds of JSON, and `explain` puts everything together.
"""
