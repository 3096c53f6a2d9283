"""Groups of a table: an answer for each public key, or for the keys that many units have, all for one epsilon."""

import json
import math
import random
from datetime import UTC, date, datetime, time
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.chance import fewest, seed_of
from support.csv_files import HEADER, headed
from support.paid import Paid
from support.purse import Purse

import nobounds as nb
from nobounds.accounting.cost import pure
from nobounds.counting.lattice import Lattice
from nobounds.engines.memory.tables import from_memory
from nobounds.engines.source import Keyed
from nobounds.engines.streams.local import Local
from nobounds.groups.key_counts import CountKeys
from nobounds.groups.key_selection import KeepKeys, KeySelection
from nobounds.mechanisms.decisions import Bits
from nobounds.release.words import NONE_SEEN, TOO_FEW
from nobounds.tables.by_group.key_choice import KEY_SHARE

RNG = np.random.default_rng(11)
ROWS = 6000
REGIONS = np.array(["north", "south", "east", "west"])
SALES = pd.DataFrame(
    {
        "region": REGIONS[RNG.choice(4, ROWS, p=[0.5, 0.3, 0.15, 0.05])],
        "year": RNG.integers(2020, 2023, ROWS),
        "price": RNG.lognormal(4, 0.6, ROWS),
        "items": RNG.integers(1, 9, ROWS),
        "shop": [f"s{i}" for i in RNG.integers(0, 1500, ROWS)],
    }
)
SURE = 1000
TABLE = nb.Table(SALES)
STATISTICS = {
    "quantile": lambda g, **how: g.quantile("price", 0.5, **how),
    "maximum": lambda g, **how: g.maximum("price", **how),
    "minimum": lambda g, **how: g.minimum("price", **how),
    "sum": lambda g, **how: g.sum("price", **how),
    "mean": lambda g, **how: g.mean("price", **how),
    "count": lambda g, **how: g.count("price", **how),
    "count of rows": lambda g, **how: g.count(**how),
}


def by_region(**how):
    return TABLE.group_by("region", keys=["west", "north", "nowhere", "south"], **how)


