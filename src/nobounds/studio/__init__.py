"""The studio: a local web page to plan a release, make it against a budget, and take it home. `serve` starts it.

`asks` is what someone asks for, `desk` the table, the budget and the releases made from them, `shelf` the folder that
keeps these, `shown` how they look, `guard` who may talk to the page, `pages` the page, and `server` the socket. It
needs `nobounds[studio]`.
"""
