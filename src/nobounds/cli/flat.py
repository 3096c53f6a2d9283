"""Options in groups: a command takes dataclasses of options, and each of their fields is an option in the shell."""

from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

from typer.models import OptionInfo

from nobounds.cli.errors import plain_errors


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its dataclasses, nested ones included, as parameters; errors print as one line."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    for name, given in signature(command).parameters.items():
        plain = given.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])
        parameters += _fields(hints[name]) if is_dataclass(hints[name]) else [plain]

    @wraps(command)
    def flattened(**given: Any) -> None:
        with plain_errors():
            groups = {name: _made(kind, given) for name, kind in hints.items() if is_dataclass(kind)}
            command(**groups, **given)

    flattened.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    flattened.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flattened


@cache
def _fields(group: Any) -> list[Parameter]:
    """The fields of a group, nested groups included, as parameters."""
    hints = get_type_hints(group, include_extras=True)
    parameters: list[Parameter] = []
    for each in fields(group):
        hint = _under(hints[each.name], getattr(group, "panel", None))
        default = Parameter.empty if each.default is MISSING else each.default
        plain = Parameter(each.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)
        parameters += _fields(hints[each.name]) if is_dataclass(hints[each.name]) else [plain]
    return parameters


def _under(hint: Any, panel: str | None) -> Any:
    """The annotation of an option with its heading; of a copy, because groups may share options."""
    given = getattr(hint, "__metadata__", ())
    options = [copy(one) if isinstance(one, OptionInfo) else one for one in given]
    for option in options:
        if isinstance(option, OptionInfo):
            option.rich_help_panel = option.rich_help_panel or panel
    return Annotated[(hint.__origin__, *options)] if given else hint


def _made(group: Any, given: dict[str, Any]) -> Any:
    """A group built from its arguments in `given`, which are removed there."""
    hints = get_type_hints(group)
    kinds = {each.name: hints[each.name] for each in fields(group)}
    return group(
        **{name: _made(kind, given) if is_dataclass(kind) else given.pop(name) for name, kind in kinds.items()}
    )