class TestPublicKeys:
    @pytest.mark.parametrize("asked", STATISTICS)
    def test_all_keys_are_answered_in_the_order_given(self, asked):
        """Those without rows too, and none else."""
        release = STATISTICS[asked](by_region(), epsilon=1)
        assert release.groups == ["west", "north", "nowhere", "south"]
        assert len(release) == len(release.values) == 4
        assert (release.by, release.statistic) == (("region",), asked.split()[0])
        assert all(map(math.isfinite, release.values.compressed() if np.ma.isMA(release.values) else release.values))
        if asked in ("sum", "mean"):
            assert release.reasons[2] in (NONE_SEEN, TOO_FEW)  # by a noisy count
            assert release["nowhere"] is None
            assert release["north"] is not None
            assert np.all(np.abs(release.counts - STATISTICS["count"](by_region(), epsilon=SURE).values) < 200)
            bare = STATISTICS[asked](by_region(), epsilon=1, marks=False)
            assert bare.reasons is None
            assert all(map(math.isfinite, bare.values))

    def test_rows_with_other_keys_are_ignored(self):
        """Counts at a huge epsilon are those of the keys asked for; rows without a key are in no group."""
        keys = [None, "a", "b", "c", "a", None, "a"]
        for data in (keys, np.array(keys, dtype=object), pd.Series(keys), pl.Series(keys), pa.array(keys)):
            release = nb.Table({"k": data, "x": np.ones(7)}).group_by("k", keys=["a", "c", "d"]).count(epsilon=SURE)
            assert dict(release) == {"a": 3, "c": 1, "d": 0}

    def test_masked_keys_are_missing(self):
        """What numpy hides is not read."""
        hidden = np.ma.array([1, 1, 2, 2], mask=[False, True, False, False])
        release = nb.Table({"k": hidden, "x": np.ones(4)}).group_by("k", keys=[1, 2]).count(epsilon=SURE)
        assert dict(release) == {1: 1, 2: 2}

    def test_zeros_are_one_key_and_what_is_no_number_is_none(self):
        """-0.0 and 0.0 are equal, and NaN is missing, with units and without."""
        data = {"k": np.array([0.0, -0.0, np.nan, 1.0] * 500), "x": np.ones(2000), "who": np.arange(2000) // 4}
        for unit in ({}, {"unit": "who", "rows_per_unit": 4}):
            table = nb.Table(data, **unit)
            known, chosen = table.group_by("k", keys=[1, 0]), table.group_by("k", delta=1e-6)
            assert dict(known.count(epsilon=SURE)) == {1.0: 500, 0.0: 1000}
            assert dict(chosen.count(epsilon=SURE)) == {0.0: 1000, 1.0: 500}
        one = nb.Table(data, unit="who", rows_per_unit=4).group_by("k", keys=[0.0], groups_per_unit=1)
        assert dict(one.count(epsilon=SURE)) == {0.0: 1000}

    def test_several_columns_make_a_key(self):
        """A key is a tuple, of a value for each column."""
        keys = [("north", 2022), ("west", 2020), ("north", 1999)]
        release = TABLE.group_by("region", "year", keys=keys).count(epsilon=SURE)
        sizes = SALES.groupby(["region", "year"]).size()
        assert dict(release) == {key: sizes.get(key, 0) for key in keys}
        assert release.to_arrow().column_names == ["region", "year", "count", "low", "high"]
        assert release[("north", 1999)] == 0

    @pytest.mark.medium
    @pytest.mark.parametrize("unit", [{}, {"unit": "who", "rows_per_unit": 1}], ids=["rows", "units"])
    @pytest.mark.parametrize(
        "values",
        [
            pa.array([3, 1, 2], type=pa.int8()),
            pa.array([2**63, 1, 0], type=pa.uint64()),
            pa.array(["b", "a", ""]),
            pa.array([b"b", b"a", b"\xff"]),
            pa.array(["b", "a", "b c"]).dictionary_encode(),
            pa.array([True, False, None]),
            pa.array([date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31)]),
            pa.array([datetime(2024, 2, 29, 1, 2, 3, 4), datetime(1999, 1, 1), None]),
            pa.array([datetime(2024, 7, 1, tzinfo=UTC), None, None], type=pa.timestamp("s", tz="America/New_York")),
            pa.array([time(1, 2), time(0), None], type=pa.time32("s")),
            pa.array([Decimal("1.50"), Decimal("-2"), None]),
            pa.array([0.5, 0.25, None], type=pa.float32()),
            pa.array([0.5, 0.25, None], type=pa.float16()),
            pa.array([1.5, -2.5, math.inf]),
        ],
        ids=lambda values: str(values.type).split("[")[0].split("<")[0],
    )
    def test_keys_of_any_plain_type(self, values, unit):
        """Chosen and public, they are found, and come back as they were given; with units and without."""
        present = [value for value in values.to_pylist() if value is not None]
        data = pa.table({"k": pa.concat_arrays([values] * 300), "who": np.arange(900), "x": np.ones(900)})
        table = nb.Table(data, **unit)
        known = table.group_by("k", keys=present[::-1]).count(epsilon=SURE)
        chosen = table.group_by("k", delta=1e-6).count(epsilon=SURE)
        assert list(known) == [(value, 300) for value in present[::-1]]
        assert list(chosen) == [(value, 300) for value in sorted(present)]
        assert chosen.to_arrow().schema == known.to_arrow().schema
        json.loads(known.to_json())

    @pytest.mark.parametrize(
        "keys",
        [
            pytest.param(keys, id=type(keys).__module__)
            for keys in ([2020, 2022], np.array([2020, 2022]), pd.Series([2020, 2022]), pa.array([2020, 2022]))
        ]
        + [range(2020, 2023, 2), {2020: "a", 2022: "b"}, (2020.0, 2022)],
    )
    def test_keys_are_any_list(self, keys):
        """Of Python, numpy, pandas or Arrow."""
        assert TABLE.group_by("year", keys=keys).count(epsilon=1).groups == [2020, 2022]

    def test_dates_of_numpy_are_keys(self):
        """Days, and times of any unit."""
        days = pa.table({"k": pa.array([date(2024, 1, 1)] * 9), "t": pa.array([datetime(2024, 1, 1, 5)] * 9)})
        assert nb.Table(days).group_by("k", keys=[np.datetime64("2024-01-01")]).count(epsilon=SURE).values[0] == 9
        hours = np.array(["2024-01-01T05"], dtype="datetime64[ns]")
        assert nb.Table(days).group_by("t", keys=hours).count(epsilon=SURE).values[0] == 9

    def test_no_text_of_a_key_is_an_error(self):
        """Code points that are no text elsewhere, in any kind of column: an error would tell of the record."""
        odd = ["a", "\ud800", "b", "a"]
        texts = [odd, np.array(odd), np.array(odd, dtype=object), pd.Series(odd, dtype=object)]
        texts += [pd.Series(odd, dtype=pd.StringDtype("python"))]
        for keys in texts:
            for unit in ({}, {"unit": "k", "rows_per_unit": 2}):
                table = nb.Table({"k": keys, "x": np.ones(4)}, **unit)
                assert dict(table.group_by("k", keys=["a", "b"]).count(epsilon=SURE)) == {"a": 2, "b": 1}

    def test_objects_are_keys_by_their_text(self):
        """Equal ones are one key wherever in memory they lie, and what has no text is missing."""

        class Mute:
            def __str__(self):
                raise ValueError("86421")

        things = [(1, "a"), (1, "a"), Mute(), None, date(2024, 1, 1), 7]
        series = pl.Series("k", things, dtype=pl.Object)
        for keys in (things, pd.Series(things, dtype=object), series, np.fromiter(things, dtype=object)):
            groups = nb.Table({"k": keys, "x": np.ones(6)}).group_by("k", keys=["(1, 'a')", "2024-01-01", "7"])
            assert groups.count(epsilon=SURE).values.tolist() == [2, 1, 1]

    def test_an_index_of_pandas_is_not_looked_at(self):
        """Rows go by their places, whatever their labels are."""
        labels = [2.5, -1.0, 7.0, -1.0]
        frame = pd.DataFrame({"k": ["a", "b", "a", "a"], "x": [1.0, 2.0, 3.0, 4.0]}, index=labels)
        assert dict(nb.Table(frame).group_by("k", keys=["b", "a"]).count(epsilon=SURE)) == {"b": 1, "a": 3}

    def test_keys_of_many_columns_are_told_apart(self):
        """Even if there are more combinations than whole numbers of 64 bits."""
        many = 2000
        columns = {f"k{k}": (np.arange(many) * (2 * k + 1)) % many for k in range(7)}
        keys = list(zip(*(column.tolist() for column in columns.values()), strict=True))
        table = nb.Table({name: np.tile(column, 3) for name, column in columns.items()})
        release = table.group_by(*columns, keys=[*keys[::-1], (1, 0, 0, 0, 0, 0, 0)]).count(epsilon=SURE)
        assert release.values.tolist() == [3] * many + [0]
        assert release.groups[:many] == keys[::-1]

    def test_a_column_can_be_key_and_value_and_unit(self):
        """All at once."""
        data = {"x": np.arange(2000) % 4}
        assert dict(nb.Table(data).group_by("x", keys=[3, 2]).sum("x", epsilon=SURE)) == {3: 1500, 2: 1000}
        unit = nb.Table(data, unit="x", rows_per_unit=500)
        assert dict(unit.group_by("x", keys=[3]).count("x", epsilon=1e6)) == {3: 500}


