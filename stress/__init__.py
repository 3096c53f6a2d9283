"""The stress test: mixed calls against shared budgets while processes are killed, disks fill up and files are damaged.

`make soak` runs it and writes docs/soak.md; it is no part of the installed package. `calls` draws the calls, `tables`
their data and `faults` what goes wrong; `worker` is one process, `run` starts and kills many of them, `books` and
`truth` check what they did, and `report` writes the page.
"""
