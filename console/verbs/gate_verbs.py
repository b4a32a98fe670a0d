"""The verbs `gate`, `init` and `new`."""

from __future__ import annotations

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
    from elrcheck.results.controller_report import ControllerReport

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
    install_from: Annotated[
        str | None,
        Option(
            "Package that the workflow installs, by commit or hash; by default the one installed here.", metavar="URL"
        ),
    ] = None,
) -> ExitCode:
    """Write settings, a CI workflow and a pre-commit hook.

    Writes elrcheck.toml, elrcheck-baseline.toml, .github/workflows/elrcheck.yml and
    .pre-commit-config.yaml, all with comments, and a line in .gitignore for the folder of runs. Keeps
    existing files unless --force is given. With --model the baseline has an entry for each variant of
    the model, and its results.
    """
    from elrcheck.base.origin import checked, installed_from
    from elrcheck.commands.init import BASELINE_PATH, SETTINGS_PATH, WORKFLOW_PATH, start

    origin = installed_from() if install_from is None else checked(install_from, "--install-from")
    with shell.open_progress() as progress:
        done = dict(start(directory, force, origin, model, progress))
    for path, what in done.items():
        shell.write_line(f"{what:<8} {path}")
    if origin is None:
        shell.note(f"elrcheck was installed from a local copy: set its source in {WORKFLOW_PATH}")
    if model is not None and done[directory / SETTINGS_PATH] == "kept":
        shell.note(f"{SETTINGS_PATH} must name the model: set `model` to its path from there")
    baseline = directory / BASELINE_PATH
    if model is None or done[baseline] == "kept":
        shell.note("next: `elrcheck gate --update-baseline`, then commit these files")
        return ExitCode.HOLDS
    _record(shell, baseline, model)
    shell.note("next: commit these files; `elrcheck gate` compares with them")
    return ExitCode.HOLDS


def _prove_controller(request: ControllerRequest, progress: Progress) -> ControllerReport:
    from elrcheck.kafka.controller_proof.prove_controller import run_controller

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
    from elrcheck.commands.new import write_new

    for path in write_new(name, directory):
        shell.write_line(f"wrote    {path}")
    shell.note(f"next: `elrcheck check --model {directory / name}.py`, then `--variant atomic`")
    return ExitCode.HOLDS
