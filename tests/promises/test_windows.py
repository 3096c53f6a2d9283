"""What only Unix has is not needed: without it the package is imported, budgets are charged and tables are read.

Nothing here runs on Windows. A process on Linux loses what Windows does not have (fork and its hooks, `fcntl`, flags,
owners of files, `pread`), gets a stand-in for `msvcrt` and a rename that replaces nothing, and says that it is Windows
once Python's own modules are loaded. The workflow of the repository runs the tests on Windows itself.
"""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
WINDOWS = """if True:
    import importlib, os, pathlib, pkgutil, sys
    sys.path.insert(0, sys.argv[1])
    from support import crowd  # which needs fcntl for its stand-in, and loads nobounds
    module = crowd.windows_module()
    for name in [name for name in sys.modules if name.partition(".")[0] == "nobounds"]:
        del sys.modules[name]
    sys.modules["msvcrt"] = module
    for name in ("fcntl", "grp", "pwd", "resource", "termios"):
        sys.modules[name] = None
    for name in ("fork", "register_at_fork", "O_NOFOLLOW", "geteuid", "getuid", "pread", "fdatasync"):
        delattr(os, name)

    def rename(old, new):
        if os.path.lexists(new):
            raise FileExistsError(17, "Cannot create a file when that file already exists")
        os.replace(old, new)

    def unable(*given, **options):
        raise OSError(1, "Incorrect function")

    os.rename, os.link = rename, unable  # as on a disk that is formatted as exFAT
"""
CHARGES = """
    import nobounds as nb
    nb.count(range(100), epsilon=0.5, budget=nb.Budget(epsilon=1))  # loads what is needed, of Python too
    sys.platform = "win32"
    folder = pathlib.Path(sys.argv[2])
    path = folder / "people.budget"
    budget = nb.Budget(epsilon=1, path=path)
    nb.count(range(100), epsilon=0.5, budget=budget)
    for again in (lambda: nb.Budget(epsilon=1, path=path), lambda: nb.count(range(100), epsilon=0.75, budget=budget)):
        try:
            again()
        except (FileExistsError, nb.BudgetExceeded) as error:
            print(type(error).__name__)
    from nobounds.accounting import file_lock, store
    print(file_lock.platform_kind(), len(nb.Budget(path=path).history), sorted(each.name for each in folder.iterdir()))
    draft = folder / "draft"
    draft.touch()
    try:
        store._place(draft, path)
    except FileExistsError:
        print("kept", len(nb.Budget(path=path).history))
"""
IMPORTS = """
    import nobounds
    unable = {}
    for each in pkgutil.walk_packages(nobounds.__path__, "nobounds."):
        if each.name.rpartition(".")[2] != "__main__":
            try:
                importlib.import_module(each.name)
            except ImportError as error:
                unable[each.name] = str(error)
    of_unix = ("fcntl", "grp", "pwd", "resource", "termios")
    wrong = {name: why for name, why in unable.items() if any(word in why for word in of_unix)}
    print(len([name for name in sys.modules if name.startswith("nobounds.")]) > 250, wrong)
"""


def on_windows(code: str, *given) -> list[str]:
    """What code prints in a process that has lost what Windows does not have."""
    words = [sys.executable, "-c", WINDOWS + code, str(TESTS), *map(str, given)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.mark.medium
def test_a_budget_is_made_charged_and_refused(tmp_path):
    """A ledger is placed by a rename that replaces nothing, locked by a byte, and charged once for each answer."""
    assert on_windows(CHARGES, tmp_path) == [
        "FileExistsError",
        "BudgetExceeded",
        "byte 1 ['people.budget']",
        "kept 1",
    ]


@pytest.mark.slow
def test_every_module_is_imported_without_the_modules_of_unix():
    """No module of the package needs fcntl, owners of files or fork to be imported."""
    assert on_windows(IMPORTS) == ["True {}"]


@pytest.mark.parametrize("system", ["win32", "linux"])
def test_a_finished_ledger_never_replaces_another_file(system, tmp_path, monkeypatch):
    """On Windows by a rename, which refuses there, and elsewhere by a link; the call for the other is not made."""
    from nobounds.accounting import store

    called = []
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(store.os, "rename", lambda *given: called.append("rename"))
    monkeypatch.setattr(store.os, "link", lambda *given: called.append("link"))
    store._place(tmp_path / "draft", tmp_path / "ledger")
    assert called == ["rename" if system == "win32" else "link"]


def test_no_other_process_gets_the_port_of_the_studio():
    """SO_REUSEADDR, which shares a port on Windows, gives way to SO_EXCLUSIVEADDRUSE where that exists."""
    pytest.importorskip("starlette")
    code = (
        "import socket; socket.SO_EXCLUSIVEADDRUSE = -5; from nobounds.studio import server; "
        "assert server._ALONE == -5; del socket.SO_EXCLUSIVEADDRUSE; import importlib; importlib.reload(server); "
        "assert server._ALONE == socket.SO_REUSEADDR"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
