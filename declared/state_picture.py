"""How a model has its states drawn, where it does not leave that to its declared fields."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Drawing(ABC):
    """Draws the states of a configuration as fragments of HTML, in which all texts are escaped.

    legend: what the signs mean, as the items of a list.
    """

    legend: str

    @abstractmethod
    def picture(self, state: Any, before: Any) -> str:
        """Draw a state, and mark what differs from the one before; an initial state is its own predecessor here."""
