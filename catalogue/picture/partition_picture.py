"""Draws the states of a partition, and describes its steps in sentences."""

from __future__ import annotations

from elrcheck.catalogue.picture.drawn_state import drawn
from elrcheck.catalogue.picture.step_sentence import whole_sentence
from elrcheck.declared.state_picture import Drawing
from elrcheck.lang.plain import Label
from elrcheck.model.config import Config
from elrcheck.model.state import State
from elrcheck.results.drawn_picture import DrawnPartition


class PartitionDrawing(Drawing):
    """The drawing of one configuration's states, with a lane for each broker."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def drawn(self, state: State, before: State) -> DrawnPartition:
        """See `Drawing.drawn`."""
        return drawn(self.config, state, before)

    def sentence(self, before: State, after: State, label: Label) -> str:
        """See `Drawing.sentence`."""
        return whole_sentence(before, after, label)
