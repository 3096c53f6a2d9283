"""Screenshots of the studio for docs/studio.md, in a headless Chromium, on a copy of the bundled sample data.

python benchmarks/pages/studio.py --out docs/studio
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from pyarrow.csv import read_csv
from pyarrow.parquet import write_table

SAMPLES = Path(__file__).parents[2] / "src" / "nobounds" / "data"
WIDE, NARROW = {"width": 1080, "height": 860}, {"width": 390, "height": 780}


def main() -> None:
    """Start a studio, click through it, and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(read_csv(SAMPLES / "adult.csv.gz"), folder / "people.parquet")
        command = ["-m", "nobounds.cli", "studio", "people.parquet", "--budget", "people.budget", "--no-browser"]
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            with sync_playwright() as playwright:
                path = shutil.which("chromium") or shutil.which("google-chrome")
                browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
                take(browser, found.group(), folder, out)
                browser.close()
        finally:
            process.kill()


def take(browser: Any, address: str, folder: Path, out: Path) -> None:
    """All pictures, in the order of a first visit."""
    root = address.partition("/?")[0]
    context = browser.new_context(viewport=WIDE, bypass_csp=True)
    context.set_default_timeout(120_000)
    page = context.new_page()
    page.goto(address)
    page.wait_for_url(f"{root}/")
    page.click("text=Make the budget")
    page.wait_for_url("**/plan")
    page.screenshot(path=out / "empty.png")

    asked = "statistic=mean&column=age&amount=0.5&spending=epsilon&n=30000&family=lognormal&scale=40"
    page.goto(f"{root}/plan?{asked}")
    page.wait_for_function("document.querySelectorAll('#curve polyline').length === 2")
    page.wait_for_selector("#forecast:not([aria-busy])")
    page.screenshot(path=out / "planning.png")

    page.goto(f"{root}/release?statistic=describe&column=age&column=hours_per_week&amount=1&resolution=1&lower=0")
    if not page.locator("[name=column]:checked").count():
        page.locator("[name=column]").first.check()
    page.click(".spend")
    page.wait_for_url("**/releases/*")
    page.wait_for_function("document.querySelector('.picture img').complete")
    released = page.url
    page.screenshot(path=out / "released.png", full_page=True)

    page.goto(f"{root}/release?statistic=mean&column=age&amount=5")
    page.click(".spend")
    page.wait_for_selector("#error")
    page.screenshot(path=out / "refused.png")

    page.goto(f"{root}/history")
    page.screenshot(path=out / "history.png")

    dark = browser.new_context(viewport=NARROW, color_scheme="dark", bypass_csp=True)
    dark.set_default_timeout(120_000)
    night = dark.new_page()
    night.goto(address)
    night.wait_for_url(f"{root}/plan")
    night.goto(released)
    night.wait_for_function("document.querySelector('.picture img').complete")
    night.screenshot(path=out / "dark.png")

    (folder / "people.parquet").write_bytes(b"this is no table")
    page.goto(f"{root}/plan")
    page.screenshot(path=out / "bad-file.png")


if __name__ == "__main__":
    main()
