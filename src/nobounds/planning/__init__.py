"""What error to expect: statistics are drawn on data sets of a family or a public sample, with fixed seeds.

`families` and `samples` give the data, `forecasters` the errors on them, `answerable` the rows that an answer needs,
`needed` the smallest epsilon for an error, `plan` the public function, and `forecast` its result.
"""
