"""The budget: what fits is charged exactly, what does not is refused, by any number of threads and processes."""

import copy
import math
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nobounds.accounting.budget import Budget, BudgetExceeded, NotCovered, read
from nobounds.accounting.cost import gaussian, pure
from nobounds.accounting.loss import PrivacyLoss

TENTH = PrivacyLoss.of(pure(Fraction(1, 10)), "add-remove")
GAUSSIAN = PrivacyLoss.of(gaussian(Fraction(1, 100)), "add-remove")
AT_DELTA = PrivacyLoss.of(gaussian(Fraction(1, 100)), "add-remove", delta=Fraction(1, 10**6))
APPROXIMATE = PrivacyLoss(0.5, math.inf, math.inf, "add-remove", "row", 1e-8)

Make = Callable[..., Budget]


@pytest.fixture(params=["file", "memory"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """A maker of budgets, in a file or in memory."""
    return lambda **terms: Budget(**terms, path=tmp_path / "people.budget" if request.param == "file" else None)


def charged(budget: Budget, loss: PrivacyLoss) -> int:
    """How often a loss fits."""
    count = 0
    try:
        while True:
            budget.charge(loss, "again")
            count += 1
    except BudgetExceeded:
        return count


def run(code: str, *words: object) -> subprocess.CompletedProcess:
    """Another process, which runs the code."""
    return subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, timeout=120)


class TestWhatFits:
    def test_thirty_tenths_are_three(self, make: Make):
        """Thirty charges of 0.1 fit in 3.0 exactly, and the next does not."""
        budget = make(epsilon=3.0)
        assert charged(budget, TENTH) == 30
        assert budget.remaining == 0
        assert budget.spent.epsilon == 3.0

    @pytest.mark.medium
    @settings(max_examples=50)
    @given(st.lists(st.decimals(min_value=0, max_value=1, places=6).map(float), max_size=20))
    def test_charges_fit_as_their_fractions_do(self, epsilons: list[float]):
        """A charge is taken exactly if the fractions as written then come to at most epsilon."""
        budget, spent = Budget(epsilon=2), Fraction(0)
        for epsilon in epsilons:
            after = spent + Fraction(repr(epsilon))
            if after <= 2:
                budget.charge(PrivacyLoss(epsilon, epsilon, epsilon, "swap"), "some")
                spent = after
            else:
                with pytest.raises(BudgetExceeded):
                    budget.charge(PrivacyLoss(epsilon, epsilon, epsilon, "swap"), "some")
            assert Fraction(repr(budget.remaining)) <= 2 - spent

    def test_a_budget_of_rho_adds_up_rho(self, make: Make):
        """Gaussian noise with or without a delta, and pure losses, are charged by their rho."""
        budget = make(rho="0.05")
        for loss in (GAUSSIAN, AT_DELTA, GAUSSIAN, TENTH):
            budget.charge(loss, "some")
        assert budget.remaining == float(Fraction(2, 100) - Fraction(repr(TENTH.rho)))
        assert charged(budget, GAUSSIAN) == 1
        assert budget.spent.rho == pytest.approx(0.04 + TENTH.rho)

    def test_a_budget_with_a_delta_takes_all_kinds(self, make: Make):
        """Pure losses, Gaussian noise and losses with a delta alone all have a rule by which they fit."""
        for losses in ([TENTH] * 30, [GAUSSIAN, AT_DELTA, TENTH], [APPROXIMATE, TENTH]):
            budget = Budget(epsilon=3, delta=1e-6)
            for loss in losses:
                budget.charge(loss, "some")
            assert 0 <= budget.remaining < 3

    def test_losses_that_fit_one_by_one_but_not_together_are_refused(self):
        """Gaussian noise has no pure epsilon and a bare delta no rho, so no rule adds them up."""
        budget = Budget(epsilon=3, delta=1e-6)
        budget.charge(GAUSSIAN, "noise")
        with pytest.raises(BudgetExceeded, match=r"you asked for epsilon 0\.5 at delta 1e-08, but "):
            budget.charge(APPROXIMATE, "a loss with a delta")

    def test_a_refusal_for_its_delta_says_which_delta_would_fit(self):
        """A tenth of the budget's delta is for such losses, which nobody can guess."""
        budget = Budget(epsilon=4, delta=1e-5)
        budget.charge(PrivacyLoss.approximate(1, 1e-9), "keys")
        with pytest.raises(BudgetExceeded, match=r"is left\. Use epsilon=3 at delta=9\.99e-07 or less\.$"):
            budget.charge(PrivacyLoss.approximate(1, 1e-6), "more keys")
        budget.charge(PrivacyLoss.approximate(1, 9.99e-7), "more keys")
        with pytest.raises(
            BudgetExceeded, match=r"nothing is left .* for losses with a delta\. .* use epsilon=2 or less\.$"
        ):
            budget.charge(PrivacyLoss.approximate(1, 1e-9), "more keys")

    def test_a_refusal_says_what_was_asked_what_there_is_and_what_would_fit(self):
        """All three are public numbers."""
        small, rho, both = Budget(epsilon=0.25), Budget(rho=0.015), Budget(epsilon=1, delta=1e-5)
        small.charge(TENTH, "some")
        rho.charge(GAUSSIAN, "some")
        with pytest.raises(BudgetExceeded) as refused:
            small.charge(PrivacyLoss.of(pure(Fraction(1, 5)), "add-remove"), "more")
        text = "Budget exceeded: you asked for epsilon 0.2, but 0.15 of 0.25 is left. Use epsilon=0.15 or less."
        assert str(refused.value) == text
        with pytest.raises(BudgetExceeded) as refused:
            rho.charge(GAUSSIAN, "more")
        text = "Budget exceeded: you asked for rho 0.01, but 0.005 of 0.015 is left. Use rho=0.005 or less."
        assert str(refused.value) == text
        with pytest.raises(
            BudgetExceeded, match=r"1 at delta 1e-05 is left\. Use epsilon=1 or less, or rho=0\.0302084 with Gau"
        ):
            both.charge(PrivacyLoss.of(gaussian(Fraction(1)), "add-remove"), "more")
        charged(small, PrivacyLoss.of(pure(Fraction(1, 20)), "add-remove"))
        with pytest.raises(BudgetExceeded, match=r"nothing is left of epsilon 0\.25\.$"):
            small.charge(TENTH, "more")

    def test_a_refused_charge_is_not_in_the_history(self, make: Make):
        """After a refusal everything is as it was, and a smaller charge still fits."""
        budget = make(epsilon="0.15")
        budget.charge(TENTH, "first")
        before = repr(budget), budget.history
        with pytest.raises(BudgetExceeded):
            budget.charge(TENTH, "second")
        assert (repr(budget), budget.history) == before
        budget.charge(PrivacyLoss.of(pure(Fraction(1, 20)), "add-remove"), "third")
        assert budget.remaining == 0


class TestKinds:
    @pytest.mark.parametrize("loss", [GAUSSIAN, AT_DELTA, APPROXIMATE], ids=["rho", "at delta", "approximate"])
    def test_a_budget_of_epsilon_takes_pure_losses_only(self, make: Make, loss: PrivacyLoss):
        """Any other loss is refused, and the text names the budgets that would take it."""
        budget = make(epsilon=3)
        with pytest.raises(ValueError, match=r"takes pure losses, .*make one of rho=, or of epsilon= and delta="):
            budget.charge(loss, "some")
        assert budget.history == ()

    def test_a_budget_of_rho_refuses_a_loss_without_one(self, make: Make):
        """A loss with a delta and no rho is refused, and the text names the budget that would take it."""
        with pytest.raises(ValueError, match=r"takes losses with a rho, .*make one of epsilon= and delta="):
            make(rho=3).charge(APPROXIMATE, "some")

    @pytest.mark.parametrize(("name", "value"), [("neighbors", "swap"), ("unit", "person")])
    @pytest.mark.parametrize("settled", ["by the terms", "by the first charge"])
    def test_relation_and_unit_are_settled_once(self, make: Make, name: str, value: str, settled: str):
        """A loss for another relation or unit is refused, and the text says to make another budget for it."""
        words = {"neighbors": "add-remove", "unit": "row", name: value}
        other = PrivacyLoss(0.1, 0.005, 0.2, **words)
        budget = make(epsilon=3, **{name: getattr(TENTH, name)} if settled == "by the terms" else {})
        if settled == "by the first charge":
            budget.charge(TENTH, "first")
        with pytest.raises(ValueError, match=f"the budget is for {name}=.*{value}.*make another budget"):
            budget.charge(other, "other")
        budget.charge(TENTH, "same")

    @pytest.mark.parametrize("loss", [TENTH, PrivacyLoss(0.1, 0.005, 0.2, "swap", "person")])
    def test_the_first_charge_may_be_for_anyone(self, make: Make, loss: PrivacyLoss):
        """A budget with nothing settled takes any relation and unit."""
        make(epsilon=3).charge(loss, "first")

    def test_what_the_first_charge_settled_is_in_the_file(self, tmp_path: Path):
        """An object that opens the file later refuses what the first charge excluded."""
        Budget(epsilon=3, path=tmp_path / "a").charge(TENTH, "first")
        with pytest.raises(ValueError, match="the budget is for neighbors='add-remove'"):
            Budget(path=tmp_path / "a").charge(PrivacyLoss(0.1, 0.005, 0.2, "swap"), "second")


class TestArguments:
    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ({}, "needs epsilon=, rho=, or epsilon= and delta=; or the path="),
            ({"epsilon": 0}, "epsilon must be greater than 0"),
            ({"epsilon": -1}, "epsilon must be greater than 0"),
            ({"epsilon": math.nan}, "epsilon must be a finite number"),
            ({"epsilon": math.inf}, "epsilon must be a finite number"),
            ({"epsilon": 1e13}, "epsilon must be between"),
            ({"rho": 0}, "rho must be greater than 0"),
            ({"epsilon": 1, "rho": 1}, "either epsilon= or rho="),
            ({"delta": 1e-6}, "either epsilon= or rho="),
            ({"rho": 1, "delta": 1e-6}, "a budget of rho has no delta"),
            ({"epsilon": 1, "delta": 0}, "delta must be greater than 0 and less than 1"),
            ({"epsilon": 1, "delta": 1}, "delta must be greater than 0 and less than 1"),
            ({"epsilon": 1, "neighbors": "both"}, "neighbors must be one of"),
            ({"epsilon": 1, "unit": ""}, "unit must be a word"),
            ({"epsilon": 1, "unit": 3}, "unit must be a word"),
            ({"neighbors": "swap", "path": "x"}, "to open one, give its path= alone"),
        ],
        ids=str,
    )
    def test_terms_that_make_no_sense_are_refused(self, given: dict, text: str, tmp_path: Path):
        """The text says what is wrong, and no file is made."""
        if given:
            given = given | {"path": tmp_path / "people.budget"}
        with pytest.raises(ValueError, match=text):
            Budget(**given)
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(
        "loss",
        [
            PrivacyLoss(-0.1, 0.005, 0.2, "add-remove"),
            PrivacyLoss(0.1, -0.005, 0.2, "add-remove"),
            PrivacyLoss(math.nan, 0.005, 0.2, "add-remove"),
            PrivacyLoss(0.1, math.nan, 0.2, "add-remove"),
            PrivacyLoss(math.inf, math.inf, math.inf, "add-remove"),
            PrivacyLoss(0.1, 0.005, 0.2, "both"),  # type: ignore[arg-type]
            PrivacyLoss(0.1, 0.005, 0.2, "add-remove", ""),
            PrivacyLoss(0.1, 0.005, 0.2, "add-remove", "row", -1e-9),
            PrivacyLoss(0.1, 0.005, 0.2, "add-remove", "row", 1.0),
            PrivacyLoss(0.1, 0.005, 0.2, "add-remove", "row", math.inf),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("terms", [{"epsilon": 3}, {"rho": 3}, {"epsilon": 3, "delta": 0.5}], ids=str)
    def test_a_loss_that_makes_no_sense_is_refused(self, loss: PrivacyLoss, terms: dict):
        """A negative, missing or boundless loss would be a way around the budget."""
        budget = Budget(**terms)
        with pytest.raises(ValueError):
            budget.charge(loss, "some")
        assert budget.history == ()

    def test_what_is_not_a_loss_or_a_text_is_refused(self):
        """Types are checked, and a text has at most 500 characters."""
        budget = Budget(epsilon=3)
        with pytest.raises(TypeError, match="loss must be a PrivacyLoss"):
            budget.charge(0.1, "some")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="what must be a text"):
            budget.charge(TENTH, None)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="at most 500 characters"):
            budget.charge(TENTH, "x" * 501)
        budget.charge(TENTH, "x" * 500)

    def test_numbers_that_are_not_floats_count_at_least_in_full(self):
        """A loss given in fractions or in single precision is rounded up, never down."""
        budget = Budget(epsilon=1)
        budget.charge(PrivacyLoss(Fraction(1, 3), np.float32(0.1), 1, "swap"), "some")  # type: ignore[arg-type]
        assert 1 / 3 <= budget.history[0].loss.epsilon < 0.3333334
        assert charged(budget, PrivacyLoss(Fraction(1, 3), 0, 1, "swap")) == 1  # type: ignore[arg-type]


