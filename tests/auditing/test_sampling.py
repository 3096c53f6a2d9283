"""The sampling auditor: right bounds, no false alarms, its power, and mechanisms of one's own, good and broken."""

import itertools
import math
import random
import sys
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats
from support import broken
from support.chance import seed_of
from support.shell import audit as run

from benchmarks.pages import audit_power as power
from nobounds.auditing import mine
from nobounds.auditing.sampling import incomplete_beta, loss_of, lower_chance, sampled_loss, upper_chance


@pytest.mark.parametrize(
    ("hits", "runs"), [(0, 10), (3, 10), (10, 10), (500, 1000), (12, 10**5), (99_990, 10**5), (4 * 10**5, 10**6)]
)
@pytest.mark.parametrize("alpha", [0.05, 1e-3, 1e-6])
def test_chances_are_those_of_clopper_and_pearson(hits, runs, alpha):
    """Quantiles of beta laws, rounded outward."""
    low = stats.beta.ppf(alpha, hits, runs - hits + 1) if hits else 0.0
    high = stats.beta.ppf(1 - alpha, hits + 1, runs - hits) if hits < runs else 1.0
    assert low * (1 - 1e-6) <= lower_chance(hits, runs, alpha) <= low
    assert high <= upper_chance(hits, runs, alpha) + 1e-15 and upper_chance(hits, runs, alpha) <= high + 1e-6


def test_the_incomplete_beta_function_is_right():
    """Against scipy, for small and large parameters on both sides of the mean."""
    for a, b, x in itertools.product((1, 7, 900, 10**5), (1, 5, 10**4, 10**6), (1e-6, 0.01, 0.2, 0.5, 0.9, 0.999)):
        assert incomplete_beta(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), rel=1e-7, abs=1e-12)


@pytest.mark.medium
@pytest.mark.sampled
def test_there_are_no_false_alarms():
    """Mechanisms of exactly epsilon 1 are called broken at 90% confidence in less than 10% of 200 trials each."""
    rng = np.random.default_rng(seed_of(7))
    for bug in (power.count_bug(F(1)), power.walk_bug(F(1), "exponential")):
        assert sum(bug.caught(4000, rng, confidence=0.9) for _ in range(200)) < 20


@pytest.mark.medium
@pytest.mark.sampled
def test_the_error_rate_is_what_it_says_where_it_is_worst():
    """With one event of log-ratio exactly 1 and nothing else to choose, alarms stay within the confidence as well."""
    p = np.array([0.4, 0.6])
    q = np.array([0.4 / math.e, 1 - 0.4 / math.e])
    rng = np.random.default_rng(seed_of(8))
    bug = power.Bug("two outcomes", F(1), p, q)
    assert sum(bug.caught(1000, rng, confidence=0.8) for _ in range(300)) < 0.2 * 300


