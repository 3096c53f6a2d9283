"""Refuse a release whose version, changelog, citation and address do not agree.

    python tools/release/check.py --tag v0.1.0 --repository https://github.com/owner/name

prints what has to be mended before the tag, one line each, and nothing if all is well.
"""

import argparse
import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Print what is wrong; the exit status is 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", required=True, help="the tag of the release: v and the version")
    parser.add_argument("--repository", required=True, help="the address of the repository that publishes it")
    given = parser.parse_args()
    wrong = problems(ROOT, given.tag, given.repository)
    print("\n".join(wrong), end="\n" * bool(wrong))
    sys.exit(bool(wrong))


def problems(root: Path, tag: str, repository: str) -> list[str]:
    """What does not agree with the tag or the repository, in the checkout at `root`."""
    version, wrong = version_of(root), []
    if tag != f"v{version}":
        wrong.append(f"src/nobounds/__init__.py has version {version}, the tag is {tag}: it must be v{version}")
    heading = re.search(r"^## (.+)$", (root / "CHANGELOG.md").read_text(), re.M)
    if heading is None or not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading[1]):
        wrong.append(f"CHANGELOG.md must begin with ## {version} (YYYY-MM-DD), got {heading and heading[1]}")
    cited = re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text(), re.M)
    if cited is None or cited[1] != version:
        wrong.append(f"CITATION.cff must have version: {version}, got {cited and cited[1]}")
    urls = tomllib.loads((root / "pyproject.toml").read_text())["project"]["urls"]
    if urls.get("Repository") != repository:
        wrong.append(f'pyproject.toml must have Repository = "{repository}" in [project.urls]')
    return wrong


def version_of(root: Path) -> str:
    """The version that the package states."""
    tree = ast.parse((root / "src" / "nobounds" / "__init__.py").read_text())
    assigned = (node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant))
    return next(str(each.value.value) for each in assigned if ast.unparse(each.targets[0]) == "__version__")


if __name__ == "__main__":
    main()
