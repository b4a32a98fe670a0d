"""The verb `config`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import click

from elrcheck.base.errors import ExitCode
from elrcheck.base.option import Option
from elrcheck.base.typed.configuration import setting_text
from elrcheck.console.output import Form
from elrcheck.console.shell import Shell
from elrcheck.console.verb import verb

if TYPE_CHECKING:
    from elrcheck.declared.effective import Effective


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
    from elrcheck.console.effective_options import effective_options

    options, selection = effective_options(click.get_current_context().find_root(), command, arguments)
    values: tuple[Effective, ...] = ()
    if selection is not None:
        from elrcheck.declared.effective import effective

        values = effective(selection)
    if form == "json":
        from elrcheck.report.json_report import as_data

        document = {"command": command, "options": as_data(options), "model": as_data(values)}
        shell.write_json(document)
        return ExitCode.HOLDS
    from elrcheck.report.document import Table

    with_defaults = shell.detail > 0
    rows = [
        (one.name, _text(one.value), one.source)
        for one in options
        if one.source != "default" or with_defaults or one.name in ("--variant", "--scope")
    ]
    settings = [(one.name, _text(one.value), one.source) for one in values if one.source != "default" or with_defaults]
    shell.show([Table(("option", "value", "from"), rows), Table(("setting", "value", "from"), settings)])
    hidden = len(options) + len(values) - len(rows) - len(settings)
    if hidden:
        shell.note(f"{hidden} more have built-in values: `elrcheck -v config` shows them")
    return ExitCode.HOLDS


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case list():
            return ", ".join(_text(part) for part in value)
    return setting_text(value)
