"""What MkDocs does not do by itself: files outside docs/, notebooks, mathematics without scripts, the commands' help.

A link to a file that is no page leads to a page that shows the file, so that pages read the same in the repository
and on the site. `$...$` and `$$...$$` become MathML while the site is built.
"""

import html
import posixpath
import re
from pathlib import Path
from typing import Any

from commands import reference
from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from notebooks import page

ROOT = Path(__file__).parents[2]
ALWAYS = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
SHOWN = {".py": "python", ".toml": "toml", ".txt": "text", ".csv": "text", "": "make"}

_LINK = re.compile(r"(?<=\]\()(?![a-z]+:)([^)#\s]+)(?=[)#])")
_MARKS = re.compile(
    r"^( *`{3,}(?:python|sh|console|text))[^\S\n]+(?!title=|hl_lines=|linenums=)([^`\n]+)$", re.MULTILINE
)
_TEX = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
_POWER = re.compile(r"\b(10|[en2])\^(-?\d+(?:\.\d+)?|epsilon)\b")
_NO_TEXT = re.compile(r"(<(pre|code|math|script|style)\b.*?</\2>|<[^>]*>)", re.DOTALL)
_LONG = 30  # characters of TeX that may not fit into a line on a phone
_COMMANDS = "<!-- commands -->"


def on_files(files: Any, config: Any) -> Any:
    """Add the notebooks as pages, and the files outside docs/ that pages link to."""
    for file in list(files):
        if file.src_uri.endswith(".ipynb"):
            text = page(Path(file.abs_src_path).read_text())
            files.append(File.generated(config, file.src_uri.replace(".ipynb", ".md"), content=text))
    waiting = [*ALWAYS, *(f"docs/{file.src_uri}" for file in files.documentation_pages())]
    seen = set(waiting)
    while waiting:
        path = waiting.pop()
        if not path.startswith("docs/") or not path.endswith((".md", ".ipynb")):
            files.append(File.generated(config, _page_of(path), content=_show(path)))
        text = (ROOT / path).read_text() if path.endswith(".md") and (ROOT / path).is_file() else ""
        found = {target for link in _LINK.findall(text) if (target := _target(link, path)) and _shown(target)} - seen
        waiting += found
        seen |= found
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to where the site has the file, and take the marks from fences, which are for the tests."""
    uri = page.file.src_uri
    home = uri.removeprefix("source/").removesuffix(".md" if uri.endswith(".md.md") else "")
    path = home if uri.startswith("source/") else f"docs/{uri}"

    def led(match: re.Match[str]) -> str:
        target = _target(match[1], path)
        if target is None:
            return match[1]
        return posixpath.relpath(_page_of(target), posixpath.dirname(uri) or ".")

    if _COMMANDS in markdown:
        markdown = markdown.replace(_COMMANDS, reference())
    return _MARKS.sub(_unmarked, _LINK.sub(led, markdown))


def on_page_content(html: str, **_: Any) -> str:
    """Turn TeX into MathML, which browsers draw without a script, and set powers in plain text: 10^7."""
    return powers(_TEX.sub(_mathml, html))


def powers(html: str) -> str:
    """The page with the powers of its text raised; code stays as it is."""
    parts, last = [], 0
    for other in _NO_TEXT.finditer(html):
        parts += [_POWER.sub(_raised, html[last : other.start()]), other[0]]
        last = other.end()
    return "".join([*parts, _POWER.sub(_raised, html[last:])])


def _raised(match: re.Match[str]) -> str:
    return f"{match[1]}<sup>{match[2].replace('epsilon', 'ε').replace('-', '−')}</sup>"  # noqa: RUF001 - a minus sign


def _mathml(match: re.Match[str]) -> str:
    tex = html.unescape(match[3]).strip().replace("{aligned}", "{align*}")
    made = convert(tex, display="block" if match[2] == "[" else "inline")
    if match[2] == "(" and len(tex) > _LONG:
        made = made.replace("<math ", '<math class="long" ', 1)
    if "\\" in made or "&amp;" in made:
        raise PluginError(f"latex2mathml does not know all of {tex}")
    return made


def _unmarked(match: re.Match[str]) -> str:
    """The first line of a fence without its mark; the name of another library becomes a title."""
    peer = re.fullmatch(r"peer=(\S+)", match[2].strip())
    return f'{match[1]} title="{peer[1]}"' if peer else match[1]


def _target(link: str, path: str) -> str | None:
    """The file of the repository that a link on a page leads to."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    return target if not target.startswith("..") and (ROOT / target).is_file() else None


def _shown(target: str) -> bool:
    """Whether a file gets a page of its own, though it is no page."""
    return Path(target).suffix in SHOWN or (target.endswith(".md") and not target.startswith("docs/"))


def _page_of(target: str) -> str:
    """The source of the page that shows a file, or the file itself if it is a picture."""
    if target.startswith("docs/") and not _shown(target):
        return target.removeprefix("docs/").replace(".ipynb", ".md")
    return f"source/{target}" if target.endswith(".md") else f"source/{target}.md"


def _show(path: str) -> str:
    text = (ROOT / path).read_text()
    if path.endswith(".md"):
        return text
    front = "---\nsearch:\n  exclude: true\nhide:\n  - toc\n---\n"
    return f"{front}# {path}\n\n`````{SHOWN[Path(path).suffix]}\n{text.rstrip()}\n`````\n"