class TestRefusedKeys:
    """Before anything is charged, and where the mistake is: in group_by."""

    @pytest.mark.parametrize(
        ("keys", "words"),
        [
            (["a"], "keys must be of the type of the column 'year', which is int64; convert them first"),
            (["1", 1], "keys must be of the type of the column 'year', which is int64"),
            ([2020.5], "keys must be of the type of the column 'year', which is int64"),
            ([True], "keys must be of the type of the column 'year', which is int64"),
            ([2**70], "keys must be of the type of the column 'year', which is int64"),
            ([(2020, "a")], "keys must be of the type of the column 'year', which is int64"),
            ([math.nan], "keys must be of the type of the column 'year', which is int64"),
            ([2020, None], "keys must not be missing: rows without a key are in no group"),
            ([2020, 2020], "keys must differ, got one of them twice"),
            ([2020, 2020.0], "keys must differ, got one of them twice"),
            ([], "keys must have at least one key, got none"),
        ],
    )
    def test_keys_are_of_the_type_of_the_column_and_differ(self, keys, words):
        """As values of that type: 1 and 1.0 are one whole number."""
        purse = Purse()
        with pytest.raises(ValueError, match=words):
            nb.Table(SALES, budget=purse).group_by("year", keys=keys)
        assert purse.charged == []

    def test_keys_that_only_look_different_are_one(self):
        """Floats that are one number in 32 bits, and days with a time of day, are not two groups."""
        data = nb.Table(pa.table({"f": pa.array([0.1], type=pa.float32()), "d": pa.array([date(2024, 1, 1)])}))
        with pytest.raises(ValueError, match="keys must differ"):
            data.group_by("f", keys=[0.1, 0.1 + 1e-12])
        for keys in ([date(2024, 1, 1), datetime(2024, 1, 1, 5)], [datetime(2024, 1, 1)], [19723], ["2024-01-01"]):
            with pytest.raises(ValueError, match=r"of the type of the column 'd', which is date32\[day\]"):
                data.group_by("d", keys=keys)

    def test_columns_without_types_have_text_for_keys(self, tmp_path):
        """Those of lists and of CSV files: the keys are text, and numbers are refused rather than not found."""
        (tmp_path / "a.csv").write_text("k,x\n" + "1,5\n" * 50)
        for data in ({"k": [1] * 50, "x": [5] * 50}, headed(tmp_path / "a.csv")):
            table = nb.Table(data)
            assert dict(table.group_by("k", keys=["1", "2"]).count(epsilon=SURE)) == {"1": 50, "2": 0}
            with pytest.raises(ValueError, match="keys must be of the type of the column 'k', which is text"):
                table.group_by("k", keys=[1, 2])

    def test_a_text_is_no_list_of_keys(self):
        """Its letters are not meant, neither for one column nor for two."""
        with pytest.raises(TypeError, match="keys must be a list of keys, got a dict by the names of columns"):
            TABLE.group_by("region", keys={"region": ["north"]})
        with pytest.raises(TypeError, match="keys must be a list of keys, got str"):
            TABLE.group_by("region", keys="north")
        with pytest.raises(TypeError, match="keys must be a list of keys, got int"):
            TABLE.group_by("region", keys=3)
        for keys in (["ab", "cd"], ["north"], [("north",)], [("north", 2020, 1)], [7]):
            with pytest.raises(ValueError, match="each key must be a tuple of 2 values, one for each column"):
                TABLE.group_by("region", "year", keys=keys)
        with pytest.raises(ValueError, match="keys must differ"):
            TABLE.group_by("region", "year", keys=[("north", 1), ("south", 1), ("north", 1.0)])

    def test_keys_or_delta(self):
        """One of them, and columns to group by, each once."""
        for got, which in (("neither", {}), ("both", {"keys": ["north"], "delta": 1e-6})):
            with pytest.raises(ValueError, match=rf"need keys= \(public\) or delta= .*, got {got}"):
                TABLE.group_by("region", **which)
        with pytest.raises(ValueError, match=r"group_by needs a column, for example group_by\('region', keys="):
            TABLE.group_by(keys=["north"])
        with pytest.raises(ValueError, match="each column once, got one of them twice"):
            TABLE.group_by("region", "region", keys=[("north", "north")])

    @pytest.mark.parametrize("delta", [0, 1, -1e-6, 2, "0"])
    def test_delta_is_between_0_and_1(self, delta):
        """Without the ends."""
        with pytest.raises(ValueError, match="delta must be greater than 0 and less than 1, got delta="):
            TABLE.group_by("region", delta=delta)

    def test_keys_are_not_chosen_for_a_rho(self):
        """No zCDP holds for them; public keys have one."""
        with pytest.raises(ValueError, match="need epsilon, got rho; give epsilon, or public keys"):
            TABLE.group_by("region", delta=1e-6).sum("price", rho=1)
        assert by_region().sum("price", rho=1).loss.rho <= 1

    def test_groups_per_unit_needs_units(self):
        """A row is in one group."""
        with pytest.raises(ValueError, match="groups_per_unit needs a table with a unit"):
            TABLE.group_by("region", delta=1e-6, groups_per_unit=2)

    def test_a_keyword_that_is_none_is_refused(self):
        """A budget that is not charged, or a bound that is misspelt, must not go unnoticed."""
        for name in ("budget", "uper", "method", "neighbors"):
            for asked in STATISTICS.values():
                with pytest.raises(TypeError, match=rf"\(\) got an unexpected keyword argument '{name}'"):
                    asked(by_region(), epsilon=1, **{name: None})


