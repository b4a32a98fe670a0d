"""Builds click's options from those that requests and verbs declare (`base/option.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from pathlib import Path
from typing import Any

import click

from elrcheck.base.option import Declared, Option
from elrcheck.console import completion
from elrcheck.console.option_values import (
    NEWEST,
    Factor,
    Location,
    RunFolder,
    WordList,
    WorkerCount,
    as_duration,
    duration,
    size,
)

ON = "on"
METAVARS = {
    "axes": "KEY=VALUES",
    "compared": "KEY=VALUE",
    "duration": "90s|5m|1h",
    "file": "FILE",
    "folder": "DIR",
    "settings": "KEY=VALUE",
    "size": "4GiB",
    "workers": "N|auto",
}
"""The placeholder of a value in the help, by its kind."""


class GroupedOption(click.Option):
    """An option of click with its heading in the help."""

    def __init__(self, *args: Any, group: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


def click_parameter(declared: Declared) -> click.Parameter:
    """Return the option or argument of the command line for a field."""
    option = declared.option
    common: dict[str, Any] = {"metavar": _metavar(declared), "shell_complete": _completion(option)}
    if option.argument:
        if isinstance(declared.default, str):
            common["default"] = declared.default
        return click.Argument(
            [declared.name],
            type=_type(declared),
            nargs=-1 if declared.several else 1,
            required=declared.default is MISSING,
            **common,
        )
    if option.envvar:
        common["envvar"] = list(option.envvar)
    return GroupedOption(
        [*_flags(declared), declared.name],
        help=_help(declared),
        group=option.group,
        required=declared.default is MISSING,
        **common,
        **_value(declared),
    )


def values_of(declared: list[Declared], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that click parsed, without omitted options whose field has a default."""
    return {
        one.name: _field_value(one, params[one.name])
        for one in declared
        if params[one.name] is not None or one.default in (None, MISSING) or one.option.default is not None
    }


def _field_value(declared: Declared, value: Any) -> Any:
    """Return the value of a field; numbers and switches among choices are texts in click."""
    if not isinstance(value, str):
        return value
    if declared.type is bool:
        return value == ON
    return next((choice for choice in declared.choices if str(choice) == value), value)


def _flags(declared: Declared) -> list[str]:
    """Return the names of an option, with the negative one of a flag that is on by default."""
    flag = declared.option.flags or "--" + declared.name.replace("_", "-")
    if _is_flag(declared) and declared.default:
        return [f"{flag}/--no-{flag.removeprefix('--')}"]
    return flag.split(" ")


def _is_flag(declared: Declared) -> bool:
    return declared.type is bool and isinstance(declared.default, bool)


def _help(declared: Declared) -> str:
    help = declared.option.help
    if not declared.several or declared.option.kind == "list":
        return help
    return f"{help}. May be repeated." if ";" in help else f"{help}; may be repeated."


def _metavar(declared: Declared) -> str | None:
    option = declared.option
    if option.metavar is not None:
        return option.metavar
    return "N" if declared.type is int and not option.kind else METAVARS.get(option.kind)


def _value(declared: Declared) -> dict[str, Any]:
    """Return the arguments of click's option for its type and its default."""
    option = declared.option
    if _is_flag(declared):
        on = {"default": True, "show_default": bool(option.show_default)} if declared.default else {}
        return {"is_flag": True, **on}
    if declared.several and option.kind != "list":
        return {"type": _type(declared), "multiple": True}
    default = option.default if option.default is not None else _default(declared)
    value: dict[str, Any] = {"type": _type(declared)}
    if default is not None:
        show = option.show_default if option.show_default is not None else default != ""
        value |= {"default": default, "show_default": show}
    bare = NEWEST if option.kind == "run" else option.bare
    if bare is not None:
        value |= {"is_flag": False, "flag_value": bare}
    return value


def _default(declared: Declared) -> Any:
    """Return the default as a user would type it; None if the option has no default, or it cannot be typed."""
    kind, default = declared.option.kind, declared.default
    if default is MISSING or (declared.choices and kind != "list" and default not in declared.choices):
        return None
    match kind:
        case "workers" if default is None:
            return "auto"
        case "duration" if default is not None:
            return as_duration(default)
        case "list":
            return ",".join(default)
    return str(default) if isinstance(default, Path) else default


def _type(declared: Declared) -> Any:
    """Return the type of click that parses and checks a value."""
    option = declared.option
    kind = declared.item
    match option.kind:
        case "duration":
            return duration
        case "size":
            return size
        case "workers":
            return WorkerCount()
        case "factor":
            return Factor(option.least, option.most)
        case "list":
            return WordList(declared.choices)
        case "run":
            return RunFolder()
        case "path" | "file" | "folder":
            return click.Path(
                exists=option.exists, file_okay=option.kind != "folder", dir_okay=option.kind != "file", path_type=Path
            )
        case "unprocessed":
            return click.UNPROCESSED
        case "location":
            return Location()
    if declared.choices:
        return click.Choice([str(choice) for choice in declared.choices])
    if kind is bool:
        return click.Choice((ON, "off"))
    if kind is int and (option.least is not None or option.most is not None):
        return click.IntRange(option.least, option.most)  # type: ignore[arg-type]  # those of an int are whole
    return kind if kind is not str else None


def _completion(option: Option) -> completion.Complete | None:
    """Return the completion of an option by the name of its source, or by the kind of its value."""
    if option.kind == "settings":
        return completion.complete_setting
    if option.kind == "axes":
        return completion.complete_axis
    if not option.complete:
        return None
    return completion.completer(getattr(completion, option.complete), option.otherwise)
