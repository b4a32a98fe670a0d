"""`elrcheck prove --check-certificate DIR`: compare a certificate with this source, and ask a solver.

Every text is generated again from this source and compared; the manifest's word about its source is not trusted. An
equal text proves the same obligations, whatever was edited elsewhere.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from msgspec.structs import replace

from elrcheck.base.errors import UsageFault
from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.base.proof_requests import CertificateRequest
from elrcheck.base.requests import ProofAssumption, ProofSolver
from elrcheck.base.run_lock import alone_in
from elrcheck.base.typed.configuration import build_config, check_value, config_fields
from elrcheck.base.version import __version__
from elrcheck.declared.declared_model import DeclaredModel, declared
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.any_size.steps import Unbounded
from elrcheck.proof.any_size.text import AnySizeText
from elrcheck.proof.certificate import (
    CODES,
    HELP,
    MANIFEST,
    Manifest,
    Script,
    demand_referenced,
    digest,
    read_manifest,
    read_premises,
    read_script,
)
from elrcheck.proof.ethos_program import find_ethos
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import Prover
from elrcheck.proof.second_solver import solver_version
from elrcheck.proof.smt_text import SmtText
from elrcheck.proof.transition import Transitions
from elrcheck.proving.certify import CertificatePart, any_size_choices, any_size_parts, choices, parts
from elrcheck.proving.consecution_phase import goal_names
from elrcheck.proving.covered import claimed, coverage
from elrcheck.proving.discharge import HowToDischarge, QuestionAnswer, discharge
from elrcheck.results.proofs.certificate_report import (
    CertificateReport,
    CheckerReport,
    Fit,
    ProofFault,
    ProofObjects,
    ScriptReport,
    certificate_verdict,
)
from elrcheck.results.prove_report import Coverage, SolverReport

DEFAULT_TIMEOUT = 60.0
NAMED_DIGITS = 12
"""Digits of a digest in an error message."""


def run_check_certificate(request: CertificateRequest, progress: Progress, partial: bool = False) -> CertificateReport:
    """Compare a certificate with this source, and discharge it by a solver if the request names one.

    partial: after an interrupt, return a report of the answers until then instead of raising KeyboardInterrupt.
    """
    started = time.perf_counter()
    folder, timeout = request.folder, request.timeout or DEFAULT_TIMEOUT
    manifest = read_manifest(folder)
    solver = how = None
    origins: list[KeptOrigin] = []
    interrupted = False
    if request.solver is not None:
        solver = SolverReport(request.solver, solver_version(request.solver), timeout)
        how = _how(request, request.solver, timeout)
    elif request.proofs is not None:
        raise UsageFault("usage-option", "--proofs needs --solver cvc5, which writes them", help="add it")
    progress.stage("reading the certificate")
    demand_referenced(folder, manifest)
    read_premises(folder, manifest)
    for script in manifest.scripts:
        read_script(folder, script)
    progress.stage("making the obligations of this source")
    checked = declared(request.selection.source)
    compared = _compared(folder, manifest, checked)
    reports = [
        ScriptReport(script.file, script.action, script.arguments, fit, len(script.cells), 0, (), (), 0.0)
        for script, fit in zip(manifest.scripts, compared.fits, strict=True)
    ]
    for part in compared.new:
        reports.append(ScriptReport("", part.action or part.file, part.arguments, "new", 0, 0, (), (), 0.0))
    for file in compared.shared:
        reports.append(ScriptReport(file, "", {}, "changed", 0, 0, (), (), 0.0))
    if how is not None:
        try:
            with alone_in(how.proofs or folder, needed=how.proofs is not None):
                _discharge(folder, manifest, how, request.workers, reports, origins, progress)
        except KeyboardInterrupt:
            if not partial:
                raise
            interrupted = True
    return CertificateReport(
        verdict=certificate_verdict(tuple(reports), how is not None, manifest.open),
        variant=manifest.variant,
        folder=str(folder),
        written_by=f"elrcheck {manifest.elrcheck}, {manifest.solver}",
        same_source=manifest.source == checked.digest() and manifest.elrcheck == __version__,
        solver=solver,
        checker=None if how is None or how.checker is None else CheckerReport("ethos", how.checker.version),
        scripts=tuple(reports),
        open=manifest.open,
        assumptions=manifest.assumptions,
        coverage=compared.coverage,
        seconds=round(time.perf_counter() - started, 3),
        kept=KeptOrigin.oldest(origins),
        interrupted=interrupted,
    )


# ------------------------------------------------------------------------- the texts of this source


@dataclass(frozen=True)
class ComparedTexts:
    """The texts of a certificate compared with those of this source.

    shared: premises and manifest, if they differ; fits: of each script, in order; new: parts of this source's proof
    that have no script.
    """

    shared: tuple[str, ...]
    fits: tuple[Fit, ...]
    new: tuple[CertificatePart, ...]
    coverage: Coverage | None


def _compared(folder: Path, manifest: Manifest, source: DeclaredModel) -> ComparedTexts:
    """Generate every text from this source, and compare."""
    model = source.with_lemmas()
    chosen = _properties(folder, manifest, model, source)
    if unknown := [name for name in manifest.assumptions if name not in get_args(ProofAssumption)]:
        why = f"this version of elrcheck has no assumption `{unknown[0]}`"
        raise UsageFault(CODES.bad_value, why, where=str(folder / MANIFEST), help=HELP)
    config, written = _config(folder, manifest, source), read_premises(folder, manifest)
    if manifest.sizes == "any":
        return _compared_any_size(manifest, model, config, chosen, written)
    if not _of_this_size(model, config, manifest, written):
        # Terms for many members take hours, so none are built for sizes that differ from those of the texts.
        changed: list[Fit] = ["changed"] * len(manifest.scripts)
        return ComparedTexts((MANIFEST, manifest.premises.file), tuple(changed), (), None)
    transitions = Transitions(model, config, any_order=True, assumed=manifest.assumptions)
    prover = Prover(transitions, lemmas_of(model), None)
    text = SmtText(prover, chosen)
    own = tuple(text.premises().splitlines())
    moved = _changed_names(written, own)
    every = {part.subject: part for part in parts(text, goal_names(model, _steps_of(chosen)))}
    shared = [] if written == own else [manifest.premises.file]
    if not _lists_match(manifest, prover.lemmas, prover.ts.assumptions):
        shared.append(MANIFEST)
    fits, new = _fits(manifest, every, {fn.name for fn in prover.lemmas}, moved)
    claim = claimed(source, transitions, coverage(model, transitions, len(chosen)), manifest.variant)
    return ComparedTexts(tuple(shared), fits, new, claim)


def _compared_any_size(
    manifest: Manifest, model: Model, config: ModelConfig, chosen: Sequence[Fn], written: tuple[str, ...]
) -> ComparedTexts:
    lemmas = {fn.name for fn in lemmas_of(model)}
    implied = (lemmas & {fn.name for fn in chosen if not fn.is_step}) - set(manifest.lemmas)
    system = Unbounded(model, config, manifest.assumptions, implied=implied)
    text = AnySizeText(system, chosen)
    own = tuple(text.premises().splitlines())
    goals = [goal for goal in goal_names(model, _steps_of(chosen)) if goal not in implied]
    every = {part.subject: part for part in any_size_parts(text, goals)}
    shared = [] if written == own else [manifest.premises.file]
    listed = _lists_match(manifest, tuple(system.lemmas.values()), system.assumptions)
    if not listed or manifest.actions != any_size_choices(system):
        shared.append(MANIFEST)
    fits, new = _fits(manifest, every, set(system.lemmas), _changed_names(written, own))
    return ComparedTexts(tuple(shared), fits, new, None)


def _fits(
    manifest: Manifest, every: Mapping[tuple[str, ...], CertificatePart], lemmas: Set[str], moved: Set[str]
) -> tuple[tuple[Fit, ...], tuple[CertificatePart, ...]]:
    """Return the comparison of each script with its part, and the parts without a script."""
    fits = tuple(_fit(script, every.get(script.subject), lemmas, moved, manifest) for script in manifest.scripts)
    subjects = {script.subject for script in manifest.scripts}
    return fits, tuple(part for subject, part in every.items() if subject not in subjects)


def _fit(script: Script, part: CertificatePart | None, lemmas: Set[str], moved: Set[str], manifest: Manifest) -> Fit:
    """Compare a script with this source's text of the same part, for the lemmas that each proof needed."""
    if part is None:
        return "gone"
    names = [cell.name for cell in script.cells]
    needed = {lemma for cell in script.cells for lemma in cell.core}
    whole = sorted(names) == sorted(part.goals) or (bool(manifest.open) and set(names) < set(part.goals))
    sound = needed <= lemmas and not (needed | set(names)) & moved
    return "same" if whole and sound and digest(part.write(script.cells)) == script.sha256 else "changed"


