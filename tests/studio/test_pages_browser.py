"""The studio in a real browser: five tasks from an empty start, refusals, crashes, and every page looked at."""

import csv
import http.server
import io
import json
import random
import re
import threading
import time

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright
from support.studio import (
    CHROMIUM,
    FLAGS,
    enter,
    new_budget,
    open_file,
    people,
    press,
    show_columns,
    spend,
    started,
    tick,
    to_estimate,
)

import nobounds as nb
from nobounds.accounting.budget import read

pytestmark = [
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
WAIT = 30_000  # milliseconds; on a busy machine an estimate takes a while
expect.set_options(timeout=WAIT)
WARDS = ("Cardiology", "Surgery", "Emergency", "Children", "Maternity")


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def page(browser):
    """A page of its own window; it fails the test if a script does, or if it asks any host but 127.0.0.1."""
    context = browser.new_context()
    context.set_default_timeout(WAIT)
    opened = context.new_page()
    wrong = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda sent: None if sent.url.startswith("http://127.0.0.1:") else wrong.append(sent.url))
    yield opened
    context.close()
    assert wrong == []


@pytest.fixture
def funded(tmp_path):
    """A table of people, and a budget for it."""
    people(tmp_path / "people.parquet")
    nb.Budget(epsilon=1, path=tmp_path / "people.budget")
    return tmp_path


def hospital(folder, rows=16_000):
    draw = random.Random(1)
    with (folder / "hospital.csv").open("w") as file:
        file.write("patient,ward,wait_minutes,age\n")
        for _ in range(rows):
            wait = round(draw.lognormvariate(3.2, 0.7))
            file.write(f"p{draw.randrange(9000)},{draw.choice(WARDS)},{wait},{draw.randrange(95)}\n")


def salaries(folder):
    draw, names = random.Random(2), ("Sales", "Research", "Support")
    with (folder / "salaries.csv").open("w") as file:
        file.write("name,department,salary\n")
        for k in range(9000):
            file.write(f"n{k},{draw.choice(names)},{draw.lognormvariate(10.8, 0.4):.2f}\n")


def cells(page, title):
    """The rows of the table with a title, each as its texts."""
    rows = page.get_by_role("region", name=f"Table: {title}").locator("tbody tr").all()
    return [[each.inner_text() for each in row.locator("th, td").all()] for row in rows]


def saved(page, link):
    """The name and the bytes of a download."""
    with page.expect_download() as download:
        page.get_by_role("link", name=link, exact=True).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


@pytest.mark.medium
def test_waiting_times_by_ward_with_the_patient_as_unit(tmp_path, page):
    """A file, whose row it is, a budget, a condition, groups, an estimate, another plan beside it, and the answers."""
    hospital(tmp_path)
    with started(tmp_path) as studio:
        enter(page, studio)
        open_file(page, "hospital.csv")
        expect(page.get_by_text("wait_minutes")).to_have_count(0)  # names are shown once the user says they are names
        show_columns(page)
        page.get_by_label("A person or case can have several rows").check()
        page.select_option("#unit", "patient")
        page.fill("#rows_per_unit", "2")
        new_budget(page)
        tick(page, "Average of wait_minutes", "Median of wait_minutes", "wait_minutes is never below 0")
        page.fill("#where", "age >= 18")
        page.select_option("#by1", "ward")
        page.fill("#keys", ", ".join(WARDS))
        to_estimate(page)
        page.fill("#rows", "13,000")
        page.get_by_label("Typical value of wait_minutes").fill("25")
        press(page, "Estimate")
        expect(page.locator("#said")).to_contain_text("average of wait_minutes")
        expect(page.locator("#said .few")).to_have_count(0)
        expect(page.get_by_role("region", name="Margins by privacy level")).to_contain_text("too few rows")
        budget = tmp_path / "hospital.budget"
        assert not read(budget).history

        press(page, "Keep this plan, and change the question")
        page.wait_for_url("**/question")
        expect(page.locator("#where")).to_have_value("age >= 18")
        page.get_by_label(re.compile("^Strong 0.5")).check()
        to_estimate(page)
        heads = page.get_by_role("region", name="Expected answers").locator("thead th")
        expect(heads.nth(1)).to_contain_text("Kept plan: Balanced")
        expect(heads.nth(2)).to_contain_text("This plan: Strong")
        press(page, "Go back to the kept plan")
        spend(page)
        page.wait_for_url("**/answers/*")
        medians = cells(page, "Median of wait_minutes by ward")
        assert [row[0] for row in medians] == list(WARDS)
        assert all(20 < float(row[1]) < 30 and " to " in row[2] for row in medians)  # the median is about 24.5
        expect(page.get_by_role("status").first).to_contain_text("Of each patient at most 2 rows count")
        expect(page.locator("svg.chart")).to_have_count(3)
        expect(page.locator("#remaining")).to_have_text("2")
        (charge,) = read(budget).history
        assert (charge.loss.epsilon, charge.loss.unit, charge.label) == (1, "patient", "hospital.csv")
        assert "where age >= 18" in charge.what


