"""Verbs below `elrcheck model`: fork and diff."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elrcheck.base.errors import ExitCode
from elrcheck.base.option import Option
from elrcheck.console.help import Commands
from elrcheck.console.output import VERDICT, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import verb

if TYPE_CHECKING:
    from elrcheck.base.common_options import ModelFile, PatchFile
    from elrcheck.base.requests import ModelDiffRequest

models = Commands("model", help="Copy a model to change it, and compare two.")


@verb(requests="requests")
def fork(
    shell: Shell,
    folder: Annotated[Path, Option(metavar="DIR", argument=True, kind="folder")],
    *,
    model: ModelFile = None,
    patch: PatchFile = None,
) -> ExitCode:
    """Copy Kafka's model into a new folder, to change its rules there.

    The copy is a model for --model, with the variants and scopes of Kafka's partition. Refuses a folder that is not
    empty. --model copies another model, --patch one with a diff applied.
    """
    from elrcheck.commands.fork import write_fork
    from elrcheck.report.plain_words import several

    paths = write_fork(folder, model, patch)
    shell.write_line(f"wrote    {folder}: {several(len(paths), 'file')}")
    scope = " --scope two-brokers" if model is None else ""
    shell.note(f"next: change a rule, then `elrcheck check --model {folder}{scope}`")
    return ExitCode.HOLDS


@verb(requests="requests", formats=VERDICT)
def diff(shell: Shell, request: ModelDiffRequest, output: Output) -> ExitCode:
    """Show what differs between two models: verdicts, counts, traces, guards.

    A and B are each a file or folder with a model, a .diff of one, `kafka`, a variant, or MODEL@VARIANT. Searches
    both, then looks for the shortest trace that one has and the other refuses, step by step in plain Python, for at
    most two minutes unless --time-budget says otherwise. Exits with 0 if they are the same, with 1 if they differ.
    """
    from elrcheck.commands.model_diff import run_model_diff

    return shell.run(lambda progress: run_model_diff(request, progress), output)


models.add_command(fork)
models.add_command(diff)
