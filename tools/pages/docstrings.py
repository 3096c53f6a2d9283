"""Docstrings for the site: what is said of each argument as a list, doctests as code, names as links."""

import importlib
import inspect
import re
from typing import Any

import griffe

import nobounds

_ITEM = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*): (.*)")
_NAME = re.compile(r"`(?:nobounds\.)?(\w+)(\.\w+)?`")

_SHORT = {
    "int | float | str | decimal.Decimal | fractions.Fraction": "Number",
    "nobounds.accounting.spending.Chargeable": "Budget",
    "nobounds.ladders.ladder.Ladder": "Ladder",
    "np.random.": "",
    "random.": "",
}


class Readable(griffe.Extension):
    """Rewrite each docstring once, when it is found."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)

    def on_function(self, *, func: Any, **_: Any) -> None:
        """Show the keywords that `**options` stands for, as `help` does."""
        if not any("spelled_out" in str(decorator.value) for decorator in func.decorators):
            return
        public: Any = importlib.import_module(func.module.path)
        for name in func.path.removeprefix(f"{func.module.path}.").split("."):
            public = getattr(public, name)
        func.docstring = griffe.Docstring(readable(inspect.getdoc(public) or ""), parent=func)
        func.parameters = griffe.Parameters(*map(_parameter, inspect.signature(public).parameters.values()))

    def on_package(self, *, pkg: Any, **_: Any) -> None:
        """Let a public name stand for the function where a module is called the same, as it does in Python."""
        for name in nobounds.__all__:
            module = pkg.members.get(name)
            if module is not None and module.is_module:
                pkg.members[name] = griffe.Alias(name, module.members[name], parent=pkg)


def _parameter(given: inspect.Parameter) -> Any:
    kind = griffe.ParameterKind[given.kind.name.lower()]
    annotation = None if given.annotation is given.empty else inspect.formatannotation(given.annotation).strip("'")
    for long, short in _SHORT.items():
        annotation = annotation and annotation.replace(long, short)
    default = None if given.default is given.empty else repr(given.default)
    return griffe.Parameter(given.name, annotation=annotation, kind=kind, default=default)


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