class TestWhatItSays:
    def test_repr(self, tmp_path: Path):
        """A budget prints its limit, what is spent and what remains, and where it is kept."""
        budget = Budget(epsilon=3.0, path=tmp_path / "people.budget")
        assert repr(budget) == "Budget(epsilon 3, spent 0, remaining 3; people.budget)"
        budget.charge(PrivacyLoss(0.5, 0.125, 1.0, "swap"), "some")
        assert str(budget) == repr(budget) == "Budget(epsilon 3, spent 0.5, remaining 2.5; people.budget)"
        rho = Budget(rho=0.5)
        rho.charge(GAUSSIAN, "some")
        assert repr(rho) == "Budget(rho 0.5, spent 0.01, remaining 0.49; in memory)"
        both = Budget(epsilon=3, delta=1e-6)
        both.charge(TENTH, "some")
        assert repr(both) == "Budget(epsilon 3 at delta 1e-06, spent 0.1, remaining 2.9; in memory)"

    def test_repr_never_fails(self, tmp_path: Path):
        """A budget whose file is gone still prints."""
        budget = Budget(epsilon=3.0, path=tmp_path / "people.budget")
        (tmp_path / "people.budget").unlink()
        assert repr(budget) == "Budget(out of reach; people.budget)"

    def test_what_is_printed_errs_on_the_safe_side(self):
        """What is spent is rounded up, and what remains is rounded down."""
        budget = Budget(epsilon=1)
        budget.charge(PrivacyLoss(0.33333333, 0.05, 0.6, "swap"), "some")
        assert repr(budget) == "Budget(epsilon 1, spent 0.333334, remaining 0.666666; in memory)"

    def test_history(self, make: Make):
        """Charges are told in order, with their time."""
        budget = make(epsilon=3)
        assert budget.history == () and budget.spent is None
        start = datetime.now(UTC)
        budget.charge(TENTH, "first")
        budget.charge(TENTH, "second")
        assert [charge.what for charge in budget.history] == ["first", "second"]
        assert [charge.loss for charge in budget.history] == [TENTH, TENTH]
        assert all(abs(charge.when - start) < timedelta(minutes=1) for charge in budget.history)

    def test_spent_is_a_loss(self, make: Make):
        """What is spent is the sum of the losses, and prints like one."""
        budget = make(epsilon=3)
        budget.charge(TENTH, "first")
        assert budget.spent == TENTH
        budget.charge(TENTH, "second")
        assert budget.spent == TENTH + TENTH
        assert str(budget.spent) == "epsilon 0.2 (add-remove, per row; rho 0.009992)"

    def test_read_tells_the_same(self, tmp_path: Path):
        """A statement read from the file says what the budget says, also once the file is read-only."""
        path = tmp_path / "people.budget"
        budget = Budget(epsilon=3, path=path, unit="row")
        assert (read(path).neighbors, read(path).unit) == (None, "row")
        budget.charge(TENTH, "first")
        path.chmod(0o444)
        found = read(str(path))
        assert (found.spent, found.remaining, found.history) == (budget.spent, budget.remaining, budget.history)
        assert (found.neighbors, found.unit) == ("add-remove", "row")


