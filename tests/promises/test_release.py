"""A release can be built again to the byte, says what it is, and is refused while its texts do not agree."""

import re
import shutil
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import nobounds

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HOME = "https://example.org/nobounds"


@pytest.fixture
def tool(monkeypatch):
    """A tool of tools/release, by its name."""
    monkeypatch.syspath_prepend(ROOT / "tools" / "release")

    def load(name: str):
        return __import__(name)

    yield load
    for name in ("build", "check"):
        sys.modules.pop(name, None)


@pytest.mark.medium
def test_a_wheel_can_be_built_again_to_the_byte(tool, tmp_path, monkeypatch):
    """Two folders with other times of files and another umask give one wheel; another date gives another."""
    pytest.importorskip("hatchling")
    build = tool("build")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    first = build.copy(ROOT, tmp_path / "first", build.COPIED)
    second = tmp_path / "second"
    shutil.copytree(first, second)  # with the times of now
    build.build(first, tmp_path / "a", targets=("wheel",))
    build.build(second, tmp_path / "b", targets=("wheel",), umask=0o077)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    build.build(second, tmp_path / "c", targets=("wheel",))
    sums = [build.sums_of(tmp_path / name) for name in "abc"]
    assert sums[0] == sums[1] != sums[2]
    (wheel,) = (tmp_path / "a").iterdir()
    names = zipfile.ZipFile(wheel).namelist()
    assert "nobounds/py.typed" in names and "nobounds/release/schema.json" in names
    assert {name.split("/")[0].removesuffix(f"-{nobounds.__version__}.dist-info") for name in names} == {"nobounds"}


def test_a_release_whose_texts_do_not_agree_is_refused(tool, tmp_path):
    """The tag, the version, the first heading of the changelog, the citation and the repository are compared."""
    check = tool("check")
    for name in ("src/nobounds/__init__.py", "CHANGELOG.md", "CITATION.cff", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    version = nobounds.__version__
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {version} (2026-12-01)\n")
    listed = (tmp_path / "pyproject.toml").read_text()
    listed = re.sub(r"^Repository = .*\n", "", listed, flags=re.M)
    (tmp_path / "pyproject.toml").write_text(
        listed.replace("[project.urls]\n", f'[project.urls]\nRepository = "{HOME}"\n')
    )
    assert check.problems(tmp_path, f"v{version}", HOME) == []
    assert len(check.problems(tmp_path, "v99.0.0", HOME)) == 1
    assert len(check.problems(tmp_path, f"v{version}", "https://example.org/another")) == 1
    (tmp_path / "CHANGELOG.md").write_text(f"## {version} (unreleased)\n")
    (tmp_path / "CITATION.cff").write_text("version: 99.0.0\n")
    assert len(check.problems(tmp_path, f"v{version}", HOME)) == 2


def test_the_citation_has_the_version_of_the_package():
    """CITATION.cff and the package state one version."""
    assert f"\nversion: {nobounds.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_only_versions_that_ran_are_claimed():
    """Each Python among the classifiers has a row of environments and one of tests in docs/release.md."""
    page = (ROOT / "docs" / "release.md").read_text()
    claimed = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in PROJECT["classifiers"]]
    versions = [each[1] for each in claimed if each]
    assert len(versions) >= 3
    for version in versions:
        assert re.search(rf"^\| {re.escape(version)}\.\d+ \| `nobounds` \|", page, re.M), version
        assert re.search(rf"^\| {re.escape(version)}\.\d+ \| (\d[\d,]* passed|the gate)", page, re.M), version


def test_a_demo_installs_no_tool_of_developers():
    """The extras that `make demo` installs name nothing that only `dev`, `docs` and `spark` have."""
    makefile = (ROOT / "Makefile").read_text()
    (extra,) = re.findall(r"\$\(DEMO\)/bin/pip install .*'\.\[(\w+)\]'", makefile)
    extras = PROJECT["optional-dependencies"]

    def names(extra: str) -> set[str]:
        inner = [re.match(r"nobounds\[(.+)\]", each) for each in extras[extra]]
        below = {name for each in inner if each for other in each[1].split(",") for name in names(other)}
        return below | {re.split(r"[\[<>=;~ ]", each)[0] for each in extras[extra] if not each.startswith("nobounds[")}

    tools = {"pyspark", "playwright", "pytest", "mypy", "ruff", "mkdocs-material", "hypothesis", "zizmor"}
    assert tools <= names("dev") and not tools & names(extra)
