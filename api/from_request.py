"""Turns a function that takes a request into a Python function whose keywords are the options of the request."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import MISSING, dataclass, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, cleandoc
from textwrap import fill
from typing import Any, TypeVar

from elrcheck.api.arguments import Spelling, check_value, spelling
from elrcheck.base.option import Declared, make, parameters_of
from elrcheck.base.progress import open_progress

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
        value = self.spelling.value(argument)
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
