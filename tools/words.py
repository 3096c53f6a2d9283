"""Words that the code does not use: python tools/words.py [files] prints `file:line: word -> what to write instead`.

Looked at are names, comments and docstrings in src/nobounds; how percentages are written also in other strings there,
in README.md and in docs. tools/words.txt allows a number of findings for a file where words are still to be replaced.
`--lower` brings these numbers down to what is left; nothing raises them.
"""

import argparse
import ast
import io
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
# In comments and docstrings. A blank stands for any white space, a line break in a comment too.
PHRASES = {
    r"so many": "the number itself: `size` records, at most `rows` rows",
    r"taken for": "treated as",
    r"(?:is|are|too|how|as) dear(?:er)?": "expensive, or: would cost too much",
    r"for want of": "because there is no",
    r"wherever (?:it lies|they lie)": "of any kind, or: in memory, in a file or on a server",
    r"who(?:ever)? names": "a column named explicitly",
    r"asked for": "requested",
    r"(?:is|are|was|were) told": "is stated, or: gets",
    r"(?:is|are|was|were|be|been) found": "is chosen, is computed, or: lies",
    r"by now": "already",
}
# In all texts: comments, docstrings, other strings and pages.
PERCENTAGES = {
    r"times (?:of|out of) (?:a )?(?:100|hundred|thousand|1000)": "95% of the time",
    r"[\d.]+ %(?! \d)": "95%, without a blank",
}
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
    for token in _tokens(source):
        if token.type == tokenize.STRING and token.start[0] not in docstrings:
            hits += _matches(token.start[0], token.string, _PERCENTAGES)
    return sorted(hits)


def page_findings(page: str) -> list[Finding]:
    """What a page of the documentation has of them."""
    return sorted(_matches(1, page, _PERCENTAGES))


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


def _tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(source).readline)


def allowed() -> dict[str, int]:
    """The number of findings that a file may have, by file."""
    lines = ALLOWED.read_text().splitlines() if ALLOWED.is_file() else []
    return {name: int(number) for number, name in (line.split(maxsplit=1) for line in lines if line.strip())}


def lowered(may: Mapping[str, int], has: Mapping[str, int]) -> dict[str, int]:
    """The same numbers, none above what there is, without those that are 0."""
    least = {name: min(number, has.get(name, 0)) for name, number in may.items()}
    return {name: number for name, number in least.items() if number}


def everything() -> list[Path]:
    """The code, and the pages."""
    code = sorted((ROOT / "src" / "nobounds").rglob("*.py"))
    return [*code, ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the findings of files that have more than they may; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="by default all of src/nobounds, README.md and docs")
    parser.add_argument("--lower", action="store_true", help="lower the numbers in tools/words.txt to what is left")
    given = parser.parse_args(arguments)
    files = [path.resolve() for path in given.files] or everything()
    by_file = {_name(path): findings(path.read_text(), path.stem) for path in files if path.suffix == ".py"}
    by_file |= {_name(path): page_findings(path.read_text()) for path in files if path.suffix == ".md"}
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
