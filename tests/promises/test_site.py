"""The documentation site builds without a warning, needs no other host, and all its links lead somewhere."""

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from support.studio import CHROMIUM, FLAGS

import nobounds

ROOT = Path(__file__).parents[2]
OTHER_HOST = re.compile(r"^(?:https?:)?//")
LOADS = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data")}
LOOSE = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]

SEARCHED = {  # what people type, and a page that they should be shown
    "delimiter": "CSV files",
    "excel": "Files, types and schemas",
    "histogram": "Which question can I ask?",
    "percentile": "Glossary",
    "average": "Glossary",
    "semicolon": "Frequently asked questions",
    "how many rows": "How many rows do I need?",
}

WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
LOOKED_AT = ("index", "start", "questions", "rows", "faq", "glossary", "why", "csv", "review", "proofs/above_threshold")

pytestmark = pytest.mark.xdist_group("site")  # so that it is built once


class Page(HTMLParser):
    """What a page links to, loads and can be linked at."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.anchors, self.plain, self.math = set(), set(), set(), [], 0
        self._inside = []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        if tag == "a" and found.get("href"):
            self.links.add(found["href"])
        self.loads |= {found[key] for of, key in LOADS if of == tag and found.get(key)}
        self.math += tag == "math"
        if tag in ("code", "script", "style", "annotation"):
            self._inside.append(tag)

    def handle_endtag(self, tag):
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data):
        if not self._inside:
            self.plain.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built once."""
    pytest.importorskip("mkdocs", reason="the site is made by MkDocs: pip install 'nobounds[docs]'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert not re.search("warning|error", done.stdout + done.stderr, re.IGNORECASE), done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def target(path, link):
    """The file and the anchor that a link on a page leads to."""
    place, anchor = urldefrag(link)
    return (path.parent / unquote(place)).resolve() if place else path, anchor


def is_local(link):
    return not re.match(r"^[a-z]+:", link) and not OTHER_HOST.match(link)


@pytest.mark.slow
def test_every_link_picture_and_anchor_exists(site, pages):
    """Of the built pages, so whatever wrote the link."""
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links are from the root of a server
            continue
        for link in filter(is_local, page.links | page.loads):
            file, anchor = target(path, link)
            if not file.is_file():
                broken.append(f"{path.relative_to(site)}: {link}")
            elif anchor and file in pages and unquote(anchor) not in pages[file].anchors:
                broken.append(f"{path.relative_to(site)}: no anchor for {link}")
    assert not broken
    assert sum(len(page.links) for page in pages.values()) > 1000


@pytest.mark.slow
def test_nothing_is_loaded_from_another_host(site, pages):
    """Pages, styles and scripts can be read with the network off."""
    assert not [link for page in pages.values() for link in page.loads if OTHER_HOST.match(link)]
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*['\"]?(?:https?:)?//", style.read_text()), style
    polyfills = [link for page in pages.values() for link in page.loads if "iframe-worker" in link]
    assert len(polyfills) == len(pages)


@pytest.mark.slow
def test_every_page_is_in_the_menu(pages, site):
    """A page of docs/ and a notebook can be reached without a search."""
    menu = {target(site / "index.html", link)[0] for link in pages[site / "index.html"].links if is_local(link)}
    for source in [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]:
        built = site / source.relative_to(ROOT / "docs").with_suffix(".html")
        assert built in menu, source


@pytest.mark.slow
def test_the_reference_has_every_public_name(pages, site):
    """Each name of nobounds has an entry, and says what it is."""
    reference = [page for path, page in pages.items() if path.parent == site / "reference"]
    anchors = set().union(*(page.anchors for page in reference))
    assert {f"nobounds.{name}" for name in nobounds.__all__} <= anchors
    for method in ("sql", "quantile", "describe", "group_by"):
        assert f"nobounds.Table.{method}" in anchors
    assert all(getattr(nobounds, name).__doc__ for name in nobounds.__all__)


@pytest.mark.slow
def test_the_reference_has_every_command(pages, site):
    """Each command and each of its options."""
    import typer

    from nobounds.cli.app import app

    text = (site / "reference" / "command_line.html").read_text()
    for name, command in typer.main.get_command(app).commands.items():
        inner = getattr(command, "commands", {})
        for words, one in [(f"nobounds {name}", command), *((f"nobounds {name} {sub}", c) for sub, c in inner.items())]:
            if not one.hidden:
                assert f'id="{words.replace(" ", "-")}"' in text
                shown = [p for p in one.params if not getattr(p, "hidden", False) and p.param_type_name == "option"]
                assert all(f"<code>{parameter.opts[0]}" in text for parameter in shown), words


@pytest.mark.slow
def test_mathematics_is_drawn_without_a_script(pages, site):
    """What is between dollars in docs/ is MathML on the site, and nothing of TeX is left over."""
    for path, page in pages.items():
        source = ROOT / "docs" / path.relative_to(site).with_suffix(".md")
        text = re.sub(r"```.*?```|`[^`\n]*`", "", source.read_text(), flags=re.S) if source.is_file() else ""
        wanted = len(re.findall(r"\$\$.+?\$\$|(?<![\\$])\$(?=[^\s$])[^$\n]*?(?<=\S)\$(?!\d)", text, re.S))
        assert (page.math > 0) == (wanted > 0), path
        left = [words for words in page.plain if re.search(r"\\[a-zA-Z(\[]|\$\$", words)]
        assert not left, (path, left[:3])


@pytest.mark.medium
def test_dollars_of_prices_and_of_code_are_left_alone(monkeypatch):
    """Only what is between two dollars that touch it is mathematics; what has no MathML stops the build."""
    markdown = pytest.importorskip("markdown")
    monkeypatch.syspath_prepend(ROOT / "tools" / "pages")
    import hooks

    def built(text):
        found = markdown.markdown(
            text,
            extensions=["pymdownx.arithmatex", "pymdownx.superfences"],
            extension_configs={"pymdownx.arithmatex": {"generic": True}},
        )
        return hooks.on_page_content(found)

    assert built("From $5 to $10, or `$x$`.") == "<p>From $5 to $10, or <code>$x$</code>.</p>"
    assert "<math" not in built("```text\n$x$ and $$y$$\n```")
    assert 'display="inline"' in built("The cost is $\\varepsilon_1$.")
    assert 'display="block"' in built("$$\n\\begin{aligned} a &= b \\\\ &= c \\end{aligned}\n$$")
    with pytest.raises(hooks.PluginError, match="nosuch"):
        built("$\\nosuch{x}$")
    assert built("10^7 rows, n^0.5 and `10^7`") == ("<p>10<sup>7</sup> rows, n<sup>0.5</sup> and <code>10^7</code></p>")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_browser_reads_and_searches_it_from_the_disk(site):
    """No request leaves for another host, no script fails, and search finds what is there."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(60_000)
        wrong = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda sent: None if sent.url.startswith(("file:", "data:")) else wrong.append(sent.url))
        page.goto((site / "reference" / "statistics.html").as_uri())
        assert page.locator(".md-tabs__item").count() <= 7
        for words, title in SEARCHED.items():
            page.locator(".md-search__input").click()
            page.locator(".md-search__input").fill("")
            page.keyboard.type(words)
            page.wait_for_function(
                "title => [...document.querySelectorAll('.md-search-result__item > a h1')].slice(0, 6)"
                ".some(each => each.innerText == title)",
                arg=title,
            )
        browser.close()
    assert wrong == []


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [340, 1280])
def test_pages_fit_and_have_margins(site, width):
    """Nothing sticks out of the window, text keeps off its edge, and axe finds no fault by WCAG 2.1, light and dark."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            for name in LOOKED_AT:
                page.goto((site / f"{name}.html").as_uri())
                assert page.evaluate("document.documentElement.scrollWidth") <= width, name
                head = page.locator(".md-content__inner h1").bounding_box()
                assert head["x"] >= 12 and head["x"] + head["width"] <= width - 12, name
                results = Axe().run(page, options=WCAG)
                assert results.violations_count == 0, f"{name}, {scheme}: {results.generate_report()}"
        browser.close()


@pytest.mark.parametrize("name", [*LOOSE, *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.ipynb"))])
def test_links_of_files_outside_the_site_exist(name):
    """In the repository as it is: files, and headings where a link names one."""
    path = ROOT / name
    text = path.read_text()
    if name.endswith(".ipynb"):
        text = "\n".join("".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "markdown")
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    links = re.findall(r"\]\(([^)\s]+)\)|<img[^>]*src=\"([^\"]+)\"", text)
    for link in filter(is_local, (first or second for first, second in links)):
        place, anchor = urldefrag(link)
        file = path.parent / unquote(place) if place else path
        assert file.exists(), link
        if anchor:
            heads = re.findall(r"^#+ (.*)", file.read_text(), re.M)
            slugs = {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in heads}
            assert anchor in slugs, link


@pytest.mark.medium
def test_the_words_are_spelled_as_in_a_dictionary():
    """Codespell finds no slip in the README, the documentation, the code and its help texts."""
    program = shutil.which("codespell", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        pytest.skip("codespell is not installed: pip install 'nobounds[docs]'")
    done = subprocess.run([program], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.medium
def test_a_slip_is_caught(tmp_path):
    """The spelling check is awake."""
    program = shutil.which("codespell", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        pytest.skip("codespell is not installed: pip install 'nobounds[docs]'")
    (tmp_path / "page.md").write_text("An answer that is " + "rec" + "ieved" + ".\n")
    command = [program, "--toml", str(ROOT / "pyproject.toml"), str(tmp_path / "page.md")]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60).returncode
