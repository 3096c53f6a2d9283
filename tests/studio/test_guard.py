"""The studio answers the browser that was given its address, and no other page, name or machine."""

import re
import signal
import socket
import stat
import tempfile
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.studio import people, started

import nobounds as nb
from nobounds.studio import pages

pytestmark = pytest.mark.xdist_group("studio")
QUESTION = {"ask": "mean:income", "level": "0.5"}


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio")
    people(folder / "people.parquet")
    nb.Budget(epsilon=1, path=folder / "people.budget")
    with started(folder) as found:
        yield found.enter()


@pytest.fixture(scope="module")
def place(studio):
    """Work that is ready to be asked."""
    return studio.work()


@pytest.mark.medium
@pytest.mark.parametrize("cookies", ['a={"x":1}', "x=hello world", "n@me=1", "=", "a=1; a=2"])
def test_cookies_of_others_do_not_lock_anyone_out(studio, cookies):
    """Other servers on this machine set cookies too, and not always well-formed ones."""
    assert studio.ask("/", Cookie=f"{cookies}; {studio.cookie}")[0] == 200


@pytest.mark.parametrize("path", ["/", "/file", "/upload", "/database", "/work/x/data", "/static/studio.css", "/none"])
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
def test_other_pages_and_names_are_refused(studio, place, headers):
    """Even with the cookie; and nothing is charged."""
    before = len(studio.charges())
    assert studio.ask("/", **headers)[0] == 403
    body = {"key": studio.key(place)}
    assert studio.ask(f"{place}/answers", method="POST", body=body, **headers)[0] == 403
    assert len(studio.charges()) == before


def test_a_form_must_say_where_it_comes_from(studio, place):
    """A request that changes something and has no origin is refused."""
    body = {"key": studio.key(place)}
    assert studio.ask(f"{place}/answers", method="POST", body=body, Origin=None)[0] == 403
    assert not studio.charges()


def test_only_this_machine_can_reach_it(studio):
    """It listens on 127.0.0.1 and on no other address of this machine."""
    port = urlsplit(studio.address).port
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=5)


def test_every_answer_forbids_what_the_page_does_not_need(studio):
    """Nothing is loaded from elsewhere, framed, cached or sniffed, errors and refusals included."""
    for path, cookie in (("/", studio.cookie), ("/none", studio.cookie), ("/", "")):
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
        QUESTION | {"ask": "mean:nothing"},
        QUESTION | {"ask": "mean:<script>alert(1)</script>"},
        QUESTION | {"ask": "__class__:income"},
        QUESTION | {"ask": "group_by:income"},
        QUESTION | {"level": "nan"},
        QUESTION | {"level": "other", "amount": "nan"},
        QUESTION | {"level": "other", "amount": "1e999999999"},
        QUESTION | {"level": "other", "amount": "1", "spending": "euros"},
        QUESTION | {"where": "<script>alert(1)</script>"},
        QUESTION | {"where": "x" * 100_000},
        QUESTION | {"by1": "region"},
        QUESTION | {"by1": "nothing", "keys": "a"},
        QUESTION | {"by1": "age", "keys": "north"},
        QUESTION | {"interval": "7"},
        QUESTION | {"bounds": "income: 0 to"} | {"ask": ["mean:income"] * 3000, "neighbors": "both"},
    ],
    ids=lambda body: str(body)[:60],
)
def test_a_bad_question_is_answered_in_words(studio, place, body):
    """No traceback, no charge, and what was sent comes back as text, not as a page."""
    before = len(studio.charges())
    status, _, text = studio.ask(f"{place}/question", method="POST", body=body)
    assert status == 400 and "Traceback" not in text and "<script>alert" not in text
    assert 'class="wrong"' in text and len(studio.charges()) == before


@pytest.mark.parametrize("key", [None, "", "x", "x" * 10_000])
def test_a_form_without_a_key_spends_nothing(studio, place, key):
    """A key is given out with a form, and no other is taken."""
    body = {} if key is None else {"key": key}
    status, _, text = studio.ask(f"{place}/answers", method="POST", body=body)
    assert status == 400 and "Nothing was charged" in text and not studio.charges()


@pytest.mark.parametrize(
    "name", ["../secret.csv", "/etc/passwd", "link.csv", ".hidden.csv", "people.budget", "", "no.csv"]
)
def test_only_listed_files_are_opened(studio, name):
    """No path from a form is opened, and neither is a link out of the folder."""
    outside = studio.folder.parent / "secret.csv"
    outside.write_text("a\n1\n")
    for link, to in (("link.csv", outside), (".hidden.csv", outside)):
        if not (studio.folder / link).is_symlink():
            (studio.folder / link).symlink_to(to)
    assert studio.ask("/file", method="POST", body={"file": name})[0] == 400
    assert "link.csv" not in studio.ask("/")[2]


