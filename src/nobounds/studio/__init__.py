"""The studio: a local web page that leads from a file to a table of private answers. `serve` starts it.

The way through it is five steps: data, budget, question, estimate, answers. `sources` has the data, `layouts` how they
are written and whom they are about, `questions` what is asked, `estimates` what to expect of it, `steps` the work that
is under way, `desk` what charges a budget, `shelf` the folder of answers, `shown` and `charts` their presentation,
`downloads` and `recipes` what can be taken along, `guard` the access control, and `pages` the pages. It needs
`nobounds[studio]`.
"""
