"""The one type of a trace: states of the model, the steps between them, and the lasso if it never ends.

Every notation is read into a `Behaviour` and written from one, every engine's finding is one, and
`traces.replay` follows it. Values are those of the plain model; nothing here evaluates anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from elrcheck.base.requests import Selection
from elrcheck.catalogue.configuration import config_values
from elrcheck.catalogue.select import Selected
from elrcheck.lang.plain import Label

Said: TypeAlias = Label | str | None
"""What a notation says of a step: its label, only the name of its action, or nothing of use."""
LabelT = TypeVar("LabelT", bound=Said, covariant=True)


@dataclass(frozen=True)
class Origin:
    """What a behaviour belongs to; variant and scope are empty where nobody has said them.

    overrides: values of the configuration that neither variant nor scope sets, as a report shows them.
    property: the id of the one it is about. source, form: where it was read and in which notation; they
    are no part of what it is.
    """

    variant: str = ""
    scope: str = ""
    overrides: Mapping[str, object] = field(default_factory=dict)
    property: str = ""
    source: str = field(default="", compare=False)
    form: str | None = field(default=None, compare=False)

    @classmethod
    def of(cls, selected: Selected, property: str = "", source: str = "", form: str | None = None) -> Origin:
        """That of a behaviour of this configuration."""
        overrides = overridden(selected.config, selected.overrides)
        return cls(selected.variant, selected.scope, overrides, property, source, form)

    def selection(self) -> Selection:
        """The request that leads to the same configuration."""
        pairs = tuple(f"{key}={option_text(value)}" for key, value in self.overrides.items())
        return Selection(self.variant, self.scope, pairs)


def overridden(config: object, names: Iterable[str]) -> dict[str, object]:
    """The values that a configuration has in these fields."""
    values = config_values(config)
    return {name: values[name] for name in names}


def option_text(value: object) -> str:
    """A value as `--set` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Behaviour(Generic[LabelT]):
    """States and steps; ValueError unless their numbers fit.

    labels[i] leads from states[i] to states[i + 1]. A finite behaviour has one label fewer than states.
    loop: of a lasso the index of the state where its cycle starts; then there is a label for each state,
    the last one leading back to states[loop]. Without that label `loop` is the last state, and the
    behaviour stops there: nothing happens any more.
    """

    origin: Origin
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
        """Whether the last step leads back into the cycle."""
        return self.loop is not None and len(self.labels) == len(self.states)

    @property
    def visited(self) -> tuple[Any, ...]:
        """One state more than there are steps: a cycle ends in the state where it starts."""
        return (*self.states, self.states[self.loop or 0]) if self.closes else self.states

    def prefix(self, steps: int) -> Behaviour[LabelT]:
        """The finite behaviour of the first steps."""
        return Behaviour(self.origin, self.visited[: steps + 1], self.labels[:steps])


def steps_needed(states: int, steps: int, loop: int | None) -> int:
    """How many steps belong to so many states; a lasso may do without the last one if it stops."""
    stops = loop == states - 1 and steps == states - 1
    return states - (loop is None or stops)


def of_states(states: Iterable[Any], origin: Origin | None = None) -> Behaviour[None]:
    """A finite behaviour of which only the states are known."""
    known = tuple(states)
    return Behaviour(origin or Origin(), known, (None,) * (len(known) - 1))


def allows(said: Said, label: Label) -> bool:
    """Whether a step may be this one, by what a notation says of it."""
    return said in (None, label, label.action)