class TestChosenKeys:
    def choice(self, epsilon, delta, groups=1):
        return KeySelection(KEY_SHARE * epsilon, delta, groups)

    @pytest.mark.medium
    def test_keys_of_many_units_are_shown_and_of_few_are_not(self):
        """From the number that is certain on always; far below it hardly ever, whatever is asked."""
        sure = self.choice(1, 1e-9).certain()
        data = {"k": np.repeat(["many", "few", "enough"], [9 * sure, 2, sure]), "x": np.ones(10 * sure + 2)}
        for seed, asked in enumerate([*STATISTICS] * 3):
            groups = nb.Table({"price": data["x"], "k": data["k"]}).group_by("k", delta=1e-9)
            found = STATISTICS[asked](groups, epsilon=1, rng=random.Random(seed))
            assert found.groups == ["enough", "many"]

    @pytest.mark.medium
    def test_the_order_of_rows_does_not_show(self):
        """Keys come in their own order, and the same seed gives the same release for any order of the rows."""
        for unit in ({}, {"unit": "shop", "rows_per_unit": 3}):
            releases = []
            for frame in (SALES, SALES[::-1], SALES.sample(frac=1, random_state=1), SALES.sort_values("price")):
                groups = nb.Table(frame, **unit).group_by("region", "year", delta=1e-3)
                releases.append(groups.sum("price", epsilon=3, rng=random.Random(2)).to_dict())
            assert all(release == releases[0] for release in releases)
            shown = list(zip(*releases[0]["keys"].values(), strict=True))
            assert shown == sorted(shown)
            assert len(shown) > 3

    @pytest.mark.medium
    @pytest.mark.parametrize("asked", STATISTICS)
    @pytest.mark.parametrize("rows", [0, 3])
    @pytest.mark.parametrize("unit", [{}, {"unit": "shop", "rows_per_unit": 3}], ids=["rows", "units"])
    def test_no_group_at_all_is_an_answer(self, asked, rows, unit):
        """It prints, exports and serialises, with the types of the columns."""
        for frame in (SALES.head(rows), pl.from_pandas(SALES.head(rows)).lazy()):
            table = nb.Table(frame, **unit)
            for by in (["region"], ["region", "year"]):
                release = STATISTICS[asked](table.group_by(*by, delta=1e-9), epsilon=1)
                assert (len(release), release.groups, list(release)) == (0, [], [])
                assert str(release).startswith(", ".join(by))
                assert json.loads(release.to_json())["values"] == []
                exported = release.to_arrow()
                assert exported.num_rows == 0
                assert exported.column_names[: len(by) + 1] == [*by, asked.split()[0]]
                assert pa.types.is_large_string(exported.schema.field("region").type)
                with pytest.raises(KeyError):
                    release["north"]

    @pytest.mark.medium
    @pytest.mark.parametrize("epsilon", [1, 0.1, "0.3", Fraction(22, 7), 0.8474337369372327])
    @pytest.mark.parametrize("asked", STATISTICS)
    def test_the_epsilon_asked_for_is_charged_for_keys_and_answers(self, asked, epsilon):
        """Exactly, at the delta asked for, by unit and by row; and public keys need no delta."""
        price = nb.PrivacyLoss.pure(epsilon).epsilon
        for unit, name in (({}, "row"), ({"unit": "shop", "rows_per_unit": 3}, "shop")):
            table = nb.Table(SALES.head(0), **unit)
            loss = STATISTICS[asked](table.group_by("region", delta="1e-7"), epsilon=epsilon).loss
            assert (loss.epsilon, loss.delta, loss.unit, loss.neighbors) == (price, 1e-7, name, "add-remove")
            loss = STATISTICS[asked](table.group_by("region", keys=["north"]), epsilon=epsilon).loss
            assert (loss.epsilon, loss.delta, loss.unit, loss.neighbors) == (price, 0, name, "add-remove")

    def test_a_budget_of_epsilon_alone_does_not_pay_for_chosen_keys(self):
        """They cost a delta."""
        pure, both = nb.Budget(epsilon=9), nb.Budget(epsilon=9, delta=1e-5)
        with pytest.raises(ValueError, match="a budget of epsilon alone takes pure losses"):
            nb.Table(SALES, budget=pure).group_by("region", delta=1e-6).count(epsilon=1)
        nb.Table(SALES, budget=both).group_by("region", delta=1e-6).count(epsilon=1)
        assert (pure.remaining, both.remaining) == (9, 8)

    def test_keys_are_those_of_rows_that_count(self):
        """A key whose values are all missing is not shown for them, and is shown for its rows."""
        data = {"k": np.repeat(["a", "b"], 500), "x": np.repeat([1.0, np.nan], 500)}
        groups = nb.Table(data).group_by("k", delta=1e-6)
        for epsilon in (SURE, 1e6):
            assert dict(groups.count(epsilon=epsilon)) == {"a": 500, "b": 500}
            assert dict(groups.sum("x", epsilon=epsilon)).keys() == {"a"}

    @pytest.mark.medium
    def test_fewer_groups_of_a_unit_than_rows(self):
        """Of a unit with rows in four groups two groups are used, all of their rows, and more keys can be shown."""
        units = 1000
        data = {
            "k": np.tile(["a", "b", "c", "d"], 2 * units),
            "who": np.arange(8 * units) // 8,
            "x": np.ones(8 * units),
        }
        table = nb.Table(data, unit="who", rows_per_unit=8)
        for which in ({"delta": 1e-6}, {"keys": ["a", "b", "c", "d"]}):
            counts = table.group_by("k", **which, groups_per_unit=2).count(epsilon=1e5).values
            assert counts.sum() == 4 * units
            assert all(abs(counts - units) < 5 * math.sqrt(units))
            assert table.group_by("k", **which, groups_per_unit=100).count(epsilon=1e5).values.sum() == 8 * units
        few, many = self.choice(1, 1e-6, 2).certain(), self.choice(1, 1e-6, 8).certain()
        assert few < many
        rare = {"k": np.full(few, "a"), "who": np.arange(few)}
        table = nb.Table(rare, unit="who", rows_per_unit=8)
        assert table.group_by("k", delta=1e-6, groups_per_unit=2).count("who", epsilon=1).groups == ["a"]
        shown = [len(table.group_by("k", delta=1e-6).count("who", epsilon=1)) for _ in range(30)]
        assert sum(shown) < 30


