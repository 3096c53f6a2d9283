"""Tables: the same answers wherever the rows lie, charged before they are read, and nothing else told of them."""

import random
import traceback
from dataclasses import replace
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.csv_files import HEADER, headed
from support.purse import Purse

import nobounds as nb
from nobounds.engines.sql.duck import from_relation

RNG = np.random.default_rng(7)
ROWS = 3000
PAY = np.where(RNG.random(ROWS) < 0.05, np.nan, np.round(RNG.lognormal(7, 1, ROWS), 2))
WHO = np.array([f"p{i}" for i in RNG.integers(0, 900, ROWS)])
CHANGE = RNG.normal(0, 40, ROWS)
PEOPLE = {"pay": PAY, "change": CHANGE, "who": WHO}
SECRET = "86421"


def frames(folder):
    """The table of people in all the ways that there are to hold one."""
    part = ROWS // 3
    for k in range(3):
        rows = slice(k * part, (k + 1) * part)
        pq.write_table(pa.table({name: column[rows] for name, column in PEOPLE.items()}), folder / f"{k}.parquet")
    pd.DataFrame(PEOPLE).to_csv(folder / "people.csv", index=False)
    structured = np.zeros(ROWS, dtype=[("pay", "f8"), ("change", "f8"), ("who", "U8")])
    for name, column in PEOPLE.items():
        structured[name] = column
    people = pd.DataFrame(PEOPLE)
    relation = duckdb.connect().from_df(people)
    return {
        "dict of arrays": PEOPLE,
        "dict of lists": {name: column.tolist() for name, column in PEOPLE.items()},
        "structured array": structured,
        "pandas": people,
        "polars": pl.DataFrame(PEOPLE, nan_to_null=True),
        "LazyFrame": pl.LazyFrame(PEOPLE),
        "Arrow": pa.table(PEOPLE),
        "DuckDB": relation,
        "Parquet glob": str(folder / "*.parquet"),
        "Parquet list": [folder / "0.parquet", str(folder / "1.parquet"), folder / "2.parquet"],
        "CSV": headed(folder / "people.csv"),
    }


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    return frames(tmp_path_factory.mktemp("tables"))


ASKED = {
    "quantile": lambda t, **how: t.quantile("pay", 0.9, **how),
    "quantiles": lambda t, **how: t.quantiles("pay", [0.75, 0.25, 0.5], **how),
    "maximum": lambda t, **how: t.maximum("pay", **how),
    "minimum": lambda t, **how: t.minimum("change", **how),
    "bounds": lambda t, **how: t.bounds("change", **how),
    "sum": lambda t, **how: t.sum("pay", **how),
    "mean": lambda t, **how: t.mean("change", **how),
    "count": lambda t, **how: t.count("pay", **how),
    "count of rows": lambda t, **how: t.count(**how),
    "describe": lambda t, **how: t.describe(["pay", "change"], **how),
}
COLUMN = {"minimum": "change", "bounds": "change", "mean": "change", "count of rows": None, "describe": None}
ALONE = {
    "quantile": lambda **how: nb.quantile(PAY, 0.9, **how),
    "quantiles": lambda **how: nb.quantiles(PAY, [0.75, 0.25, 0.5], **how),
    "maximum": lambda **how: nb.maximum(PAY, **how),
    "minimum": lambda **how: nb.minimum(CHANGE, **how),
    "bounds": lambda **how: nb.bounds(CHANGE, **how),
    "sum": lambda **how: nb.sum(PAY, **how),
    "mean": lambda **how: nb.mean(CHANGE, **how),
    "count": lambda **how: nb.count(PAY, **how),
    "count of rows": lambda **how: nb.count(range(ROWS), **how),
    "describe": lambda **how: nb.describe({"pay": PAY, "change": CHANGE}, **how),
}


def unnamed(release):
    """A release without what only a table knows: its column, how many rows of a unit count, and if it is a query."""
    left_out = ("column", "rows_per_unit", "rows_of", "values_read")
    known = {name: value for name, value in release.parameters.items() if name not in left_out}
    return replace(with_plain_reasons(release), parameters=known)


def with_plain_reasons(release):
    """A release whose reasons do not tell texts from numbers."""
    for summary in getattr(release, "columns", {}).values():
        summary.reasons.update(dict.fromkeys(summary.reasons, "too few rows"))
    return release


QUERIES = ("LazyFrame", "DuckDB")