@pytest.mark.medium
def test_salaries_by_department_and_all_that_can_be_taken_along(tmp_path, page):
    """Every download is there: a table, all digits, charts, a script, a command, a notebook and a report."""
    salaries(tmp_path)
    with started(tmp_path) as studio:
        enter(page, studio)
        open_file(page, "salaries.csv")
        show_columns(page)
        new_budget(page)
        tick(page, "Average of salary", "Percentiles of salary", "salary is never below 0")
        page.fill("#percentiles", "25, 75, 90")
        page.select_option("#by1", "department")
        page.fill("#keys", "Sales\nResearch\nSupport")
        page.get_by_label(re.compile("^Weaker 2")).check()
        to_estimate(page)
        spend(page)
        page.wait_for_url("**/answers/*")
        for name, value, _ in cells(page, "90th percentile of salary by department"):
            assert name in ("Sales", "Research", "Support") and 70_000 < float(value.replace(",", "")) < 95_000
        assert "e+" not in page.locator("main").inner_text()

        name, table = saved(page, "Table (CSV, for spreadsheets)")
        rows = list(csv.DictReader(io.StringIO(table.decode())))
        assert name.startswith("salaries-") and [row["department"] for row in rows] == ["Sales", "Research", "Support"]
        answers = nb.Answers.from_json(saved(page, "All digits (JSON)")[1].decode())
        assert float(rows[0]["mean(salary)"]) == answers["mean(salary)"]["Sales"]
        assert saved(page, "Charts (PNG)")[1].startswith(b"\x89PNG")
        assert saved(page, "Charts (SVG)")[1].startswith(b"<svg ")
        script = saved(page, "Python script")[1].decode()
        assert "'mean(salary, lower=0)'" in script and "epsilon='2'" in script
        assert saved(page, "Shell command")[1].startswith(b"nobounds agg ")
        nbformat.validate(nbformat.reads(saved(page, "Notebook")[1].decode(), as_version=4))
        report = saved(page, "Report (HTML file)")[1].decode()
        assert "<style>" in report and "Signature" in report and "<script" not in report

        page.get_by_role("link", name="Report to read and print").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("by department")
        assert len(re.findall(rb"/Type /Page\b", page.pdf(format="A4"))) == 1


@pytest.mark.medium
def test_medians_of_a_survey_with_few_answers(tmp_path, page):
    """The estimate says what will be left out, and the answers mark it."""
    draw = random.Random(3)
    with (tmp_path / "survey.csv").open("w") as file:
        file.write("town,score\n")
        for town, rows in (("Aldorf", 900), ("Belingen", 900), ("Cleben", 6)):
            file.writelines(f"{town},{draw.randint(1, 100)}\n" for _ in range(rows))
    with started(tmp_path) as studio:
        enter(page, studio)
        open_file(page, "survey.csv")
        show_columns(page)
        new_budget(page)
        tick(page, "Median of score")
        page.select_option("#by1", "town")
        page.fill("#keys", "Aldorf\nBelingen\nCleben")
        to_estimate(page)
        for rows, few in (("90", 1), ("3000", 0)):
            page.fill("#rows", rows)
            press(page, "Estimate")
            expect(page.locator("#said .few")).to_have_count(few)
        spend(page)
        page.wait_for_url("**/answers/*")
        medians = {row[0]: row[1] for row in cells(page, "Median of score by town")}
        assert 40 < float(medians["Aldorf"]) < 60
        assert medians["Cleben"] in ("too few rows", "too few numbers", "no rows seen")
        expect(page.get_by_role("status").first).to_contain_text("left out because there are too few values")
        expect(page.locator("svg.chart").last).to_contain_text(medians["Cleben"])


