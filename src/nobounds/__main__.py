"""The `nobounds` command as `python -m nobounds`."""

from nobounds.cli.__main__ import main

if __name__ == "__main__":
    main()
