"""Build the wheel and the sdist twice, and refuse them unless both builds have the same bytes.

    python tools/release/build.py --out dist

The first build is made from this checkout, and the second from a copy of it in another folder, with other times of
files and another umask. Both are dated by SOURCE_DATE_EPOCH, which is by default the time of the last commit. The
files are written to `--out` with their SHA-256 sums in `SHA256SUMS`, which `sha256sum --check` reads.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIED = ("src", "README.md", "LICENSE", "pyproject.toml", ".gitignore")  # what a wheel is made of
_OTHER_TIME = 1_000_000_000


def main() -> None:
    """Build, compare and print the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder for the files (default: dist)")
    out: Path = parser.parse_args().out
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "first", Path(folder) / "second"
        build(ROOT, first)
        build(copy(ROOT, Path(folder) / "elsewhere"), second, umask=0o077)
        sums = sums_of(first)
        different = [name for name, digest in sums.items() if sums_of(second).get(name) != digest]
        if different:
            sys.exit(f"two builds differ: {', '.join(different)}")
        out.mkdir(parents=True, exist_ok=True)
        for name in sums:
            shutil.copyfile(first / name, out / name)
    (out / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    for name, digest in sums.items():
        print(f"{digest}  {name}  {(out / name).stat().st_size:,} bytes, the same in two builds")


def build(root: Path, out: Path, *, targets: tuple[str, ...] = ("sdist", "wheel"), umask: int = 0o022) -> None:
    """Build from the checkout at `root` with the hatchling of this environment."""
    chosen = [word for target in targets for word in ("-t", target)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(out), *chosen],
        cwd=root,
        env=os.environ | {"SOURCE_DATE_EPOCH": epoch()},
        umask=umask,
        check=True,
        capture_output=True,
    )


def copy(root: Path, to: Path, names: tuple[str, ...] | None = None) -> Path:
    """A copy of what git has in the checkout, or of the files and folders `names` in it, with other times."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *(names or ())]
    for name in subprocess.run(listed, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, to / name)
            os.utime(to / name, (_OTHER_TIME, _OTHER_TIME))
    return to


def sums_of(folder: Path) -> dict[str, str]:
    """The SHA-256 sum of each file in a folder, by its name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def epoch() -> str:
    """The time that builds are dated by: SOURCE_DATE_EPOCH, or the time of the last commit."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return os.environ["SOURCE_DATE_EPOCH"]
    words = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
