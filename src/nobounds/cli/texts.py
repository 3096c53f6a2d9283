"""Options that are texts stay texts.

typer converts the value of every option, also of those that are not given, with pydantic, which takes as long to load
as numpy. Most options here are texts, lists of texts or paths, and need no conversion.
"""

from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints


def keep_texts(command: Any, function: Any = None) -> Any:
    """The command of a function; its options that are texts, or not given, are left as they are."""
    kinds = {} if function is None else get_type_hints(function)
    for param in command.params:
        keep_text(param, kinds.get(param.name))
    return command


def keep_text(param: Any, kind: Any = None) -> Any:
    """The parameter, for values of this type."""
    plain = next(each for each in get_args(kind) if each is not type(None)) if isinstance(kind, UnionType) else kind
    convert = type(param).process_value

    def process_value(ctx: Any, value: Any) -> Any:
        if value is None and not param.required:
            nothing = () if param.multiple or param.nargs == -1 else None
            return nothing if param.callback is None else param.callback(ctx, param, nothing)
        if plain is str and isinstance(value, str):
            return value
        if plain is Path and isinstance(value, str):
            return Path(value)
        if plain == list[str] and isinstance(value, tuple | list) and value:
            return list(value)
        return convert(param, ctx, value)

    param.process_value = process_value
    return param
