"""A function that takes a request as a Python function whose keywords are the options of the request.

Its arguments become the values of the request, and are checked with the error codes of the command line.
"""

from __future__ import annotations

import builtins
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, is_dataclass
from enum import Enum
from functools import wraps
from inspect import Parameter, Signature, cleandoc
from pathlib import Path
from textwrap import fill
from types import NoneType
from typing import Any, Literal, TypeAlias, TypeVar, get_args, get_origin

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.option import Declared, location, make, parameters_of
from elrcheck.base.printable import shortened
from elrcheck.base.progress import open_progress
from elrcheck.base.typed.configuration import setting_text

Setting: TypeAlias = bool | int | str | Enum
Settings: TypeAlias = Mapping[str, Setting]
Words: TypeAlias = str | Iterable[str]
"""One id, name or glob, or several."""
Place: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True)
class Spelling:
    """A parameter in Python: its annotation and default, and the function from an argument to the field's value."""

    annotation: str
    default: Any
    value: Callable[[Any], Any]


def spelling(declared: Declared) -> Spelling:
    """Return the parameter in Python for an option."""
    match declared.option.kind:
        case "settings":
            return Spelling("Settings | None", None, lambda settings: pairs(settings or {}))
        case "axes":
            annotation = "Mapping[str, Setting | Iterable[Setting]] | None"
            return Spelling(annotation, None, lambda axes: pairs(axes or {}))
        case "compared":
            return Spelling("Iterable[Mapping[str, Setting]]", (), lambda others: tuple(map(_compared, others)))
        case "scope":
            return Spelling("Place", declared.default, os.fspath)
        case "location":
            annotation = "Place" if declared.option.argument else "Iterable[Place]"
            return Spelling(annotation, (), lambda places: tuple(location(str(place)) for place in places))
    if declared.type is Path:
        annotation = _or_none("Place", declared.optional)
        return Spelling(annotation, declared.default, lambda place: None if place is None else Path(place))
    if declared.several and declared.item is Path:
        return Spelling("Iterable[Place]", declared.default, lambda places: tuple(map(Path, places)))
    if declared.several:
        words = "Words" if declared.item is str else f"Iterable[{text_of(declared.item)}]"
        return Spelling(words, declared.default, words_of)
    if is_dataclass(declared.type):
        return Spelling(f"{text_of(declared.type)} | None", None, lambda value: value or declared.default)
    return Spelling(_or_none(text_of(declared.type), declared.optional), declared.default, lambda value: value)


def _or_none(annotation: str, optional: bool) -> str:
    return f"{annotation} | None" if optional else annotation


def text_of(kind: Any) -> str:
    """Return a type as source text."""
    if get_origin(kind) is Literal:
        return f"Literal[{', '.join(map(repr, get_args(kind)))}]".replace("'", '"')
    return "None" if kind is NoneType else str(kind.__name__)


def pairs(settings: Mapping[str, Setting | Iterable[Setting]]) -> tuple[str, ...]:
    """Return settings, or axes with their values, as `--set` and `--sweep` write them."""
    return tuple(f"{key}={_values(key, value)}" for key, value in settings.items())


def _values(key: str, values: Setting | Iterable[Setting]) -> str:
    if isinstance(values, str) or not isinstance(values, Iterable):
        return setting(key, values)
    return ",".join(setting(key, value) for value in values)


def setting(key: str, value: object) -> str:
    """Return a value as `--set` writes it. Raises UsageFault for a value of another type than `Setting`."""
    if isinstance(value, Enum | int | str):
        return setting_text(value)
    raise UsageFault("override-bad-value", f"`{key}`: expected a boolean, a number or a name, not {value!r}", where=key)


def _compared(settings: Mapping[str, Setting]) -> str:
    """Return settings as `--compare` writes them."""
    if "elr" in settings and isinstance(settings["elr"], bool):
        settings = {**settings, "elr": "on" if settings["elr"] else "off"}
    return ",".join(f"{key}={setting(key, value)}" for key, value in settings.items())


def words_of(value: Words) -> tuple[str, ...]:
    """Return one or several words as a tuple; a str is one word."""
    return (value,) if isinstance(value, str) else tuple(value)


def has_type(value: Any, declared: Declared) -> bool:
    """Return whether a value has the type of its field; the choices of a Literal are checked by `check_value`."""
    if value is None:
        return declared.optional
    values = value if declared.several else (value,)
    match declared.item:
        case builtins.int:
            return all(isinstance(each, int) and not isinstance(each, bool) for each in values)
        case builtins.float:
            return all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)
        case builtins.bool | builtins.str:
            return all(isinstance(each, declared.item) for each in values)
    return True


def of_another_type(name: str, argument: object, spelling: Spelling) -> UsageFault:
    """Return the error for an argument of another type than the annotation of its parameter."""
    message = f"`{name}`: expected {spelling.annotation}, not {shortened(repr(argument))}"
    return UsageFault("usage-bad-value", message, where=name)


