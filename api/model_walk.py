"""A walk through a model in Python: its states, the steps that are enabled, and the next state of each.

`start` begins a walk in the initial state, `replay` at the end of a stored trace. The plain model computes every
state; nothing is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elrcheck.api.result_types import ExplainResult, TraceResult, as_result
from elrcheck.base.errors import UsageFault
from elrcheck.lang.plain import Label
from elrcheck.traces.describe import leaves
from elrcheck.traces.replay import Replayed

if TYPE_CHECKING:
    from elrcheck.api.arguments import Place, Words
    from elrcheck.base.requests import Selection
    from elrcheck.commands.web.state_space import FollowedSpace


@dataclass(frozen=True, repr=False, eq=False)
class ModelWalk:
    """Steps of a model from its initial state. A walk is immutable: `step` and `back` return a new one.

    states: dataclasses of the model, one more than there are steps. labels: the action and arguments of each step.
    """

    space: FollowedSpace
    states: tuple[Any, ...]
    labels: tuple[Label, ...] = ()

    @property
    def state(self) -> Any:
        """Return the last state of the walk."""
        return self.states[-1]

    @property
    def steps(self) -> tuple[str, ...]:
        """Return the steps in the notation of `step`, such as `Fence(b=0)`."""
        return tuple(map(self.space.word, self.labels))

    @property
    def enabled(self) -> tuple[str, ...]:
        """Return the steps that are enabled in the last state, in the notation of `step`."""
        return tuple(self.space.word(label) for label, _ in self.space.choices(self.state))

    @property
    def violated(self) -> tuple[str, ...]:
        """Return the ids of the safety properties that the last state, or the step into it, violates."""
        before = self.states[-2] if self.labels else None
        return tuple(fn.ident for fn in self.space.false_after(before, self.state))

    def step(self, *steps: str) -> ModelWalk:
        """Return the walk with more steps, each such as `Fence(0)`, or `Fence` if it is enabled for one broker only.

        Raises UsageFault for a step that is not enabled, and names the guard that refuses it.
        """
        states, labels = list(self.states), list(self.labels)
        for number, word in enumerate(steps, start=len(labels) + 1):
            choices = self.space.choices(states[-1])
            label, after = choices[self.space.index_of(states[-1], word, number)]
            states.append(after)
            labels.append(label)
        return replace(self, states=tuple(states), labels=tuple(labels))

    def back(self, steps: int = 1) -> ModelWalk:
        """Return the walk without its last steps. Raises UsageFault if it has fewer."""
        if not 0 <= steps <= len(self.labels):
            raise UsageFault(
                "usage-bad-value", f"`steps`: expected 0 to {len(self.labels)}, not {steps}", where="steps"
            )
        number = len(self.labels) - steps
        return replace(self, states=self.states[: number + 1], labels=self.labels[:number])

    def leaves(self) -> Mapping[str, str]:
        """Return the values of the state by their paths, such as `partition.isr`, as a trace prints them."""
        return dict(leaves(self.state, self.space.model.state_ty))

    def explain(self, action: str | None = None, *, properties: Words = ()) -> ExplainResult:
        """Return why an action is not enabled in the last state, or why properties fail or hold: `elrcheck explain`."""
        from elrcheck.api.arguments import words_of
        from elrcheck.commands.trace.explain import ExplainQuestion, run_explain

        question = ExplainQuestion(words_of(properties), action, len(self.labels) if properties or action else None)
        return as_result(ExplainResult, run_explain(self._replayed, question))

    def show(self) -> TraceResult:
        """Return the steps with their changes, as `elrcheck trace show` prints them; a notebook shows a page."""
        from elrcheck.commands.trace.show import show

        return as_result(TraceResult, show(self._replayed))

    def save(self, file: Place) -> None:
        """Write the walk as a trace file, which `replay` and every command that takes a trace can read."""
        from elrcheck.stored_traces.tracefile import write_trace

        write_trace(Path(file), self._replayed.followed, self.space.model.state_ty)

    def export(self, folder: Place, form: str = "tla") -> tuple[Path, ...]:
        """Write the walk in another notation, and return the files, as `elrcheck export trace` does."""
        from typing import get_args

        from elrcheck.api.arguments import one_of
        from elrcheck.base.requests import TraceFormat
        from elrcheck.checking.trace_notation import export_loaded
        from elrcheck.traces.loaded import Loaded

        one_of("form", form, get_args(TraceFormat))
        subject = self._replayed
        return export_loaded(Loaded(subject.model, subject.config, subject.followed), form, Path(folder))

    @property
    def _replayed(self) -> Replayed:
        behaviour = self.space.behaviour(self.states, self.labels)
        return Replayed(self.space.model, self.space.config, behaviour, self.labels)

    def __str__(self) -> str:
        return str(self.show())

    def __repr__(self) -> str:
        violated = f", violates {', '.join(self.violated)}" if self.violated else ""
        return f"<ModelWalk: {len(self.labels)} steps, {len(self.enabled)} enabled{violated}>"

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()


def walk_from(selection: Selection, initial: int) -> ModelWalk:
    """Return a walk without steps. initial: number of the initial state, for a model with several."""
    from elrcheck.commands.web.state_space import FollowedSpace

    space = FollowedSpace(selection, initial)
    return ModelWalk(space, (space.starts[initial],))


def walk_of(subject: Replayed, selection: Selection) -> ModelWalk:
    """Return a replayed trace as a walk."""
    from elrcheck.commands.web.state_space import FollowedSpace

    recorded = subject.behaviour.origin.selection()
    space = FollowedSpace(replace(recorded, model=selection.model, patch=selection.patch))
    states: Sequence[Any] = subject.states
    return ModelWalk(space, tuple(states), subject.labels)