def _unfit(folder: Path, manifest: Manifest, source: DeclaredModel, why: str) -> UsageFault:
    """Return the error about a manifest with names that the model does not have.

    The digest of the sources tells whether it is of another model, or damaged.
    """
    place, own = str(folder / MANIFEST), source.digest()
    if manifest.source == own:
        return UsageFault(CODES.bad_value, why, where=place, help=HELP)
    ours, theirs = own[:NAMED_DIGITS], manifest.source[:NAMED_DIGITS]
    return UsageFault(
        "certificate-other-model",
        f"the certificate is of another model, or of another version of this one: {why}",
        where=place,
        excerpt=f"sources of the certificate  {theirs}\nsources of the model        {ours}",
        help=f"name its model, by --model FILE or none for Kafka's partition; else {HELP}",
    )


def _properties(folder: Path, manifest: Manifest, model: Model, source: DeclaredModel) -> list[Fn]:
    by_name = {fn.name: fn for fn in model.always}
    for name in manifest.properties:
        if name not in by_name:
            raise _unfit(folder, manifest, source, f"the model has no property `{name}`")
    return [by_name[name] for name in manifest.properties]


def _steps_of(chosen: Sequence[Fn]) -> list[str]:
    return [fn.name for fn in chosen if fn.is_step]


