"""What error to expect: data sets drawn from a family or a public sample, and errors summed over the laws of answers.

`families` and `samples` give the data, `quick_laws`, `answer_errors` and `sum_errors` the errors on them, `expectation`
their averages, `forecasters` the statistics, `needed` the smallest epsilon for an error, `plan` the public
function, and `forecast` its result.
"""