def check_value(name: str, value: Any, declared: Declared) -> None:
    """Raise UsageFault for a value that the option does not accept. None means unset, and is accepted."""
    option = declared.option
    if value is None:
        return
    literal = declared.item
    choices = get_args(literal) if get_origin(literal) is Literal else option.choices
    if choices:
        for one in value if declared.several else (value,):
            one_of(name, one, choices)
    if option.kind == "duration" and not value > 0:
        raise UsageFault("usage-bad-value", f"`{name}`: expected more than 0 seconds, not {value}", where=name)
    least = option.least if option.least_in_python is None else option.least_in_python
    if (least is not None and value < least) or (option.most is not None and value > option.most):
        range_ = f"{least} or more" if option.most is None else f"{least} to {option.most}"
        raise UsageFault("usage-bad-value", f"`{name}`: expected {range_}, not {value}", where=name)


def one_of(name: str, value: object, choices: Iterable[object]) -> None:
    """Raise UsageFault with a suggestion unless the value is one of the choices."""
    names = [str(choice) for choice in choices]
    if str(value) not in names:
        raise UsageFault(
            "usage-bad-value",
            f"`{name}`: expected one of {', '.join(names)}, not {value!r}",
            where=name,
            help=did_you_mean(str(value), names),
        )


R = TypeVar("R")


@dataclass(frozen=True)
class Keyword:
    """A parameter of the function in Python, with its option."""

    declared: Declared
    spelling: Spelling

    @property
    def name(self) -> str:
        return self.declared.option.python or self.declared.name

    def parameter(self) -> Parameter:
        """Return the parameter: positional if the option says so, or if it is an argument that takes several values."""
        option = self.declared.option
        if option.argument and self.declared.several:
            return Parameter(self.name, Parameter.VAR_POSITIONAL, annotation=self.spelling.annotation)
        kind = Parameter.POSITIONAL_OR_KEYWORD if option.positional else Parameter.KEYWORD_ONLY
        default = Parameter.empty if self.spelling.default is MISSING else self.spelling.default
        return Parameter(self.name, kind, default=default, annotation=self.spelling.annotation)

    def value(self, argument: Any) -> Any:
        """Return the value of the field. Raises UsageFault for an argument that the option does not accept."""
        try:
            value = self.spelling.value(argument)
        except (TypeError, AttributeError):
            raise of_another_type(self.name, argument, self.spelling) from None
        if not has_type(value, self.declared):
            raise of_another_type(self.name, argument, self.spelling)
        check_value(self.name, value, self.declared)
        return value


def from_request(function: Callable[..., R]) -> Callable[..., R]:
    """Return a function with the request's options as keywords, for one that takes a request and a progress.

    The function's other parameters are options, too; `progress` becomes a flag.
    """
    parts = [
        (name, kind, [Keyword(one, spelling(one)) for one in declared])
        for name, kind, declared in parameters_of(function, "python")
    ]
    signature = _signature([keyword for _, _, keywords in parts for keyword in keywords], function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> R:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments: dict[str, Any] = {}
        for name, kind, keywords in parts:
            values = {keyword.declared.name: keyword.value(bound.arguments[keyword.name]) for keyword in keywords}
            arguments |= {name: make(kind, values)} if is_dataclass(kind) else values  # type: ignore[arg-type]
        visible = bound.arguments["progress"] and sys.stderr is not None
        with open_progress(sys.stderr, os.environ, visible=visible) as progress:
            return function(**arguments, progress=progress)

    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__doc__ = _documentation(function.__doc__ or "", parts)
    return call


def _signature(keywords: list[Keyword], function: Callable[..., Any]) -> Signature:
    parameters = [keyword.parameter() for keyword in keywords]
    parameters.append(Parameter("progress", Parameter.KEYWORD_ONLY, default=False, annotation="bool"))
    parameters.sort(key=lambda parameter: parameter.kind)
    return Signature(parameters, return_annotation=function.__annotations__["return"])


def _documentation(text: str, parts: list[tuple[str, Any, list[Keyword]]]) -> str:
    """Return the docstring of a function, followed by a line for each keyword."""
    lines = [f"{keyword.name}: {_sentence(keyword)}" for _, _, keywords in parts for keyword in keywords]
    lines.append("progress: Show progress on stderr.")
    return "\n".join([cleandoc(text), "", *(fill(line, 110, subsequent_indent="    ") for line in lines)])


def _sentence(keyword: Keyword) -> str:
    """Return the help of an option for Python: with keywords instead of flags, and with the unit."""
    help = re.sub(r"^With --[\w-]+: (\w)", lambda match: match[1].upper(), keyword.declared.option.help)
    help = re.sub(r"--([a-z][\w-]*)", lambda match: f"`{match[1].replace('-', '_')}`", help).removesuffix(".")
    unit = {"duration": " (seconds)", "size": " (bytes)"}.get(keyword.declared.option.kind, "")
    return f"{help}{unit}."