@pytest.mark.medium
def test_a_refused_budget(funded, page):
    """Nothing is charged, the page says what is left, and a stronger privacy level goes through."""
    with started(funded) as studio:
        enter(page, studio)
        open_file(page, "people.parquet")
        press(page, "Continue to the budget")
        expect(page.get_by_label("people.budget")).to_be_checked()
        press(page, "Continue to the question")
        tick(page, "Average of income")
        page.get_by_label(re.compile("^Weaker 2")).check()
        to_estimate(page)
        spend(page)
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("nothing was charged")
        expect(alert).to_contain_text("you asked for epsilon 2, but 1 of 1 is left")
        expect(alert).to_be_focused()
        assert not studio.charges()
        alert.get_by_role("link", name="change the question").click()
        page.get_by_label(re.compile("^Strong 0.5")).check()
        to_estimate(page)
        spend(page)
        page.wait_for_url("**/answers/*")
        assert [charge.loss.epsilon for charge in studio.charges()] == [0.5]
        expect(page.locator("#remaining")).to_have_text("0.5")


@pytest.mark.medium
def test_a_file_with_semicolons_and_decimal_commas(tmp_path, page):
    """As it was written in Germany: stated on the page, read as stated, and in the script that comes with it."""
    draw = random.Random(4)
    with (tmp_path / "mieten.csv").open("w", encoding="cp1252") as file:
        file.write("straße;miete;einzug\n")
        for k in range(3000):
            rent = f"{draw.lognormvariate(6.5, 0.4):.2f}".replace(".", ",")
            file.write(f"Weg {k};{rent};{draw.randint(1, 28)}.{draw.randint(1, 12)}.{draw.randint(1990, 2023)}\n")
    with started(tmp_path) as studio:
        enter(page, studio)
        with (tmp_path / "mieten.csv").open("rb") as file:
            page.set_input_files("#upload", {"name": "mieten.csv", "mimeType": "text/csv", "buffer": file.read()})
        expect(page.locator("#dropped")).to_have_text("mieten.csv is chosen.")
        press(page, "Use this file")
        page.wait_for_url("**/data")
        page.get_by_text("More about the text").click()
        show_columns(page, delimiter=";", decimal=",", encoding="cp1252")
        expect(page.get_by_role("rowheader", name="straße")).to_be_visible()
        page.get_by_label("Type of einzug").select_option("date")
        page.select_option("#dates", "%d.%m.%Y")
        new_budget(page)
        tick(page, "Median of miete", "Median of einzug", "Percentiles of miete")
        to_estimate(page)
        spend(page)
        page.wait_for_url("**/answers/*")
        rows = {row[0]: row[1:] for row in cells(page, "Answers")}
        assert 600 < float(rows["Median of miete"][0]) < 730  # the median is about 665
        assert re.fullmatch(r"200\d-\d\d-\d\d", rows["Median of einzug"][0])
        expect(page.locator("svg.chart")).to_have_count(1)  # of miete: einzug has one number, which is no chart
        script = saved(page, "Python script")[1].decode()
        assert "delimiter=';', decimal=','" in script and "'format': '%d.%m.%Y'" in script
        (tmp_path / "script.py").write_text(script)


@pytest.mark.slow
def test_a_summary_of_every_column(tmp_path, page):
    """One box: each column has its own table and chart, also in the report, and a script that asks the same again."""
    people(tmp_path / "people.parquet", rows=20_000)
    with started(tmp_path) as studio:
        enter(page, studio)
        open_file(page, "people.parquet")
        new_budget(page)
        page.get_by_label("A summary of every column").check()
        tick(page, "income is never below 0")
        to_estimate(page)
        page.fill("#rows", "20000")
        press(page, "Estimate")
        expect(page.locator("#said tbody tr").filter(has_text="of age")).to_have_count(7)
        look(page)
        spend(page)
        page.wait_for_url("**/answers/*")
        look(page)
        expect(page.locator("h1")).to_have_text("Summary of income, age, user_id")
        shown = {name: value.replace(",", "") for name, value, *_ in cells(page, "age")}
        assert list(shown)[:2] == ["Smallest", "25th percentile"] and 52 < float(shown["Median"]) < 55
        assert cells(page, "income")[-1][0] == "Spread" and page.locator("svg.chart").count() == 3
        name, script = saved(page, "Python script")
        assert name.endswith(".py") and script.count(b"maximum(") == 3
        page.goto(f"{page.url}/report")
        look(page)
        assert len(cells(page, "age")) == 7


