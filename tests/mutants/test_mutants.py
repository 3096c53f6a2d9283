"""The list of mutants fits the source as it is, and the runner tells a mutant that is killed from one that is not."""

from collections import Counter
from pathlib import Path

import pytest
from mutants.listed import MUTANTS, Mutant
from mutants.run import ROOT, Result, copied, imported_from, mutated, page, tried

COVERED = [
    "noise",
    "skip_ahead",
    "walk",
    "law",
    "runs",
    "flip",
    "exponential_mechanism",
    "loss",
    "conversions",
    "spending",
    "clip",
    "sums",
    "average",
    "additive",
    "gaussian",
    "budget",
    "ledger",
    "file_lock",
    "store",
    "composition",
    "key_selection",
    "tally",
    "grouped",
    "engines/duck",
    "groups/noise",
    "groups/walks",
    "groups/choices",
    "groups/draws",
    "groups/answer",
    "groups/records",
    "groups/ragged",
    "groups/values",
    "above_threshold",
    "sparse_vector",
    "vectors",
    "clipped",
    "question",
    "halving",
    "slices",
    "route",
    "describe",
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file} {' '.join(mutant.old.split())[:50]}")
def test_every_mutant_applies_to_the_source(mutant: Mutant):
    """Its text occurs exactly once, the change is one, it still compiles, and its tests are there."""
    source = (ROOT / "src" / "nobounds" / mutant.file).read_text()
    changed = mutated(source, mutant)
    assert changed != source
    compile(changed, mutant.file, "exec")
    for test in mutant.tests.split():
        file, _, name = test.partition("::")
        text = (ROOT / "tests" / file).read_text()
        assert not name or f"def {name}(" in text or f"class {name}:" in text


def test_the_list_covers_what_privacy_rests_on():
    """Each of these files has a mutant, and there are many."""
    found = Counter(mutant.file.removesuffix(".py") for mutant in MUTANTS)
    assert set(COVERED) <= set(found) and len(MUTANTS) >= 40


def test_a_text_that_is_not_there_once_is_refused():
    """A mutant that no longer fits is an error, and not killed or survived."""
    for old in ("no such text", "import"):
        with pytest.raises(ValueError, match="occurs"):
            mutated("import a\nimport b\n", Mutant("walk.py", old, "", "", ""))


def test_the_copy_is_what_is_imported():
    """A test process imports the mutant, from a folder that is gone afterwards; the checkout is as it was."""
    mutant = Mutant("walk.py", '"""A walk: AboveThreshold', '"""A mutant: AboveThreshold', "", "")
    before = (ROOT / "src" / "nobounds" / "walk.py").read_text()
    with copied(mutant) as env:
        place = imported_from(env)
        assert place.is_relative_to(env["PYTHONPATH"])
        assert (place.parent / "walk.py").read_text().startswith('"""A mutant')
    assert not place.exists() and (ROOT / "src" / "nobounds" / "walk.py").read_text() == before


def test_a_harmless_change_survives_and_a_harmful_one_is_killed():
    """The runner tells one from the other, and names the test that failed."""
    tests = "accounting/test_conversions_zcdp.py"
    harmless = Mutant("conversions.py", "_crossing(sign:", "_crossing(sign :", "", tests)
    harmful = Mutant("conversions.py", "(ball(epsilon) / 2).tanh()", "(ball(epsilon) / 4).tanh()", "", tests)
    assert tried(harmless).verdict == "SURVIVED"
    killed = tried(harmful)
    assert killed.verdict == "killed" and killed.caught_by.startswith("accounting/test_conversions_zcdp.py::")


def test_the_page_has_every_mutant():
    """A row for each, with its verdict, and the numbers above."""
    results = [Result(mutant, "killed", "test_a.py::test_b", 1.0) for mutant in MUTANTS[:3]]
    survived = Result(MUTANTS[3], "SURVIVED", "", 1.0)
    text = page([*results, survived])
    assert "4 mutants: 3 killed, 0 equivalent, **1 survived**" in text and text.count("| killed |") == 3


def test_the_page_that_is_kept_is_of_this_list():
    """docs/mutants.md has as many mutants as the list, and none that survived."""
    text = (Path(ROOT) / "docs" / "mutants.md").read_text()
    assert f"{len(MUTANTS)} mutants: " in text and "**0 survived**" in text
