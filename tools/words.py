"""Words that the code does not use: python tools/words.py [files] prints `file:line: word -> what to write instead`.

Looked at are names, comments, docstrings and other strings (errors, help) in src/nobounds, the templates of the studio,
README.md, the other pages, and notebooks. Code on a page is left alone, except for how it writes percentages.
tools/words.txt allows a number of findings for a file where words are still to be replaced. `--lower` brings these
numbers down to what is left; nothing raises them.
"""

import argparse
import ast
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ALLOWED = Path(__file__).with_suffix(".txt")

NAMES = {
    "found": "what it is: value, values, clip, rungs, index, columns, summary",
    "told": "what it is: parameters, facts, stated",
    "asked": "what it is: question, request, plan, columns",
}
# In all prose: comments, docstrings, errors, help, templates, pages and notebooks. A blank stands for any white space,
# a line break in a comment too.
PHRASES = {
    r"so many": "the number itself: `size` records, at most `rows` rows",
    r"taken for": "treated as",
    r"(?:is|are|too|how|as) dear(?:er)?": "expensive, or: would cost too much",
    r"for want of": "because there is no",
    r"wherever (?:it lies|they lie)": "of any kind, or: in memory, in a file or on a server",
    r"who(?:ever)? names": "a column named explicitly",
    r"(?<!you\s)asked for": "requested",
    r"(?:is|are|was|were) told": "is stated, or: gets",
    r"(?:is|are|was|were|be|been) found": "is chosen, is computed, or: lies",
    r"by now": "already",
    r"goes? (?:with|without)": "needs, or: cannot be combined with",
    r"(?<=,\s)say(?=[,.;)\"']|$)": "for example",
    r"hardly ever": "almost never",
    r"sign(?:s|ed)? off|who signs": "approve",
    r"hangs? on": "depends on",
    r"whoever|somebody who": "anyone who, or the person who",
    r"tells? of": "reveals",
    r"dearest": "most expensive",
    r"to the letter": "exactly",
}
# In code on pages as well.
PERCENTAGES = {
    r"times (?:of|out of) (?:a )?(?:100|hundred|thousand|1000)": "95% of the time",
    r"[\d.]+ %(?! \d)": "95%, without a blank",
}
_CODE = re.compile(r"^ *(`{3,})[^`].*?^ *\1|`[^`\n]+`", re.DOTALL | re.MULTILINE)  # fences and spans of a page
_TEMPLATE = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)  # what a template computes
_NAMES = {name: re.compile(rf"_*{name}") for name in NAMES}


def _compiled(phrases: Mapping[str, str]) -> dict[re.Pattern[str], str]:
    return {
        re.compile(r"(?<!\w)" + phrase.replace(" ", r"[\s#]+") + r"(?!\w)", re.IGNORECASE): instead
        for phrase, instead in phrases.items()
    }


_PHRASES, _PERCENTAGES = _compiled(PHRASES), _compiled(PERCENTAGES)


class Finding(NamedTuple):
    """A word in a line, and what to write instead."""

    line: int
    word: str
    instead: str


def findings(source: str, stem: str = "") -> list[Finding]:
    """What one file has of these words, by line; `stem` is its name without the ending."""
    hits = [Finding(line, name, instead) for line, name, instead in _names(source, stem)]
    for start, text in prose(source):
        hits += _matches(start, text, _PHRASES | _PERCENTAGES)
    docstrings = {line for line, _ in prose(source)}
    for start, text in strings(source):
        if start not in docstrings:
            hits += _matches(start, text, _PHRASES | _PERCENTAGES)
    return sorted(set(hits))


def page_findings(page: str) -> list[Finding]:
    """What a page of the documentation, or a template, has of them."""
    text = _TEMPLATE.sub(_blank, page)
    return sorted({*_matches(1, _CODE.sub(_blank, text), _PHRASES), *_matches(1, text, _PERCENTAGES)})


def _blank(code: re.Match[str]) -> str:
    """White space in place of code; lines stay where they are."""
    return re.sub(r"[^\n]", " ", code[0])


def notebook_findings(notebook: str) -> list[Finding]:
    """What a notebook has of them; the number of its cell stands for the line."""
    hits = []
    for number, cell in enumerate(json.loads(notebook)["cells"], 1):
        text = "".join(cell["source"])
        inside = page_findings(text) if cell["cell_type"] == "markdown" else findings(text)
        printed = "".join("".join(output.get("text", ())) for output in cell.get("outputs", ()))
        hits += [hit._replace(line=number) for hit in (*inside, *_matches(1, printed, _PERCENTAGES))]
    return hits


