"""The studio in a real browser: planned, spent, refused, broken, killed, and looked at in the dark."""

import http.server
import re
import threading
import time

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright
from support.studio import CHROMIUM, FLAGS, people, started

import nobounds as nb

pytestmark = [
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
WAIT = 60_000  # milliseconds; on a busy machine a forecast takes a while
expect.set_options(timeout=WAIT)


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def folder(tmp_path):
    people(tmp_path / "people.parquet")
    return tmp_path


@pytest.fixture
def funded(folder):
    nb.Budget(epsilon=1, path=folder / "people.budget")
    return folder


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


def enter(page, studio):
    """Open the address that was printed; the page behind it leads on at once."""
    page.goto(studio.address)
    page.wait_for_url(lambda found: "token" not in found)


def choose(page, statistic, *columns, amount=None):
    """Fill in the form."""
    page.select_option("#statistic", statistic)
    for name in columns:
        page.get_by_label(name, exact=True).check()
    if amount is not None:
        page.fill("#amount", amount)
        page.locator("#amount").blur()


def expected(page, amount):
    """What the error stays below 95% of the time, for an amount."""
    page.fill("#amount", amount)
    page.locator("#amount").blur()
    expect(page.locator("#forecast")).not_to_have_attribute("aria-busy", "true")
    return float(re.search(r"at most (\d+(?:\.\d+)?)", page.locator("#said").text_content()).group(1))


def spend(page):
    page.get_by_role("button", name=re.compile("^Spend")).click()


@pytest.mark.medium
def test_from_nothing_to_a_release(browser, folder, page):
    """No budget, a budget, a plan whose error moves with epsilon, a release, its downloads, the history."""
    with started(folder) as studio:
        enter(page, studio)
        expect(page.get_by_role("heading", level=1)).to_have_text("A budget first")
        page.fill("#epsilon", "2")
        page.get_by_role("button", name="Make the budget").click()
        page.wait_for_url("**/plan")

        page.get_by_role("button", name="Forecast the error").click()  # the summary, as it stands
        expect(page.locator("#said")).to_contain_text("quantiles")
        expect(page.locator("#said")).to_contain_text("ranks")

        choose(page, "count")
        page.check("text=income")
        weak, strong = expected(page, "0.1"), expected(page, "2")
        assert 15 < weak / strong < 40  # Laplace noise: twenty times less, up to rounding
        expect(page.locator("#curve polyline")).to_have_count(2)
        assert not studio.charges()

        choose(page, "quantile", amount="0.5")
        page.get_by_role("button", name="Go on to the release").click()
        page.wait_for_url("**/release?**")
        expect(page.get_by_role("button", name="Spend epsilon 0.5 and release")).to_be_visible()
        spend(page)
        page.wait_for_url("**/releases/*")
        assert [charge.loss.epsilon for charge in studio.charges()] == [0.5]
        expect(page.locator("#remaining")).to_have_text("1.5")

        with page.expect_download() as download:
            page.get_by_role("link", name="The release (JSON)").click()
        release = nb.Release.from_json(download.value.path().read_text())
        assert release.statistic == "quantile" and release.loss.epsilon == 0.5
        assert 15_000 < release.value < 30_000  # the median is about 22,000
        with page.expect_download() as download:
            page.get_by_role("link", name="The picture (PNG)").click()
        assert download.value.path().read_bytes().startswith(b"\x89PNG")
        assert download.value.suggested_filename.endswith(".png")
        assert page.evaluate("document.querySelector('.picture img').naturalWidth") > 500
        with page.expect_download() as download:
            page.get_by_role("link", name="The code (Python)").click()
        assert "table.quantile('income', '0.5', epsilon='0.5')" in download.value.path().read_text()

        page.get_by_role("link", name="History").click()
        expect(page.get_by_role("row", name="quantile 1/2 of income")).to_be_visible()
        page.get_by_role("link", name="One quantile (0.5): income").click()
        page.wait_for_url("**/releases/*")
        studio.kill()
        with started(folder) as again:  # it is still there for the next studio
            enter(page, again)
            page.get_by_role("link", name="History").click()
            expect(page.get_by_role("link", name="One quantile (0.5): income")).to_be_visible()


@pytest.mark.medium
def test_a_budget_that_is_too_small_refuses_in_words(funded, page):
    """Nothing is charged, the form keeps what was typed, and less goes through."""
    with started(funded) as studio:
        enter(page, studio)
        page.get_by_role("link", name="Release").click()
        choose(page, "mean", "income", amount="1.5")
        spend(page)
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("you asked for epsilon 1.5, but 1 of 1 is left")
        expect(alert).to_contain_text("Nothing was charged")
        expect(alert).to_be_focused()
        expect(page.locator("#amount")).to_have_value("1.5")
        assert not studio.charges()
        page.fill("#amount", "1")
        spend(page)
        page.wait_for_url("**/releases/*")
        assert len(studio.charges()) == 1


@pytest.mark.medium
def test_a_bad_file_is_said_in_words_and_costs_nothing(funded, page):
    """The plan and the release say it and cannot spend, the history still answers, and a mended file goes on."""
    path = funded / "people.parquet"
    whole = path.read_bytes()
    with started(funded) as studio:
        path.write_bytes(b"not a table at all")
        enter(page, studio)
        for name in ("Plan", "Release"):
            page.get_by_role("link", name=name, exact=True).click()
            expect(page.get_by_role("alert")).to_contain_text("The file cannot be read")
        expect(page.get_by_role("button", name=re.compile("^Spend"))).to_be_disabled()
        page.get_by_role("link", name="History").click()
        expect(page.get_by_text("Nothing was spent yet.")).to_be_visible()
        path.write_bytes(whole)
        page.get_by_role("link", name="Release", exact=True).click()
        expect(page.get_by_role("alert")).to_have_count(0)
        path.write_bytes(whole[:4] + b"\xff" * 200 + whole[204:])  # a fault that only reading the records shows
        choose(page, "mean", "income", amount="0.5")
        spend(page)
        expect(page.get_by_role("alert")).to_contain_text("The budget was charged (epsilon 0.5")
        assert len(studio.charges()) == 1


@pytest.mark.medium
def test_two_tabs_share_the_budget_and_no_form_counts_twice(browser, funded, page):
    """The second tab is refused what the first has spent; sending the first form again charges nothing."""
    with started(funded) as studio:
        enter(page, studio)
        second = page.context.new_page()
        for tab in (page, second):
            tab.goto(f"{studio.root}/release")
            choose(tab, "mean", "income", amount="0.6")
        key = page.locator("[name=key]").get_attribute("value")
        spend(page)
        page.wait_for_url("**/releases/*")
        first = page.url
        spend(second)
        expect(second.get_by_role("alert")).to_contain_text("0.4 of 1 is left")
        sent = f"key={key}&statistic=mean&column=income&amount=0.6"
        again = "body => fetch('/release', {method: 'POST', body: new URLSearchParams(body)}).then(got => got.url)"
        assert page.evaluate(again, sent) == first
        assert [charge.loss.epsilon for charge in studio.charges()] == [0.6]


@pytest.mark.medium
def test_killed_in_mid_release_nothing_is_lost(folder, page):
    """The charge is in the ledger, the next studio shows it, and the old form sent again is not charged."""
    people(folder / "people.parquet", rows=3_000_000)
    nb.Budget(epsilon=20, path=folder / "people.budget")
    for attempt in range(1, 6):
        with started(folder) as studio:
            enter(page, studio)
            page.goto(f"{studio.root}/release")
            choose(page, "describe", amount="1")
            body = {"key": page.locator("[name=key]").get_attribute("value"), "statistic": "mean", "column": "income"}
            spend_quietly(page)
            while len(studio.charges()) < attempt:
                time.sleep(0.001)
            studio.kill()
        if not list(folder.glob("people.budget.releases/*.json")):
            break
    else:
        pytest.fail("the release was faster than the kill, five times")
    with started(folder) as again:
        enter(page, again)
        page.get_by_role("link", name="History").click()
        expect(page.get_by_role("row", name=re.compile("describe"))).to_have_count(attempt)
        expect(page.get_by_text("None yet.")).to_be_visible()
        status, _, text = again.enter().ask("/release", method="POST", body=body | {"amount": "1"})
        assert status == 400 and "nothing was charged by sending it now" in text
        assert len(again.charges()) == attempt


def spend_quietly(page):
    """Send the form and do not wait for its answer, which may never come."""
    page.evaluate("setTimeout(() => document.querySelector('.spend').click())")


@pytest.mark.medium
def test_another_page_cannot_spend(browser, funded, page):
    """A form on another origin that sends itself to the studio is refused, though the browser has the cookie."""
    with started(funded) as studio:
        enter(page, studio)
        key = studio.enter().key()
        form = (
            f"<form method=post action={studio.root}/release><input name=key value={key}>"
            "<input name=statistic value=count><input name=amount value=1></form>"
            "<script>document.forms[0].submit()</script>"
        )
        with serving(form) as address:
            page.goto(address)
            page.wait_for_url(f"{studio.root}/release")
            expect(page.locator("body")).to_contain_text("refuses requests from other pages")
        assert not studio.charges()


@pytest.mark.medium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_read_it(browser, funded, scheme):
    """No rule of axe is broken on any page, light or dark, and a small window does not scroll sideways."""
    context = browser.new_context(color_scheme=scheme, viewport={"width": 340, "height": 700})
    context.set_default_timeout(WAIT)
    page = context.new_page()
    with started(funded) as studio:
        enter(page, studio)
        seen = []
        look(page, seen)
        page.goto(f"{studio.root}/plan?statistic=count&amount=1&n=100&family=normal")
        expect(page.locator("#curve polyline")).to_have_count(2)
        look(page, seen)
        page.goto(f"{studio.root}/release")
        look(page, seen)
        choose(page, "describe", amount="5")
        spend(page)
        expect(page.get_by_role("alert")).to_be_visible()
        look(page, seen)
        page.fill("#amount", "1")
        spend(page)
        page.wait_for_url("**/releases/*")
        look(page, seen)
        page.goto(f"{studio.root}/history")
        look(page, seen)
        page.goto(f"{studio.root}/none")
        look(page, seen)
        (funded / "people.parquet").write_bytes(b"")
        page.goto(f"{studio.root}/plan")
        look(page, seen)
        assert len(set(seen)) == 5
    context.close()


def look(page, seen):
    found = Axe().run(page).response["violations"]
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), page.url
    seen.append(page.title() + page.url.partition("?")[0])


@pytest.mark.medium
def test_keys_alone_are_enough(funded, page):
    """From the first tab stop, which skips to the page, to a release, without a pointer."""
    with started(funded) as studio:
        enter(page, studio)
        page.goto(f"{studio.root}/release")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the page"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "statistic"
        page.keyboard.type("Count")
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.classList.contains('spend')"):
                break
        page.keyboard.press("Enter")
        page.wait_for_url("**/releases/*")
        assert (studio.charges()[0].what, studio.charges()[0].label) == ("count of rows", "people.parquet")


@pytest.mark.medium
def test_it_works_without_scripts(browser, funded):
    """A forecast and a release with scripts switched off."""
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(WAIT)
    page = context.new_page()
    with started(funded) as studio:
        enter(page, studio)
        page.select_option("#statistic", "count")
        page.get_by_role("button", name="Forecast the error").click()
        expect(page.locator("#said")).to_contain_text("on average")
        page.get_by_role("button", name="Go on to the release").click()
        spend(page)
        page.wait_for_url("**/releases/*")
        assert len(studio.charges()) == 1
    context.close()


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
