"""A budget in PostgreSQL: the promises of one in a file, and what the server refuses by itself."""

import itertools
import os
import pickle
import random
import subprocess
import sys
import threading
from fractions import Fraction

import psycopg
import pytest

import nobounds as nb
from nobounds.accounting.composition import Rules, Totals
from nobounds.accounting.ledger import Limits, Remark
from nobounds.accounting.loss import PrivacyLoss
from nobounds.accounting.postgres import functions
from nobounds.accounting.postgres.ledger import PostgresLedger, install, is_address

pytestmark = pytest.mark.medium
TERMS = Limits(Fraction(3), Fraction(1, 10**6), None, "swap", "person")
LOSS = PrivacyLoss(0.1, 0.005, 0.2, "swap", "person")


def anything(entries):
    """A check that allows every charge, so that the server decides alone."""


@pytest.fixture(scope="module")
def server(postgres):
    """The address of a server with the functions, which may be installed twice."""
    host = postgres.split()[0].removeprefix("host=")
    url = f"postgresql:///postgres?user=nobounds&host={host}"
    install(url)
    install(url)
    return url


@pytest.fixture
def address(server):
    """The address of a budget that is not there yet."""
    return f"{server}#{os.urandom(6).hex()}"


@pytest.fixture
def analyst(postgres, address):
    """A role of its own, and its address of the budget."""
    role = f"ana_{os.urandom(4).hex()}"
    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute(f"create role {role} login")
        yield role, address.replace("user=nobounds", f"user={role}")
        owner.execute(f"drop owned by {role}; drop role {role}")


def test_what_was_written_is_read(address):
    """Another object reads the same terms and charges, letter for letter and to the last digit."""
    ledger = PostgresLedger.create(address, TERMS, ("visits",))
    loss = PrivacyLoss(5e-324, float("inf"), 0.1 + 0.2, "swap", "person", 1e-300)
    for what in ("", "naïve 中 \U0001f600", "'; drop table nobounds.charges --", "x" * 500):
        ledger.append(what, loss, anything, Remark("visits", "a note", "Ada"))
    entries = PostgresLedger(address).read()
    assert entries == ledger.read() and entries.terms == TERMS and entries.labels == ("visits",)
    charge = entries.charges[1]
    assert (charge.what, charge.loss, charge.note, charge.author) == ("naïve 中 \U0001f600", loss, "a note", "Ada")
    assert all(each.when.utcoffset().total_seconds() == 0 for each in entries.charges)
    with pytest.raises(ValueError, match="zero byte"):
        ledger.append("a\0b", LOSS, anything)


def test_a_budget_is_opened_or_created(address):
    """By its address; other terms are refused, and a copy is the same budget."""
    with pytest.raises(FileNotFoundError):
        nb.Budget(path=address)
    budget = nb.Budget.open_or_create(address, epsilon=3)
    again = nb.Budget.open_or_create(address, epsilon=3)
    again.charge(PrivacyLoss.pure(1), "the median")
    assert budget.remaining == 2 and pickle.loads(pickle.dumps(budget)).remaining == 2
    assert repr(budget).startswith("Budget(epsilon 3, spent 1, remaining 2; postgresql://") and "user=" not in repr(
        budget
    )
    with pytest.raises(ValueError, match="is a budget of epsilon 3, not of epsilon 4"):
        nb.Budget.open_or_create(address, epsilon=4)
    with pytest.raises(FileExistsError):
        nb.Budget(path=address, epsilon=3)
    assert is_address(address) and not is_address("people.budget")


def test_an_address_with_a_password_is_not_pickled(address):
    """A pickle would carry the password to wherever it is kept."""
    nb.Budget(path=address, epsilon=1)
    secret = nb.Budget(path=address.replace("user=nobounds", "user=nobounds&password=sesame"))
    with pytest.raises(TypeError, match="would hold a password") as refusal:
        pickle.dumps(secret)
    assert "sesame" not in str(refusal.value)


@pytest.mark.parametrize(
    "number", ["0x1", "0b1", "0o7", "1_0", "-1", "+1", " 1", "1\n", "1E0", "٣", "NaN", "Infinity", "", None, "0" * 501]
)
def test_a_loss_is_of_decimal_numbers(address, postgres, number):
    """A direct call of the function cannot write a number that this library would not read."""
    nb.Budget(path=address, epsilon=3)
    name = address.partition("#")[2]
    with psycopg.connect(postgres) as connection, pytest.raises(psycopg.Error) as refusal:
        row = (name, "x", number, "0.1", "0.1", "0.0", "add-remove", "row", None, None, None)
        connection.execute(f"select nobounds.charge({', '.join(['%s::text'] * len(row))})", row)
    assert refusal.value.sqlstate == functions.WRONG


