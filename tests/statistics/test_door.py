"""Every statistic passes through one door: it is planned from public facts and charged before a record is read."""

import ast
import random
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.purse import Purse

import nobounds as nb
from nobounds.accounting.cost import pure
from nobounds.accounting.loss import PrivacyLoss
from nobounds.accounting.terms import Terms
from nobounds.engines.column import Column
from nobounds.engines.memory.frames import Frame
from nobounds.engines.memory.vectors import Rows
from nobounds.engines.pairs import Pair
from nobounds.kinds.kind import BOOLEAN
from nobounds.ladders.facts import Facts
from nobounds.sklearn import PrivateClipper
from nobounds.statistics.door import Answer, Request, admit, release_column
from nobounds.tables import columns
from nobounds.tables.by_group.table import GroupedTable
from nobounds.tables.sql import statement
from nobounds.tables.table import Table

SOURCE = Path(nb.__file__).parent
RELATIONS = ("add-remove", "swap")
SPENT = ({"epsilon": 1}, {"rho": 0.1})
HALVES = [0.25, 0.5, 0.75]
NO_STATISTICS = {"Budget", "BudgetExceeded", "Csv", "Description", "Forecast", "GroupedRelease", "Histogram", "Ladder"}
NO_STATISTICS |= {"DescribeForecast", "Law", "PrivacyLoss", "Release", "Schema", "Table", "explain", "plan"}
NO_STATISTICS |= {"Answers", "plan_describe", "rows_needed"}
STREAMS = {"AboveThreshold", "IterativeExponential", "SparseVector"}  # of answers to queries: they read no records


class Unread(Exception):
    """A record was read."""


class Refusing:
    """A budget with nothing left."""

    def charge(self, loss, what):
        raise nb.BudgetExceeded("nothing is left")


def unread(*_):
    """In the place of all that reads records."""
    raise Unread


def hidden(neighbors="add-remove"):
    """A column whose records cannot be read; their number can be, where it is public."""
    return Column(Facts(integral=False, nullable=True), unread, (lambda: 100) if neighbors == "swap" else unread)


def hidden_booleans(neighbors="add-remove"):
    """The same, of booleans."""
    return replace(hidden(neighbors), facts=Facts.of(BOOLEAN))


class HiddenMatrix:
    """A matrix whose rows cannot be read."""

    dtype, shape = np.dtype(np.float64), (100, 3)
    __getitem__ = __iter__ = __array__ = unread

    def __init__(self, neighbors):
        self.length = 100 if neighbors == "swap" else None

    def __len__(self):
        return unread() if self.length is None else self.length


@dataclass(frozen=True)
class HiddenSource:
    """A table whose columns, units and groups cannot be read."""

    facts: dict = field(default_factory=lambda: {"x": Facts(integral=False, nullable=True), "b": Facts.of(BOOLEAN)})
    others: dict = field(default_factory=lambda: {"who": "text", "k": "text"})
    typed: bool = True
    shown: Any = None
    query: bool = False
    enums: dict = field(default_factory=dict)

    def columns(self, names, bounding, *, several=False):
        return {name: hidden_booleans() if name == "b" else hidden() for name in names}

    def row_marks(self, bounding):
        return hidden()

    def rows_of_units(self, unit):
        return hidden()

    def groups_of_units(self, unit, by):
        return hidden(), hidden()

    def check_keys(self, names):
        pass

    def known_keys(self, names, given):
        return tuple(pa.array(keys) for keys in given)

    tally = unread
    rows = unread
    records = unread


class HiddenClipper(PrivateClipper):
    """A transformer of features that cannot be read."""

    def _features(self, X, reset=True):
        return [hidden(self.neighbors), hidden(self.neighbors)]


def of_columns(neighbors, spent):
    """The statistics of one column, or of a table in memory, each as a call that takes a budget."""
    data, given = hidden(neighbors), {"neighbors": neighbors, **spent}
    yield "quantile", partial(with_budget, nb.quantile, (data, 0.5), given)
    yield "quantiles", partial(with_budget, nb.quantiles, (data, HALVES), given)
    for statistic in (nb.ratio, nb.weighted_mean, nb.covariance, nb.correlation):
        yield statistic.__name__, partial(of_two, statistic, neighbors, given)
    yield "proportion", partial(with_budget, nb.proportion, (hidden_booleans(neighbors),), given)
    for statistic in (
        nb.median,
        nb.iqr,
        nb.maximum,
        nb.minimum,
        nb.bounds,
        nb.sum,
        nb.mean,
        nb.std,
        nb.variance,
        nb.count,
        nb.histogram,
        nb.cdf,
    ):
        yield statistic.__name__, partial(with_budget, statistic, (data,), given)
    yield "describe", partial(with_budget, nb.describe, (Frame({"a": data, "b": data}, {}),), given)


