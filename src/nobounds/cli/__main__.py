"""`python -m nobounds.cli` is the `nobounds` command."""

from nobounds.cli import main

main()