@pytest.mark.medium
def test_mistakes_stand_beside_their_fields(funded, page):
    """Each in words, tied to its field for a screen reader, and the first one has the focus."""
    with started(funded) as studio:
        enter(page, studio)
        press(page, "Open the file")
        expect(page.locator("#file-error")).to_contain_text("Choose one of the files")
        open_file(page, "people.parquet")
        page.get_by_label("A person or case can have several rows").check()
        page.fill("#rows_per_unit", "many")
        press(page, "Continue to the budget")
        unit = page.locator("#unit")
        expect(unit).to_be_focused()
        assert unit.get_attribute("aria-describedby") == "unit-error"
        expect(page.locator("#unit-error")).to_have_text("Choose the column that identifies the person.")
        expect(page.locator("#rows_per_unit-error")).to_contain_text("whole number")
        page.get_by_label("Each row is one person or case").check()
        press(page, "Continue to the budget")
        press(page, "Continue to the question")
        page.get_by_label("Number of rows").uncheck()
        page.fill("#where", "agee > 3")
        press(page, "Continue to the estimate")
        expect(page.locator("#ask-error")).to_contain_text("Tick at least one box")
        tick(page, "Average of age")
        press(page, "Continue to the estimate")
        expect(page.locator("#where-error")).to_contain_text("agee")
        expect(page.locator("#where")).to_be_focused()
        page.fill("#where", "")
        page.select_option("#by1", "region")
        page.locator("[name=names][value=unknown]").check()
        press(page, "Continue to the estimate")
        expect(page.locator("#names-error")).to_contain_text("does not allow groups whose names are not listed")
        assert not studio.charges()


@pytest.mark.medium
def test_work_can_be_left_and_taken_up_again(funded, page):
    """The start page leads back to the step, and what was typed is there."""
    with started(funded) as studio:
        enter(page, studio)
        open_file(page, "people.parquet")
        press(page, "Continue to the budget")
        press(page, "Continue to the question")
        tick(page, "Average of age", "Total of income")
        to_estimate(page)
        page.goto(studio.root)
        page.get_by_role("listitem").get_by_role("link", name="people.parquet").click()
        page.wait_for_url("**/estimate")
        page.get_by_role("link", name="3 Question").click()
        expect(page.get_by_label("Total of income", exact=True)).to_be_checked()


@pytest.mark.medium
def test_a_database_table(tmp_path, page):
    """A DuckDB file below the start folder: its tables by name, and answers from one of them."""
    import duckdb

    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("create table sales as select i % 100 + 0.5 as amount, 'x' as note from range(4000) t(i)")
        connection.execute('create table "odd ""name" as select 1 as one')
    with started(tmp_path) as studio:
        enter(page, studio)
        page.get_by_text("A table of a database").click()
        page.get_by_label("shop.duckdb").check()
        press(page, "Show its tables")
        page.get_by_label("Table").select_option("sales")
        press(page, "Use this table")
        page.wait_for_url("**/data")
        new_budget(page)
        tick(page, "Average of amount")
        to_estimate(page)
        spend(page)
        page.wait_for_url("**/answers/*")
        rows = {row[0]: row[1] for row in cells(page, "Answers")}
        assert 45 < float(rows["Average of amount"]) < 55
        assert 'select * from "sales"' in saved(page, "Python script")[1].decode()


@pytest.fixture
def in_postgresql(postgres):
    """A table in PostgreSQL, by the URL of its server."""
    psycopg = pytest.importorskip("psycopg")
    where = dict(part.split("=") for part in postgres.split())
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("drop table if exists wages")
        connection.execute("create table wages as select 1000.0 + k % 500 as wage from generate_series(1, 4000) as k")
        yield f"postgresql://{where['user']}@/{where['dbname']}?host={where['host']}"
        connection.execute("drop table wages")


@pytest.fixture
def in_mariadb(mariadb):
    """A table in MariaDB, by the URL of its server."""
    with mariadb.begin() as connection:
        connection.exec_driver_sql("create or replace table wages (wage decimal(9, 1))")
        connection.exec_driver_sql("insert into wages select 1000.0 + seq %% 500 from seq_1_to_4000")
    return mariadb.url.set(drivername="mariadb").render_as_string(hide_password=False)