def _of_this_size(model: Model, config: ModelConfig, manifest: Manifest, premises: Sequence[str]) -> bool:
    """Return whether the choices of arguments and the variables are those of the settings; this is fast."""
    declared = {line.split(" ", 2)[1].strip("|") for line in premises if line.startswith("(declare-fun ")}
    variables = {slot.path for slot in lower(model, config, ()).slots if slot.index is not None}
    plain = {name.rsplit(".", 1)[0] for name in declared} | declared  # a set has a variable for each broker
    return choices(model, config) == manifest.actions and variables <= plain


def _lists_match(manifest: Manifest, lemmas: Sequence[Fn], assumptions: Sequence[Fn]) -> bool:
    """Compare the manifest's lists of lemmas and assumptions, which are for readers without elrcheck."""
    named = tuple(fn.name for fn in lemmas), tuple(fn.name for fn in assumptions)
    return (manifest.lemmas, manifest.assumed) == named


def _changed_names(before: tuple[str, ...], after: tuple[str, ...]) -> set[str]:
    """Return the lemmas and properties whose text differs; every name if the variables differ."""
    old, new = _by_symbol(before), _by_symbol(after)
    changed = {symbol for symbol in old.keys() | new.keys() if old.get(symbol) != new.get(symbol)}
    if any("!" not in symbol for symbol in changed):
        changed = old.keys() | new.keys()
    return {symbol.split("!", 1)[1] for symbol in changed if "!" in symbol}


def _by_symbol(lines: tuple[str, ...]) -> dict[str, str]:
    return {line.split(" ", 2)[1]: line for line in lines if not line.startswith("(assert ")}


def _config(folder: Path, manifest: Manifest, source: DeclaredModel) -> ModelConfig:
    fields, values = config_fields(source.config), {}
    for name, value in manifest.config.items():
        if name not in fields:
            raise _unfit(folder, manifest, source, f"the model has no setting `{name}`")
        try:
            values[name] = check_value(fields[name], value)
        except ValueError as fault:
            raise _unfit(folder, manifest, source, f"`{name}` is {value!r} there: {fault}") from fault
    config: ModelConfig = build_config(source.config, values)
    return config


# ------------------------------------------------------------------------- the solver


def _how(request: CertificateRequest, solver: ProofSolver, timeout: float) -> HowToDischarge:
    """Return how the questions are answered; raise a fault for proofs that cannot be had."""
    checker = None
    if request.proofs is not None:
        if solver != "cvc5":
            raise UsageFault("usage-option", "--proofs needs --solver cvc5, which writes them", help="choose cvc5")
        checker = find_ethos(request.ethos, request.signatures, os.environ)
    return HowToDischarge(solver, timeout, request.proofs, checker, request.fresh)


def _discharge(
    folder: Path,
    manifest: Manifest,
    how: HowToDischarge,
    workers: int | None,
    reports: list[ScriptReport],
    origins: list[KeptOrigin],
    progress: Progress,
) -> None:
    """Discharge every script, and put the answers into its report, and the origins of those from earlier runs."""
    progress.stage(f"discharging by {how.solver}")
    total, done = sum(len(script.cells) for script in manifest.scripts), 0
    for number in range(len(manifest.scripts)):
        reports[number] = replace(reports[number], answered=False)
    for number, (script, of_script) in enumerate(discharge(folder, manifest, how, workers)):
        answers = of_script.answers
        done += len(answers)
        origins += of_script.origins
        by_cell = list(zip((cell.name for cell in script.cells), answers, strict=True))
        report = reports[number] = replace(
            reports[number],
            discharged=sum(answer.verdict == "unsat" for answer in answers),
            unknown=tuple(name for name, answer in by_cell if answer.verdict == "unknown"),
            refuted=tuple(name for name, answer in by_cell if answer.verdict == "sat"),
            seconds=round(sum(answer.seconds for answer in answers), 3),
            proofs=None if how.checker is None else _proofs(by_cell),
            answered=True,
        )
        verdict = "refuted" if report.refuted else "proved" if report.complete else "unknown"
        progress.tell(ObligationDone(how.solver, done, total, " ".join(script.subject), verdict, report.seconds))


def _proofs(by_cell: Sequence[tuple[str, QuestionAnswer]]) -> ProofObjects:
    """Return what the checker says of the proofs of a script; of a question without `unsat` it is asked nothing."""
    proved = [(name, answer) for name, answer in by_cell if answer.verdict == "unsat"]
    faults = [ProofFault(name, one.of_proof, one.why) for name, one in proved if one.of_proof != "checked"]
    return ProofObjects(
        checked=len(proved) - len(faults),
        faults=tuple(faults),
        size=sum(answer.size for _, answer in proved),
        seconds=round(sum(answer.checked_in for _, answer in proved), 3),
    )