class TestObjects:
    def test_a_file_is_opened_again(self, tmp_path: Path):
        """A budget that exists is opened by its path alone, and not made anew."""
        path = tmp_path / "people.budget"
        Budget(epsilon=3, path=str(path)).charge(TENTH, "first")
        assert Budget(path=str(path)).remaining == 2.9
        with pytest.raises(FileExistsError, match=r"open it with Budget\(path="):
            Budget(epsilon=3, path=path)
        with pytest.raises(FileNotFoundError, match="create it with Budget"):
            Budget(path=tmp_path / "other.budget")

    def test_a_change_of_folder_does_not_lose_the_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """A relative path stays where it was."""
        monkeypatch.chdir(tmp_path)
        budget = Budget(epsilon=3, path="people.budget")
        (tmp_path / "sub").mkdir()
        monkeypatch.chdir(tmp_path / "sub")
        budget.charge(TENTH, "first")
        assert pickle.loads(pickle.dumps(budget)).remaining == 2.9

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda budget: pickle.loads(pickle.dumps(budget))])
    def test_copies_of_a_file_budget_spend_together_and_memory_has_none(self, tmp_path: Path, copied: Callable):
        """A copy of a file budget is the same file; a copy of one in memory would spend it again and is refused."""
        budget = Budget(epsilon=3, path=tmp_path / "people.budget")
        copied(budget).charge(TENTH, "by the copy")
        assert budget.remaining == 2.9
        with pytest.raises(TypeError, match="the copy would spend it again"):
            copied(Budget(epsilon=3))

    def test_budgets_are_themselves_only(self, tmp_path: Path):
        """Two budgets are never equal, and nothing can be set on one."""
        budget = Budget(epsilon=3, path=tmp_path / "people.budget")
        assert budget == budget and budget != Budget(path=tmp_path / "people.budget")
        assert len({budget, Budget(epsilon=3), Budget(epsilon=3)}) == 3
        for name in ("remaining", "spent", "history", "epsilon"):
            with pytest.raises(AttributeError):
                setattr(budget, name, 0)

    @pytest.mark.medium
    def test_importing_nobounds_does_not_load_sqlite(self):
        """The database is loaded with the first budget."""
        code = """if True:
            import sys, nobounds.accounting.budget
            print("sqlite3" in sys.modules)
            nobounds.accounting.budget.Budget(epsilon=1)
            print("sqlite3" in sys.modules)
        """
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert found.split() == ["False", "True"]