def of_vectors(neighbors, spent):
    """The statistics of vectors, which need a delta beside an epsilon; and the bounds of features."""
    rows, given = Rows(HiddenMatrix(neighbors)), {"neighbors": neighbors, **spent}
    given |= {} if "rho" in spent else {"delta": 1e-6}
    for statistic in (nb.vector_sum, nb.vector_mean):
        yield statistic.__name__, partial(with_budget, statistic, (rows,), given)
    yield "PrivateClipper", lambda budget: HiddenClipper(epsilon=1.0, neighbors=neighbors, budget=budget).fit(None)


def with_budget(statistic, args, options, budget):
    """Call a function; the rows of vectors are those that are given, because to open an array is not the question."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rows, "of", lambda data: data)
        return statistic(*args, budget=budget, **options)


def of_two(statistic, neighbors, options, budget):
    """Call a function of two columns; they are not compared in length, because to open them is not the question."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pair, "of", lambda x, y: Pair(x, y))
        return statistic(hidden(neighbors), hidden(neighbors), budget=budget, **options)


def of_tables(spent, make, column="x", condition="b"):
    """The statistics of a table and of its groups, with units and without."""
    whole = [(name, (column,)) for name in ("maximum", "minimum", "sum", "mean", "count")]
    whole += [("count", ()), ("quantile", (column, 0.5))]
    alone = [
        ("quantiles", (column, HALVES)),
        ("bounds", (column,)),
        ("describe", ([column],)),
        ("count_distinct", ("k",)),
        ("histogram", (column,)),
        ("cdf", (column,)),
    ]
    alone += [(name, (column,)) for name in ("median", "iqr", "std", "variance")] + [("proportion", (condition,))]
    alone += [(name, (column, column)) for name in ("ratio", "weighted_mean", "covariance", "correlation")]
    asks = (f"mean({column})", f"median({column})", "count()")
    about_units = [
        ("suggest_rows_per_unit", ()),
        ("rows_left_out", ()),
        ("suggest_contributions", ()),
        ("count_distinct", ()),
    ]
    for unit in ({}, {"unit": "who", "rows_per_unit": 2}):
        for name, args in [*whole, *alone, *(about_units if unit else [])]:
            yield f"Table.{name}", partial(of_table, make, unit, None, name, args, spent)
        yield "Table.agg", partial(of_table, make, unit, None, "agg", asks, spent)
        if condition == "b":
            for name, args in (("value_counts", ("who",)), ("top_k", ("who", 1))):
                counted = partial(of_table, make, unit, {"keys": ["k0"]}, name, args, spent | {"keys": ["a"]})
                yield f"GroupedTable.{name}", counted
            distinct = partial(of_table, make, unit, {"keys": ["k0"]}, "count_distinct", ("who",), spent)
            yield "GroupedTable.count_distinct", distinct
        for name, args in (("value_counts", ("k",)), ("top_k", ("k", 1))):
            yield f"Table.{name}", partial(of_table, make, unit, None, name, args, spent | {"keys": ["k0", "k1"]})
        for by in ({"keys": ["k0", "k1"]}, *([{"delta": 1e-6}] if "epsilon" in spent else [])):
            left_out = {"count_distinct"} if condition == "b" else {"count_distinct", "proportion"}
            one_by_one = [each for each in alone if each[0] not in left_out] + [("agg", asks)]
            for name, args in [*whole, *one_by_one]:
                yield f"GroupedTable.{name}", partial(of_table, make, unit, by, name, args, spent)


def of_table(make, unit, by, name, args, spent, budget):
    """Call a method of a table or of its groups."""
    table = make(budget=budget, **unit)
    return getattr(table if by is None else table.group_by("k", **by), name)(*args, **spent)


def of_values(spent):
    """The statistics of the values of one column, which open it as a table."""
    public = {"keys": ["k0", "k1"]}
    for statistic, args, given in (
        (nb.value_counts, (), public),
        (nb.top_k, (1,), public),
        (nb.count_distinct, (), {}),
    ):
        yield statistic.__name__, partial(with_hidden_table, statistic, args, spent | given)