@pytest.mark.medium
@pytest.mark.parametrize(
    ("bug", "runs"),
    [
        (power.count_bug(F(3, 2)), 1000),
        (power.count_bug(F(21, 20)), 100_000),
        (power.walk_bug(F(3, 2), "exponential"), 5000),
        (power.walk_bug(F(21, 20), "exponential"), 500_000),
        (power.walk_bug(F(3, 2), "laplace"), 20_000),
        (power.walk_bug(F(21, 20), "laplace"), 10_000_000),
    ],
    ids=lambda value: f"{value.mechanism}-{value.off}" if isinstance(value, power.Bug) else str(value),
)
@pytest.mark.sampled
def test_the_power_is_what_the_docs_say(bug, runs):
    """So many runs catch the bug in most of 20 trials, and a twentieth of them in few."""
    rng = np.random.default_rng(seed_of(9))
    assert sum(bug.caught(runs, rng) for _ in range(20)) >= 15
    assert sum(bug.caught(runs // 20, rng) for _ in range(20)) <= 5


def test_an_impossible_outcome_is_a_large_loss():
    """A mechanism that shows its input is caught, whatever the outcomes are."""
    found = loss_of(["a"] * 2000, ["b"] * 2000)
    assert found.epsilon > 4
    assert found.estimate > 6
    assert sampled_loss(lambda: 1, lambda: 1, 1000).epsilon == 0
    assert loss_of(["a"] * 2000, ["b"] * 2000, delta=1).epsilon == 0


def test_tails_of_numbers_are_events():
    """Normal numbers that differ everywhere: only their tails tell."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(0, 1, 5000).tolist(), rng.normal(2, 1, 5000).tolist()
    assert loss_of(x, y).epsilon > 2


# --- mechanisms of one's own ----------------------------------------------------------------------------------------


class Sampler:
    """A variant of `broken` in the protocol of AboveThreshold."""

    def __init__(self, variant, threshold, rng):
        self.variant, self.rng, self.left = variant, rng, variant.hits
        self.threshold = threshold + self.draw(variant.threshold_rate) - self.draw(variant.shared_rate)

    def draw(self, rate):
        if math.isinf(rate):
            return 0
        return math.floor(self.rng.expovariate(rate)) - math.floor(self.rng.expovariate(rate))

    def query(self, value):
        if self.left == 0:
            raise RuntimeError("it has halted")
        noisy = value + self.draw(self.variant.query_rate)
        if noisy < self.threshold:
            return False
        self.left = None if self.left is None else self.left - 1
        return noisy if self.variant.releases else True


def maker(make):
    return lambda threshold, *, epsilon, rng: Sampler(make(epsilon), threshold, rng)


BROKEN = [
    # make, whether queries are monotonic, runs
    (broken.releases_the_noisy_query, False, 20_000),
    (broken.does_not_scale_with_hits, False, 40_000),
    (broken.leaves_the_queries_bare, False, 2000),
    (broken.leaves_the_queries_bare, True, 2000),
    (broken.never_ends, False, 5000),
    (broken.shares_one_draw, True, 2000),
    (broken.halves_the_query_noise, True, 40_000),
    (broken.doubles_eps1, True, 100_000),
]
GOOD = [(broken.correct, False), (broken.correct_monotonic, True)]


@pytest.mark.medium
@pytest.mark.parametrize(
    ("make", "monotonic", "runs"), BROKEN, ids=lambda value: getattr(value, "__name__", str(value))
)
def test_broken_mechanisms_are_caught_by_runs(make, monotonic, runs):
    """The published variants that are not private, and lost factors of two, show more than epsilon."""
    _, found = mine.sampled(maker(make), 1.0, monotonic, runs, rng=random.Random(5))
    assert found.epsilon > 1


@pytest.mark.medium
@pytest.mark.parametrize(("make", "monotonic"), GOOD, ids=lambda value: getattr(value, "__name__", str(value)))
def test_right_mechanisms_pass(make, monotonic):
    """The right ones show less, but not for nothing."""
    _, found = mine.sampled(maker(make), 1.0, monotonic, 40_000, rng=random.Random(6))
    assert 0.3 < found.epsilon <= 1


@pytest.mark.medium
def test_above_threshold_passes():
    """The AboveThreshold of nobounds itself, by its name, with few runs."""
    row = mine.audit_mine("nobounds:AboveThreshold", 1.0, False, 4000, rng=random.Random(7))
    assert row.verdict == "not refuted"
    assert 0 < row.observed <= 1


FILE = """
import math
import random
from fractions import Fraction

from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk


def good(threshold, *, epsilon, rng):
    raise AssertionError("its law is known")


def law_with(eps1, eps2):
    def log_law(queries, threshold, *, epsilon):
        half = Fraction(epsilon) / 2
        walk = Walk.of(queries, Fraction(threshold), eps1=eps1 * half, eps2=eps2 * half, noise="laplace")
        return Law(walk).log_pmf()

    return log_law


def halved(threshold, *, epsilon, rng):
    raise AssertionError("its law is known")


def tells_all(threshold, *, epsilon, rng):
    class Bare:
        def query(self, value):
            return value >= threshold

    return Bare()


good.log_law = law_with(1, 1)
halved.log_law = law_with(1, 2)
"""


@pytest.mark.medium
def test_a_file_of_mechanisms_is_audited_from_the_command_line(tmp_path):
    """Exit status 0 for a good law, 1 for a broken one or a broken sampler; the table names it."""
    path = tmp_path / "mechanisms.py"
    path.write_text(FILE)
    good = run("--mine", f"{path}:good", "--monotonic")
    assert good.exit_code == 0, good.stderr
    assert "exact law" in good.stdout and "1 claim: none exceeded." in good.stdout
    halved = run("--mine", f"{path}:halved", "--monotonic")
    assert halved.exit_code == 1
    assert f"EXCEEDED: {path}:halved" in halved.stdout and " 1.5 " in halved.stdout
    assert run("--mine", f"{path}:good").exit_code == 1  # it is for monotonic queries alone
    bare = run("--mine", f"{path}:tells_all", "--runs", 2000)
    assert bare.exit_code == 1
    assert run("--mine", f"{path}:missing").exit_code == 2


# What a law of three outcomes may be given as that is none, and what is said of it.
NO_LAWS = {
    "[0.0] * (len(queries) + 1)": "must sum to 1",
    "[0.5, 0.5]": "are these logs?",
    "[]": "one for each outcome",
    "[[0.0]]": "in one dimension",
    "[7.0 - math.log(2)] * 2": "they sum to exp(7)",
    "[float('nan'), 0.0]": "NaN",
    "['a', 'b']": "not one of numbers",
    "[-math.log(len(queries) + queries[0] + 9)] * (len(queries) + queries[0] + 9)": "outcomes",
    "1 / 0": "ZeroDivisionError",
    "{}['a']": "KeyError",
}


@pytest.mark.parametrize("law", NO_LAWS)
def test_a_law_that_is_none_is_refused(tmp_path, law):
    """With exit status 2, in words that name the function, and nothing that only numpy would say."""
    path = tmp_path / "laws.py"
    path.write_text(
        "import math\n\n\ndef make(threshold, *, epsilon, rng):\n    pass\n\n\n"
        f"make.log_law = lambda queries, threshold, *, epsilon: {law}\n"
    )
    result = run("--mine", f"{path}:make")
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith(f"Error: log_law of {path}:make failed in the audit: ")
    assert NO_LAWS[law] in result.stderr and "broadcast" not in result.stderr and "report it" not in result.stderr


BROKEN_FILES = {
    "def make(threshold, *, epsilon, rng):\n    return {}['no']\n": "KeyError: 'no'",
    "def make(threshold, *, epsilon, rng):\n    return None\n": "AttributeError",
    "def make(threshold, *, epsilon, rng):\n    raise SystemExit(0)\n": "SystemExit",
    "class make:\n    def __init__(self, threshold, *, epsilon, rng):\n        pass\n\n"
    "    def query(self, value):\n        raise RuntimeError('never')\n": "RuntimeError: never",
    "def make(:\n": "SyntaxError",
    "import sys\nsys.exit(0)\n": "SystemExit: 0",
    "import no_such_module_at_all\n": "ModuleNotFoundError",
}


@pytest.mark.parametrize("text", BROKEN_FILES, ids=range(len(BROKEN_FILES)))
def test_errors_of_the_audited_code_are_told_as_such(tmp_path, text):
    """Exit status 2, not 0 or 1, and one line that names the file and what it raised."""
    path = tmp_path / "mine.py"
    path.write_text(text)
    result = run("--mine", f"{path}:make", "--runs", 1000)
    assert result.exit_code == 2 and result.stdout == ""
    assert str(path) in result.stderr and BROKEN_FILES[text] in result.stderr
    assert "report it" not in result.stderr and len(result.stderr.splitlines()) == 1


def test_a_file_hides_no_module(tmp_path):
    """A file of one's own may be called as a module of the standard library is."""
    path = tmp_path / "random.py"
    path.write_text("def make(threshold, *, epsilon, rng):\n    pass\n")
    mine.load(f"{path}:make")
    assert sys.modules["random"] is random


def test_runs_do_not_show_that_a_claim_holds(tmp_path):
    """A bound from runs that is not above the claim says "not refuted", and so do the words."""
    path = tmp_path / "silent.py"
    path.write_text(
        "class make:\n    def __init__(self, threshold, *, epsilon, rng):\n        pass\n\n"
        "    def query(self, value):\n        return False\n"
    )
    result = run("--mine", f"{path}:make", "--runs", 1000)
    assert result.exit_code == 0, result.stderr
    assert "not refuted" in result.stdout and "holds  " not in result.stdout
    assert "that does not mean that it holds" in result.stdout
    assert '"verdict": "not refuted"' in run("--mine", f"{path}:make", "--runs", 1000, "--json").stdout


def test_an_error_after_some_answers_is_an_outcome():
    """A mechanism that fails on a value with no hit before tells of that value, and is caught."""

    class Fails:
        def __init__(self, threshold, *, epsilon, rng):
            self.asked = 0

        def query(self, value):
            self.asked += 1
            if self.asked > 1 and value >= 0:
                raise RuntimeError
            return False

    assert mine.outcome(Fails, [-1, 0], 1, 1.0, None) == (0, 0, "raised")
    _, found = mine.sampled(Fails, 1.0, True, 2000, rng=random.Random(1))
    assert found.epsilon > 1


def test_outcomes_count_hits_around_the_step():
    """Hits before the step, hits from it on, and a released number as the last."""

    def make(threshold, *, epsilon, rng):
        return Sampler(broken.Variant(math.inf, math.inf, None), threshold, rng)

    rng = random.Random(1)
    assert mine.outcome(make, [0, -1, 1, 1, -1], 2, 1.0, rng) == (1, 2, None)
    seen = Counter(mine.outcome(maker(broken.releases_the_noisy_query), [50], 1, 1.0, rng) for _ in range(50))
    assert all(outcome[:2] == (1, 0) and outcome[2] is not None for outcome in seen)