class TestAnswers:
    def test_sums_and_means_are_close_at_a_huge_epsilon(self):
        """To the clipped records within the noise that is stated, and to all records within a few thousandths."""
        groups = TABLE.group_by("region", keys=list(REGIONS))
        truth = SALES.groupby("region")["price"]
        for release, exact in (
            (groups.sum("price", epsilon=SURE), truth.sum()),
            (groups.mean("price", epsilon=SURE), truth.mean()),
        ):
            low, high = release.parameters["clip"]
            clipped = SALES["price"].clip(low, high).groupby(SALES["region"])
            clipped = clipped.sum() if release.statistic == "sum" else clipped.mean()
            noise = 30 * release.parameters["noise_scale"] / (1 if release.statistic == "sum" else 100)
            for region in REGIONS:
                assert abs(release[region] - clipped[region]) <= noise + 1e-6
                assert release[region] == pytest.approx(exact[region], rel=0.01)

    def test_sums_of_whole_numbers_are_whole(self):
        """And exact where there is hardly any noise; so are their quantiles."""
        groups = TABLE.group_by("region", keys=list(REGIONS))
        for release, exact in (
            (groups.sum("items", epsilon=SURE, upper=8, lower=0), SALES.groupby("region")["items"].sum()),
            (groups.count(epsilon=SURE), SALES.groupby("region").size()),
            (groups.quantile("items", 0.5, epsilon=SURE), SALES.groupby("region")["items"].quantile(0.5, "lower")),
        ):
            assert release.values.dtype == np.int64
            assert {type(value) for _, value in release} == {int}
            assert dict(release) == {region: exact[region] for region in REGIONS}

    def test_counts_are_never_negative(self):
        """At an epsilon that moves them by thousands."""
        keys = [f"k{i}" for i in range(500)]
        counts = TABLE.group_by("region", keys=keys).count(epsilon=0.001).values
        assert counts.min() == 0
        assert counts.max() > 1000

    @pytest.mark.medium
    @pytest.mark.parametrize("q", [0, "0.3", 1])
    @pytest.mark.unmarked
    def test_a_group_has_the_law_of_its_records_alone(self, q):
        """800 groups with the same records answer as 800 calls of nb.quantile do, and not as for other records."""
        records, many = np.arange(600) // 6, 800
        data = {"x": np.tile(records, many), "k": np.repeat(np.arange(many), len(records))}
        found = nb.Table(data).group_by("k", keys=range(many)).quantile("x", q, epsilon=1, rng=random.Random(1)).values
        bits = random.Random(2)
        alone = [nb.quantile(records, q, epsilon=1, rng=bits).value for _ in range(many)]
        other = [nb.quantile(records + 40, q, epsilon=1, rng=bits).value for _ in range(many)]
        assert stats.ks_2samp(found, alone, method="asymp").pvalue > 1e-9
        assert stats.ks_2samp(found, other, method="asymp").pvalue < 1e-9

    def test_extremes_are_quantiles(self):
        """The maximum is the quantile 1, and the minimum the quantile 0, with the same seed."""
        for name, q in (("maximum", 1), ("minimum", 0)):
            extreme = getattr(by_region(), name)("price", epsilon=1, rng=random.Random(1))
            quantile = by_region().quantile("price", q, epsilon=1, rng=random.Random(1))
            assert extreme.values.tolist() == quantile.values.tolist()
            assert extreme.loss == quantile.loss

    def test_public_facts_are_used(self):
        """Answers lie on the grid and within the bounds that are given, and the release tells them."""
        facts = {"lower": 10, "upper": 90, "resolution": "0.5"}
        for asked in ("quantile", "maximum", "minimum"):
            release = STATISTICS[asked](by_region(), epsilon=1, **facts)
            assert all(10 <= value <= 90 and value * 2 == round(value * 2) for value in release.values.compressed())
        total, mean = by_region().sum("price", epsilon=SURE, **facts), by_region().mean("price", epsilon=SURE, **facts)
        for release in (total, mean):
            assert 10 <= release.parameters["clip"][0] <= release.parameters["clip"][1] <= 90
        low, high = total.parameters["clip"]
        kept = SALES["price"].clip(low, high).groupby(SALES["region"]).sum()
        assert total["north"] == pytest.approx(kept["north"], abs=30 * total.parameters["noise_scale"] + 1e-3)
        assert total["nowhere"] is None

    def test_sums_far_from_zero_are_exact_between_public_bounds(self):
        """Bounds that are closer to each other than rungs are wide, and large whole numbers of small steps."""
        data = {"k": np.repeat(["a", "b"], 20_000), "x": 1e6 + np.tile([0.25, 0.75], 20_000)}
        groups = nb.Table(data).group_by("k", keys=["a", "b"])
        facts = {"lower": 10**6, "upper": 10**6 + 1}
        total = groups.sum("x", epsilon=1e6, **facts)
        assert total.values == pytest.approx(
            [20_000 * 1e6 + 10_000] * 2, rel=0, abs=30 * total.parameters["noise_scale"]
        )
        assert groups.mean("x", epsilon=1e6, **facts).values == pytest.approx([1e6 + 0.5] * 2, rel=0, abs=1e-5)

    @settings(deadline=None)
    @given(st.lists(st.floats(-3, 5), max_size=8), st.floats(-3, 5), st.floats(-3, 3), st.floats(2.0**-20, 2))
    def test_a_record_between_public_bounds_changes_a_sum_by_no_more_than_the_width(self, records, more, low, width):
        """Whatever the bounds: by a whole number of steps from 0 to the width of the clip."""
        lower, upper = Fraction(low), Fraction(low) + Fraction(width)
        lattice = Lattice.of(lower, upper, integral=False)
        data = ({"k": ["a"] * len(x), "x": np.array(x)} for x in (records, [*records, more]))
        rows = (Local(from_memory(each)).rows("x", Keyed(("k",)), None) for each in data)
        before, after = (sum(each.totals(lattice.steps)[1][0].tolist()) for each in rows)
        assert 0 <= after - before <= lattice.width
        kept = min(max(Fraction(more), lower), upper) / lattice.step - lattice.low
        assert abs(after - before - kept) <= 1

    def test_two_public_bounds_a_step_apart_leave_nothing_to_search(self):
        """Booleans, and numbers whose bounds are next to each other, are clipped to them, for all of epsilon."""
        votes = {"x": np.arange(1000) % 4 == 0, "y": (np.arange(1000) % 4 == 0) + 6.0, "k": np.full(1000, "a")}
        for name, low, options in (("x", 0, {}), ("y", 6, {"lower": 6, "upper": 7, "resolution": 1})):
            for which in ({"keys": ["a"]}, {"delta": 1e-6}):
                groups = nb.Table(votes).group_by("k", **which)
                total = groups.sum(name, epsilon=1e5, **options)
                assert (total["a"], total.parameters["clip"]) == (250 + 1000 * low, [low, low + 1])
                assert total.loss.epsilon == 1e5
                assert groups.mean(name, epsilon=1e5, **options)["a"] == pytest.approx(low + 0.25, abs=1e-3)
            rho = nb.Table(votes).group_by("k", keys=["a", "b"]).sum(name, rho=1e6, **options)
            assert dict(rho) == {"a": 250 + 1000 * low, "b": None}

    @pytest.mark.medium
    @pytest.mark.parametrize("cost", [{"epsilon": SURE}, {"rho": SURE}], ids=["epsilon", "rho"])
    @pytest.mark.parametrize("asked", STATISTICS)
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.7e308, -1e300, 1e-300, 2.0**60 + 2**20])
    @pytest.mark.unmarked
    def test_extreme_records_have_finite_answers(self, value, asked, cost):
        """All missing, infinite, huge and tiny ones; they print and serialise."""
        data = {"price": np.full(2000, value), "k": np.repeat(["a", "b"], 1000)}
        release = STATISTICS[asked](nb.Table(data).group_by("k", keys=["a", "b"]), **cost)
        assert all(map(math.isfinite, release.values))
        json.loads(release.to_json())
        assert len(str(release).splitlines()) >= 4
        if asked == "mean" and abs(value) < np.inf:
            assert release["b"] == pytest.approx(value, rel=0.1, abs=1e-9)

    def test_means_of_both_ends_of_the_floats_are_apart(self):
        """The clip is wider than the largest float then."""
        data = {"x": np.tile([1.7e308, -1.7e308], 1000), "k": np.tile(["up", "down"], 1000)}
        release = nb.Table(data).group_by("k", keys=["up", "down"]).mean("x", epsilon=SURE)
        assert release["up"] == pytest.approx(1.7e308, rel=0.05)
        assert release["down"] == pytest.approx(-1.7e308, rel=0.05)

    def test_whole_numbers_beyond_64_bits_add_up(self):
        """The sum of many large ones is a whole number still; as a column of Arrow it is a float."""
        data = {"x": np.full(1000, 2**62), "k": np.full(1000, "a")}
        release = nb.Table(data).group_by("k", keys=["a", "b"]).sum("x", epsilon=SURE)
        assert isinstance(release["a"], int)
        assert release["a"] == pytest.approx(1000 * 2**62, rel=0.15)
        assert json.loads(release.to_json())["values"][0] == release["a"]
        assert release.to_arrow().column("sum")[0].as_py() == pytest.approx(release["a"])
        assert "e+21" in str(release)

    def test_a_bar_is_given_where_it_is_known(self):
        """With enough records for a clip, and not with three."""
        assert by_region().sum("price", epsilon=SURE).parameters["half_interval"] > 0
        few = nb.Table(SALES.head(3)).group_by("region", keys=["north"])
        assert few.sum("price", epsilon=0.1).parameters["half_interval"] is None

    @pytest.mark.medium
    @pytest.mark.parametrize("asked", STATISTICS)
    def test_the_same_answers_from_every_kind_of_table(self, asked, tmp_path):
        """Public keys and chosen ones, by unit, with the same seed."""
        pq.write_table(pa.Table.from_pandas(SALES), tmp_path / "sales.parquet")
        SALES.to_csv(tmp_path / "sales.csv", index=False)
        columns = {name: SALES[name].to_numpy() for name in SALES}
        kinds = [SALES, pl.from_pandas(SALES), pl.from_pandas(SALES).lazy(), pa.Table.from_pandas(SALES), columns]
        kinds += [{name: SALES[name].tolist() for name in SALES}, duckdb.connect().from_df(SALES)]
        kinds += [str(tmp_path / "sales.parquet"), str(tmp_path / "sales.csv")]
        for which in ({"keys": ["south", "east", "nowhere"]}, {"delta": 1e-6}):
            found = []
            for data in kinds:
                text = isinstance(data, str) and data.endswith(".csv")
                stated = {"csv": HEADER, "schema": {"price": "number"}} if text else {}
                table = nb.Table(data, unit="shop", rows_per_unit=3, **stated)
                groups = table.group_by("region", **which, groups_per_unit=2)
                found.append(STATISTICS[asked](groups, epsilon=5, rng=random.Random(4)).to_dict())
            of = [release["parameters"].pop("rows_of", None) for release in found]
            assert of.count("query result") == 2  # the lazy frame and the relation
            assert all(release == found[0] for release in found)

    @pytest.mark.slow
    @pytest.mark.parametrize("which", [{"delta": 1e-6}, {"keys": range(100_000)}], ids=["chosen", "public"])
    def test_a_hundred_thousand_groups(self, which):
        """All of them are answered, and found by their keys."""
        many, each = 100_000, 10
        data = {"k": np.tile(np.arange(many), each), "x": np.tile(np.arange(many) % 50 + 1, each)}
        groups = nb.Table(data).group_by("k", **which)
        total = groups.sum("x", epsilon=100)
        for release in (groups.count(epsilon=100), total, groups.quantile("x", 0.5, epsilon=100)):
            assert len(release) == many
            assert release.groups[-1] == many - 1
        assert np.mean([abs(total[k] - each * (k % 50 + 1)) for k in range(many)]) < 10


