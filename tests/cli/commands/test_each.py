"""Statistics of several columns in one command, for one epsilon and one delta in total."""

import json

import pytest
from support.shell import with_header
from typer.testing import CliRunner

import nobounds as nb
from nobounds.cli.app import app


def run(*words):
    """The result of one command."""
    return CliRunner().invoke(app, with_header(*words))


SHARED = [
    ["histogram", "--edges", "30"],
    ["cdf", "--points", "30", "--by", "sex", "--keys", "f,m"],
    ["value-counts", "--keys", "30,40", "--keys", "20,21"],
    ["top-k", "--k", "2", "--delta", "1e-6"],
    ["value-counts", "--delta", "1e-6", "--by", "sex"],
    ["count-distinct"],
]


@pytest.fixture
def adults(tmp_path, monkeypatch):
    """A file of 4,000 adults with two columns of numbers and one of texts, in the working directory."""
    monkeypatch.chdir(tmp_path)
    rows = (f"{20 + i % 50},{i % 40},{'fm'[i % 2]}\n" for i in range(4000))
    (tmp_path / "adults.csv").write_text("age,hours,sex\n" + "".join(rows))
    return tmp_path


@pytest.mark.parametrize("words", SHARED, ids=" ".join)
def test_several_columns_share_one_epsilon_and_one_delta(adults, words):
    """Each is answered in the order of the options, and all of them cost what was stated."""
    both = [words[0], "adults.csv", "--header", "yes", "--column", "age", "--column", "hours", *words[1:]]
    answer = json.loads(run(*both, "--epsilon", 8, "--json").stdout)
    named = [each["parameters"].get("column") or each["by"][-1] for each in answer["releases"]]
    assert named == ["age", "hours"]
    assert 7.999 < answer["loss"]["epsilon"] <= 8
    delta = answer["loss"].get("delta", 0)
    assert 0.9e-6 < delta <= 1e-6 if "--delta" in words else not delta
    shown = run(*both, "--epsilon", 8).stdout
    assert shown.index("age\n") < shown.index("hours\n") and shown.count("Total privacy loss: ") == 1


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
@pytest.mark.parametrize("words", SHARED[:4], ids=" ".join)
def test_several_columns_are_one_table(adults, words, suffix):
    """A row for each answer, which starts with the name of its column; the same in files."""
    import pyarrow.parquet as pq

    both = [words[0], "adults.csv", "--header", "yes", "--column", "age", "--column", "hours", *words[1:]]
    out = adults / f"out.{suffix}"
    printed = run(*both, "--epsilon", 1000, "--csv", "--out", out).stdout.splitlines()
    assert printed[0].startswith("column,") and {line.partition(",")[0] for line in printed[1:]} == {"age", "hours"}
    if suffix == "csv":
        assert out.read_text().splitlines() == printed
    elif suffix == "parquet":
        table = pq.read_table(out)
        assert ",".join(table.column_names) == printed[0] and len(table) == len(printed) - 1
    else:
        assert [len(each["values"]) for each in json.loads(out.read_text())["releases"]] == [
            sum(line.startswith(f"{name},") for line in printed) for name in ("age", "hours")
        ]


@pytest.mark.parametrize("wrong", ["nothing", "sex"])
@pytest.mark.parametrize("command", ["mean", "histogram"])
def test_nothing_is_charged_if_one_of_the_columns_is_refused(adults, command, wrong):
    """Neither the one that is not there nor the one before it."""
    run("budget", "create", "adults.budget", "--epsilon", 1)
    words = [command, "adults.csv", "--column", "age", "--column", wrong, "--epsilon", 1, "--budget", "adults.budget"]
    refused = run(*words, "--header", "yes", "--type", "age=integer", "--type", "sex=text")
    assert refused.exit_code == 2 and wrong in refused.stderr and not refused.stdout
    assert not nb.Budget(path="adults.budget").history