def with_hidden_table(statistic, args, options, budget):
    """Call a function that opens a table; it gets one that cannot be read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "Table", lambda data, **given: hidden_table(**given))
        return statistic(pa.table({"k": ["k0"]}), *args, budget=budget, **options)


def of_statements(spent):
    """Statistics by one SQL statement, of all rows and by group."""
    asks = "private_mean(x), private_median(x), private_count()"
    yield "sql", partial(with_hidden_statement, f"select {asks} from t", spent)
    yield "sql", partial(with_hidden_statement, f"select k, {asks} from t group by k", spent | {"keys": ["k0", "k1"]})


def with_hidden_statement(text, options, budget):
    """Ask by a statement; its table cannot be read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statement, "Table", lambda data, **given: hidden_table(**given))
        return nb.sql(text, {"t": {"x": [1.0], "k": ["k0"]}}, budget=budget, **options)


def hidden_table(**options):
    """A table that cannot be read."""
    table = nb.Table({"x": [1.0], "who": ["a"], "k": ["k0"]}, **options)
    table._opened = replace(table._opened, held=HiddenSource())
    return table


CALLS = [
    *(call for neighbors in RELATIONS for spent in SPENT for call in of_columns(neighbors, spent)),
    *(call for neighbors in RELATIONS for spent in SPENT for call in of_vectors(neighbors, spent)),
    *(call for spent in SPENT for call in of_tables(spent, hidden_table)),
    *(call for spent in SPENT for call in of_values(spent)),
    *(call for spent in SPENT for call in of_statements(spent)),
]
each = pytest.mark.parametrize("call", [call for _, call in CALLS], ids=[name for name, _ in CALLS])


def test_every_public_statistic_is_called():
    """Each public name that reads records, and each statistic of a table, of its groups and of scikit-learn."""
    called = {name for name, _ in CALLS}
    wanted = set(nb.__all__) - NO_STATISTICS - STREAMS | {"PrivateClipper"}
    wanted |= {f"Table.{name}" for name in public(Table) - {"columns", "group_by", "sql", "where", "with_columns"}}
    wanted |= {f"GroupedTable.{name}" for name in public(GroupedTable)}
    assert called == wanted


def public(kind):
    return {name for name in vars(kind) if not name.startswith("_")}


@pytest.mark.medium
@each
def test_no_record_is_read_for_a_charge_that_is_refused(call):
    """A plan that looked at a record would fail by that, and not by the budget."""
    with pytest.raises(nb.BudgetExceeded, match="nothing is left"):
        call(Refusing())


@each
def test_the_charge_is_in_the_ledger_before_the_first_record_is_read(call, tmp_path):
    """Also in that of a file, which another process reads."""
    path = tmp_path / "people.budget"
    with pytest.raises(Unread):
        call(nb.Budget(epsilon=1000, delta=0.1, path=path))
    assert len(nb.Budget(path=path).history) == 1


def test_a_planner_that_reads_a_record_is_caught():
    """The same budget that refuses, and a plan that counts the records first: the error is that of the reading."""
    data = hidden()

    def plan(facts):
        return sum(len(chunk) for chunk in data.chunks())

    for budget in (Refusing(), Purse()):
        with pytest.raises(Unread):
            release_column(
                "count", "count", Terms.of(1, None), plan, lambda *_: Answer(0, {}), data, {"budget": budget}
            )
        assert isinstance(budget, Refusing) or not budget.charged


@pytest.mark.parametrize("step", ["plan", "loss", "purpose"])
def test_nothing_is_charged_if_what_comes_before_fails(step):
    """An error in the plan, in its price or in its words leaves the budget as it was."""
    steps = {
        "plan": lambda facts: 1,
        "loss": lambda plan, facts: PrivacyLoss.of(pure(plan), "add-remove"),
        "purpose": lambda facts: "a number",
    }
    budget = Purse()
    with pytest.raises(Unread):
        admit(Request("add-remove", **(steps | {step: unread}), answer=unread), hidden(), budget, None)
    assert budget.charged == []
    with pytest.raises(Unread):
        admit(Request("add-remove", **steps, answer=unread), hidden(), budget, None)
    assert [what for _, what in budget.charged] == ["a number"]


# --- tables of real engines -----------------------------------------------------------------------------------------

SCHEMA = pa.schema({"pay": pa.float64(), "who": pa.int64(), "k": pa.string()})


