"""Screenshots of the studio for docs/studio.md, in a headless Chromium, on made-up waiting times of a hospital.

python benchmarks/pages/studio.py --out docs/studio
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

WIDE, NARROW = {"width": 1080, "height": 800}, {"width": 390, "height": 780}
WARDS = {
    "Emergency": 3.6,
    "Surgery": 3.9,
    "Cardiology": 3.5,
    "Maternity": 3.1,
    "Children": 3.3,
    "Sleep laboratory": 4.2,
}


def main() -> None:
    """Start a studio, click through it, and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "hospital"
        folder.mkdir()
        write_visits(folder / "visits.csv")
        process = subprocess.Popen(
            [sys.executable, "-m", "nobounds.cli", "studio", "--no-browser"],
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
                take(browser, found.group(), out)
                browser.close()
        finally:
            process.kill()


def write_visits(path: Path) -> None:
    """Visits to a hospital: nobody's in particular."""
    draw = random.Random(1)
    with path.open("w") as file:
        file.write("patient,ward,wait_minutes,age\n")
        for _ in range(20_000):
            ward = draw.choices(list(WARDS), (40, 20, 15, 12, 12, 0.1))[0]
            wait = round(draw.lognormvariate(WARDS[ward], 0.6))
            file.write(f"p{draw.randrange(11_000)},{ward},{wait},{draw.randrange(95)}\n")


def take(browser: Any, address: str, out: Path) -> None:
    """All pictures, in the order of a first visit."""
    root = address.partition("/?")[0]
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(120_000)
    page = context.new_page()
    page.goto(address)
    page.wait_for_url(f"{root}/")
    page.screenshot(path=out / "start.png")

    page.get_by_label("visits.csv").check()
    page.click("text=Open the file")
    page.wait_for_url("**/data")
    page.get_by_label("The names of the columns").check()
    page.click("text=Show the columns")
    page.wait_for_url("**/data#columns")
    page.get_by_label("A person or case can have several rows").check()
    page.select_option("#unit", "patient")
    page.fill("#rows_per_unit", "2")
    page.locator("#rows_per_unit").blur()
    page.screenshot(path=out / "data.png", full_page=True)
    page.click("text=Continue to the budget")
    page.wait_for_url("**/budget")
    page.screenshot(path=out / "budget.png")
    page.click("text=Continue to the question")
    page.wait_for_url("**/question")

    for box in ("Average of wait_minutes", "Median of wait_minutes", "wait_minutes is never below 0"):
        page.get_by_label(box, exact=True).check()
    page.fill("#where", "age >= 18")
    page.select_option("#by1", "ward")
    page.fill("#keys", "\n".join(WARDS))
    page.locator("#keys").blur()
    page.screenshot(path=out / "question.png", full_page=True)
    page.get_by_label(re.compile("^Weaker 2")).check()
    page.click("text=Continue to the estimate")
    page.wait_for_url("**/estimate")
    page.fill("#rows", "16000")
    page.get_by_label("Typical value of wait_minutes").fill("35")
    page.click("button:text-is('Estimate')")
    page.wait_for_selector(".good")
    page.click("text=Keep this plan, and change the question")
    page.wait_for_url("**/question")
    page.get_by_label(re.compile("^Balanced 1")).check()
    page.click("text=Continue to the estimate")
    page.wait_for_url("**/estimate")
    page.screenshot(path=out / "estimate.png", full_page=True)
    page.click(".spend")
    page.wait_for_url("**/answers/*")
    answers = page.url
    page.screenshot(path=out / "answers.png", full_page=True)
    page.goto(f"{answers}/report")
    page.screenshot(path=out / "report.png", full_page=True)
    refuse(page, answers.partition("/answers")[0], out)

    dark = browser.new_context(viewport=NARROW, color_scheme="dark")
    dark.set_default_timeout(120_000)
    night = dark.new_page()
    night.goto(address)
    night.wait_for_url(f"{root}/")
    night.goto(answers)
    night.screenshot(path=out / "dark.png")


def refuse(page: Any, place: str, out: Path) -> None:
    """A question that costs more than what is left."""
    page.goto(f"{place}/question")
    page.get_by_label(re.compile("^Weak 4")).check()
    page.click("text=Continue to the estimate")
    page.wait_for_url("**/estimate")
    page.click(".spend")
    page.wait_for_selector("#refusal")
    page.locator("section.card").last.screenshot(path=out / "refused.png")


if __name__ == "__main__":
    main()
