"""`elrcheck prove --certificate DIR`: the proved obligations as text for another solver.

Its parts are generated from this source, also to compare a certificate with it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

from elrcheck.base.atomic import move_into, sync_folder
from elrcheck.base.errors import UsageFault
from elrcheck.base.typed.configuration import config_values
from elrcheck.base.version import __version__
from elrcheck.lang.domains import domain
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.any_size.questions import GoalAnswer
from elrcheck.proof.any_size.step_tasks import every_choice
from elrcheck.proof.any_size.steps import Unbounded, UnboundedStep
from elrcheck.proof.any_size.text import AnySizeText
from elrcheck.proof.certificate import (
    DRAFT,
    IMPLICATION,
    IMPOSSIBLE,
    INITIATION,
    MANIFEST,
    PREMISES,
    SCHEMA,
    STEPS,
    CertifiedGoal,
    Choices,
    Manifest,
    Script,
    TextFile,
    step_file,
    write_manifest,
    write_text,
)
from elrcheck.proof.obligations import TYPES, Discharge, Prover
from elrcheck.proof.smt_text import SmtText
from elrcheck.proof.transition import Excluded, SymbolicStep
from elrcheck.proving.covered import PhaseName
from elrcheck.results.prove_report import ObligationReport, ProveReport
from elrcheck.traces.describe import arguments, spelled
from elrcheck.traces.describe import text as value_text

Write: TypeAlias = Callable[[Sequence[CertifiedGoal]], str]


@dataclass(frozen=True)
class CertificatePart:
    """One script. goals: the names of its questions; write: returns its text for cells with these names.

    instance: number of the proof's instance that answers the questions, if they are about steps.
    """

    file: str
    goals: tuple[str, ...]
    write: Write
    action: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    instance: int | None = None

    @property
    def subject(self) -> tuple[str, ...]:
        """The identity of this part, as in `Script.subject`."""
        return self.script("", ()).subject

    def script(self, sha256: str, cells: Sequence[CertifiedGoal]) -> Script:
        """Return the manifest's entry for a text with this digest and these questions."""
        return Script(file=self.file, sha256=sha256, cells=tuple(cells), action=self.action, arguments=self.arguments)


def parts(text: SmtText, goals: Sequence[str]) -> Iterator[CertificatePart]:
    """Yield every script of a certificate. goals: of each step, by function name."""
    prover = text.prover
    states = tuple(fn.name for fn in text.chosen if not fn.is_step)
    yield CertificatePart(INITIATION, (TYPES, *(fn.name for fn in prover.lemmas)), text.initiation)
    yield CertificatePart(IMPLICATION, states, text.implication)
    excluded = list(prover.ts.excluded)
    file_number = 0
    for number, step in prover.ts.every_choice():
        if isinstance(step, Excluded):
            excluded.append(step)
            continue
        values = {argument.name: argument.value for argument in arguments(action_of(prover, step), step.args)}
        file = step_file(file_number, step.action)
        yield CertificatePart(file, tuple(goals), partial(text.consecution, step), step.action, values, number)
        file_number += 1
    names = tuple(spelled(action_of(prover, choice), choice.args) for choice in excluded)
    yield CertificatePart(IMPOSSIBLE, names, lambda cells: text.impossible(_named(cells, names, excluded)))


def _named(cells: Iterable[CertifiedGoal], names: Sequence[str], excluded: Sequence[Excluded]) -> Iterator[Excluded]:
    by_name = dict(zip(names, excluded, strict=True))
    return (by_name[cell.name] for cell in cells)


def action_of(prover: Prover, step: SymbolicStep | Excluded) -> Fn:
    return prover.ts.model.fns[step.action]


def choices(model: Model, config: ModelConfig) -> tuple[Choices, ...]:
    """Return every action of the model, with the values of each parameter as reports write them."""
    every = []
    for fn in model.actions:
        values = {name: tuple(value_text(v, ty) for v in domain(ty, config)) for name, ty in fn.params}
        every.append(Choices(action=fn.name, values=values))
    return tuple(every)


# ---------------------------------------------------------------------------- writing one

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


