"""How a model draws its states and describes its steps, if it does not leave that to its declared fields."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from elrcheck.lang.plain import Label
from elrcheck.results.drawn.drawn_fields import DrawnFields
from elrcheck.results.drawn.drawn_partition import DrawnPartition

DrawnState = DrawnFields | DrawnPartition


class Drawing(ABC):
    """Draws the states of a configuration."""

    @abstractmethod
    def drawn(self, state: Any, before: Any) -> DrawnState:
        """Draw a state, and mark what differs from the previous one; an initial state is its own predecessor here."""

    def sentence(self, before: Any, after: Any, label: Label) -> str:
        """Return a sentence about a step; empty to use the documentation of its action."""
        return ""
