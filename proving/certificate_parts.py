"""The parts of a certificate, generated from this source: for writing one, and for comparing one with the source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from elrcheck.lang.domains import domain
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.certificate import IMPLICATION, IMPOSSIBLE, INITIATION, CertifiedGoal, Choices, Script, step_file
from elrcheck.proof.obligations import TYPES, Prover
from elrcheck.proof.smt_text import SmtText
from elrcheck.proof.transition import Excluded, SymbolicStep
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