class TestSameAnswers:
    @pytest.mark.medium
    @pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": 0.1}], ids=["epsilon", "rho"])
    @pytest.mark.parametrize("asked", ASKED)
    def test_a_table_answers_as_the_function_does_on_its_column(self, held, asked, cost):
        """Without a unit, the same seed gives the same release, from every kind of table."""
        alone = ALONE[asked](**cost, rng=random.Random(3))
        for kind, data in held.items():
            found = ASKED[asked](nb.Table(data), **cost, rng=random.Random(3))
            assert unnamed(found) == alone, kind
            assert ("rows_of" in found.parameters) == (kind in QUERIES)
            assert found.parameters.get("column") == COLUMN.get(asked, "pay")

    @pytest.mark.medium
    @pytest.mark.parametrize("asked", [*ASKED, "suggest_rows_per_unit"])
    def test_the_rows_of_a_unit_are_the_same_wherever_they_lie(self, held, asked):
        """With a unit, the same seed keeps the same rows and gives the same release, from every kind of table."""
        ask = ASKED.get(asked, lambda t, **how: t.suggest_rows_per_unit(**how))
        found = {}
        for kind, data in held.items():
            found[kind] = ask(nb.Table(data, unit="who", rows_per_unit=3), epsilon=2, rng=random.Random(5))
        for kind in QUERIES:
            assert found[kind].parameters.pop("rows_of") == "query result"
        for release in found.values():
            release.parameters.pop("values_read", None)  # of texts
        assert all(with_plain_reasons(release) == found["pandas"] for release in found.values()), found

    @pytest.mark.medium
    @pytest.mark.parametrize("asked", ASKED)
    def test_units_of_one_row_are_answered_as_rows_are(self, asked):
        """After the number that chooses rows, the same bits give the same answer, for the same epsilon; per unit."""
        table = nb.Table(PEOPLE | {"who": np.arange(ROWS)}, unit="who", rows_per_unit=1)
        later = random.Random(3)
        later.getrandbits(62)
        found, alone = ASKED[asked](table, epsilon=1, rng=random.Random(3)), ALONE[asked](epsilon=1, rng=later)
        assert found.loss.unit == "who"
        assert alone.loss.unit == "row"
        assert found.parameters["rows_per_unit"] == 1
        assert unnamed(found).to_dict() | {"loss": None} == alone.to_dict() | {"loss": None}
        assert found.loss.epsilon == alone.loss.epsilon == 1

    @pytest.mark.medium
    def test_columns_of_a_matrix_are_named_by_their_places(self):
        """A two-dimensional array is the table of its columns "0", "1" and so on, as units too."""
        matrix = np.column_stack([CHANGE, RNG.integers(0, 500, ROWS)])
        named = {"0": matrix[:, 0], "1": matrix[:, 1]}
        for unit in ({}, {"unit": "1", "rows_per_unit": 2}):
            one, other = (nb.Table(d, **unit).sum("0", epsilon=1, rng=random.Random(1)) for d in (matrix, named))
            assert one == other

    @pytest.mark.medium
    def test_whole_numbers_stay_whole(self, tmp_path):
        """Integer and boolean types have resolution 1 wherever they lie, and their answers are ints."""
        ages = {"age": RNG.integers(18, 90, 500), "member": RNG.random(500) < 0.3}
        pq.write_table(pa.table(ages), tmp_path / "ages.parquet")
        kinds = [ages, pd.DataFrame(ages), pl.DataFrame(ages), pl.LazyFrame(ages), pa.table(ages)]
        kinds += [duckdb.connect().from_df(pd.DataFrame(ages)), tmp_path / "ages.parquet"]
        found = [nb.Table(data).quantile("age", 0.5, epsilon=5, rng=random.Random(1)).value for data in kinds]
        assert {(type(value), value) for value in found} == {(int, found[0])}
        members = [nb.Table(data).sum("member", epsilon=5, rng=random.Random(1)) for data in kinds]
        assert {release.value for release in members} == {members[0].value}
        assert members[0].parameters["clip"] == [0, 1]

    @pytest.mark.medium
    def test_a_numpy_generator_seeds_too(self):
        """Two generators of one seed give one answer, with a unit; others, another."""
        table = nb.Table(PEOPLE, unit="who", rows_per_unit=3)
        found = [table.sum("pay", epsilon=1, rng=np.random.default_rng(seed)).value for seed in (1, 1, 2)]
        assert found[0] == found[1] != found[2]

    @pytest.mark.medium
    @pytest.mark.unmarked
    def test_rows_are_chosen_anew_for_each_statistic(self):
        """Without a seed two counts of the same units differ in what they keep: maxima at a huge epsilon do."""
        data = {"x": np.arange(1000.0), "who": np.zeros(1000)}
        table = nb.Table(data, unit="who", rows_per_unit=1)
        assert len({table.maximum("x", epsilon=1e6, resolution=1).value for _ in range(20)}) > 5


