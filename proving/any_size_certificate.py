"""The certificate of a proof for any size: its parts, claim and texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from elrcheck.base.typed.configuration import config_values
from elrcheck.lang.ir import Fn
from elrcheck.proof.any_size.questions import GoalAnswer
from elrcheck.proof.any_size.step_tasks import every_choice
from elrcheck.proof.any_size.steps import Unbounded, UnboundedStep
from elrcheck.proof.any_size.text import AnySizeText
from elrcheck.proof.certificate import IMPLICATION, IMPOSSIBLE, INITIATION, CertifiedGoal, Choices, step_file
from elrcheck.proof.obligations import TYPES
from elrcheck.proving.certificate_parts import CertificatePart
from elrcheck.proving.certify import CertifiedClaim, write_certificate
from elrcheck.proving.verdicts import PhaseName
from elrcheck.results.prove_report import ProveReport

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
    cells = [(part, tuple(_cells(part, proof))) for part in any_size_parts(text, proof.goals)]
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


def _cells(part: CertificatePart, proof: FinishedAnySize) -> Iterable[CertifiedGoal]:
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