class TestTeam:
    def test_open_or_create_makes_one_budget(self, tmp_path: Path):
        """The first call makes the file, and the next ones open it with its charges."""
        path = tmp_path / "team.budget"
        Budget.open_or_create(path, epsilon=2, unit="row").charge(TENTH, "first")
        assert Budget.open_or_create(str(path), epsilon="2.0").remaining == 1.9
        assert Budget.open_or_create(path, epsilon=2, unit="row", neighbors="add-remove").remaining == 1.9

    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ({"epsilon": 5}, "budget of epsilon 2 at delta 1e-06, not of epsilon 5:"),
            ({"epsilon": 2}, "budget of epsilon 2 at delta 1e-06, not of epsilon 2:"),
            ({"rho": 1}, "budget of epsilon 2 at delta 1e-06, not of rho 1:"),
            ({"epsilon": 2, "delta": 1e-6, "unit": "user"}, "for unit='row', not for unit='user'"),
            ({"epsilon": 2, "delta": 1e-6, "neighbors": "swap"}, "for no neighbors yet, not for neighbors='swap'"),
            ({"epsilon": 2, "delta": 1e-6, "labels": ["b"]}, "covers 'a', and not 'b'"),
            ({}, "open_or_create needs epsilon="),
        ],
        ids=str,
    )
    def test_open_or_create_refuses_another_budget(self, tmp_path: Path, given: dict, text: str):
        """The text names what is in the file and what was given, and the file stays as it was."""
        path = tmp_path / "team.budget"
        Budget(epsilon=2, delta=1e-6, unit="row", labels=["a"], path=path)
        before = path.read_bytes()
        with pytest.raises(ValueError, match=text):
            Budget.open_or_create(path, **given)
        assert path.read_bytes() == before

    @pytest.mark.medium
    def test_two_processes_that_create_at_once_share_the_file(self, tmp_path: Path):
        """One of them creates it, the others open it, and no charge is lost."""
        path = tmp_path / "team.budget"
        code = """if True:
            import sys
            from nobounds.accounting.budget import Budget
            from nobounds.accounting.loss import PrivacyLoss
            Budget.open_or_create(sys.argv[1], epsilon=2).charge(PrivacyLoss(0.5, 0.1, 1.0, "swap"), "some")
        """
        workers = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(4)]
        assert [worker.wait(timeout=120) for worker in workers] == [0] * 4
        assert Budget(path=path).remaining == 0

    def test_a_charge_carries_what_the_user_says_and_nothing_else(self, make: Make, monkeypatch: pytest.MonkeyPatch):
        """Notes, authors and labels are kept as given, and are None where they are not; no login fills them in."""
        for name in ("USER", "LOGNAME", "USERNAME"):
            monkeypatch.setenv(name, "ada")
        budget = make(epsilon=3)
        budget.charge(TENTH, "first")
        budget.noted("for the report", author="Ada").charge(TENTH, "second")
        budget.noted("draft", label="visits").noted("=1+1").charge(TENTH, "third")
        said = [(charge.note, charge.author, charge.label) for charge in budget.history]
        assert said == [(None, None, None), ("for the report", "Ada", None), ("=1+1", None, "visits")]
        for wrong, error in (
            ({"note": 3}, TypeError),
            ({"author": ""}, ValueError),
            ({"label": "x" * 501}, ValueError),
        ):
            with pytest.raises(error, match=f"{next(iter(wrong))} must"):
                budget.noted(**wrong)

    def test_a_budget_covers_the_first_name_and_those_that_are_allowed(self, make: Make):
        """Another name is refused before anything is charged; what has no name states none."""
        budget = make(epsilon=3)
        budget.noted(label="people.csv").charge(TENTH, "first")
        other = budget.noted(label="orders.csv")
        with pytest.raises(NotCovered, match=r"covers 'people\.csv', and these data are 'orders\.csv'.*budget\.allow"):
            other.charge(TENTH, "second")
        budget.charge(TENTH, "an array")
        budget.allow("orders.csv")
        budget.allow("orders.csv")
        other.charge(TENTH, "third")
        assert budget.labels == ("orders.csv", "people.csv") and len(budget.history) == 3

    def test_labels_from_the_start_and_in_the_file(self, tmp_path: Path):
        """A stated name excludes others at once, for every process that opens the file."""
        path = tmp_path / "people.budget"
        Budget(epsilon=3, labels=["people.csv"], path=path)
        with pytest.raises(NotCovered):
            Budget(path=path).noted(label="orders.csv").charge(TENTH, "some")
        earlier = Budget(path=path)
        Budget(path=path).allow("orders.csv")
        earlier.noted(label="orders.csv").charge(TENTH, "some")
        assert read(path).labels == ("people.csv", "orders.csv")
        for wrong in ({"labels": "people.csv"}, {"labels": [3]}, {"labels": 3}):
            with pytest.raises(TypeError, match="must be a"):
                Budget(epsilon=3, **wrong)
        with pytest.raises(ValueError, match="labels are for a new budget"):
            Budget(path=path, labels=["x"])

    def test_what_is_left_in_words(self):
        """The kind of the limit, what is left and all of it."""
        both = Budget(epsilon=3, delta=1e-6)
        both.charge(TENTH, "some")
        assert both._now().left == "epsilon 2.9 of 3 at delta 1e-06 is left"


