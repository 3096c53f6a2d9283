"""A studio that runs in a process of its own, as its user starts it, and ways to talk to it."""

import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nobounds.accounting.budget import read

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [  # the last ones keep it from looking for hosts of its own
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def people(path, rows=3000):
    """A table of people as a Parquet file."""
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "income": rng.lognormal(10, 1, rows),
            "age": rng.integers(18, 90, rows),
            "user_id": rng.integers(0, max(rows // 3, 1), rows),
            "region": rng.choice(["north", "south"], rows),
        }
    )
    pq.write_table(table, path)


@dataclass(slots=True)
class Studio:
    """A running studio: its process, its address with the secret, and the folder with its files."""

    process: subprocess.Popen
    address: str
    folder: Path
    cookie: str = ""

    @property
    def root(self):
        return self.address.partition("/?")[0]

    @property
    def budget(self):
        return self.folder / "people.budget"

    def charges(self):
        return read(self.budget).history

    def kill(self):
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask(self, path, *, method="GET", body=None, **headers):
        """The status, the headers and the text of an answer; every header is that of a browser on the page itself."""
        host = urlsplit(self.address).netloc
        told = {"Host": host, "Cookie": self.cookie}
        if method == "POST":
            told |= {"Origin": self.root, "Content-Type": "application/x-www-form-urlencoded"}
        told |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(host, timeout=60)
        try:
            sent = None if body is None else urlencode(body, doseq=True)
            connection.request(method, path, sent, {name: value for name, value in told.items() if value is not None})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def enter(self):
        """Trade the secret of the address for the cookie."""
        status, headers, _ = self.ask(self.address.removeprefix(self.root))
        assert status == 200
        self.cookie = headers["set-cookie"].partition(";")[0]
        return self

    def work(self, source="people.parquet", question=None, budget="people.budget"):
        """The address of new work that is ready to be asked: a file, a budget that is there, and a question."""
        place = self.ask("/file", method="POST", body={"file": source})[1]["location"].removesuffix("/data")
        for step, body in (
            ("data", {"go": "on"}),
            ("budget", {"budget": budget}),
            ("question", question or {"ask": "mean:income", "level": "0.5"}),
        ):
            status, _, text = self.ask(f"{place}/{step}", method="POST", body=body)
            assert status == 303, (step, re.findall(r'class="wrong"[^>]*>([^<]*)', text))
        return place

    def key(self, place):
        """The key of a new form."""
        return re.search(r'name="key" value="([^"]+)"', self.ask(f"{place}/estimate")[2]).group(1)


@contextmanager
def started(folder, *options):
    """A studio for the files of a folder."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nobounds.cli", "studio", "--no-browser", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        line = process.stdout.readline()
        yield Studio(process, re.search(r"http://\S+", line).group(), folder)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def press(page, name):
    """Press a button."""
    page.get_by_role("button", name=name, exact=True).click()


def enter(page, studio):
    """Open the address that was printed; the page behind it leads on at once."""
    page.goto(studio.address)
    page.wait_for_url(lambda found: "token" not in found)


def open_file(page, name):
    """Choose a file of the start folder."""
    page.get_by_label(name, exact=True).check()
    press(page, "Open the file")
    page.wait_for_url("**/data")


def show_columns(page, **choices):
    """State that a CSV file has a header, and how it is written otherwise."""
    page.get_by_label("The names of the columns").check()
    for field, value in choices.items():
        page.select_option(f"#{field}", value)
    press(page, "Show the columns")
    page.wait_for_url("**/data#columns")


def new_budget(page, total="Usual"):
    """Go on to the budget, and make a new one."""
    press(page, "Continue to the budget")
    page.wait_for_url("**/budget")
    page.get_by_label(re.compile(rf"^\s*{total}")).check()
    press(page, "Continue to the question")
    page.wait_for_url("**/question")


def tick(page, *boxes):
    """Tick boxes by their names."""
    for name in boxes:
        page.get_by_label(name, exact=True).check()


def to_estimate(page):
    press(page, "Continue to the estimate")
    page.wait_for_url("**/estimate")


def spend(page):
    """Press the button that spends."""
    page.get_by_role("button", name=re.compile("^Spend")).click()