@pytest.mark.medium
@pytest.mark.parametrize("server", ["PostgreSQL", "MariaDB"])
def test_a_table_of_a_server(tmp_path, page, server, request):
    """By its connection string, which is shown nowhere; the answers are those of the table."""
    url = request.getfixturevalue(f"in_{server.lower()}")
    with started(tmp_path) as studio:
        enter(page, studio)
        page.get_by_text("A table of a database").click()
        page.get_by_label(server).check()
        page.get_by_role("textbox", name="Connection string").fill(url)
        press(page, "Show its tables")
        page.get_by_label("Table").select_option("wages")
        press(page, "Use this table")
        page.wait_for_url("**/data")
        new_budget(page)
        tick(page, "Average of wage")
        to_estimate(page)
        spend(page)
        page.wait_for_url("**/answers/*")
        rows = {row[0]: row[1] for row in cells(page, "Answers")}
        assert 1200 < float(rows["Average of wage"].replace(",", "")) < 1300
        script = saved(page, "Python script")[1].decode()
        assert 'select * from "wages"' in script and url not in page.content() + script
        assert f"wages ({server})" in page.content()


@pytest.mark.medium
def test_two_tabs_share_the_budget_and_no_form_counts_twice(funded, page):
    """The second tab is refused what the first has spent; sending the first form again charges nothing."""
    with started(funded) as studio:
        enter(page, studio)
        studio.enter()
        place = studio.work(question={"ask": "mean:income", "level": "other", "amount": "0.6"})
        second = page.context.new_page()
        for tab in (page, second):
            tab.goto(f"{studio.root}{place}/estimate")
        key = page.locator("[name=key]").get_attribute("value")
        spend(page)
        page.wait_for_url("**/answers/*")
        first = page.url
        spend(second)
        expect(second.get_by_role("alert")).to_contain_text("0.4 of 1 is left")
        again = "([to, key]) => fetch(to, {method: 'POST', body: new URLSearchParams({key})}).then(got => got.url)"
        assert page.evaluate(again, [f"{place}/answers", key]) == first
        assert [charge.loss.epsilon for charge in studio.charges()] == [0.6]


@pytest.mark.medium
def test_a_bad_file_is_said_in_words_and_costs_nothing(funded, page):
    """A file that is no table cannot spend; one whose records are damaged is charged, and the page says so."""
    path = funded / "people.parquet"
    whole = path.read_bytes()
    with started(funded) as studio:
        enter(page, studio)
        studio.enter()
        place = studio.work()
        path.write_bytes(b"not a table at all")
        page.goto(f"{studio.root}{place}/data")
        expect(page.get_by_role("alert")).to_contain_text("people.parquet cannot be read")
        page.goto(f"{studio.root}{place}/estimate")
        expect(page.get_by_role("alert")).to_contain_text("people.parquet cannot be read")
        assert not studio.charges()
        path.write_bytes(whole[:4] + b"\xff" * 200 + whole[204:])  # a fault that only reading the records shows
        page.goto(f"{studio.root}{place}/estimate")
        spend(page)
        expect(page.get_by_role("alert")).to_contain_text("The budget was charged (epsilon 0.5")
        assert len(studio.charges()) == 1


@pytest.mark.medium
def test_killed_while_it_answers_nothing_is_lost(tmp_path, page):
    """The charge is in the ledger, the next studio shows it, and the old form sent again is not charged."""
    people(tmp_path / "people.parquet", rows=3_000_000)
    nb.Budget(epsilon=20, path=tmp_path / "people.budget")
    boxes = ["mean:income", "median:income", "std:income", "mean:age", "std:age"]
    for attempt in range(1, 6):
        with started(tmp_path) as studio:
            enter(page, studio)
            place = studio.enter().work(question={"ask": boxes, "level": "1"})
            page.goto(f"{studio.root}{place}/estimate")
            key = page.locator("[name=key]").get_attribute("value")
            page.evaluate("setTimeout(() => document.querySelector('.spend').click())")  # the answer may never come
            while len(studio.charges()) < attempt:
                time.sleep(0.001)
            studio.kill()
        if not list(tmp_path.glob("people.budget.releases/*.json")):
            break
    else:
        pytest.fail("the answers were faster than the kill, five times")
    with started(tmp_path) as again:
        enter(page, again)
        place = again.enter().work(question={"ask": boxes, "level": "1"})
        page.goto(f"{again.root}{place}/answers")
        expect(page.get_by_role("row", name=re.compile("agg mean"))).to_have_count(attempt)
        expect(page.get_by_text("None yet.")).to_be_visible()
        status, _, text = again.ask(f"{place}/answers", method="POST", body={"key": key})
        assert status == 400 and "nothing was charged by sending it now" in text
        assert len(again.charges()) == attempt


