"""Docstrings for the site: what is said of each argument as a list, doctests as code, names as links."""

import re
from typing import Any

import griffe

import nobounds

_ITEM = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*): (.*)")
_NAME = re.compile(r"`(?:nobounds\.)?(\w+)(\.\w+)?`")


class Readable(griffe.Extension):
    """Rewrite each docstring once, when it is found."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)

    def on_package(self, *, pkg: Any, **_: Any) -> None:
        """Let a public name stand for the function where a module is called the same, as it does in Python."""
        for name in nobounds.__all__:
            module = pkg.members.get(name)
            if module is not None and module.is_module:
                pkg.members[name] = griffe.Alias(name, module.members[name], parent=pkg)


def readable(text: str) -> str:
    """The docstring as Markdown."""
    lines: list[str] = []
    code = item = False
    for line in text.splitlines():
        if line.startswith(">>> ") and not code:
            lines += ["", "```pycon"]
            code, item = True, False
        if code:
            if line.strip():
                lines.append(line)
                continue
            lines.append("```")
            code = False
        match = _ITEM.fullmatch(line)
        if match and lines:
            lines += [] if item else [""]
            lines.append(f"- **{match[1]}**: {_linked(match[2])}")
            item = True
        elif not line.strip():
            item = False
            lines.append("")
        else:
            lines.append(("    " if item else "") + _linked(line))
    return "\n".join([*lines, "```"] if code else lines)


def _linked(line: str) -> str:
    def linked(match: re.Match[str]) -> str:
        if match[1] not in nobounds.__all__:
            return match[0]
        return f"[{match[0]}][nobounds.{match[1]}{match[2] or ''}]"

    return _NAME.sub(linked, line)
