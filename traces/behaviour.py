"""The type of every trace: states of the model, the steps between them and, for a lasso, its cycle.

Every notation is read into a `Behaviour` and written from one, every engine reports one, and `traces.replay` replays
it. Values are those of the plain model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from elrcheck.base.requests import Selection
from elrcheck.base.typed.configuration import config_values, setting_text
from elrcheck.lang.plain import Label
from elrcheck.results.any_report import PatchApplied

RecordedStep: TypeAlias = Label | str | None
"""What a notation records of a step: its label, only the name of its action, or nothing."""
LabelT = TypeVar("LabelT", bound=RecordedStep, covariant=True)


class NamedConfig(Protocol):
    """A configuration with the names that it was selected by, such as `declared.select.Selected`."""

    @property
    def variant(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def config(self) -> object: ...
    @property
    def overrides(self) -> Mapping[str, object]: ...
    @property
    def model(self) -> str | None: ...
    @property
    def patch(self) -> PatchApplied | None: ...


@dataclass(frozen=True)
class TraceOrigin:
    """The configuration and property of a behaviour; variant and scope are empty if unknown.

    overrides: configuration values set by neither variant nor scope, as reports show them. property: id of the
    property it is about. model, patch: the file of the model, and the diff applied to it, if the user named them.
    source, form: the file it was read from and its notation. missing: the options for the model of the run that
    stored it, if this run has another model. Comparisons ignore these three.
    """

    variant: str = ""
    scope: str = ""
    overrides: Mapping[str, object] = field(default_factory=dict)
    property: str = ""
    model: str | None = None
    patch: PatchApplied | None = None
    source: str = field(default="", compare=False)
    form: str | None = field(default=None, compare=False)
    missing: str | None = field(default=None, compare=False)

    @classmethod
    def of(cls, selected: NamedConfig, property: str = "", source: str = "", form: str | None = None) -> TraceOrigin:
        """Build the origin of a behaviour of a selected configuration."""
        overrides = overridden(selected.config, selected.overrides)
        return cls(selected.variant, selected.scope, overrides, property, selected.model, selected.patch, source, form)

    def selection(self) -> Selection:
        """Return the request that selects the same configuration."""
        pairs = tuple(f"{key}={setting_text(value)}" for key, value in self.overrides.items())
        return Selection(self.variant, self.scope, pairs)


def overridden(config: object, names: Iterable[str]) -> dict[str, object]:
    """Return the values of these fields of a configuration."""
    values = config_values(config)
    return {name: values[name] for name in names}


@dataclass(frozen=True)
class Behaviour(Generic[LabelT]):
    """States and steps; raise ValueError if their numbers do not match.

    labels[i] leads from states[i] to states[i + 1]. A finite behaviour has one label fewer than states. loop: for a
    lasso, the index of the state where its cycle starts. A lasso has one label for each state, the last one leading
    back to states[loop]. If that label is missing, `loop` is the last state and the behaviour stutters there for ever.
    """

    origin: TraceOrigin
    states: tuple[Any, ...]
    labels: tuple[LabelT, ...]
    loop: int | None = None

    def __post_init__(self) -> None:
        if not self.states:
            raise ValueError("a behaviour has at least one state")
        if self.loop is not None and not 0 <= self.loop < len(self.states):
            raise ValueError(f"there is no state {self.loop}, the last one is {len(self.states) - 1}")
        expected = steps_needed(len(self.states), len(self.labels), self.loop)
        if len(self.labels) != expected:
            raise ValueError(f"{len(self.states)} states need {expected} steps, got {len(self.labels)}")

    @property
    def closes(self) -> bool:
        """True if the last step leads back into the cycle."""
        return self.loop is not None and len(self.labels) == len(self.states)

    @property
    def visited(self) -> tuple[Any, ...]:
        """The states, one more than there are steps: a closed cycle repeats its first state at the end."""
        return (*self.states, self.states[self.loop or 0]) if self.closes else self.states

    def prefix(self, steps: int) -> Behaviour[LabelT]:
        """Return the finite behaviour of the first steps."""
        return Behaviour(self.origin, self.visited[: steps + 1], self.labels[:steps])


def steps_needed(states: int, steps: int, loop: int | None) -> int:
    """Return the number of steps for this many states; a lasso that stutters at its end has one fewer."""
    stops = loop == states - 1 and steps == states - 1
    return states - (loop is None or stops)


def of_states(states: Iterable[Any], origin: TraceOrigin | None = None) -> Behaviour[None]:
    """Build a finite behaviour from its states alone."""
    sequence = tuple(states)
    return Behaviour(origin or TraceOrigin(), sequence, (None,) * (len(sequence) - 1))


def allows(recorded: RecordedStep, label: Label) -> bool:
    """Return whether a recorded step is consistent with this label."""
    return recorded in (None, label, label.action)
