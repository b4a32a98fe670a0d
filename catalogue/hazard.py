"""One hazard: a known or suspected bug, as a change of the model. `catalogue.hazards` has the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from elrcheck.catalogue.file_values import SCOPE
from elrcheck.model.config import check_knobs

NO_KNOB = "no knob yet"


@dataclass(frozen=True)
class Hazard:
    """One hazard. settings: of both sides of the comparison; knobs or guard: the mutation.

    guard: (action, name of the guard to remove). left_out: why the hazard is not run; it has no mutation then.
    """

    id: str
    issue: str
    title: str
    expected: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    knobs: Mapping[str, Any] = field(default_factory=dict)
    guard: tuple[str, str] | None = None
    variant: str = "kip_full"
    scope: str = SCOPE
    left_out: str | None = None

    def __post_init__(self) -> None:
        check_knobs(f"hazard {self.id}", {**self.settings, **self.knobs})