class TestPrograms:
    @pytest.mark.parametrize("unit", [{}, {"unit": "shop", "rows_per_unit": 3}], ids=["rows", "units"])
    @pytest.mark.parametrize("asked", STATISTICS)
    def test_the_decisions_cost_what_is_charged(self, asked, unit):
        """All groups together, and the choice of keys besides."""
        for groups in ({"keys": ["north", "south"]}, {"delta": Fraction(1, 1000)}):
            driver = Paid(1)
            release = STATISTICS[asked](nb.Table(SALES, **unit).group_by("region", **groups), epsilon=2, rng=driver)
            rows, split = unit.get("rows_per_unit", 1), release.parameters["split"]
            costs = [one.cost() for one in driver.decisions if not isinstance(one, KeepKeys | CountKeys | Bits)]
            spent = sum(costs, pure(Fraction(0))).times(rows).epsilon
            for keys in (one for one in driver.decisions if isinstance(one, KeepKeys)):
                assert float(keys.cost().epsilon) == split["keys"] and keys.selection.delta == groups["delta"]
                spent += keys.cost().epsilon
            for keys in (one for one in driver.decisions if isinstance(one, CountKeys)):
                assert keys.counted.delta == groups["delta"] and keys.counted.rows_per_unit == rows
                spent += keys.cost().epsilon  # of a unit with all of its rows
            assert float(spent) == release.loss.epsilon
            last = driver.decisions[{"sum": -3, "mean": -2}.get(asked, -1)]
            noise = last.cost().times(1 if isinstance(last, CountKeys) else rows).epsilon
            assert float(noise) == pytest.approx(split.get("noise", float(noise)), rel=1e-12)
            assert sum(isinstance(one, Bits) for one in driver.decisions) == len(unit) / 2


