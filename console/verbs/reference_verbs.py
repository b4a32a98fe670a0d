"""The verbs `config`, `list`, `show`, `scenario`, `doctor`, `completion` and `what-if`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from elrcheck.base.common_options import KINDS, OF_ANY_MODEL, ModelFile, ModelSource, PatchFile, run_dir_option
from elrcheck.base.errors import ExitCode, UsageFault, did_you_mean
from elrcheck.base.option import Option
from elrcheck.base.requests import Selection
from elrcheck.base.typed.configuration import setting_text
from elrcheck.console.completion import script
from elrcheck.console.output import Form, Output, format_option
from elrcheck.console.shell import Shell
from elrcheck.console.verb import Verb, on_command_line, verb

if TYPE_CHECKING:
    from elrcheck.declared.select import Effective


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
        from elrcheck.declared.select import effective

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


@verb(name="list")
def list_(
    shell: Shell,
    kind: Annotated[str, Option(metavar="|".join(KINDS), choices=KINDS, argument=True)],
    by_version: Annotated[
        bool, Option("Findings only: what was shown in which release of Kafka, and how to repeat it.")
    ] = False,
    kafka: Annotated[
        str | None, Option("Findings only: those shown in this release, losses on brokers first.", metavar="VERSION")
    ] = None,
    model: ModelFile = None,
    patch: PatchFile = None,
    form: Form = "text",
) -> ExitCode:
    """List names of one kind with one-line summaries."""
    from elrcheck.catalogue.lookup import entries
    from elrcheck.report.document import Table

    if kind != "findings" and (by_version or kafka):
        raise UsageFault("usage-option", f"--{'by-version' if by_version else 'kafka'} is about findings, not {kind}")
    if by_version and kafka:
        raise UsageFault(
            "usage-option", "--by-version is about all releases", help="leave out --kafka, or --by-version"
        )
    if by_version:
        return _list_findings(shell, form)
    if kind not in OF_ANY_MODEL and not on_command_line("model", "patch"):  # a default of the settings file
        model = patch = None
    rows = _findings_of(kafka) if kafka else entries(kind, Selection(model=model, patch=patch).source)
    if form == "json":
        shell.write_json(rows)
    else:
        possible = ("id", "name", "summary", "compared")
        columns = [column for column in possible if any(column in row for row in rows)]
        cells = [[str(row.get(column, "")) for column in columns] for row in rows]
        shell.show([Table(columns, cells)])
    return ExitCode.HOLDS


def _findings_of(kafka: str) -> list[dict[str, Any]]:
    """Return the entries of the findings that were shown in a release, the worst first."""
    from elrcheck.kafka.assess.known_findings import KnownFindings
    from elrcheck.kafka.risk.settings_group import release_named

    return [
        {"id": one.finding, "name": one.title, "summary": f"loses {one.lost}; seen at the level {one.level}"}
        for one in KnownFindings().shown_in(release_named(kafka)[0])
    ]


def _list_findings(shell: Shell, form: str) -> ExitCode:
    from elrcheck.catalogue.evidence.by_version import finding_table
    from elrcheck.report.documents.catalogue_document import finding_table_blocks
    from elrcheck.report.json_report import as_data

    table = finding_table()
    if form == "json":
        shell.write_json(as_data(table))
    else:
        shell.show(finding_table_blocks(table))
    return ExitCode.HOLDS


def _named(name: str, kind: str | None, source: ModelSource) -> dict[str, Any]:
    """Return the entry of a name; Kafka's, if the model lacks it and is only a default of the settings file."""
    from elrcheck.catalogue.lookup import find

    try:
        return find(name, kind, source)
    except UsageFault:
        if source is not None and not on_command_line("model", "patch"):
            with suppress(UsageFault):
                return find(name, kind)
        raise


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


@verb(cls=Show)
def show(
    shell: Shell,
    name: Annotated[str, Option(complete="everything", otherwise="file", argument=True)],
    kind: Annotated[str | None, Option("Look only here, when a name is ambiguous.", choices=KINDS)] = None,
    run_dir: Annotated[Path | None, run_dir_option("Folder for the traces of a scenario's runs.")] = None,
    model: ModelFile = None,
    patch: PatchFile = None,
    form: Form = "text",
) -> ExitCode:
    """Show everything known about one name.

    NAME is any name that `elrcheck list` prints, of any kind. A scenario, also one in a TOML file, is
    replayed; exits with 1 when the model contradicts it. `show config` is `elrcheck config`.
    """
    source = Selection(model=model, patch=patch).source
    entry = _named(name, kind, source) if not name.endswith(".toml") else {"list": "scenarios", "source": name}
    if entry.get("list") == "scenarios":
        from elrcheck.kafka.scenario import run_scenario

        return shell.deliver(run_scenario(entry["source"], run_dir), Output(form))
    if run_dir is not None:
        raise UsageFault("usage-run-dir", "--run-dir needs a scenario", help="see `elrcheck list scenarios`")
    if form == "json":
        shell.write_json(entry)
        return ExitCode.HOLDS
    from elrcheck.report.documents.catalogue_document import entry_blocks

    shell.show(entry_blocks(entry))
    return ExitCode.HOLDS


