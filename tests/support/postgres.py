"""A PostgreSQL server for the tests: a new cluster in a temporary folder, reached by a socket in that folder alone.

PostgreSQL refuses to run as root; then it runs as the user `postgres`, or `nobody` where there is none.
"""

import glob
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
_INSTALL = "to run it, install a server: apt-get install postgresql"
_SETTINGS = "-c listen_addresses='' -c fsync=off -c shared_buffers=16MB -c timezone=Asia/Tokyo"
_LIMITS = "-c max_connections=50 -c statement_timeout=30s -c temp_file_limit=1GB"  # for tests that go astray


class NoServer(Exception):
    """Why there is no server."""


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """How to connect to a server of this session; without one the test is skipped, and says why."""
    with tempfile.TemporaryDirectory(prefix="nobounds", dir="/tmp" if _ROOT else None) as folder:
        try:
            pg_ctl = _start(Path(folder))
        except NoServer as reason:
            pytest.skip(f"needs a PostgreSQL server: {reason}; {_INSTALL}")
        try:
            yield f"host={folder} user=nobounds dbname=postgres"
        finally:
            _run(pg_ctl, "stop", "--mode=immediate", "--pgdata", f"{folder}/data")


def programs() -> Path:
    """The folder of the server's programs."""
    found = [path for path in [shutil.which("pg_ctl"), *_installed()] if path is not None]
    for path in found:
        folder = Path(path).resolve().parent
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise NoServer("pg_ctl, initdb and postgres are neither on the PATH nor in /usr/lib/postgresql")


def _installed() -> list[str]:
    """Where Debian, Red Hat and others keep them, the newest first."""
    places = ["/usr/lib/postgresql/*/bin/pg_ctl", "/usr/pgsql-*/bin/pg_ctl", "/usr/local/*/bin/pg_ctl"]
    return [path for place in places for path in sorted(glob.glob(place), reverse=True)]


def _start(folder: Path) -> Path:
    pg_ctl = programs() / "pg_ctl"
    user = _user()
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    options = ["--auth=trust", "--username=nobounds", "--encoding=UTF8", "--locale=C", "--no-sync"]
    _run(pg_ctl.with_name("initdb"), "--pgdata", f"{folder}/data", *options)
    # A log file, for else the server would keep this process's output open.
    server = f"{_SETTINGS} {_LIMITS} -c unix_socket_directories='{folder}'"
    _run(pg_ctl, "start", "--wait", "--pgdata", f"{folder}/data", "--log", f"{folder}/log", "--options", server)
    return pg_ctl


def _run(*command: object) -> None:
    user = _user()
    whom = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    done = subprocess.run(
        list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, cwd="/", **whom
    )
    if done.returncode:
        raise NoServer(f"{Path(str(command[0])).name} failed: {(done.stderr or done.stdout).strip()}")


def _user() -> Any:
    """Whom to run the server as; None is oneself."""
    if not _ROOT:
        return None
    import pwd  # there is none on Windows

    for name in ["postgres", "nobody"]:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoServer("root may not run a server, and there is neither a user postgres nor nobody")