class TestUnits:
    @pytest.mark.medium
    @pytest.mark.parametrize("rows", [1, 2, 5, 100])
    def test_at_most_so_many_rows_of_a_unit_count(self, rows):
        """At a huge epsilon the count of rows is that of what is left of each unit."""
        sizes = pd.Series(WHO).value_counts()
        table = nb.Table(PEOPLE, unit="who", rows_per_unit=rows)
        assert table.count(epsilon=1e6).value == sizes.clip(upper=rows).sum()
        left = pd.Series(WHO[~np.isnan(PAY)]).value_counts().clip(upper=rows).sum()
        assert table.count("pay", epsilon=1e6).value == left

    @pytest.mark.medium
    def test_rows_of_nobody_are_left_out(self):
        """A row whose unit is missing has nobody to protect, and does not count; NaN and None are missing alike."""
        texts = pd.DataFrame({"x": [1.0] * 4, "who": ["a", None, "b", None]})
        for data in (texts, pl.from_pandas(texts), {"x": np.ones(4), "who": np.array([1, np.nan, 2, np.nan])}):
            assert nb.Table(data, unit="who", rows_per_unit=5).count(epsilon=1e6).value == 2

    @pytest.mark.medium
    def test_a_quantile_of_the_rows_of_units_is_suggested(self):
        """95% of all units have no more rows than suggested, and another q can be asked for; it needs a unit."""
        sizes = pd.Series(WHO).value_counts()
        table = nb.Table(PEOPLE, unit="who")
        for q in (0.5, 0.95):
            found = table.suggest_rows_per_unit(epsilon=1e4, q=q)
            assert found.value == sizes.quantile(q, interpolation="lower")
            assert (found.loss.epsilon, found.loss.unit) == (1e4, "who")
        nb.Table(PEOPLE, unit="who", rows_per_unit=table.suggest_rows_per_unit(epsilon=1).value)
        with pytest.raises(ValueError, match="rows per unit need unit, the column that says whose row it is"):
            nb.Table(PEOPLE).suggest_rows_per_unit(epsilon=1)

    @pytest.mark.medium
    @pytest.mark.parametrize("epsilon", [1, 0.1, "0.3", 4, Fraction(1, 3), 1e-6])
    @pytest.mark.parametrize("rows", [1, 3, 7])
    @pytest.mark.parametrize("asked", ASKED)
    def test_the_epsilon_asked_for_is_charged(self, asked, rows, epsilon):
        """Exactly, whatever rows a unit may have: it is a row's part that shrinks."""
        table = nb.Table({name: column[:0] for name, column in PEOPLE.items()}, unit="who", rows_per_unit=rows)
        loss = ASKED[asked](table, epsilon=epsilon).loss
        assert loss.epsilon == nb.PrivacyLoss.pure(epsilon).epsilon
        assert (loss.unit, loss.neighbors, loss.delta) == ("who", "add-remove", 0)

    @pytest.mark.medium
    @pytest.mark.parametrize("rows", [1, 3, 7])
    @pytest.mark.parametrize("asked", ASKED)
    def test_the_rho_asked_for_is_all_but_spent(self, asked, rows):
        """Never more, and at most a five-hundredth less."""
        table = nb.Table({name: column[:0] for name, column in PEOPLE.items()}, unit="who", rows_per_unit=rows)
        loss = ASKED[asked](table, rho=0.05).loss
        assert 0.05 * 0.998 <= loss.rho <= 0.05

    @pytest.mark.medium
    def test_more_rows_of_a_unit_mean_more_noise(self):
        """The noise of a count grows with rows_per_unit, and that of a sum likewise."""
        scales = [
            nb.Table(PEOPLE, unit="who", rows_per_unit=rows).count(epsilon=1).parameters["noise_scale"]
            for rows in (1, 2, 10)
        ]
        assert scales == pytest.approx([1, 2, 10])


STATISTICS = {
    "quantile 9/10 of pay": ASKED["quantile"],
    "quantiles 1/4, 1/2, 3/4 of pay": ASKED["quantiles"],
    "maximum of pay": ASKED["maximum"],
    "minimum of change": ASKED["minimum"],
    "bounds of change": ASKED["bounds"],
    "sum of pay": ASKED["sum"],
    "mean of change": ASKED["mean"],
    "count of pay": ASKED["count"],
    "count of rows": ASKED["count of rows"],
    "describe pay, change": ASKED["describe"],
    "sum of pay by who": lambda t, **how: t.group_by("who", keys=["p1"]).sum("pay", **how),
    "mean of pay by who": lambda t, **how: t.group_by("who", keys=["p1"]).mean("pay", **how),
    "count of rows by who": lambda t, **how: t.group_by("who", delta=1e-6).count(**how),
    "count of pay by who": lambda t, **how: t.group_by("who", delta=1e-6).count("pay", **how),
    "quantile 1/2 of pay by who": lambda t, **how: t.group_by("who", keys=["p1"]).quantile("pay", 0.5, **how),
    "maximum of pay by who": lambda t, **how: t.group_by("who", keys=["p1"]).maximum("pay", **how),
    "minimum of pay by who": lambda t, **how: t.group_by("who", delta=1e-6).minimum("pay", **how),
}


def broken_relation():
    """A relation that fails on one of its records, and would say which."""
    pay = f"case when i = 2500 then 'x{SECRET}' else i::varchar end"
    rows = f"select ({pay})::double as pay, i::double as change, 'p' || i % 500 as who from range(3000) t(i)"
    return duckdb.connect().sql(rows)


def broken_lazy():
    """The same as a LazyFrame."""
    texts = [f"x{SECRET}" if i == 2500 else str(i) for i in range(3000)]
    frame = pl.LazyFrame({"pay": texts, "change": np.arange(3000.0), "who": [f"p{i % 500}" for i in range(3000)]})
    return frame.with_columns(pl.col("pay").cast(pl.Float64))