def multipart(name, content=b"a,b\n1,2\n"):
    """The body of a form with a file."""
    head = f'--x\r\nContent-Disposition: form-data; name="upload"; filename="{name}"\r\n\r\n'
    return head.encode() + content + b"\r\n--x--\r\n"


def uploaded(studio, body, **headers):
    """The status and the headers of an answer to an upload."""
    parts = urlsplit(studio.address)
    told = {"Cookie": studio.cookie, "Origin": studio.root, "Content-Type": "multipart/form-data; boundary=x"}
    with closing(HTTPConnection(parts.netloc, timeout=60)) as connection:
        connection.request("POST", "/upload", body, told | headers, encode_chunked="Transfer-Encoding" in headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, dict(answer.getheaders())


@pytest.mark.parametrize("name", ["../../evil.csv", "/etc/evil.csv", "..\\evil.csv", "a/b/evil.csv", "...evil.csv"])
def test_an_uploaded_file_cannot_choose_its_place(studio, name):
    """Of its name the last part is kept; it lies where only this user can read, and nothing lies elsewhere."""
    status, headers = uploaded(studio, multipart(name))
    assert status == 303
    text = studio.ask(headers["location"])[2]
    assert "evil.csv" in text and "../" not in text
    folders = uploads_of(studio)
    (path,) = [each for each in folders[0].rglob("*evil.csv") if each.stat().st_mtime_ns][-1:]
    assert path.parent.parent == folders[0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(folders[0].stat().st_mode) == 0o700
    assert not list(studio.folder.parent.glob("evil.csv"))


def uploads_of(studio):
    """The folders of uploads that a studio has open, by the time they were made."""
    folders = Path(tempfile.gettempdir()).glob("nobounds-studio-*")
    return sorted(folders, key=lambda each: each.stat().st_mtime, reverse=True)


@pytest.mark.parametrize("name", ["x.exe", "x", "", ".csv/", "x.budget"])
def test_an_upload_that_is_no_table_is_refused(studio, name):
    """By its name, in words."""
    assert uploaded(studio, multipart(name))[0] == 400


def test_an_upload_that_is_too_large_is_refused_before_it_is_read(studio):
    """By its stated size; and one that states none is refused too."""
    assert uploaded(studio, b"", **{"Content-Length": str(1 << 40)})[0] == 413
    assert uploaded(studio, iter([multipart("a.csv")]), **{"Transfer-Encoding": "chunked"})[0] == 413


def test_uploads_are_gone_when_the_studio_ends(tmp_path):
    """Ctrl-C removes them."""
    people(tmp_path / "people.parquet")
    before = set(uploads_of(None))
    with started(tmp_path) as studio:
        assert uploaded(studio.enter(), multipart("mine.csv"))[0] == 303
        new = set(uploads_of(studio)) - before  # other studios may have started meanwhile
        (folder,) = (each for each in new if list(each.rglob("mine.csv")))
        studio.process.send_signal(signal.SIGINT)
        studio.process.wait(timeout=60)
        assert not folder.exists()


def test_a_connection_string_comes_back_nowhere(studio):
    """Neither on the page, but for the field that it was typed into, nor in an error."""
    secret = "postgresql://me:hunter2@127.0.0.1:1/none"
    status, _, text = studio.ask("/database", method="POST", body={"database": "url", "url": secret})
    assert status == 400 and "cannot be reached" in text
    assert "hunter2" not in text


@pytest.mark.medium
def test_a_page_that_there_is_not_is_a_sentence(studio, place):
    """Names of answers that could be paths are looked for nowhere."""
    for path in (
        "/none",
        "/work/none/data",
        f"{place}/answers/none",
        f"{place}/answers/../../etc/passwd",
        f"{place}/answers/%2e%2e%2fpeople.budget/json",
    ):
        status, _, text = studio.ask(path)
        assert status == 404 and "no such page" in text


@pytest.mark.medium
def test_answers_by_hand(studio, place):
    """A form with its key gives answers once; their page and their downloads are there."""
    body = {"key": studio.key(place)}
    status, headers, _ = studio.ask(f"{place}/answers", method="POST", body=body)
    assert status == 303
    page = headers["location"]
    assert studio.ask(f"{place}/answers", method="POST", body=body)[1]["location"] == page
    assert len(studio.charges()) == 1
    assert nb.Answers.from_json(studio.ask(f"{page}/json")[2]).loss.epsilon == 0.5
    assert studio.ask(f"{page}/sh")[2].startswith("nobounds agg ")
    assert studio.ask(f"{page}/other")[0] == 404