class TestRelease:
    WHEN = nb.Table(pa.table({"day": pa.array([date(2024, 1, 1), date(2024, 1, 2)] * 50), "x": pa.array(range(100))}))

    def release(self):
        return self.WHEN.group_by("day", keys=[date(2024, 1, 2), date(2024, 1, 1)]).count(epsilon=SURE)

    def test_an_answer_is_found_by_its_key(self):
        """By item, in a loop and as a dict; a key that is not there is a KeyError."""
        release = self.release()
        assert release[date(2024, 1, 1)] == 50
        assert list(release) == [(date(2024, 1, 2), 50), (date(2024, 1, 1), 50)]
        assert dict(release) == {date(2024, 1, 1): 50, date(2024, 1, 2): 50}
        with pytest.raises(KeyError):
            release[date(2024, 1, 3)]

    def test_it_exports(self):
        """To Arrow with the types of the keys, and to JSON with dates as text."""
        release = self.release()
        exported = release.to_arrow()
        assert exported.schema.types == [pa.date32(), pa.int64(), pa.float64(), pa.float64()]
        first = exported.to_pylist()[0]
        assert (first["day"], first["count"]) == (date(2024, 1, 2), 50) and first["low"] < 50 < first["high"]
        found = json.loads(release.to_json())
        assert found == release.to_dict()
        assert found["keys"] == {"day": ["2024-01-02", "2024-01-01"]}
        assert (found["statistic"], found["by"], found["values"]) == ("count", ["day"], [50, 50])
        assert found["loss"] == release.loss.to_dict()
        assert found["parameters"]["noise_scale"] == 1 / SURE

    def test_a_key_named_like_the_statistic_keeps_its_name(self):
        """The column of answers is called otherwise then."""
        data = {"sum": ["a"] * 9, "private_sum": ["b"] * 9, "x": np.ones(9)}
        release = nb.Table(data).group_by("sum", "private_sum", keys=[("a", "b")]).sum("x", epsilon=1)
        names = ["sum", "private_sum", "private_private_sum", "low", "high", "rows", "reason"]
        assert release.to_arrow().column_names == names

    def test_what_is_shown(self):
        """A line a group with its interval, not too many of them, and the loss; keys stay on their lines."""
        assert str(self.release()).splitlines() == [
            "day         count  95% interval",
            "2024-01-02     50  49 to 51",
            "2024-01-01     50  49 to 51",
            "For epsilon 1000 (add-remove, per row; rho 1000)",
        ]
        many = TABLE.group_by("year", keys=range(1000)).count(epsilon=1)
        lines = str(many).splitlines()
        assert len(lines) < 20
        assert "... and 988 more of 1,000 groups" in lines
        odd = nb.Table({"k": ["a\nb", "\x1b[2J"], "x": [1, 2]}).group_by("k", keys=["a\nb", "\x1b[2J"]).count(epsilon=1)
        assert len(str(odd).splitlines()) == 4
        assert "\x1b" not in str(odd)

    def test_parameters_tell_how_it_was_made(self):
        """All that a reader needs to judge the answers, and nothing of the data but the clip."""
        quantile = by_region().quantile("price", "0.25", epsilon=1, resolution=5)
        assert quantile.parameters["q"] == "1/4"
        assert quantile.parameters["resolution"] == "5"
        gaussian = by_region().sum("price", rho=1)
        assert gaussian.parameters["noise"] == "gaussian"
        assert set(gaussian.parameters) >= {"clip", "noise", "noise_scale", "half_interval"}
        counted = by_region().count(epsilon="0.25")
        assert counted.parameters["noise_scale"] == 4
        assert counted.parameters["half_interval"] == math.ceil(4 * math.log(20))