class TestBudget:
    @pytest.mark.medium
    @pytest.mark.parametrize("what", STATISTICS)
    @pytest.mark.parametrize("unit", [{}, {"unit": "who", "rows_per_unit": 2}], ids=["rows", "units"])
    def test_a_charge_says_what_it_is_for(self, unit, what):
        """The statistic, the column and what it is grouped by; and it is the loss of the release."""
        purse = Purse()
        release = STATISTICS[what](nb.Table(PEOPLE, **unit, budget=purse), epsilon=1)
        assert purse.charged == [(release.loss, what)]

    @pytest.mark.medium
    @pytest.mark.parametrize("broken", [broken_relation, broken_lazy], ids=["DuckDB", "LazyFrame"])
    @pytest.mark.parametrize("unit", [{}, {"unit": "who", "rows_per_unit": 2}], ids=["rows", "units"])
    @pytest.mark.parametrize("what", [what for what in STATISTICS if "pay" in what])
    def test_what_fails_on_a_record_has_been_charged_and_tells_nothing(self, broken, unit, what):
        """Whether a query fails depends on the data: it is paid for, and its error has no record in it."""
        purse = Purse()
        table = nb.Table(broken(), **unit, budget=purse)
        with pytest.raises(ValueError, match="the query") as failed:
            STATISTICS[what](table, epsilon=1)
        assert [charge for _, charge in purse.charged] == [what]
        assert failed.value.__suppress_context__
        assert failed.value.__cause__ is None
        assert SECRET not in "".join(traceback.format_exception(failed.value))

    @pytest.mark.medium
    @pytest.mark.parametrize("broken", [broken_relation, broken_lazy], ids=["DuckDB", "LazyFrame"])
    @pytest.mark.parametrize("unit", [{}, {"unit": "who", "rows_per_unit": 2}], ids=["rows", "units"])
    @pytest.mark.parametrize("what", STATISTICS)
    def test_what_a_budget_refuses_is_not_read(self, broken, unit, what):
        """The refusal comes first: reading would fail."""
        read = []
        table = nb.Table(broken(), **unit, budget=nb.Budget(epsilon="0.5", delta=1e-5), progress=read.append)
        with pytest.raises(nb.BudgetExceeded):
            STATISTICS[what](table, epsilon=1)
        assert read == []

    def test_data_in_memory_are_not_touched_before_the_charge(self):
        """A list whose elements cannot be looked at is refused by the budget, not by the list."""

        class Closed(list):
            def __getitem__(self, where):
                raise AssertionError("read")

            def __iter__(self):
                raise AssertionError("read")

        table = nb.Table({"pay": Closed([1.0] * 9), "change": Closed([1.0] * 9)}, budget=Purse(refuses=True))
        for ask in ASKED.values():
            with pytest.raises(RuntimeError, match="spent"):
                ask(table, epsilon=1)
        with pytest.raises(AssertionError, match="read"):
            nb.Table({"pay": Closed([1.0] * 9)}).sum("pay", epsilon=1)

    @pytest.mark.parametrize("unit", [{}, {"unit": "who", "rows_per_unit": 2}], ids=["rows", "units"])
    def test_refused_arguments_are_not_charged(self, unit):
        """Nothing is spent on a call that is wrong."""
        purse = Purse()
        table = nb.Table(PEOPLE, **unit, budget=purse)
        groups = table.group_by("who", keys=["p1"])
        wrong = [
            lambda: table.quantile("pay", 1.5, epsilon=1),
            lambda: table.quantile("pay", 0.5),
            lambda: table.quantile("pay", 0.5, epsilon=1, rho=1),
            lambda: table.quantile("pay", 0.5, epsilon=-1),
            lambda: table.quantiles("pay", [], epsilon=1),
            lambda: table.sum("pay", epsilon=1, lower=3, upper=2),
            lambda: table.mean("who", epsilon=1),
            lambda: table.count("wages", epsilon=1),
            lambda: table.count("pay", epsilon=1, lower=0),
            lambda: table.maximum("pay", epsilon=1, rng=7),
            lambda: table.describe(["wages"], epsilon=1),
            lambda: table.describe(["pay"], epsilon=1, lower={"wages": 0}),
            lambda: groups.quantile("pay", -1, epsilon=1),
            lambda: groups.sum("pay", epsilon=0),
            lambda: groups.sum("pay", epsilon=1, resolution=0),
            lambda: groups.mean("who", epsilon=1),
            lambda: groups.maximum("pay", epsilon=1, rng=7),
            lambda: groups.count(epsilon=1, lower=0),
            lambda: groups.sum("pay", epsilon=1, budget=Purse()),
            lambda: table.group_by("who", delta=1e-6).count(rho=1),
        ]
        for call in wrong:
            with pytest.raises((TypeError, ValueError)):
                call()
        assert purse.charged == []

    @pytest.mark.medium
    def test_a_table_without_its_rows_per_unit_is_not_charged(self):
        """The number is asked for by the first statistic, which says how to find it."""
        purse = Purse()
        table = nb.Table(PEOPLE, unit="who", budget=purse)
        for ask in STATISTICS.values():
            with pytest.raises(
                ValueError, match=r"needs rows_per_unit.*table\.suggest_rows_per_unit\(epsilon=\.\.\.\)"
            ):
                ask(table, epsilon=1)
        assert purse.charged == []
        assert table.suggest_rows_per_unit(epsilon=1).loss == purse.charged[0][0]
        assert purse.charged[0][1] == "quantile 19/20 of rows per who"

    def test_a_budget_for_rows_does_not_pay_for_people(self):
        """Losses of different units do not add up, in either order."""
        rows, people = nb.Budget(epsilon=9, unit="row"), nb.Budget(epsilon=9)
        with pytest.raises(ValueError, match="the budget is for unit='row', got unit='who'"):
            nb.Table(PEOPLE, unit="who", rows_per_unit=2, budget=rows).count(epsilon=1)
        assert rows.remaining == 9
        nb.Table(PEOPLE, unit="who", rows_per_unit=2, budget=people).count(epsilon=1)
        with pytest.raises(ValueError, match="unit"):
            nb.Table(PEOPLE, budget=people).count(epsilon=1)
        assert people.remaining == 8

    def test_a_long_name_is_cut_in_the_charge(self):
        """A budget takes no more than 500 characters; the name of a column can have more."""
        name, budget = "n" * 600, nb.Budget(epsilon=9)
        table = nb.Table({name: np.ones(9), "k": ["a"] * 9}, budget=budget)
        table.sum(name, epsilon=1)
        table.group_by("k", keys=["a"]).sum(name, epsilon=1)
        assert all(charge.what.startswith("sum of nnn") for charge in budget.history)


