"""Verbs below `elrcheck model`: fork."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elrcheck.base.errors import ExitCode
from elrcheck.base.option import Option
from elrcheck.console.help import Commands
from elrcheck.console.shell import Shell
from elrcheck.console.verb import verb

if TYPE_CHECKING:
    from elrcheck.base.requests import ModelFile

models = Commands("model", help="Copy a model to change it.")


@verb(requests="requests")
def fork(
    shell: Shell,
    folder: Annotated[Path, Option(metavar="DIR", argument=True, kind="folder")],
    *,
    model: ModelFile = None,
) -> ExitCode:
    """Copy Kafka's model into a new folder, to change its rules there.

    The copy is a model for --model, with the variants and scopes of Kafka's partition. Refuses a folder that is not
    empty. --model copies another model.
    """
    from elrcheck.commands.fork import write_fork

    paths = write_fork(folder, model)
    shell.write_line(f"wrote    {folder}: {len(paths)} files")
    shell.note(f"next: change a rule, then `elrcheck check --model {folder} --scope two-brokers`")
    return ExitCode.HOLDS


models.add_command(fork)
