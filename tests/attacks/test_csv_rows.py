"""One row of a CSV file is one record: it becomes no more of them, swallows none, and forges no users."""

import csv
import random

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.csv_files import HEADER, headed
from typer.testing import CliRunner

import nobounds as nb
from nobounds.cli.app import app
from nobounds.engines.files.paths import from_paths
from nobounds.engines.source import Keyed
from nobounds.engines.streams.local import Local
from nobounds.ladders.ladder import Ladder

HONEST = "".join(f"{k},h{k}\n" for k in range(1000))


def rows_in(path, **options):
    """The exact number of rows that statistics see."""
    return headed(path, **options).rows()


FORGED = "".join(f"{k},forged{k}\n" for k in range(20_000))


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_long_quoted_field_is_one_field_of_one_row(place, tmp_path):
    """A closed field of more than 128 KiB whose lines look like rows adds one row, wherever it stands."""
    attack = f'7,"{FORGED}"\n'
    assert len(attack) > 1 << 17
    half = HONEST.index("500,")
    text = {"first": attack + HONEST, "middle": HONEST[:half] + attack + HONEST[half:], "last": HONEST + attack}[place]
    path = tmp_path / "a.csv"
    path.write_text("x,u\n" + text)
    assert rows_in(path) == 1001
    count = nb.Table(path, csv=HEADER).count(epsilon=1, rng=random.Random(1)).value
    assert abs(count - 1001) < 30
    users = nb.Table(path, csv=HEADER, unit="u", rows_per_unit=1)
    assert abs(users.count(epsilon=1, rng=random.Random(2)).value - 1001) < 30
    found = users.group_by("u", delta=0.5).count(epsilon=9, rng=random.Random(3))
    assert not any("forged" in key and "\n" not in key for key in found.to_arrow().column("u").to_pylist())


ROWS = {
    "a long quoted field": f'7,"{"x," * 100_000}"\n',
    "a long plain field": f"7,{'9' * 300_000}\n",
    "a field of line ends": '7,"' + "\n" * 200_000 + '"\n',
    "a field of quotes": '7,"' + '""' * 200_000 + '"\n',
    "a NUL": '7,"\0"\n',
    "a blank line": "\n",
    "many fields": "7" + ",1" * 100_000 + "\n",
    "text after a quote": '7,"a"b\n',
    "carriage returns": "7,a\rb\r\n",
}


