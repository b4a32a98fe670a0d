"""A verb of the command line: a function whose parameters declare its options.

A parameter is the shell, the output of the report, a request, or another option (`base/option.py`). click's parameters
are created at first use, so that `elrcheck --help` creates none and imports no request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import is_dataclass, replace
from functools import cached_property
from importlib import import_module
from inspect import getdoc
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.option import Declared, make, parameters_of
from elrcheck.console.click_options import click_parameter, values_of
from elrcheck.console.help import CommandPage, Commands
from elrcheck.console.output import Formats, Output
from elrcheck.console.shell import Shell

if TYPE_CHECKING:
    from elrcheck.base.requests import Selection
    from elrcheck.traces.loaded import NamedSelection

EXIT_CODES = """
\b
Exit codes: 0 holds and complete, 1 finding, 2 did not run, 3 inconclusive,
4 environment, 5 nothing checked, 70 internal error, 130 interrupted.
"""
REDUCTIONS = ("skips_no_news=true", "forgets=true")
"""Knobs that merge states no property and no step can distinguish (docs/adr/0008, 0009)."""


class FromFunction(click.Command):
    """A command whose options are declared by the parameters of a function.

    requests: the module of `base/` with its requests. formats: those of its report. of_kafka: it is about Kafka
    itself, so it takes no --model.
    """

    def __init__(
        self,
        function: Callable[..., ExitCode | None],
        *,
        requests: str = "",
        formats: Formats | None = None,
        of_kafka: bool = False,
        name: str | None = None,
        epilog: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(
            name or function.__name__.replace("_", "-"),
            callback=self.call,
            help=getdoc(function),
            epilog=epilog or (EXIT_CODES if formats else None),
            **options,
        )
        del self.params  # click's empty list, which hides the property below
        self.function = function
        self.requests = requests
        self.formats = formats
        self.of_kafka = of_kafka

    @cached_property
    def parameters(self) -> list[tuple[str, Any, list[Declared]]]:
        """Return the parameters of the function: the name, the type, and the options that each declares."""
        names = vars(import_module(f"elrcheck.base.{self.requests}")) if self.requests else {}
        return parameters_of(self.function, "console", names)

    @cached_property
    def params(self) -> list[click.Parameter]:  # type: ignore[override]  # click assigns a list
        declared = [click_parameter(one) for _, _, options in self.parameters for one in options]
        return [*declared, *(self.formats.parameters() if self.formats else ())]

    def call(self, **params: Any) -> ExitCode | None:
        """Call the function with the values that click parsed."""
        ctx = click.get_current_context()
        arguments: dict[str, Any] = {}
        for name, kind, declared in self.parameters:
            values = values_of(declared, params)
            if kind is Shell:
                arguments[name] = ctx.obj
            elif kind is Output and self.formats is not None:
                arguments[name] = self.formats.output(ctx)
            elif is_dataclass(kind):
                arguments[name] = make(kind, values)  # type: ignore[arg-type]
            else:
                arguments |= values
        return self.function(**arguments)


class Verb(FromFunction, CommandPage):
    """A verb with its help page."""


class VerbGroup(FromFunction, Commands):
    """A verb with verbs below it."""


def verb(cls: type[Verb] = Verb, **how: Any) -> Callable[[Callable[..., ExitCode | None]], Verb]:
    """Decorate a function as a verb; the keywords are those of `FromFunction`."""
    return lambda function: cls(function, **how)


def on_command_line(*names: str) -> tuple[str, ...]:
    """Return which of these options are on the command line itself, not in a settings file."""
    ctx = click.get_current_context()
    return tuple(name for name in names if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE)


def reject_given(names: Iterable[str], only: str) -> None:
    """Raise UsageFault if one of these options is on the command line; defaults from files are allowed."""
    ctx = click.get_current_context()
    for name in on_command_line(*names):
        option = next(part.opts[0] for part in ctx.command.params if part.name == name)
        raise UsageFault("usage-option", f"{option} requires {only}", help=f"see `{ctx.command_path} --help`")


def reduced(selection: Selection, reduce: bool) -> Selection:
    """Return the selection, if `reduce` with the knobs of `--reduce`, which `--set` may override.

    Raises UsageFault for a model without these knobs.
    """
    if not reduce:
        return selection
    from elrcheck.base.typed.configuration import config_fields
    from elrcheck.declared.declared_model import declared

    if not {knob.partition("=")[0] for knob in REDUCTIONS} <= set(config_fields(declared(selection.source).config)):
        message = f"--reduce merges states of Kafka's partition, and {selection.model} is not a copy of it"
        raise UsageFault("usage-option", message, help="leave it out")
    return replace(selection, overrides=(*REDUCTIONS, *selection.overrides))


def selection_of_trace(selection: Selection) -> NamedSelection:
    """Return the selection, and which of its options override those of a trace file."""
    from elrcheck.traces.loaded import NamedSelection

    return NamedSelection(selection, frozenset(on_command_line("variant", "scope", "overrides")))
