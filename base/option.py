"""An option is declared once, at the field of a request, or the parameter of a verb, that holds its value.

::

    max_depth: Annotated[int | None, Option("Stop at this depth.", least=1, group="Limits")] = None

From such fields `console/click_options.py` makes the options of the command line, with completion, environment
variables, settings and help, and `api/functions.py` the keywords of the functions in Python, with signatures, checks
and documentation. Type and default are those of the field (docs/adr/0032-options-in-requests.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

Kind: TypeAlias = Literal[
    "",
    "axes",
    "compared",
    "duration",
    "factor",
    "file",
    "folder",
    "list",
    "location",
    "path",
    "run",
    "scope",
    "settings",
    "size",
    "unprocessed",
    "workers",
]
"""The notation of a value, if the type of the field does not determine it. duration: seconds; size: bytes; list: words
separated by commas; location: a path, or the URI of a storage that only Spark reads; run: a run folder, by default the
newest; settings, compared: KEY=VALUE; axes: KEY=VALUES."""

Group: TypeAlias = Literal["", "Model", "Kafka", "Properties", "Limits", "Engine", "Run folder", "Output"]
"""The heading of an option in the help; "" for one that is specific to its verb."""

R = TypeVar("R")


@dataclass(eq=False, slots=True)
class Option:
    """The presentation of a field to a user.

    help: a sentence; of an option that may be repeated without its full stop, since the help adds that it may be.
    flags: separated by spaces, by default the name of the field; a field that is True by default gets `--no-..`, too.
    metavar: the value in the help; by default N for a number, else by the kind.
    least, most: range of a number; least_in_python: the least that a function accepts, if different.
    exists: the file or folder must exist. choices: the accepted values, if the type is not a Literal.
    complete: name of a source in `console/completion.py`; otherwise: what the shell completes if no name matches.
    default: that of the command line, if it differs from the field's.
    show_default: text for the default in the help, or whether to show it; by default any default is shown.
    bare: the value of the option without an argument. envvar: variables in place of ELRCHECK_VERB_OPTION.
    argument: an argument on the command line. positional: a positional parameter in Python.
    python: name of the parameter in Python, if different. parts: for a request inside a request, the fields that are
    options of this verb; by default all. only: where it exists; `nowhere` for a field that the verb fills in.
    """

    help: str = ""
    flags: str = ""
    metavar: str | None = None
    kind: Kind = ""
    group: Group = ""
    least: float | None = None
    most: float | None = None
    least_in_python: float | None = None
    exists: bool = False
    choices: tuple[Any, ...] = ()
    complete: str = ""
    otherwise: Literal["", "file", "dir"] = ""
    default: Any = None
    show_default: str | bool | None = None
    bare: str | None = None
    envvar: tuple[str, ...] = ()
    argument: bool = False
    positional: bool = False
    python: str = ""
    parts: tuple[str, ...] = ()
    only: Literal["", "console", "python", "nowhere"] = ""


@dataclass(frozen=True)
class Declared:
    """An option with the name, type and default of its field.

    type: without None; optional: None is a value. default: MISSING if a value is required. several: the field holds a
    tuple of values of type `item`. choices: the only accepted values, if not empty.
    """

    name: str
    type: Any
    default: Any
    option: Option
    optional: bool = False
    several: bool = field(init=False)
    item: Any = field(init=False)
    choices: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        several = get_origin(self.type) is tuple
        item = get_args(self.type)[0] if several else self.type
        choices = self.option.choices or (get_args(item) if get_origin(item) is Literal else ())
        for name, value in (("several", several), ("item", item), ("choices", choices)):
            object.__setattr__(self, name, value)


def options_of(kind: Any, default: Any = MISSING, whole: bool = False) -> Iterator[Declared]:
    """Yield the options of a request, and in their places those of the requests inside it.

    default: a request with the defaults. whole: yield a request inside it as one option if its Option has a help.
    """
    hints = _hints(kind)
    for part in fields(kind):
        value = getattr(default, part.name) if default is not MISSING else part.default
        if value is MISSING and part.default_factory is not MISSING:
            value = part.default_factory()
        yield from expand(part.name, hints[part.name], value, whole)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Return the types of the fields of a request, with their options."""
    return get_type_hints(kind, include_extras=True)


def expand(name: str, hint: Any, default: Any, whole: bool = False) -> Iterator[Declared]:
    """Yield the option of a field or parameter, or, for a request, all its options."""
    kind, option = unwrap(hint)
    if option is not None and option.only == "nowhere":
        return
    if is_dataclass(kind) and not (whole and option and option.help):
        parts = option.parts if option else ()
        yield from (inner for inner in options_of(kind, default, whole) if not parts or inner.name in parts)
    elif option is not None:
        optional = NoneType in get_args(hint.__origin__) and get_origin(hint.__origin__) is not Literal
        yield Declared(name, kind, default, option, optional)


def location(text: str) -> Path | str:
    """Return a path, or the text itself if it is the URI of a storage."""
    return text if "://" in text else Path(text)


def unwrap(hint: Any) -> tuple[Any, Option | None]:
    """Return the type without `Annotated` and without None, and the Option that annotates it."""
    option = next((note for note in reversed(getattr(hint, "__metadata__", ())) if isinstance(note, Option)), None)
    kind = hint.__origin__ if option is not None else hint
    if get_origin(kind) in (Union, UnionType):
        others = [part for part in get_args(kind) if part is not NoneType]
        kind = others[0] if len(others) == 1 else kind
    return kind, option


def parameters_of(
    function: Callable[..., Any], where: Literal["console", "python"], names: Mapping[str, Any] | None = None
) -> list[tuple[str, Any, list[Declared]]]:
    """Return the parameters of a function: the name, the type, and the options that each declares there.

    names: names in annotations that the function's module does not have.
    """
    hints = get_type_hints(function, localns=dict(names or {}), include_extras=True)
    parameters = []
    for name, parameter in signature(function).parameters.items():
        default = MISSING if parameter.default is Parameter.empty else parameter.default
        options = expand(name, hints[name], default, whole=where == "python")
        declared = [one for one in options if one.option.only in ("", where)]
        parameters.append((name, unwrap(hints[name])[0], declared))
    return parameters


def make(kind: Callable[..., R], values: Mapping[str, Any]) -> R:
    """Return the request with these values of its options, also inside inner requests, and defaults for the rest."""
    hints = _hints(kind)
    content = {}
    for part in fields(kind):  # type: ignore[arg-type]  # a request is a dataclass
        inner, option = unwrap(hints[part.name])
        if part.name in values:
            content[part.name] = values[part.name]
        elif is_dataclass(inner) and (option is None or option.only != "nowhere"):
            content[part.name] = make(inner, values)  # type: ignore[arg-type]
    return kind(**content)
