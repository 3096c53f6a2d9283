"""How easy the README, the quick start and the help are to read: python tools/reading_ease.py [--at REVISION ...].

The figure is Flesch's reading ease, 206.835 - 1.015 words per sentence - 84.6 syllables per word: above 60 is plain
English, below 30 is hard to read. Code, tables and addresses are left out; syllables are groups of vowels.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = {"README": "README.md", "quick start": "docs/start.md"}
_CODE = re.compile(r"^---\n.*?^---\n|^ *(`{3,}).*?^ *\1|<!--.*?-->", re.DOTALL | re.MULTILINE)


def reading_ease(text: str) -> tuple[float, float]:
    """Flesch's reading ease, and words per sentence.

    >>> reading_ease("The cat sat on the mat.")[0] > reading_ease("Utilisation necessitates authorisation.")[0]
    True
    """
    sentences = [words for part in re.split(r"(?<=[.!?])\s+|\n\n", text) if (words := _words(part))]
    words = [word for sentence in sentences for word in sentence]
    per_sentence = len(words) / len(sentences)
    return 206.835 - 1.015 * per_sentence - 84.6 * sum(map(syllables, words)) / len(words), per_sentence


def syllables(word: str) -> int:
    """The groups of vowels in a word, without a silent e at its end; at least one.

    >>> [syllables(word) for word in ("noise", "people", "privacy")]
    [1, 2, 3]
    """
    groups = len(re.findall(r"[aeiouy]+", word.lower()))
    silent = re.search(r"[^aeiouyl]e$", word.lower()) is not None
    return max(groups - silent, 1)


def prose(page: str) -> str:
    """The sentences of a page: a list item or a heading is one of its own."""
    text = _CODE.sub("\n\n", page)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("|", "!", "[![", "==="))]
    text = "\n".join(re.sub(r"^\s*(?:#+|[-*]|\d+\.)\s+", "\n\n", line) for line in lines)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`[^`\n]*`|\$[^$\n]*\$|[*_]{1,2}", " ", text).replace("·", "\n\n")


def help_text(source: Path) -> str:
    """What `nobounds --help` and the help of its daily commands say, without names of options."""
    commands = [[], ["describe"], ["median"], ["quantile"], ["mean"], ["count"], ["histogram"], ["agg"], ["plan"]]
    environment = {**os.environ, "PYTHONPATH": str(source), "COLUMNS": "1000", "TERMINAL_WIDTH": "1000"}
    texts: dict[str, None] = {}
    for words in commands:
        command = [sys.executable, "-m", "nobounds.cli", *words, "--help"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        lines = re.sub(r"\n {8,}", " ", done.stdout).splitlines()  # what is continued is one line
        texts |= dict.fromkeys(re.sub(r"^ +\S.*?\S? {2,}(?=\S)", "", line).strip() for line in lines)
    shown = (re.sub(r"\[(?:default|required)[^\]]*\]|--?\S+", " ", text) for text in texts)
    return "\n\n".join(text for text in shown if not re.match("Usage|Example|nobounds", text) and len(text.split()) > 2)


def figures(folder: Path) -> dict[str, tuple[float, float]]:
    """The figures of the texts in a checkout."""
    texts = {name: prose((folder / path).read_text()) for name, path in PAGES.items()}
    texts["help"] = help_text(folder / "src")
    return {name: reading_ease(text) for name, text in texts.items()}


def _words(sentence: str) -> list[str]:
    return re.findall(r"[A-Za-z][A-Za-z']*", sentence)


def main() -> None:
    """Print the figures of the working tree, and of other revisions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--at", metavar="REVISION", nargs="*", default=[], help="revisions to compare with")
    for revision in [*parser.parse_args().at, None]:
        with tempfile.TemporaryDirectory() as folder:
            if revision is not None:
                archive = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
                subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
            for name, (ease, length) in figures(ROOT if revision is None else Path(folder)).items():
                print(f"{revision or 'now'}: {name}: reading ease {ease:.0f}, {length:.1f} words per sentence")


if __name__ == "__main__":
    main()
