"""The `nobounds` command."""

import gc
import os
import sys

from nobounds.cli import INTERRUPTED, PIPE_CLOSED


def main() -> None:
    """Run the `nobounds` command, or say how to install what it needs."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        if not _flushed():
            sys.exit(PIPE_CLOSED)


def _run() -> None:
    try:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # starting threads for matrices takes as long as a command
        gc.disable()  # until the command is loaded: what is imported stays, and is not worth looking through
        from nobounds.cli.app import app

        app(prog_name="nobounds")
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in {"typer", "rich"}:
            raise
        sys.exit(f"Error: the nobounds command needs {missing}: pip install 'nobounds[all]'")


def _flushed() -> bool:
    """Write what is left to write; False if nobody reads it any more, as after `| head`."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still in the buffer would be written, and fail again, when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


if __name__ == "__main__":
    main()
