"""The server of the studio: one process, bound to 127.0.0.1, that logs nothing about the data."""

import secrets
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

HOST = "127.0.0.1"
# On Windows SO_REUSEADDR would let another process listen on the same port, and read what the browser sends.
_ALONE = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)


def serve(start: Path, first: Path | None, port: int, ready: Callable[[str], None]) -> None:
    """Serve the studio until interrupted; `ready` gets its address, which contains the secret.

    start: the folder whose files are offered.
    first: a file to begin with.
    """
    try:
        import uvicorn

        from nobounds.studio.guard import Guard
        from nobounds.studio.pages import app
    except ImportError:
        raise ImportError("the studio needs more packages: pip install 'nobounds[studio]'") from None
    with socket.socket() as listening, tempfile.TemporaryDirectory(prefix="nobounds-studio-") as uploads:
        listening.setsockopt(socket.SOL_SOCKET, _ALONE, 1)
        try:
            listening.bind((HOST, port))
        except (OSError, OverflowError):
            raise ValueError(f"port {port} of {HOST} is not free: choose another one, or none for any") from None
        listening.listen()
        chosen, token = listening.getsockname()[1], secrets.token_urlsafe(32)
        guarded = Guard(app(start, Path(uploads), first), chosen, token)
        config = uvicorn.Config(guarded, log_level="critical", access_log=False, server_header=False, lifespan="off")
        ready(f"http://{HOST}:{chosen}/?token={token}")
        uvicorn.Server(config).run(sockets=[listening])