@pytest.mark.parametrize("row", ROWS)
def test_one_row_more_is_one_record_more(row, tmp_path):
    """Whatever a row holds, the file with it has one record more, and the other records are as they were."""
    for place in (0, len(HONEST) // 2, len(HONEST)):
        at = HONEST.rindex("\n", 0, place) + 1 if place else 0
        path = tmp_path / "a.csv"
        path.write_bytes(("x,u\n" + HONEST[:at] + ROWS[row] + HONEST[at:]).encode())
        assert rows_in(path) == 1001
        batches = list(headed(path).batches(["u"], ["x"]))
        users = [user for batch in batches for user in batch.column(0).to_pylist()]
        numbers = np.concatenate([batch.column(1).to_numpy() for batch in batches])
        assert sum(user is not None and user.startswith("h") for user in users) == 1000
        assert np.nansum(numbers) in (sum(range(1000)), sum(range(1000)) + 7)


@pytest.mark.medium
def test_where_each_line_is_a_record_any_line_is_one(tmp_path):
    """Without newlines in fields, no bytes of a line change how another line is read."""
    random_source = random.Random(3)
    for _ in range(200):
        line = bytes(random_source.choice(b'",\r\x00\xff"a1') for _ in range(random_source.randint(0, 40)))
        path = tmp_path / "a.csv"
        path.write_bytes(b"x,u\n1,a\n" + line + b"\n3,c\n")
        found = list(headed(path, newlines_in_fields=False).batches([], ["x"]))
        numbers = np.concatenate([batch.column(0).to_numpy() for batch in found])
        assert len(numbers) == 3 and (numbers[0], numbers[2]) == (1.0, 3.0)


@pytest.mark.medium
def test_a_fuzzed_file_has_the_tally_of_the_same_data_in_parquet(tmp_path):
    """100,000 well-formed records, with fields of up to a megabyte of anything: the same keys, counts and sums."""
    pick = random.Random(5)
    marks = ['"', ",", "\n", "\r\n", "\r", "\0", "ü", "表", " ", "#", "x", "1"]
    keys, numbers, others = [], [], []
    for k in range(100_000):
        size = int(10 ** pick.uniform(3, 6)) if k % 2000 == 7 else pick.randint(0, 3)
        others.append("".join(pick.choices(marks, k=min(size, 50))) * (1 + size // 50) if size else None)
        keys.append(pick.choice(["a", "b", 'c"c', "d,d", "e\ne", "ß"]))
        numbers.append(pick.choice([None, pick.lognormvariate(3, 2), -float(k), 0.0]))
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n" if pick.random() < 0.5 else "\n")
        writer.writerow(["k", "other", "x"])
        writer.writerows([k, o, "" if x is None else repr(x)] for k, o, x in zip(keys, others, numbers, strict=True))
    assert max(len(other or "") for other in others) > 900_000
    pq.write_table(pa.table({"k": keys, "other": others, "x": pa.array(numbers, pa.float64())}), tmp_path / "a.parquet")
    ladder, keyed = Ladder.float_bits(31), Keyed(("k",))
    tallies = []
    for each in (headed(path), from_paths([tmp_path / "a.parquet"])):
        found = Local(each).tally("x", ladder, keyed, None)
        names = found.keys[0].to_pylist()
        tally = found.tally
        entries = zip(tally.groups, tally.rungs, tally.counts, strict=True)
        tallies.append(sorted((names[group], *map(int, rest)) for group, *rest in entries))
        assert each.rows() == 100_000
    assert tallies[0] == tallies[1]


def test_a_query_does_not_let_duckdb_guess_types(tmp_path, monkeypatch):
    """What makes DuckDB look at the records of a file for their types is refused, also behind views and macros."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    (tmp_path / "a.csv1").write_text("x\n1\n2\n")
    (tmp_path / "a.json").write_text('{"x": 1}\n')
    sources = ["'a.csv'", "a.csv", "read_csv('a.csv')", "read_csv_auto('a.csv')", "sniff_csv('a.csv')", "'a.csv?'", "v"]
    sources += ["query('select * from ''a.csv''')", "query_table('a.csv')", "'a.json'", "a.json", "m()", "'./A.CSV'"]
    with duckdb.connect() as connection:
        connection.execute("create view v as select * from 'a.csv'")
        connection.execute("create macro m() as table select * from 'a.csv'")
        for source in sources:
            for query in (f"select * from {source}", f"with t as (select * from {source}) select * from t, t as u"):
                with pytest.raises(ValueError, match=r"guess"):
                    nb.Table.sql(connection, query, rows_of="result")
                with pytest.raises(ValueError, match=r"no table|not allowed"):
                    nb.Table.sql(connection, query)


@pytest.fixture
def command(tmp_path, monkeypatch):
    """A command in a folder with a file without a header, and two whose names differ by case."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none.csv").write_text("86421,Ann,Ann2\n" + "1,2,3\n" * 300)
    (tmp_path / "a.csv").write_text("x,y\n" + "1,2\n" * 300)
    (tmp_path / "b.csv").write_text("z\n" + "5\n" * 300)
    (tmp_path / "A.csv").write_text("x,y\n" + "1,2\n" * 900)

    def run(*words):
        return CliRunner().invoke(app, [*words, "--folder", ".", "--epsilon", "9"]).output

    return run


@pytest.mark.medium
def test_no_query_shows_the_first_line_of_a_file(command):
    """Names of columns of a CSV file are shown after --header yes, and those that are declared."""
    everything = "select * from 'none.csv'"
    for words in (
        ["mean", "--sql", everything, "--column", "nope"],
        ["describe", "--sql", everything],
        ["describe", "--sql", everything, "--rows-of", "result"],
        ["describe", "--sql", "select columns(*)::double from 'none.csv'", "--rows-of", "result"],
        ["describe", "--sql", everything, "--type", "86421=number"],
        ["describe", "--sql", everything, "--type", "86421=number", "--rows-of", "result"],
    ):
        shown = command(*words)
        assert "Ann" not in shown and ("86421" not in shown or "--type" in words), words
        assert "--header yes" in shown or "--type" in words
    assert "Ann2" in command("describe", "--sql", everything, "--header", "yes", "--type", "86421=number")


@pytest.mark.medium
def test_a_query_reads_its_files_with_declared_types(command):
    """Types go to the files that have such a column; one that is in none, or names DuckDB confuses, are refused."""
    both, z = ["--sql", "select x, z from 'a.csv', 'b.csv' limit 500", "--rows-of", "result"], ["--column", "z"]
    both += ["--header", "yes"]
    assert "mean" in command("mean", *both, *z, "--type", "x=integer", "--type", "z=number")
    assert "in none of the files" in command("mean", *both, *z, "--type", "q=number")
    twice = "select * from 'a.csv' union all select * from 'A.csv'"
    assert "upper and lower case" in command("count", "--sql", twice, "--rows-of", "result", "--header", "yes")
    one = ["--sql", "select z + 1 as z from 'b.csv'", "--header", "yes"]
    assert "mean" in command("mean", *one, *z, "--type", "z=number")
    assert "in none of the files" in command("mean", *one, *z, "--type", "q=number")
