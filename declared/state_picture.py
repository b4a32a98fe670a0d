"""How a model draws its states and describes its steps, if not by its declared fields."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from elrcheck.lang.plain import Label
from elrcheck.results.trace_view import DrawnFields, DrawnPartition

DrawnState = DrawnFields | DrawnPartition


class Drawing(ABC):
    """Draws the states of a configuration."""

    @abstractmethod
    def drawn(self, state: Any, before: Any) -> DrawnState:
        """Return the drawing of a state that marks what differs from `before`, for an initial state itself."""

    def sentence(self, before: Any, after: Any, label: Label) -> str:
        """Return a sentence about a step; empty to use the documentation of its action."""
        return ""