ChoiceAnswers = Mapping[int, Mapping[str, GoalAnswer] | None]
"""Number of a choice -> goal -> the answer; goals that the step leaves alone are missing. None: never enabled."""


@dataclass(frozen=True)
class FinishedAnySize:
    """The contents of a certificate. goals, chosen, source: as in `FinishedProof`.

    beside: answers about initiation and implication, by name. refuted: cells (action, goal) that are false for the
    given sizes.
    """

    system: Unbounded
    report: ProveReport
    answers: ChoiceAnswers
    beside: Mapping[tuple[PhaseName, str], GoalAnswer]
    refuted: frozenset[tuple[str, str]]
    goals: Sequence[str]
    chosen: Sequence[Fn]
    source: str


def any_size_parts(text: AnySizeText, goals: Sequence[str]) -> Iterator[CertificatePart]:
    """Yield every script of a certificate."""
    system = text.system
    states = tuple(fn.name for fn in text.chosen if not fn.is_step)
    yield CertificatePart(INITIATION, (TYPES, *system.lemmas), text.initiation)
    yield CertificatePart(IMPLICATION, states, text.implication)
    excluded: dict[str, UnboundedStep] = {}
    files = 0
    for number, choice in enumerate(every_choice(system)):
        step = UnboundedStep(system, choice)
        if not step.possible:
            excluded[choice.name] = step
            continue
        file = step_file(files, choice.action.name)
        files += 1
        write = partial(text.consecution, step)
        yield CertificatePart(file, tuple(goals), write, choice.action.name, choice.arguments, number)
    yield CertificatePart(
        IMPOSSIBLE, tuple(excluded), lambda cells: text.impossible((cell.name, excluded[cell.name]) for cell in cells)
    )


def any_size_choices(system: Unbounded) -> tuple[Choices, ...]:
    """Return every action with the values of its parameters that are fixed in scripts; the others are variables."""
    of_actions: dict[str, dict[str, dict[str, None]]] = {}
    for choice in every_choice(system):
        values = of_actions.setdefault(choice.action.name, {})
        for name, value in choice.arguments.items():
            values.setdefault(name, {})[value] = None
    return tuple(
        Choices(action=action, values={name: tuple(which) for name, which in values.items()})
        for action, values in of_actions.items()
    )


def certify_any_size(folder: Path, proof: FinishedAnySize) -> None:
    """Write the certificate; its manifest lists unproved obligations as open."""
    text = AnySizeText(proof.system, proof.chosen)
    premises = text.premises()
    cells = [(part, tuple(_any_size_cells(part, proof))) for part in any_size_parts(text, proof.goals)]
    left = [
        f"{' '.join(part.subject)} x {goal}"
        for part, certified in cells
        for goal in part.goals
        if goal not in {cell.name for cell in certified}
    ]
    claim = CertifiedClaim(
        report=proof.report,
        config=config_values(proof.system.config),
        source=proof.source,
        properties=tuple(fn.name for fn in proof.chosen),
        lemmas=tuple(proof.system.lemmas),
        actions=any_size_choices(proof.system),
        open=tuple(left),
        assumed=tuple(fn.name for fn in proof.system.assumptions),
    )
    write_certificate(folder, claim, premises, cells)


def _any_size_cells(part: CertificatePart, proof: FinishedAnySize) -> Iterable[CertifiedGoal]:
    """Yield the goals of a part that were proved, each with the lemmas and axioms of its proof."""
    if part.file == IMPOSSIBLE:
        yield from (CertifiedGoal(name=name) for name in part.goals)
        return
    phase: PhaseName = "initiation" if part.file == INITIATION else "implication"
    for goal in part.goals:
        if part.instance is None:
            answer = proof.beside.get((phase, goal))
        else:
            answer = (proof.answers[part.instance] or {}).get(goal)
        if answer is not None and answer.enough is not None:
            enough = answer.enough
            core, sizes = tuple(sorted(enough.lemmas)), tuple(sorted(enough.sizes))
            yield CertifiedGoal(name=goal, core=core, sizes=sizes, both_sides=enough.both_sides)
        elif answer is None and part.instance is not None and (part.action, goal) not in proof.refuted:
            yield CertifiedGoal(name=goal, core=(goal,))  # the step leaves alone all that the lemma speaks of
