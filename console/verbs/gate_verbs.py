"""The verbs `gate`, `init` and `new`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.option import Option, options_of
from elrcheck.console.output import LOCATED_CASES, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import reject_given, verb

if TYPE_CHECKING:
    from elrcheck.base.common_options import ModelFile
    from elrcheck.base.progress import Progress
    from elrcheck.base.proof_requests import ControllerRequest, GateRequest, NewEntry
    from elrcheck.commands.init import GuardedByCi
    from elrcheck.results.proofs.controller_report import ControllerReport

MOST_SKIPPED = 8
"""Topics or files that `init` names because they cannot be read."""
Directory: TypeAlias = Annotated[
    Path,
    Option(
        "Folder to write to; by default the current one.", flags="--directory -C", kind="folder", show_default=False
    ),
]


@verb(requests="proof_requests", formats=LOCATED_CASES)
def gate(shell: Shell, request: GateRequest, entry: NewEntry, output: Output) -> ExitCode:
    """Compare with a committed baseline: verdicts, exact counts, coverage, proofs.

    Runs every entry of the baseline again. Exits with 1 when a result differs from the baseline, with 2
    when there is no baseline, with 5 when it is empty. --update-baseline writes the results and exits with 0.
    """
    from elrcheck.commands.gate.gate import run_gate

    of_an_entry = [one.name for one in options_of(type(entry)) if one.name != "name"]
    if entry.name is None:
        reject_given(of_an_entry, "--add")
    if entry.suite:
        reject_given([name for name in of_an_entry if name != "suite"], "an entry that is not a suite")
    request = replace(request, add=None if entry.name is None else entry)
    return shell.run(lambda progress: run_gate(request, _prove_controller, progress), output)


@verb(requests="common_options")
def init(
    shell: Shell,
    force: Annotated[bool, Option("Overwrite existing files.")] = False,
    directory: Directory = Path("."),  # a path is immutable
    model: ModelFile = None,
    topics: Annotated[
        tuple[Path, ...],
        Option(
            "Definitions of topics that CI assesses; by default those of Strimzi and Terraform in the folder",
            metavar="FILE",
            kind="path",
            exists=True,
        ),
    ] = (),
    kafka: Annotated[
        str | None, Option("Release of the brokers, such as 4.1; by default the newest on record.", metavar="VERSION")
    ] = None,
    install_from: Annotated[
        str | None,
        Option(
            "Package that the workflow installs, by commit or hash; by default the one installed here.", metavar="URL"
        ),
    ] = None,
) -> ExitCode:
    """Write settings, a CI workflow and a pre-commit hook.

    Writes elrcheck.toml, .github/workflows/elrcheck.yml and .pre-commit-config.yaml, all with comments, and a
    line in .gitignore for the folder of runs. Keeps existing files unless --force is given. If the folder defines
    topics, CI assesses them and those added later. With --model, also writes elrcheck-baseline.toml, with results of
    the model; without --model and topics, that baseline is of a release of Kafka.
    """
    from elrcheck.base.origin import checked, installed_from
    from elrcheck.commands.init import (
        BASELINE_PATH,
        SETTINGS_PATH,
        WORKFLOW_PATH,
        GuardedByCi,
        OwnModel,
        OwnTopics,
        commands_missing,
        start,
    )
    from elrcheck.kafka.risk.settings_group import release_named, releases

    origin = installed_from() if install_from is None else checked(install_from, "--install-from")
    release, variant = release_named(kafka or releases()[-1])
    _demand_topics(topics)
    places, skipped = (topics, []) if topics else _topics_in(directory)
    defined = OwnTopics.of(kafka or release, places, directory)
    with shell.open_progress() as progress:
        own = None if model is None else OwnModel.of(model, directory, progress)
        guarded = GuardedByCi(variant.name, own, defined if defined.places else None)
        done = dict(start(directory, force, origin, guarded))
    for path, what in done.items():
        shell.write_line(f"{what:<8} {path}")
    if origin is None:
        shell.note(f"elrcheck was installed from a local copy: set its source in {WORKFLOW_PATH}")
    if model is not None and done[directory / SETTINGS_PATH] == "kept":
        shell.note(f"{SETTINGS_PATH} must name the model: set `model` to its path from there")
    if done[directory / WORKFLOW_PATH] == "kept":
        for command in commands_missing(directory / WORKFLOW_PATH, guarded):
            shell.note(f"{WORKFLOW_PATH} is kept, and does not run `{command}`: --force replaces it")
    for message in skipped[:MOST_SKIPPED]:
        shell.note(f"not read: {message}")
    if skipped:
        more = f"{len(skipped) - MOST_SKIPPED} more cannot be read; " if len(skipped) > MOST_SKIPPED else ""
        what = f"`exclude` in {SETTINGS_PATH} leaves files out" if places else "--topics FILE names definitions"
        shell.note(f"{more}{what}")
    options = {
        "--directory": directory if directory != Path() else None,
        "--kafka": kafka,
        "--install-from": install_from,
    }
    words = [word for flag, value in options.items() if value is not None for word in (flag, str(value))]
    words += [word for path in topics for word in ("--topics", str(path))]
    _say_what_is_guarded(shell, guarded, directory, words)
    baseline = directory / BASELINE_PATH
    if not guarded.has_baseline:
        shell.note("next: `elrcheck assess`, then commit these files")
        return ExitCode.HOLDS
    if model is None or done[baseline] == "kept":
        shell.note("next: `elrcheck gate --update-baseline`, then commit these files")
        return ExitCode.HOLDS
    _record(shell, baseline, model)
    if own is not None and len(own.model.variant_names) > len(own.variants):
        add = f"elrcheck gate --model {model} --add NAME --variant VARIANT --scope {own.scope}"
        shell.note(f"the baseline is of {', '.join(own.variants)}; `{add}` adds another variant or scope")
    shell.note("next: commit these files; `elrcheck gate` compares with them")
    return ExitCode.HOLDS


def _demand_topics(paths: Sequence[Path]) -> None:
    """Raise UsageFault for a file without a topic, for which CI would fail; a folder may get its topics later."""
    from elrcheck.kafka.topics.topic_files import read_topics

    for path in paths:
        if path.is_file():
            read_topics([path])


def _topics_in(folder: Path) -> tuple[tuple[Path, ...], list[str]]:
    """Return the folder if a topic is defined in it, so that a new file counts wherever it is; else nothing.

    Also return messages about what could not be read.
    """
    from elrcheck.kafka.topics.topic_files import topic_files

    files, skipped = topic_files(folder)
    return (folder,) if files else (), skipped


def _say_what_is_guarded(shell: Shell, guarded: GuardedByCi, folder: Path, options: Sequence[str]) -> None:
    """Say which topics CI assesses, or which release the baseline is of. options: as given, as words of a shell."""
    import shlex

    from elrcheck.commands.init import models_in

    if guarded.topics is not None:
        places = ", ".join("this folder" if place == Path() else str(place) for place in guarded.topics.places)
        later = any((folder / place).is_dir() for place in guarded.topics.places)
        shell.note(
            f"CI assesses the topics in {places} for Kafka {guarded.topics.kafka}"
            + ", also those of files added later" * later
            + "; --kafka names another release" * ("--kafka" not in options)
        )
    elif guarded.own is None:
        shell.note(f"the baseline is of {guarded.variant}, a release of Kafka, and changes only with elrcheck")
    if guarded.own is None:
        for file in models_in(folder):
            again = shlex.join(["elrcheck", "init", "--force", "--model", str(file), *options])
            shell.note(f"{file} declares a model: `{again}` guards it")


def _prove_controller(request: ControllerRequest, progress: Progress) -> ControllerReport:
    from elrcheck.kafka.controller_proof import run_controller

    return run_controller(request, progress)


def _record(shell: Shell, baseline: Path, model: Path) -> None:
    """Write the results of a new baseline, and print them."""
    from elrcheck.base.proof_requests import GateRequest
    from elrcheck.commands.gate.gate import run_gate

    with shell.open_progress() as progress:
        report = run_gate(GateRequest(baseline, (model,), update=True), _prove_controller, progress)
    for entry in report.entries:
        search = entry.check.search
        limit = f", ended by {search.stopped_by}" if search.stopped_by else ""
        shell.write_line(f"recorded {entry.name}: {entry.check.verdict}, {search.distinct} states{limit}")


@verb(requests="requests")
def new(
    shell: Shell,
    name: Annotated[str, Option(metavar="NAME", argument=True)],
    *,
    directory: Directory = Path("."),  # a path is immutable
) -> ExitCode:
    """Write a small model of a protocol and a test, to change into your own.

    Writes NAME.py, a lock that two processes may take at once, and test_NAME.py; overwrites nothing.
    """
    from elrcheck.commands.new_model import write_new

    for path in write_new(name, directory):
        shell.write_line(f"wrote    {path}")
    shell.note(f"next: `elrcheck check --model {directory / name}.py`, then `--variant atomic`")
    return ExitCode.HOLDS
