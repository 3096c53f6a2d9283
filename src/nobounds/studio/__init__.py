"""The studio: a local web page to plan a release, make it against a budget, and download it. `serve` starts it.

`asks` holds the request, `desk` the table, its budget and the releases, `shelf` the folder that stores them, `shown`
their presentation, `guard` the access control, `pages` the pages, and `server` the socket. It needs `nobounds[studio]`.
"""
