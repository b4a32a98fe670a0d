"""`elrcheck prove --certificate DIR`: the proved obligations as text for another solver."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elrcheck.base.atomic import move_into, sync_folder
from elrcheck.base.errors import UsageFault
from elrcheck.base.typed.configuration import config_values
from elrcheck.base.version import __version__
from elrcheck.lang.ir import Fn
from elrcheck.proof.certificate import (
    DRAFT,
    IMPOSSIBLE,
    INITIATION,
    MANIFEST,
    PREMISES,
    SCHEMA,
    STEPS,
    CertifiedGoal,
    Choices,
    Manifest,
    TextFile,
    write_manifest,
    write_text,
)
from elrcheck.proof.obligations import Discharge, Prover
from elrcheck.proof.smt_text import SmtText
from elrcheck.proving.certificate_parts import CertificatePart, action_of, choices, parts
from elrcheck.results.prove_report import ObligationReport, ProveReport
from elrcheck.traces.describe import spelled

StepAnswers = Mapping[int, Mapping[str, Discharge]]
"""Number of an instance -> goal -> the answer; goals that a step cannot affect are missing."""


@dataclass(frozen=True)
class FinishedProof:
    """The contents of a certificate.

    goals: of each step, by function name; chosen: the properties of the proof; source: a digest of the model's rules.
    """

    prover: Prover
    report: ProveReport
    answers: StepAnswers
    goals: Sequence[str]
    chosen: Sequence[Fn]
    source: str


def demand_room(folder: Path) -> None:
    """Refuse a folder with anything but a certificate or a part of one, which will be replaced."""
    if folder.is_file() or (
        folder.is_dir() and not (folder / MANIFEST).is_file() and not all(map(_ours, folder.iterdir()))
    ):
        why = f"{folder} is there already, and no certificate is in it"
        raise UsageFault("certificate-folder", why, help="name a new folder, or remove what is in this one")


def _ours(path: Path) -> bool:
    """Return whether a path may be a part of a certificate whose writer was killed."""
    return path.name in (DRAFT, STEPS) or path.name.endswith(".smt2.gz")


def certify(folder: Path, proof: FinishedProof) -> None:
    """Write the certificate of a proof for given sizes."""
    text = SmtText(proof.prover, proof.chosen)
    cells = [(part, _cells(part, proof)) for part in parts(text, proof.goals)]
    prover = proof.prover
    claim = CertifiedClaim(
        report=proof.report,
        config=config_values(prover.ts.config),
        source=proof.source,
        properties=tuple(fn.name for fn in proof.chosen),
        lemmas=tuple(fn.name for fn in prover.lemmas),
        actions=choices(prover.ts.model, prover.ts.config),
        open=tuple(_open(proof)),
        assumed=tuple(fn.name for fn in prover.ts.assumptions),
    )
    write_certificate(folder, claim, text.premises(), cells)


@dataclass(frozen=True)
class CertifiedClaim:
    """The contents of a manifest beside the digests of its texts (see `Manifest`)."""

    report: ProveReport
    config: Mapping[str, str | int | bool]
    source: str
    properties: tuple[str, ...]
    lemmas: tuple[str, ...]
    actions: tuple[Choices, ...]
    open: tuple[str, ...]
    assumed: tuple[str, ...]


def write_certificate(
    folder: Path,
    claim: CertifiedClaim,
    premises: str,
    cells: Iterable[tuple[CertificatePart, tuple[CertifiedGoal, ...]]],
) -> None:
    """Write a certificate; one in the folder stays until the new one is complete on the same disk."""
    draft, report = folder / DRAFT, claim.report
    shutil.rmtree(draft, ignore_errors=True)
    try:
        shared = TextFile(file=PREMISES, sha256=write_text(draft, PREMISES, premises))
        scripts = [part.script(write_text(draft, part.file, part.write(goals)), goals) for part, goals in cells]
        manifest = Manifest(
            schema=SCHEMA,
            elrcheck=__version__,
            variant=report.variant,
            config=claim.config,
            solver=f"{report.solver.name} {report.solver.version}",
            source=claim.source,
            properties=claim.properties,
            lemmas=claim.lemmas,
            actions=claim.actions,
            premises=shared,
            scripts=tuple(scripts),
            open=claim.open,
            assumptions=tuple(assumption.name for assumption in report.assumptions),
            assumed=claim.assumed,
            sizes=report.sizes,
        )
        write_manifest(draft, manifest)
        (folder / MANIFEST).unlink(missing_ok=True)  # so that no manifest stands beside texts of another one
        sync_folder(folder)
        for path in (*folder.glob("*.smt2.gz"), *folder.glob(f"{STEPS}/*.smt2.gz")):
            path.unlink(missing_ok=True)
        move_into(folder, draft, last=MANIFEST)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _cells(part: CertificatePart, proof: FinishedProof) -> tuple[CertifiedGoal, ...]:
    """Return the goals of a part that were proved, each with the lemmas that its proof needed."""
    if part.file == IMPOSSIBLE:
        return tuple(CertifiedGoal(name=name) for name in part.goals)
    if part.instance is not None:
        return tuple(_step_cells(proof.answers[part.instance], part.goals))
    return proved_cells(proof.report.initiation if part.file == INITIATION else proof.report.implication)


def proved_cells(obligations: Sequence[ObligationReport]) -> tuple[CertifiedGoal, ...]:
    return tuple(CertifiedGoal(name=o.name, core=o.core) for o in obligations if o.verdict == "proved")


def _step_cells(answers: Mapping[str, Discharge], goals: Sequence[str]) -> Iterator[CertifiedGoal]:
    """Yield the proved goals of a step. One that it cannot affect follows from the same lemma before it."""
    for goal in goals:
        answer = answers.get(goal)
        if answer is None:
            yield CertifiedGoal(name=goal, core=(goal,))
        elif answer.verdict == "proved":
            yield CertifiedGoal(name=goal, core=tuple(sorted(answer.core)))


def _open(proof: FinishedProof) -> Iterator[str]:
    prover, report = proof.prover, proof.report
    yield from (o.name for o in (*report.initiation, *report.implication) if o.verdict != "proved")
    for number, instance in enumerate(prover.ts.instances):
        for goal, answer in proof.answers[number].items():
            if answer.verdict != "proved":
                yield f"{spelled(action_of(prover, instance), instance.args)} x {goal}"