@verb(of_kafka=True)
def scenario(
    shell: Shell,
    name: Annotated[str | None, Option(complete="scenarios", otherwise="file", argument=True)] = None,
    run_dir: Annotated[Path | None, run_dir_option("Folder for the traces of its runs.")] = None,
    form: Form = "text",
) -> ExitCode | None:
    """Show a scenario, and how it ends in each variant.

    NAME is an id such as E-6, or a TOML file. Replays the story in the model, and exits with 1 when the model
    contradicts it. Without a name, lists the scenarios.
    """
    if name is None:
        if run_dir is not None:
            raise UsageFault("usage-run-dir", "--run-dir needs a scenario", help="name one, such as E-6")
        return list_.function(shell, "scenarios", form=form)
    return show.function(shell, name, "scenarios", run_dir, form=form)


@verb()
def doctor(shell: Shell, form: Form = "text") -> ExitCode:
    """Check what elrcheck can use on this machine.

    Exits with 4 when `check` cannot run.
    """
    import os

    from elrcheck.kafka.doctor import diagnose

    diagnosis = diagnose(os.environ, sys.stdout)
    if form == "json":
        shell.write(diagnosis.to_json())
    else:
        shell.show(diagnosis.blocks())
    return diagnosis.exit_code


@verb()
def completion(
    shell: Shell, shell_name: Annotated[Literal["bash", "zsh", "fish"], Option(metavar="bash|zsh|fish", argument=True)]
) -> ExitCode:
    """Print a completion script for your shell.

    Completes commands, options and values: variants, scopes, properties, actions, stored runs.
    """
    root = click.get_current_context().find_root().command
    shell.write(script(root, shell_name).rstrip("\n") + "\n")
    return ExitCode.HOLDS


@verb(of_kafka=True)
def what_if(
    shell: Shell,
    template: Annotated[
        str | None,
        Option(
            "Print a complete question about this operation to start from; about fence if none is named.",
            metavar="OP",
            bare="fence",
        ),
    ] = None,
    form: Annotated[
        Literal["text", "json"] | None,
        format_option("Format of an answer: json, a line for each; text for people, also when a person types."),
    ] = None,
) -> ExitCode:
    """Show what the controller would decide (JSON on stdin).

    Reads JSON objects, one after the other, and answers each as soon as it is complete.  Stops at the first
    object that it cannot answer.

    Only `op` and the partition's `replicas` are required; the defaults describe a healthy partition.
    """
    import json

    from elrcheck.base.documents import parse_objects
    from elrcheck.kafka.what_if.ask import reply
    from elrcheck.kafka.what_if.question import CODES

    if template is not None:
        shell.write(json.dumps(_template(template), indent=1) + "\n")
        return ExitCode.HOLDS
    if shell.typed:
        shell.note("Type a question, one JSON object; Ctrl-D ends. `what-if --template` prints a whole one,")
        shell.note('the least is {"partition": {"replicas": [1, 2]}, "op": {"type": "fence", "broker": 1}}')
        form = form or "text"
    encode, answers = json.JSONEncoder(ensure_ascii=False).encode, list[str]()

    def write_answers() -> None:
        if answers:
            shell.write("".join(answers))
            answers.clear()

    def questions() -> Iterator[bytes]:
        """Yield stdin, and print answers before each read, so that questions of one piece are answered together."""
        for piece in shell.lines():
            yield piece
            write_answers()

    try:
        for question in parse_objects(questions(), "<stdin>", CODES):
            if form == "text":
                from elrcheck.kafka.what_if.ask import both_sides
                from elrcheck.report.what_if_text import what_if_text

                before, answer = both_sides(question)
                answers.append(what_if_text(question["op"].value, before, answer))
            else:
                answers.append(encode(reply(question)) + "\n")
    finally:
        write_answers()
    return ExitCode.HOLDS


def _template(name: str) -> dict[str, Any]:
    from elrcheck.kafka.what_if.ask import template
    from elrcheck.kafka.what_if.what_if_operations import OPERATIONS

    if name not in OPERATIONS:
        message, help = f"`{name}` is not supported", did_you_mean(name, OPERATIONS)
        raise UsageFault("what-if-unknown-op", message, help=help, where="--template")
    return template(name, Selection().variant)
