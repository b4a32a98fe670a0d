"""The verb `config`: the settings that a command would use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import click
from click.core import ParameterSource

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.option import Option
from elrcheck.base.roundtrip import Record
from elrcheck.console.output import Form
from elrcheck.console.shell import Shell
from elrcheck.console.verb import verb

if TYPE_CHECKING:
    from elrcheck.base.requests import Selection
    from elrcheck.catalogue.effective import Effective


class Chosen(Record, frozen=True):
    """One option of a command. source: where its value comes from, in words."""

    name: str
    value: Any
    source: str


@verb(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def config(
    shell: Shell,
    form: Form = "text",
    command: Annotated[str, Option(complete="commands", argument=True)] = "check",
    arguments: Annotated[
        tuple[str, ...], Option(metavar="[OPTIONS OF COMMAND]", kind="unprocessed", argument=True)
    ] = (),
) -> ExitCode:
    """Show the settings COMMAND (check) would use, and where each value comes from.

    An option comes from the command line, the environment, the settings file or a built-in default; a
    setting of the model from --set (or --reduce), the scope, the variant or a built-in default. Hides
    built-in defaults unless -v is given.
    """
    chosen, selection = _chosen(click.get_current_context(), command, arguments)
    values: tuple[Effective, ...] = ()
    if selection is not None:
        from elrcheck.catalogue.effective import effective

        values = effective(selection)
    if form == "json":
        import json

        from elrcheck.report.json_report import as_data

        document = {"command": command, "options": as_data(chosen), "model": as_data(values)}
        shell.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        return ExitCode.HOLDS
    page, with_defaults = shell.page(), shell.detail > 0
    options = [
        one for one in chosen if with_defaults or one.source != "default" or one.name in ("--variant", "--scope")
    ]
    page.table(("option", "value", "from"), ((one.name, _text(one.value), one.source) for one in options))
    settings = [value for value in values if with_defaults or value.source != "default"]
    page.table(("setting", "value", "from"), ((one.name, _text(one.value), one.source) for one in settings))
    hidden = len(chosen) - len(options) + len(values) - len(settings)
    if hidden:
        shell.note(f"{hidden} more have built-in values: `elrcheck -v config` shows them")
    return ExitCode.HOLDS


def _chosen(ctx: click.Context, name: str, arguments: tuple[str, ...]) -> tuple[tuple[Chosen, ...], Selection | None]:
    """Return the options of a command with their effective values, and its selection if it has one."""
    from elrcheck.base.requests import Selection
    from elrcheck.console.selection_options import reduced

    group, above = ctx.find_root().command, ctx.find_root()
    assert isinstance(group, click.Group)
    _, command, _ = group.resolve_command(above, [name])
    if command is None or isinstance(command, click.Group):
        raise UsageFault("usage-unknown-command", f"`{name}` has no options of its own", help="try check")
    with command.make_context(name, list(arguments), parent=above) as inner:
        chosen = tuple(
            Chosen(option.opts[0], _plain(inner.params[option.name]), _source(inner, option.name))
            for option in command.params
            if isinstance(option, click.Option) and option.name in inner.params
        )
        params = inner.params
    if not {"variant", "scope", "overrides"} <= set(params):
        return chosen, None
    selection = Selection(params["variant"], params["scope"], params["overrides"])
    return chosen, reduced(selection, bool(params.get("reduce")))


def _source(ctx: click.Context, name: str) -> str:
    match ctx.get_parameter_source(name):
        case ParameterSource.COMMANDLINE:
            return "command line"
        case ParameterSource.ENVIRONMENT:
            return "environment"
        case ParameterSource.DEFAULT_MAP:
            return "settings file"
    return "default"


def _plain(value: Any) -> Any:
    """Return the value of an option as JSON has it."""
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return ", ".join(_text(part) for part in value)
    return str(value)