def test_a_caller_that_rolls_back_has_paid(address, postgres):
    """The charge is on a connection of its own, and is there before the data are read."""
    budget = nb.Budget(epsilon=3, path=address)
    with psycopg.connect(postgres) as connection:
        connection.execute("create temp table t as select i::float8 as x from generate_series(1, 500) i")
        nb.Table.sql(connection, "select x from t", budget=budget).mean("x", epsilon=1)
        connection.rollback()
    with psycopg.connect(postgres) as connection:
        connection.execute("create temp table t as select i::float8 as x from generate_series(1, 500) i")
        nb.sql("select private_mean(x) from t", connection, epsilon=1, budget=budget)
        connection.rollback()
    assert nb.Budget(path=address).remaining == 1


def test_a_charge_waits_for_the_disk(address, postgres, monkeypatch):
    """Whatever the server's default is, the transaction of a charge commits synchronously."""
    ledger = PostgresLedger.create(address, TERMS)
    with psycopg.connect(postgres) as connection:
        connection.execute("set synchronous_commit = off")
        connection.execute(
            "select nobounds.charge(%s, 'x', '0.1', '0.1', '0.1', '0', 'swap', 'person', null, null, null)",
            (ledger._name,),
        )
        assert connection.execute("show synchronous_commit").fetchone() == ("on",)


@pytest.mark.parametrize(
    "terms",
    [
        Limits(epsilon=Fraction(1, 3)),
        Limits(rho=Fraction(1, 7)),
        Limits(Fraction(1), Fraction(1, 10**6)),
        Limits(Fraction(1, 10), Fraction(1, 10**9)),
    ],
    ids=["epsilon", "rho", "delta", "small"],
)
def test_the_server_decides_as_the_library_does(terms, server):
    """By the same rules, exactly, on random charges near the limits: neither is more generous."""
    rules, rng, outcomes = Rules.of(terms.epsilon, terms.delta, terms.rho), random.Random(2), set()
    for _ in range(3):
        ledger, totals = PostgresLedger.create(f"{server}#{os.urandom(6).hex()}", terms), Totals()
        for _ in range(25):
            kind, size = rng.choice(["pure", "zcdp", "approximate"]), rng.choice([0.01, 0.05, 0.1, 1 / 3, 0.3])
            loss = {
                "pure": lambda size=size: PrivacyLoss.pure(size),
                "zcdp": lambda size=size: PrivacyLoss.zcdp(size / 10),
                "approximate": lambda size=size: PrivacyLoss.approximate(Fraction(str(size)), Fraction(1, 10**8)),
            }[kind]()
            fits = rules.allow(totals + loss)
            try:
                ledger.append(kind, loss, anything)
            except nb.BudgetExceeded:
                assert not fits
            else:
                assert fits
                totals += loss
            outcomes.add(fits)
    assert outcomes == {True, False}


def test_roles_have_their_shares_and_nothing_else(address, analyst):
    """A role may charge up to its share, and read; tables, limits and shares are out of its reach."""
    role, own = analyst
    budget = nb.Budget(epsilon=3, path=address, neighbors="add-remove", unit="row")
    with pytest.raises((FileNotFoundError, PermissionError)):
        nb.Budget(path=own)
    with pytest.raises(ValueError, match="no such role"):
        budget.share("nobody", epsilon=1)
    budget.share(role, epsilon=1)
    theirs = nb.Budget.open_or_create(own, epsilon=3)
    theirs.charge(PrivacyLoss.pure(0.7), "mine")
    with pytest.raises(nb.BudgetExceeded, match="share of this role"):
        theirs.charge(PrivacyLoss.pure(0.4), "too much")
    theirs.charge(PrivacyLoss.pure(0.3), "the rest")
    assert budget.remaining == theirs.remaining == 2
    budget.share(role, epsilon=10)
    with pytest.raises(nb.BudgetExceeded, match="2 of 3 is left"):
        theirs.charge(PrivacyLoss.pure(2.5), "more than all have")
    with pytest.raises(PermissionError):
        theirs.share(role, epsilon=3)
    with pytest.raises(PermissionError):
        theirs.allow("other data")
    name = address.partition("#")[2]
    forbidden = [
        "select * from nobounds.charges",
        "insert into nobounds.shares values ('x', 'y', null)",
        "update nobounds.budgets set limits = null",
        "delete from nobounds.charges",
        "truncate nobounds.charges",
        "drop function nobounds.charge",
        "create or replace function nobounds.fits(l nobounds.limits, a numeric, b numeric, c numeric) "
        "returns boolean language sql as 'select true'",
        "set role nobounds",
        "set session authorization nobounds",
        *(
            f"select nobounds.charge('{name}', 'x', '{e}', '{r}', '0', '{d}', 'add-remove', 'row', null, null, null)"
            for e, r, d in (
                ("-1", "-1", "0"),
                ("NaN", "NaN", "0"),
                ("inf", "inf", "0"),
                ("1", "1", "1"),
                ("x", "1", "0"),
            )
        ),
        f"select nobounds.charge('{name}', 'x', '0', '0', '0', '0', 'swap', 'row', null, null, null)",
        f"select nobounds.charge('{name}', null, '0', '0', '0', '0', 'add-remove', 'row', null, null, null)",
    ]
    with psycopg.connect(own.partition("#")[0], autocommit=True) as connection:
        for statement in forbidden:
            with pytest.raises(psycopg.Error):
                connection.execute(statement)
        connection.execute("create temp table charges (x int); set search_path = pg_temp, public")
        assert nb.Budget(path=address).remaining == 2
    assert len(budget.history) == 2