@pytest.mark.medium
def test_another_page_cannot_spend(funded, page):
    """A form on another origin that sends itself to the studio is refused, though the browser has the cookie."""
    with started(funded) as studio:
        enter(page, studio)
        place = studio.enter().work()
        form = (
            f"<form method=post action={studio.root}{place}/answers><input name=key value={studio.key(place)}></form>"
            "<script>document.forms[0].submit()</script>"
        )
        with serving(form) as address:
            page.goto(address)
            page.wait_for_url(f"{studio.root}{place}/answers")
            expect(page.locator("body")).to_contain_text("refuses requests from other pages")
        assert not studio.charges()


@pytest.mark.medium
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [340, 800, 1600])
def test_everyone_can_read_it(browser, tmp_path, scheme, width):
    """No rule of axe is broken on any page, light or dark, and no window scrolls sideways."""
    hospital(tmp_path, rows=4000)
    nb.Budget(epsilon=1, path=tmp_path / "other.budget")
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 700})
    context.set_default_timeout(WAIT)
    page = context.new_page()
    with started(tmp_path) as studio:
        enter(page, studio)
        look(page)
        page.get_by_text("A table of a database").click()
        page.get_by_label("PostgreSQL").check()
        press(page, "Show its tables")
        look(page)
        open_file(page, "hospital.csv")
        press(page, "Show the columns")
        look(page)
        show_columns(page)
        page.get_by_label("A person or case can have several rows").check()
        press(page, "Continue to the budget")
        look(page)
        page.select_option("#unit", "patient")
        press(page, "Continue to the budget")
        page.wait_for_url("**/budget")
        page.get_by_label("A new budget").check()
        page.get_by_text("Expert settings").click()
        look(page)
        press(page, "Continue to the question")
        page.wait_for_url("**/question")
        tick(page, "Average of wait_minutes", "Median of wait_minutes", "Median of age")
        page.select_option("#by1", "ward")
        page.get_by_text("Expert settings").click()
        press(page, "Continue to the estimate")
        look(page)
        page.fill("#keys", "\n".join([*WARDS, "A ward whose name is as long as nobody would have thought"]))
        to_estimate(page)
        look(page)
        press(page, "Estimate")
        look(page)
        page.fill("#rows", "4000")
        press(page, "Estimate")
        expect(page.get_by_text("Error by privacy level")).to_be_visible()
        look(page)
        press(page, "Keep this plan, and change the question")
        page.get_by_label(re.compile("^Weak 4")).check()
        to_estimate(page)
        look(page)
        spend(page)
        expect(page.get_by_role("alert")).to_be_visible()
        look(page)
        press(page, "Go back to the kept plan")
        spend(page)
        page.wait_for_url("**/answers/*")
        for each in page.locator("details").all():
            each.locator("summary").click()
        look(page)
        place = page.url
        page.goto(f"{place}/report")
        look(page)
        page.goto(place.rpartition("/")[0])
        look(page)
        page.goto(f"{studio.root}/none")
        look(page)
    context.close()


def look(page):
    """Axe finds no fault with a page that has loaded with its style, and nothing sticks out of the window."""
    page.wait_for_load_state()
    found = Axe().run(page).response["violations"]
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), page.url


