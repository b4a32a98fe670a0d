"""`elrcheck prove --check-certificate DIR`: does a certificate fit this source, and does a solver agree.

If model, properties and language are those it was made from, its texts are compared with the digests of the
manifest. If not, they are made again from this source and compared: a text that is the same is still a proof
of the same obligations, whatever was edited elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.base.proof_requests import CertificateRequest
from elrcheck.base.requests import ProofAssumption, ProofSolver
from elrcheck.base.version import __version__
from elrcheck.base.worker_pool import each, useful_workers
from elrcheck.catalogue.configuration import build_config, check_value, config_fields
from elrcheck.commands.sweep.ledger import model_digest
from elrcheck.invariants.proof.certificate import (
    CODES,
    HELP,
    IMPLICATION,
    INITIATION,
    MANIFEST,
    Manifest,
    Script,
    digest,
    read_manifest,
    read_premises,
    read_script,
)
from elrcheck.invariants.proof.second_solver import Told, open_solver, solver_version
from elrcheck.model.config import Config
from elrcheck.results.prove_report import (
    CertificateReport,
    Fit,
    ScriptReport,
    SolverReport,
    certificate_verdict,
)

DEFAULT_TIMEOUT = 60.0


@dataclass(frozen=True)
class Task:
    """One script for one process to discharge."""

    folder: Path
    manifest: Manifest
    script: Script
    solver: ProofSolver
    timeout: float


def run_check_certificate(request: CertificateRequest, progress: Progress) -> CertificateReport:
    """Compare a certificate with this source, and have a solver discharge it if one is named."""
    started = time.perf_counter()
    folder, timeout = request.folder, request.timeout or DEFAULT_TIMEOUT
    manifest = read_manifest(folder)
    solver = None
    if request.solver is not None:
        solver = SolverReport(request.solver, solver_version(request.solver), timeout)
    progress.stage("reading the certificate")
    read_premises(folder, manifest)
    for script in manifest.scripts:
        read_script(folder, script)
    same = manifest.source == model_digest() and manifest.elrcheck == __version__
    fits: Mapping[tuple[str, ...], Fit] = {}
    if not same:
        progress.stage("making the obligations of this source")
        fits = _compared(folder, manifest)
    known = {script.subject for script in manifest.scripts}
    reports = [_report(script, fits.get(script.subject, "same")) for script in manifest.scripts]
    reports += [_new(subject) for subject, fit in fits.items() if subject not in known]
    if request.solver is not None:
        _discharge(folder, manifest, request.solver, timeout, request.workers, reports, progress)
    return CertificateReport(
        verdict=certificate_verdict(tuple(reports), solver is not None, manifest.open),
        variant=manifest.variant,
        folder=str(folder),
        written_by=f"elrcheck {manifest.elrcheck}, {manifest.solver}",
        same_source=same,
        solver=solver,
        scripts=tuple(reports),
        open=manifest.open,
        assumptions=manifest.assumptions,
        seconds=round(time.perf_counter() - started, 3),
    )


def _report(script: Script, fit: Fit) -> ScriptReport:
    return ScriptReport(script.file, script.action, script.arguments, fit, len(script.cells), 0, (), (), 0.0)


def _new(subject: tuple[str, ...]) -> ScriptReport:
    given = dict(pair.split("=", 1) for pair in subject[1:])
    return ScriptReport("", subject[0], given, "new", 0, 0, (), (), 0.0)


# ------------------------------------------------------------------------- the texts of this source


def _compared(folder: Path, manifest: Manifest) -> dict[tuple[str, ...], Fit]:
    """Whether each script is what this source makes of it, by its subject."""
    from elrcheck.commands.prove.certify import given_arguments
    from elrcheck.invariants.modules import lemmas_of, load_proof_model
    from elrcheck.invariants.proof.consecution import goal_names
    from elrcheck.invariants.proof.obligations import TYPES, Prover
    from elrcheck.invariants.proof.smt_text import SmtText
    from elrcheck.invariants.proof.transition import Transitions

    model = load_proof_model()
    chosen = [fn for fn in model.always if fn.name in manifest.properties]
    if unknown := [name for name in manifest.assumptions if name not in get_args(ProofAssumption)]:
        why = f"this version of elrcheck has no assumption `{unknown[0]}`"
        raise UsageFault(CODES.bad_value, why, where=str(folder / MANIFEST), help=HELP)
    config = _config(folder, manifest)
    transitions = Transitions(model, config, any_order=True, assumed=manifest.assumptions)
    prover = Prover(transitions, lemmas_of(model), None)
    text = SmtText(prover, chosen)
    moved = _changed_names(read_premises(folder, manifest), tuple(text.premises().splitlines()))
    steps = goal_names(model, [fn.name for fn in chosen if fn.is_step])
    states = {fn.name for fn in chosen if not fn.is_step}
    lemmas = {fn.name for fn in prover.lemmas}
    made: dict[tuple[str, ...], tuple[set[str], Any]] = {
        (INITIATION,): ({TYPES, *lemmas}, text.initiation),
        (IMPLICATION,): (states, text.implication),
    }
    for instance in prover.ts.instances:
        given = given_arguments(prover, instance)
        subject = (instance.action, *(f"{name}={value}" for name, value in given.items()))
        made[subject] = (set(steps), lambda cells, instance=instance: text.consecution(instance, cells))
    fits: dict[tuple[str, ...], Fit] = dict.fromkeys(made, "new")
    for script in manifest.scripts:
        if script.subject not in made:
            fits[script.subject] = "gone"
            continue
        wanted, write = made[script.subject]
        asked = {cell.name for cell in script.cells}
        used = asked | {lemma for cell in script.cells for lemma in cell.core}
        whole = asked == wanted or (bool(manifest.open) and asked < wanted)
        same = whole and not used & moved and digest(write(script.cells)) == script.sha256
        fits[script.subject] = "same" if same else "changed"
    return fits


def _changed_names(before: tuple[str, ...], after: tuple[str, ...]) -> set[str]:
    """Lemmas and properties whose text differs; every name, if the variables do."""
    old, new = _by_symbol(before), _by_symbol(after)
    changed = {symbol for symbol in old.keys() | new.keys() if old.get(symbol) != new.get(symbol)}
    if any("!" not in symbol for symbol in changed):
        changed = old.keys() | new.keys()
    return {symbol.split("!", 1)[1] for symbol in changed if "!" in symbol}


def _by_symbol(lines: tuple[str, ...]) -> dict[str, str]:
    return {line.split(" ", 2)[1]: line for line in lines if not line.startswith("(assert ")}


def _config(folder: Path, manifest: Manifest) -> Config:
    fields, place = config_fields(Config), str(folder / MANIFEST)
    for name in manifest.config:
        if name not in fields:
            why = f"this version of elrcheck has no setting `{name}`"
            raise UsageFault(CODES.bad_value, why, where=place, help=HELP)
    return build_config(Config, {name: check_value(fields[name], v) for name, v in manifest.config.items()})


# ------------------------------------------------------------------------- the solver


def _discharge(
    folder: Path, manifest: Manifest, solver: ProofSolver, timeout: float, workers: int | None,
    reports: list[ScriptReport], progress: Progress,
) -> None:  # fmt: skip
    """Have every script discharged, and put the answers into its report."""
    progress.stage(f"discharging by {solver}")
    tasks = [Task(folder, manifest, script, solver, timeout) for script in manifest.scripts]
    total, done = sum(len(script.cells) for script in manifest.scripts), 0
    several = each(discharge_script, tasks, useful_workers(workers, len(tasks)))
    for number, (script, told) in enumerate(zip(manifest.scripts, several, strict=True)):
        done += len(told)
        names = [cell.name for cell in script.cells]
        unknown = tuple(name for name, one in zip(names, told, strict=True) if one.answer == "unknown")
        refuted = tuple(name for name, one in zip(names, told, strict=True) if one.answer == "sat")
        seconds = round(sum(one.seconds for one in told), 3)
        good = len(told) - len(unknown) - len(refuted)
        reports[number] = replace(
            reports[number], discharged=good, unknown=unknown, refuted=refuted, seconds=seconds
        )
        verdict = "refuted" if refuted else "unknown" if unknown else "proved"
        progress.obligation(ObligationDone(solver, done, total, " ".join(script.subject), verdict, seconds))


def discharge_script(task: Task) -> list[Told]:
    """Put the questions of one script to a solver; runs in a worker process."""
    premises = read_premises(task.folder, task.manifest)
    questions = read_script(task.folder, task.script)
    solver = open_solver(task.solver, task.timeout)
    solver.read((*premises, *questions.assumed))
    answers = []
    for *asked, closing in questions.asked:
        answers.append(solver.ask(asked))
        solver.read((closing,))
    return answers