class Stream:
    """Arrow's C stream interface: it declares its columns, and fails when it is read."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.RecordBatchReader.from_batches(SCHEMA, self.batches()).__arrow_c_stream__(requested_schema)

    def batches(self):
        raise Unread
        yield


def of_a_stream(path, **options):
    return nb.Table(Stream(), **options)


def of_csv(path, **options):
    """A file that is gone after it was opened."""
    (path / "people.csv").write_text("pay,who,k\n1.5,1,k0\n2.5,2,k1\n")
    table = nb.Table(path / "people.csv", csv=nb.Csv(header=True), **options)
    (path / "people.csv").unlink()
    return table


@pytest.mark.medium
@pytest.mark.parametrize("spent", SPENT, ids=str)
@pytest.mark.parametrize("make", [of_a_stream, of_csv])
def test_tables_that_cannot_be_read_are_charged_first(make, spent, tmp_path):
    """Streams and files are opened for their types alone: no statistic reads one that it may not be charged for."""
    for name, call in of_tables(spent, lambda **options: make(tmp_path, **options), "pay", "pay > 1"):
        with pytest.raises(nb.BudgetExceeded):
            call(Refusing())
        budget = Purse()
        with pytest.raises((ValueError, OSError)):
            call(budget)
        assert len(budget.charged) == 1, name


# --- the source of the library --------------------------------------------------------------------------------------

PLANNERS = ("ranks", "clipping", "ladders")
DOORS = {Path("statistics/door.py"), Path("mechanisms/above_threshold.py")}  # of statistics, and of streams of queries
FOREIGN = {Path("interop/diffprivlib.py"): 1}  # charges what another library is about to spend; it reads no records


@cache
def modules():
    """The syntax tree of each module, and its path in the package."""
    return [(path.relative_to(SOURCE), ast.parse(path.read_text())) for path in sorted(SOURCE.rglob("*.py"))]


def imports(tree):
    """The modules that a module imports, wherever it does so."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def calls(tree, name):
    """How often a module calls a function of this name, or a method."""
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sum(name in (getattr(f, "id", None), getattr(f, "attr", None)) for f in functions)


@pytest.mark.parametrize("room", PLANNERS)
@pytest.mark.medium
def test_planners_know_no_engine(room):
    """What plans and chooses imports nothing that reads data."""
    seen = [(path, found) for path, tree in modules() if path.parts[0] == room for found in imports(tree)]
    assert len({path for path, _ in seen}) > 3
    assert [(path, found) for path, found in seen if found.startswith("nobounds.engines")] == []


def test_an_import_of_an_engine_is_seen():
    """In each of its forms, also inside a function."""
    forms = [
        "import nobounds.engines.column",
        "from nobounds import engines",
        "from nobounds.engines import column",
        "def f():\n    from nobounds.engines.column import Column",
    ]
    for form in forms:
        assert any(found.startswith("nobounds.engines") for found in imports(ast.parse(form)))


def test_statistics_are_charged_in_one_place_and_streams_in_another():
    """Outside the accounting these two modules alone import `charged`, and each calls it once."""
    trees = dict(modules())
    importing = {path for path, tree in trees.items() if "nobounds.accounting.spending.charged" in imports(tree)}
    assert importing == DOORS
    assert [calls(trees[path], "charged") for path in importing] == [1, 1]


def test_nothing_else_charges_a_budget():
    """Only the accounting itself calls the method of a budget; and once the accountant that diffprivlib asks."""
    charging = {path: calls(tree, "charge") for path, tree in modules() if path.parts[0] != "accounting"}
    assert {path: times for path, times in charging.items() if times} == FOREIGN


@pytest.mark.parametrize(
    "call",
    [
        lambda data, **options: nb.count(data, **options),
        lambda data, **options: nb.describe({"x": data}, **options),
        lambda data, **options: nb.quantile(data, 0.5, rows=100, **options),
        lambda data, **options: nb.quantiles(data, [0.25, 0.5], rows=100, **options),
    ],
    ids=["count", "describe", "quantile", "quantiles"],
)
def test_rows_are_not_counted_for_a_plan_that_does_without(call):
    """Under swap their number is public, but counting them may take a pass: none before a charge that is refused."""
    column = Column(Facts(integral=False, nullable=True), unread, unread)
    with pytest.raises(nb.BudgetExceeded):
        call(column, epsilon=1, neighbors="swap", budget=nb.Budget(epsilon=0.5))


def test_a_reader_that_gives_its_batches_once_is_answered_under_swap():
    """A stated number of rows is not counted, so that the only pass is the one for the answer."""
    import pyarrow as pa

    batches = pa.table({"x": [float(i) for i in range(1000)]})
    table = nb.Table(batches.to_reader(), neighbors="swap")
    assert table.quantile("x", 0.5, epsilon=10, rows=1000, rng=random.Random(1)).value == pytest.approx(500, abs=50)