REFUSED = {
    "mean --column pay --column face": "column 'face' must be numeric",
    "mean --column pay --column tags": "column 'tags' must be numeric",
    "median --column pay --column home": "column 'home' must be numeric",
    "sum --column pay --column born": "a sum of values of type datetime makes no sense",
    "mean --column pay --column born --lower 0": "got --lower 0",
    "histogram --column pay --column born --edges 1,2": "edges must be a datetime",
    "cdf --column pay --column born --points 1,2": "points must be a datetime",
    "value-counts --column age --column level --keys 1,2 --keys x,y": "the type of the column 'level'",
    "value-counts --column age --column home --delta 1e-6": "column 'home' must be of text",
    "top-k --column age --column nothing --k 2 --delta 1e-6": "column 'nothing' is not in the table",
    "count-distinct --column age --column home": "column 'home' must be of text",
    "count-distinct --column age --column home --by level --keys 1": "column 'home' must be of text",
}


@pytest.fixture
def unreadable(tmp_path, monkeypatch):
    """A Parquet file of many types whose schema can be read and whose rows cannot, and a budget."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    columns = {
        "pay": pa.array([1.5, 2.5]),
        "age": pa.array([30, 40]),
        "level": pa.array([1, 2], pa.uint8()),
        "born": pa.array([0, 1], pa.timestamp("us")),
        "face": pa.array([b"x", b"y"]),
        "tags": pa.array([[1], [2]]),
        "home": pa.array([{"street": 1}, {"street": 2}]),
    }
    pq.write_table(pa.table(columns), "people.parquet")
    whole = (tmp_path / "people.parquet").read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    (tmp_path / "people.parquet").write_bytes(b"PAR1" + bytes(len(whole) - footer - 4) + whole[-footer:])
    run("budget", "create", "people.budget", "--epsilon", 1, "--delta", 1e-5)
    return tmp_path


@pytest.mark.parametrize("budget", [["--budget", "people.budget"], []], ids=["budget", "none"])
@pytest.mark.parametrize("line", REFUSED, ids=str)
def test_what_the_schema_refuses_is_refused_before_any_column_is_read(unreadable, line, budget):
    """The error is that of the schema, whichever column it is about, and nothing was charged for the others."""
    command, *words = line.split()
    refused = run(command, "people.parquet", *words, "--epsilon", 0.5, *budget)
    assert refused.exit_code == 2 and REFUSED[line] in refused.stderr and "charged" not in refused.stderr
    assert not nb.Budget(path="people.budget").history


@pytest.mark.parametrize("line", ["mean --column pay --column age", "count-distinct --column pay --column born"])
def test_nothing_is_read_before_the_first_charge(unreadable, line):
    """Rows that cannot be read fail after the charge for the first column, and the error says what it was."""
    command, *words = line.split()
    failed = run(command, "people.parquet", *words, "--epsilon", 0.5, "--budget", "people.budget")
    assert failed.exit_code in (1, 2) and "the budget was charged (epsilon 0.25)" in failed.stderr
    assert len(nb.Budget(path="people.budget").history) == 1
    assert "charged" not in run(command, "people.parquet", *words, "--epsilon", 0.5).stderr


def test_values_of_several_columns_need_their_own_lists(adults):
    """One list for two columns is refused, and so is a file of values."""
    words = ["value-counts", "adults.csv", "--column", "age", "--column", "hours", "--epsilon", 1]
    assert "several --column need one --keys each" in run(*words, "--keys", "20").stderr
    (adults / "keys.txt").write_text("20\n")
    assert "several --column need one --keys each" in run(*words, "--keys-file", "keys.txt").stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("histogram --column age --edges x", "got --edges x"),
        ("cdf --column age --points nan", "got --points nan"),
        ("count-distinct --unit sex --column age --values-per-unit 0", "got --values-per-unit 0"),
        ("count --encoding rot --column age", "got --encoding rot"),
        ("count --decimal ; --column age", "got --decimal ';'"),
        ("count --thousands a --column age", "got --thousands a"),
    ],
)
def test_a_wrong_value_is_named_as_the_option_that_gave_it(adults, line, said):
    """As it is written in a shell, and not as a keyword argument."""
    command, *words = line.split()
    refused = run(command, "adults.csv", *words, "--header", "yes", "--epsilon", 1)
    assert refused.exit_code == 2 and refused.stderr.endswith(f"{said}\n")
