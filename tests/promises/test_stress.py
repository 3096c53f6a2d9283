"""The stress test: nothing is lost when all is well, and planted errors are caught."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support import planted

import nobounds as nb
from stress.__main__ import main
from stress.books import Book, documented, entries
from stress.calls import FILE_FAULTS, LEDGER_FAULTS, SURE, Call, draw
from stress.report import markdown, plain
from stress.run import Outcome, run
from stress.tables import columns_of, forms
from stress.truth import again, far_off, judge
from stress.worker import made

CALL = Call("0-0", 5, 400, "numpy", 0, "add-remove", "rows", "age", "0.5", "", False, "epsilon", "1", "both", "", "")


def calls(count: int, **wanted) -> list[Call]:
    """The first calls of a seed that are like this."""
    drawn = (draw(3, life, number) for life in range(100_000) for number in range(60))
    fitting = (call for call in drawn if all(getattr(call, name) == value for name, value in wanted.items()))
    return [next(fitting) for _ in range(count)]


def stressed(caught, **options):
    """A stress test with a planted error, which runs longer where the machine is too busy to catch it at once."""
    for seconds in (7, 21, 63):
        outcome = run(seconds, processes=2, **options)
        if caught(outcome):
            break
    return outcome


class TestShort:
    @pytest.mark.slow
    def test_a_few_seconds_lose_nothing(self, tmp_path: Path):
        """The command ends with status 0 and writes a report; faults were injected and all of them survived."""
        out = tmp_path / "report.json"
        for minutes in ("0.15", "0.6", "2"):  # the longer ones for busy machines
            status = main(["--minutes", minutes, "--seed", "1", "--out", str(out)])
            outcome = json.loads(out.read_text())
            if outcome["answers"] and sum(outcome["injected"].values()):
                break
        assert status == 0, out.read_text()
        assert outcome["passed"] and outcome["answers"] == outcome["judged"] > 0
        assert outcome["injected"] == outcome["survived"] and sum(outcome["injected"].values()) > 0

    @pytest.mark.slow
    def test_answers_before_their_charges_are_found(self):
        """With a ledger that charges each answer with the next, the last answer of a process has no charge."""
        outcome = stressed(lambda outcome: outcome.lost, seed=2, budget=planted.Late)
        assert outcome.lost and not outcome.passed

    @pytest.mark.slow
    def test_half_a_charge_is_found(self):
        """A charge that is smaller than the loss of its answer does not pay for it."""
        outcome = stressed(lambda outcome: outcome.lost, seed=3, budget=planted.Hasty)
        assert outcome.lost and not outcome.passed

    @pytest.mark.slow
    def test_counts_off_by_one_are_found(self):
        """An answer that is not what its seed gives is wrong, and no charge is lost by it."""
        outcome = stressed(lambda outcome: outcome.wrong, seed=4, answer=planted.one_more)
        assert outcome.wrong and not outcome.lost and not outcome.passed

    @pytest.mark.slow
    def test_errors_and_files_left_behind_are_found(self):
        """A KeyError is none of the documented errors, and a temporary file is to be removed."""
        outcome = stressed(lambda outcome: outcome.undocumented and outcome.left, seed=5, answer=planted.careless)
        assert any("KeyError" in text for text in outcome.undocumented)
        assert outcome.left and not outcome.passed

    @pytest.mark.medium
    def test_the_command_is_checked_before_it_runs(self, tmp_path: Path, capsys):
        """No time and a folder that is not there are refused at once."""
        for words in (["--minutes", "0"], ["--processes", "0"], ["--out", str(tmp_path / "no" / "report.md")]):
            with pytest.raises(SystemExit) as end:
                main(words)
            assert end.value.code == 2 and "error: " in capsys.readouterr().err


class TestCalls:
    def test_a_call_is_drawn_again_from_its_seed(self):
        """The same seed, process and number give the same call, and other ones give others."""
        assert draw(1, 2, 3) == draw(1, 2, 3)
        assert len({draw(1, life, number) for life in range(5) for number in range(20)}) == 100

    @pytest.mark.medium
    def test_all_forms_faults_and_statistics_come_up(self):
        """In a few thousand calls there is everything."""
        drawn = [draw(1, life, number) for life in range(60) for number in range(60)]
        assert {call.form for call in drawn} == set(forms())
        assert {call.fault for call in drawn} == {"", *LEDGER_FAULTS, *FILE_FAULTS}
        assert {call.whom for call in drawn} == {"row", "swap", "user"}
        assert len({call.statistic for call in drawn}) == 11
        assert Counter(call.fault for call in drawn)[""] > 1000


class TestTruth:
    @pytest.mark.medium
    @pytest.mark.parametrize("form", forms())
    def test_every_form_gives_the_answer_that_is_expected(self, form: str, tmp_path: Path):
        """What a call answers on a table of a form is what the clean process gives, and near the truth."""
        for number, call in enumerate(calls(4, form=form, fault="")):
            folder = tmp_path / str(number)
            folder.mkdir()
            life, at = map(int, call.name.split("-"))
            assert judge(3, life, at, made(call, folder, None).to_json()) is None

    @pytest.mark.medium
    @pytest.mark.parametrize("moment", ["before", "opened", "charged"])
    def test_spoilt_rows_of_a_csv_file_count_as_empty_ones(self, moment: str, tmp_path: Path):
        """A file with spoilt rows gives, bit for bit, the answer of one in which they are empty."""
        for number, call in enumerate(calls(3, form="csv", fault="rows are garbled", moment=moment, rows=400)):
            folder = tmp_path / str(number)
            folder.mkdir()
            assert made(call, folder, None).to_json() == again(call)

    def test_spoilt_rows_make_a_difference(self):
        """At the largest epsilon the sum without them is another."""
        call = replace(CALL, form="csv", statistic="sum", rows=1200, amount=SURE, moment="before")
        assert again(replace(call, fault="rows are garbled")) != again(call)

    def test_one_more_or_a_higher_price_is_wrong(self):
        """An answer that differs in its last digit is not the same, and neither is one that cost more."""
        (call,) = calls(1, statistic="rows", by="", fault="", form="numpy", amount=SURE)
        life, at = map(int, call.name.split("-"))
        answer = json.loads(again(call))
        assert judge(3, life, at, json.dumps(answer)) is None
        answer["value"] += 1
        assert "differs" in judge(3, life, at, json.dumps(answer))

    @pytest.mark.parametrize("statistic", ["rows", "count", "quantile", "maximum", "minimum", "sum", "mean"])
    @pytest.mark.parametrize("by", ["", "region"])
    def test_regions_hold_and_bite(self, statistic: str, by: str, tmp_path: Path):
        """At the largest epsilon a true answer is inside, and twice or half of it, and 50 more, is outside."""
        call = replace(CALL, rows=1200, statistic=statistic, by=by, column="age", amount=SURE)
        answer, columns = json.loads(made(call, tmp_path, None).to_json()), columns_of(call.seed, call.rows)
        assert far_off(call, answer, columns) is None
        name = "values" if by else "value"
        spoilt = (2 * np.asarray(answer[name]) + 50).tolist()
        assert far_off(call, answer | {name: spoilt}, columns) is not None

    def test_counts_of_units_are_of_bounded_rows(self, tmp_path: Path):
        """The region of a count follows the bound on the rows of a user."""
        call = replace(CALL, rows=1500, rows_per_unit=1, statistic="rows")
        columns = columns_of(call.seed, call.rows)
        answer = json.loads(made(call, tmp_path, None).to_json())
        assert answer["value"] < 700 and far_off(call, answer, columns) is None
        assert far_off(call, answer | {"value": 1500}, columns) is not None

    def test_a_key_that_nobody_has_is_wrong(self):
        """Keys that are chosen privately are keys of the table."""
        call = replace(CALL, by="shop", private_keys=True, statistic="sum")
        columns = columns_of(call.seed, call.rows)
        assert far_off(call, {"keys": {"shop": [3, 4]}, "values": [0, 0]}, columns) is None
        assert "nobody" in far_off(call, {"keys": {"shop": [3, 99]}, "values": [0, 0]}, columns)


class TestBooks:
    def test_a_book_tells_what_is_paid_and_what_is_overspent(self, tmp_path: Path):
        """A charge pays for a call of its name and a loss that is not larger; terms that are kept are not overspent."""
        path = tmp_path / "a.budget"
        budget = nb.Budget(epsilon=1, path=path)
        budget.charge(nb.PrivacyLoss(0.5, 0.1, 1.0, "swap"), "median of age #3-4")
        book = Book.of(path)
        loss = {"epsilon": 0.5, "rho": 0.1}
        assert book.pays("3-4", loss) and not book.pays("3-5", loss) and not book.pays("3-4", loss | {"epsilon": 0.6})
        assert not book.pays("3-4", loss | {"delta": 1e-9}) and not book.pays("3-4", {"epsilon": 0.5, "rho": None})
        assert not book.overspent
        assert replace(book, total=book.total | {"epsilon": Fraction(11, 10)}).overspent
        assert replace(book, total=book.total | {"delta": Fraction(1, 10**9)}).overspent

    def test_overspending_by_either_rule(self):
        """With a delta one of two rules must hold; a rho is kept or not."""
        total = {"epsilon": Fraction(9), "rho": Fraction(1, 10), "eta": Fraction(0), "delta": Fraction(0)}
        both = Book({"epsilon": Fraction(8), "delta": Fraction(1, 10**6)}, (), total)
        assert not both.overspent and replace(both, total=total | {"rho": Fraction(2)}).overspent
        rho = Book({"rho": Fraction(1, 10)}, (), total)
        assert not rho.overspent and replace(rho, total=total | {"rho": Fraction(2, 10)}).overspent

    def test_errors_are_documented_by_fault(self):
        """The same error is fine after one fault and not after another, or with other words."""
        assert documented("", "BudgetExceeded", "nothing is left of epsilon 3.")
        assert documented("file vanishes", "ValueError", "no file is named sales.csv")
        assert not documented("", "ValueError", "no file is named sales.csv")
        assert not documented("file vanishes", "ValueError", "operands could not be broadcast together")
        assert not documented("full disk", "MemoryError", "")

    def test_a_line_that_was_not_finished_is_left_out(self, tmp_path: Path):
        """A diary ends where its process was killed."""
        (tmp_path / "0.jsonl").write_text('{"started": "0-0"}\n{"name": "0-0", "ans')
        assert list(entries(tmp_path / "0.jsonl")) == [{"started": "0-0"}]


class TestReport:
    def test_failures_are_listed(self):
        """The page and the plain values say that it failed, and where."""
        outcome = Outcome(60.0, 1, 3, answers=7, lost=["call 1-2 was answered"] * 30)
        outcome.injected["full disk"] += 2
        page = markdown(outcome, "make soak")
        assert "It FAILED" in page and "| charges lost | 30 |" in page and "- and 10 more" in page
        values = json.loads(json.dumps(plain(outcome)))
        assert values["passed"] is False and values["injected"] == {"full disk": 2}

    def test_nothing_done_is_no_success(self):
        """Without a single answer a stress test has not passed."""
        assert not Outcome(60.0, 1, 3).passed
        assert "Nothing was lost" in markdown(Outcome(60.0, 1, 3, answers=1), "make soak")