def test_a_share_does_not_decide_what_the_budget_is_for(address, analyst, postgres):
    """Its neighbours and unit are stated before, and no charge of a role is of 0 or names the first data."""
    role, own = analyst
    for stated in ({}, {"neighbors": "swap"}, {"unit": "person"}):
        unstated = nb.Budget(epsilon=3, path=f"{address}{len(stated)}{'unit' in stated}", **stated)
        with pytest.raises(ValueError, match="neighbors and unit are stated"):
            unstated.share(role, epsilon=1)
    budget = nb.Budget(epsilon=3, path=address, neighbors="swap", unit="person")
    budget.share(role, epsilon=1)
    theirs = PostgresLedger(own)
    nothing = PrivacyLoss(0.0, 0.0, 0.0, "swap", "person")
    for loss, label, why in ((nothing, None, "a loss of 0"), (LOSS, "a label for ever", "its owner can allow it")):
        with pytest.raises(ValueError, match=why):
            theirs.append("x", loss, anything, Remark(label))
    with psycopg.connect(postgres, autocommit=True) as owner:  # as a budget that has shares since before
        owner.execute("update nobounds.budgets set unit = null where name = %s", (address.partition("#")[2],))
        with psycopg.connect(own.partition("#")[0]) as connection, pytest.raises(psycopg.Error) as refusal:
            row = (address.partition("#")[2], "x", "0.1", "0.1", "0.1", "0", "swap", "mine", None, None, None)
            connection.execute(f"select nobounds.charge({', '.join(['%s::text'] * len(row))})", row)
        assert refusal.value.sqlstate == functions.OTHER_UNIT
        owner.execute("update nobounds.budgets set unit = 'person' where name = %s", (address.partition("#")[2],))
    assert not budget.history and not budget.labels
    budget.allow("visits")
    theirs.append("x", LOSS, anything, Remark("visits"))
    assert len(budget.history) == 1


def test_data_of_another_name_or_unit_are_refused(address):
    """By the server too, where the library was not asked."""
    ledger = PostgresLedger.create(address, Limits(Fraction(3)), ("visits",))
    ledger.append("x", LOSS, anything, Remark("visits"))
    for loss, label in ((LOSS, "sales"), (PrivacyLoss.pure(0.1, neighbors="swap", unit="row"), "visits")):
        with pytest.raises(ValueError, match="the budget"):
            ledger.append("x", loss, anything, Remark(label))
    ledger.allow("sales")
    ledger.append("x", LOSS, anything, Remark("sales"))
    assert PostgresLedger(address).read().labels == ("visits", "sales")


def test_a_charge_sees_others_whatever_the_isolation_of_the_role(address, postgres):
    """A role, or its database, may have another isolation by default; then a charge would not see one made just now."""
    nb.Budget(epsilon=3, path=address)
    ledger, made = (
        PostgresLedger(f"{address.replace('?', '?options=-cdefault_transaction_isolation%3Dserializable&')}"),
        [],
    )

    def check(entries):
        if not made:
            made.append(nb.Budget(path=address).charge(PrivacyLoss.pure(1), "another"))

    ledger.append("x", PrivacyLoss.pure(1), check)
    assert nb.Budget(path=address).remaining == 1


