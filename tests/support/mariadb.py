"""A MariaDB server for the tests: a new one in a temporary folder, reached by a socket in that folder alone.

MariaDB refuses to run as root; then it runs as the user `mysql`, or `nobody` where there is none.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
_INSTALL = "to run it, install a server: apt-get install mariadb-server"
_SMALL = ("--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0")


class NoServer(Exception):
    """Why there is no server."""


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Any]:
    """An engine of SQLAlchemy for a server of this session; without one the test is skipped, and says why."""
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: pip install sqlalchemy pymysql")
    pytest.importorskip("pymysql", reason="needs PyMySQL: pip install pymysql")
    with tempfile.TemporaryDirectory(prefix="nobounds", dir="/tmp" if _ROOT else None) as folder:
        try:
            server = _started(Path(folder))
        except NoServer as reason:
            pytest.skip(f"needs a MariaDB server: {reason}; {_INSTALL}")
        engine = sqlalchemy.create_engine(f"mariadb+pymysql://root@/tests?unix_socket={folder}/socket")
        try:
            yield engine
        finally:
            engine.dispose()
            server.kill()
            server.wait()


def _started(folder: Path) -> Any:
    """The process of a server that takes connections."""
    install, daemon = _program("mariadb-install-db"), _program("mariadbd")
    user = _user()
    whom = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    common = ["--no-defaults", f"--datadir={folder}/data"]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "cwd": "/", **whom}
    done = subprocess.run(
        [install, *common, "--auth-root-authentication-method=normal", "--skip-test-db"],
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        **quiet,
    )
    if done.returncode:
        raise NoServer(f"mariadb-install-db failed: {done.stderr.strip()}")
    create = folder / "create.sql"
    create.write_text("create database tests character set utf8mb4;\n")
    create.chmod(0o644)
    places = [f"--socket={folder}/socket", f"--pid-file={folder}/pid", f"--log-error={folder}/log"]
    server = subprocess.Popen(
        [daemon, *common, *places, "--skip-networking", f"--init-file={create}", *_SMALL],
        stderr=subprocess.DEVNULL,
        **quiet,
    )
    for _ in range(600):
        if (folder / "socket").exists() and (folder / "data" / "tests").exists():
            return server
        if server.poll() is not None:
            raise NoServer("mariadbd has ended")
        time.sleep(0.1)
    server.kill()
    raise NoServer("mariadbd has not answered for a minute")


def _program(name: str) -> str:
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if path is None:
        raise NoServer(f"{name} is not on the PATH")
    return path


def _user() -> Any:
    """Whom to run the server as; None is oneself."""
    if not _ROOT:
        return None
    import pwd  # there is none on Windows

    for name in ["mysql", "nobody"]:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoServer("root may not run a server, and there is neither a user mysql nor nobody")