class TestRefusals:
    """By public facts alone: names, types and arguments; with what to do about it."""

    def refused(self, error, words, call):
        with pytest.raises(error, match=words) as refusal:
            call()
        return str(refusal.value)

    def test_a_column_that_is_not_there_is_told_with_those_that_are(self):
        """Names are public where there are types, too."""
        table = nb.Table(PEOPLE)
        words = r"column 'wages' is not in the table; the columns are 'pay', 'change', 'who'"
        self.refused(ValueError, words, lambda: table.sum("wages", epsilon=1))
        self.refused(ValueError, words, lambda: table.group_by("wages", keys=["a"]))
        self.refused(ValueError, words, lambda: table.describe(["wages"], epsilon=1))
        self.refused(ValueError, words, lambda: nb.Table(PEOPLE, unit="wages", rows_per_unit=1))
        self.refused(TypeError, "by its name, a text, got list", lambda: table.sum(["pay"], epsilon=1))

    def test_the_first_line_of_a_file_is_not_shown(self, tmp_path):
        """It may be somebody's record."""
        path = tmp_path / "people.csv"
        path.write_text(f"Ann,{SECRET}\nBob,3\n")
        said = self.refused(
            ValueError, "may be a record, so state what it is", lambda: nb.Table(path).sum("pay", epsilon=1)
        )
        assert SECRET not in said
        assert "Ann" not in said

    def test_intervals_of_duckdb_are_refused_with_what_would_do(self):
        """Their months have no fixed length; their seconds have."""
        with duckdb.connect() as con:
            con.execute("create table t as select interval 3 days + to_minutes(i % 60) as took from range(2000) r(i)")
            with pytest.raises(TypeError, match=r"select its seconds, in DuckDB by epoch\(\.\.\.\)"):
                nb.Table(con.table("t")).mean("took", epsilon=1)
            seconds = nb.Table(con.sql("select epoch(took) as took from t"))
            assert seconds.mean("took", epsilon=10, rng=np.random.default_rng(0)).value == pytest.approx(
                259200 + 1800, rel=0.01
            )

    def test_columns_that_are_no_numbers_are_refused_by_their_type(self):
        """With the family of the type; bytes are no numbers either."""
        dates = pa.array([b"0", b"1"], type=pa.binary())
        table = nb.Table(pa.table({"who": ["a", "b"], "when": dates, "pay": [1.0, 2.0]}))
        for name, family in (("who", "text"), ("when", "Arrow type binary")):
            words = f"column '{name}' must be numeric, got {family}; cast it first"
            self.refused(TypeError, words, lambda name=name: table.sum(name, epsilon=1))
            self.refused(TypeError, words, lambda name=name: table.group_by("who", keys=["a"]).sum(name, epsilon=1))
            self.refused(TypeError, words, lambda name=name: table.describe([name], epsilon=1))
        assert table.describe(epsilon=1).skipped == {"who": "text", "when": "Arrow type binary"}

    @pytest.mark.parametrize("rows", [0, -1, True, False, 2.0, "2", Fraction(2), 2**31 + 1, [2]])
    def test_rows_per_unit_is_a_whole_number(self, rows):
        """From 1 on; a number of numpy is one."""
        words = "rows_per_unit must be a whole number from 1 to 2147483648, got rows_per_unit="
        self.refused(ValueError, words, lambda: nb.Table(PEOPLE, unit="who", rows_per_unit=rows))
        words = "groups_per_unit must be a whole number from 1 to 2147483648, got groups_per_unit="
        table = nb.Table(PEOPLE, unit="who", rows_per_unit=np.int64(2))
        self.refused(ValueError, words, lambda: table.group_by("who", delta=1e-6, groups_per_unit=rows))

    def test_units_and_swap_do_not_go_together(self):
        """Nor do groups and swap, or rows_per_unit and no unit."""
        words = "a table with a unit needs neighbors='add-remove', got neighbors='swap'"
        self.refused(ValueError, words, lambda: nb.Table(PEOPLE, unit="who", rows_per_unit=1, neighbors="swap"))
        swap = nb.Table(PEOPLE, neighbors="swap")
        self.refused(ValueError, "groups need neighbors='add-remove'", lambda: swap.group_by("who", keys=["a"]))
        self.refused(ValueError, "rows_per_unit needs unit", lambda: nb.Table(PEOPLE, rows_per_unit=1))
        self.refused(ValueError, "neighbors must be one of", lambda: nb.Table(PEOPLE, neighbors="remove"))

    def test_swap_is_what_it_is_for_the_functions(self):
        """Without units, the number of rows is public under swap, and answers are those of the functions."""
        found = nb.Table(PEOPLE, neighbors="swap").mean("change", epsilon=1, rng=random.Random(1))
        assert unnamed(found) == nb.mean(CHANGE, epsilon=1, neighbors="swap", rng=random.Random(1))
        assert nb.Table(PEOPLE, neighbors="swap").count(epsilon=1).value == ROWS

    def test_a_unit_is_not_called_row(self):
        """Losses per row are for single rows, and a budget could not tell the two apart."""
        data = {"x": np.ones(9), "row": ["a"] * 9}
        words = "the unit cannot be called 'row', which stands for single rows; rename the column"
        self.refused(ValueError, words, lambda: nb.Table(data, unit="row", rows_per_unit=1))

    def test_types_that_cannot_be_compared_are_no_units(self):
        """They are refused by their type, and do no harm as columns that nobody asks for."""
        lists = pa.table({"x": [1.0], "odd": [[1]]})
        for data in (lists, {"x": np.ones(1), "odd": np.array([1j])}, pl.DataFrame({"x": [1.0], "odd": [[1]]})):
            words = "column 'odd' must be of text, numbers or dates to be a unit or a key, got .*; cast it first"
            self.refused(TypeError, words, lambda data=data: nb.Table(data, unit="odd", rows_per_unit=1))
            self.refused(TypeError, words, lambda data=data: nb.Table(data).group_by("odd", delta=1e-6))
            assert nb.Table(data).count("x", epsilon=1e6).value == 1

    def test_files_that_are_no_table_are_refused(self, tmp_path):
        """No file of the name, no match, another suffix, other columns, one column twice."""
        for name, text in {"a.csv": "x,y\n1,2\n", "b.csv": "x,z\n1,2\n", "c.csv": "x,x\n1,2\n"}.items():
            (tmp_path / name).write_text(text)
        pq.write_table(pa.table({"x": [1.0]}), tmp_path / "a.parquet")
        pq.write_table(pa.table({"x": [1]}), tmp_path / "b.parquet")
        pq.write_table(pa.table({"y": [1]}), tmp_path / "c.parquet")
        a, absent = str(tmp_path / "a.csv"), str(tmp_path / "absent.csv")
        self.refused(ValueError, r"no file is named .*absent\.csv", lambda: nb.Table(absent))
        self.refused(ValueError, r"no file is named .*absent\.csv", lambda: nb.Table([a, absent]))
        self.refused(ValueError, r"no file matches .*\*\.tsv", lambda: nb.Table(str(tmp_path / "*.tsv")))
        self.refused(ValueError, "must end in .csv", lambda: nb.Table(__file__))
        self.refused(ValueError, "a list of paths must name at least one file, got none", lambda: nb.Table([]))
        self.refused(TypeError, "one of paths or globs, got a list of something else", lambda: nb.Table([1, 2, 3]))
        self.refused(ValueError, r"the same columns, got others in b\.csv", lambda: headed(tmp_path / "[ab].csv"))
        self.refused(ValueError, "a column appears more than once", lambda: headed(tmp_path / "c.csv"))
        types = r"the same types of columns, got others in b\.parquet"
        self.refused(ValueError, types, lambda: nb.Table(str(tmp_path / "[ab].parquet")))
        columns = r"the same columns, got others in c\.parquet"
        self.refused(ValueError, columns, lambda: nb.Table(str(tmp_path / "[ac].parquet")))
        self.refused(ValueError, "must all be of one format", lambda: nb.Table(str(tmp_path / "a.*")))

    def test_a_file_that_is_named_twice_is_read_once(self, tmp_path):
        """Or each of its rows would count twice."""
        (tmp_path / "a.csv").write_text("x\n1\n2\n3\n")
        both = nb.Table([tmp_path / "a.csv", str(tmp_path / "*.csv")], csv=HEADER)
        assert both.count(epsilon=1e6).value == both.count("x", epsilon=1e6).value == 3

    def test_tables_that_are_no_tables_are_refused(self):
        """Columns of one name or of several lengths, and what is no table at all."""
        twice = pd.DataFrame([[1, 2]], columns=["x", "x"])
        self.refused(ValueError, "column 'x' appears more than once", lambda: nb.Table(twice))
        words = "the columns of a table must all have the same length"
        self.refused(ValueError, words, lambda: nb.Table({"x": [1, 2, 3], "y": [1, 2]}))
        self.refused(TypeError, "data must be a table", lambda: nb.Table(object()))
        self.refused(TypeError, "data must be a table", lambda: nb.Table(7))

    def test_what_is_described_is_a_list_of_names(self):
        """A text would be a list of its letters; and something must be numeric."""
        table = nb.Table({"p": np.ones(3), "a": np.ones(3), "y": np.ones(3)})
        self.refused(
            TypeError, r"a list of names, got a text; for one column give \['pay'\]", lambda: table.describe("pay")
        )
        self.refused(ValueError, "describe needs a numeric column", lambda: table.describe([], epsilon=1))
        words = nb.Table({"k": np.array(["a"])})
        self.refused(ValueError, "describe needs a numeric column", lambda: words.describe(epsilon=1))
        assert list(table.describe(["y", "p", "y"], epsilon=1).columns) == ["y", "p"]

    def test_the_unit_is_not_described(self):
        """Nobody wants the mean of identifiers; who names them may have it."""
        table = nb.Table({"id": np.arange(9), "x": np.ones(9)}, unit="id", rows_per_unit=1)
        assert list(table.describe(epsilon=1).columns) == ["x"]
        assert list(table.describe(["id"], epsilon=1).columns) == ["id"]