def test_nothing_is_installed_in_the_schema_of_another_role(postgres, server):
    """Its owner could drop the charges, and run functions with the rights of the role that charges."""
    name, url = f"theirs_{os.urandom(4).hex()}", server.replace("///postgres?", "///{}?").format
    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute(f"create role {name} login")
        owner.execute(f"create database {name}")
        owner.execute(f"grant create on database {name} to {name}")
        theirs = url(name).replace("user=nobounds", f"user={name}")
        try:
            with psycopg.connect(theirs, autocommit=True) as before:
                before.execute("create schema nobounds")
            with pytest.raises(PermissionError, match="the schema nobounds belongs to another role"):
                install(url(name))
            install(theirs)
            with pytest.raises(PermissionError, match="belongs to another role"):
                install(url(name))
            with psycopg.connect(url(name), autocommit=True) as after:
                assert after.execute("select count(*) from nobounds.budgets").fetchone() == (0,)
                after.execute("drop schema nobounds cascade; create schema nobounds")
                after.execute(f"grant all on schema nobounds to {name}")
                with psycopg.connect(theirs, autocommit=True) as before:
                    before.execute("create table nobounds.charges (budget text)")
            with pytest.raises(PermissionError, match="belongs to another role"):
                install(url(name))
        finally:
            owner.execute(f"drop database {name}")
            owner.execute(f"drop role {name}")


def test_charges_at_once_keep_within_the_budget(address):
    """Threads that charge at the same time get as much as there is, and no more."""
    nb.Budget(epsilon=2, path=address)
    paid = itertools.count()

    def charge():
        budget = nb.Budget(path=address)
        for _ in range(6):
            try:
                budget.charge(PrivacyLoss.pure(0.1), "x")
            except nb.BudgetExceeded:
                return
            next(paid)

    threads = [threading.Thread(target=charge) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert next(paid) == 20 == len(nb.Budget(path=address).history)


@pytest.mark.parametrize("change", ["what = 'other'", "epsilon = '0.0'", "number = 7", "author = 'Eve'", "seal = 'x'"])
def test_a_changed_row_is_noticed(address, change, postgres):
    """By its seal, also where it is the last."""
    budget = nb.Budget(epsilon=3, path=address)
    for _ in range(2):
        budget.charge(PrivacyLoss.pure(0.1), "x")
    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute(
            f"update nobounds.charges set {change} where budget = %s and number = 2", (address.partition("#")[2],)
        )
    with pytest.raises(ValueError, match="damaged"):
        nb.Budget(path=address)
    with pytest.raises(ValueError, match=r"damaged|no longer"):
        budget.charge(PrivacyLoss.pure(0.1), "x")


@pytest.mark.parametrize(
    "statement", ["set synchronous", "select * from nobounds.terms", "select nobounds.charge", "end"]
)
def test_a_kill_before_the_commit_leaves_the_ledger_as_before(address, statement):
    """A process that dies at any statement of a charge has charged nothing, and the next one can charge."""
    nb.Budget(epsilon=3, path=address)
    code = """if True:
        import os, signal, sys, psycopg
        import nobounds as nb
        from nobounds.accounting.loss import PrivacyLoss
        budget = nb.Budget(path=sys.argv[1])
        execute, die = psycopg.Connection.execute, lambda *given: os.kill(os.getpid(), signal.SIGKILL)

        def traced(self, query, *given, **options):
            done = execute(self, query, *given, **options)
            return die() if query.startswith(sys.argv[2]) else done

        psycopg.Connection.execute = traced
        if sys.argv[2] == "end":
            psycopg.Connection.commit = die
        budget.charge(PrivacyLoss.pure(1), "x")
    """
    done = subprocess.run([sys.executable, "-c", code, address, statement], capture_output=True)
    assert done.returncode == -9, done.stderr
    budget = nb.Budget(path=address)
    assert budget.remaining == 3
    budget.charge(PrivacyLoss.pure(1), "x")


def test_a_server_that_is_not_there_is_a_plain_error(server):
    """Without a password in it, and nothing is released."""
    with pytest.raises(OSError, match="nothing is released") as caught:
        nb.Budget(path="postgresql://me:secret@127.0.0.1:1/shop")
    assert "secret" not in str(caught.value) and functions.SCHEMA == "nobounds"
    with pytest.raises(ValueError, match="shares are for a budget in PostgreSQL"):
        nb.Budget(epsilon=1).share("ana", epsilon=1)
