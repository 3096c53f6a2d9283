"""A registry entry as YAML, with comments where a person has to choose."""

import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from nobounds.explaining.registry.sentences import FILL_IN

_WIDTH = 110
# Fields that the releases do not tell. The registry allows a few words for each, so nothing is written until a person
# chooses: a comment stands behind the last field of the mapping.
_CHOICES = {
    "basic": ("data_product_sector: Technology, Healthcare, Education, Government, Energy or Finance",),
    "deployment_model": (
        "data_source_type: Static or Dynamic, and data_source_type_details",
        "access_type: Interactive or Non-interactive, and access_type_details",
    ),
}
_REMARKS = {
    "url_slug": "a short name for the address",
    "publication_date": "the date of the first publication",
    "data_product_type": "check, another type if the answers became something else",
    "release_type": "check, Many releases if there will be more",
}


def registry_yaml(entry: Mapping[str, Any]) -> str:
    """The entry as YAML, which says at its top how much there is to fill in."""
    body = "\n".join(_mapping(entry, 0))
    count = body.count(FILL_IN)
    return f"# Written from releases. {count} places to fill in or check are marked FILL IN.\n{body}\n"


def _mapping(fields: Mapping[str, Any], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from _mapping(value, depth + 1)
            yield from (f"{indent}  # {FILL_IN} {choice}" for choice in _CHOICES.get(name, ()))
        elif isinstance(value, list):
            yield f"{indent}{name}:"
            yield from (f"{indent}  - {_scalar(each)}" for each in value)
        elif isinstance(value, str) and ("\n" in value or len(value) > _WIDTH):
            yield f"{indent}{name}: |-"
            yield from _block(value, f"{indent}  ")
        else:
            remark = f" # {FILL_IN} {_REMARKS[name]}" if name in _REMARKS else ""
            yield f"{indent}{name}: {_scalar(value)}{remark}"


def _scalar(value: Any) -> str:
    """A value on one line: JSON, which is YAML; a date in quotes, so that it stays a text."""
    if isinstance(value, float):
        return repr(value) if "e" not in repr(value) else _exponent(value)
    return json.dumps(value, ensure_ascii=False)


def _exponent(value: float) -> str:
    """A number with an exponent: YAML 1.1 reads 1e-06 as a text, and 1.0e-06 as a number."""
    digits, _, power = repr(value).partition("e")
    return f"{digits if '.' in digits else f'{digits}.0'}e{power}"


def _block(text: str, indent: str) -> Iterator[str]:
    for line in text.split("\n"):
        hanging = "  " if line.startswith("- ") else ""
        wrapped = textwrap.wrap(line, _WIDTH, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)
        yield from (f"{indent}{part}" for part in wrapped or [""])
