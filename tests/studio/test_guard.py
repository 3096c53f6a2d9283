"""The studio answers the browser that was given its address, and no other page, name or machine."""

import re
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.studio import people, started

import nobounds as nb
from nobounds.studio import pages

pytestmark = pytest.mark.xdist_group("studio")
SPEND = {"statistic": "mean", "column": "income", "amount": "0.5", "spending": "epsilon"}


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio")
    people(folder / "people.parquet")
    nb.Budget(epsilon=1, path=folder / "people.budget")
    with started(folder) as found:
        yield found.enter()


@pytest.mark.medium
@pytest.mark.parametrize("cookies", ['a={"x":1}', "x=hello world", "n@me=1", "=", "a=1; a=2"])
def test_cookies_of_others_do_not_lock_anyone_out(studio, cookies):
    """Other servers on this machine set cookies too, and not always well-formed ones."""
    assert studio.ask("/plan", Cookie=f"{cookies}; {studio.cookie}")[0] == 200


@pytest.mark.parametrize("path", ["/", "/plan", "/release", "/history", "/forecast", "/static/studio.css", "/none"])
@pytest.mark.medium
def test_without_the_secret_there_is_nothing(studio, path):
    """No cookie, a wrong cookie and a wrong secret get one sentence, on every path."""
    name = studio.cookie.partition("=")[0]
    for cookie in ("", f"{name}=wrong", f"{name}=", "other=1", '=;;"='):
        status, _, text = studio.ask(path, Cookie=cookie)
        assert status == 403 and "people" not in text
    assert studio.ask("/?token=wrong", Cookie="")[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
    ids=str,
)
def test_other_pages_and_names_are_refused(studio, headers):
    """Even with the cookie; and nothing is charged."""
    before = len(studio.charges())
    assert studio.ask("/plan", **headers)[0] == 403
    assert studio.ask("/release", method="POST", body=SPEND | {"key": studio.key()}, **headers)[0] == 403
    assert len(studio.charges()) == before


def test_a_form_must_say_where_it_comes_from(studio):
    """A request that changes something and has no origin is refused."""
    body = SPEND | {"key": studio.key()}
    assert studio.ask("/release", method="POST", body=body, Origin=None)[0] == 403
    assert not studio.charges()


def test_only_this_machine_can_reach_it(studio):
    """It listens on 127.0.0.1 and on no other address of this machine."""
    port = urlsplit(studio.address).port
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=5)


def test_every_answer_forbids_what_the_page_does_not_need(studio):
    """Nothing is loaded from elsewhere, framed, cached or sniffed, errors and refusals included."""
    for path, cookie in (("/plan", studio.cookie), ("/none", studio.cookie), ("/plan", "")):
        headers = {name.lower(): value for name, value in studio.ask(path, Cookie=cookie)[1].items()}
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
        assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


def test_no_file_of_the_page_names_another_host():
    """Templates, styles and scripts have no address in them but that of the SVG standard."""
    folder = Path(pages.__file__).parent
    files = [path for path in folder.rglob("*") if path.suffix in {".html", ".css", ".js", ".svg"}]
    assert len(files) >= 10
    for path in files:
        assert set(re.findall(r"(?:https?:)?//[\w.]+", path.read_text())) <= {"http://www.w3.org"}, path


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"key": "x"},
        SPEND | {"key": "x" * 10_000},
        SPEND | {"column": "nothing"},
        SPEND | {"column": "<script>alert(1)</script>"},
        SPEND | {"amount": "nan"},
        SPEND | {"amount": "1e999999999"},
        SPEND | {"statistic": "__class__"},
        SPEND | {"statistic": "group_by"},
        SPEND | {"lower": "9", "upper": "1"},
        SPEND | {"column": ["income"] * 3000},
    ],
    ids=lambda body: str(body)[:60],
)
def test_a_bad_form_is_answered_in_words(studio, body):
    """No traceback, no charge, and what was sent comes back as text, not as a page."""
    before = len(studio.charges())
    status, _, text = studio.ask("/release", method="POST", body={"key": studio.key()} | body)
    assert status in (400, 409) and "Traceback" not in text and "<script>alert" not in text
    assert len(studio.charges()) == before


@pytest.mark.medium
def test_a_page_that_there_is_not_is_a_sentence(studio):
    """Names of releases that could be paths are looked for nowhere."""
    for path in (
        "/none",
        "/releases/none",
        "/releases/../../etc/passwd",
        "/releases/%2e%2e%2fpeople.budget/release.json",
    ):
        status, _, text = studio.ask(path)
        assert status == 404 and "no such page" in text


@pytest.mark.medium
def test_a_release_by_hand(studio):
    """A form with its key gives a release once; its page and its downloads are there."""
    body = SPEND | {"key": studio.key()}
    status, headers, _ = studio.ask("/release", method="POST", body=body)
    assert status == 303
    page = headers["location"]
    assert studio.ask("/release", method="POST", body=body)[1]["location"] == page
    assert len(studio.charges()) == 1
    assert nb.Release.from_json(studio.ask(f"{page}/release.json")[2]).loss.epsilon == 0.5
    assert studio.ask(f"{page}/again.sh")[2].startswith("nobounds mean people.parquet")
    assert studio.ask(f"{page}/other")[0] == 404
