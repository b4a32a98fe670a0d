"""Verbs that answer questions: list, show, scenario, doctor, completion and what-if."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.requests import KINDS
from elrcheck.console.completion import completer, everything, scenarios, script
from elrcheck.console.help import Verb
from elrcheck.console.options import format_option
from elrcheck.console.run_verbs import config
from elrcheck.console.shell import Shell


@click.command(name="list", cls=Verb)
@click.argument("kind", type=click.Choice(KINDS), metavar="|".join(KINDS))
@click.option(
    "--by-version", is_flag=True, help="Of findings: what was shown in which release of Kafka, and what repeats it."
)
@format_option
@click.pass_obj
def list_(shell: Shell, /, kind: str, by_version: bool, form: str) -> ExitCode:
    """List names of one kind with one-line summaries."""
    import json

    from elrcheck.catalogue.lookup import entries

    if by_version:
        return _by_version(shell, kind, form)

    found = entries(kind)
    if form == "json":
        shell.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    else:
        possible = ("id", "name", "summary", "compared")
        columns = [column for column in possible if any(column in entry for entry in found)]
        shell.page().table(columns, (tuple(str(entry.get(c, "")) for c in columns) for entry in found))
    return ExitCode.HOLDS


def _by_version(shell: Shell, kind: str, form: str) -> ExitCode:
    import json

    from elrcheck.catalogue.evidence.by_version import finding_table
    from elrcheck.report.json_report import as_data
    from elrcheck.report.text.text_finding_table import print_finding_table

    if kind != "findings":
        raise UsageFault("usage-option", f"--by-version is about findings, not {kind}")
    table = finding_table()
    if form == "json":
        shell.write(json.dumps(as_data(table), indent=2, ensure_ascii=False) + "\n")
    else:
        print_finding_table(table, shell.page())
    return ExitCode.HOLDS


CONFIG = "config"
FORMAT = ("-f", "--format")


class Show(Verb):
    """Makes `show config ..` an alias of `config ..`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if CONFIG in args:
            place = args.index(CONFIG)
            before = args[:place]
            if not before or (place == 2 and before[0] in FORMAT) or (place == 1 and _with_value(before[0])):
                return config.make_context(CONFIG, [*before, *args[place + 1 :]], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


def _with_value(word: str) -> bool:
    return any(word.startswith(option) and word != option for option in FORMAT)


@click.command(cls=Show)
@click.argument("name", shell_complete=completer(everything, "file"))
@click.option("--kind", type=click.Choice(KINDS), help="Look only here, when a name is ambiguous.")
@click.option(
    "--run-dir",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the traces of a scenario's runs.",
)
@format_option
@click.pass_obj
def show(shell: Shell, /, name: str, kind: str | None, run_dir: Path | None, form: str) -> ExitCode:
    """Show everything known about one name.

    NAME is any name that `elrcheck list` prints, of any kind. A scenario, also one in a TOML file, is
    replayed; the exit code is 1 when the model contradicts it. `show config` is `elrcheck config`.
    """
    import json

    from elrcheck.catalogue.lookup import find

    entry = find(name, kind) if not name.endswith(".toml") else {"list": "scenarios", "source": name}
    if entry.get("list") == "scenarios":
        from elrcheck.commands.show_scenario import run_scenario

        return shell.deliver(run_scenario(entry["source"], run_dir), form)
    if run_dir is not None:
        raise UsageFault("usage-run-dir", "--run-dir needs a scenario", help="see `elrcheck list scenarios`")
    if form == "json":
        shell.write(json.dumps(entry, indent=2, ensure_ascii=False) + "\n")
        return ExitCode.HOLDS
    from elrcheck.report.text.text_entry import print_entry

    print_entry(entry, shell.page())
    return ExitCode.HOLDS


@click.command(cls=Verb)
@click.argument("name", required=False, shell_complete=completer(scenarios, "file"))
@click.option(
    "--run-dir",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the traces of its runs.",
)
@format_option
@click.pass_context
def scenario(ctx: click.Context, /, name: str | None, run_dir: Path | None, form: str) -> ExitCode:
    """Tell a scenario, and what each variant makes of it.

    NAME is an id such as E-6, or a TOML file. The story is replayed in the model; the exit code is 1 when
    the model contradicts it. Without a name, the scenarios are listed.
    """
    if name is None:
        if run_dir is not None:
            raise UsageFault("usage-run-dir", "--run-dir needs a scenario", help="name one, such as E-6")
        return _invoked(ctx, list_, kind="scenarios", by_version=False, form=form)
    return _invoked(ctx, show, name=name, kind="scenarios", run_dir=run_dir, form=form)


def _invoked(ctx: click.Context, verb: click.Command, **params: Any) -> ExitCode:
    code: ExitCode = ctx.invoke(verb, **params)
    return code


@click.command(cls=Verb)
@format_option
@click.pass_obj
def doctor(shell: Shell, /, form: str) -> ExitCode:
    """Check what elrcheck can use on this machine.

    Exits with 4 when `check` cannot run.
    """
    import os

    from elrcheck.commands.doctor import diagnose

    diagnosis = diagnose(os.environ, sys.stdout)
    if form == "json":
        shell.write(diagnosis.to_json())
    else:
        diagnosis.print(shell.page())
    return diagnosis.exit_code


@click.command(cls=Verb)
@click.argument("shell_name", metavar="bash|zsh|fish", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(ctx: click.Context, /, shell_name: str) -> ExitCode:
    """Print a completion script for your shell.

    Completes commands, options and values: variants, scopes, properties, actions, stored runs.
    """
    shell: Shell = ctx.obj
    shell.write(script(ctx.find_root().command, shell_name).rstrip("\n") + "\n")
    return ExitCode.HOLDS


@click.command(cls=Verb, name="what-if")
@click.option(
    "--template",
    metavar="OP",
    is_flag=False,
    flag_value="fence",
    help="Print a whole question about this operation to begin from; fence, if none is named.",
)
@click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(("text", "json")),
    help="Format of an answer: json, a line for each; text for people, also when a person types.",
)
@click.pass_obj
def what_if(shell: Shell, /, template: str | None, form: str | None) -> ExitCode:
    """Answer what the controller would do (JSON on stdin).

    Reads JSON objects, one after the other, and answers each as soon as its end is read.  Stops at the first
    object that it cannot answer, after printing the answers before it.

    Only `op` and the partition's `replicas` must be given; everything else is a healthy partition.
    """
    import json

    from elrcheck.base.documents import parse_objects
    from elrcheck.commands.what_if.ask import reply
    from elrcheck.commands.what_if.question import CODES

    if template is not None:
        shell.write(json.dumps(_template(template), indent=1) + "\n")
        return ExitCode.HOLDS
    if shell.typed:
        shell.note("Type a question, one JSON object; Ctrl-D ends. `what-if --template` prints a whole one,")
        shell.note('the least is {"partition": {"replicas": [1, 2]}, "op": {"type": "fence", "broker": 1}}')
        form = form or "text"
    write, told = json.JSONEncoder(ensure_ascii=False).encode, list[str]()

    def tell() -> None:
        if told:
            shell.write("".join(told))
            told.clear()

    def asked() -> Iterator[bytes]:
        """The questions; those that are there together are answered together."""
        for piece in shell.lines():
            yield piece
            tell()

    try:
        for question in parse_objects(asked(), "<stdin>", CODES):
            if form == "text":
                from elrcheck.commands.what_if.ask import both_sides
                from elrcheck.report.what_if_text import what_if_text

                before, answer = both_sides(question)
                told.append(what_if_text(question["op"].value, before, answer))
            else:
                told.append(write(reply(question)) + "\n")
    finally:
        tell()
    return ExitCode.HOLDS


def _template(name: str) -> dict[str, Any]:
    from elrcheck.base.errors import did_you_mean
    from elrcheck.base.requests import Selection
    from elrcheck.commands.what_if.template import operation_names, template

    known = operation_names()
    if name not in known:
        raise UsageFault(
            "what-if-unknown-op",
            f"`{name}` is not supported",
            help=did_you_mean(name, known) or f"supported: {', '.join(known)}",
            where="--template",
        )
    return template(name, Selection().variant)