@pytest.mark.medium
@pytest.mark.sampled
def test_the_half_intervals_of_groups_hold_the_noise():
    """Over many releases the noise alone leaves sums, means and counts within them 95% of the time, or more."""
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 100, 20_000)
    groups = nb.Table({"x": x, "g": np.arange(20_000) % 20}).group_by("g", keys=range(20))
    by = np.arange(20_000) % 20
    held = {"sum": [], "mean": [], "count": []}
    for seed in range(30):
        for name, inside in held.items():
            column = () if name == "count" else ("x",)
            release = getattr(groups, name)(*column, epsilon=0.5, rng=np.random.default_rng(seed_of(seed)))
            low, high = release.parameters.get("clip", (0, 0))
            clipped = np.clip(x, low, high)
            truth = {"sum": np.bincount(by, clipped), "count": np.bincount(by)}
            truth["mean"] = truth["sum"] / truth["count"]
            low, high = release.intervals.T
            inside.append((low <= truth[name]) & (truth[name] <= high))
    for name, inside in held.items():
        assert np.sum(inside) >= fewest(600, 0.95), name
        assert np.sum(inside) < 600, name  # or intervals are much too wide


@pytest.mark.parametrize(("spent", "variance"), [({"epsilon": 1}, 2.0), ({"rho": Fraction(1, 2)}, 1.0)])
def test_means_of_groups_have_the_noise_of_both_of_their_sums(spent, variance):
    """For half ones and half zeros, 0.5 moves by the difference of two noises, halved, over the number of records."""
    groups, each = 4000, 40
    x, by = np.arange(groups * each) % 2 == 1, np.arange(groups * each) // each
    asked = nb.Table({"x": x, "g": by}).group_by("g", keys=range(groups))
    values = asked.mean("x", **spent, rng=np.random.default_rng(5)).values
    assert np.std(values) == pytest.approx(math.sqrt(2 * variance) / 2 / each, rel=0.1)


@pytest.mark.sampled
def test_far_more_public_keys_than_records_do_not_clip_everything_away():
    """The clip leaves at most a tenth of the records outside, however many groups share it."""
    x = np.random.default_rng(seed_of(1)).uniform(50, 100, 4000)
    table = nb.Table({"x": x, "g": np.zeros(4000, dtype=np.int64)})
    release = table.group_by("g", keys=range(5000)).sum("x", epsilon=1, rng=random.Random(seed_of(1)))
    assert 60 < release.parameters["clip"][1] < 200
    assert release[0] == pytest.approx(x.sum(), rel=0.05)


@pytest.mark.parametrize("rows", [1022, 1023, 1024, 1025])
def test_the_type_of_whole_sums_follows_from_what_is_released_alone(rows):
    """Rows decide how sums are added up, in 64 bits or beyond, and that must not be seen: these sums all fit."""
    data = {"x": np.full(rows, 2**50, dtype=np.int64), "g": np.zeros(rows, dtype=np.int64)}
    bounds = {"lower": 2**50, "upper": 2**50 + 2}
    release = nb.Table(data).group_by("g", keys=[0]).sum("x", epsilon=1, **bounds, rng=random.Random(1))
    assert release.values.dtype == np.int64
    assert pa.types.is_int64(release.to_arrow().column("sum").type)
    assert release[0] == pytest.approx(rows * 2**50, rel=0.05)


@pytest.mark.sampled
def test_sums_with_noise_beyond_64_bits_do_not_wrap():
    """Noise so large that it does not fit beside the sum is added in Python's whole numbers."""
    data = {"x": np.full(100, 2**50, dtype=np.int64), "g": np.zeros(100, dtype=np.int64)}
    groups = nb.Table(data).group_by("g", keys=[0])
    bounds = {"lower": 2**50, "upper": 2**50 + 2}
    found = [
        groups.sum("x", epsilon="1e-5", **bounds, marks=False, rng=random.Random(seed_of(k)))[0] for k in range(40)
    ]
    assert max(map(abs, found)) > 2**63
    assert 10 < sum(value > 100 * 2**50 for value in found) < 30


@pytest.mark.parametrize("spent", [{"epsilon": 1}, {"rho": 0.3}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("statistic", ["mean", "sum", "median", "std"])
def test_groups_with_too_few_rows_say_how_many_a_group_needs(statistic, spent):
    """The number that plans name, within their two digits; with as many rows nearly all groups are answered."""

    def release(rows):
        draw = np.random.default_rng(rows)
        table = nb.Table({"g": np.arange(4 * rows) % 4, "x": draw.normal(50, 10, 4 * rows)})
        return getattr(table.group_by("g", keys=[0, 1, 2, 3]), statistic)("x", rng=random.Random(1), **spent)

    few = release(20)
    rows = few.parameters["needed"]["rows"]
    assert f"For an answer, a group needs about {rows:,} rows." in str(few)
    assert rows == pytest.approx(nb.rows_needed(statistic, groups=4, **spent) / 4, rel=0.1)
    enough = release(rows)
    assert np.ma.getmaskarray(enough.values).sum() <= 1