def _matches(start: int, text: str, patterns: Mapping[re.Pattern[str], str]) -> Iterator[Finding]:
    for pattern, instead in patterns.items():
        for match in pattern.finditer(text):
            words = re.sub(r"[\s#]+", " ", match[0])
            yield Finding(start + text.count("\n", 0, match.start()), words, instead)


def _names(source: str, stem: str) -> Iterator[tuple[int, str, str]]:
    tokens = [(token.start[0], token.string) for token in _tokens(source) if token.type == tokenize.NAME]
    for line, word in [(1, stem), *tokens]:
        yield from ((line, word, NAMES[name]) for name, pattern in _NAMES.items() if pattern.fullmatch(word))


def prose(source: str) -> Iterator[tuple[int, str]]:
    """The comments and docstrings of a file, each with its first line; comments on lines in a row are one."""
    block: list[str] = []
    last = 0
    for token in _tokens(source):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        if block and line != last + 1:
            yield last - len(block) + 1, "\n".join(block)
            block = []
        block.append(token.string)
        last = line
    if block:
        yield last - len(block) + 1, "\n".join(block)
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, "\n".join(lines[node.lineno - 1 : node.end_lineno])


def strings(source: str) -> Iterator[tuple[int, str]]:
    """The strings of a file, each with its first line; strings in a row are one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a file, with each f-string as one of them: from Python 3.12 on they are taken apart."""
    lines, depth, start = source.splitlines(keepends=True), 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "FSTRING_START":
            start, depth = (start if depth else token.start), depth + 1
        elif kind == "FSTRING_END":
            depth -= 1
            if not depth:
                yield tokenize.TokenInfo(tokenize.STRING, _between(lines, start, token.end), start, token.end, "")
        elif not depth:
            yield token


def _between(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text from a row and column to another, counted as tokens do."""
    taken = list(lines[start[0] - 1 : end[0]])
    taken[-1] = taken[-1][: end[1]]
    taken[0] = taken[0][start[1] :]
    return "".join(taken)


def allowed() -> dict[str, int]:
    """The number of findings that a file may have, by file."""
    lines = ALLOWED.read_text().splitlines() if ALLOWED.is_file() else []
    return {name: int(number) for number, name in (line.split(maxsplit=1) for line in lines if line.strip())}


def lowered(may: Mapping[str, int], has: Mapping[str, int]) -> dict[str, int]:
    """The same numbers, none above what there is, without those that are 0."""
    least = {name: min(number, has.get(name, 0)) for name, number in may.items()}
    return {name: number for name, number in least.items() if number}


def everything() -> list[Path]:
    """The code with its templates, the pages and the notebooks."""
    code = sorted(path for path in (ROOT / "src" / "nobounds").rglob("*") if path.suffix in (".py", ".html", ".js"))
    loose = [ROOT / name for name in ("README.md", "SECURITY.md")]
    docs = sorted(path for path in (ROOT / "docs").rglob("*") if path.suffix in (".md", ".ipynb"))
    return [*code, *loose, *docs]


def file_findings(path: Path) -> list[Finding]:
    """What a file has of these words."""
    text = path.read_text()
    if path.suffix == ".py":
        return findings(text, path.stem)
    return notebook_findings(text) if path.suffix == ".ipynb" else page_findings(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the findings of files that have more than they may; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "files", nargs="*", type=Path, help="by default all of src/nobounds, README.md, SECURITY.md and docs"
    )
    parser.add_argument("--lower", action="store_true", help="lower the numbers in tools/words.txt to what is left")
    given = parser.parse_args(arguments)
    files = [path.resolve() for path in given.files] or everything()
    by_file = {_name(path): file_findings(path) for path in files}
    may = allowed()
    if given.lower:
        has = {name: len(hits) for name, hits in by_file.items()}
        unseen = {name: number for name, number in may.items() if name not in has and given.files}
        ALLOWED.write_text("".join(f"{n:>3} {name}\n" for name, n in sorted((lowered(may, has) | unseen).items())))
        may = allowed()
    wrong = 0
    for name, hits in by_file.items():
        if len(hits) > may.get(name, 0):
            wrong += len(hits) - may.get(name, 0)
            for line, word, instead in hits:
                print(f"{name}:{line}: {word} -> {instead}")
            if name in may:
                print(f"{name}: {len(hits)} of these, and tools/words.txt allows {may[name]}")
        elif len(hits) < may.get(name, 0) and not given.files:
            print(f"{name}: {len(hits)} left, tools/words.txt allows {may[name]}: run tools/words.py --lower")
    if wrong:
        print(f"{wrong} words or phrases to replace; the vocabulary is in CONTRIBUTING.md")
    return int(wrong > 0)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


if __name__ == "__main__":
    sys.exit(main())