class TestAtOnce:
    @pytest.mark.medium
    def test_threads_never_overspend(self, make: Make):
        """Sixteen threads that charge until nothing is left make exactly the charges that fit."""
        budget = make(epsilon=10)
        counts: list[int] = []
        threads = [threading.Thread(target=lambda: counts.append(charged(budget, TENTH))) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(counts) == 16 and sum(counts) == 100 == len(budget.history)
        assert budget.remaining == 0 and budget.spent.epsilon == 10

    @pytest.mark.medium
    def test_threads_with_a_budget_each_share_the_file(self, tmp_path: Path):
        """Each thread opens the file anew for each charge, while the others charge, and the sum is exact."""
        path = tmp_path / "people.budget"
        Budget(epsilon=4, path=path)

        def work() -> None:
            for _ in range(5):
                Budget(path=path).charge(TENTH, "one of five")

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert Budget(path=path).remaining == 0 and len(Budget(path=path).history) == 40

    @pytest.mark.medium
    def test_processes_never_overspend(self, tmp_path: Path):
        """Eight processes that charge until nothing is left make exactly the charges that fit."""
        path = tmp_path / "people.budget"
        budget = Budget(epsilon=20, path=path)
        code = """if True:
            import sys
            from nobounds.accounting.budget import Budget, BudgetExceeded
            from nobounds.accounting.loss import PrivacyLoss
            budget, count = Budget(path=sys.argv[1]), 0
            try:
                while True:
                    budget.charge(PrivacyLoss(0.1, 0.005, 0.2, "swap"), "some")
                    count += 1
            except BudgetExceeded:
                print(count)
        """
        command = [sys.executable, "-c", code, str(path)]
        workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
        counts = [int(worker.communicate(timeout=120)[0]) for worker in workers]
        assert sum(counts) == 200 == len(budget.history)
        assert budget.remaining == 0

    @pytest.mark.medium
    def test_a_forked_process_shares_a_file_and_is_refused_a_memory(self, tmp_path: Path):
        """The child charges the file that the parent opened; a budget in memory it may not use, only print."""
        code = """if True:
            import os, sys
            from nobounds.accounting.budget import Budget
            from nobounds.accounting.loss import PrivacyLoss
            loss = PrivacyLoss(0.1, 0.005, 0.2, "swap")
            file, memory = Budget(epsilon=3, path=sys.argv[1]), Budget(epsilon=3)
            file.charge(loss, "parent")
            memory.charge(loss, "parent")
            if os.fork() == 0:
                file.charge(loss, "child")
                for use in (lambda: memory.charge(loss, "child"), lambda: memory.remaining):
                    try:
                        use()
                        print("allowed", flush=True)
                    except RuntimeError as error:
                        print(error, flush=True)
                print(memory, flush=True)
                os._exit(0)
            os.wait()
            print(file)
            print(memory)
        """
        result = subprocess.run([sys.executable, "-c", code, str(tmp_path / "a")], capture_output=True, text=True)
        *refused, printed, file, memory = result.stdout.splitlines()
        assert len(refused) == 2 and all("stays in its process" in line for line in refused), result.stderr
        assert printed == "Budget(out of reach; in memory)"
        assert file == "Budget(epsilon 3, spent 0.2, remaining 2.8; a)"
        assert memory == "Budget(epsilon 3, spent 0.1, remaining 2.9; in memory)"

    @pytest.mark.medium
    def test_threads_children_and_copies_share_one_file(self, tmp_path: Path):
        """Children forked while threads charge a file, and copies of all kinds, spend exactly what there is."""
        code = """if True:
            import copy, os, pickle, sys, threading
            from nobounds.accounting.budget import Budget, BudgetExceeded
            from nobounds.accounting.loss import PrivacyLoss
            loss = PrivacyLoss(0.1, 0.005, 0.2, "swap")
            budget, counts = Budget(epsilon=12, path=sys.argv[1]), []
            budgets = [budget, copy.copy(budget), copy.deepcopy(budget), pickle.loads(pickle.dumps(budget))]

            def work(budget):
                count = 0
                try:
                    while True:
                        budget.charge(loss, f"process {os.getpid()}")
                        count += 1
                except BudgetExceeded:
                    counts.append(count)

            def start():
                threads = [threading.Thread(target=work, args=(budget,)) for budget in budgets]
                for thread in threads:
                    thread.start()
                return threads

            threads, children = start(), 0
            while children < 3:
                if len(budget.history) >= 5 * children:
                    children += 1
                    if os.fork() == 0:
                        counts.clear()
                        threads = start()
                        break
            for thread in threads:
                thread.join()
            sys.stdout.write(f"{sum(counts)} {len(counts)}\\n")
            sys.stdout.flush()
        """
        result = run(code, tmp_path / "a")
        counts = [tuple(map(int, line.split())) for line in result.stdout.splitlines()]
        assert [threads for _, threads in counts] == [4] * 4, result.stderr
        assert sum(count for count, _ in counts) == 120 == len(Budget(path=tmp_path / "a").history)
        assert Budget(path=tmp_path / "a").remaining == 0

    @pytest.mark.medium
    def test_a_child_forked_while_threads_charge_a_memory_is_refused(self):
        """It is refused at once, whatever the threads of its parent were doing, and the parent spends what there is."""
        code = """if True:
            import os, threading
            from nobounds.accounting.budget import Budget, BudgetExceeded
            from nobounds.accounting.loss import PrivacyLoss
            loss = PrivacyLoss(0.1, 0.005, 0.2, "swap")
            budget = Budget(epsilon=200)

            def work():
                try:
                    while True:
                        budget.charge(loss, "thread")
                except BudgetExceeded:
                    pass

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for _ in range(10):
                if os.fork() == 0:
                    try:
                        budget.charge(loss, "child")
                    except RuntimeError as error:
                        print(error, flush=True)
                    os._exit(0)
                os.wait()
            for thread in threads:
                thread.join()
            print(len(budget.history))
        """
        *refused, count = run(code).stdout.splitlines()
        assert len(refused) == 10 and all("stays in its process" in line for line in refused)
        assert count == "2000"