class TestOddRecords:
    @pytest.mark.parametrize("unit", [{}, {"unit": "who", "rows_per_unit": 2}], ids=["rows", "units"])
    @pytest.mark.parametrize("asked", ASKED)
    def test_a_table_without_rows_answers(self, asked, unit):
        """For the same epsilon, with nothing in it."""
        for data in (pd.DataFrame(PEOPLE).head(0), pl.LazyFrame(PEOPLE).head(0), pa.table(PEOPLE).slice(0, 0)):
            assert ASKED[asked](nb.Table(data, **unit), epsilon=1).loss.epsilon == 1

    @pytest.mark.medium
    @pytest.mark.parametrize("missing", [[None] * 50, np.full(50, np.nan), pa.nulls(50), pl.Series([None] * 50)])
    @pytest.mark.unmarked
    def test_a_column_of_nothing_but_missing_records_answers(self, missing):
        """It has no records, with units and without."""
        for unit in ({}, {"unit": "who", "rows_per_unit": 2}):
            table = nb.Table({"x": missing, "who": np.arange(50) // 2}, **unit)
            assert table.count("x", epsilon=1e6).value == 0
            assert table.sum("x", epsilon=1e6).value == 0
            table.quantile("x", 0.5, epsilon=1)

    @pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300, -1e300, 1e-300, 2.0**53 + 2])
    def test_extreme_records_are_answered_as_the_functions_do(self, value):
        """Infinite, huge and tiny ones, and ones beyond 2**53."""
        data = np.full(500, value)
        for name in ("sum", "mean", "maximum", "minimum"):
            found = getattr(nb.Table({"x": data}), name)("x", epsilon=10, rng=random.Random(1))
            assert unnamed(found) == getattr(nb, name)(data, epsilon=10, rng=random.Random(1))
            found.to_json()

    @pytest.mark.medium
    def test_two_public_bounds_a_step_apart_leave_nothing_to_search(self):
        """Booleans, and numbers whose bounds are next to each other: all of epsilon is for the noise."""
        votes = {"x": np.arange(1000) % 4 == 0, "y": (np.arange(1000) % 4 == 0) + 6.0, "who": np.arange(1000) // 2}
        for name, low, options in (("x", 0, {}), ("y", 6, {"lower": 6, "upper": 7, "resolution": 1})):
            for unit in ({}, {"unit": "who", "rows_per_unit": 2}):
                table = nb.Table(votes, **unit)
                total = table.sum(name, epsilon=1e5, **options)
                assert (total.value, total.parameters["clip"]) == (250 + 1000 * low, [low, low + 1])
                assert total.loss.epsilon == 1e5
                assert table.mean(name, epsilon=1e5, **options).value == pytest.approx(low + 0.25, abs=1e-3)

    @pytest.mark.medium
    def test_a_column_of_any_name_can_be_asked_for(self):
        """Names that the engines use themselves, quotes and dots are names like others."""
        for name in ("nobounds_first", "rows", "u", "v0", "k0", "j", "stream", 'a "b"', "a.b", "select"):
            data = pd.DataFrame({name: np.full(2000, 7.0), "key ''": np.full(2000, "a"), "who;": np.arange(2000) // 2})
            for kind in (data, duckdb.connect().from_df(data)):
                table = nb.Table(kind, unit="who;", rows_per_unit=2)
                assert table.count(name, epsilon=1e6).value == 2000
                chosen = table.group_by("key ''", delta=1e-6).count(name, epsilon=1e4)
                assert chosen["a"] == 2000


class TestWhatIsShown:
    def test_a_table_is_printed_without_its_rows(self):
        """Neither the table nor its groups, nor what is inside of them, show a record or how many there are."""
        data = {"pay": np.full(4321, 86421.5), "who": np.array([f"secret{SECRET}"] * 4321)}
        kinds = [data, {name: list(column) for name, column in data.items()}, pd.DataFrame(data), pl.DataFrame(data)]
        kinds += [pl.LazyFrame(data), pa.table(data), duckdb.connect().from_df(pd.DataFrame(data))]
        for kind in kinds:
            table = nb.Table(kind, unit="who", rows_per_unit=2)
            assert repr(table) == str(table) == "Table(2 columns, unit='who', rows_per_unit=2)"
            groups = table.group_by("who", delta=1e-6)
            shown = [repr(groups), str(groups), repr(table.columns), *map(repr, vars(table).values())]
            shown += map(repr, vars(groups).values())
            shown += [repr(getattr(table, name)) for name in dir(table)]
            assert not any(SECRET in text or "4321" in text for text in shown)

    def test_the_columns_of_a_table_are_public(self, held):
        """Their names, and whether they are numbers where a type says so."""
        assert nb.Table(PEOPLE).columns == {"pay": "number", "change": "number", "who": "text"}
        stated = nb.Table(held["CSV"])
        assert set(stated.columns.values()) == {"text that may be numbers"}

    def test_what_is_read_is_told_as_it_is_read(self):
        """The progress of a pass comes to the number of rows, which is private: it is for the one who has the data."""
        read = []
        nb.Table(PEOPLE, unit="who", rows_per_unit=2, progress=read.append).count(epsilon=1)
        assert sum(read) == ROWS


def test_a_stream_of_arrow_batches_is_read_after_the_charge_and_once():
    """Its schema alone is looked at; a stream that fails leaves the charge, and says nothing of why."""
    read = []

    def batches(fail=False):
        for k in range(3):
            read.append(k)
            if fail and k == 2:
                raise RuntimeError("record 86421")
            yield pa.record_batch({"x": np.arange(100.0)})

    schema = pa.schema([("x", pa.float64())])
    budget = nb.Budget(epsilon=10)
    table = nb.Table(pa.RecordBatchReader.from_batches(schema, batches()), budget=budget)
    assert read == []
    assert table.count("x", epsilon=1).value == pytest.approx(300, abs=30)
    assert read == [0, 1, 2]
    with pytest.raises(ValueError, match="can be read once"):
        table.count("x", epsilon=1)
    table = nb.Table(pa.RecordBatchReader.from_batches(schema, batches(fail=True)), budget=budget)
    with pytest.raises(ValueError, match=r"^the query failed") as failed:
        table.mean("x", epsilon=1)
    assert failed.value.__suppress_context__
    assert len(budget.history) == 3


@pytest.mark.medium
def test_a_refused_budget_under_swap_reads_no_records_of_a_query():
    """The number of rows is public then, and is all that is asked before the charge."""
    connection = duckdb.connect()
    connection.execute("create table t as select range::double as x from range(1000)")
    asked = []

    class Watched:
        """A relation that tells which columns are read."""

        def __init__(self, stream):
            self.stream = stream

        def __call__(self, keys, values):
            asked.append(values)
            return self.stream(keys, values)

    stream = from_relation(connection.sql("select * from t"))
    watched = replace(stream, batches=Watched(stream.batches))
    table = nb.Table(watched, neighbors="swap", budget=nb.Budget(epsilon=1))
    with pytest.raises(nb.BudgetExceeded):
        table.quantile("x", 0.5, epsilon=2)
    assert asked == []
    table.quantile("x", 0.5, epsilon=1)
    assert asked == [["x"]]


# --- filters and computed columns

DATA = {
    "age": np.arange(9000) % 90,
    "state": np.array(["NY", "NJ", "CA"])[np.arange(9000) % 3],
    "late": np.arange(9000) % 5,
    "trips": np.arange(9000) % 4,
}


@pytest.mark.medium
def test_a_release_states_the_condition_and_the_formulas():
    """In its parameters, in print, in plain words and in the ledger."""
    budget = nb.Budget(epsilon=30)
    table = nb.Table(DATA, budget=budget).with_columns(rate="late / trips", adult="age >= 18").where("adult")
    table = table.where("state in ('NY', 'NJ')")
    where, rate = "age >= 18 and state in ('NY', 'NJ')", {"rate": "late / trips"}
    release = table.mean("rate", epsilon=1, rng=random.Random(1))
    assert (release.parameters["where"], release.parameters["formulas"]) == (where, rate)
    said = f"Rows where {where}, with rate = late / trips."
    assert str(release).endswith(f". {said}")
    assert said in str(nb.explain(release)).replace("\n  ", " ")
    assert nb.Release.from_json(release.to_json()).parameters == release.parameters
    described = table.describe(["rate", "age"], epsilon=1, rng=random.Random(1))
    assert (described.parameters["where"], described.parameters["formulas"]) == (where, rate)
    assert said in str(described) and said in str(nb.explain(described)).replace("\n  ", " ")
    groups = table.group_by("adult", keys=[True, False]).count("rate", epsilon=1, rng=random.Random(1))
    assert groups.parameters["formulas"] == rate | {"adult": "age >= 18"}
    assert abs(groups.values[0] - 3600) < 30 and abs(groups.values[1]) < 30  # a quarter has no trips
    assert said.removesuffix(".") in str(groups)
    assert f"mean of rate where {where}" in [charge.what for charge in budget.history]
    counted = table.count(epsilon=1, rng=random.Random(1))
    assert counted.parameters["where"] == where and "formulas" not in counted.parameters
    assert abs(counted.value - 4800) < 30


@pytest.mark.medium
def test_under_swap_the_number_of_rows_that_are_kept_is_sensitive():
    """A dropped row is a missing record: counts are noisy, and statistics are those of the rows that are kept."""
    table = nb.Table(DATA, neighbors="swap")
    assert table.count(epsilon=1).value == 9000 and table.count(epsilon=1).loss.epsilon == 0
    kept = table.where("age >= 45")
    release = kept.count(epsilon=1, rng=random.Random(3))
    assert release.loss.epsilon == 1 and abs(release.value - 4500) < 30
    assert kept.count("age", epsilon=1).loss.epsilon == 1
    assert abs(kept.mean("age", epsilon=1, rng=random.Random(1)).value - 67) < 1
    assert abs(kept.quantile("age", 0.5, epsilon=1, rng=random.Random(1)).value - 67) <= 3
    assert abs(kept.sum("late", epsilon=1, rng=random.Random(1)).value - 9000) < 200
    described = kept.describe(["age"], epsilon=1, rng=random.Random(1))["age"]
    assert abs(described.values["count"] - 4500) < 100 and abs(described.values["50%"] - 67) < 5
    derived = table.with_columns(half="age / 2")
    assert derived.count(epsilon=1).loss.epsilon == 0  # no row is dropped
    assert derived.count("half", epsilon=1).loss.epsilon == 1


def test_expressions_are_refused_before_anything_is_charged():
    """By names and types alone."""
    budget = nb.Budget(epsilon=1)
    table = nb.Table(DATA, unit="state", rows_per_unit=2, budget=budget)
    for condition, error, message in (
        ("nothing > 1", ValueError, "column 'nothing' is not in the table; the columns are 'age'"),
        ("state > 1", TypeError, "compares text with an integer"),
        ("random() < 1", ValueError, "the function random is not allowed"),
        (5, TypeError, "an expression must be a text, or one of polars or DuckDB, got int"),
    ):
        with pytest.raises(error, match=message):
            table.where(condition)
    with pytest.raises(ValueError, match="the unit 'state' cannot be computed; give the new column another name"):
        table.with_columns(state="age")
    with pytest.raises(ValueError, match="with_columns needs a column"):
        table.with_columns()
    assert not budget.history