@pytest.mark.medium
def test_sixty_columns_and_twenty_groups(tmp_path, page):
    """A search narrows long lists, and twenty groups have a chart whose labels do not overlap."""
    draw = random.Random(5)
    names = [f"question_{k:02d}" for k in range(60)]
    with (tmp_path / "wide.csv").open("w") as file:
        file.write(",".join(["region", *names]) + "\n")
        for k in range(8000):
            file.write(",".join([f"r{k % 20}", *(str(draw.randint(1, 10)) for _ in names)]) + "\n")
    with started(tmp_path) as studio:
        enter(page, studio)
        open_file(page, "wide.csv")
        show_columns(page)
        page.fill("#search-columns", "question_4")
        assert page.locator("#column-rows tr:visible").count() == 10
        new_budget(page, "Generous")
        page.fill("#search-grid", "_17")
        assert page.locator("#grid-rows tr:visible").count() == 1
        tick(page, "Average of question_17")
        page.select_option("#by1", "region")
        page.fill("#keys", "\n".join(f"r{k}" for k in range(20)))
        page.get_by_label(re.compile("^Weak 4")).check()
        to_estimate(page)
        spend(page)
        page.wait_for_url("**/answers/*")
        assert len(cells(page, "Average of question_17 by region")) == 20
        overlaps = """svg => {
          const boxes = [...svg.querySelectorAll('text')].map(each => each.getBoundingClientRect());
          const touch = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top < a.bottom - 1;
          return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b => touch(a, b))).length; }"""
        for chart in page.locator("svg.chart").all():
            assert chart.evaluate(overlaps) == 0


@pytest.mark.medium
def test_keys_alone_are_enough(funded, page):
    """From the first tab stop, which skips to the page, to answers, without a pointer."""
    with started(funded) as studio:
        enter(page, studio)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the page"
        page.keyboard.press("Enter")
        steps = (
            ("[name=file]", "Space"),
            ("text=Open the file", "Enter"),
            ("text=Continue to the budget", "Enter"),
            ("text=Continue to the question", "Enter"),
            ("[name=level][value='1']", "Space"),
            ("text=Continue to the estimate", "Enter"),
            (".spend", "Enter"),
        )
        for what, key in steps:
            tab_to(page, what)
            page.keyboard.press(key)
            page.wait_for_load_state()
        page.wait_for_url("**/answers/*")
        assert (studio.charges()[0].what, studio.charges()[0].label) == ("agg count()", "people.parquet")


def tab_to(page, what):
    """Press Tab until an element has the focus."""
    wanted = page.locator(what).first
    wanted.wait_for()
    for _ in range(120):
        if wanted.evaluate("each => each === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{what} cannot be reached by keys")


@pytest.mark.medium
def test_it_works_without_scripts(browser, funded):
    """All five steps with scripts switched off; the first field that is wrong has the focus."""
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(WAIT)
    page = context.new_page()
    with started(funded) as studio:
        enter(page, studio)
        open_file(page, "people.parquet")
        press(page, "Continue to the budget")
        press(page, "Continue to the question")
        page.fill("#where", "agee = 1")
        press(page, "Continue to the estimate")
        expect(page.locator("#where")).to_be_focused()
        page.fill("#where", "age > 20")
        tick(page, "Average of age")
        to_estimate(page)
        page.fill("#rows", "3000")
        press(page, "Estimate")
        expect(page.locator("#said")).to_contain_text("average of age")
        spend(page)
        page.wait_for_url("**/answers/*")
        assert len(studio.charges()) == 1
    context.close()


@pytest.mark.medium
def test_hostile_names_and_keys_stay_text(tmp_path, page):
    """A column and groups that look like a page do nothing on it."""
    bad = "<img src=x onerror=alert(1)>"
    (tmp_path / "odd.csv").write_text(f'"{bad}",v\n' + "".join(f'"{bad}{k % 2}",{k % 50}\n' for k in range(3000)))
    with started(tmp_path) as studio:
        enter(page, studio)
        open_file(page, "odd.csv")
        show_columns(page)
        new_budget(page)
        tick(page, "Average of v")
        page.select_option("#by1", bad)
        page.fill("#keys", f"{bad}0\n{bad}1")
        to_estimate(page)
        spend(page)
        page.wait_for_url("**/answers/*")
        assert [row[0] for row in cells(page, f"Average of v by {bad}")] == [f"{bad}0", f"{bad}1"]
        expect(page.locator("img")).to_have_count(0)
        page.goto(f"{page.url}/report")
        expect(page.locator("img")).to_have_count(0)
        kept = json.loads(next(tmp_path.glob("*.releases/*.json")).read_text())
        assert kept["inquiry"]["question"]["by1"] == [bad]


class serving:
    """A page on another port of this machine, which is another origin."""

    def __init__(self, text):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}/"

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
