"""The command line: `nobounds quantile people.csv --column income --q 0.5 --epsilon 1`."""

import sys


def main() -> None:
    """Run the `nobounds` command, or say how to install what it needs."""
    try:
        from nobounds.cli.app import app
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in {"typer", "rich"}:
            raise
        sys.exit(f"Error: the nobounds command needs {missing}: pip install 'nobounds[all]'")
    app(prog_name="nobounds")
